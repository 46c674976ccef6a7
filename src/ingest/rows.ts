// The rows of a surveyed file as instructions or faults, a few hundred at a time.

import type { FileHandle } from 'node:fs/promises'
import type { DraftRow, RowFault } from '../domain/draft.ts'
import type { Instruction } from '../domain/instruction.ts'
import { isProblem, type Problem, shown, spelled } from '../domain/problem.ts'
import type { Spelling } from '../domain/words.ts'
import { keptOfCard } from './cards/kept.ts'
import type { Seals } from './cards/seals.ts'
import { unquoted } from './csv/quotes.ts'
import type { CsvRecord } from './csv/records.ts'
import type { Field } from './field-names.ts'
import { isMarkedAsText, MARKED_AS_TEXT } from './fields/identifier.ts'
import { derivedReferences, isDerivedFor, parseReference, unreadReference, withRunKey } from './fields/reference.ts'
import type { Header } from './header.ts'
import { runKeyOf, type Survey } from './inspect-file.ts'
import { findStructuralFault, type ReadingOptions } from './inspect-records.ts'
import { instruct, type Reading } from './instruction.ts'
import { changed, readAgain } from './read-again.ts'
import { cardColumnsOf, fieldsIn } from './row-cells.ts'
import type { CellOf, FieldFault, StoredOf } from './row-reading.ts'
import { type Against, besideRows } from './statements/beside.ts'
import { totalsFault } from './totals-line.ts'
import { kindProblem } from './workbook/cell.ts'

const ROWS_AT_ONCE = 500

/**
 * Every row of the surveyed file, in file order. Throws a fault at the latest after the last row when the bytes are not
 * those of the survey: whatever was made of the rows until then must be thrown away. `seals`: of its card rows, for the
 * reading that gives their cards.
 */
export async function* readRows(
  file: FileHandle,
  survey: Survey,
  options: ReadingOptions,
  seals: Seals | null = null,
): AsyncGenerator<readonly DraftRow[]> {
  const toRow = rowReader(survey, options)
  const again = await readAgain(file, survey)
  seals?.begin(survey.rows)
  let chunk: DraftRow[] = []
  for await (const records of again.rows) {
    for (const { record, rowNo } of records) {
      if (findStructuralFault(survey.header, record, rowNo, survey.cards.forms) !== null) throw changed()
      seals?.add(rowNo, record)
      chunk.push(toRow(record, rowNo))
      if (chunk.length < ROWS_AT_ONCE) continue
      yield chunk
      chunk = []
    }
  }
  if (again.sha256() !== survey.sha256) throw changed()
  seals?.finish()
  if (chunk.length > 0) yield chunk
}

