// A line of totals that reads like an instruction.

import { describe, expect, test } from 'vitest'
import { type Neighbour, watchNeighbours } from '../../../src/ledger/rules/neighbours.ts'

const row = (rowNo: number, amountMinor: bigint, over: Partial<Neighbour> = {}): Neighbour => ({
  ...{ rowNo, reference: `R-${rowNo}`, operation: 'REFUND', amountMinor, currency: 'EUR' },
  ...{ target: `10${rowNo * 7}`, orderKey: `10${rowNo * 7}`, cells: [] },
  ...over,
})

function sumsIn(...rows: readonly Neighbour[]) {
  const watched = watchNeighbours()
  for (const one of rows) watched.add(one)
  return watched.found().map(({ rowNo, question }) => [rowNo, question.why, question.at.rowNo])
}

describe('a row that sums all others of a file, whatever it names,', () => {
  const sold = [row(1, 1230n), row(2, 899n), row(3, 2001n)]

  test('is asked about as the last one and as the first', () => {
    expect(sumsIn(...sold, row(4, 4130n))).toEqual([[4, 'subtotal', 1]])
    expect(sumsIn(row(0, 4130n), ...sold)).toEqual([[0, 'subtotal', 3]])
  })

  test.each([
    ['in the midst', [row(1, 1230n), row(2, 4130n), row(3, 899n), row(4, 2001n)]],
    ['of two', [row(1, 1230n), row(2, 899n), row(3, 2129n)]],
    ['in another currency', [...sold, row(4, 4130n, { currency: 'USD' })]],
    ['for another operation', [...sold, row(4, 4130n, { operation: 'CAPTURE' })]],
    ['where one above has another currency', [row(0, 0n, { currency: 'USD' }), ...sold, row(4, 4130n)]],
    ['of which one is missing', [...sold, row(4, 3231n)]],
  ])('%s is none', (_what, rows) => {
    expect(sumsIn(...rows)).toEqual([])
  })

  test('is asked about once where the others are of its order', () => {
    const same = [1n, 2n, 4n, 7n].map((amount, i) => row(i + 1, amount, { target: '7', orderKey: '7' }))
    expect(sumsIn(...same)).toEqual([[4, 'subtotal', 1]])
  })
})
