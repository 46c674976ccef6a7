// Readers of single settings from the environment. Each notes what is wrong and goes on, so that one look finds every mistake.

import { defaultOf, type NumberName, type SecretName, type SettingName } from '../domain/settings.ts'
import { ELLIPSIS, isEllipsis, type Range } from './limits.ts'
import { type ExposedFile, readSecretFile } from './secret-files.ts'

/** Notes a mistake under the name of the setting that is wrong. */
export type Note = (name: string, problem: string) => void

export interface Settings {
  readonly note: Note
  /** As `Config` has it. */
  readonly exposed: ExposedFile[]
  /** Passwords of gateways and keys of client certificates are read. */
  readonly credentials: boolean
  /** Whether it is there, right or wrong. */
  has(name: SettingName): boolean
  text(name: SettingName): string | undefined
  /** From NAME or from the file that NAME_FILE names. */
  secret(name: SecretName): string | undefined
  whole(name: NumberName, range: Range): number
  choice<T extends string, U>(name: SettingName, choices: readonly T[], otherwise: U): T | U
}

function problemOf(value: string): string | null {
  if (value.trim() === '') return 'is empty: give it a value or take it away'
  return isEllipsis(value) ? ELLIPSIS : null
}

export function createSettings(
  env: NodeJS.ProcessEnv,
  { note, exposed, credentials }: Pick<Settings, 'note' | 'exposed' | 'credentials'>,
): Settings {
  const text = (name: SettingName) => {
    const value = env[name]
    const problem = value === undefined ? null : problemOf(value)
    if (problem === null) return value
    note(name, problem)
    return undefined
  }
  return {
    ...{ note, exposed, credentials },
    has: (name) => env[name] !== undefined,
    text,
    secret(name) {
      const fileName = `${name}_FILE` as const
      if (env[name] !== undefined && env[fileName] !== undefined) {
        note(name, `and ${fileName} are both set: keep one`)
        return undefined
      }
      const path = text(fileName)
      return path === undefined ? text(name) : readSecretFile(path, (what) => note(fileName, what), exposed)
    },
    whole(name, { min, max }) {
      const otherwise = defaultOf(name)
      const value = text(name)?.trim()
      if (value === undefined) return otherwise
      const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      note(name, `must be a whole number from ${min} to ${max}, not "${value}"`)
      return otherwise
    },
    choice<T extends string, U>(name: SettingName, choices: readonly T[], otherwise: U) {
      const value = text(name)?.trim()
      if (value === undefined) return otherwise
      const chosen = choices.find((choice) => choice === value)
      if (chosen === undefined) note(name, `must be one of ${choices.join(', ')}, not "${value}"`)
      return chosen ?? otherwise
    },
  }
}
