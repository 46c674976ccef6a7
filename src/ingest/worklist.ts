// A worklist of doubts that a person has filled in: which attempt of which row, what was found, and why.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { holdsCardData } from '../domain/card-secrets.ts'
import type { RowFault } from '../domain/draft.ts'
import { unguardCell } from '../domain/formula-guard.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { toLowerAscii } from '../domain/keyword.ts'
import { isProblem, type Problem, refuse, type StructuralFault, shown, spelled } from '../domain/problem.ts'
import { FINDINGS, type Finding, parseFinding, transactionIdProblem } from '../domain/resolution.ts'
import type { FileRefusal } from '../domain/submission.ts'
import { holdsControls } from '../domain/visible.ts'
import { type Spelling, type Text, words } from '../domain/words.ts'
import type { WORKLIST_COLUMNS } from '../domain/worklist-columns.ts'
import { type Encoding, readHead, sniffBinary, sniffEncoding } from './csv/bytes.ts'
import { sniffLayout } from './csv/delimiter.ts'
import { oneByOne, readRecords } from './csv/records.ts'

type Column = (typeof WORKLIST_COLUMNS)[number]
const NEEDED = ['reference', 'attempt', 'resolution'] as const satisfies readonly Column[]

export interface WorklistEntry {
  readonly line: number
  readonly reference: string
  readonly attempt: number
  /** null: the file does not say. */
  readonly merchant: string | null
  /** null: the file does not say. */
  readonly row: { readonly batchId: string; readonly rowNo: number } | null
  readonly finding: Finding
  readonly transactionId: string | null
  /** Empty: the line gives none, and the one for all is asked for later. */
  readonly reason: string
}

export interface Worklist {
  readonly kind: 'worklist'
  readonly entries: readonly WorklistEntry[]
  /** Lines whose resolution is empty: not looked up yet. */
  readonly open: number
  readonly faults: readonly RowFault[]
  /** Somewhere in it is a card number or security code: it must not be kept. */
  readonly holdsCards: boolean
}

/** More doubts than that are no work for a spreadsheet. */
const ROWS_MOST = 100_000

export interface WorklistOptions {
  /** Stands in for lines that give none of their own. Empty: it is asked for later. null: there is none, so that such lines are faults. */
  readonly reason: string | null
  /** Of the door that asks. */
  readonly spelling: Spelling
}

/** The file is read to its end before anything is done. */
export async function readWorklist(file: FileHandle, options: WorklistOptions): Promise<Worklist | FileRefusal> {
  const found = await readAny(file, options)
  return found.kind === 'refused' ? { ...found, ...spelled(found, options.spelling) } : found
}

async function readAny(file: FileHandle, options: WorklistOptions): Promise<Worklist | StructuralFault> {
  const head = await readHead(file)
  const binary = sniffBinary(head)
  if (binary !== null) return refuse({ problem: `the file is ${binary}, not CSV`, remedy: SAVE_AS_CSV })
  const { encoding, certain } = sniffEncoding(head)
  const first = await readAs(file, head, encoding, options)
  const found = first === 'not-text' && !certain ? await readAs(file, head, 'windows-1252', options) : first
  return found === 'not-text' ? refuse({ problem: 'the file is not text', remedy: SAVE_AS_CSV }) : found
}

const SAVE_AS_CSV = 'save the sheet as "CSV UTF-8" and use that file'

async function readAs(
  file: FileHandle,
  head: Uint8Array,
  encoding: Encoding,
  { reason, spelling }: WorklistOptions,
): Promise<Worklist | StructuralFault | 'not-text'> {
  const layout = sniffLayout(new TextDecoder(encoding).decode(head))
  if (isProblem(layout)) return refuse(layout, { line: 1 })
  const found = {
    ...{ kind: 'worklist' as const, entries: [] as WorklistEntry[], open: 0 },
    ...{ faults: [] as RowFault[], holdsCards: false },
  }
  const seen = new Map<string, number>()
  let places: Places | null = null
  let rowNo = 0
  const records = readRecords(file, { ...layout, encoding, patient: true }, createHash('sha256'))
  for await (const read of oneByOne(records)) {
    if (read.kind === 'not-text' || read.kind === 'odd-quotes') return 'not-text'
    if (read.kind === 'refused') return read
    found.holdsCards ||= holdsCards(places, read.cells)
    if (places === null) {
      const header = placesIn(read.cells)
      if ('kind' in header) return header
      places = header
      continue
    }
    rowNo += 1
    if (rowNo > ROWS_MOST) return refuse({ problem: `the file has more than ${ROWS_MOST} rows`, remedy: 'split it' })
    const row = parseRow(cellsBy(places, read.cells), reason)
    if (row === null) found.open += 1
    else if ('problem' in row) found.faults.push({ rowNo, line: read.line, ...row, ...spelled(row, spelling) })
    else {
      const key = JSON.stringify([row.merchant, row.reference])
      const earlier = seen.get(key)
      if (earlier === undefined) found.entries.push({ line: read.line, ...row })
      else found.faults.push({ rowNo, line: read.line, ...repeated(row.reference, earlier) })
      seen.set(key, read.line)
    }
  }
  return places === null ? (placesIn([]) as StructuralFault) : found
}

