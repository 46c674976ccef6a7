// Messages that were in the queue before an older state of the ledger was adopted: the lost state may have taken and sent them.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { MAYBE_EXECUTED } from '../../../src/domain/message.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import { CLERK, claimNamed, findingOn, messageOf, NOW, refund, statesIn, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

export function describeQueuedBefore(): void {
  const MINUTE_MS = 60_000
  const RESTORED = NOW + 10 * MINUTE_MS
  const LATER = RESTORED + 5 * MINUTE_MS
  const restore = () => ledger.adopt('restored', 'disk failed', CLERK, RESTORED)
  const take = (instruction: Instruction, over: Partial<IntakeMessage> = {}) =>
    ledger.recordMessage(messageOf(accountId, instruction, { nowMs: LATER, ...over }))
  const orderId = '7000001'

  describe('a message that was queued before an older state was adopted', () => {
    test('comes into doubt, is sent by nobody, and a person finds it among the doubts', async () => {
      await restore()
      const taken = await take(refund('A'), { queuedAtMs: NOW })
      expect(taken).toMatchObject({ kind: 'accepted', state: 'IN_DOUBT' })
      if (taken.kind !== 'accepted') return
      expect(await ledger.workable(LATER, 10)).toEqual([])
      const [doubt, ...others] = await ledger.doubts()
      expect(others).toEqual([])
      expect(doubt).toMatchObject({ attempt: 0, claimedAtMs: null, instruction: { reference: 'A' } })
      expect(doubt?.reason).toMatch(
        /^it may have been queued before an older state .*; the state that was lost may have executed it$/,
      )
      expect((await ledger.batch(taken.batchId))?.counts).toEqual({ IN_DOUBT: 1 })
      expect((await ledger.history('A')).at(-1)).toMatchObject({ cause: 'restore', to: 'IN_DOUBT' })
      expect(await take(refund('A'), { queuedAtMs: NOW })).toMatchObject({ kind: 'duplicate', state: 'IN_DOUBT' })
    })

    test('is sent once a person has looked it up and orders it', async () => {
      await restore()
      const taken = await take(refund('A'), { queuedAtMs: NOW })
      if (taken.kind !== 'accepted') throw new Error('not taken')
      await ledger.resolve(findingOn('A', { finding: 'send-again' }), CLERK, LATER)
      await claimNamed(ledger, taken.batchId, 'A', LATER)
      expect(await statesIn(ledger, taken.batchId)).toEqual(['SENDING'])
    })

    test.each([
      ['at the epoch', 0],
      ['a moment before', RESTORED - 1],
      ['a minute after it, by a clock that may be ahead', RESTORED + MINUTE_MS],
    ])('comes into doubt where it was stamped %s', async (_, queuedAtMs) => {
      await restore()
      expect(await take(refund('A'), { queuedAtMs })).toMatchObject({ state: 'IN_DOUBT' })
    })

    test('may be one that is stamped in the future: it comes into doubt, which says so', async () => {
      await restore()
      expect(await take(refund('A'), { queuedAtMs: LATER + MINUTE_MS + 1 })).toMatchObject({ state: 'IN_DOUBT' })
      expect((await ledger.doubts())[0]?.reason).toMatch(
        /^the clock of its producer is ahead, so it may have been queued/,
      )
    })

    test('comes into doubt where its time is still to come: the lost state may have cancelled it', async () => {
      await restore()
      const toCome = refund('A', { executeAtMs: LATER + 60 * MINUTE_MS })
      expect(await take(toCome, { queuedAtMs: NOW })).toMatchObject({ state: 'IN_DOUBT' })
    })

    test('comes into doubt where it looks like another one, and the doubt says which', async () => {
      await ledger.recordMessage(messageOf(accountId, refund('A', { orderId })))
      await restore()
      expect(await take(refund('B', { orderId }), { queuedAtMs: NOW })).toMatchObject({ state: 'IN_DOUBT' })
      expect((await ledger.doubts()).at(-1)?.reason).toMatch(
        /the state that was lost may have executed it; it looks like A \(row 1 of/,
      )
      expect(await take(refund('C', { orderId }), { queuedAtMs: LATER })).toMatchObject({ kind: 'refused' })
    })

    test('is refused where it cannot be recorded, and its producer is told that it may have been executed', async () => {
      await restore()
      await ledger.recordMessage(messageOf(accountId, refund('A')))
      const changed = refund('A', { amountMinor: 1n })
      const hand = (sourceId: string, queuedAtMs: number) =>
        take(changed, {
          queuedAtMs,
          ifRefused: { sourceId, accountName: 'default', text: '{}', cards: null, queuedAtMs },
        })
      const refused = await hand('queue/1', NOW)
      expect(refused).toMatchObject({ kind: 'refused', reason: expect.stringContaining(MAYBE_EXECUTED) })
      expect(await hand('queue/1', NOW)).toEqual(refused)
      expect(await hand('queue/2', LATER)).toMatchObject({ reason: expect.not.stringContaining(MAYBE_EXECUTED) })
    })

    test('says once that it may have been executed, whatever it is refused for', async () => {
      await restore()
      const refusal = { sourceId: 'queue/1', accountName: 'default', text: '{}', cards: null, nowMs: LATER }
      const told = await ledger.recordRefusal({ ...refusal, queuedAtMs: NOW, reasons: ['amount: is missing'] })
      const { reasons } = told
      expect(reasons).toEqual(['amount: is missing', MAYBE_EXECUTED])
      expect(await ledger.recordRefusal({ ...refusal, queuedAtMs: NOW, reasons })).toEqual(told)
      expect(await ledger.refusedBefore('queue/1')).toEqual(reasons)
      expect(await ledger.recordRefusal({ ...refusal, sourceId: 'queue/2', reasons: ['x'] })).toEqual({
        reasons: ['x'],
      })
    })
  })

  test.each([
    ['was queued more than a minute after an older state was adopted', { queuedAtMs: RESTORED + MINUTE_MS + 1 }],
    ['came by no queue', {}],
  ])('a message that %s is ready', async (_, over) => {
    await restore()
    expect(await take(refund('A'), over)).toMatchObject({ state: 'READY' })
  })

  test('where no older state was adopted, a message is ready however long it was queued', async () => {
    expect(await take(refund('A'), { queuedAtMs: 0 })).toMatchObject({ state: 'READY' })
  })

  test('a batch that was queued before an older state was adopted comes into doubt whole; a file does not', async () => {
    await restore()
    const queued: Partial<DraftHeader> = { queued: { name: 'n', queuedAtMs: NOW }, nowMs: LATER }
    const rows = [refund('B'), refund('C', { executeAtMs: LATER + 60 * MINUTE_MS })]
    const batchId = await submit(ledger, accountId, rows, queued)
    expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'IN_DOUBT'])
    expect((await ledger.batch(batchId))?.counts).toEqual({ IN_DOUBT: 2 })
    const file = await submit(ledger, accountId, [refund('D')], { nowMs: LATER })
    expect(await statesIn(ledger, file)).toEqual(['READY'])
  })
}
