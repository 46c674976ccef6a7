// What a process measures, as Prometheus reads it. Every label is of a bounded set: no reference, amount, batch or text of the gateway.

import { STATUS_CODES } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type AccountFigures, type LedgerFigures, OPEN_BATCHES } from '../domain/figures.ts'
import { CHECKS, type Check } from '../domain/health.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Outcome } from '../domain/outcome.ts'
import { categoryOfReason } from '../domain/reason-categories.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { WebhookFigures } from '../domain/webhook.ts'
import type { AttemptSeen } from '../ports/attempts.ts'
import type { DueRow, Settled } from '../ports/ledger/work.ts'

/** What one attempt came to, in a label. */
type Came = 'approved' | 'declined' | 'failed' | 'in_doubt' | 'unsent'

export interface LaneFigures {
  readonly merchant: string
  readonly inFlight: number
  readonly openMost: number
  /** null: no limit. */
  readonly ratePerSecond: number | null
}

/** Looked up when somebody asks. */
export interface Gathered {
  readonly checks: readonly Check[]
  /** null: it could not be read. */
  readonly ledger: LedgerFigures | null
  /** null: they could not be read. */
  readonly webhooks: readonly WebhookFigures[] | null
  /** Of a process that sends. */
  readonly lanes: readonly LaneFigures[]
  readonly files: readonly { readonly file: string; readonly bytes: number }[]
  readonly diskFreeBytes: number
  readonly atMs: number
}

export interface Metrics {
  /** Whose accounts this process sends for: what must never happen is counted from 0, or its first time would be no increase. */
  begin(merchants: readonly string[]): void
  /** `merchant`: whose account it was. */
  attempted(merchant: Labelled, row: DueRow, verdict: Verdict, settled: Settled, seen: AttemptSeen): void
  /** A slice has begun; call the answer when it has ended. */
  sliceTaken(): () => void
  ticked(tookMs: number): void
  messageTaken(result: MessageResult): void
  webhookAttempted(endpoint: string, result: 'delivered' | 'failed'): void
  /** `route`: as the table of routes has it; `none`: there is none. */
  answered(method: string, route: string, status: number, tookMs: number): void
  /** As Prometheus reads it. */
  text(gathered: Gathered): Promise<string>
}

const MESSAGE_RESULTS = ['accepted', 'duplicate', 'refused'] as const
type MessageResult = (typeof MESSAGE_RESULTS)[number]

export type Labelled = Pick<Merchant, 'name' | 'reasonRules'>

/** Of a commit: from a fast disk to one that stands still. */
const COMMIT_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const CONNECT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30]
/** Up to the deadline of a request. */
const ANSWER_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const counters = countersIn(registry)
  const times = timesIn(registry)
  const gauges = gaugesIn(registry)
  const slices = gaugeIn(registry, 'tranche_slices_active', 'Slices that are being executed')
  gaugeIn(registry, 'tranche_build_info', 'Always 1', ['version', 'node']).set({ version, node: process.version }, 1)
  for (const result of MESSAGE_RESULTS) counters.messages.inc({ result }, 0)
  return {
    begin(merchants) {
      for (const merchant of merchants) counters.moneyWarnings.inc({ merchant }, 0)
    },
    attempted({ name: merchant, reasonRules }, row, verdict, settled, seen) {
      const { operation, money } = row.instruction
      const came = cameTo(verdict, settled)
      counters.attempts.inc({ merchant, operation, verdict: came })
      if (money !== null && came !== 'unsent') {
        const amount = Number(money.amountMinor) // a sum to look at: the ledger has the exact one
        counters.amount.inc({ merchant, operation, currency: money.currency, verdict: came }, amount)
      }
      if (verdict.kind === 'declined')
        counters.declines.inc({ merchant, category: categoryOfReason(verdict.reason, reasonRules) })
      if (verdict.kind === 'approved' && verdict.warnings.some(({ aboutMoney }) => aboutMoney))
        counters.moneyWarnings.inc({ merchant })
      if (seen.outcome.kind === 'unsent') counters.unsent.inc({ merchant, why: seen.outcome.why })
      else counters.responses.inc({ merchant, code: codeOf(seen.outcome) })
      timesOf(times, { merchant, operation }, seen)
    },
    sliceTaken() {
      slices.inc()
      return () => slices.dec()
    },
    ticked: (tookMs) => times.tick.observe(tookMs / 1000),
    messageTaken: (result) => counters.messages.inc({ result }),
    webhookAttempted: (endpoint, result) => counters.webhooks.inc({ endpoint, result }),
    answered: (method, route, status, tookMs) =>
      times.http.observe({ method: knownMethod(method), route, code: String(status) }, tookMs / 1000),
    text(gathered) {
      show(gauges, gathered)
      return registry.metrics()
    },
  }
}

