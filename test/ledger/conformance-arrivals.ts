// What arrives by two doors at once: a file between its review and its recording, messages beside a cancel.

import { describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import {
  CLERK,
  claim,
  claimNamed,
  DAY_MS,
  dueIn,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  review,
  rowsIn,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../fixtures/use-ledger.ts'

export function describeArrivals(): void {
  async function taken(reference: string, over: Parameters<typeof refund>[1] = {}, nowMs = NOW) {
    const answer = await place.open().recordMessage(messageOf(accountId, refund(reference, over), { nowMs }))
    if (answer.kind === 'refused') throw new Error(answer.reason)
    return answer
  }

  describe('a file whose review is over and that is not recorded yet', () => {
    const ROWS = Array.from({ length: 600 }, (_, i) => refund(`R-${i}`)) // more than are copied at a time
    const last = ROWS[599] as (typeof ROWS)[number]
    const reviewed = () => review(ledger, headerOf(accountId), ROWS)

    /** Nothing of the file is there, and it can be submitted once more. */
    async function expectOnly(message: BatchId): Promise<void> {
      expect((await ledger.batches()).map((batch) => batch.batchId)).toEqual([message])
      expect(await dueIn(ledger, message)).toHaveLength(1)
      expect(await ledger.history('R-0')).toEqual([])
      expect(await ledger.findUnfinished({ accountId, fileSha256: 'aa'.repeat(32), runKey: null })).toBeNull()
    }

    test('is refused, and nothing of it is visible, once a message has come that looks like one of its rows', async () => {
      const { draft } = await reviewed()
      const { batchId } = await taken('other', { orderId: last.orderId })
      await expect(draft.record(CLERK)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('Nothing was recorded and nothing was sent. Run it again'),
      })
      await expectOnly(batchId)
      const again = await reviewed()
      expect(again.review.lookalikes).toBe(1) // now somebody is asked
      await again.draft.discard()
    })

    test('is refused once a sale has come as a message that looks like one of its sales', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [sale('S-1', '501')])
      await place.open().recordMessage(messageOf(accountId, sale('other', '501')))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('is refused, and nothing of it is visible, once a message has taken one of its references', async () => {
      const { draft } = await reviewed()
      const { batchId } = await taken(last.reference)
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      await expectOnly(batchId)
      const again = await reviewed()
      expect(again.review).toMatchObject({ accepted: 599, duplicate: 1 })
      await again.draft.discard()
    })

    test('is recorded where a message came that repeats or resembles nothing of it', async () => {
      const { draft } = await reviewed()
      await taken('other', { orderId: last.orderId, amountMinor: 5_000n }) // more than the file refunds of that order
      const second = await openAccount(ledger, 'second')
      await place.open().recordMessage(messageOf(second, last))
      const batchId = await draft.record(CLERK)
      expect((await ledger.batch(batchId))?.counts).toEqual({ READY: 600 })
    })
  })

  describe('messages of a day whose batch was cancelled', () => {
    test('go into a new batch of that day and are due; those before them stay cancelled', async () => {
      const { batchId: first } = await taken('A')
      await ledger.cancel(first, 'wrong price list', CLERK, NOW)
      const b = await taken('B', {}, NOW + 1)
      const c = await taken('C', {}, NOW + 2)
      expect([b.batchId === first, c.batchId, c.rowNo]).toEqual([false, b.batchId, 2])
      expect((await dueIn(ledger, b.batchId, NOW + 2)).map((row) => row.instruction.reference)).toEqual(['B', 'C'])
      expect(await ledger.finishCancelling(NOW + 3)).toBe(0)
      expect([await statesIn(ledger, first), await statesIn(ledger, b.batchId)]).toEqual([
        ['CANCELLED'],
        ['READY', 'READY'],
      ])
      expect(await taken('A', {}, NOW + 4)).toMatchObject({ kind: 'duplicate', batchId: first, state: 'CANCELLED' })
    })

    test('may be cancelled as often as there is reason', async () => {
      const batches: BatchId[] = []
      for (const reference of ['A', 'B', 'C']) {
        const { batchId } = await taken(reference)
        batches.push(batchId)
        await ledger.cancel(batchId, 'no', CLERK, NOW)
      }
      expect(new Set(batches).size).toBe(3)
    })
  })

  describe('a row that waits for one of another batch', () => {
    const later = { orderId: '5', amountMinor: 2n }

    test('is told apart from one that can move', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '5' })])
      const second = await submit(ledger, accountId, [refund('B', later)])
      expect([await ledger.waitsFor(first, NOW), await ledger.waitsFor(second, NOW)]).toEqual([null, first])
      const third = await submit(ledger, accountId, [refund('C', { ...later, amountMinor: 3n }), refund('D')])
      expect(await ledger.waitsFor(third, NOW)).toBeNull() // D can
      await ledger.cancel(first, 'no', CLERK, NOW)
      expect(await ledger.waitsFor(second, NOW)).toBeNull()
    })

    test('is no business of a row that waits for one of its own batch, or is due later', async () => {
      const own = await submit(ledger, accountId, [refund('A', { orderId: '5' }), refund('B', later)])
      expect(await ledger.waitsFor(own, NOW)).toBeNull()
      const timed = await submit(ledger, accountId, [
        refund('C', { orderId: '5', amountMinor: 3n, executeAtMs: NOW + DAY_MS }),
      ])
      expect(await ledger.waitsFor(timed, NOW)).toBeNull()
      expect(await ledger.waitsFor(timed, NOW + DAY_MS)).toBe(own)
    })
  })

  test('a wait that the gateway asked for holds every batch of its account, for whoever works, until its end or a resume', async () => {
    const first = await submit(ledger, accountId, [refund('A')])
    const second = await submit(ledger, accountId, [refund('B')])
    const others = await openAccount(ledger, 'second')
    const elsewhere = await submit(ledger, others, [refund('C')])
    const untilMs = NOW + 3_600_000
    await work(ledger, first, 'A', 'READY', { httpStatus: 429, askedToWaitUntilMs: untilMs })
    const workableAt = async (nowMs: number) =>
      (await place.open().workable(nowMs, 10)).map((batch) => batch.batchId).toSorted()
    expect(await workableAt(untilMs - 1)).toEqual([elsewhere])
    expect(await workableAt(untilMs)).toEqual([first, second, elsewhere].toSorted())
    expect((await ledger.batch(second))?.accountWaitsUntilMs).toBe(untilMs)
    await ledger.resume(first, 'the gateway says go on', CLERK, NOW + 1)
    expect(await workableAt(NOW + 1)).toEqual([first, second, elsewhere].toSorted())
    expect(await rowsIn(ledger, first)).toMatchObject([{ state: 'READY', attempts: 1 }])
  })

  test('an account that is stopped in the same breath as its row is settled lets nobody claim that row in between', async () => {
    const batchId = await submit(ledger, accountId, [refund('A')])
    const row = await claimNamed(ledger, batchId, 'A')
    const [, , competing] = await Promise.all([
      ledger.stopAccount(accountId, 'wrong password', NOW),
      settle(ledger, row, 'READY', { httpStatus: 401 }),
      claim(ledger, row), // right behind the settlement, in the same commit
    ])
    expect(competing).toEqual({ kind: 'not-free' })
    expect(await statesIn(ledger, batchId)).toEqual(['READY'])
  })
}
