import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCommitter } from '../../../src/ledger/sqlite/commit.ts'
import { engineOn } from '../../../src/ledger/sqlite/engine.ts'
import { makeTables } from '../../../src/ledger/sqlite/make-tables.ts'
import { prepareRunning } from '../../../src/ledger/sqlite/run-script.ts'
import { KEPT } from '../../../src/ledger/texts/engine.ts'
import { all, change } from '../../../src/ledger/texts/script.ts'

const ROW = { batch_id: 'b', operation: 'REFUND', currency: 'EUR', amount_minor: 1250 }

test('a move that is written only at the second try is counted once', async () => {
  const db = new DatabaseSync(':memory:')
  makeTables(db)
  db.exec('CREATE TABLE ballast (room BLOB)')
  const committer = createCommitter(db, (error) => {
    throw error
  })
  const engine = engineOn(db, committer, prepareRunning(db), () => null)
  let tries = 0
  const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number }
  db.exec(`PRAGMA max_page_count = ${pages + 4}`)

  const written = engine.write(function* (book) {
    tries += 1
    book.arrived(ROW)
    yield* change('INSERT INTO ballast VALUES (zeroblob(100000))') // what finds the disk full, after the move was noted
  }, KEPT)
  while (tries === 0) await nextTurn()
  db.exec('PRAGMA max_page_count = 1000000')
  await written

  expect(tries).toBeGreaterThan(1)
  expect(await engine.read(() => all('SELECT state, count, amount_minor FROM tally'))).toEqual([
    { state: 'READY', count: 1, amount_minor: 1250 },
  ])
  db.close()
})
