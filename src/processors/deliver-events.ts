// Tells other programs what happened, beside the work and never in its way: a loop of its own, over what is in the record. Killed at any
// point, it tells again what it may have told, under the same ids.

import type { EventPosition } from '../domain/event.ts'
import { DAY_MS } from '../domain/webhook.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryHold, EventLedger } from '../ports/ledger/events.ts'
import type { WebhookLedger } from '../ports/ledger/webhooks.ts'
import type { Log } from '../ports/log.ts'
import type { Publishing } from './publish-outcomes.ts'
import type { Webhooks } from './send-webhooks.ts'

export interface DeliveringParts {
  readonly ledger: Pick<EventLedger, 'gatherEvents' | 'eventsEnd'> &
    Pick<WebhookLedger, 'signingEndpoints' | 'forgetDeliveries'>
  readonly clock: Clock
  readonly log: Log
  /** One process at a time delivers; null: another does. */
  readonly hold: () => Promise<DeliveryHold | null>
  /** Of whoever holds it: what it knows of earlier looks begins with it. Absent: it tells no queue. */
  readonly openPublishing?: () => Publishing
  /** Absent: it sends no webhook. */
  readonly openWebhooks?: () => Webhooks
}

export interface Delivering {
  /** Looks once more, and begins nothing after that. Resolves within seconds. */
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 500
/** Where another process delivers: so long nothing is told after it has died. */
const TRY_EVERY_MS = 5_000
const FORGET_EVERY_MS = 600_000
const KEPT_MS = 30 * DAY_MS

interface Turn {
  readonly hold: DeliveryHold
  readonly publishing: Publishing | null
  readonly webhooks: Webhooks | null
}

export function deliverEvents(parts: DeliveringParts): Delivering {
  const { clock, log } = parts
  const stopping = new AbortController()
  const told = new Set<string>()
  let turn: Turn | null = null
  let publishing: Promise<void> | null = null
  let triedAtMs: number | null = null
  let forgottenAtMs = clock.monotonicMs()

  /** Says so once for each time that it begins to fail. `work` resolves to null if it was not its turn. */
  async function trying(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      if ((await work()) !== null && told.delete(what)) log.info({}, `${what}: they go out again`)
    } catch (error) {
      if (!told.has(what)) log.warn({ err: error }, `${what}: they wait, and nothing of them is lost`)
      told.add(what)
    }
  }

  async function takeTurn(): Promise<Turn | null> {
    if (turn !== null && !turn.hold.isHeld()) {
      await turn.webhooks?.stop()
      turn = null
    }
    if (turn !== null) return turn
    // On a server each try is a connection.
    if (triedAtMs !== null && clock.monotonicMs() - triedAtMs < TRY_EVERY_MS) return null
    triedAtMs = clock.monotonicMs()
    const hold = await parts.hold()
    if (hold === null) return null
    turn = { hold, publishing: parts.openPublishing?.() ?? null, webhooks: parts.openWebhooks?.() ?? null }
    return turn
  }

  async function look(): Promise<void> {
    await trying('events', async () => {
      const mine = await takeTurn()
      if (mine === null) return null
      await parts.ledger.gatherEvents(clock.nowMs())
      const upTo = await parts.ledger.eventsEnd()
      // Redis may be away and take its time to say so: that holds up no webhook.
      publishing ??= publish(mine, upTo).finally(() => {
        publishing = null
      })
      await send(mine, upTo)
      return mine
    })
    if (turn === null || clock.monotonicMs() - forgottenAtMs < FORGET_EVERY_MS) return
    forgottenAtMs = clock.monotonicMs()
    await trying('old deliveries', () => parts.ledger.forgetDeliveries(clock.nowMs() - KEPT_MS))
  }

  const publish = (mine: Turn, upTo: EventPosition) =>
    trying('outcomes for queues', async () => mine.publishing?.publish(upTo))
  const send = ({ webhooks }: Turn, upTo: EventPosition) =>
    trying('webhooks', async () => webhooks?.look(await parts.ledger.signingEndpoints(clock.nowMs()), upTo))

  const going = (async () => {
    while (!stopping.signal.aborted) {
      await look()
      await clock.sleep(LOOK_EVERY_MS, stopping.signal)
    }
    await publishing
    await look()
  })()

  return {
    async stop() {
      stopping.abort()
      await going
      await Promise.all([publishing, turn?.webhooks?.stop()])
      turn?.hold.release()
    },
  }
}
