// What a file was read with, as the fields of its form are called: no option of a command line.

import { expect, test } from 'vitest'
import { readingText } from '../../src/console/reading-text.ts'
import { fingerprintOf } from '../../src/domain/interpretation.ts'

test('names the fields and what was chosen there', () => {
  const map = [
    { column: 'Betrag', field: 'amount' },
    { column: 'Notiz', field: '' },
  ]
  expect(readingText(fingerprintOf({ operation: 'REFUND', headerRow: 3, map }))).toBe(
    '“What the rows ask for: Refunds”, “Line of the column names: 3”, “Columns: Betrag = amount”, “Columns: Notiz = ignore”',
  )
})

test('says which rows of results were run once more', () => {
  const retry = ['FAILED', 'CANCELLED'] as const
  expect(readingText(fingerprintOf({ retry }))).toBe('rows that were cancelled or failed, once more')
  expect(readingText(fingerprintOf({ reattempt: ['funds'] }))).toBe('rows that were declined (funds), once more')
})

test('is empty where nothing was said', () => {
  expect(readingText('')).toBe('')
})
