// One sender for an account, by `rules/senders.ts`: this worker's accounts, how it takes them and gives them back. Nothing here takes the
// turnstile: a row of `sender` changes hands by itself, and waits only for the claims that hold its key.

import type { AccountId, BatchId } from '../../../domain/ids.ts'
import type { AccountsAsked, Sending, WorkLedger } from '../../../ports/ledger/work.ts'
import {
  type AccountToSend,
  type OwnAccount,
  type SenderFacts,
  type SendingWorker,
  toAskFor,
  toGiveBack,
  toTake,
} from '../../rules/senders.ts'
import type { Engine } from '../../texts/engine.ts'
import { all, change, count, one, type Script } from '../../texts/script.ts'
import { type Failover, sameHistory } from '../copies/identity.ts'
import type { Transactor } from '../transactor.ts'
import type { Member } from './member.ts'

/** In the transaction of a claim: `accounts` and `terms`, one for each. */
export interface Held {
  readonly accounts: readonly AccountId[]
  readonly terms: readonly number[]
}

export interface Senders extends Pick<WorkLedger, 'keepAccounts' | 'tenure'> {
  /** The accounts that this worker sends for now. */
  held(): Held
  /** Others may have all of them by now: nothing that was claimed before leaves any more. */
  lose(): void
}

/**
 * One time of being the sender. What is claimed in it leaves in it or not at all, whatever this worker takes later: numbers of terms come
 * again in a ledger that was put back, and this object does not.
 */
interface Tenure {
  readonly no: number
  readonly term: number
  sinceMs: number
  isOver: boolean
  busyMs: number
  /** Since when nothing new begins, because the account is given back; null: it goes on. */
  leavingMs: number | null
}

/** For so long the open requests of an account that is given back are awaited. */
const TURN_MS = 2_000
const ASK_EVERY_MS = 1_000
/** A worker whose gateway did not answer leaves the account to others for so long. */
const FAILED_FOR_MS = 60_000
/** So long after its sender an account is left to whoever has the fewest. */
const LEFT_OVER_MS = 5_000

const isAlive = (worker: string) =>
  `EXISTS (SELECT 1 FROM worker w WHERE w.id = ${worker} AND w.ended_at IS NULL AND w.fenced_at IS NULL)`

const WORKERS = `
  SELECT id AS "workerId", batch_id AS only, merchants FROM worker
  WHERE ended_at IS NULL AND fenced_at IS NULL AND lease_until > clock_timestamp()`
const ELSEWHERE = 'SELECT count(*) FROM claim c WHERE c.account_id = :accountId AND c.worker <> :me'
const ACCOUNTS = `
  SELECT a.id AS "accountId", a.name AS merchant, coalesce(s.term, 0) AS term, s.owner AS "lastOwner",
    CASE WHEN ${isAlive('s.owner')} THEN s.owner END AS owner,
    CASE WHEN s.asked_until > clock_timestamp() AND ${isAlive('s.asked_by')} THEN s.asked_by END AS "askedBy",
    (${ELSEWHERE.replace(':accountId', 'a.id')}) AS elsewhere
  FROM account a LEFT JOIN sender s ON s.account_id = a.id
  WHERE s.owner IS NOT NULL OR a.id IN (SELECT CAST(e.value AS BIGINT) FROM json_each(:due) e)
  ORDER BY a.id`

interface AccountRow extends Omit<AccountToSend, 'isDue'> {
  readonly term: number
  /** Alive or not. */
  readonly lastOwner: number | null
  /** Requests that other workers may have open. */
  readonly elsewhere: number
}

/** Who has it must be dead, and nobody else may have taken it since it was looked at. Whether a standby has what is sent, its claims ask. */
const takingText = (failover: Failover) => `
  INSERT INTO sender (account_id, term, owner) SELECT :accountId, 1, :me WHERE ${isAlive(':me')} AND ${sameHistory(failover === 'storage' ? failover : 'none')}
  ON CONFLICT (account_id) DO UPDATE SET term = sender.term + 1, owner = excluded.owner, asked_by = NULL, asked_until = NULL
  WHERE sender.term = :term AND NOT ${isAlive('sender.owner')}
  RETURNING term`
const GIVE_BACK = 'UPDATE sender SET term = term + 1, owner = NULL WHERE account_id = :accountId AND owner = :me'
const ASK = `
  UPDATE sender SET asked_by = :me, asked_until = clock_timestamp() + interval '5 seconds'
  WHERE account_id = :accountId AND (asked_by = :me OR asked_until IS NULL OR asked_until < clock_timestamp())`

