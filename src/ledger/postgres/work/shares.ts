// What each worker may use of an account's rate and open requests, by `rules/shares.ts`: who holds how much, and what was given up a
// moment ago. Nothing here takes the turnstile: it decides how fast rows are sent, and of none whether it is.

import type { AccountId } from '../../../domain/ids.ts'
import type { Share } from '../../../domain/share.ts'
import type { ShareAsked, WorkLedger } from '../../../ports/ledger/work.ts'
import {
  allowanceOf,
  freedByDeath,
  grownShare,
  OPENING_WISH,
  type ShareFacts,
  type Shrink,
  settledWish,
  shareInForce,
  shrinkOf,
  type Wish,
} from '../../rules/shares.ts'
import { MARGIN_MS } from '../../rules/trust.ts'
import { all, change, type Script } from '../../texts/script.ts'
import { LOCKS } from '../locks.ts'
import type { Transactor } from '../transactor.ts'
import type { Member } from './member.ts'

const MS = (of: string) => `CAST(extract(epoch FROM ${of}) * 1000 AS BIGINT)`
const NOW_MS = MS('clock_timestamp()')
const IS_ALIVE = 'w.ended_at IS NULL AND w.fenced_at IS NULL'

const ASK = `
  INSERT INTO share (account_id, worker, rate, places, asked_rate, asked_places, rests)
  SELECT :accountId, w.id, 0, 0, :askedRate, :askedPlaces, :rests FROM worker w WHERE w.id = :me AND ${IS_ALIVE}
  ON CONFLICT (account_id, worker) DO UPDATE SET asked_rate = excluded.asked_rate, asked_places = excluded.asked_places, rests = excluded.rests`

/** In one statement: what is held and what was freed of it are never seen apart. */
const FACTS = `
  SELECT 'held' AS kind, s.worker, s.rate, s.places, s.asked_rate AS "askedRate", s.asked_places AS "askedPlaces", s.rests,
    CASE WHEN ${IS_ALIVE} AND w.lease_until > clock_timestamp() THEN 1 ELSE 0 END AS alive, CAST(0 AS BIGINT) AS "atMs"
  FROM share s LEFT JOIN worker w ON w.id = s.worker WHERE s.account_id = :accountId
  UNION ALL SELECT 'freed', 0, f.rate, f.places, NULL, 0, 0, 0, ${MS('f.until')} FROM freed f
    WHERE f.account_id = :accountId AND f.until > clock_timestamp()
  UNION ALL SELECT 'account', 0, a.rate, 0, NULL, 0, 0, 0, ${NOW_MS} FROM account a WHERE a.id = :accountId`

interface FactRow {
  readonly kind: 'held' | 'freed' | 'account'
  readonly worker: number
  /** null: no limit; of the account: its dial is not turned. */
  readonly rate: number | null
  readonly places: number
  readonly askedRate: number | null
  readonly askedPlaces: number
  readonly rests: number
  readonly alive: number
  /** Until when it counts; of the account: now. */
  readonly atMs: number
}

const HOLD = `
  UPDATE share s SET rate = :rate, places = :places WHERE s.account_id = :accountId AND s.worker = :me
    AND EXISTS (SELECT 1 FROM worker w WHERE w.id = :me AND ${IS_ALIVE})`
const FREE = `
  INSERT INTO freed (account_id, rate, places, until) VALUES (:accountId, :rate, 0, clock_timestamp() + :forMs * interval '1 millisecond')`
const FORGET = 'DELETE FROM freed WHERE account_id = :accountId AND until < clock_timestamp()'
const LOCK = `SELECT pg_advisory_xact_lock(${LOCKS.sharing}, CAST(:accountId AS INTEGER))`

export interface Shares extends Pick<WorkLedger, 'takeShare' | 'dividesAccounts'> {
  /** Nothing is held any more: others may have it by now. */
  lose(): void
}

export function createShares(transactor: Transactor, member: Pick<Member, 'id'>, steadyMs: () => number): Shares {
  const wishes = new Map<AccountId, Wish>()
  const using = new Map<AccountId, ShareAsked['use']>()

  /** One after another in this process; rejects where the ledger cannot be reached now. */
  let last: Promise<unknown> = Promise.resolve()
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    const ran = last.then(run)
    last = ran.catch(() => {})
    return ran
  }

  /** How often all was lost. */
  let losses = 0

  /** Rejects as well where all was lost meanwhile: what it found is out of date. */
  async function write<T>(script: () => Script<T>): Promise<T> {
    const found: T[] = []
    const lossesBefore = losses
    const how = await transactor.write('none', async (session) => {
      found.push(await session.run(script()))
    })
    if (how.kind === 'written' && losses === lossesBefore) return found.at(-1) as T
    if (how.kind === 'written') throw new Error('the share was lost while it was asked for')
    throw how.kind === 'broke' ? how.error : (how.fault ?? new Error('the share could not be written now'))
  }

  async function take(asked: ShareAsked): Promise<void> {
    const { accountId, use } = asked
    const me = await member.id()
    const wish = settledWish(wishes.get(accountId) ?? OPENING_WISH, asked.rests, steadyMs())
    wishes.set(accountId, wish)
    using.set(accountId, use)
    const facts = await write(() => ask(me, asked, wish))
    use(shareInForce(me, facts))
    const shrink = shrinkOf(me, facts, asked.inFlight())
    if (shrink !== null) await write(() => shrunk(me, accountId, shrink))
    if (!mayGrow(me, facts)) return
    use(shareInForce(me, await write(() => grow(me, accountId))))
  }

  return {
    dividesAccounts: true,
    takeShare: (asked) => inTurn(() => take(asked)),
    lose() {
      losses += 1
      for (const use of using.values()) use({ ratePerSecond: 0, inFlightMax: 0 })
    },
  }
}

