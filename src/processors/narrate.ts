// What a worker tells its log: batches that begin, doubts, trouble at a gateway and its end, stops, refused messages. Never a line
// for each request. It decides nothing.

import { countIn } from '../domain/batch-status.ts'
import type { AccountId, BatchId } from '../domain/ids.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { GatewayHealth } from '../domain/window.ts'
import type { Clock } from '../ports/clock.ts'
import type { AccountView, QueryLedger } from '../ports/ledger/queries.ts'
import type { DueRow, Settled } from '../ports/ledger/work.ts'
import type { Log } from '../ports/log.ts'

export interface NarratorParts {
  readonly ledger: Pick<QueryLedger, 'accounts' | 'batch'>
  readonly clock: Clock
  readonly log: Log
}

export interface Narrator {
  /** Rows of the batch are about to be sent. */
  sliceTaken(batchId: BatchId): void
  settled(row: DueRow, verdict: Verdict, settled: Settled): void
  refused(reasons: readonly string[]): void
  /** Called every second or so. */
  look(healthOf: (accountId: AccountId) => GatewayHealth | null): Promise<void>
}

/** A trouble that is over before this is counted, and told with its like. */
const TROUBLE_WORTH_MS = 2_000
/** How often what is counted is told. */
const SUMMARY_EVERY_MS = 60_000
const REFUSALS_EVERY_MS = 10_000

export function createNarrator(parts: NarratorParts): Narrator {
  const { log } = parts
  const batches = createBatches(parts)
  const gateways = new Map<AccountId, Gateway>()
  const gatewayOf = (accountId: AccountId) => {
    const known = gateways.get(accountId) ?? createGateway(parts)
    gateways.set(accountId, known)
    return known
  }
  const refusals = createRefusals(parts)
  const stops = createStops(parts)
  return {
    sliceTaken: batches.taken,
    settled(row, verdict, settled) {
      const where = { batch: row.batchId, row: row.rowNo, reference: row.instruction.reference }
      if (settled.state === 'IN_DOUBT') {
        const reason = doubtIn(verdict)
        log.warn({ ...where, attempt: row.attempt + 1, reason }, 'a row is in doubt: the gateway may have executed it')
      }
      if (settled.paused !== null) log.warn({ batch: row.batchId, reason: settled.paused }, `paused: ${settled.paused}`)
      const failure = verdict.kind === 'unsent' || verdict.kind === 'in-doubt' ? verdict.reason : null
      if (failure !== null) gatewayOf(row.accountId).failed(failure)
    },
    refused: refusals.add,
    async look(healthOf) {
      const accounts = await parts.ledger.accounts()
      for (const account of accounts) gatewayOf(account.accountId).look(account.name, healthOf(account.accountId))
      stops.look(accounts)
      refusals.look()
      await batches.look()
    },
  }
}

function doubtIn(verdict: Verdict): string {
  if (verdict.kind === 'in-doubt') return verdict.reason
  if (verdict.kind === 'declined' || verdict.kind === 'failed')
    return `its refusal may not be the whole truth: ${verdict.reason}`
  return 'its answer names a transaction of another row'
}

// ───────────────────────────────────────────────────────────── Batches

function createBatches({ ledger, log }: NarratorParts) {
  const begun = new Set<BatchId>()
  async function tell(batchId: BatchId): Promise<void> {
    const batch = await ledger.batch(batchId)
    if (batch === null) return
    const { merchant, fileName: file, rows, source } = batch
    log.info({ batch: batchId, merchant, source, file, rows, pending: pendingIn(batch) }, 'batch begins')
  }
  return {
    taken(batchId: BatchId): void {
      if (begun.has(batchId)) return
      begun.add(batchId)
      void tell(batchId).catch(() => {}) // its end will tell
    },
    /** Rows may come again: of messages, or of a doubt that is sent again. */
    async look(): Promise<void> {
      for (const batchId of begun) {
        const batch = await ledger.batch(batchId)
        if (batch === null || pendingIn(batch) === 0) begun.delete(batchId)
      }
    },
  }
}

function pendingIn(batch: Parameters<typeof countIn>[0]): number {
  return countIn(batch, 'READY') + countIn(batch, 'SENDING')
}

