// What counts towards the limit of a day. Its sum is kept from the first claim that is limited, and is only a memory of the record: whatever
// else than a claim or its own answer changes what counts makes it unknown, and then it is added up from the record again.

import { isAboveLimit, type LimitedAmount, type LimitReached, OPERATIONS_OF } from '../../../domain/daily-limit.ts'
import type { AccountId, RowId } from '../../../domain/ids.ts'
import type { Operation } from '../../../domain/instruction.ts'
import type { Currency } from '../../../domain/money.ts'
import type { Claim, WorkLedger } from '../../../ports/ledger/work.ts'
import { COUNTED, dueAfterLimit, fitsLimit, isAccepted, isSameLimit, NEXT_DAY_BY_MS } from '../../rules/daily-limit.ts'
import { listOf } from '../conditions.ts'
import { type Engine, KEPT } from '../engine.ts'
import { all, allExact, change, count, exists, oneExact, type Script, type Values } from '../script.ts'
import { ROWS_PER_STEP, stepwise } from './open-rows.ts'

/** By which a sum is known. */
function keyOf({ accountId, direction, currency, day }: LimitedAmount) {
  return { accountId, direction, currency, startsAtMs: day.startsAtMs }
}

const OF_DAY = 'account_id = :accountId AND direction = :direction AND currency = :currency AND starts_at = :startsAtMs'

const SPENT = `SELECT amount_minor AS spent FROM limited_day WHERE ${OF_DAY}`

const KEEP = `
    INSERT INTO limited_day (account_id, direction, currency, starts_at, ends_at, time_zone, limit_minor, amount_minor)
    VALUES (:accountId, :direction, :currency, :startsAtMs, :endsAtMs, :timeZone, :limitMinor, :spent)
    ON CONFLICT (account_id, direction, currency, starts_at) DO UPDATE SET amount_minor = excluded.amount_minor`

/** What counts already. Added up from the record where it is not known. */
export function* spentOn(limited: LimitedAmount): Script<bigint> {
  const key = keyOf(limited)
  const known = yield* oneExact<{ spent: bigint | null }>(SPENT, key)
  if (known !== undefined && known.spent !== null) return known.spent
  const spent = yield* addUp(limited)
  const { timeZone, limitMinor, day } = limited
  yield* change(KEEP, { ...key, timeZone, limitMinor, endsAtMs: day.endsAtMs, spent })
  return spent
}

/** Of moves: the largest amounts of so many rows add up to less than 64 bits hold. */
const MOVES_PER_PAGE = 1_000
/** Beyond every limit, and far from where adding to it fails. */
const BOUNDLESS = 2n ** 62n

/** When row `i` was claimed. When a lost state claimed one is not known, so that one counts on the day on which the loss was noticed. */
const COUNTS_AT =
  "CASE m.cause WHEN 'claim' THEN i.claimed_at WHEN 'restore' THEN CASE WHEN i.claimed_at IS NULL THEN m.at END END"

const PAGE = (operations: readonly Operation[]) => `
    SELECT max(m.at) AS newest, CAST(coalesce(sum(CASE WHEN m.cause IN ('claim', 'restore') AND m.attempt = i.attempt AND i.account_id = :accountId
      AND i.currency = :currency AND i.operation IN (${listOf(operations)}) AND (i.state IN (${listOf(COUNTED)}) OR i.money_warning = 1)
      AND ${COUNTS_AT} >= :startsAtMs AND ${COUNTS_AT} < :endsAtMs THEN i.amount_minor ELSE 0 END), 0) AS BIGINT) AS spent
    FROM move m JOIN instruction i ON i.id = m.row_id WHERE m.id > :after AND m.id <= :upTo`
const PAGES = { out: PAGE(OPERATIONS_OF.out), in: PAGE(OPERATIONS_OF.in) }

/** Backwards through the moves, until a whole page of them is older than the day. */
function* addUp({ direction, day, ...limited }: LimitedAmount): Script<bigint> {
  const { accountId, currency } = limited
  let spent = 0n
  let upTo = yield* count('SELECT coalesce(max(id), 0) AS n FROM move')
  for (let newest = day.startsAtMs; upTo > 0 && newest >= day.startsAtMs; upTo -= MOVES_PER_PAGE) {
    const page = (yield* oneExact<{ newest: bigint | null; spent: bigint }>(PAGES[direction], {
      ...{ accountId, currency, ...day, after: upTo - MOVES_PER_PAGE, upTo },
    }))!
    spent += page.spent
    newest = page.newest === null ? newest : Number(page.newest)
  }
  return spent < BOUNDLESS ? spent : BOUNDLESS
}

const RAISE = `UPDATE limited_day SET amount_minor = amount_minor + :amountMinor WHERE ${OF_DAY}`