export interface SendersParts {
  readonly transactor: Transactor
  readonly read: Engine['read']
  readonly member: Pick<Member, 'id' | 'isTrusted'>
  readonly failover: Failover
  readonly steadyMs: () => number
}

export function createSenders({ transactor, read, member, failover, steadyMs }: SendersParts): Senders {
  const taking = takingText(failover)
  const tenures = new Map<AccountId, Tenure>()
  const askedAtMs = new Map<AccountId, number>()
  const failedAtMs = new Map<AccountId, number>()
  /** Accounts that are due and have no sender: since when. */
  const freeSinceMs = new Map<AccountId, number>()
  /** The table may say of an account that it is this worker's, which knows nothing of it. */
  let isUncertain = false
  let lastNo = 0
  /** How often all were lost. */
  let losses = 0

  /** Rejects as well where all was lost meanwhile: what it found is out of date. */
  async function write<T>(script: () => Script<T>): Promise<T> {
    const found: T[] = []
    const lossesBefore = losses
    const how = await transactor.write('none', async (session) => {
      found.push(await session.run(script()))
    })
    if (how.kind === 'written' && losses === lossesBefore) return found.at(-1) as T
    if (how.kind === 'written') throw new Error('the accounts were lost while one was taken or given back')
    throw how.kind === 'broke' ? how.error : (how.fault ?? new Error('the sender could not be written now'))
  }

  function end(accountId: AccountId): void {
    const tenure = tenures.get(accountId)
    if (tenure !== undefined) tenure.isOver = true
    tenures.delete(accountId)
  }

  function begin(accountId: AccountId, term: number): void {
    const nowMs = steadyMs()
    tenures.set(accountId, { no: ++lastNo, term, sinceMs: nowMs, busyMs: nowMs, isOver: false, leavingMs: null })
  }

  /** The trust ends first: from then on nothing of it leaves. */
  async function giveBack(accountId: AccountId, me: number): Promise<void> {
    end(accountId)
    isUncertain = true
    await write(() => change(GIVE_BACK, { accountId, me }))
  }

  /** Accounts that are another's by now, or were given back without an answer. */
  async function settleOwners(rows: readonly AccountRow[], me: number): Promise<void> {
    const lossesBefore = losses
    for (const [accountId, { term }] of tenures) {
      const row = rows.find((one) => one.accountId === accountId)
      if (row?.lastOwner !== me || row.term !== term) end(accountId)
    }
    for (const { accountId, lastOwner } of rows)
      if (lastOwner === me && !tenures.has(accountId)) await giveBack(accountId, me)
    if (losses === lossesBefore) isUncertain = false
  }

  function noteWork({ due, quiet, openIn }: AccountsAsked, nowMs: number): void {
    for (const [accountId, tenure] of tenures) {
      if (due.has(accountId) || openIn(accountId) > 0) tenure.busyMs = nowMs
      if (quiet.has(accountId)) tenure.sinceMs = nowMs
    }
  }

  function leftOver({ accounts }: SenderFacts, nowMs: number): ReadonlySet<AccountId> {
    const free = new Set(accounts.filter(({ owner }) => owner === null).map(({ accountId }) => accountId))
    for (const accountId of freeSinceMs.keys()) if (!free.has(accountId)) freeSinceMs.delete(accountId)
    for (const accountId of free) if (!freeSinceMs.has(accountId)) freeSinceMs.set(accountId, nowMs)
    return new Set([...free].filter((accountId) => nowMs - (freeSinceMs.get(accountId) ?? nowMs) >= LEFT_OVER_MS))
  }

  async function leave(facts: SenderFacts, { openIn, failing, isEnding }: AccountsAsked, nowMs: number): Promise<void> {
    const own = new Map<AccountId, OwnAccount>()
    for (const [accountId, { sinceMs, busyMs }] of tenures)
      own.set(accountId, { sinceMs, busyMs, isFailing: failing.has(accountId) })
    for (const accountId of isEnding ? [...tenures.keys()] : toGiveBack(facts, own, nowMs)) {
      const tenure = tenures.get(accountId)
      if (tenure !== undefined) tenure.leavingMs ??= nowMs
      if (failing.has(accountId)) failedAtMs.set(accountId, nowMs)
    }
    for (const [accountId, { leavingMs }] of tenures) {
      if (leavingMs === null || (openIn(accountId) > 0 && nowMs - leavingMs < TURN_MS)) continue
      await giveBack(accountId, facts.me)
    }
  }

  async function ask(facts: SenderFacts, able: Parameters<typeof toAskFor>[1], nowMs: number): Promise<void> {
    for (const accountId of toAskFor(facts, able)) {
      if (nowMs - (askedAtMs.get(accountId) ?? Number.NEGATIVE_INFINITY) < ASK_EVERY_MS) continue
      askedAtMs.set(accountId, nowMs)
      await write(() => change(ASK, { accountId, me: facts.me }))
    }
  }

  async function take(accountId: AccountId, term: number, me: number): Promise<number | null> {
    const taken = await write(function* () {
      const found = yield* one<{ term: number }>(taking, { accountId, term, me })
      return found === undefined ? null : { term: found.term, elsewhere: yield* elsewhere(accountId, me) }
    })
    if (taken === null) return null
    begin(accountId, taken.term)
    return taken.elsewhere
  }

  async function keepAccounts(asked: AccountsAsked): Promise<ReadonlyMap<AccountId, Sending>> {
    const { due, lanes, hasFile, only, isEnding } = asked
    if (due.size === 0 && tenures.size === 0 && !isUncertain) return new Map()
    const me = await member.id()
    const nowMs = steadyMs()
    const { rows, workers } = await read(() => factsFor(me, due))
    await settleOwners(rows, me)
    noteWork(asked, nowMs)
    const facts = factsOf(me, only, due, workers, rows, tenures)
    const hasFailed = (accountId: AccountId) => nowMs - (failedAtMs.get(accountId) ?? -FAILED_FOR_MS) < FAILED_FOR_MS
    const failed = new Set([...lanes].filter(hasFailed))
    const able = { lanes, hasFile, failed, leftOver: leftOver(facts, nowMs) }
    await leave(facts, asked, nowMs)
    if (isEnding) return new Map()
    await ask(facts, able, nowMs)
    const openElsewhere = new Map(rows.map((row) => [row.accountId, row.elsewhere]))
    for (const accountId of toTake(facts, able)) {
      const row = rows.find((one) => one.accountId === accountId) as AccountRow
      const found = await take(accountId, row.lastOwner === me ? row.term + 1 : row.term, me)
      if (found !== null) openElsewhere.set(accountId, found)
    }
    const sending = [...tenures].filter(([, { leavingMs }]) => leavingMs === null)
    return new Map(
      sending.map(([id, { no }]) => [id, { tenure: no, openElsewhere: openElsewhere.get(id) ?? 0 }] as const),
    )
  }

  return {
    keepAccounts,
    tenure(accountId) {
      const tenure = tenures.get(accountId)
      return () => tenure !== undefined && !tenure.isOver && member.isTrusted()
    },
    held: () => ({ accounts: [...tenures.keys()], terms: Array.from(tenures.values(), ({ term }) => term) }),
    lose() {
      losses += 1
      isUncertain = true
      for (const accountId of [...tenures.keys()]) end(accountId)
    },
  }
}

