// A thousand seeds more and half as many months, and a kill before every step of six runs.

import { test } from 'vitest'
import { expectBooksToAgree, expectBooksToAgreeAfterEveryKill } from './agreement.ts'

test.each([91, 466, 841, 1216])('the three books agree after each of 375 seeds from %i', (first) =>
  expectBooksToAgree(first, 375),
)

// A month has a thousand steps: beside other work it takes ten minutes.
test.each([17, 29, 53, 76, 91, 6])(
  'a process killed before any one step of seed %i leaves books that agree',
  { timeout: 1_200_000 },
  (seed) => expectBooksToAgreeAfterEveryKill(seed),
)
