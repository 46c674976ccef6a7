// Whether the record agrees with itself: sums with rows, rows with their moves, and all of it with the chain. Reads row by
// row in one read transaction, holds up no writer, and changes nothing.

import type { DatabaseSync } from 'node:sqlite'
import { type Cause, canMove, isFinal, type State } from '../../domain/states.ts'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import { NO_FACTS } from '../rules/settling.ts'
import { type ChainedMove, chainedText, type Form, type Link, linkHash, openActsText } from './chain.ts'
import { schemaDifferences } from './copies/foreign-schema.ts'
import { findRow } from './found.ts'
import { answeredBy, answeredText, openDigests, openRecordedText, type Recorded } from './recorded.ts'
import { type FactColumns, toFacts } from './rows.ts'

/** `head`: one that was written down earlier, elsewhere; null: none is to be compared. */
export function* audit(db: DatabaseSync, head: string | null): Iterable<Disagreement> {
  db.exec('BEGIN')
  yield* pages(db)
  yield* schema(db)
  yield* batches(db)
  yield* submitted(db)
  yield* tallies(db)
  yield* rows(db)
  yield* transactions(db)
  yield* gaps(db)
  yield* chain(db)
  if (head !== null) yield* comparedWith(db, head)
}

/** `LINK:HASH`. Written down elsewhere, it binds everything up to that commit. */
export function headOf(db: DatabaseSync): string {
  const { id, hash } = findRow<Link>(db.prepare('SELECT id, hash FROM chain ORDER BY id DESC LIMIT 1'))!
  return `${id}:${hash}`
}

/** Indexes are held against their tables: a guard that is asked of an index is as good as the index. */
function* pages(db: DatabaseSync): Iterable<Disagreement> {
  for (const { integrity_check: found } of db.prepare('PRAGMA integrity_check(20)').all()) {
    if (found !== 'ok')
      yield {
        where: 'pages',
        means: `${String(found).replaceAll('\n', ' ')}. The ledger is damaged: restore the newest backup`,
      }
  }
}

function* schema(db: DatabaseSync): Iterable<Disagreement> {
  for (const { type, name, how } of schemaDifferences(db)) {
    const means = {
      missing: 'it is missing. What it guards against, a second sending among them, is not guarded',
      foreign: 'it was not made by this program. The person who made it could have changed anything here',
      other: 'it has another form than this program gives it. What is read from it may not be true',
    }[how]
    yield { where: `${type} ${name}`, means }
  }
}

