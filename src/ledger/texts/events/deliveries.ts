// What is to be delivered to endpoints, and what became of each attempt.

import type { Actor } from '../../../domain/actor.ts'
import {
  type Delivery,
  type DeliveryResult,
  type DeliveryState,
  isTaken,
  nextAttemptMs,
  RECOVERED_AFTER_MS,
  whyDisabled,
} from '../../../domain/webhook.ts'
import type { DeliveriesAsked, WebhookLedger } from '../../../ports/ledger/webhooks.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, one, type Script } from '../script.ts'
import { noteEvent } from './gather.ts'
import { factsOf } from './page.ts'

type Part = Pick<
  WebhookLedger,
  'deliveries' | 'replay' | 'takeDeliveries' | 'dueDeliveries' | 'settleDeliveries' | 'forgetDeliveries'
>

export function deliveriesOn(engine: Engine, ledgerId: string): Part {
  return {
    deliveries: (asked, most) => engine.read(() => deliveries(asked, most)),
    replay: (asked, actor, nowMs, reason) =>
      engine.write(() => replay(ledgerId, asked, actor, nowMs, reason ?? null), FAULTING),
    takeDeliveries: (endpointId, events, upTo, nowMs) =>
      engine.write(function* () {
        for (const { id, type } of events) yield* change(TAKE, { endpointId, id, type, nowMs })
        yield* change('UPDATE endpoint SET move = :move, event = :event WHERE id = :endpointId', {
          ...upTo,
          endpointId,
        })
      }, FAULTING),
    dueDeliveries: (endpointId, nowMs, most) => engine.read(() => due(endpointId, nowMs, most)),
    settleDeliveries: (endpointId, results, nowMs, random) =>
      engine.write(() => settleAll(endpointId, results, nowMs, random), FAULTING),
    forgetDeliveries: async (beforeMs) => {
      if ((await engine.read(() => all(OLD, { beforeMs }))).length > 0)
        await engine.write(() => change(FORGET, { beforeMs }), FAULTING)
    },
  }
}

/** Of an endpoint that was removed meanwhile nothing is taken. */
const TAKE = `
    INSERT INTO delivery (endpoint_id, event_id, type, state, attempts, next_at, created_at)
    SELECT id, :id, :type, 'pending', 0, :nowMs, :nowMs FROM endpoint WHERE id = :endpointId
    ON CONFLICT (endpoint_id, event_id) DO NOTHING`

const COLUMNS = `
    d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.type, d.state, d.attempts, d.next_at AS "nextAtMs",
    d.created_at AS "createdAtMs", d.at AS "lastAtMs", d.http_status AS "httpStatus", d.said, d.replay`

type Stored = Omit<Delivery, 'isReplay'> & { readonly replay: DeliveryState | null }

function toDelivery({ replay, ...stored }: Stored): Delivery {
  return { ...stored, isReplay: replay !== null }
}

const ASKED = `
    (:endpointId = '' OR d.endpoint_id = :endpointId) AND (:eventId = '' OR d.event_id = :eventId)
    AND (:state = '' OR d.state = :state) AND d.state <> :left AND d.created_at >= :sinceMs AND d.created_at < :untilMs`

function valuesOf({ endpointId = '', eventId = '', state, isUndelivered, sinceMs = 0, untilMs }: DeliveriesAsked) {
  return {
    endpointId,
    eventId,
    state: state ?? '',
    left: isUndelivered === true ? 'delivered' : '',
    sinceMs,
    untilMs: untilMs ?? Number.MAX_SAFE_INTEGER,
  }
}

const LATEST = `
    SELECT ${COLUMNS} FROM delivery d WHERE ${ASKED} ORDER BY d.created_at DESC, d.event_id DESC LIMIT :most`

function* deliveries(asked: DeliveriesAsked, most: number): Script<Delivery[]> {
  return (yield* all<Stored>(LATEST, { ...valuesOf(asked), most })).map(toDelivery)
}

/** What waits for its next attempt is tried now, and again later if that fails. */
const REPLAY = `
    UPDATE delivery AS d SET replay = CASE WHEN d.state = 'pending' THEN d.replay ELSE d.state END, state = 'pending', next_at = :nowMs
    WHERE ${ASKED} RETURNING event_id`
const REPLAY_UNTOLD = `
    INSERT INTO delivery (endpoint_id, event_id, type, state, attempts, next_at, created_at, replay)
    SELECT id, :eventId, :type, 'pending', 0, :nowMs, :nowMs, 'dead' FROM endpoint WHERE id = :endpointId RETURNING event_id`

function* replay(
  ledgerId: string,
  asked: DeliveriesAsked,
  actor: Actor,
  nowMs: number,
  reason: string | null,
): Script<number> {
  const again = yield* all(REPLAY, { ...valuesOf(asked), nowMs })
  const count = again.length > 0 ? again.length : yield* replayUntold(ledgerId, asked, nowMs)
  if (count === 0) return 0
  const details = { deliveries: count, endpoint: asked.endpointId ?? 'all', event: asked.eventId ?? 'several' }
  yield* recordAct({ what: 'webhook-replay', atMs: nowMs, actor, reason, details })
  return count
}

