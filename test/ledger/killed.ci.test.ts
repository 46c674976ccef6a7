// Processes killed at any moment: what was about to be sent is in doubt, what was not recorded whole is not there.

import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Child, startChild } from '../fixtures/children.ts'
import { CLERK, headerOf, messageOf, refund, reviewOnly, rowsIn, sqlitePlace, submit } from '../fixtures/ledgers.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../fixtures/use-ledger.ts'

const ROUNDS = 30

let children: Child[]

useSqliteLedger(sqlitePlace)
beforeEach(() => {
  children = []
})
afterEach(async () => {
  for (const child of children) await child.kill()
})

describe('a worker killed between claim and settlement', () => {
  async function statesOf(batchId: BatchId): Promise<Map<string | null, string>> {
    return new Map((await rowsIn(ledger, batchId)).map(({ reference, state }) => [reference, state]))
  }

  test('leaves what it may have sent in doubt, loses no row and never lets one be claimed again', async () => {
    const rows = Array.from({ length: 900 }, (_, i) => refund(`R-${i}`))
    const batchId = await submit(ledger, accountId, rows)
    const everClaimed = new Set<string>()
    let unanswered = 0

    for (let round = 0; round < ROUNDS; round++) {
      const worker = startChild('child-worker.ts', sqlite.dir, batchId, String(1 + (round % 6)))
      children.push(worker)
      const last = 1 + ((round * 7) % 23)
      await worker.said(/^claimed/)
      while (worker.lines.length < last && !worker.over) await turn()
      await worker.kill()

      const before = await statesOf(batchId)
      await ledger.sweep(Date.now())
      const after = await statesOf(batchId)
      const settled = new Set(linesOf(worker, 'settled'))
      for (const reference of linesOf(worker, 'claimed')) {
        expect(everClaimed.has(reference), `${reference} was claimed twice`).toBe(false)
        everClaimed.add(reference)
        if (settled.has(reference)) {
          expect(after.get(reference)).toBe('APPROVED')
          continue
        }
        // The answer may have been written in the instant before the kill, without being said.
        expect(['SENDING', 'APPROVED']).toContain(before.get(reference))
        expect(after.get(reference)).toBe(before.get(reference) === 'SENDING' ? 'IN_DOUBT' : 'APPROVED')
        unanswered += 1
      }
      expect(after.size).toBe(rows.length)
      expect([...after.values()].filter((state) => state === 'SENDING')).toEqual([])
      // Ten such ends hold the account until a person has looked.
      await ledger.resume(batchId, 'looked at the worker', CLERK, Date.now())
    }
    expect(unanswered).toBeGreaterThan(0)
    const { counts = {} } = (await ledger.batch(batchId)) ?? {}
    expect((counts.READY ?? 0) + (counts.APPROVED ?? 0) + (counts.IN_DOUBT ?? 0)).toBe(rows.length)
  }, 120_000)

  function linesOf({ lines }: Child, word: string): string[] {
    return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' ')[1] as string)
  }
})

describe('a submit killed while it records', () => {
  /** Kills it when its draft has begun to stand in the file but is not visible yet. */
  async function killedWhileRecording(word: string): Promise<Child> {
    const submitter = startChild('child-submitter.ts', sqlite.dir, String(accountId), '20000', word)
    children.push(submitter)
    await submitter.said(/^recording/)
    const db = new DatabaseSync(sqlite.path, { readOnly: true })
    const begun = db.prepare(
      "SELECT count(*) AS n FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE b.stage = 'draft'",
    )
    while (Number(begun.get()?.n) === 0 && !submitter.over) await turn()
    db.close()
    await submitter.kill()
    expect(submitter.lines).toEqual(['recording'])
    return submitter
  }

  const held = () => {
    const db = new DatabaseSync(sqlite.path, { readOnly: true })
    const { n } = db.prepare('SELECT count(*) AS n FROM instruction').get() as { n: number }
    db.close()
    return n
  }

  test('leaves nothing to see, and the next submit finds its references free', async () => {
    await killedWhileRecording('K')
    expect(held()).toBeGreaterThan(0)
    expect(await ledger.batches()).toEqual([])
    expect(await ledger.history('K-0')).toEqual([])
    expect(await ledger.findUnfinished(headerOf(accountId))).toBeNull()
    const { review } = await reviewOnly(ledger, headerOf(accountId), [
      refund('K-0', { amountMinor: 5n }),
      refund('K-1'),
    ])
    expect(review).toMatchObject({ accepted: 2, lookalikes: 0 })
    expect(held()).toBe(0)
  })

  test('does not hold up a message that has one of its references', async () => {
    await killedWhileRecording('K')
    expect(held()).toBeGreaterThan(0)
    expect(await ledger.recordMessage(messageOf(accountId, refund('K-0')))).toMatchObject({
      kind: 'accepted',
      state: 'READY',
    })
    expect(held()).toBe(1)
  })
})

describe('a submit that is recording', () => {
  test('makes a message with one of its references wait, and the message is then its duplicate', async () => {
    const submitter = startChild('child-submitter.ts', sqlite.dir, String(accountId), '6000', 'K')
    children.push(submitter)
    const db = new DatabaseSync(sqlite.path, { readOnly: true })
    const begun = db.prepare(
      "SELECT count(*) AS n FROM instruction i JOIN batch b ON b.id = i.batch_id WHERE b.stage = 'draft'",
    )
    while (Number(begun.get()?.n) === 0 && !submitter.over) await turn()
    db.close()
    const answer = await ledger.recordMessage(messageOf(accountId, refund('K-0')))
    const batchId = (await submitter.said(/^recorded/))?.split(' ')[1]
    expect(answer).toEqual({ kind: 'duplicate', batchId, rowNo: 1, state: 'READY' })
  })
})