/** In the transaction of the claim. */
export function* countClaim(limited: LimitedAmount): Script<void> {
  yield* change(RAISE, { ...keyOf(limited), amountMinor: limited.amountMinor })
}

/** Of row `i`. */
const DIRECTION = `CASE WHEN i.operation IN (${listOf(OPERATIONS_OF.out)}) THEN 'out' WHEN i.operation IN (${listOf(OPERATIONS_OF.in)}) THEN 'in' END`

const GIVE_BACK = `
    UPDATE limited_day SET amount_minor = amount_minor - (SELECT i.amount_minor FROM instruction i WHERE i.id = :rowId)
    WHERE EXISTS (SELECT 1 FROM instruction i WHERE i.id = :rowId AND i.account_id = limited_day.account_id AND i.currency = limited_day.currency
      AND limited_day.direction = ${DIRECTION} AND i.claimed_at >= limited_day.starts_at AND i.claimed_at < limited_day.ends_at)`

/** In the transaction that records that its request was certainly not executed. */
export function* giveBack(rowId: number): Script<void> {
  yield* change(GIVE_BACK, { rowId })
}

const FORGET = `
    UPDATE limited_day SET amount_minor = NULL
    WHERE account_id = (SELECT b.account_id FROM batch b WHERE b.id = :batchId) AND amount_minor IS NOT NULL`

/** In the transaction of anything else that changes what counts. */
export function* forgetSums(batchId: string): Script<void> {
  yield* change(FORGET, { batchId })
}

const ACCEPTED = 'SELECT accepted_limit AS "acceptedMinor" FROM instruction WHERE id = :rowId'

/** Whether a person has accepted that the row is above the whole limit. */
export function* mayExceed(rowId: RowId, limited: LimitedAmount): Script<boolean> {
  if (!isAboveLimit(limited)) return false
  const accepted = yield* oneExact<{ acceptedMinor: bigint | null }>(ACCEPTED, { rowId })
  return isAccepted(limited, accepted?.acceptedMinor ?? null)
}

type Due = Pick<Claim, 'rowId' | 'attempt' | 'nowMs'>

const IS_DUE =
  "SELECT 1 FROM instruction WHERE id = :rowId AND state = 'READY' AND attempt = :attempt AND due_at <= :nowMs"

/** Whether the claim does not keep within the limit. Then its row waits for the next day, with others of its batch that do not fit either. */
export function* holdAboveLimit({ rowId, attempt, nowMs }: Due, limited: LimitedAmount): Script<boolean> {
  if (!(yield* exists(IS_DUE, { rowId, attempt, nowMs }))) return false
  const spent = yield* spentOn(limited)
  const exceeds = yield* mayExceed(rowId, limited)
  if (fitsLimit(limited, spent, exceeds)) return false
  yield* change(HOLD, { rowId, dueAtMs: dueAfterLimit(limited, exceeds) })
  const { currency, limitMinor } = limited
  const left = limitMinor > spent ? limitMinor - spent : 0n
  const dueAtMs = dueAfterLimit({ ...limited, amountMinor: 0n }, false)
  yield* change(HOLD_OTHERS[limited.direction], { rowId, nowMs, currency, limitMinor, left, dueAtMs })
  return true
}

const HOLD = 'UPDATE instruction SET due_at = :dueAtMs WHERE id = :rowId'

/** Each of them would ask by itself, and take a turn of the pace for it. Those above the whole limit are left to do so. */
const HOLD_OTHERS = { out: holdOthers(OPERATIONS_OF.out), in: holdOthers(OPERATIONS_OF.in) }

function holdOthers(operations: readonly Operation[]): string {
  return `
    UPDATE instruction SET due_at = :dueAtMs WHERE id IN (
      SELECT i.id FROM instruction i
      WHERE i.batch_id = (SELECT r.batch_id FROM instruction r WHERE r.id = :rowId) AND i.state = 'READY' AND i.due_at <= :nowMs
        AND i.currency = :currency AND i.operation IN (${listOf(operations)}) AND i.amount_minor > :left AND i.amount_minor <= :limitMinor
      ORDER BY i.due_at LIMIT ${ROWS_PER_STEP})`
}

/** Whether a row waits for the day after `d`. */
const waitsForNextDay = (row: 'i' | 'newest') =>
  `(d.account_id = ${row}.account_id AND ${row}.due_at >= d.ends_at AND ${row}.due_at <= d.ends_at + ${NEXT_DAY_BY_MS}
      AND coalesce(${row}.execute_at, 0) < d.ends_at)`
const WAITS_FOR_NEXT_DAY = waitsForNextDay('i')

/** Whether row `newest` waits for the day after a limited one. */
export const WAITS_FOR_A_DAY = `EXISTS (SELECT 1 FROM limited_day d WHERE ${waitsForNextDay('newest')})`

