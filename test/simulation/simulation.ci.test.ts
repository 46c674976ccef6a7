// A thousand seeds more, and a kill before every step of five runs.

import { test } from 'vitest'
import { expectBooksToAgree, expectBooksToAgreeAfterEveryKill } from './agreement.ts'

test.each([61, 311, 561, 811])('the three books agree after each of 250 seeds from %i', (first) =>
  expectBooksToAgree(first, 250),
)

test.each([17, 29, 53, 76, 91])('a process killed before any one step of seed %i leaves books that agree', (seed) =>
  expectBooksToAgreeAfterEveryKill(seed),
)
