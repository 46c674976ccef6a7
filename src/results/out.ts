// Where a reconciliation may be written: never over the input, never over anything but an earlier result of the batch.

import { open, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { parse } from 'csv-parse/sync'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { unguardCell } from '../domain/formula-guard.ts'
import type { BatchId } from '../domain/ids.ts'
import { FAMILY_RESULT_COLUMN } from '../domain/result-columns.ts'
import { type Text, words } from '../domain/words.ts'
import { openFile } from '../files/open-file.ts'
import { temporaryPathFor } from '../files/unfinished.ts'
import { batchMarkOf, FAMILY_MARK, SANDBOX_MARK } from './cells.ts'
import { formatOf } from './formats.ts'
import { EXTRACT } from './summary.ts'

export interface OutRequest {
  readonly out: string
  /** null: the batch did not come from a file at hand. */
  readonly inputPath: string | null
  /** null: the batch is not recorded yet, so that no existing file can be a result of it. */
  readonly batchId: BatchId | null
  /** Whether the ledger has a batch of this id. Asked where no batch is recorded yet. */
  readonly isKnown?: (batchId: string) => Promise<boolean>
  readonly sandbox: boolean
  /** Rows that a person must look at go there as well; null or absent: nowhere. */
  readonly exceptions?: string | null
  readonly readWorkbook?: WorkbookHead | undefined
  /** Only some of the rows are written. */
  readonly isExtract?: boolean
  /** The rows are those of a family: whether the results of another one, which that batch led, are its earlier ones. */
  readonly isSameFamily?: IsSameFamily | undefined
}

export type IsSameFamily = (batchId: BatchId) => Promise<boolean>

/** The first records of a workbook's rows; null where it cannot be read. Without it no workbook is known again. */
export type WorkbookHead = (path: string, count: number) => Promise<readonly (readonly string[])[] | null>

/** Absolute, symbolic links resolved. */
export interface OutPaths {
  readonly path: string
  readonly summaryPath: string
  readonly exceptionsPath?: string
}

/**
 * Faults with `usage` where the results of this batch could not or must not be written. Asked before work begins, so
 * that a wrong path costs nothing, and again before writing. A file is put there and removed for the test.
 */
export async function checkOut(request: OutRequest): Promise<OutPaths> {
  refuseForm(request.out, 'out')
  refuseForm(request.exceptions ?? '', 'exceptions')
  const paths = await outPathsOf(request.out, request.sandbox)
  const { batchId, sandbox } = request
  const check = {
    mark: batchId === null ? null : batchMarkOf({ batchId, sandbox }),
    sandbox,
    read: request.readWorkbook,
    isKnown: request.isKnown ?? (async () => true),
    isSameFamily: request.isSameFamily,
  }
  const column = request.isSameFamily === undefined ? 'result_batch' : FAMILY_RESULT_COLUMN
  await refuseInput(paths.path, request.inputPath)
  await refuseInput(paths.summaryPath, request.inputPath)
  await refuseForeign(paths, column, check)
  await refuseForeign({ ...paths, path: paths.summaryPath }, 'summary_batch', check)
  if (request.isExtract === true) await refuseWhole(paths.summaryPath)
  await tryToWrite(paths.summaryPath)
  if (request.exceptions === undefined || request.exceptions === null) return paths
  const { path } = await outPathsOf(request.exceptions, sandbox)
  if (isSamePlace(path, paths.path) || isSamePlace(path, paths.summaryPath)) {
    throw new Fault(
      'usage',
      words`${{ set: 'exceptions', to: null }} names ${path}, where the results go; name another file. Nothing was sent.`,
    )
  }
  await refuseInput(path, request.inputPath)
  await refuseForeign({ path, summaryPath: null }, column, check)
  await tryToWrite(path)
  return { ...paths, exceptionsPath: path }
}

/** Which of the files that would be written is there; null: none. */
export async function thereAlready(out: string, others: readonly (string | null)[]): Promise<string | null> {
  const named = await Promise.all(others.filter((other) => other !== null).map((other) => realPathOf(resolve(other))))
  const { path, summaryPath } = await outPathsOf(out, false)
  for (const one of [path, summaryPath, ...named]) if ((await statOf(one)) !== null) return one
  return null
}

/** The program that opens a file by its ending would find CSV in it. Endings that mean nothing to it are left alone. */
function refuseForm(path: string, setting: OutSetting): void {
  const ending = extname(path).toLowerCase()
  if (!['.ods', '.xls', '.xlsm', '.xlsb', '.json', '.pdf'].includes(ending)) return
  throw new Fault(
    'usage',
    words`${{ set: setting, to: null }} ${path}: no ${ending} file can be written. Let the name end with .csv, .xlsx or .jsonl. Nothing was written and nothing was sent.`,
  )
}

/** Of names that are not there yet: on some file systems letter case and the form of accents make no difference. */
export function isSamePlace(a: string, b: string): boolean {
  return a.normalize('NFC').toLowerCase() === b.normalize('NFC').toLowerCase()
}

type OutSetting = 'out' | 'exceptions' | 'rejects' | 'report'

/** What could not be written, what that means, and the setting that names it. */
export interface OutWords {
  readonly what: string
  readonly safe: string
  readonly setting: OutSetting
}

const RESULTS: OutWords = { what: 'The results', safe: 'The record itself is safe.', setting: 'out' }

/** A trouble of the file system in words. Anything else is handed on as it is. */
export function toOutFault(error: unknown, path: string, of = RESULTS): unknown {
  const code = errorCodeOf(error)
  const option = { set: of.setting, to: null } as const
  const say = (why: Text) => words`${of.what} could not be written to ${path}: ${why}. ${of.safe}`
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new Fault('full', say('there is no space left; make room and write them again'), { cause: error })
    case 'ENOENT':
    case 'ENOTDIR':
      return new Fault('usage', say(words`the directory does not exist; make it, or name another with ${option}`), {
        cause: error,
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new Fault('usage', say(words`this user may not write there; name another file with ${option}`), {
        cause: error,
      })
    case 'ENAMETOOLONG':
    case 'ELOOP':
    case 'EISDIR':
      return new Fault('usage', say(words`no such file can be made (${code}); name another with ${option}`), {
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
  const marked = sandbox && !name.includes('SANDBOX') ? withSandbox(name) : name
  const path = await realPathOf(join(dirname(named), marked))
  return { path, summaryPath: join(dirname(path), withWord(basename(path), 'summary')) }
}

/** `refunds.csv` → `refunds.WORD.csv`; a name with another ending keeps it in front. */
function withWord(name: string, word: string): string {
  const ending = extname(name)
  return ending.toLowerCase() === '.csv' ? `${name.slice(0, -ending.length)}.${word}${ending}` : `${name}.${word}.csv`
}

/** The ending stays the last: it says which form the results have. */
function withSandbox(name: string): string {
  return formatOf(name) === 'csv'
    ? withWord(name, 'SANDBOX')
    : name.replace(/\.[^.]*$/, (ending) => `.SANDBOX${ending}`)
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

export async function refuseInput(path: string, inputPath: string | null, setting: OutSetting = 'out'): Promise<void> {
  if (inputPath === null) return
  const [there, input] = await Promise.all([statOf(path), statOf(inputPath)])
  const same = there !== null && input !== null && there.dev === input.dev && there.ino === input.ino
  if (same || path === resolve(inputPath)) {
    throw new Fault(
      'usage',
      words`${path} is the input file and will not be written over; nothing was sent, name another file with ${{ set: setting, to: null }}.`,
    )
  }
}

interface Check {
  readonly mark: string | null
  readonly sandbox: boolean
  readonly read: WorkbookHead | undefined
  readonly isKnown: (batchId: string) => Promise<boolean>
  readonly isSameFamily: IsSameFamily | undefined
}

async function refuseForeign(
  { path, summaryPath }: { readonly path: string; readonly summaryPath: string | null },
  column: string,
  { mark, sandbox, read, isKnown, isSameFamily }: Check,
): Promise<void> {
  const there = await statOf(path)
  if (there === null) return
  const refuse = (what: string) =>
    new Fault(
      'usage',
      words`${path} exists and ${what}; it will not be written over. Nothing was sent. Move it away, or name another file with ${OUT}.`,
    )
  if (!there.isFile()) throw refuse('is not a regular file')
  const isEmpty = there.size === 0
  if (isEmpty && formatOf(path) !== 'jsonl') throw refuse('is empty, so it cannot be told for a result of this batch')
  const said = isEmpty ? 'no-row' : await markIn(path, column, read)
  if (said === 'no-row' && summaryPath === null) return // exceptions without a row: nothing is lost
  // An extract may have no row to say whose it is; its summary says so.
  const found = said === 'no-row' && summaryPath !== null ? await markIn(summaryPath, 'summary_batch', read) : said
  if (found === null || found === 'no-row') throw refuse('is not a result of this program')
  if (isSameFamily !== undefined) return refuseOtherFamily(found, isSameFamily, refuse)
  if (column === 'result_batch' && (await markIn(path, FAMILY_RESULT_COLUMN, read)) !== null)
    throw refuse('holds the results of several batches')
  // One rehearsal may write over another: neither is a record of anything.
  if (sandbox && found.startsWith(SANDBOX_MARK)) return
  if (BATCH_ID.test(found) && !(await isKnown(found))) throw unknownBatch(path, found)
  if (mark === null) throw refuse(`holds the results of batch ${found}, not of the one that is about to begin`)
  if (found !== mark) throw refuse(`holds the results of batch ${found}, not of ${mark}`)
}

async function refuseOtherFamily(
  found: string,
  isSameFamily: IsSameFamily,
  refuse: (what: string) => Fault,
): Promise<void> {
  if (!found.startsWith(FAMILY_MARK)) throw refuse(`holds the results of batch ${found}`)
  const led = found.slice(FAMILY_MARK.length)
  if (!(await isSameFamily(led as BatchId))) throw refuse(`holds the results of the family of batch ${led}`)
}

const OUT = { set: 'out', to: null } as const

/** Of a batch, not of a rehearsal, and nothing else that a file may say there. */
const BATCH_ID = /^\d{6}-[a-z0-9]{5}$/

/** The best evidence there is that these rows were sent once: to name another file would send them again. */
function unknownBatch(path: string, batchId: string): Fault {
  return new Fault(
    'stopped',
    words`${path} holds the results of batch ${batchId}, which this ledger does not know: an older ledger was probably restored, or this is another one. These rows may have been sent already. Nothing was sent. Compare the file with those results, and with the gateway, before you hand it in again with another ${OUT}.`,
  )
}

/** `r` and `r.csv` have one summary. Beside a whole reconciliation must not stand what some of its rows add up to. */
async function refuseWhole(summaryPath: string): Promise<void> {
  const there = await statOf(summaryPath)
  if (there === null || (await markIn(summaryPath, 'ties_out', undefined)) === EXTRACT) return
  throw new Fault(
    'usage',
    words`${summaryPath} belongs to the whole reconciliation of the batch, which an extract would take rows out of; name another file with ${OUT}. Nothing was written.`,
  )
}

/** The most that a header and one row may take; what is longer was not written here. */
const HEAD_BYTES = 1024 * 1024

/** What the first row of the file says under the column; null where it cannot be read so. No batch has the id `no-row`. */
async function markIn(path: string, column: string, read: WorkbookHead | undefined): Promise<string | null> {
  try {
    const [header, first] = await headOf(path, column, read)
    const place = header?.indexOf(column) ?? -1
    if (place !== -1 && first === undefined) return 'no-row'
    const mark = place === -1 ? undefined : first?.[place]
    return mark === undefined || mark === '' ? null : unguardCell(mark)
  } catch {
    return null
  }
}

type Head = readonly (readonly string[])[]

/** The header and the first row. */
async function headOf(path: string, column: string, read: WorkbookHead | undefined): Promise<Head> {
  const format = formatOf(path)
  if (format === 'xlsx') return (await read?.(path, 2)) ?? []
  const file = await openFile(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = new TextDecoder().decode(buffer.subarray(0, bytesRead))
    if (format === 'csv') return parse(head, { to: 2, relax_column_count: true }) as string[][]
    const { result } = JSON.parse(head.slice(0, head.indexOf('\n'))) as { result: Record<string, string> }
    return [[column], [String(result[column] ?? '')]]
  } finally {
    await file.close()
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
