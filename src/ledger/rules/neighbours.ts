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
/** A sum of two rows is the same amount once more, and that is a look-alike. */
const SUMMED_LEAST = 2

interface Series {
  readonly first: Neighbour
  readonly last: Neighbour
  readonly step: bigint | null
  readonly rows: number
}

interface SameTarget {
  readonly last: Neighbour
  readonly first: Neighbour
  /** Of the rows before the last. */
  readonly sumMinor: bigint
  readonly rowsBefore: number
}

export function watchNeighbours(): Neighbours {
  const odd: OddNeighbour[] = []
  let series: Series | null = null
  let same: SameTarget | null = null
  return {
    add(row) {
      series = withRow(series, row)
      if (series.rows === SERIES_LEAST) odd.push(seriesFound(series))
      if (same !== null && isNext(same.last, row) && same.last.target === row.target) {
        const { first, last, sumMinor, rowsBefore } = same
        same = { first, last: row, sumMinor: sumMinor + last.amountMinor, rowsBefore: rowsBefore + 1 }
        return
      }
      if (same !== null) odd.push(...subtotalIn(same))
      same = { first: row, last: row, sumMinor: 0n, rowsBefore: 0 }
    },
    found: () => (same === null ? odd : [...odd, ...subtotalIn(same)]),
  }
}

function isNext(last: Neighbour, row: Neighbour): boolean {
  return row.rowNo === last.rowNo + 1 && row.operation === last.operation && row.currency === last.currency
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

function subtotalIn({ first, last, sumMinor, rowsBefore }: SameTarget): OddNeighbour[] {
  if (rowsBefore < SUMMED_LEAST || sumMinor !== last.amountMinor || sumMinor === 0n) return []
  const problem = `asks for the sum of the ${rowsBefore} rows above it of the same order or card: it may be their subtotal`
  return [{ rowNo: last.rowNo, question: { kind: 'asked', why: 'subtotal', at: inFile(first), problem } }]
}

function inFile({ rowNo, reference }: Neighbour): TargetQuestion['at'] {
  return { id: null, batchId: null, rowNo, reference }
}
