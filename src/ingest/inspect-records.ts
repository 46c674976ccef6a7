// What the records of a file say, wherever they come from: the header, the rows below it, the decimal sign, what is odd.

import type { Operation } from '../domain/instruction.ts'
import type { Environment } from '../domain/merchant.ts'
import type { Currency } from '../domain/money.ts'
import { type Problem, refuse, type StructuralFault } from '../domain/problem.ts'
import { type Spelling, spell, type Text, words } from '../domain/words.ts'
import type { DecimalSign } from '../domain/written-amount.ts'
import { lineTakenIn, Oddities, tableAbove, takenInFault, titledFault, twoTablesFault } from './anomalies.ts'
import { SAMPLE_ROWS } from './candidates.ts'
import { passedWarnings } from './cards/evidence.ts'
import { findCardData } from './cards/record.ts'
import { CardWatch } from './cards/watch.ts'
import { fieldOf, type MappedColumn, squeezed } from './columns.ts'
import { type Delimiter, type IsKnown, noSuchLine } from './csv/delimiter.ts'
import { ShortLines, squared } from './csv/ragged.ts'
import type { CsvRecord } from './csv/records.ts'
import { isAmountIn } from './fields/currency-marks.ts'
import { type Header, isHeaderAgain, type Lacking, namesColumns, readHeader } from './header.ts'
import { LIMITS } from './limits.ts'
import { RowEvidence, type RowsShown } from './row-evidence.ts'
import type { Scale } from './statements/scale.ts'
import { totalsOf } from './totals-line.ts'
import { type CardsTaken, vocabularyOf } from './vocabulary.ts'

/** What a person says about a file. */
export interface ReadingOptions {
  /** For every row; a row that says another one is a fault. */
  readonly operation?: Operation | undefined
  /** Whether rows may have card details; refused where nothing is said. Storing and changing cards needs them taken. */
  readonly cards?: CardsTaken | undefined
  /** Epoch milliseconds: whether a card has expired, and which days are past or to come. */
  readonly nowMs?: number | undefined
  /** For rows that name none. */
  readonly currency?: Currency | undefined
  readonly decimal?: DecimalSign | undefined
  /** Every amount carries a minus, which is taken off. */
  readonly sign?: 'minus' | undefined
  /** Amounts are in minor units of their currency. */
  readonly scale?: Scale | undefined
  /** The line that names the columns; lines above it are left out, and counted. */
  readonly headerRow?: number | undefined
  readonly runKey?: string | undefined
  /** What the columns are, where their names do not say it. */
  readonly map?: readonly MappedColumn[] | undefined
  /** Columns whose numbers only look like card numbers, as a person says. */
  readonly notCards?: readonly string[] | undefined
  /** Of a workbook, where it has more than one with something in it. */
  readonly sheet?: string | undefined
  /** As many rows of a workbook are hidden in its sheet, and they are meant. */
  readonly allowHidden?: number | undefined
  /** IANA name: where moments without an offset are read. */
  readonly timeZone?: string | undefined
  /** The names of all merchants that are configured, the one that is meant first. */
  readonly merchants?: readonly string[] | undefined
  /** Of the account. */
  readonly environment?: Environment | null | undefined
  /** Identity of the account, which never changes: xtl_order_ids are derived from it. */
  readonly accountKey: string
  /** Of the door that asks: what leaves here is in its words. */
  readonly spelling: Spelling
}

type Lacks = NonNullable<Lacking['lacks']> & { readonly cards: CardWatch }

export interface RecordsFound extends RowsShown {
  readonly rows: number
  readonly warnings: readonly string[]
}

/** Why records end before their file does, where it is no fault: it is to be read in another way. */
type ReadOtherwise = 'not-text' | 'odd-quotes'

/** Where the records come from. */
export interface Source {
  /** null: a workbook. */
  readonly delimiter: Delimiter | null
  /** The line below this one that names columns; null: none does. */
  findHeaderBelow(firstLine: number, isKnown: IsKnown): number | null | Promise<number | null>
  /** The first line above this one that fits; null: none does. */
  findAbove(line: number, fits: (cells: readonly string[]) => boolean): number | null | Promise<number | null>
}

