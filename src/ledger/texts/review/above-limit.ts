// Rows of a draft that are above the whole limit of a day.

import { type AboveLimit, type Direction, OPERATIONS_OF } from '../../../domain/daily-limit.ts'
import type { DraftHeader } from '../../../domain/draft.ts'
import { listOf } from '../conditions.ts'
import { oneExact, type Script } from '../script.ts'

const ABOVE = (direction: Direction) => `
    SELECT count(*) AS rows, min(line) AS "firstLine", max(amount_minor) AS "largestMinor" FROM draft_row
    WHERE state = 'READY' AND currency = :currency AND operation IN (${listOf(OPERATIONS_OF[direction])}) AND amount_minor > :limitMinor`
const TEXTS = [
  ['out', ABOVE('out')],
  ['in', ABOVE('in')],
] as const

interface Found {
  readonly rows: bigint
  readonly firstLine: bigint
  readonly largestMinor: bigint
}

export function* aboveLimit({ dailyLimits }: DraftHeader): Script<AboveLimit[]> {
  const all: AboveLimit[] = []
  for (const [currency, limitMinor] of dailyLimits?.amounts ?? []) {
    for (const [direction, text] of TEXTS) {
      const { rows, firstLine, largestMinor } = (yield* oneExact<Found>(text, { currency, limitMinor }))!
      if (rows === 0n) continue
      const counts = { rows: Number(rows), firstLine: Number(firstLine), largestMinor }
      all.push({ direction, currency, limitMinor, ...counts })
    }
  }
  return all
}