/** As it was recorded, where that is another thing: an answer may have come too late, or be the third of its kind. */
function cameTo(verdict: Verdict, { state }: Settled): Came {
  if (state === 'IN_DOUBT') return 'in_doubt'
  switch (verdict.kind) {
    case 'approved':
    case 'declined':
    case 'failed':
      return verdict.kind
    case 'in-doubt':
      return 'in_doubt'
    case 'unsent':
    case 'forbidden':
    case 'stop-account':
      return state === 'FAILED' ? 'failed' : 'unsent'
  }
}

/** The caller chooses it. */
function knownMethod(method: string): string {
  return ['GET', 'POST', 'PUT', 'DELETE'].includes(method) ? method : 'other'
}

/** The gateway chooses the number: only those that are known stand for themselves. */
function codeOf(outcome: Exclude<Outcome, { kind: 'unsent' }>): string {
  if (outcome.kind === 'lost') return 'none'
  return outcome.httpStatus in STATUS_CODES ? String(outcome.httpStatus) : 'other'
}

// ───────────────────────────────────────────────────────────── What is counted

function countersIn(registry: Registry) {
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  return {
    attempts: counter('tranche_attempts_total', 'Attempts to send a row, by what they came to', [
      ...(['merchant', 'operation', 'verdict'] as const),
    ]),
    amount: counter('tranche_amount_minor_total', 'Amounts asked for, in minor units, by what the attempt came to', [
      ...(['merchant', 'operation', 'currency', 'verdict'] as const),
    ]),
    declines: counter('tranche_declines_total', 'Declined rows by category of the reason', ['merchant', 'category']),
    moneyWarnings: counter('tranche_money_warnings_total', 'Approved with another amount or currency than asked', [
      'merchant',
    ]),
    unsent: counter('tranche_unsent_total', 'Attempts of which not one byte left, by why', ['merchant', 'why']),
    responses: counter('tranche_gateway_responses_total', 'Answers of the gateway by HTTP code; none: no answer came', [
      ...(['merchant', 'code'] as const),
    ]),
    messages: counter('tranche_intake_messages_total', 'Messages of other services, by what became of them', [
      'result',
    ]),
    webhooks: counter('tranche_webhook_deliveries_total', 'Attempts to deliver an event, by endpoint and result', [
      ...(['endpoint', 'result'] as const),
    ]),
  }
}

function timesIn(registry: Registry) {
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[]) =>
    new Histogram({ name, help, buckets, labelNames, registers: [registry] })
  return {
    claim: histogram('tranche_claim_duration_seconds', 'Until a claim is durable', COMMIT_BUCKETS, []),
    connect: histogram(
      'tranche_connect_duration_seconds',
      'From the claim to the first byte: connection, TLS, and the moment that the rate allows',
      CONNECT_BUCKETS,
      ['merchant'],
    ),
    answer: histogram(
      'tranche_answer_duration_seconds',
      'From the first byte to the whole answer, or to the end of waiting for it',
      ANSWER_BUCKETS,
      ['merchant', 'operation'],
    ),
    settle: histogram('tranche_settle_duration_seconds', 'Until the outcome is durable', COMMIT_BUCKETS, []),
    http: histogram('tranche_http_request_duration_seconds', 'Until a request was answered', HTTP_BUCKETS, [
      ...(['method', 'route', 'code'] as const),
    ]),
    tick: histogram('tranche_tick_duration_seconds', 'One look for due rows', COMMIT_BUCKETS, []),
  }
}

type Times = ReturnType<typeof timesIn>

function timesOf(
  { claim, connect, answer, settle }: Times,
  { merchant, operation }: { readonly merchant: string; readonly operation: string },
  { askedAtMs, claimedAtMs, startedAtMs, overAtMs, settledAtMs }: AttemptSeen,
): void {
  claim.observe((claimedAtMs - askedAtMs) / 1000)
  if (startedAtMs !== null) {
    connect.observe({ merchant }, (startedAtMs - claimedAtMs) / 1000)
    answer.observe({ merchant, operation }, (overAtMs - startedAtMs) / 1000)
  }
  settle.observe((settledAtMs - overAtMs) / 1000)
}

// ───────────────────────────────────────────────────────────── What is looked up

function gaugeIn<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[] = []) {
  return new Gauge({ name, help, labelNames, registers: [registry] })
}

