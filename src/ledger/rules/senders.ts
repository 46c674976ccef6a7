// Which worker sends for which account: one at a time. Each worker judges for itself, by what all of them can read. Pure.

import type { AccountId, BatchId } from '../../domain/ids.ts'

/** Of a living worker. */
export interface SendingWorker {
  readonly workerId: number
  /** It works off this batch only; null: it works off all. */
  readonly only: BatchId | null
  /** Those that it is configured with; null: it has not said, and may have all. */
  readonly merchants: readonly string[] | null
}

export interface AccountToSend {
  readonly accountId: AccountId
  readonly merchant: string
  /** Something of it could be sent now, by this worker if it were the sender. */
  readonly isDue: boolean
  /** Its sender; null: it has none that lives. */
  readonly owner: number | null
  /** A living worker that asks for it, because its sender does not send its rows; null: none. */
  readonly askedBy: number | null
}

/** Read at one moment. */
export interface SenderFacts {
  readonly me: number
  readonly workers: readonly SendingWorker[]
  /** Those that are due or have a sender. */
  readonly accounts: readonly AccountToSend[]
}

/** What this worker knows of an account of its own. */
export interface OwnAccount {
  /** It could send for the account since then, by its own steady clock: each sender begins with some quiet. */
  readonly sinceMs: number
  /** When something was due or open there last. */
  readonly busyMs: number
  /** Its gateway has not answered for long. */
  readonly isFailing: boolean
}

/** What a worker can do for accounts. */
export interface Able {
  /** It is configured for these. */
  readonly lanes: ReadonlySet<AccountId>
  /** It alone has the file of the one batch that it works off. */
  readonly hasFile: boolean
  /** Of these it gave back the account a moment ago, because its gateway did not answer. */
  readonly failed: ReadonlySet<AccountId>
  /** These are due, and have had no sender for a while: whoever was expected to take them does not. */
  readonly leftOver: ReadonlySet<AccountId>
}

/** An account without work for so long is anyone's: a trickle of messages does not hand it to and fro. */
const IDLE_MS = 30_000
/** So long a sender that could send has what another asks for, or it would change hands without a request. */
const AT_LEAST_MS = 5_000

/** Accounts with work, divided by the workers that work off all. Rounded up, so that none is left. */
function partOf({ workers, accounts }: SenderFacts): number {
  const working = workers.filter(({ only }) => only === null).length
  return Math.ceil(accounts.length / Math.max(1, working))
}

function held(workerId: number, { accounts }: SenderFacts): number {
  return accounts.filter(({ owner }) => owner === workerId).length
}

/** Whether another worker would take it, that has not its part yet or less than `most`. */
function hasTaker(account: AccountToSend, facts: SenderFacts, most = partOf(facts)): boolean {
  return facts.workers.some(
    ({ workerId, only, merchants }) =>
      workerId !== facts.me &&
      only === null &&
      (merchants === null || merchants.includes(account.merchant)) &&
      held(workerId, facts) < most,
  )
}

const only = ({ me, workers }: SenderFacts): BatchId | null =>
  workers.find(({ workerId }) => workerId === me)?.only ?? null

/** Accounts to take now: those that are due and have no sender, up to its part; beyond it what no other would take. */
export function toTake(facts: SenderFacts, { lanes, hasFile, failed, leftOver }: Able): readonly AccountId[] {
  let room = partOf(facts) - held(facts.me, facts)
  const taken: AccountId[] = []
  for (const account of facts.accounts) {
    const { accountId, owner, isDue, askedBy } = account
    if (owner !== null || !isDue || !lanes.has(accountId)) continue
    if (askedBy !== null && askedBy !== facts.me) continue
    const isMine = askedBy === facts.me || hasFile
    const hasFailed = failed.has(accountId)
    const others = hasTaker(account, facts, hasFailed ? Number.POSITIVE_INFINITY : undefined)
    const waits = hasFailed || (!leftOver.has(accountId) && (only(facts) !== null || room <= 0))
    if (!isMine && waits && others) continue
    taken.push(accountId)
    room -= 1
  }
  return taken
}

/** Accounts to ask for: only this worker can send the rows of its file, and one that works off a single batch sends those of no other. */
export function toAskFor(facts: SenderFacts, { lanes, hasFile }: Able): readonly AccountId[] {
  const sendsAll = new Set(facts.workers.filter((worker) => worker.only === null).map(({ workerId }) => workerId))
  return facts.accounts
    .filter(({ accountId, owner, isDue }) => {
      if (!isDue || owner === null || owner === facts.me || !lanes.has(accountId)) return false
      return hasFile || !sendsAll.has(owner)
    })
    .map(({ accountId }) => accountId)
}

/** Accounts of its own to give back. `own`: what it knows of each. */
export function toGiveBack(
  facts: SenderFacts,
  own: ReadonlyMap<AccountId, OwnAccount>,
  nowMs: number,
): readonly AccountId[] {
  let surplus = only(facts) === null ? held(facts.me, facts) - partOf(facts) : 0
  return facts.accounts
    .filter((account) => {
      const { accountId, owner, askedBy } = account
      const known = own.get(accountId)
      if (owner !== facts.me || known === undefined) return false
      if (nowMs - known.busyMs >= IDLE_MS) return true
      if (nowMs - known.sinceMs < AT_LEAST_MS) return false
      if (askedBy !== null && askedBy !== facts.me) return true
      if (known.isFailing && hasTaker(account, facts, Number.POSITIVE_INFINITY)) return true
      if (!hasTaker(account, facts)) return false
      surplus -= 1
      return surplus >= 0
    })
    .map(({ accountId }) => accountId)
}