function* ask(me: number, { accountId, configured }: ShareAsked, wish: Wish): Script<ShareFacts> {
  const { ratePerSecond: askedRate, inFlightMax: askedPlaces } = configured
  yield* change(ASK, { me, accountId, askedRate, askedPlaces, rests: wish.rests ? 1 : 0 })
  return yield* facts(accountId)
}

function* facts(accountId: AccountId): Script<ShareFacts> {
  const rows = yield* all<FactRow>(FACTS, { accountId })
  const of = (kind: FactRow['kind']) => rows.filter((row) => row.kind === kind)
  const alive = of('held').filter((row) => row.alive === 1)
  const [account] = of('account')
  const configured = alive.map((row) => ({ ratePerSecond: row.askedRate, inFlightMax: row.askedPlaces }))
  return {
    accountId,
    nowMs: account?.atMs ?? 0,
    allowance: configured.length === 0 ? NOTHING : allowanceOf(account?.rate ?? null, configured),
    members: alive.map(({ worker, rests }) => ({ workerId: worker, rests: rests === 1 })),
    held: of('held').map((row) => ({ workerId: row.worker, ...shareIn(row) })),
    freed: of('freed').map((row) => ({ ...shareIn(row), untilMs: row.atMs })),
  }
}

const NOTHING: Share = { ratePerSecond: 0, inFlightMax: 0 }

function shareIn({ rate, places }: Pick<FactRow, 'rate' | 'places'>): Share {
  return { ratePerSecond: rate, inFlightMax: places }
}

function* shrunk(me: number, accountId: AccountId, { share, freed }: Shrink): Script<void> {
  yield* change(FORGET, { accountId })
  yield* hold(me, accountId, share)
  if (freed !== null) yield* change(FREE, { accountId, rate: freed.ratePerSecond, forMs: freed.forMs })
}

function* hold(me: number, accountId: AccountId, { ratePerSecond, inFlightMax }: Share): Script<void> {
  yield* change(HOLD, { me, accountId, rate: ratePerSecond, places: inFlightMax })
}

function mayGrow(me: number, facts: ShareFacts): boolean {
  const held = facts.held.find(({ workerId }) => workerId === me)
  const grown = grownShare(me, facts)
  return held !== undefined && (grown.ratePerSecond !== held.ratePerSecond || grown.inFlightMax !== held.inFlightMax)
}

/** One worker at a time, by what is there once it has the lock. */
function* grow(me: number, accountId: AccountId): Script<ShareFacts> {
  yield* change(LOCK, { accountId })
  yield* hold(me, accountId, grownShare(me, yield* facts(accountId)))
  return yield* facts(accountId)
}

// ───────────────────────────────────────────────────────────── Of those who are gone

// Of one that has ended, the connections have ended with it. Of one that fell silent, as many requests may be open as it had claimed.
const OF_THE_GONE = `
  SELECT s.account_id AS "accountId", s.rate, least(s.places, open.claims) AS places, a.rate AS dial, open."answerByMs",
    ${MS(`least(clock_timestamp(), w.lease_until - interval '${MARGIN_MS} milliseconds')`)} AS "startMs",
    (SELECT min(o.asked_rate) FROM share o WHERE o.account_id = s.account_id) AS "askedRate"
  FROM share s JOIN worker w ON w.id = s.worker JOIN account a ON a.id = s.account_id
    CROSS JOIN LATERAL (
      SELECT count(*) AS claims, coalesce(max(${MS('c.answer_by')}), 0) AS "answerByMs" FROM claim c
      WHERE c.worker = s.worker AND c.account_id = s.account_id AND w.ended_at IS NULL) AS open
  WHERE w.ended_at IS NOT NULL OR w.fenced_at IS NOT NULL`

interface GoneRow extends Pick<FactRow, 'rate' | 'places' | 'askedRate'> {
  readonly accountId: AccountId
  readonly dial: number | null
  readonly startMs: number
  readonly answerByMs: number
}

/** In the transaction that gives workers up or ends them: what they held counts until it can be in use no more. */
export function* freeSharesOfGone(): Script<void> {
  for (const row of yield* all<GoneRow>(OF_THE_GONE)) {
    const { accountId, startMs, answerByMs } = row
    const allowance = { ratePerSecond: row.dial ?? row.askedRate, inFlightMax: 0 }
    for (const { ratePerSecond: rate, inFlightMax: places, untilMs } of freedByDeath(
      shareIn(row),
      { startMs, answerByMs },
      allowance,
    ))
      yield* change(
        'INSERT INTO freed (account_id, rate, places, until) VALUES (:accountId, :rate, :places, to_timestamp(:untilMs / 1000.0))',
        {
          ...{ accountId, rate, places, untilMs },
        },
      )
  }
  yield* change("DELETE FROM freed WHERE until < clock_timestamp() - interval '1 day'")
  yield* change(`DELETE FROM share s WHERE NOT EXISTS (SELECT 1 FROM worker w WHERE w.id = s.worker AND ${IS_ALIVE})`)
}