const DAYS = `
    SELECT direction, currency, starts_at AS "startsAtMs", ends_at AS "endsAtMs", time_zone AS "timeZone", limit_minor AS "limitMinor"
    FROM limited_day WHERE account_id = :accountId`

interface LimitedDay {
  readonly direction: string
  readonly currency: Currency
  readonly startsAtMs: bigint
  readonly endsAtMs: bigint
  readonly timeZone: string
  readonly limitMinor: bigint
}

const RELEASE = `
    UPDATE instruction SET due_at = @greatest(CAST(:nowMs AS BIGINT), coalesce(execute_at, 0)) WHERE id IN (
      SELECT i.id FROM limited_day d JOIN instruction i ON ${WAITS_FOR_NEXT_DAY}
      WHERE d.account_id = :accountId AND d.direction = :direction AND d.currency = :currency AND d.starts_at = :startsAtMs
        AND i.batch_id IN (SELECT b.id FROM batch b JOIN tally t ON t.batch_id = b.id WHERE b.account_id = :accountId AND t.state = 'READY' AND t.count > 0)
        AND i.state = 'READY' AND i.due_at > :nowMs AND i.currency = d.currency AND d.direction = ${DIRECTION}
      LIMIT ${ROWS_PER_STEP})
    RETURNING id`

export function limitingOn(engine: Engine): Pick<WorkLedger, 'applyLimits'> {
  return {
    async applyLimits(accountId, limits, nowMs) {
      for (const day of await engine.read(() => allExact<LimitedDay>(DAYS, { accountId }))) {
        const { direction, currency } = day
        const key = { accountId, direction, currency, startsAtMs: Number(day.startsAtMs) }
        const goesOn = Number(day.endsAtMs) > nowMs && isSameLimit(day, limits)
        if (!goesOn) await stepwise(engine, () => release(key, nowMs))
        await engine.write(() => change(goesOn ? FORGET_ONE : DROP, key), KEPT)
      }
    },
  }
}

function* release(key: Values, nowMs: number): Script<number> {
  return (yield* all(RELEASE, { ...key, nowMs })).length
}

const FORGET_ONE = `UPDATE limited_day SET amount_minor = NULL WHERE ${OF_DAY}`
const DROP = `DELETE FROM limited_day WHERE ${OF_DAY}`

const IS_WAITING = `i.batch_id = :batchId AND i.state = 'READY' AND ${WAITS_FOR_NEXT_DAY}
        AND i.currency = d.currency AND d.direction = ${DIRECTION}`
const WAITING = `SELECT 1 FROM instruction i WHERE ${IS_WAITING}`
const NEVER_FITS = '(i.amount_minor > d.limit_minor AND (i.accepted_limit IS NULL OR i.accepted_limit > d.limit_minor))'
const EXPIRES = 'coalesce(i.expires_at <= d.ends_at, FALSE)'
/** By the index of what expires: mostly nothing does, and all that waits would be gone through. */
const EXPIRING = `SELECT 1 FROM instruction e CROSS JOIN instruction i
        WHERE e.state = 'READY' AND e.expires_at IS NOT NULL AND e.expires_at <= d.ends_at AND i.id = e.id AND ${IS_WAITING}`
const isAny = (rows: string) => `CASE WHEN EXISTS (${rows}) THEN 1 ELSE 0 END`

const REACHED = `
    SELECT d.direction, d.currency, d.limit_minor AS "limitMinor", d.time_zone AS "timeZone", d.ends_at AS "untilMs",
      ${isAny(`${WAITING} AND ${NEVER_FITS}`)} AS "holdsAbove", ${isAny(EXPIRING)} AS "holdsExpiring",
      ${isAny(`${WAITING} AND NOT ${NEVER_FITS} AND NOT ${EXPIRES}`)} AS "isAnyLeft"
    FROM limited_day d
    WHERE d.account_id = :accountId AND EXISTS (${WAITING})
    ORDER BY d.ends_at DESC, d.direction, d.currency LIMIT 1`

/** null: no row of the batch waits for the next day. */
export function* limitReached(batchId: string, accountId: AccountId): Script<LimitReached | null> {
  type Numbers = Record<'untilMs' | 'holdsAbove' | 'holdsExpiring' | 'isAnyLeft', bigint>
  const found = yield* oneExact<Omit<LimitReached, keyof Numbers> & Numbers>(REACHED, { batchId, accountId })
  if (found === undefined) return null
  const [holdsAbove, holdsExpiring, isAnyLeft] = [found.holdsAbove, found.holdsExpiring, found.isAnyLeft].map(Boolean)
  return { ...found, untilMs: Number(found.untilMs), holdsAbove, holdsExpiring, isAnyLeft } as LimitReached
}
