// The page of a merchant whose minutes were looked at, but for some of them.

import { MINUTE_MS } from '../../../src/console/samples.ts'
import type { Desk } from './desk.ts'

const LOOKED_AT = 40
const MISSED = [17, 18, 30]

/** Resolves to the path of its page. */
export async function anHour({ samples }: Desk): Promise<string> {
  const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  let [approved, declined] = [1_000, 20]
  for (let minute = 0; minute < LOOKED_AT; minute++) {
    approved += Math.round(120 + 60 * Math.sin(minute / 4))
    declined += minute % 7 === 0 ? 6 : 1
    const taken = { approved, declined, failed: 0, inDoubt: minute > 33 ? 2 : 0, open: 3 + (minute % 4) }
    const isMissed = MISSED.includes(minute)
    if (!isMissed) samples.keep(endMs - (LOOKED_AT - 1 - minute) * MINUTE_MS, new Map([['shop', taken]]))
  }
  return '/merchants/shop'
}
