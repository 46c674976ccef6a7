// Delivery: events to the queues that asked for them and to webhook endpoints, over a connection to the ledger of its own. In a worker and
// in a server; of those that could, one at a time tells either kind.

import { hostname } from 'node:os'
import { join } from 'node:path'
import type { App } from '../app.ts'
import type { DeliveryHold, ToldTo } from '../ports/ledger/events.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { bodyMaker } from './events.ts'
import { openLedger } from './ledger.ts'

export interface DeliveryOptions {
  readonly onAttempt?: (endpointId: string, result: 'delivered' | 'failed') => void
}

/** Services listen on the Redis that is configured and on no other: without it, outcomes for queues wait for a process that has it. */
export async function startDelivery(app: App, { onAttempt = () => {} }: DeliveryOptions = {}) {
  const [{ deliverEvents }, { createPublishing }, { createWebhooks }, { createSender }, { openOutcomeQueues }] =
    await Promise.all([
      import('../processors/deliver-events.ts'),
      import('../processors/publish-outcomes.ts'),
      import('../processors/send-webhooks.ts'),
      import('../events/send.ts'),
      import('../queues/outcomes.ts'),
    ])
  const { clock, log, config, scrub } = app
  const ledger = await openLedger(app, 'looks')
  const bodyOf = bodyMaker(app, ledger.ledgerId)
  const { redisUrl, redisPrefix: prefix } = config
  const queues = redisUrl === null ? null : openOutcomeQueues({ address: { url: redisUrl.reveal() }, prefix })
  const standing = new Map(
    Array.from(config.merchants.values(), ({ name, outcomes }) => [
      name,
      outcomes === null ? null : queueFor(outcomes),
    ]),
  )
  const publishing = {
    ...{ ledger, bodyOf, hasStanding: [...standing.values()].some((queue) => queue !== null) },
    standingQueueOf: (merchant: string) => standing.get(merchant) ?? null,
  }
  const parts = (to: ToldTo) => ({ ledger, clock, log, hold: () => holdDelivery(app, ledger, to) })
  const sending = deliverEvents({
    ...parts('webhooks'),
    openWebhooks: () =>
      createWebhooks({
        ...{ ledger, clock, log, bodyOf, onAttempt },
        sender: createSender({ scrub }),
        random: Math.random,
      }),
  })
  const telling =
    queues === null
      ? null
      : deliverEvents({ ...parts('queues'), openPublishing: () => createPublishing({ ...publishing, queues }) })
  return {
    async stop(): Promise<void> {
      await Promise.all([sending.stop(), telling?.stop()])
      await queues?.close()
      await ledger.close()
    },
  }
}

function queueFor(name: string): string {
  return `tranche-outcome-${name}`
}

/** Of a ledger in a file, a lock beside it; both end with their process. */
async function holdDelivery(app: App, ledger: Pick<Ledger, 'holdDelivery'>, to: ToldTo): Promise<DeliveryHold | null> {
  if (app.config.ledgerServer !== null) return ledger.holdDelivery(to)
  const { takeLock } = await import('../files/lock.ts')
  const holder = { pid: process.pid, host: hostname(), command: 'deliver', startedAtMs: app.clock.nowMs() }
  const lock = takeLock(join(app.config.dataDir, `delivery-${to}.lock`), holder)
  return lock.kind === 'held' ? null : { isHeld: () => true, release: () => lock.release() }
}