function* elsewhere(accountId: AccountId, me: number): Script<number> {
  return yield* count(`SELECT (${ELSEWHERE}) AS n`, { accountId, me })
}

interface WorkerRow extends Omit<SendingWorker, 'merchants'> {
  readonly merchants: string | null
}

function* factsFor(me: number, due: ReadonlySet<AccountId>): Script<{ rows: AccountRow[]; workers: WorkerRow[] }> {
  const rows = yield* all<AccountRow>(ACCOUNTS, { me, due: JSON.stringify([...due]) })
  return { rows, workers: yield* all<WorkerRow>(WORKERS) }
}

/** What this worker was told of itself may not have been written yet. An account whose tenure is over is nobody's. */
function factsOf(
  ...[me, only, due, workers, rows, tenures]: [
    number,
    BatchId | null,
    ReadonlySet<AccountId>,
    readonly WorkerRow[],
    readonly AccountRow[],
    ReadonlyMap<AccountId, Tenure>,
  ]
): SenderFacts {
  return {
    me,
    workers: workers.map(({ merchants, ...worker }) => ({
      ...worker,
      only: worker.workerId === me ? only : worker.only,
      merchants: merchants === null ? null : (JSON.parse(merchants) as readonly string[]),
    })),
    accounts: rows
      .map((row) => ({
        accountId: row.accountId,
        merchant: row.merchant,
        isDue: due.has(row.accountId),
        owner: row.owner === me && !tenures.has(row.accountId) ? null : row.owner,
        askedBy: row.askedBy,
      }))
      .filter(({ isDue, owner }) => isDue || owner !== null),
  }
}
