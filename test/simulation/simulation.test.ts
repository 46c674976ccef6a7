// The first seeds of the simulation, and the proof that it repeats.

import { expect, test } from 'vitest'
import { expectBooksToAgree, expectBooksToAgreeAfterEveryKill } from './agreement.ts'
import { runSeed } from './run.ts'

test('the three books agree after each of the first 90 seeds', () => expectBooksToAgree(1, 90))

test('a seed repeats exactly, whatever ran before it', async () => {
  for (const seed of [3, 44, 105]) {
    const first = await runSeed({ seed, trace: true })
    await runSeed({ seed: seed + 1 })
    const again = await runSeed({ seed, trace: true })
    expect(first.trace.length).toBeGreaterThan(20)
    expect(again).toEqual(first)
  }
})

test('a process killed before any one step of a run leaves books that agree', () => expectBooksToAgreeAfterEveryKill(8))
