// Rows that stand one below another in a file and cannot be meant so: cells that a spreadsheet filled downwards, and sums of the rows
// above. A file may have a million rows: only the last ones are held. Pure.

import { parseOperation } from '../../domain/instruction.ts'
import type { TargetQuestion } from './judge-target.ts'
import { amountText } from './order-book.ts'

export interface Neighbour {
  readonly rowNo: number
  readonly reference: string
  readonly operation: string
  readonly amountMinor: bigint
  readonly currency: string
  /** The order or card that it names. */
  readonly target: string
  /** The order that it names; null: none. */
  readonly orderKey: string | null
  readonly cells: readonly string[]
}

export interface OddNeighbour {
  readonly rowNo: number
  readonly question: TargetQuestion
}

export interface Neighbours {
  /** In the order of the file. */
  add(row: Neighbour): void
  found(): readonly OddNeighbour[]
}

/** So many amounts in one exact series are no chance. */
const SERIES_LEAST = 4
/** A sum of two rows is the same amount once more, and that is a look-alike. Of rows that have nothing in common, two may be a third by chance. */
const SUMMED_LEAST = { target: 2, file: 3 }

interface Series {
  readonly first: Neighbour
  readonly last: Neighbour
  readonly step: bigint | null
  readonly rows: number
}

/** Rows of one target, or all of the file. */
interface Summed {
  readonly of: keyof typeof SUMMED_LEAST
  readonly last: Neighbour
  readonly first: Neighbour
  /** Of the rows before the last. */
  readonly sumMinor: bigint
  readonly rowsBefore: number
}

export function watchNeighbours(): Neighbours {
  const odd: OddNeighbour[] = []
  let series: Series | null = null
  let same: Summed | null = null
  let all: Summed | null = null
  let isMixed = false
  return {
    add(row) {
      series = withRow(series, row)
      if (series.rows === SERIES_LEAST) odd.push(seriesFound(series))
      isMixed ||= all !== null && !isOfKind(all.last, row)
      all = addTo(all, 'file', row)
      const goesOn = same !== null && isNext(same.last, row) && same.last.target === row.target
      if (!goesOn) odd.push(...sumsIn(same))
      same = addTo(goesOn ? same : null, 'target', row)
    },
    found() {
      const ofTarget = sumsIn(same)
      const ofFile = isMixed || ofTarget.length > 0 ? [] : sumsIn(all)
      return [...odd, ...ofTarget, ...ofFile].toSorted((one, other) => one.rowNo - other.rowNo)
    },
  }
}

function addTo(before: Summed | null, of: Summed['of'], row: Neighbour): Summed {
  if (before === null) return { of, first: row, last: row, sumMinor: 0n, rowsBefore: 0 }
  const { first, last, sumMinor, rowsBefore } = before
  return { of, first, last: row, sumMinor: sumMinor + last.amountMinor, rowsBefore: rowsBefore + 1 }
}

function isOfKind(one: Neighbour, other: Neighbour): boolean {
  return one.operation === other.operation && one.currency === other.currency
}

function isNext(last: Neighbour, row: Neighbour): boolean {
  return row.rowNo === last.rowNo + 1 && isOfKind(last, row)
}

function withRow(series: Series | null, row: Neighbour): Series {
  const alone = { first: row, last: row, step: null, rows: 1 }
  if (series === null || !isNext(series.last, row)) return alone
  const step = row.amountMinor - series.last.amountMinor
  if (step === 0n || !isOneCustomer(series.last, row)) return alone
  if (step === series.step) return { ...series, last: row, rows: series.rows + 1 }
  return { first: series.last, last: row, step, rows: 2 }
}

/** The same target, or order ids that count up by one beside some words that stay as they are. */
function isOneCustomer(last: Neighbour, row: Neighbour): boolean {
  if (last.target === row.target) return true
  if (last.orderKey === null || row.orderKey === null || BigInt(row.orderKey) !== BigInt(last.orderKey) + 1n)
    return false
  return row.cells.some((cell, i) => cell === last.cells[i] && saysWho(cell))
}

/** Words, other than a currency or an operation. */
function saysWho(cell: string): boolean {
  return /\p{L}{2}/u.test(cell) && !/^[A-Z]{3}$/.test(cell) && parseOperation(cell) === undefined
}

/** One question of a series, however long it goes on. */
function seriesFound({ first, last, step }: Series): OddNeighbour {
  const by = amountText(step as bigint, last.currency)
  const problem = `is one of a series from row ${first.rowNo} on, whose amounts differ by ${by} each, beside one customer: a spreadsheet may have filled the cells downwards`
  return { rowNo: last.rowNo, question: { kind: 'asked', why: 'series', at: inFile(first), problem } }
}

/** The last row may sum those above it, and in a file the first one those below. */
function sumsIn(summed: Summed | null): OddNeighbour[] {
  if (summed === null || summed.rowsBefore < SUMMED_LEAST[summed.of] || summed.last.amountMinor === 0n) return []
  const { of, first, last, sumMinor, rowsBefore } = summed
  const isAtEnd = sumMinor === last.amountMinor
  if (!isAtEnd && (of === 'target' || sumMinor - first.amountMinor + last.amountMinor !== first.amountMinor)) return []
  const [row, beside] = isAtEnd ? [last, first] : [first, last]
  const problem =
    of === 'file'
      ? 'asks for the sum of all other rows of the file: it may be their total'
      : `asks for the sum of the ${rowsBefore} rows above it of the same order or card: it may be their subtotal`
  return [{ rowNo: row.rowNo, question: { kind: 'asked', why: 'subtotal', at: inFile(beside), problem } }]
}

function inFile({ rowNo, reference }: Neighbour): TargetQuestion['at'] {
  return { id: null, batchId: null, rowNo, reference }
}
