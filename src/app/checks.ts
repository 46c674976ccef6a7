// Checks of uploaded files: what was asked, how far it is, and what was found. Each has a folder of the spool; no check is recorded.

import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '../files/durable.ts'
import type { Spool } from './spool.ts'

/**
 * - `done`: the file was read to its end; `result.ok` says whether it could be handed in as it is
 * - `refused`: it is no table of instructions, or holds card data: no row was looked at
 * - `failed`: it was not read
 */
export type CheckState = 'queued' | 'reading' | 'done' | 'refused' | 'failed'

export interface Check {
  readonly id: string
  readonly state: CheckState
  /** The id of the upload, how its sender calls it, and its bytes. */
  readonly file: { readonly id: string; readonly name: string; readonly sha256: string; readonly bytes: number }
  readonly merchant: string
  /** Whose it is: `key:ID` or `person:ID`. */
  readonly by: string
  /** How it is to be read, as it was asked. */
  readonly given: Readonly<Record<string, unknown>>
  readonly startedAtMs: number
  readonly expiresAtMs: number
  /** As the process that read the file said it; null: it has not. */
  readonly result: Readonly<Record<string, unknown>> | null
  /** Why it failed. */
  readonly problem: string | null
}

const RECORD = 'check.json'

export async function writeCheck(path: string, check: Check): Promise<void> {
  await writeDurably(join(path, RECORD), (file) => file.writeFile(`${JSON.stringify(check)}\n`))
}

/** null: there is none, or its day is over. */
export async function readCheck(spool: Spool, id: string, nowMs: number): Promise<(Check & { path: string }) | null> {
  const path = spool.checkPath(id)
  if (path === null) return null
  try {
    const check = JSON.parse(await readFile(join(path, RECORD), 'utf8')) as Check
    return check.expiresAtMs <= nowMs ? null : { ...check, path }
  } catch {
    return null
  }
}

const INTERRUPTED = 'The server ended while the file was read. Nothing was recorded: check the file again.'

/** After a start: what was being read is not read any more. */
export async function endInterrupted(spool: Spool, nowMs: number): Promise<void> {
  for (const id of await spool.checks()) {
    const check = await readCheck(spool, id, nowMs)
    if (check?.state !== 'queued' && check?.state !== 'reading') continue
    const { path, ...record } = check
    for (const name of await readdir(path))
      if (name !== RECORD) await rm(join(path, name), { recursive: true, force: true })
    await writeCheck(path, { ...record, state: 'failed', problem: INTERRUPTED })
  }
}

export function detailsIn(path: string): string {
  return join(path, 'details')
}

export function rejectsIn(path: string): string {
  return join(path, 'rejects.csv')
}

const NAME_CHARACTERS_MOST = 100

/** As a header of a download names it: after the file that was checked, in signs that lead nowhere and end nothing. */
export function rejectsDisposition({ file }: Pick<Check, 'file'>): string {
  const name = file.name
    .replace(/\.\w+$/, '')
    .replaceAll(/[^\w-]+/g, '_')
    .slice(0, NAME_CHARACTERS_MOST)
  return `attachment; filename="${name === '' ? '_' : name}.rejects.csv"`
}