export async function surveyRecords(
  groups: AsyncIterable<readonly (CsvRecord | StructuralFault | { readonly kind: ReadOtherwise })[]>,
  options: ReadingOptions,
  source: Source,
): Promise<RecordsFound | StructuralFault | ReadOtherwise> {
  const oddities = new Oddities()
  let evidence: RowEvidence | null = null
  let shortLines: ShortLines | null = null
  let lacking: Lacks | null = null
  let rows = 0
  for await (const group of groups) {
    for (const found of group) {
      if (found.kind === 'refused') return lacking === null ? found : lackingFault(lacking)
      if (found.kind !== 'record') return found.kind
      if (lacking !== null) {
        rows += 1
        if (rows <= SAMPLE_ROWS) lacking.candidates?.see(found)
        lacking.cards.see(found, rows)
        if (rows < LIMITS.rows) continue
        return lackingFault(lacking)
      }
      const read = evidence === null ? found : squared(evidence.header, found)
      oddities.see(read)
      if (read !== found) oddities.seeRagged(read)
      if (evidence === null) {
        if (options.headerRow !== undefined && read.line !== options.headerRow)
          return refuse(noSuchLine(options.headerRow))
        const unseen = findUnseenName(read)
        if (unseen !== null) return unseen
        const above = await linesAbove(read.line, options, source)
        const parsed = readHeader(read.cells, read.line, { ...options, above })
        if ('kind' in parsed) return (await titled(read, options, source)) ?? parsed
        if (parsed.lacks !== null) {
          const title = await titled(read, options, source)
          const why = title === null ? parsed.lacks : { fault: title, candidates: null }
          lacking = { ...why, cards: new CardWatch(parsed) }
          continue
        }
        const sameAbove =
          options.headerRow === undefined
            ? null
            : await source.findAbove(read.line, (cells) => isHeaderAgain(parsed, withoutEnd(cells, parsed)))
        if (sameAbove !== null) return refuse(rowsAbove(sameAbove, read.line), { line: sameAbove })
        const table = options.headerRow === undefined ? null : await twoTables(read.line, options, source)
        if (table !== null) return table
        evidence = new RowEvidence(parsed, read.line, options)
        shortLines = new ShortLines(parsed)
        continue
      }
      const { header } = evidence
      if (isHeaderAgain(header, read.cells)) {
        if (oddities.seeHeader(read) > LIMITS.headersAgain) return refuse(TOO_MANY_HEADERS, { line: read.line })
        continue
      }
      rows += 1
      if (rows > LIMITS.rows) return refuse(TOO_MANY_ROWS, { line: read.line })
      const takenIn = source.delimiter === null ? null : lineTakenIn(header, read, source.delimiter)
      if (takenIn !== null) oddities.seeTakenIn(takenIn)
      const fault =
        findStructuralFault(header, read, rows, null) ??
        (takenIn === null ? null : takenInFault(header, read, rows, takenIn))
      if (fault !== null) return fault
      shortLines?.see(found, rows)
      evidence.see(read, rows)
    }
  }
  if (lacking !== null) return lackingFault(lacking)
  if (evidence === null) return refuse(options.headerRow === undefined ? EMPTY : noSuchLine(options.headerRow))
  if (rows === 0) return refuse(NO_ROWS)
  const short = shortLines?.decide() ?? null
  if (short !== null) return lengthFault(evidence.header, short.record, short.rowNo)
  const found = evidence.judge()
  if ('kind' in found) return found
  const { notes, ...shown } = found
  const odd: Text[] = [...titlesNote(options), ...notes, ...oddities.warnings(), ...passedWarnings(found.cards.passed)]
  return { ...shown, rows, warnings: odd.map((warning) => spell(warning, options.spelling)) }
}

function lackingFault({ fault, candidates, cards }: Lacks): StructuralFault {
  const found = `${candidates ?? ''}`
  const remedy = found === '' ? fault.remedy : words`${fault.remedy}. In this file there are ${found}`
  return { ...fault, remedy, code: cards.hasSeen() ? 'card-data' : fault.code }
}

function titlesNote({ headerRow }: ReadingOptions): readonly string[] {
  if (headerRow === undefined) return []
  const above = headerRow === 2 ? 'Line 1 is' : `Lines 1 to ${headerRow - 1} are`
  return [`${above} above the column names and left out.`]
}

/** By line; those that a person has left out. */
async function linesAbove(line: number, { headerRow }: ReadingOptions, source: Source): Promise<readonly string[][]> {
  const lines: string[][] = []
  if (headerRow !== undefined) await source.findAbove(line, (cells) => lines.push([...cells]) === 0)
  return lines
}

/** A sheet has empty cells behind the names as often as not. */
function withoutEnd(cells: readonly string[], { written }: Header): readonly string[] {
  return cells.slice(written.length).every((cell) => cell.trim() === '') ? cells.slice(0, written.length) : cells
}

/** Two files of one kind, joined: what is between the two lines are rows, and no titles. */
function rowsAbove(line: number, headerLine: number): Problem<Text> {
  return {
    problem: words`line ${line} has the same column names as line ${headerLine}, which ${{ set: 'header-row', to: null }} says is the first to name them: what is between them would be left out`,
    remedy: words`to have those rows read too: ${{ set: 'header-row', to: `${line}` }}; to leave them out, delete line ${line} and what follows up to line ${headerLine}`,
  }
}

