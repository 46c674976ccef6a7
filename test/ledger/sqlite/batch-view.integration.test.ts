// A view of a batch is read in several statements, and others commit between them.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { openConnection } from '../../../src/files/sqlite-file.ts'
import { viewOf } from '../../../src/ledger/sqlite/batch-view.ts'
import { refund, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

/** The view, with `act` run just before its statement number `at`, and whether it had so many. */
function viewWith(batchId: BatchId, at: number, act: () => void) {
  const db = openConnection(sqlite.path)
  let statements = 0
  const watched = new Proxy(db, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (name === 'prepare' && ++statements === at) act()
        return value.apply(target, given)
      }
    },
  })
  try {
    return { view: viewOf(watched, batchId), isOver: statements < at }
  } finally {
    db.close()
  }
}

test('shows one moment, whatever is committed between two of them', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const other = new DatabaseSync(sqlite.path)
  const move = (from: string, to: string) =>
    other.exec(`
      BEGIN IMMEDIATE;
      UPDATE instruction SET state = '${to}' WHERE state = '${from}';
      UPDATE tally SET state = '${to}' WHERE state = '${from}';
      COMMIT`)
  const before = viewWith(batchId, 0, () => {}).view
  move('READY', 'SENDING')
  const after = viewWith(batchId, 0, () => {}).view
  expect(after).not.toEqual(before)
  for (let at = 1; ; at++) {
    move('SENDING', 'READY')
    const { view, isOver } = viewWith(batchId, at, () => move('READY', 'SENDING'))
    if (isOver) break
    expect([before, after], `before statement ${at}`).toContainEqual(view)
  }
  other.close()
})
