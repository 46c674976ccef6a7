// Rows that are too late: cancelled by the claim that comes to them, or without one where nothing is claimed. Never sent.

import { describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import {
  CLERK,
  claim,
  DAY_MS,
  dueRow,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  refund,
  rowOf,
  rowsIn,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const EXPIRES = NOW + 60_000
const REASON = 'expired at 2026-05-04T09:01:00.000Z: not sent'
const NOT_FREE = { kind: 'not-free' }

const late = (reference: string, over: Parameters<typeof refund>[1] = {}) =>
  refund(reference, { expiresAtMs: EXPIRES, ...over })

const FOUR_EYES = {
  rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
  expireAfterMs: 7 * DAY_MS,
  osUsers: true,
}

/** What keeps a row from being claimed. */
const KEPT: Readonly<Record<string, (batchId: BatchId) => Promise<unknown>>> = {
  'its batch is paused': (batchId) => ledger.pause(batchId, 'lunch', CLERK, NOW),
  'its account is stopped': () => ledger.stopAccount(accountId, 'no such user', NOW),
  'nobody claims it': async () => {},
}

export function describeExpiryAtClaim(): void {
  describe('expires_at: a row', () => {
    test('is claimed before it, and no more from then on: the claim cancels it', async () => {
      const batchId = await submit(ledger, accountId, [late('A'), late('B')])
      const [a, b] = [await dueRow(ledger, batchId, 'A'), await dueRow(ledger, batchId, 'B')]
      expect(await claim(ledger, a, EXPIRES - 1)).toEqual({ kind: 'claimed', attempt: 1 })
      expect(await claim(ledger, b, EXPIRES)).toEqual(NOT_FREE)
      expect(await rowsIn(ledger, batchId)).toMatchObject([
        { state: 'SENDING' },
        { state: 'CANCELLED', reason: REASON, completedAtMs: EXPIRES, warning: null },
      ])
      const cancelled = { from: 'READY', to: 'CANCELLED', cause: 'expiry', reason: REASON, attempt: 0 }
      expect((await ledger.history('B')).at(-1)).toMatchObject(cancelled)
      expect((await ledger.batch(batchId))?.counts).toEqual({ SENDING: 1, CANCELLED: 1 })
    })

    test('is not claimed after it, whatever whoever claims it knows', async () => {
      const batchId = await submit(ledger, accountId, [late('A')])
      const { rowId, attempt } = await dueRow(ledger, batchId, 'A')
      expect(await claim(ledger, { rowId, attempt }, EXPIRES)).toEqual(NOT_FREE)
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
    })
  })
}

export function describeExpiry(): void {
  describe('expires_at: a row', () => {
    test.each(Object.keys(KEPT))('is cancelled without a claim where %s', async (why) => {
      const batchId = await submit(ledger, accountId, [late('A'), refund('B'), late('C', { expiresAtMs: EXPIRES + 1 })])
      await KEPT[why]?.(batchId)
      expect(await ledger.cancelExpired(EXPIRES - 1)).toBe(0)
      expect(await ledger.cancelExpired(EXPIRES)).toBe(1)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED', 'READY', 'READY'])
      expect((await rowsIn(ledger, batchId))[0]).toMatchObject({ reason: REASON, completedAtMs: EXPIRES })
      expect((await ledger.batch(batchId))?.counts).toEqual({ CANCELLED: 1, READY: 2 })
    })

    test('is cancelled where its batch waits for approval, and the batch is done once all of it is', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [late('A')])
      expect(await ledger.cancelExpired(EXPIRES)).toBe(1)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED'])
    })

    test('of a file that is not recorded yet is left alone', async () => {
      const draft = await ledger.openDraft({ ...headerOf(accountId), fileSha256: 'bb' })
      await draft.add([rowOf(1, late('A'))])
      expect(await ledger.cancelExpired(EXPIRES)).toBe(0)
      await draft.discard()
    })

    test('among thousands is cancelled with all of them', async () => {
      const rows = Array.from({ length: 1_203 }, (_, i) => late(`R-${i}`))
      const batchId = await submit(ledger, accountId, rows)
      expect(await ledger.cancelExpired(EXPIRES)).toBe(1_203)
      expect((await ledger.batch(batchId))?.counts).toEqual({ CANCELLED: 1_203 })
    })

    test('that is being sent, or in doubt, is left alone', async () => {
      const batchId = await submit(ledger, accountId, [late('A'), late('B')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      await claim(ledger, await dueRow(ledger, batchId, 'B'))
      expect(await ledger.cancelExpired(EXPIRES)).toBe(0)
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'SENDING'])
    })

    test('that was not sent after all is cancelled, as is one in doubt that is to be sent again', async () => {
      const batchId = await submit(ledger, accountId, [late('A'), late('B')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      const sendAgain = findingOn('A', { finding: 'send-again' })
      expect(await ledger.resolve(sendAgain, CLERK, EXPIRES)).toMatchObject({ kind: 'refused', why: 'expired' })
      expect(await ledger.resolve(sendAgain, CLERK, EXPIRES - 1)).toMatchObject({ kind: 'resolved' })
      const a = await dueRow(ledger, batchId, 'A', EXPIRES)
      expect(await claim(ledger, a, EXPIRES)).toEqual(NOT_FREE)
      await work(ledger, batchId, 'B', 'READY')
      expect(await ledger.cancelExpired(EXPIRES)).toBe(1)
      const [first, second] = await rowsIn(ledger, batchId)
      expect(first).toMatchObject({
        state: 'CANCELLED',
        reason: REASON,
        warning: 'it was in doubt before: see its history',
      })
      expect(second).toMatchObject({ state: 'CANCELLED', reason: REASON, warning: null })
    })

    test('is told until somebody resumes its batch, or hands it in again', async () => {
      const expired = async (batchId: BatchId) => (await ledger.batch(batchId))?.expired
      const batchId = await submit(ledger, accountId, [late('A'), late('B'), refund('C')])
      await ledger.cancelExpired(EXPIRES - 1)
      expect(await expired(batchId)).toBe(0)
      await ledger.cancelRow({ batchId, rowNo: 2 }, 'not wanted', CLERK, EXPIRES)
      await ledger.cancelExpired(EXPIRES)
      expect(await expired(batchId)).toBe(1)
      await ledger.resume(batchId, 'it was meant', CLERK, EXPIRES - 1)
      expect(await expired(batchId)).toBe(1)
      await ledger.resume(batchId, 'it was meant', CLERK, EXPIRES)
      expect(await expired(batchId)).toBe(0)
    })

    test('frees its order for the next one', async () => {
      const order = { orderId: '777' }
      const batchId = await submit(ledger, accountId, [late('A', order), refund('B', { ...order, amountMinor: 1n })])
      await ledger.cancelExpired(EXPIRES)
      expect((await claim(ledger, await dueRow(ledger, batchId, 'B', EXPIRES), EXPIRES)).kind).toBe('claimed')
    })

    test('of a canary ends it, as the last of the first rows', async () => {
      const batchId = await submit(ledger, accountId, [late('A'), refund('B')], { canaryRows: 1 })
      expect(await ledger.cancelExpired(EXPIRES)).toBe(1)
      expect(await ledger.batch(batchId)).toMatchObject({
        hold: 'paused',
        holdReason: expect.stringContaining('canary'),
      })
    })

    test('is recorded and then cancelled where its message waited in the queue for too long', async () => {
      const answer = await ledger.recordMessage(
        messageOf(accountId, late('M'), { queuedAtMs: NOW, nowMs: EXPIRES + 1 }),
      )
      expect(answer).toMatchObject({ kind: 'accepted', state: 'READY' })
      expect(await ledger.cancelExpired(EXPIRES + 1)).toBe(1)
    })
  })

  describe('a limit of the whole file', () => {
    const AFTER = { expiresAfterMs: 60_000 }

    test('counts from when it was handed in, or from the execute_at of the row; its own expires_at goes before', async () => {
      const due = NOW + 3_600_000
      const own = refund('C', { expiresAtMs: NOW + 120_000 })
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B', { executeAtMs: due }), own], AFTER)
      const states = async (nowMs: number) => {
        await ledger.cancelExpired(nowMs)
        return statesIn(ledger, batchId)
      }
      expect(await states(NOW + 59_999)).toEqual(['READY', 'READY', 'READY'])
      expect(await states(NOW + 60_000)).toEqual(['CANCELLED', 'READY', 'READY'])
      expect(await states(NOW + 120_000)).toEqual(['CANCELLED', 'READY', 'CANCELLED'])
      expect(await states(due + 60_000)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED'])
    })

    test('is no content: the same file later is the same instructions', async () => {
      await submit(ledger, accountId, [refund('A')], AFTER)
      const later = { ...AFTER, nowMs: NOW + 10_000, fileSha256: 'cc'.repeat(32) }
      const batchId = await submit(ledger, accountId, [refund('A')], later)
      expect(await statesIn(ledger, batchId)).toEqual(['DUPLICATE'])
    })

    test('that the batch was not recorded with is told from one that it was', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')], AFTER)
      const none = { canaryRows: null, maxDeclinedPercent: null }
      expect(await ledger.otherBrakes(batchId, { ...none, ...AFTER })).toEqual([])
      expect(await ledger.otherBrakes(batchId, none)).toEqual([])
      expect(await ledger.otherBrakes(batchId, { ...none, expiresAfterMs: 30_000 })).toEqual(['expires-after'])
    })
  })
}
