import { expect, test } from 'vitest'
import { createToldTrouble } from '../../src/domain/trouble.ts'

test('the same trouble is told once, until it changes or was over', () => {
  const trouble = createToldTrouble()
  const told = ['away', 'away', 'full', 'away'].map((text) => trouble.isNew(new Error(text)))
  expect(told).toEqual([true, false, true, true])
  trouble.over()
  expect([trouble.isNew(new Error('away')), trouble.isNew(new Error('away'))]).toEqual([true, false])
})