function rowReader(survey: Survey, options: ReadingOptions): (record: CsvRecord, rowNo: number) => DraftRow {
  const { header, sha256, sheet, decimal, minuses, currencySaid, numericIds } = survey
  const derivedOf = derivedReferences(sha256, sheet)
  const runKey = runKeyOf(options)
  const isDamaged = damageIn(header)
  const reading: Reading = {
    operation: options.operation ?? null,
    currency: currencySaid,
    decimal,
    isDecimalMixed: survey.isDecimalMixed,
    oddFrom: survey.oddFrom,
    minuses,
    scale: options.scale,
    accountKey: options.accountKey,
    timeZone: options.timeZone ?? null,
    card: cardColumnsOf(header, options),
  }
  const against = besideRows(header, survey, options.scale)
  const masked = reading.card === null ? header.cards.find(({ kinds }) => kinds.includes('number'))?.place : undefined
  return (record, rowNo) => {
    const { cells, cellOf, storedOf } = fieldsIn(header, record, numericIds)
    const derived = withRunKey(derivedOf(rowNo), runKey)
    const given = damagedReference(header, record) ?? givenReference(header, cells, cellOf, runKey)
    const reference = given ?? derived
    const read = instruct(
      masked === undefined ? cellOf : withMasked(cellOf, cells[masked]),
      reference,
      reading,
      storedOf,
    )
    const beside = read.kind === 'faults' ? null : against({ ...record, cells }, read.instruction)
    const faults =
      read.kind === 'faults'
        ? read.faults.map((fault) => toRowFault(fault, header, record, rowNo, options.spelling))
        : beside === null
          ? []
          : [besideFault(beside, header, record, rowNo, options.spelling)]
    const lost = beside?.isOfSheet === true && read.kind === 'instruction' ? keyPlace(header, read.instruction) : -1
    const whole =
      read.kind === 'faults'
        ? (totalsFault(header, record, rowNo) ?? continuationFault(read, header, record, rowNo))
        : null
    return {
      rowNo,
      line: record.line,
      cells: header.carried.map((i) => {
        const part = header.cardParts.get(i)
        if (part !== undefined) return keptOfCard(part, unquoted(cells[i] ?? ''))
        const cell = i === header.fields.amount ? amountCell(cells, record, i, decimal) : (cells[i] ?? '')
        return i === lost || (read.kind === 'faults' && isDamaged(i, storedOf, read.faults)) ? marked(cell) : cell
      }),
      reference: isProblem(reference) ? unreadReference(derived) : reference,
      made: given === null || isProblem(given) || wasMade(header, cells, cellOf),
      instruction: read.kind === 'instruction' && beside === null ? read.instruction : null,
      ...(read.kind === 'faults' ? { money: read.money, said: read.said } : {}),
      ...(read.kind === 'instruction' && beside !== null ? saidOf(read.instruction) : {}),
      faults: whole === null ? faults : [whole],
      cameFrom: cameFrom(header, cells),
    }
  }
}

/** Where no card is taken, a column of masked ones says whose the order is. */
function withMasked(cellOf: CellOf, cell = ''): CellOf {
  return (field) => (field === 'pmt_numb' ? unquoted(cell) : cellOf(field))
}

type IsDamaged = (place: number, storedOf: StoredOf, faults: readonly FieldFault[]) => boolean

/** Whether a workbook says that the cell in that place is not what was written, or shows a bad amount with a word or sign. */
function damageIn(header: Header): IsDamaged {
  const fieldAt = new Map(Object.entries(header.fields).map(([field, place]) => [place, field as Field]))
  return (place, storedOf, faults) => {
    const field = fieldAt.get(place)
    if (field === undefined) return false
    const { kind, marks } = storedOf(field)
    const isBadMoney = faults.some((fault) => fault.field === 'amount' || fault.field === 'request_currency')
    return kindProblem(field, kind) !== null || (field === 'amount' && marks.length > 0 && isBadMoney)
  }
}

/**
 * In results and rejects, which are text, a bad row's `123` that was `000123` before a spreadsheet took it for a number would
 * look like an honest id, and the row would run uncorrected. With the mark it stays bad until a person has corrected it.
 */
function marked(cell: string): string {
  return cell === '' ? cell : `'${cell}`
}

/**
 * Results and rejects are text and come back with the sign of the file: a number of a workbook goes into them as people
 * wrote the others. With a point, 1.234 would come back as 1234.
 */
function amountCell(cells: readonly string[], { kinds }: CsvRecord, place: number, decimal: Survey['decimal']): string {
  const text = cells[place] ?? ''
  return kinds?.[place] === 'number' && decimal === ',' ? text.replace('.', ',') : text
}

/** What a workbook says is wrong with the cell that the reference would come from; null: nothing. */
function damagedReference(header: Header, { cells, kinds }: CsvRecord): Problem | null {
  const fedBack = header.results?.reference ?? -1
  const place = (cells[fedBack] ?? '').trim() === '' ? header.fields.reference : fedBack
  const kind = kinds?.[place ?? -1]
  return kind === undefined ? null : kindProblem('reference', kind)
}

/** null: the row names none. */
function givenReference(
  header: Header,
  cells: readonly string[],
  cellOf: (field: Field) => string,
  runKey: string | null,
): string | Problem | null {
  // Exactly as recorded: one that came in a message may have quotation marks of its own.
  const fedBack = header.results === null ? '' : (cells[header.results.reference] ?? '')
  if (fedBack.trim() !== '') return parseReference(fedBack, 'results')
  const text = cellOf('reference')
  if (text === '') return null
  // Without the mark it would be another reference, and what was sent under that one would be sent again.
  if (isMarkedAsText(text)) return MARKED_AS_TEXT
  const parsed = parseReference(text)
  return isProblem(parsed) ? parsed : withRunKey(parsed, runKey)
}

