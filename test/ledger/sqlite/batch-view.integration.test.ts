// A view of a batch is read in several statements, and others commit between them.

import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import { openConnection } from '../../../src/files/sqlite-file.ts'
import { createCommitter } from '../../../src/ledger/sqlite/commit.ts'
import { engineOn } from '../../../src/ledger/sqlite/engine.ts'
import { prepareRunning } from '../../../src/ledger/sqlite/run-script.ts'
import { viewOf } from '../../../src/ledger/texts/reading/batch-view.ts'
import { refund, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

useSqliteLedger()

const cannotDie = (error: unknown): never => {
  throw error
}

/** The view, with `act` run just before its statement number `at`, and whether it had so many. */
async function viewWith(batchId: BatchId, at: number, act: () => void) {
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
  const engine = engineOn(watched, createCommitter(watched, cannotDie), prepareRunning(watched), () => null)
  try {
    return { view: await engine.read(() => viewOf(batchId)), isOver: statements < at }
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
  const before = (await viewWith(batchId, 0, () => {})).view
  move('READY', 'SENDING')
  const after = (await viewWith(batchId, 0, () => {})).view
  expect(after).not.toEqual(before)
  for (let at = 1; ; at++) {
    move('SENDING', 'READY')
    const { view, isOver } = await viewWith(batchId, at, () => move('READY', 'SENDING'))
    if (isOver) break
    expect([before, after], `before statement ${at}`).toContainEqual(view)
  }
  other.close()
})
