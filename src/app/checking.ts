// Checks of uploaded files, for whatever door asks: read by a process of their own, one at a time. Nothing is recorded.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { IngestAsked, IngestEnded, ShownSecret } from '../domain/ingest.ts'
import { type Check, detailsIn, rejectsIn, writeCheck } from './checks.ts'
import type { Ingest } from './ingest-process.ts'
import type { IngestQueue } from './ingest-queue.ts'
import type { Spool, Upload } from './spool.ts'

/** What a door needs for files. */
export interface FilesDoor {
  readonly app: App
  /** Files that were uploaded, and what was found in them. */
  readonly spool: Spool
  /** Reads a file in a process of its own. */
  readonly ingest: Ingest
  readonly queue: IngestQueue
}

/** Who asks, and by what the process can find that out for itself. */
export interface FilesCaller extends ShownSecret {
  /** `key:ID` or `person:ID`. */
  readonly identity: string
  readonly address: string
}

/** null: there is none, its day is over, or it is another's. */
export async function ownUpload(
  { spool }: Pick<FilesDoor, 'spool'>,
  id: string,
  { identity }: Pick<FilesCaller, 'identity'>,
): Promise<(Upload & { readonly path: string }) | null> {
  const upload = await spool.upload(id)
  return upload === null || upload.by !== identity ? null : upload
}

export interface CheckAsked {
  readonly upload: Upload & { readonly path: string }
  /** By its whole name. */
  readonly merchant: string
  /** How the file is to be read, as the options of the command line. */
  readonly given: Readonly<Record<string, unknown>>
}

/** Resolves when it is written down that it is to be read; what comes of it is written down, too. */
export async function startCheck(door: FilesDoor, caller: FilesCaller, asked: CheckAsked): Promise<Check> {
  const { app, spool } = door
  const { id: file, name, sha256, bytes, expiresAtMs, path } = asked.upload
  const { id, path: folder } = await spool.newCheck()
  const record: Check = {
    ...{ id, state: 'queued', file: { id: file, name, sha256, bytes }, merchant: asked.merchant, by: caller.identity },
    ...{ given: asked.given, startedAtMs: app.clock.nowMs(), expiresAtMs, result: null, problem: null },
  }
  await writeCheck(folder, record)
  const given = { ...asked.given, details: detailsIn(folder), rejects: rejectsIn(folder) }
  void readUpload(door, folder, record, { act: 'check', ...shownBy(caller), path, name, sha256, given })
  return record
}

export function shownBy({ kind, secret, address }: FilesCaller): Pick<IngestAsked, 'caller' | 'address'> {
  return { caller: { kind, secret }, address }
}

/** Never rejects: whatever happens is written down. */
async function readUpload(door: FilesDoor, folder: string, record: Check, asked: IngestAsked): Promise<void> {
  const { queue, ingest, app, spool } = door
  const write = (over: Partial<Check>) => writeCheck(folder, { ...record, ...over })
  try {
    await queue.run({ name: record.id, caller: record.by, records: false }, async (signal, tell) => {
      await write({ state: 'reading' })
      const found = await ingest(asked, signal, tell)
      if (found.said?.code === 'card-data') await spool.removeUpload(record.file.id)
      await write(foundBy(found))
    })
  } catch (error) {
    app.log.error({ err: error, check: record.id }, 'a check failed')
    const problem = error instanceof Fault ? error.message : 'Tranche failed. Nothing was recorded.'
    await write({ state: 'failed', problem }).catch(() => {}) // the next start says so
  }
}

function foundBy({ said, exit }: IngestEnded): Pick<Check, 'state' | 'result' | 'problem'> {
  if (said === null || exit === null)
    return {
      state: 'failed',
      result: null,
      problem: 'The file was not read to its end. Nothing was recorded: check it again.',
    }
  const { error } = said as { readonly error?: { readonly message: string } }
  if (error !== undefined) return { state: 'failed', result: null, problem: error.message }
  return { state: said.rows === undefined ? 'refused' : 'done', result: said, problem: null }
}