/**
 * A file of rejects names the references that were made for its rows. References of people's own that look the same there are taken
 * for made ones, unless they are recorded as their own: that is asked about, or not sent.
 */
function wasMade({ rejectRow, results }: Header, cells: readonly string[], cellOf: (field: Field) => string): boolean {
  if (rejectRow === null || results !== null) return false
  return isDerivedFor(unquoted(cells[rejectRow] ?? ''), cellOf('reference'))
}

function cameFrom({ results }: Header, cells: readonly string[]): DraftRow['cameFrom'] {
  if (results === null || results.batch === null || results.row === null) return null
  const batchId = unquoted(cells[results.batch] ?? '')
  const row = unquoted(cells[results.row] ?? '')
  return batchId !== '' && /^[1-9]\d{0,9}$/.test(row) ? { batchId, rowNo: Number(row) } : null
}

/** Names the column as the file does, and quotes the cell as it stands there. */
function toRowFault(
  { field, ...fault }: FieldFault,
  header: Header,
  record: CsvRecord,
  rowNo: number,
  spelling: Spelling,
): RowFault {
  const place = field === 'reference' && header.results !== null ? header.results.reference : header.fields[field]
  const cell = place === undefined ? undefined : record.cells[place]
  const part = header.cardParts.get(place ?? -1)
  const kept = part === undefined ? cell : keptOfCard(part, unquoted(cell ?? ''))
  return {
    rowNo,
    line: record.line,
    column: place === undefined ? field : (header.written[place] ?? field).trim(),
    value: kept === undefined || kept === '' ? null : shown(kept),
    ...spelled(fault, spelling),
  }
}

function besideFault(
  { place, ...fault }: Against,
  { written, cardParts }: Header,
  { cells, line }: CsvRecord,
  rowNo: number,
  spelling: Spelling,
): RowFault {
  const part = cardParts.get(place)
  const cell = part === undefined ? (cells[place] ?? '') : keptOfCard(part, unquoted(cells[place] ?? ''))
  const column = (written[place] ?? '').trim() || null
  return { rowNo, line, column, value: cell === '' ? null : shown(cell), ...spelled(fault, spelling) }
}

/** Where a mark keeps the row bad. */
function keyPlace({ fields }: Header, { money }: Instruction): number | undefined {
  return money === null ? (fields.request_ref_po_id ?? fields.customer_vault_id) : fields.amount
}

/** Of a row that is bad for what stands beside it. */
function saidOf({ operation, money, card }: Instruction): Pick<DraftRow, 'money' | 'said'> {
  return { money, said: { operation, card: card === null ? null : `${card.bin}-${card.lastFour}` } }
}

/** What a line needs to be a row of its own. */
const OF_ITS_OWN = ['amount', 'request_ref_po_id', 'customer_vault_id'] as const satisfies readonly Field[]

/** Exports of orders have a line for each further item, without amount and id: one word for all that is missing. */
function continuationFault(
  read: ReturnType<typeof instruct>,
  { fields }: Header,
  { cells, line }: CsvRecord,
  rowNo: number,
): RowFault | null {
  const empty: readonly Field[] = [...OF_ITS_OWN, 'request_currency']
  if (read.kind !== 'faults' || read.faults.length < 2 || !read.faults.every(({ field }) => empty.includes(field)))
    return null
  const places = OF_ITS_OWN.flatMap((field) => fields[field] ?? [])
  if (places.length < 2 || places.some((place) => unquoted(cells[place] ?? '') !== '')) return null
  return {
    rowNo,
    line,
    column: null,
    value: null,
    problem: 'has neither an amount nor an id: it looks like a further line of the row above it',
    remedy: 'take such lines out of the file, or leave them out; if it is an instruction, fill in its empty cells',
  }
}
