// The chain: one hash for each commit, over its moves, its acts, what was recorded by it and the hash before. What is changed,
// removed or put in between later no longer fits. A person who can write to the ledger could compute all hashes again: those that were
// written down elsewhere, in a log on another machine, then differ.

import { hash } from 'node:crypto'
import { all, change, exists, one, type Script } from '../script.ts'
import { recordedText } from './recorded.ts'

export interface Link {
  readonly id: number
  readonly last_move: number
  readonly last_act: number
  readonly hash: string
  readonly last_recorded: number
}

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

export function chainedText(move: ChainedMove): string {
  const { id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status, answered, parts } = move
  const reason = cause === 'resolve' && move.reason !== null ? move.reason.toWellFormed() : null
  const [who, what] = [
    [by.toWellFormed(), actor_id, parts],
    [from_state, to_state, cause, http_status, answered, reason],
  ]
  return `${JSON.stringify([id, row_id, attempt, at, ...who, ...what])}\n`
}

export interface ActsText {
  readonly text: string
  readonly count: number
}

type Quoted = string | number | null

/** Acts are few: they are read again. */
const ACTS = `
    SELECT a.id, a.at, a.by, a.what, a.batch_id, a.account_id, a.reason, a.actor_id, a.details, p.parts
    FROM act a LEFT JOIN actor p ON p.id = a.actor_id WHERE a.id > :after AND a.id <= :upTo ORDER BY a.id`

/** A line for each, in which every value but the first two is quoted as in SQL, so that no two records have one text. */
export function* actsText(after: number, upTo: number): Script<ActsText> {
  const acts = yield* all<Readonly<Record<string, Quoted>>>(ACTS, { after, upTo })
  const lines = acts.map(({ id, at, ...values }) => [id, at, ...Object.values(values).map(quoted)].join(','))
  return { text: lines.join('\n'), count: acts.length }
}

function quoted(value: Quoted | undefined): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  return value === null ? 'NULL' : String(value)
}

export interface LinkText {
  readonly moves: string
  readonly acts: string
  readonly recorded: string
}

export function linkHash(before: string, { moves, acts, recorded }: LinkText): string {
  return hash('sha256', `${before}\n${moves}\n${acts}\n${recorded}`)
}

export interface Chain {
  /** Notes a move that was written just now. */
  moved(move: ChainedMove): void
  /** Binds what was noted to what came before, at the end of the transaction. */
  write(): Script<void>
  forget(): void
}

interface Head extends Link {
  readonly newest_act: number
  readonly newest_recorded: number
}

const HEAD = `
    SELECT id, last_move, last_act, hash, last_recorded, (SELECT coalesce(max(id), 0) FROM act) AS newest_act,
      (SELECT coalesce(max(id), 0) FROM recorded) AS newest_recorded
    FROM chain ORDER BY id DESC LIMIT 1`

const ADD = `
    INSERT INTO chain (id, last_move, last_act, last_recorded, hash)
    SELECT :id, :last_move, :last_act, :last_recorded, :hash WHERE :id > (SELECT max(id) FROM chain) RETURNING id`

/** null: nothing came since the last one. */
function* linkOver(moves: string, lastMove: number): Script<Link | null> {
  const head = (yield* one<Head>(HEAD))!
  const { newest_act, newest_recorded } = head
  if (moves === '' && newest_act === head.last_act && newest_recorded === head.last_recorded) return null
  const acts = newest_act === head.last_act ? '' : (yield* actsText(head.last_act, newest_act)).text
  const recorded =
    newest_recorded === head.last_recorded ? '' : yield* recordedText(head.last_recorded, newest_recorded)
  return {
    id: head.id + 1,
    last_move: Math.max(lastMove, head.last_move),
    last_act: newest_act,
    last_recorded: newest_recorded,
    hash: linkHash(head.hash, { moves, acts, recorded }),
  }
}

/** A link for each commit, written by it. */
export function createChain(): Chain {
  let moves = ''
  let lastMove = 0
  return {
    moved(move) {
      moves += chainedText(move)
      lastMove = move.id
    },
    *write() {
      const link = yield* linkOver(moves, lastMove)
      if (link !== null) yield* change(ADD, { ...link })
    },
    forget() {
      moves = ''
      lastMove = 0
    },
  }
}

// Where several write at once, no commit knows the hash of the one before it: links are added afterwards.

/** Of commits whose links are added later. */
export const LINKED_LATER: Chain = { moved() {}, *write() {}, forget() {} }

const MOVES_PER_LINK = 5_000

const UNLINKED = `
    SELECT m.id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status, answered, reason, parts
    FROM move m LEFT JOIN actor a ON a.id = m.actor_id
    WHERE m.id > (SELECT max(last_move) FROM chain) ORDER BY m.id LIMIT ${MOVES_PER_LINK}`

/**
 * Over what has none; null: everything has one. To be read at a moment at which nothing is being written, or what was not there yet could
 * come below its end.
 */
export function* nextLink(): Script<{ readonly link: Link; readonly isLast: boolean } | null> {
  const moves = yield* all<ChainedMove>(UNLINKED)
  const link = yield* linkOver(moves.map((move) => chainedText(move)).join(''), moves.at(-1)?.id ?? 0)
  return link === null ? null : { link, isLast: moves.length < MOVES_PER_LINK }
}

/** False: another process was first, with a link that may end earlier. */
export function* addLink(link: Link): Script<boolean> {
  return yield* exists(ADD, { ...link })
}

/** `LINK:HASH`. Written down elsewhere, it binds everything up to that commit. */
export function* headOf(): Script<string> {
  const { id, hash } = (yield* one<Link>('SELECT id, hash FROM chain ORDER BY id DESC LIMIT 1'))!
  return `${id}:${hash}`
}