function* batches(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT b.id, b.rows, (SELECT count(*) FROM instruction i WHERE i.batch_id = b.id) AS counted
    FROM batch b WHERE b.stage = 'open' AND b.rows <> counted`)
  for (const { id, rows: said, counted } of found.iterate()) {
    const means = `it was recorded with ${said} rows and has ${counted}. A row that was lost would be sent again with its file`
    yield { where: `batch ${id}`, means }
  }
  const strays = db.prepare(`
    SELECT m.id FROM move m WHERE NOT EXISTS (SELECT 1 FROM instruction i WHERE i.id = m.row_id)`)
  for (const { id } of strays.iterate()) {
    yield {
      where: `move ${id}`,
      means: 'it is of no row. The row was removed, or the move was put in: what was sent may not be known',
    }
  }
}

/** Everything that was submitted still has its digest, and there is nothing without one. */
function* submitted(db: DatabaseSync): Iterable<Disagreement> {
  const digests = openDigests(db)
  const kept = db.prepare("SELECT * FROM recorded WHERE digest <> '' ORDER BY batch_id, first_row")
  for (const one of kept.iterate() as Iterable<unknown> as Iterable<Recorded>) {
    const { batch_id: batch, first_row: first, last_row: last, digest } = one
    if (digests.of(batch, first, last) === digest) continue
    yield {
      where: first === last && first > 0 ? `row ${first} of batch ${batch}` : `batch ${batch}`,
      means:
        'it is not what was submitted: a reference, an amount, a target, or where it came from changed since. Pause it, and compare it with its file and with a backup',
    }
  }
  const planted = db.prepare(`
    SELECT b.id AS batch, i.row_no AS row, i.reference FROM batch b LEFT JOIN instruction i ON i.batch_id = b.id
    WHERE b.stage = 'open' AND coalesce((
      SELECT r.last_row FROM recorded r WHERE r.batch_id = b.id AND r.first_row <= coalesce(i.row_no, 0)
      ORDER BY r.first_row DESC LIMIT 1), -1) < coalesce(i.row_no, 0)`)
  for (const { batch, row, reference } of planted.iterate()) {
    yield {
      where: row === null ? `batch ${batch}` : `${reference} (row ${row} of batch ${batch})`,
      means: 'it was never submitted: it was put in by other means. It would be sent: pause its batch',
    }
  }
}

/** Batch by batch: sums of one batch are all that is in memory. */
function* tallies(db: DatabaseSync): Iterable<Disagreement> {
  const counted = db.prepare(`
    SELECT coalesce(operation, '') AS operation, coalesce(currency, '') AS currency, state, count(*) AS count,
      coalesce(sum(amount_minor), 0) AS amount
    FROM instruction WHERE batch_id = ? GROUP BY 1, 2, 3`)
  const kept = db.prepare(
    'SELECT operation, currency, state, count, amount_minor AS amount FROM tally WHERE batch_id = ? AND count > 0',
  )
  for (const statement of [counted, kept]) statement.setReadBigInts(true)
  for (const { id } of db.prepare("SELECT id FROM batch WHERE stage = 'open'").iterate()) {
    const sums = (found: ReturnType<typeof kept.all>) =>
      new Map(
        found.map(({ operation, currency, state, count, amount }) => [
          `${operation} ${currency} ${state}`,
          `${count} rows, ${amount} minor units`,
        ]),
      )
    const [rowsSay, tallySays] = [sums(counted.all(id as string)), sums(kept.all(id as string))]
    for (const name of new Set([...rowsSay.keys(), ...tallySays.keys()])) {
      const [rows = 'no row', tally = 'no row'] = [rowsSay.get(name), tallySays.get(name)]
      if (rows === tally) continue
      yield {
        where: `tally of batch ${id}, ${name}`,
        means: `it counts ${tally}, and there are ${rows}. Totals and results would not tell the truth`,
      }
    }
  }
}

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
  /** What its moves say that it took from an answer; null: an earlier version did not write it there. */
  readonly answered: string | null
}

const NOTHING_ANSWERED = answeredText(answeredBy(NO_FACTS))

/** Each row with its moves in turn, so that no more than one row is in hand. */
function* rows(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT i.id, i.batch_id AS batch, i.row_no, i.reference, i.state, i.attempt,
      coalesce((SELECT attempt FROM instruction s WHERE s.id = i.supersedes), 0) AS attempts_before, m.from_state, m.to_state, m.cause,
      m.id AS move, m.answered, i.transaction_id, i.answered_order_id, i.answered_record_id, i.answered_amount,
      i.answered_currency, i.answered_vault_id, i.answered_xtl_order_id
    FROM instruction i CROSS JOIN batch b ON b.id = i.batch_id AND b.stage = 'open' LEFT JOIN move m ON m.row_id = i.id
    ORDER BY i.id, m.id`)
  const { upTo } = db.prepare('SELECT coalesce(max(last_move), 0) AS upTo FROM chain WHERE form = 1').get() as {
    upTo: number
  }
  let path: Path | null = null
  for (const row of found.iterate() as Iterable<unknown> as Iterable<RowAndMove>) {
    if (path !== null && path.row.id !== row.id) yield* judge(path)
    path = follow(
      path?.row.id === row.id ? path : { row, claims: 0, last: null, odd: null, answered: NOTHING_ANSWERED },
      row,
      upTo,
    )
  }
  if (path !== null) yield* judge(path)
}

