// Where a reconciliation may be written: never over the input, never over anything but an earlier result of the batch.

import { randomBytes } from 'node:crypto'
import { open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { parse } from 'csv-parse/sync'
import { Fault } from '../domain/fault.ts'
import { unguardCell } from '../domain/guard.ts'
import type { BatchId } from '../domain/ports.ts'
import { batchMarkOf, SANDBOX_MARK } from './cells.ts'

export interface OutRequest {
  readonly out: string
  /** null: the batch did not come from a file at hand. */
  readonly inputPath: string | null
  /** null: the batch is not recorded yet, so that no existing file can be a result of it. */
  readonly batchId: BatchId | null
  readonly sandbox: boolean
}

/** Absolute, symbolic links resolved. */
export interface OutPaths {
  readonly path: string
  readonly summaryPath: string
}

/**
 * Faults with `usage` where the results of this batch could not or must not be written. Asked before work begins, so
 * that a wrong `--out` costs nothing, and again before writing. A file is put there and removed for the test.
 */
export async function checkOut(request: OutRequest): Promise<OutPaths> {
  const paths = await outPathsOf(request.out, request.sandbox)
  const { batchId, sandbox } = request
  const mark = batchId === null ? null : batchMarkOf({ batchId, sandbox })
  await refuseInput(paths.path, request.inputPath)
  await refuseInput(paths.summaryPath, request.inputPath)
  await refuseForeign(paths, 'result_batch', mark, sandbox)
  await refuseForeign({ ...paths, path: paths.summaryPath }, 'summary_batch', mark, sandbox)
  await tryToWrite(paths.summaryPath)
  return paths
}

/** Beside the target and hidden: a rename within one directory is atomic. */
export function temporaryPathFor(path: string): string {
  return join(dirname(path), `.${basename(path)}.tmp-${randomBytes(6).toString('hex')}`)
}

/** What could not be written, what that means, and the option that names it. */
export interface OutWords {
  readonly what: string
  readonly safe: string
  readonly option: string
}

const RESULTS: OutWords = { what: 'The results', safe: 'The record itself is safe.', option: '--out' }

/** A trouble of the file system in words. Anything else is handed on as it is. */
export function toOutFault(error: unknown, path: string, words = RESULTS): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const { option } = words
  const say = (why: string) => `${words.what} could not be written to ${path}: ${why}. ${words.safe}`
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new Fault('full', say('there is no space left; make room and write them again'), { cause: error })
    case 'ENOENT':
    case 'ENOTDIR':
      return new Fault('usage', say(`the directory does not exist; make it, or name another with ${option}`), {
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Fault('usage', say(`this user may not write there; name another file with ${option}`), {
        cause: error,
      })
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'EISDIR':
      return new Fault('usage', say(`no such file can be made (${code}); name another with ${option}`), {
        cause: error,
      })
    case 'EIO':
    case 'EFBIG':
      return new Fault('storage', say(`the disk refused (${code}); write them again to another place`), {
        cause: error,
      })
    default:
      return error
  }
}

export async function outPathsOf(out: string, sandbox: boolean): Promise<OutPaths> {
  const named = resolve(out)
  const name = basename(named)
  const marked = sandbox && !name.includes('SANDBOX') ? withWord(name, 'SANDBOX') : name
  const path = await realPathOf(join(dirname(named), marked))
  return { path, summaryPath: join(dirname(path), withWord(basename(path), 'summary')) }
}

/** `refunds.csv` → `refunds.WORD.csv`; a name with another ending keeps it in front. */
function withWord(name: string, word: string): string {
  const ending = extname(name)
  return ending.toLowerCase() === '.csv' ? `${name.slice(0, -ending.length)}.${word}${ending}` : `${name}.${word}.csv`
}

/** Where a link leads: renaming over the link itself would leave its target stale. */
export async function realPathOf(path: string, words = RESULTS): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    try {
      return join(await realpath(dirname(path)), basename(path))
    } catch (error) {
      throw toOutFault(error, path, words)
    }
  }
}

export async function refuseInput(path: string, inputPath: string | null, option = '--out'): Promise<void> {
  if (inputPath === null) return
  const [there, input] = await Promise.all([statOf(path), statOf(inputPath)])
  const same = there !== null && input !== null && there.dev === input.dev && there.ino === input.ino
  if (same || path === resolve(inputPath)) {
    throw new Fault(
      'usage',
      `${path} is the input file and will not be written over; nothing was sent, name another file with ${option}.`,
    )
  }
}

async function refuseForeign(
  { path, summaryPath }: OutPaths,
  column: string,
  mark: string | null,
  sandbox: boolean,
): Promise<void> {
  const there = await statOf(path)
  if (there === null) return
  const refuse = (what: string) =>
    new Fault(
      'usage',
      `${path} exists and ${what}; it will not be written over: move it away, or name another file with --out.`,
    )
  if (!there.isFile()) throw refuse('is not a regular file')
  if (there.size === 0) throw refuse('is empty, so it cannot be told for a result of this batch')
  const said = await markIn(path, column)
  // An extract may have no row to say whose it is; its summary says so.
  const found = said === 'no-row' ? await markIn(summaryPath, 'summary_batch') : said
  if (found === null || found === 'no-row') throw refuse('is not a result of this program')
  // One rehearsal may write over another: neither is a record of anything.
  if (sandbox && found.startsWith(SANDBOX_MARK)) return
  if (mark === null) throw refuse(`holds the results of batch ${found}, not of the one that is about to begin`)
  if (found !== mark) throw refuse(`holds the results of batch ${found}, not of ${mark}`)
}

/** The most that a header and one row may take; what is longer was not written here. */
const HEAD_BYTES = 1024 * 1024

/** What the first row of the file says under the column; null where it cannot be read so. No batch has the id `no-row`. */
async function markIn(path: string, column: string): Promise<string | null> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
      const head = new TextDecoder().decode(buffer.subarray(0, bytesRead))
      const [header, first] = parse(head, { to: 2, relax_column_count: true }) as string[][]
      const place = header?.indexOf(column) ?? -1
      if (place !== -1 && first === undefined) return 'no-row'
      const mark = place === -1 ? undefined : first?.[place]
      return mark === undefined || mark === '' ? null : unguardCell(mark)
    } finally {
      await file.close()
    }
  } catch {
    return null
  }
}

/** The longer of the two names is tried, with the ending that temporary files get. */
export async function tryToWrite(path: string, words = RESULTS): Promise<void> {
  const temporary = temporaryPathFor(path)
  try {
    await (await open(temporary, 'wx')).close()
    await rm(temporary)
  } catch (error) {
    throw toOutFault(error, path, words)
  }
}

export async function statOf(path: string) {
  return await stat(path).catch(() => null)
}