// ───────────────────────────────────────────────────────────── Trouble at the gateway

interface Gateway {
  failed(reason: string): void
  look(merchant: string, health: GatewayHealth | null): void
}

function createGateway({ clock, log }: NarratorParts): Gateway {
  const reasons = createCounts()
  let toldSinceMs: number | null = null
  let countedSinceMs = clock.monotonicMs()
  return {
    failed: reasons.add,
    look(merchant, health) {
      if (isTrouble(health) && toldSinceMs === null && clock.nowMs() - health.sinceMs >= TROUBLE_WORTH_MS) {
        toldSinceMs = health.sinceMs
        const { why: reason, sinceMs, failures } = health
        log.warn({ merchant, reason, since: isoOf(sinceMs), failures }, 'trouble at the gateway')
      } else if (isOver(health) && toldSinceMs !== null) {
        const seconds = Math.round((clock.nowMs() - toldSinceMs) / 1000)
        log.info({ merchant, seconds, reasons: reasons.take() }, 'the gateway answers again')
        toldSinceMs = null
        countedSinceMs = clock.monotonicMs()
      } else if (toldSinceMs === null && clock.monotonicMs() - countedSinceMs >= SUMMARY_EVERY_MS) {
        if (!reasons.isEmpty()) log.warn({ merchant, reasons: reasons.take() }, 'some requests failed at the gateway')
        countedSinceMs = clock.monotonicMs()
      }
    },
  }
}

/** One request that failed, perhaps the last of its batch, tells nothing of the next. */
function isTrouble(health: GatewayHealth | null): health is GatewayHealth {
  return health !== null && (health.failures > 1 || health.backoffUntilMs !== null)
}

function isOver(health: GatewayHealth | null): boolean {
  return health === null || (health.failures === 0 && health.backoffUntilMs === null)
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

// ───────────────────────────────────────────────────────────── Stops

function createStops({ log }: NarratorParts) {
  const known = new Map<AccountId, Pick<AccountView, 'stopped' | 'held'>>()
  return {
    look(accounts: readonly AccountView[]): void {
      for (const { accountId, name: merchant, stopped, held } of accounts) {
        const before = known.get(accountId)
        // What was stopped before this start may go on at once, with other credentials: it is told if it is still so at the next look.
        known.set(accountId, before === undefined ? { stopped: null, held: null } : { stopped, held })
        if (before === undefined) continue
        if (stopped !== null && stopped !== before.stopped)
          log.error(
            { merchant, reason: stopped },
            'the merchant is stopped: nothing of it is sent until its credentials change or a person resumes it',
          )
        if (held !== null && held !== before.held)
          log.error(
            { merchant, reason: held },
            'the merchant is paused: nothing of it is sent until a person has looked',
          )
        if (stopped === null && held === null && (before.stopped ?? before.held) !== null)
          log.info({ merchant }, 'the merchant is not stopped or paused any more')
      }
    },
  }
}

// ───────────────────────────────────────────────────────────── Refused messages

function createRefusals({ clock, log }: NarratorParts) {
  const reasons = createCounts()
  let count = 0
  let toldAtMs = Number.NEGATIVE_INFINITY
  return {
    add(of: readonly string[]): void {
      count += 1
      for (const reason of of) reasons.add(reason)
    },
    look(): void {
      if (count === 0 || clock.monotonicMs() - toldAtMs < REFUSALS_EVERY_MS) return
      log.warn({ count, reasons: reasons.take() }, 'messages were refused')
      count = 0
      toldAtMs = clock.monotonicMs()
    },
  }
}

// ───────────────────────────────────────────────────────────── Counting

/** Each may name a reference of its own: more of them would be a line of any length. */
const REASONS_MOST = 20
const OTHERS = 'other reasons'

function createCounts() {
  let counts = new Map<string, number>()
  return {
    isEmpty: () => counts.size === 0,
    add(reason: string): void {
      const key = counts.has(reason) || counts.size < REASONS_MOST ? reason : OTHERS
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    take(): Readonly<Record<string, number>> {
      const taken = Object.fromEntries(counts)
      counts = new Map()
      return taken
    },
  }
}