function gaugesIn(registry: Registry) {
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    gaugeIn(registry, name, help, labelNames)
  return {
    check: gauge('tranche_check_ok', 'Whether this process can do its work, by check: 1 if it can', 'check'),
    open: gauge('tranche_open_requests', 'Permits given: requests that are open or being prepared', 'merchant'),
    window: gauge('tranche_window', 'Requests that may be open now', 'merchant'),
    rate: gauge('tranche_rate_limit_per_second', 'The rate of this process; absent where none is set', 'merchant'),
    rows: gauge('tranche_rows', 'Rows that are not settled', 'merchant', 'state'),
    due: gauge(
      'tranche_oldest_due_seconds',
      'For how long the first row is due that only a worker holds up',
      'merchant',
    ),
    doubt: gauge('tranche_oldest_doubt_seconds', 'Age of the oldest doubt', 'merchant'),
    late: gauge('tranche_late_answers', 'True answers that came after a row had been given up', 'merchant'),
    stale: gauge('tranche_results_stale', 'Batches that changed after their results were written', 'merchant'),
    stopped: gauge('tranche_account_stopped', '1: nothing is sent until a person resumes the account', 'merchant'),
    held: gauge('tranche_account_held', '1: too many doubts; all batches of the account are paused', 'merchant'),
    waits: gauge('tranche_account_waits_seconds', 'How long the gateway asked to wait, from now', 'merchant'),
    batches: gauge('tranche_batches', 'Batches with a row that is not settled, by what holds them up', 'state'),
    approval: gauge('tranche_oldest_approval_wait_seconds', 'Age of the oldest batch that waits for approvals'),
    webhooksPending: gauge('tranche_webhook_pending', 'Events that an endpoint has still to take', 'endpoint'),
    webhooksOldest: gauge('tranche_webhook_oldest_pending_seconds', 'Age of the oldest of them', 'endpoint'),
    webhooksDisabled: gauge(
      'tranche_webhook_endpoint_disabled',
      '1: it gets nothing more until a person enables it',
      'endpoint',
    ),
    bytes: gauge('tranche_ledger_bytes', 'Size of the files of the ledger', 'file'),
    disk: gauge('tranche_disk_free_bytes', 'Space left in the data directory'),
  }
}

type Gauges = ReturnType<typeof gaugesIn>

/** What could not be read is absent: an old figure would pass for a new one. */
function show(gauges: Gauges, { checks, ledger, webhooks, lanes, files, diskFreeBytes, atMs }: Gathered): void {
  for (const gauge of Object.values(gauges)) gauge.reset()
  for (const name of CHECKS) {
    const check = checks.find((one) => one.name === name)
    if (check !== undefined) gauges.check.set({ check: name }, check.ok ? 1 : 0)
  }
  for (const { merchant, inFlight, openMost, ratePerSecond } of lanes) {
    gauges.open.set({ merchant }, inFlight)
    gauges.window.set({ merchant }, openMost)
    if (ratePerSecond !== null) gauges.rate.set({ merchant }, ratePerSecond)
  }
  for (const { file, bytes } of files) gauges.bytes.set({ file }, bytes)
  gauges.disk.set(diskFreeBytes)
  for (const { endpointId: endpoint, pending, oldestPendingAtMs, disabled } of webhooks ?? []) {
    gauges.webhooksPending.set({ endpoint }, pending)
    gauges.webhooksOldest.set({ endpoint }, secondsSince(oldestPendingAtMs, atMs))
    gauges.webhooksDisabled.set({ endpoint }, disabled ? 1 : 0)
  }
  if (ledger === null) {
    gauges.approval.remove()
    return
  }
  for (const account of ledger.accounts) showAccount(gauges, account, atMs)
  for (const state of OPEN_BATCHES) gauges.batches.set({ state }, ledger.batches[state])
  gauges.approval.set(secondsSince(ledger.approvalSinceMs, atMs))
}

function showAccount(gauges: Gauges, account: AccountFigures, atMs: number): void {
  const { merchant } = account
  gauges.rows.set({ merchant, state: 'pending' }, account.pending)
  gauges.rows.set({ merchant, state: 'sending' }, account.sending)
  gauges.rows.set({ merchant, state: 'in_doubt' }, account.inDoubt)
  gauges.due.set({ merchant }, secondsSince(account.dueSinceMs, atMs))
  gauges.doubt.set({ merchant }, secondsSince(account.doubtSinceMs, atMs))
  gauges.late.set({ merchant }, account.lateAnswers)
  gauges.stale.set({ merchant }, account.staleResults)
  gauges.stopped.set({ merchant }, account.stopped ? 1 : 0)
  gauges.held.set({ merchant }, account.held ? 1 : 0)
  gauges.waits.set({ merchant }, Math.max(0, ((account.waitsUntilMs ?? 0) - atMs) / 1000))
}

/** 0 where there is nothing to wait for. */
function secondsSince(sinceMs: number | null, atMs: number): number {
  return sinceMs === null ? 0 : Math.max(0, (atMs - sinceMs) / 1000)
}
