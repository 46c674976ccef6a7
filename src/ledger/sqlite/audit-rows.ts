// Whether every row is what its moves made of it.

import type { DatabaseSync } from 'node:sqlite'
import { type Cause, canMove, isFinal, type State } from '../../domain/states.ts'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import { NO_FACTS } from '../rules/settling.ts'
import { type FactColumns, toFacts } from '../texts/instruction-columns.ts'
import { answeredBy, answeredText } from '../texts/record/recorded.ts'

interface RowAndMove extends FactColumns {
  readonly id: number
  readonly batch: string
  readonly row_no: number
  readonly reference: string
  readonly state: State
  readonly attempt: number
  readonly attempts_before: number
  readonly from_state: State | null
  readonly to_state: State | null
  readonly cause: Cause | null
  readonly move: number | null
  readonly answered: string | null
}

interface Path {
  readonly row: RowAndMove
  readonly claims: number
  /** null: it has made no move. */
  readonly last: State | null
  /** The first move that does not follow on the one before it, or that no program makes. */
  readonly odd: string | null
  /** What its moves say that it took from an answer. */
  readonly answered: string
}

const NOTHING_ANSWERED = answeredText(answeredBy(NO_FACTS))

/** Each row with its moves in turn, so that no more than one row is in hand. */
export function* auditRows(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT i.id, i.batch_id AS batch, i.row_no, i.reference, i.state, i.attempt,
      coalesce((SELECT attempt FROM instruction s WHERE s.id = i.supersedes), 0) AS attempts_before, m.from_state, m.to_state, m.cause,
      m.id AS move, m.answered, i.transaction_id, i.answered_order_id, i.answered_record_id, i.answered_amount,
      i.answered_currency, i.answered_vault_id, i.answered_xtl_order_id, i.answered_customer_id, i.answered_card
    FROM instruction i CROSS JOIN batch b ON b.id = i.batch_id AND b.stage = 'open' LEFT JOIN move m ON m.row_id = i.id
    ORDER BY i.id, m.id`)
  let path: Path | null = null
  for (const row of found.iterate() as Iterable<unknown> as Iterable<RowAndMove>) {
    if (path !== null && path.row.id !== row.id) yield* judge(path)
    path = follow(
      path?.row.id === row.id ? path : { row, claims: 0, last: null, odd: null, answered: NOTHING_ANSWERED },
      row,
    )
  }
  if (path !== null) yield* judge(path)
}

function follow(path: Path, { from_state: from, to_state: to, cause, ...made }: RowAndMove): Path {
  if (from === null || to === null || cause === null) return path
  const follows = from === (path.last ?? 'READY') && canMove(from, to, cause)
  const odd = path.odd ?? (follows ? null : `${from} to ${to} by ${cause}`)
  const answered = made.answered ?? path.answered
  return { ...path, last: to, odd, answered, claims: path.claims + (cause === 'claim' ? 1 : 0) }
}

function* judge({ row, claims, last, odd, answered }: Path): Iterable<Disagreement> {
  const where = `${row.reference} (row ${row.row_no} of batch ${row.batch})`
  const arrived = row.state === 'READY' || row.state === 'INVALID' || row.state === 'DUPLICATE'
  if (last === null && !arrived)
    yield {
      where,
      means: `it is ${row.state} and there is no move of it: its history was removed. Look it up at the gateway`,
    }
  if (last !== null && last !== row.state)
    yield { where, means: `it is ${row.state}, and its last move made it ${last}. ${consequence(row.state, last)}` }
  if (odd !== null)
    yield {
      where,
      means: `its history has a move from ${odd}, which does not follow on the one before. Look it up at the gateway`,
    }
  if (answered !== answeredNow(row))
    yield {
      where,
      means: `its transaction id, or what else it took from an answer, is not what its moves say: ${answeredNow(row)} and not ${answered}. Look it up at the gateway`,
    }
  if (row.attempt !== row.attempts_before + claims) {
    yield {
      where,
      means: `it is at attempt ${row.attempt}, and its history has ${claims} ${claims === 1 ? 'claim' : 'claims'}${row.attempts_before === 0 ? '' : ` after ${row.attempts_before} in an earlier batch`}. How often it was sent is not known: look it up at the gateway`,
    }
  }
}

function answeredNow(row: RowAndMove): string {
  return answeredText(answeredBy(toFacts(row)))
}

function consequence(state: State, last: State): string {
  if (state === 'READY')
    return isFinal(last) || last === 'IN_DOUBT'
      ? 'It would be sent again: pause its batch, and look it up at the gateway'
      : 'It could be sent twice: pause its batch'
  return 'Its results do not say what happened: look it up at the gateway'
}
