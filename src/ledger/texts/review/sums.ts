// What the rows of a draft add up to: how many, how much, from the smallest to the largest.

import type { Total } from '../../../domain/batch.ts'
import type { DraftReview, Extent } from '../../../domain/draft.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Currency } from '../../../domain/money.ts'
import type { State } from '../../../domain/states.ts'
import { allExact, type Script } from '../script.ts'

type Sums = Pick<DraftReview, 'rows' | 'accepted' | 'duplicate' | 'invalid' | 'totals' | 'totalsRead' | 'extents'>

/** Rows of one state, operation and currency. */
interface Group extends Omit<Total, 'count' | 'operation'> {
  readonly state: State
  readonly operation: Operation | ''
  readonly count: bigint
  readonly least: bigint | null
  readonly most: bigint | null
  readonly leastLine: bigint | null
  readonly mostLine: bigint | null
}

/** The rows are many and the groups few: all is told by one pass over the rows, and their lines by a second. */
const GROUPS = `
  WITH g AS MATERIALIZED (
    SELECT state, operation, currency, count(*) AS count, CAST(coalesce(sum(amount_minor), 0) AS BIGINT) AS amount,
      min(amount_minor) AS least, max(amount_minor) AS most
    FROM draft_row GROUP BY 1, 2, 3),
  l AS (
    SELECT g.operation, g.currency, min(CASE WHEN d.amount_minor = g.least THEN d.line END) AS least_line,
      min(CASE WHEN d.amount_minor = g.most THEN d.line END) AS most_line
    FROM draft_row d CROSS JOIN g
    WHERE d.state = 'READY' AND g.state = 'READY' AND d.operation = g.operation AND d.currency = g.currency
      AND d.amount_minor IN (g.least, g.most)
    GROUP BY 1, 2)
  SELECT g.state, coalesce(g.operation, '') AS operation, coalesce(g.currency, '') AS currency, g.count, g.amount AS "amountMinor",
    g.least, g.most, l.least_line AS "leastLine", l.most_line AS "mostLine"
  FROM g LEFT JOIN l ON g.state = 'READY' AND l.operation = g.operation AND l.currency = g.currency ORDER BY 2, 3, 1`

export function* sumUp(): Script<Sums> {
  const groups = yield* allExact<Group>(GROUPS)
  const rowsIn = (state: State) =>
    groups.reduce((sum, group) => (group.state === state ? sum + Number(group.count) : sum), 0)
  const [accepted, duplicate, invalid] = [rowsIn('READY'), rowsIn('DUPLICATE'), rowsIn('INVALID')]
  const ready = groups.filter(({ state }) => state === 'READY')
  return {
    ...{ rows: accepted + duplicate + invalid, accepted, duplicate, invalid },
    totals: totalsOf(ready),
    totalsRead: totalsOf(groups.filter(({ operation, least }) => operation !== '' || least !== null)),
    extents: ready.flatMap(toExtent),
  }
}

/** By operation and currency, in the order in which they come. */
function totalsOf(groups: readonly Group[]): Total[] {
  const totals = new Map<string, Total>()
  for (const { operation, currency, count, amountMinor } of groups) {
    const key = `${operation} ${currency}`
    const before = totals.get(key) ?? { operation: operation as Operation, currency, count: 0, amountMinor: 0n }
    totals.set(key, { ...before, count: before.count + Number(count), amountMinor: before.amountMinor + amountMinor })
  }
  return [...totals.values()]
}

function toExtent({ operation, currency, least, most, leastLine, mostLine }: Group): Extent[] {
  if (least === null || most === null) return []
  return [
    {
      operation: operation as Operation,
      currency: currency as Currency,
      smallest: { line: Number(leastLine), amountMinor: least },
      largest: { line: Number(mostLine), amountMinor: most },
    },
  ]
}
