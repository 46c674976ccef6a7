// The chain: one hash for each commit, over its moves, its acts, what was recorded by it and the hash before. What is changed,
// removed or put in between later no longer fits. A person who can write to the ledger could compute all hashes again: those that were
// written down elsewhere, in a log on another machine, then differ.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Committer } from './commit.ts'
import { findRow } from './found.ts'
import { prepareRecordedText } from './recorded.ts'

export const CHAIN = `
  -- One line for each commit that made a move or an act: up to which ones, and the hash over them and the line before.
  CREATE TABLE chain (
    id INTEGER PRIMARY KEY,
    last_move INTEGER NOT NULL,
    last_act INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  -- What an earlier version recorded is not in it.
  INSERT INTO chain SELECT 1, coalesce((SELECT max(id) FROM move), 0), coalesce((SELECT max(id) FROM act), 0), '';
`

export interface Link {
  readonly id: number
  readonly last_move: number
  readonly last_act: number
  readonly hash: string
  readonly form: Form
  readonly last_recorded: number
}

/** 1: of an earlier version, over moves and acts, without the parts of who acted and without what was answered. */
export type Form = 1 | 2
const FORM = 2

/** What of a move is in it. The texts of moves are not, but for reasons of resolutions: a purge takes them away. */
export interface ChainedMove {
  readonly id: number
  readonly row_id: number
  readonly attempt: number
  readonly from_state: string
  readonly to_state: string
  readonly cause: string
  readonly at: number
  readonly by: string
  readonly actor_id: number | null
  readonly http_status: number | null
  readonly answered: string | null
  readonly reason: string | null
  /** Of who acted. */
  readonly parts: string | null
}

export function chainedText(move: ChainedMove, form: Form = FORM): string {
  if (form === 1) return earlierText(move)
  const { id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status, answered, parts } = move
  const reason = cause === 'resolve' && move.reason !== null ? move.reason.toWellFormed() : null
  const [who, what] = [
    [by.toWellFormed(), actor_id, parts],
    [from_state, to_state, cause, http_status, answered, reason],
  ]
  return `${JSON.stringify([id, row_id, attempt, at, ...who, ...what])}\n`
}

/** A line for each, in which only the last value may hold anything. */
function earlierText(move: ChainedMove): string {
  const { id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status } = move
  return `${id},${row_id},${attempt},${from_state},${to_state},${cause},${at},${actor_id},${http_status},${JSON.stringify(by.toWellFormed())}\n`
}

/** Acts are few: they are read again. Every value is quoted, so that no two records have one text. */
const ACTS = (form: Form) => `
  SELECT coalesce(group_concat(concat_ws(',', id, at, quote(by), quote(what), quote(batch_id), quote(account_id), quote(reason),
    quote(actor_id), quote(details)${form === 1 ? '' : ', quote((SELECT parts FROM actor WHERE actor.id = actor_id))'}), char(10)), '') AS text,
    count(*) AS count
  FROM (SELECT * FROM act WHERE id > ? AND id <= ? ORDER BY id)`

export interface ActsText {
  readonly text: string
  readonly count: number
}

export function prepareActsText(db: DatabaseSync): (after: number, upTo: number, form?: Form) => ActsText {
  const [earlier, acts] = [db.prepare(ACTS(1)), db.prepare(ACTS(2))]
  return (after, upTo, form = FORM) => findRow<ActsText>(form === 1 ? earlier : acts, after, upTo)!
}

export interface LinkText {
  readonly moves: string
  readonly acts: string
  readonly recorded: string
}

export function linkHash(before: string, { moves, acts, recorded }: LinkText, form: Form = FORM): string {
  return hash('sha256', `${before}\n${moves}\n${acts}${form === 1 ? '' : `\n${recorded}`}`)
}

export interface Chain {
  /** Notes a move that was written just now. */
  moved(move: ChainedMove): void
}

/** What was noted is bound to what came before at the end of the transaction, inside it. */
export function createChain(db: DatabaseSync, committer: Pick<Committer, 'beforeCommit' | 'afterRollback'>): Chain {
  const headOf = db.prepare(`
    SELECT id, last_move, last_act, hash, last_recorded, (SELECT coalesce(max(id), 0) FROM act) AS newest_act,
      (SELECT coalesce(max(id), 0) FROM recorded) AS newest_recorded
    FROM chain ORDER BY id DESC LIMIT 1`)
  const add = db.prepare(
    'INSERT INTO chain (id, last_move, last_act, last_recorded, hash, form) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const actsText = prepareActsText(db)
  const recordedText = prepareRecordedText(db)
  let moves = ''
  let lastMove = 0

  function forget(): void {
    moves = ''
    lastMove = 0
  }

  committer.afterRollback(forget)
  committer.beforeCommit(() => {
    const head = findRow<Link & { readonly newest_act: number; readonly newest_recorded: number }>(headOf)!
    const { newest_act: act, newest_recorded: newest } = head
    if (moves === '' && act === head.last_act && newest === head.last_recorded) return
    const acts = act === head.last_act ? '' : actsText(head.last_act, act).text
    const recorded = newest === head.last_recorded ? '' : recordedText(head.last_recorded, newest)
    const bound = linkHash(head.hash, { moves, acts, recorded })
    add.run(head.id + 1, Math.max(lastMove, head.last_move), act, newest, bound, FORM)
    forget()
  })
  return {
    moved(move) {
      moves += chainedText(move)
      lastMove = move.id
    },
  }
}
