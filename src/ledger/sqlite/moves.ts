// A move of a row: its history and the tally are written with it, and one that the table of moves does not have is refused.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../domain/actor.ts'
import type { Hold } from '../../domain/batch.ts'
import { assert } from '../../domain/fault.ts'
import { type Cause, canMove, type State } from '../../domain/states.ts'
import { byOf, prepareActorIds } from './acts.ts'
import type { Chain } from './chain.ts'
import type { Committer } from './commit.ts'
import { prepareNamed } from './named.ts'
import { type Answered, answeredText } from './recorded.ts'
import type { Counted, Tally } from './tally.ts'

/** Rows moved in one transaction by a sweep or a cancel. */
export const ROWS_PER_STEP = 500

export interface OpenRow extends Counted {
  readonly id: number
  readonly account_id: number
  readonly state: State
  readonly attempt: number
  readonly hold: Hold
  readonly warning: string | null
  readonly row_no: number
}

export interface SettlingRow extends OpenRow {
  /** How many rows its batch runs first, before a person has looked; null: there is no canary. */
  readonly canary: number | null
  readonly max_declined: number | null
  readonly transactionId: string | null
  readonly wasFound: number
}

export type RecordMove = (
  row: Counted & { readonly id: number; readonly state: State },
  to: State,
  cause: Cause,
  details: {
    readonly attempt: number
    readonly atMs: number
    /** null or absent: the machine. */
    readonly actor?: Actor | null
    readonly httpStatus?: number | null
    readonly answer?: string | null
    readonly reason?: string | null
    /** What the row takes from the answer; null or absent: what it has stays as it is. */
    readonly answered?: Answered | null
  },
) => void

/** Writes the history, the tally and the chain of a move, and refuses one that the table of moves does not have. */
export function prepareMoves(db: DatabaseSync, tally: Tally, chain: Chain): RecordMove {
  const insert = prepareNamed(
    db,
    `INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, http_status, answer, reason, actor_id, answered)
    VALUES (:row_id, :attempt, :from_state, :to_state, :cause, :at, :by, :http_status, :answer, :reason, :actor_id, :answered)`,
  )
  const actorIdOf = prepareActorIds(db)
  return (row, to, cause, details) => {
    const { attempt, atMs, actor = null, httpStatus = null, answer = null, reason = null } = details
    assert(canMove(row.state, to, cause), `no move from ${row.state} to ${to} by ${cause}`)
    const [by, actorId, parts] = [byOf(actor), actorIdOf(actor), actor === null ? null : JSON.stringify(actor)]
    const answered = details.answered ? answeredText(details.answered) : null
    const moved = {
      id: 0,
      row_id: row.id,
      attempt,
      from_state: row.state,
      to_state: to,
      cause,
      at: atMs,
      by,
      http_status: httpStatus,
      answer,
      reason,
      actor_id: actorId,
      answered,
      parts,
    }
    moved.id = Number(insert(moved).lastInsertRowid)
    chain.moved(moved)
    tally.moved(row, row.state, to)
  }
}

export async function stepwise(committer: Committer, step: () => number): Promise<number> {
  let total = 0
  for (;;) {
    const moved = await committer.write(step, { kind: 'kept' })
    total += moved
    if (moved < ROWS_PER_STEP) return total
  }
}
