// What every transaction writes of the rows that it changes: their history, the tally and the chain. A move that the table of moves does
// not have is refused.

import type { Actor } from '../../../domain/actor.ts'
import { assert } from '../../../domain/fault.ts'
import { type Cause, canMove, type State } from '../../../domain/states.ts'
import { countsTowardsLimit } from '../../rules/daily-limit.ts'
import { one, type Script } from '../script.ts'
import { forgetSums } from '../work/daily-limit.ts'
import { actorIdOf, byOf } from './acts.ts'
import { type Chain, createChain } from './chain.ts'
import { type Answered, answeredText } from './recorded.ts'
import { type Counted, createTally, type Tally } from './tally.ts'

export interface MoveDetails {
  readonly attempt: number
  readonly atMs: number
  /** null or absent: the machine. */
  readonly actor?: Actor | null
  readonly httpStatus?: number | null
  readonly answer?: string | null
  readonly reason?: string | null
  /** What the row takes from the answer; null or absent: what it has stays as it is. */
  readonly answered?: Answered | null
}

/** Of one transaction. */
export interface Book {
  move(
    row: Counted & { readonly id: number; readonly state: State },
    to: State,
    cause: Cause,
    details: MoveDetails,
  ): Script<void>
  /** A row came, as READY, outside a file. */
  arrived(row: Counted): void
  /** A row of the batch changed, but did not move. */
  touched(batchId: string): void
}

/** The book of one transaction after another. */
export interface Bookkeeping {
  readonly book: Book
  /** Writes what was gathered, at the end of a transaction, inside it. */
  close(): Script<void>
  /** The transaction was rolled back. */
  forget(): void
}

const INSERT = `
    INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, http_status, answer, reason, actor_id, answered)
    VALUES (:row_id, :attempt, :from_state, :to_state, :cause, :at, :by, :http_status, :answer, :reason, :actor_id, :answered)
    RETURNING id`

/** A claim and its own answer count by themselves, where anything is limited. */
function changesWhatCounts(from: State, to: State, cause: Cause): boolean {
  return cause !== 'claim' && from !== 'SENDING' && countsTowardsLimit(from) !== countsTowardsLimit(to)
}

export function createBookkeeping(chain: Chain = createChain()): Bookkeeping {
  const tally: Tally = createTally()
  function forget(): void {
    tally.forget()
    chain.forget()
  }
  return {
    book: {
      *move(row, to, cause, details) {
        const { attempt, atMs, actor = null, httpStatus = null, answer = null, reason = null } = details
        assert(canMove(row.state, to, cause), `no move from ${row.state} to ${to} by ${cause}`)
        const move = {
          row_id: row.id,
          attempt,
          from_state: row.state,
          to_state: to,
          cause,
          at: atMs,
          by: byOf(actor),
          http_status: httpStatus,
          answer,
          reason,
          actor_id: yield* actorIdOf(actor),
          answered: details.answered ? answeredText(details.answered) : null,
        }
        const { id } = (yield* one<{ id: number }>(INSERT, move))!
        chain.moved({ id, ...move, parts: actor === null ? null : JSON.stringify(actor) })
        tally.moved(row, row.state, to)
        if (changesWhatCounts(row.state, to, cause)) yield* forgetSums(row.batch_id)
      },
      arrived: (row) => tally.moved(row, null, 'READY'),
      touched: (batchId) => tally.touched(batchId),
    },
    *close() {
      yield* tally.write()
      yield* chain.write()
      forget()
    },
    forget,
  }
}
