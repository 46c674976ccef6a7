// Rows of a draft that are above the whole limit of a day. Each is marked with the limit that it is asked about: where the draft is recorded,
// a person has accepted that.

import { type AboveLimit, type Direction, OPERATIONS_OF } from '../../../domain/daily-limit.ts'
import type { DraftHeader } from '../../../domain/draft.ts'
import { listOf } from '../conditions.ts'
import { change, oneExact, type Script } from '../script.ts'

const isAbove = (direction: Direction) =>
  `state = 'READY' AND currency = :currency AND operation IN (${listOf(OPERATIONS_OF[direction])}) AND amount_minor > :limitMinor`
const ABOVE = (direction: Direction) => ({
  direction,
  found: `
    SELECT count(*) AS rows, min(line) AS "firstLine", max(amount_minor) AS "largestMinor" FROM draft_row WHERE ${isAbove(direction)}`,
  mark: `UPDATE draft_row SET accepted_limit = :limitMinor WHERE ${isAbove(direction)}`,
})
const TEXTS = [ABOVE('out'), ABOVE('in')]

interface Found {
  readonly rows: bigint
  readonly firstLine: bigint
  readonly largestMinor: bigint
}

export function* aboveLimit({ dailyLimits }: DraftHeader): Script<AboveLimit[]> {
  const all: AboveLimit[] = []
  for (const [currency, limitMinor] of dailyLimits?.amounts ?? []) {
    for (const { direction, found, mark } of TEXTS) {
      const { rows, firstLine, largestMinor } = (yield* oneExact<Found>(found, { currency, limitMinor }))!
      if (rows === 0n) continue
      yield* change(mark, { currency, limitMinor })
      const counts = { rows: Number(rows), firstLine: Number(firstLine), largestMinor }
      all.push({ direction, currency, limitMinor, ...counts })
    }
  }
  return all
}
