import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GUARDS } from './guards.ts'
import { ROOT } from './rounds.ts'

test('each guard occurs once in its file, is changed by its edit, and names tests that exist', () => {
  const wrong = GUARDS.filter(({ file, guard, without, tests }) => {
    const occurrences = readFileSync(join(ROOT, file), 'utf8').split(guard).length - 1
    return occurrences !== 1 || guard === without || !tests.every((test) => existsSync(join(ROOT, test)))
  })
  expect(wrong.map(({ name }) => name)).toEqual([])
})
