// Claims of a group that count towards the limit of a day. Their sums are locked before anything else of the group, always in the same order,
// so that claims of other workers wait; then each claim is judged behind those before it, and what was claimed is counted with the COMMIT.

import type { LimitedAmount } from '../../../domain/daily-limit.ts'
import { fitsLimit } from '../../rules/daily-limit.ts'
import type { Asked } from '../session.ts'

/** A claim, as far as its limit goes. */
interface ToJudge {
  readonly limited: LimitedAmount | null
  /** A person has accepted that it is above the whole limit. */
  readonly mayExceed: boolean
}

/** `held`: there is no room for it on that day. `later`: only what is claimed before it may leave none. `uncounted`: its sum is not known. */
export type Judged = 'fits' | 'held' | 'later' | 'uncounted'

const LOCK = `
  SELECT d.account_id, d.direction, d.currency, d.starts_at, CAST(d.amount_minor AS TEXT) AS spent FROM limited_day d
  WHERE (d.account_id, d.direction, d.currency, d.starts_at) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]))
  ORDER BY 1, 2, 3, 4 FOR NO KEY UPDATE`

const COUNT = `
  UPDATE limited_day d SET amount_minor = d.amount_minor + n.amount
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) AS n (account_id, direction, currency, starts_at, amount)
  WHERE (d.account_id, d.direction, d.currency, d.starts_at) = (n.account_id, n.direction, n.currency, n.starts_at)`

/** None where no claim is limited. */
export function askForSums(claims: readonly ToJudge[]): readonly Asked[] {
  const days = daysOf(claims)
  return days.length === 0 ? [] : [{ text: LOCK, values: keysOf(days) }]
}

interface FoundSum {
  readonly account_id: number
  readonly direction: string
  readonly currency: string
  readonly starts_at: number
  readonly spent: string | null
}

/** In the order of the claims. */
export function judgeTogether(claims: readonly ToJudge[], found: readonly object[]): readonly Judged[] {
  const spent = new Map(
    (found as readonly FoundSum[]).flatMap((sum) =>
      sum.spent === null
        ? []
        : [[[sum.account_id, sum.direction, sum.currency, sum.starts_at].join(), BigInt(sum.spent)] as const],
    ),
  )
  const before = new Map<string, bigint>()
  return claims.map(({ limited, mayExceed }) => {
    if (limited === null) return 'fits'
    const name = nameOf(limited)
    const sum = spent.get(name)
    if (sum === undefined) return 'uncounted'
    if (!fitsLimit(limited, sum, mayExceed)) return 'held'
    const claimed = before.get(name) ?? 0n
    if (!fitsLimit(limited, sum + claimed, mayExceed)) return 'later'
    before.set(name, claimed + limited.amountMinor)
    return 'fits'
  })
}

/** Of those that were claimed. */
export function askToCount(claimed: readonly Pick<ToJudge, 'limited'>[]): readonly Asked[] {
  const days = daysOf(claimed)
  if (days.length === 0) return []
  const amounts = days.map((day) =>
    claimed.reduce(
      (sum, { limited }) => (limited !== null && nameOf(limited) === nameOf(day) ? sum + limited.amountMinor : sum),
      0n,
    ),
  )
  return [{ text: COUNT, values: [...keysOf(days), amounts.map(String)] }]
}

/** By which its sum is known. */
export function nameOf({ accountId, direction, currency, day }: LimitedAmount): string {
  return [accountId, direction, currency, day.startsAtMs].join()
}

function daysOf(claims: readonly Pick<ToJudge, 'limited'>[]): readonly LimitedAmount[] {
  return [...new Map(claims.flatMap(({ limited }) => (limited === null ? [] : [[nameOf(limited), limited]]))).values()]
}

function keysOf(days: readonly LimitedAmount[]): readonly unknown[] {
  return [
    days.map(({ accountId }) => accountId),
    days.map(({ direction }) => direction),
    days.map(({ currency }) => currency),
    days.map(({ day }) => day.startsAtMs),
  ]
}
