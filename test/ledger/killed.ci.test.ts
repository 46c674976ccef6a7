// A message beside a submit that records the same reference: it waits for one that works, and not for one that was killed.

import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Child, startChild } from '../fixtures/children.ts'
import { messageOf, refund, sqlitePlace } from '../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../fixtures/use-ledger.ts'

let children: Child[]

useSqliteLedger(sqlitePlace)
beforeEach(() => {
  children = []
})
afterEach(async () => {
  for (const child of children) await child.kill()
})

function count(sql: string): number {
  const db = new DatabaseSync(sqlite.path, { readOnly: true })
  const { n } = db.prepare(sql).get() as { n: number }
  db.close()
  return n
}

const recorded = () => count('SELECT count(*) AS n FROM instruction')
const drafted = () =>
  count("SELECT count(*) AS n FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE b.stage = 'draft'")

/** Its draft has begun to stand in the file, and is not visible yet. */
async function startRecording(rows: number): Promise<Child> {
  const submitter = startChild('child-submitter.ts', sqlite.dir, String(accountId), String(rows), 'K')
  children.push(submitter)
  await submitter.said(/^recording/)
  while (drafted() === 0 && !submitter.over) await turn()
  return submitter
}

test('a submit killed while it records holds up no message that has one of its references', async () => {
  const submitter = await startRecording(20_000)
  await submitter.kill()
  expect(submitter.lines).toEqual(['recording'])
  expect(recorded()).toBeGreaterThan(0)
  expect(await ledger.recordMessage(messageOf(accountId, refund('K-0')))).toMatchObject({
    kind: 'accepted',
    state: 'READY',
  })
  expect(recorded()).toBe(1)
})

test('a submit that is recording makes such a message wait, and the message is then its duplicate', async () => {
  const submitter = await startRecording(6_000)
  const answer = await ledger.recordMessage(messageOf(accountId, refund('K-0')))
  const batchId = (await submitter.said(/^recorded/))?.split(' ')[1]
  expect(answer).toEqual({ kind: 'duplicate', batchId, rowNo: 1, state: 'READY', recordedAtMs: expect.any(Number) })
})