function follow(path: Path, { from_state: from, to_state: to, cause, ...made }: RowAndMove, earlier: number): Path {
  if (from === null || to === null || cause === null) return path
  const follows = from === (path.last ?? 'READY') && canMove(from, to, cause)
  const odd = path.odd ?? (follows ? null : `${from} to ${to} by ${cause}`)
  const answered = made.answered ?? (made.move !== null && made.move <= earlier ? null : path.answered)
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
  if (answered !== null && answered !== answeredNow(row))
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

function* transactions(db: DatabaseSync): Iterable<Disagreement> {
  const found = db.prepare(`
    SELECT min(transaction_id) AS id, count(*) AS count FROM instruction WHERE transaction_id IS NOT NULL
    GROUP BY account_id, ltrim(transaction_id, '0') HAVING count(*) > 1`)
  for (const { id, count } of found.iterate()) {
    yield {
      where: `transaction ${id}`,
      means: `${count} rows say that it settled them, and one transaction moves money once. Look all of them up at the gateway`,
    }
  }
}

/** Nothing here ever removes a move or an act. */
function* gaps(db: DatabaseSync): Iterable<Disagreement> {
  for (const table of ['move', 'act'] as const) {
    const { count, last } = db
      .prepare(`SELECT count(*) AS count, coalesce(max(id), 0) AS last FROM ${table}`)
      .get() as { count: number; last: number }
    if (count === last) continue
    const { id } = db
      .prepare(`
      SELECT min(id) + 1 AS id FROM (SELECT 0 AS id UNION ALL SELECT id FROM ${table}) p
      WHERE NOT EXISTS (SELECT 1 FROM ${table} n WHERE n.id = p.id + 1)`)
      .get() as { id: number }
    const what =
      table === 'move' ? 'A row whose moves were removed could be sent again' : 'What a person did is no longer told'
    yield {
      where: `${table} ${id}`,
      means: `it was removed, with ${last - count} in all. ${what}: compare with a backup before anything is sent`,
    }
  }
}

const MEANS = 'What is told of these may not be true: compare with a backup, and with the heads in your log'

function* chain(db: DatabaseSync): Iterable<Disagreement> {
  const moves = openSections(db)
  const actsText = openActsText(db)
  const recordedText = openRecordedText(db)
  let before: Link | null = null
  for (const link of db.prepare('SELECT * FROM chain ORDER BY id').iterate() as Iterable<unknown> as Iterable<Link>) {
    if (before === null) moves.skipTo(link.last_move)
    else {
      const text = {
        moves: moves.upTo(link.last_move, link.form),
        acts: link.last_act === before.last_act ? '' : actsText(before.last_act, link.last_act, link.form).text,
        recorded:
          link.last_recorded === before.last_recorded ? '' : recordedText(before.last_recorded, link.last_recorded),
      }
      if (!follows(link, before) || link.hash !== linkHash(before.hash, text, link.form)) {
        const which = [
          rangeOf('moves', before.last_move, link.last_move),
          rangeOf('acts', before.last_act, link.last_act),
          rangeOf('digests of what was submitted', before.last_recorded, link.last_recorded),
        ]
        yield {
          where: `chain ${link.id}`,
          means: `${which.filter(Boolean).join(' and ') || 'the link itself'} changed after they were written. ${MEANS}`,
        }
      }
    }
    before = link
  }
  if (before === null) yield { where: 'chain', means: `it is gone. ${MEANS}` }
  else if (
    moves.upTo(Number.MAX_SAFE_INTEGER, 2) !== '' ||
    actsText(before.last_act, Number.MAX_SAFE_INTEGER).count > 0 ||
    // What the version before had recorded joins the chain with the next commit.
    (before.form !== 1 && recordedText(before.last_recorded, Number.MAX_SAFE_INTEGER) !== '')
  )
    yield {
      where: `chain ${before.id}`,
      means: `moves, acts or digests come after its end, which this program did not write. ${MEANS}`,
    }
}

function follows(link: Link, before: Link): boolean {
  return (
    link.id === before.id + 1 &&
    link.last_move >= before.last_move &&
    link.last_act >= before.last_act &&
    link.last_recorded >= before.last_recorded
  )
}

function rangeOf(what: string, after: number, upTo: number): string {
  return upTo > after ? `${what} ${after + 1} to ${upTo}` : ''
}

/** The moves of one link after another, from one pass over all of them. */
function openSections(db: DatabaseSync): { skipTo(move: number): void; upTo(move: number, form: Form): string } {
  const read = (after: number) =>
    db
      .prepare(
        `SELECT m.id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status, answered, reason, parts
        FROM move m LEFT JOIN actor a ON a.id = m.actor_id WHERE m.id > ? ORDER BY m.id`,
      )
      .iterate(after) as Iterator<unknown> as Iterator<ChainedMove>
  let found = read(0)
  let next = found.next()
  return {
    skipTo(move) {
      found = read(move)
      next = found.next()
    },
    upTo(move, form) {
      let text = ''
      for (; next.done !== true && next.value.id <= move; next = found.next()) text += chainedText(next.value, form)
      return text
    },
  }
}

function* comparedWith(db: DatabaseSync, head: string): Iterable<Disagreement> {
  const [id, hash] = head.split(':')
  const link = db.prepare('SELECT hash FROM chain WHERE id = ?').get(Number(id)) as { hash: string } | undefined
  if (link?.hash === hash) return
  yield {
    where: `head ${head}`,
    means:
      'the record is not the one that had it: it was changed or put back since. Send nothing from it until it has been compared with a backup and the gateway',
  }
}