/** Their digits are ids, amounts and times. Whatever else is in the file somebody wrote. */
const NO_TEXTS: readonly Column[] = [
  ...(['reference', 'attempt', 'amount', 'order_id', 'vault_id', 'xtl_order_id', 'sent_at', 'merchant'] as const),
  ...(['batch', 'row', 'resolution_transaction_id'] as const),
]

function holdsCards(places: Places | null, cells: readonly string[]): boolean {
  const passed = new Set(NO_TEXTS.map((name) => places?.get(name)))
  return cells.some((cell, i) => !passed.has(i) && holdsCardData(cell))
}

type Places = ReadonlyMap<string, number>
type CellFault<T extends Text = string> = Pick<RowFault, 'column' | 'value'> & Problem<T>

function placesIn(cells: readonly string[]): Places | StructuralFault {
  const places = new Map(cells.map((cell, i) => [toLowerAscii(unguardCell(cell).trim()), i]))
  const missing = NEEDED.filter((name) => !places.has(name))
  if (missing.length === 0) return places
  return refuse(
    {
      problem: `the file has no column ${missing.join(', ')}`,
      remedy: words`take the file that "${{ act: 'list-doubts', toFile: true }}" writes, and fill in its column resolution`,
    },
    { line: 1 },
  )
}

function cellsBy(places: Places, cells: readonly string[]): (name: Column) => string {
  return (name) => unguardCell(cells[places.get(name) ?? -1] ?? '').trim()
}

/** null: nothing was decided about this one yet. */
function parseRow(
  cell: (name: Column) => string,
  otherwise: string | null,
): Omit<WorklistEntry, 'line'> | CellFault<Text> | null {
  const word = cell('resolution')
  if (word === '') return null
  const fault = (column: Column, problem: string, remedy: Text): CellFault<Text> => ({
    ...{ column, value: shown(cell(column)), problem, remedy },
  })
  const finding = parseFinding(word)
  if (finding === undefined)
    return fault('resolution', 'it is not a valid resolution', `write one of ${FINDINGS.join(', ')}, or leave it empty`)
  const reference = toIdentifier(cell('reference'))
  if (reference === '') return fault('reference', 'it is empty', 'take the line from the worklist as it was')
  const attempt = cell('attempt')
  if (!/^\d{1,9}$/.test(attempt))
    return fault('attempt', 'it is not a number', 'take the line from the worklist as it was')
  const batchId = cell('batch')
  const rowNo = cell('row')
  if ((batchId !== '' || rowNo !== '') && (batchId === '' || !/^\d{1,9}$/.test(rowNo)))
    return fault(
      batchId === '' ? 'batch' : 'row',
      'batch and row belong together',
      'take the line from the worklist as it was',
    )
  const row = batchId === '' ? null : { batchId, rowNo: Number(rowNo) }
  const transactionId = cell('resolution_transaction_id') || null
  const wrongId = transactionId === null ? null : transactionIdProblem(transactionId, finding)
  if (wrongId !== null) return fault('resolution_transaction_id', wrongId.problem, wrongId.remedy)
  const reason = cell('resolution_reason') || otherwise
  if (reason === null)
    return fault(
      'resolution_reason',
      'it is empty',
      words`say what was found and where, or give one ${{ set: 'reason', to: null }} for all`,
    )
  if (holdsCardData(reason))
    return fault('resolution_reason', 'it holds a card number or security code', 'take it out: the reason is kept')
  if (holdsControls(reason))
    return fault('resolution_reason', 'it has a line break or control character in it', 'write it in one line')
  return {
    reference,
    attempt: Number(attempt),
    merchant: cell('merchant') || null,
    row,
    finding,
    transactionId,
    reason,
  }
}

function repeated(reference: string, earlier: number): CellFault {
  return {
    column: 'reference',
    value: shown(reference),
    problem: `it is in line ${earlier} already`,
    remedy: 'keep one of the lines',
  }
}
