import { expect, test } from 'vitest'
import { createToldTrouble } from '../../src/domain/trouble.ts'

test('the same trouble is told once, until it changes or was over', () => {
  const trouble = createToldTrouble()
  const texts = ['away', 'away', 'full', 'away', 'for 15 s more', 'for 9 s more']
  expect(texts.map((text) => trouble.isNew(new Error(text)))).toEqual([true, false, true, true, true, false])
  trouble.over()
  expect([trouble.isNew(new Error('away')), trouble.isNew(new Error('away'))]).toEqual([true, false])
})
