// Acts: what people and the machine did, with who did it. Whatever writes one writes it here.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import { actorText } from '../../domain/actor.ts'
import type { ActDetails, ActName } from '../../domain/acts.ts'
import type { ActLedger } from '../../ports/ledger/acts.ts'
import type { Committer, Timing } from './commit.ts'

/** Who acts when no person does. */
const MACHINE = 'worker'

export const ACTORS = `
  -- Who acted, in parts: JSON. Rows of an earlier version have the text alone.
  CREATE TABLE actor (id INTEGER PRIMARY KEY, parts TEXT NOT NULL UNIQUE) STRICT;
  ALTER TABLE act ADD COLUMN actor_id INTEGER REFERENCES actor (id);
  ALTER TABLE act ADD COLUMN details TEXT; -- JSON: names of files and columns, and counts
  ALTER TABLE move ADD COLUMN actor_id INTEGER REFERENCES actor (id);
  ALTER TABLE batch ADD COLUMN actor_id INTEGER REFERENCES actor (id);

  -- The log of acts is read by time.
  CREATE INDEX act_at ON act (at);
  CREATE INDEX act_card ON act (details) WHERE what = 'card-refused';
  CREATE INDEX move_resolved ON move (at) WHERE cause = 'resolve';
  CREATE INDEX batch_created ON batch (created_at);
`

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
export type RecordAct = (act: ActToRecord) => void

export function prepareActs(db: DatabaseSync): RecordAct {
  const actorIdOf = prepareActorIds(db)
  const insert = db.prepare(`
    INSERT INTO act (at, by, what, batch_id, account_id, reason, actor_id, details) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`)
  return ({ what, atMs, actor, batchId = null, accountId = null, reason = null, details = null }) => {
    const told = details === null ? null : JSON.stringify(details)
    insert.run(atMs, byOf(actor), what, batchId, accountId, reason, actorIdOf(actor), told)
  }
}

/** Text for people; the parts stand beside it. */
export function byOf(actor: Actor | null): string {
  return actor === null ? MACHINE : actorText(actor)
}

/** null: the machine, which has no parts. Inside a transaction. */
export function prepareActorIds(db: DatabaseSync): (actor: Actor | null) => number | null {
  const add = db.prepare('INSERT INTO actor (parts) VALUES (?) ON CONFLICT DO NOTHING')
  const find = db.prepare('SELECT id FROM actor WHERE parts = ?')
  return (actor) => {
    if (actor === null) return null
    const parts = JSON.stringify(actor)
    add.run(parts)
    return (find.get(parts) as { id: number }).id
  }
}

/** As a read of `actor.parts` gave it. */
export function toActor(parts: string | null): Actor | null {
  return parts === null ? null : (JSON.parse(parts) as Actor)
}

/** So long another program may hold the lock before a person is told that an act was not recorded. */
const ACT_WAIT_MS = 2_000

export function prepareActLedger(
  db: DatabaseSync,
  committer: Committer,
  act: RecordAct,
  timing: Timing,
): Pick<ActLedger, 'recordAct'> {
  const known = db.prepare("SELECT 1 FROM act WHERE what = 'card-refused' AND details = ?")
  return {
    recordAct({ once = false, ...given }, nowMs) {
      const untilMs = timing.nowMs() + ACT_WAIT_MS
      return committer.write<'recorded' | 'full' | 'busy'>(
        () => {
          const isKnown = once && known.get(JSON.stringify(given.details)) !== undefined
          if (!isKnown) act({ ...given, atMs: nowMs })
          return 'recorded'
        },
        { kind: 'refusable', refused: (why) => why, giveUp: () => timing.nowMs() > untilMs },
      )
    },
  }
}
