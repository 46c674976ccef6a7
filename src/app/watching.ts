// What a process shows of itself on a listener of its own: figures, and whether it can do its work. One call for every service.

import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { App } from '../app.ts'
import type { Check } from '../domain/health.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { freeBytesOf, ledgerChecks, type Sending, sendingChecks } from './health.ts'
import type { MerchantLane } from './lanes.ts'

/** What is counted while it happens. */
export type Counting = Omit<Metrics, 'text' | 'begin'>

export interface Watching {
  /** null: nothing is measured, as no listener was asked for. */
  readonly metrics: Counting | null
  /** The lanes of a process that sends, from now on. */
  watch(lanes: ReadonlyMap<AccountId, MerchantLane>): void
  close(): Promise<void>
}

export const NOT_WATCHED: Watching = { metrics: null, watch: () => {}, close: async () => {} }

/** Two who ask at once, or one who asks too often, cost one look. */
const KEPT_MS = 1_000

/** Without TRANCHE_METRICS nothing is opened and nothing measured. `sending`: of a process that sends; null: it only serves. */
export async function openWatching(app: App, ledger: Ledger, sending: Sending | null): Promise<Watching> {
  const { metricsAddress: address } = app.config
  if (address === null) return NOT_WATCHED
  const [{ createMetrics, METRICS_TYPE }, { openListener }] = await Promise.all([
    import('../observability/metrics.ts'),
    import('../observability/listener.ts'),
  ])
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
  const metrics = createMetrics(version)
  let lanes: ReadonlyMap<AccountId, MerchantLane> = new Map()
  const checks = keptFor(app, async () => [
    ...(await ledgerChecks(app, ledger)),
    ...(sending === null ? [] : await sendingChecks(app, sending)),
  ])
  const text = keptFor(app, async () => metrics.text({ ...(await gather(app, ledger, checks)), lanes: shown(lanes) }))
  const onError = (error: unknown) => app.log.warn({ err: error }, 'figures could not be shown')
  const listener = await openListener({ address, metricsType: METRICS_TYPE, metrics: text, checks, onError })
  app.log.info({ url: listener.url }, 'figures and health are shown')
  return {
    metrics,
    watch(opened) {
      lanes = opened
      metrics.begin(Array.from(opened.values(), ({ merchant }) => merchant.name))
    },
    close: listener.close,
  }
}

async function gather(
  app: App,
  ledger: Pick<Ledger, 'figures' | 'webhookFigures'>,
  checks: () => Promise<readonly Check[]>,
) {
  const figures = await ledger.figures().catch((error: unknown) => {
    app.log.debug({ err: error }, 'the figures of the ledger could not be read')
    return null
  })
  return {
    checks: await checks(),
    ledger: figures,
    webhooks: await ledger.webhookFigures().catch(() => null),
    files: await filesOf(app),
    diskFreeBytes: await freeBytesOf(app),
    atMs: app.clock.nowMs(),
  }
}

function shown(lanes: ReadonlyMap<AccountId, MerchantLane>) {
  return Array.from(lanes.values(), ({ merchant, limiter }) => ({
    merchant: merchant.name,
    inFlight: limiter.inFlight(),
    openMost: limiter.openMost(),
    ratePerSecond: limiter.ratePerSecond(),
  }))
}

/** Of one on a server there are none here. */
async function filesOf({ config, paths }: App): Promise<{ file: string; bytes: number }[]> {
  if (config.ledgerServer !== null) return []
  const sizeOf = async (path: string) => (await stat(path).catch(() => null))?.size ?? 0
  return [
    { file: 'ledger', bytes: await sizeOf(paths.ledgerFile) },
    { file: 'log', bytes: await sizeOf(`${paths.ledgerFile}-wal`) },
  ]
}

/** What was found stands for a second; who asks meanwhile waits for the same. */
function keptFor<T>({ clock }: App, find: () => Promise<T>): () => Promise<T> {
  let kept: { readonly found: Promise<T>; readonly untilMs: number } | null = null
  return () => {
    if (kept === null || clock.monotonicMs() >= kept.untilMs) {
      const found = find()
      kept = { found, untilMs: clock.monotonicMs() + KEPT_MS }
      found.catch(() => {
        kept = null
      })
    }
    return kept.found
  }
}
