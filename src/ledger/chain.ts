// The chain: one hash for each commit, over the moves and acts of it and the hash before. A move or an act that is changed,
// removed or put in between later no longer fits. Whoever may write to the ledger could make all hashes anew: those that were
// written down elsewhere, in a log on another machine, then differ.

import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Committer } from './commit.ts'

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
}

/** What of a move is in it. The texts of moves are not: a purge takes them away. */
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
}

/** A line for each, in which only the last value may hold anything. */
export function chainedText(move: ChainedMove): string {
  const { id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status } = move
  return `${id},${row_id},${attempt},${from_state},${to_state},${cause},${at},${actor_id},${http_status},${JSON.stringify(by.toWellFormed())}\n`
}

/** Acts are few: they are read again. Every value is quoted, so that no two records have one text. */
const ACTS = `
  SELECT coalesce(group_concat(concat_ws(',', id, at, quote(by), quote(what), quote(batch_id), quote(account_id), quote(reason),
    quote(actor_id), quote(details)), char(10)), '') AS text, count(*) AS count
  FROM (SELECT * FROM act WHERE id > ? AND id <= ? ORDER BY id)`

export interface ActsText {
  readonly text: string
  readonly count: number
}

export function openActsText(db: DatabaseSync): (after: number, upTo: number) => ActsText {
  const acts = db.prepare(ACTS)
  return (after, upTo) => acts.get(after, upTo) as unknown as ActsText
}

export function linkHash(before: string, moves: string, acts: string): string {
  return hash('sha256', `${before}\n${moves}\n${acts}`)
}

export interface Chain {
  /** Notes a move that was written just now. */
  moved(move: ChainedMove): void
}

/** What was noted is bound to what came before at the end of the transaction, inside it. */
export function openChain(db: DatabaseSync, committer: Pick<Committer, 'beforeCommit' | 'afterRollback'>): Chain {
  const headOf = db.prepare(`
    SELECT id, last_move, last_act, hash, (SELECT coalesce(max(id), 0) FROM act) AS newest_act
    FROM chain ORDER BY id DESC LIMIT 1`)
  const add = db.prepare('INSERT INTO chain VALUES (?, ?, ?, ?)')
  const actsText = openActsText(db)
  let moves = ''
  let lastMove = 0

  function forget(): void {
    moves = ''
    lastMove = 0
  }

  committer.afterRollback(forget)
  committer.beforeCommit(() => {
    const head = headOf.get() as unknown as Link & { readonly newest_act: number }
    const hasActs = head.newest_act > head.last_act
    if (moves === '' && !hasActs) return
    const acts = hasActs ? actsText(head.last_act, head.newest_act).text : ''
    add.run(head.id + 1, Math.max(lastMove, head.last_move), head.newest_act, linkHash(head.hash, moves, acts))
    forget()
  })
  return {
    moved(move) {
      moves += chainedText(move)
      lastMove = move.id
    },
  }
}
