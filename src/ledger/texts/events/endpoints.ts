// Endpoints of webhooks. Their secrets are in the record, because each body is signed with them.

import type { Actor } from '../../../domain/actor.ts'
import type { ActDetails, PersonActName } from '../../../domain/acts.ts'
import type { EventPosition } from '../../../domain/event.ts'
import { EARLIER_SECRET_MS, type Endpoint, type SigningEndpoint, type WebhookFigures } from '../../../domain/webhook.ts'
import type { NewEndpoint, WebhookLedger } from '../../../ports/ledger/webhooks.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { recordAct } from '../record/acts.ts'
import { all, change, one, type Script } from '../script.ts'
import { noteEvent } from './gather.ts'
import { endOf, nameOfEvent } from './page.ts'

type Part = Pick<
  WebhookLedger,
  | 'addEndpoint'
  | 'endpoints'
  | 'removeEndpoint'
  | 'rotateSecret'
  | 'enableEndpoint'
  | 'pingEndpoint'
  | 'signingEndpoints'
  | 'takenUpTo'
  | 'webhookFigures'
>

export function endpointsOn(engine: Engine, ledgerId: string): Part {
  /** false: there is none. */
  const changing = (id: string, changed: () => Script<boolean>, note: Note) =>
    engine.write(function* () {
      const found = yield* one<{ url: string }>('SELECT url FROM endpoint WHERE id = :id', { id })
      if (found === undefined || !(yield* changed())) return false
      yield* noteAct({ ...note, id, url: found.url })
      return true
    }, FAULTING)
  return {
    addEndpoint: (endpoint, actor, nowMs, reason) => engine.write(() => add(endpoint, actor, nowMs, reason), FAULTING),
    endpoints: () => engine.read(endpoints),
    removeEndpoint: (id, actor, nowMs, reason) =>
      changing(id, () => remove(id), { what: 'webhook-remove', actor, nowMs, reason }),
    rotateSecret: (id, secret, actor, nowMs, reason) =>
      changing(id, () => done(ROTATE, { id, secret, nowMs }), { what: 'webhook-rotate', actor, nowMs, reason }),
    enableEndpoint: (id, actor, nowMs, reason) =>
      changing(id, () => done(ENABLE, { id }), { what: 'webhook-enable', actor, nowMs, reason }),
    pingEndpoint: (id, nowMs) => engine.write(() => ping(ledgerId, id, nowMs), FAULTING),
    signingEndpoints: (nowMs) => engine.read(() => signing(nowMs)),
    takenUpTo: async (id) =>
      (await engine.read(() => one<EventPosition>('SELECT move, event FROM endpoint WHERE id = :id', { id }))) ?? null,
    webhookFigures: () => engine.read(figures),
  }
}

interface Note {
  readonly what: PersonActName
  readonly actor: Actor
  readonly nowMs: number
  readonly reason: string | undefined
}

function* noteAct({ what, actor, nowMs: atMs, reason, ...details }: Note & { id: string; url: string }): Script<void> {
  const told: ActDetails = { endpoint: details.id, url: details.url }
  yield* recordAct({ what, atMs, actor, reason: reason ?? null, details: told })
}

const ADD = `
    INSERT INTO endpoint (id, url, secret, types, merchant, private, created_at, move, event)
    VALUES (:id, :url, :secret, :types, :merchant, :isPrivate, :nowMs, :move, :event)`

function* add(endpoint: NewEndpoint, actor: Actor, nowMs: number, reason?: string): Script<string> {
  const { id, url, secret, types, merchant, allowsPrivate } = endpoint
  const { move, event } = yield* endOf()
  const values = { types: types === null ? null : JSON.stringify(types), isPrivate: allowsPrivate ? 1 : 0 }
  yield* change(ADD, { id, url, secret, merchant, nowMs, move, event, ...values })
  yield* noteAct({ what: 'webhook-add', actor, nowMs, reason, id, url })
  return id
}

function* remove(id: string): Script<boolean> {
  yield* change('DELETE FROM delivery WHERE endpoint_id = :id', { id })
  return yield* done('DELETE FROM endpoint WHERE id = :id RETURNING id', { id })
}

const ROTATE = `
    UPDATE endpoint SET earlier_secret = secret, rotated_at = :nowMs, secret = :secret WHERE id = :id RETURNING id`
const ENABLE = 'UPDATE endpoint SET disabled_at = NULL, disabled_why = NULL WHERE id = :id RETURNING id'

function* done(text: string, values: Readonly<Record<string, string | number>>): Script<boolean> {
  return (yield* all(text, values)).length > 0
}

const PING = `
    INSERT INTO delivery (endpoint_id, event_id, type, state, attempts, next_at, created_at, replay)
    VALUES (:id, :eventId, 'ping', 'pending', 0, :nowMs, :nowMs, 'dead')`

/** One attempt, which a disabled endpoint gets as well. */
function* ping(ledgerId: string, id: string, nowMs: number): Script<boolean> {
  if ((yield* one('SELECT 1 AS n FROM endpoint WHERE id = :id', { id })) === undefined) return false
  const no = yield* noteEvent({ type: 'ping', atMs: nowMs, endpoint: id, said: { endpoint: id } })
  const eventId = (yield* nameOfEvent(ledgerId, no))!
  yield* change(PING, { id, eventId, nowMs })
  return true
}

const ENDPOINTS = `
    SELECT id, url, types, merchant, private, created_at AS "createdAtMs", disabled_at AS "disabledAtMs",
      disabled_why AS "disabledWhy", failing_since AS "failingSinceMs", secret, earlier_secret AS "earlierSecret",
      rotated_at AS "rotatedAtMs"
    FROM endpoint ORDER BY created_at, id`

interface Stored extends Omit<Endpoint, 'types' | 'allowsPrivate'> {
  readonly types: string | null
  readonly private: number
  readonly secret: string
  readonly earlierSecret: string | null
  readonly rotatedAtMs: number | null
}

function* endpoints(): Script<Endpoint[]> {
  return (yield* all<Stored>(ENDPOINTS)).map(toEndpoint)
}

function toEndpoint(stored: Stored): Endpoint {
  const { types, private: isPrivate, secret: _, earlierSecret: __, rotatedAtMs: ___, ...rest } = stored
  return { ...rest, types: types === null ? null : (JSON.parse(types) as string[]), allowsPrivate: isPrivate === 1 }
}

function* signing(nowMs: number): Script<SigningEndpoint[]> {
  return (yield* all<Stored>(ENDPOINTS)).map((stored) => {
    const { secret, earlierSecret, rotatedAtMs } = stored
    const isBoth = earlierSecret !== null && nowMs - (rotatedAtMs ?? 0) < EARLIER_SECRET_MS
    return { ...toEndpoint(stored), secrets: isBoth ? [secret, earlierSecret] : [secret] }
  })
}

const FIGURES = `
    SELECT e.id AS "endpointId", CASE WHEN e.disabled_at IS NULL THEN 0 ELSE 1 END AS disabled, count(d.event_id) AS pending,
      min(d.created_at) AS "oldestPendingAtMs"
    FROM endpoint e LEFT JOIN delivery d ON d.endpoint_id = e.id AND d.state = 'pending' GROUP BY e.id, e.disabled_at ORDER BY e.id`

function* figures(): Script<WebhookFigures[]> {
  const found = yield* all<Omit<WebhookFigures, 'disabled'> & { disabled: number }>(FIGURES)
  return found.map((figure) => ({ ...figure, disabled: figure.disabled === 1 }))
}
