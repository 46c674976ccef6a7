// What the search found, as files that are replayed from then on.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SimulatorCase {
  readonly kind: 'simulator'
  /** Four hosts with one PostgreSQL, instead of one machine with SQLite. */
  readonly hosts: boolean
  readonly seed: number
  readonly dieAtStep: number | null
  /** What went wrong. */
  readonly failure: string
}

export interface TestCase {
  readonly kind: 'test'
  readonly file: string
  /** As vitest names it, `suite > test`; null: the file failed as a whole. */
  readonly test: string | null
  /** The seeds. */
  readonly env: Readonly<Record<string, string>>
  readonly failure: string
}

export type Case = SimulatorCase | TestCase

export const CASES = fileURLToPath(new URL('../regressions', import.meta.url))

export function readCases<K extends Case['kind']>(kind: K, folder = CASES): Extract<Case, { kind: K }>[] {
  const files = globSync('*.json', { cwd: folder }).toSorted()
  const cases = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case)
  return cases.filter((one) => one.kind === kind) as Extract<Case, { kind: K }>[]
}

/** Returns the path. */
export function writeCase(one: Case, folder: string): string {
  const words =
    one.kind === 'simulator'
      ? ['simulator', one.hosts ? 'hosts' : '', one.seed, one.dieAtStep ?? '']
      : [basename(one.file).split('.')[0], ...Object.values(one.env), one.test ?? '']
  const name =
    words
      .join(' ')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  const path = join(folder, `${name.join('-').slice(0, 80)}.json`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, `${JSON.stringify(one, null, 2)}\n`)
  return path
}
