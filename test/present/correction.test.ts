import { expect, test } from 'vitest'
import { refusalText } from '../../src/console/check-words.ts'
import { correctionRefusal } from '../../src/present/correction.ts'

test('a file without a new row is not called one with changes, and its results can be had', () => {
  const whole = correctionRefusal({ rows: 4, rowsOfLongAgo: 0, batches: [] }, 9, 0)
  expect(whole).toContain('4 of 9 rows were recorded with an earlier file, and none of the others is new')
  expect(whole).toContain('tranche results BATCH --out FILE')
  expect(whole).not.toContain('with changes')
  expect(correctionRefusal({ rows: 38, rowsOfLongAgo: 0, batches: [] }, 40, 2)).toContain(
    'To send 2 new rows and nothing else',
  )
})

test('the page of a check counts one new row as one', () => {
  expect(refusalText({ kind: 'correction', known: 38, new: 1 })).toContain('to send the new one and nothing else.')
  expect(refusalText({ kind: 'correction', known: 38, new: 2 })).toContain('to send the 2 new ones and nothing else.')
})
