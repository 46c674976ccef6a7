import { describe, expect, test } from 'vitest'
import { lieIn } from './truth.ts'

const liesOf = (statuses: readonly string[], times: number) =>
  lieIn('the book', new Map([['7', statuses]]), new Map(times === 0 ? [] : [['7', times]]))

describe('a book lies about a target', () => {
  test.each([
    ['executed twice for one row', ['APPROVED'], 2],
    ['never executed and called approved', ['APPROVED'], 0],
    ['executed and called failed', ['FAILED'], 1],
    ['executed and called declined', ['DECLINED'], 1],
    ['executed and called pending', ['PENDING'], 1],
    ['executed twice for a row in doubt', ['IN_DOUBT'], 2],
    ['executed thrice for two rows', ['APPROVED', 'IN_DOUBT'], 3],
    ['executed and in no row', [], 1],
  ])('%s', (_, statuses, times) => {
    expect(liesOf(statuses, times)).toHaveLength(1)
  })
})

describe('a book does not lie about a target', () => {
  test.each([
    ['executed once and called approved', ['APPROVED'], 1],
    ['executed or not and in doubt', ['IN_DOUBT'], 0],
    ['executed or not and in doubt', ['IN_DOUBT'], 1],
    ['executed once for two rows, one FAILED', ['APPROVED', 'FAILED'], 1],
    ['not executed and called anything else', ['DECLINED', 'FAILED', 'PENDING', 'CANCELLED'], 0],
  ])('%s', (_, statuses, times) => {
    expect(liesOf(statuses, times)).toEqual([])
  })
})
