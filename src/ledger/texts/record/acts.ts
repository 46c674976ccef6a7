// Acts: what people and the machine did, with who did it. Whatever writes one writes it here.

import { type Actor, actorText } from '../../../domain/actor.ts'
import type { ActDetails, ActName } from '../../../domain/acts.ts'
import { change, one, type Script } from '../script.ts'

/** Who acts when no person does. */
const MACHINE = 'worker'

export interface ActToRecord {
  readonly what: ActName
  readonly atMs: number
  /** null: the machine. */
  readonly actor: Actor | null
  readonly batchId?: string | null
  readonly accountId?: number | null
  readonly reason?: string | null
  readonly details?: ActDetails | null
}

/** Inside a transaction. */
export function* recordAct(act: ActToRecord): Script<void> {
  const { what, atMs, actor, batchId = null, accountId = null, reason = null, details = null } = act
  const actorId = yield* actorIdOf(actor)
  const told = details === null ? null : JSON.stringify(details)
  yield* change(
    `INSERT INTO act (at, by, what, batch_id, account_id, reason, actor_id, details)
    VALUES (:atMs, :by, :what, :batchId, :accountId, :reason, :actorId, :told)`,
    { atMs, by: byOf(actor), what, batchId, accountId, reason, actorId, told },
  )
}

/** Text for people; the parts stand beside it. */
export function byOf(actor: Actor | null): string {
  return actor === null ? MACHINE : actorText(actor)
}

/** null: the machine, which has no parts. Inside a transaction. */
export function* actorIdOf(actor: Actor | null): Script<number | null> {
  if (actor === null) return null
  const parts = JSON.stringify(actor)
  yield* change('INSERT INTO actor (parts) VALUES (:parts) ON CONFLICT DO NOTHING', { parts })
  return (yield* one<{ id: number }>('SELECT id FROM actor WHERE parts = :parts', { parts }))!.id
}

/** As a read of `actor.parts` gave it. */
export function toActor(parts: string | null): Actor | null {
  return parts === null ? null : (JSON.parse(parts) as Actor)
}
