// Whether moves, acts and the digests of what was submitted are those that the chain was made of.

import type { DatabaseSync } from 'node:sqlite'
import type { Disagreement } from '../../ports/ledger/audit.ts'
import { actsText, type ChainedMove, chainedText, type Link, linkHash } from '../texts/record/chain.ts'
import { recordedText } from '../texts/record/recorded.ts'
import { prepareRunning } from './run-script.ts'

const MEANS = 'What is told of these may not be true: compare with a backup, and with the heads in your log'

export function* auditChain(db: DatabaseSync): Iterable<Disagreement> {
  const moves = prepareSections(db)
  const run = prepareRunning(db)
  let before = NOTHING
  for (const link of db.prepare('SELECT * FROM chain ORDER BY id').iterate() as Iterable<unknown> as Iterable<Link>) {
    const text = {
      moves: moves.upTo(link.last_move),
      acts: link.last_act === before.last_act ? '' : run(actsText(before.last_act, link.last_act)).text,
      recorded:
        link.last_recorded === before.last_recorded ? '' : run(recordedText(before.last_recorded, link.last_recorded)),
    }
    const fits = before === NOTHING ? isFirst(link) : follows(link, before) && link.hash === linkHash(before.hash, text)
    if (!fits) {
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
    before = link
  }
  if (before === NOTHING) yield { where: 'chain', means: `it is gone. ${MEANS}` }
  else if (
    moves.upTo(Number.MAX_SAFE_INTEGER) !== '' ||
    run(actsText(before.last_act, Number.MAX_SAFE_INTEGER)).count > 0 ||
    run(recordedText(before.last_recorded, Number.MAX_SAFE_INTEGER)) !== ''
  )
    yield {
      where: `chain ${before.id}`,
      means: `moves, acts or digests come after its end, which this program did not write. ${MEANS}`,
    }
}

const NOTHING: Link = { id: 0, last_move: 0, last_act: 0, last_recorded: 0, hash: '' }

/** The schema makes the first link, over nothing. */
function isFirst({ id, last_move, last_act, last_recorded, hash }: Link): boolean {
  return id === 1 && last_move === 0 && last_act === 0 && last_recorded === 0 && hash === ''
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
function prepareSections(db: DatabaseSync): { upTo(move: number): string } {
  const found = db
    .prepare(
      `SELECT m.id, row_id, attempt, from_state, to_state, cause, at, by, actor_id, http_status, answered, reason, parts
      FROM move m LEFT JOIN actor a ON a.id = m.actor_id ORDER BY m.id`,
    )
    .iterate() as Iterator<unknown> as Iterator<ChainedMove>
  let next = found.next()
  return {
    upTo(move) {
      let text = ''
      for (; next.done !== true && next.value.id <= move; next = found.next()) text += chainedText(next.value)
      return text
    },
  }
}

export function* comparedWith(db: DatabaseSync, head: string): Iterable<Disagreement> {
  const [id, hash] = head.split(':')
  const link = db.prepare('SELECT hash FROM chain WHERE id = ?').get(Number(id)) as { hash: string } | undefined
  if (link?.hash === hash) return
  yield {
    where: `head ${head}`,
    means:
      'the record is not the one that had it: it was changed or put back since. Send nothing from it until it has been compared with a backup and the gateway',
  }
}
