// Rows that sum the rows above them in a file, or all others. A file may have a million rows: only the last ones are held. Pure.

import type { TargetQuestion } from './judge-target.ts'

export interface Neighbour {
  readonly rowNo: number
  readonly reference: string
  readonly operation: string
  readonly amountMinor: bigint
  readonly currency: string
  /** The order or card that it names. */
  readonly target: string
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

/** A sum of two rows is the same amount once more, and that is a look-alike. Of rows that have nothing in common, two may be a third by chance. */
const SUMMED_LEAST = { target: 2, file: 3 }

/** Rows of one target, or all of the file. `sumMinor`: of those before the last. */
interface Summed {
  readonly of: keyof typeof SUMMED_LEAST
  readonly first: Neighbour
  readonly last: Neighbour
  readonly sumMinor: bigint
  readonly rowsBefore: number
}

export function watchNeighbours(): Neighbours {
  const odd: OddNeighbour[] = []
  let same: Summed | null = null
  let all: Summed | null = null
  let isMixed = false
  return {
    add(row) {
      isMixed ||= all !== null && !isOfKind(all.last, row)
      all = addTo(all, 'file', row)
      const goesOn = same !== null && isNext(same.last, row)
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
  return row.rowNo === last.rowNo + 1 && isOfKind(last, row) && last.target === row.target
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
  const at = { id: null, batchId: null, rowNo: beside.rowNo, reference: beside.reference }
  return [{ rowNo: row.rowNo, question: { kind: 'asked', why: 'subtotal', at, problem } }]
}
