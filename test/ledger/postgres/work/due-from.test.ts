import { beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../../../src/domain/ids.ts'
import { createDueFrom } from '../../../../src/ledger/postgres/work/due-from.ts'

const [A, B] = ['a', 'b'] as readonly string[] as [BatchId, BatchId]
const at = (dueAtMs: number, rowNo: number) => ({ dueAtMs, rowNo })
let steadyMs = 0
beforeEach(() => {
  steadyMs = 0
})

test('a look begins where the one before it found the first row, of the same batch', () => {
  const from = createDueFrom(() => steadyMs)
  expect(from.of(A)).toBeNull()
  from.found(A, at(7, 9_001))
  from.found(A, at(7, 9_040))
  expect(from.of(A)).toEqual(at(7, 9_040))
  expect(from.of(B)).toBeNull()
})

test('every few seconds a look begins at the first row again, however often it looked meanwhile', () => {
  const from = createDueFrom(() => steadyMs)
  let begun = 0
  for (; steadyMs <= 20_000; steadyMs += 100) {
    if (from.of(A) === null) begun += 1
    from.found(A, at(7, 9_040))
  }
  expect(begun).toBe(4)
})

test('where nothing is due the next look begins at the first row', () => {
  const from = createDueFrom(() => steadyMs)
  from.found(A, at(7, 9_040))
  from.found(A, null)
  expect(from.of(A)).toBeNull()
})

test('where few rows stand before the first, each look begins at the first row: one that waited for another is found at once', () => {
  const from = createDueFrom(() => steadyMs)
  from.found(A, at(7, 5_000))
  expect(from.of(A)).toBeNull()
})