function* replayUntold(ledgerId: string, { endpointId, eventId }: DeliveriesAsked, nowMs: number): Script<number> {
  if (endpointId === undefined || eventId === undefined) return 0
  const [fact] = yield* factsOf(ledgerId, eventId)
  if (fact === undefined || fact.type === 'ping') return 0
  return (yield* all(REPLAY_UNTOLD, { endpointId, eventId, type: fact.type, nowMs })).length
}

const DUE = `
    SELECT ${COLUMNS} FROM delivery d JOIN endpoint e ON e.id = d.endpoint_id
    WHERE d.endpoint_id = :endpointId AND d.state = 'pending' AND d.next_at <= :nowMs AND (e.disabled_at IS NULL OR d.replay IS NOT NULL)
    ORDER BY d.next_at, d.event_id LIMIT :most`

function* due(endpointId: string, nowMs: number, most: number): Script<Delivery[]> {
  return (yield* all<Stored>(DUE, { endpointId, nowMs, most })).map(toDelivery)
}

// ───────────────────────────────────────────────────────────── What became of attempts

interface Health {
  readonly disabledAtMs: number | null
  readonly failingSinceMs: number | null
}

const HEALTH = `
    SELECT disabled_at AS "disabledAtMs", failing_since AS "failingSinceMs" FROM endpoint WHERE id = :endpointId`

const KEEP_HEALTH = `
    UPDATE endpoint SET failing_since = :failingSinceMs, disabled_at = :disabledAtMs, disabled_why = coalesce(:why, disabled_why)
    WHERE id = :endpointId`

/** A replay says nothing of the health of its endpoint: a person looks. */
function* settleAll(
  endpointId: string,
  results: readonly DeliveryResult[],
  nowMs: number,
  random: () => number,
): Script<'disabled' | 'recovered' | null> {
  const before = yield* one<Health>(HEALTH, { endpointId })
  if (before === undefined) return null
  let { failingSinceMs } = before
  let wasTaken = false
  let why: string | null = null
  for (const result of results) {
    const delivery = yield* one<Pick<Stored, 'attempts' | 'replay'>>(FOUND, { endpointId, eventId: result.eventId })
    if (delivery === undefined) continue
    yield* settleOne(endpointId, delivery, result, nowMs, random)
    if (delivery.replay !== null) continue
    if (isTaken(result.httpStatus)) {
      wasTaken = true
      failingSinceMs = null
      continue
    }
    failingSinceMs ??= nowMs
    why ??= whyDisabled(result.httpStatus, failingSinceMs, nowMs)
  }
  const isDisabled = why !== null && before.disabledAtMs === null
  const disabledAtMs = isDisabled ? nowMs : before.disabledAtMs
  const saidWhy = isDisabled ? why : null
  yield* change(KEEP_HEALTH, { endpointId, failingSinceMs, disabledAtMs, why: saidWhy })
  if (isDisabled) {
    yield* noteEvent({ type: 'endpoint.disabled', atMs: nowMs, said: { endpoint: endpointId, reason: why } })
    return 'disabled'
  }
  const wasFailing = before.failingSinceMs !== null && nowMs - before.failingSinceMs >= RECOVERED_AFTER_MS
  if (!wasTaken || !wasFailing) return null
  yield* noteEvent({ type: 'endpoint.recovered', atMs: nowMs, said: { endpoint: endpointId } })
  return 'recovered'
}

const FOUND = `
    SELECT attempts, replay FROM delivery WHERE endpoint_id = :endpointId AND event_id = :eventId AND state = 'pending'`

const SETTLE = `
    UPDATE delivery SET state = :state, attempts = :attempts, next_at = :nextAtMs, at = :nowMs, http_status = :httpStatus, said = :said,
      replay = NULL
    WHERE endpoint_id = :endpointId AND event_id = :eventId`

function* settleOne(
  endpointId: string,
  { attempts: before, replay }: Pick<Stored, 'attempts' | 'replay'>,
  { eventId, httpStatus, said, askedToWaitMs }: DeliveryResult,
  nowMs: number,
  random: () => number,
): Script<void> {
  const attempts = before + 1
  const taken = isTaken(httpStatus)
  const nextAtMs = taken || replay !== null ? null : nextAttemptMs(attempts, askedToWaitMs, nowMs, random())
  const state = taken ? 'delivered' : (replay ?? (nextAtMs === null ? 'dead' : 'pending'))
  yield* change(SETTLE, { endpointId, eventId, state, attempts, nextAtMs, nowMs, httpStatus, said })
}

const OLD = "SELECT 1 AS n FROM delivery WHERE state <> 'pending' AND created_at < :beforeMs LIMIT 1"
const FORGET = `
    DELETE FROM delivery WHERE state <> 'pending' AND created_at < :beforeMs AND event_id IN (
      SELECT event_id FROM delivery WHERE state <> 'pending' AND created_at < :beforeMs ORDER BY created_at LIMIT 500)`
