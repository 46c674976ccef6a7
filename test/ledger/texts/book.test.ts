import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { type Cause, canMove, STATES } from '../../../src/domain/states.ts'
import { makeTables } from '../../../src/ledger/sqlite/make-tables.ts'
import { runNow } from '../../../src/ledger/sqlite/run-script.ts'
import { createBookkeeping } from '../../../src/ledger/texts/record/book.ts'

const CAUSES: readonly Cause[] = [
  'claim',
  'answer',
  'unsent',
  'doubt',
  'sweep',
  'cancel',
  'resolve',
  'proof',
  'late-answer',
  'executed',
  'order',
  'restore',
]
const ROW = { id: 1, batch_id: 'b', operation: 'REFUND', currency: 'EUR', amount_minor: 1 }

test('of all possible moves, exactly those of the table are recorded', () => {
  const db = new DatabaseSync(':memory:')
  makeTables(db)
  db.exec('PRAGMA foreign_keys = OFF') // as the ledger has it
  const { book } = createBookkeeping()
  for (const state of STATES) {
    for (const to of STATES) {
      for (const cause of CAUSES) {
        const move = () => runNow(db, book.move({ ...ROW, state }, to, cause, { attempt: 1, atMs: 1 }))
        if (canMove(state, to, cause)) move()
        else expect(move).toThrow('bug: no move')
      }
    }
  }
  const recorded = db.prepare('SELECT from_state, to_state, cause FROM move ORDER BY id').all()
  expect(recorded.length).toBeGreaterThan(10)
  expect(recorded.every((move) => canMove(move.from_state as never, move.to_state as never, move.cause as never))).toBe(
    true,
  )
  db.close()
})