/** Where lines stand above the one that names the columns. */
async function titled(read: CsvRecord, options: ReadingOptions, source: Source): Promise<StructuralFault | null> {
  const headerLine = await source.findHeaderBelow(read.line, knownWith(options))
  const title = titledFault(read, headerLine)
  return title === null || headerLine === null ? title : ((await twoTables(headerLine, options, source)) ?? title)
}

async function twoTables(line: number, options: ReadingOptions, source: Source): Promise<StructuralFault | null> {
  const above = await source.findAbove(line, tableAbove(knownWith(options)))
  return above === null ? null : twoTablesFault(above, line)
}

/** Whether a column of that name would be understood. */
export function knownWith(options: Pick<ReadingOptions, 'operation' | 'cards' | 'map'>): (column: string) => boolean {
  const vocabulary = vocabularyOf(options)
  const said = new Map((options.map ?? []).map(({ column, field }) => [squeezed(column), field]))
  return (column) => (said.get(squeezed(column)) ?? fieldOf(column, vocabulary) ?? null) !== null || isAmountIn(column)
}

function findUnseenName({ kinds = [], cells, line }: CsvRecord): StructuralFault | null {
  const place = kinds.findIndex((kind) => kind === 'covered' || kind === 'stale')
  if (place === -1) return null
  return refuse(kinds[place] === 'covered' ? NAME_UNDER_MERGE : NAME_OUT_OF_DATE, { line, column: cells[place] ?? '' })
}

const NAME_OUT_OF_DATE: Problem = {
  problem: 'the name of a column is a formula, and the workbook says that its value is out of date',
  remedy: 'open the workbook in the spreadsheet program, which computes it, save it, and use that file',
}
const NAME_UNDER_MERGE: Problem = {
  problem: 'the name of a column is hidden under merged cells: a spreadsheet does not show it',
  remedy: 'unmerge the cells of the first row, so that every column shows its name',
}
const EMPTY: Problem = {
  problem: 'the file is empty',
  remedy: 'check the export; the first line must name the columns',
}
const TOO_MANY_HEADERS: Problem = {
  problem: `more than ${LIMITS.headersAgain} lines repeat the column names`,
  remedy: 'check the export: one line with the column names is enough',
}
const NO_ROWS: Problem = { problem: 'the file has column names but no rows', remedy: 'check the export' }
const TOO_MANY_ROWS: Problem = {
  problem: `the file has more than ${LIMITS.rows} rows`,
  remedy: 'split it into several files, each with the column names in its first line',
}

/** What makes a record no row of its file. Asked again in the second reading. */
export function findStructuralFault(
  header: Header,
  record: CsvRecord,
  rowNo: number,
  passed: ReadonlySet<string> | null,
): StructuralFault | null {
  const at = { rowNo, line: record.line }
  const { length } = record.cells
  const wanted = header.written.length
  if (namesColumns(header, record.cells)) return refuse(OTHER_NAMES, at)
  if (length === wanted) return findCardData(header, record, rowNo, passed)
  return lengthFault(header, record, rowNo)
}

function lengthFault(header: Header, record: CsvRecord, rowNo: number): StructuralFault {
  const { problem, remedy } = otherLength(record.cells, header.written.length)
  const totals = totalsOf(header, record)
  const fault = totals === null ? { problem, remedy } : { problem: `${totals.says}: ${problem}`, remedy: totals.remedy }
  return refuse(fault, { rowNo, line: record.line })
}

/** Where a decimal comma has parted an amount, an empty cell at the end is left over, too. */
function otherLength(cells: readonly string[], wanted: number): Problem {
  const { length } = cells
  const problem = `the row has ${length} ${length === 1 ? 'cell' : 'cells'} and the header ${wanted}`
  if (length > wanted && cells.slice(wanted).every((cell) => cell.trim() === ''))
    return {
      problem: `${problem}; the extra cells at its end are empty`,
      remedy:
        'if every row ends with a delimiter, end the first line with one too; else look for a delimiter inside a cell that is not in quotation marks',
    }
  if (length === 1 && /[;,\t|]/.test(cells[0] ?? ''))
    return {
      problem,
      remedy: 'the row seems to use another delimiter than the header: use one for the whole file',
    }
  return {
    problem,
    remedy:
      'look for a delimiter inside a cell that is not in quotation marks, a cell that is missing, or a missing line end',
  }
}

const OTHER_NAMES: Problem = {
  problem:
    'the row names columns again, and not as the first line does: two different files seem to be pasted together',
  remedy: 'run them as two files, each with its own column names in the first line',
}
