// What the moments of rows are judged by when they are handed in, and what is told of captures and refunds that come late.

import { describe, expect, test } from 'vitest'
import type { Instruction } from '../../../src/domain/instruction.ts'
import {
  DAY_MS,
  factsWith,
  headerOf,
  messageOf,
  NOW,
  refund,
  reviewOnly,
  rowsIn,
  sale,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const FAR = NOW + 401 * DAY_MS
const PAST = 'has already passed: the row would not be sent'

const checked = async (rows: readonly Instruction[], over: Parameters<typeof headerOf>[1] = {}) => {
  const header = headerOf(accountId, { fileSha256: 'dd'.repeat(32), ...over })
  return reviewOnly(ledger, header, rows)
}

export function describeDates(): void {
  describe('dates of a file', () => {
    test('a row that has expired already is a fault, and is recorded as INVALID where bad rows are left out', async () => {
      const rows = [refund('A', { expiresAtMs: NOW }), refund('B', { expiresAtMs: NOW + 1 })]
      const { faults } = await checked(rows)
      const value = '2026-05-04T09:00:00.000Z'
      expect(faults).toMatchObject([{ rowNo: 1, column: 'expires_at', value, problem: PAST }])
      const batchId = await submit(ledger, accountId, rows)
      expect(await rowsIn(ledger, batchId)).toMatchObject([
        { state: 'INVALID', reason: `expires_at: ${PAST}` },
        { state: 'READY' },
      ])
    })

    test('one that is recorded already is that row, however late it is handed in again', async () => {
      const row = refund('A', { expiresAtMs: NOW + 1, executeAtMs: NOW })
      await submit(ledger, accountId, [row])
      const { review } = await checked([row], { nowMs: NOW + 9 * DAY_MS })
      expect(review).toMatchObject({ duplicate: 1, invalid: 0, farDates: { rows: 0 } })
    })

    test('another expires_at under the same reference is other content', async () => {
      await submit(ledger, accountId, [refund('A', { expiresAtMs: NOW + DAY_MS })])
      const { faults } = await checked([refund('A', { expiresAtMs: NOW + 2 * DAY_MS })])
      expect(faults).toMatchObject([{ problem: expect.stringContaining('other content: expires_at not the same') }])
    })

    test('an execute_at of long ago or far ahead is counted, and the first one is named', async () => {
      const rows = [
        refund('A', { executeAtMs: NOW - DAY_MS }),
        refund('B', { executeAtMs: FAR }),
        refund('C', { executeAtMs: NOW - DAY_MS - 1 }),
      ]
      expect((await checked(rows)).review.farDates).toEqual({ rows: 2, first: { line: 3, executeAtMs: FAR } })
    })

    test('a batch of a service that waited in the queue is as old as its producer says', async () => {
      const rows = [refund('A', { executeAtMs: NOW, expiresAtMs: NOW + 1 })]
      const late = { nowMs: NOW + 9 * DAY_MS }
      const { review } = await checked(rows, { ...late, queued: { name: 'b', queuedAtMs: NOW } })
      expect(review).toMatchObject({ accepted: 1, farDates: { rows: 0 } })
      const { review: another } = await checked([refund('A', { executeAtMs: NOW })], late)
      expect(another.farDates.rows).toBe(1)
    })

    test('what runs again is not asked about once more', async () => {
      const row = refund('A', { executeAtMs: NOW })
      const batchId = await submit(ledger, accountId, [row])
      await work(ledger, batchId, 'A', 'FAILED')
      const again = await checked([row], { nowMs: NOW + 9 * DAY_MS, retry: ['FAILED'] })
      expect(again.review).toMatchObject({ accepted: 1, farDates: { rows: 0 } })
    })
  })

  describe('dates of a message', () => {
    test.each([
      ['of long ago', { executeAtMs: NOW - DAY_MS - 1 }, /^execute_at: .* more than a day ago/],
      ['far ahead', { executeAtMs: FAR }, /^execute_at: .* more than 400 days ahead/],
      ['that has expired', { expiresAtMs: NOW }, /^expires_at: has already passed/],
    ])('one %s is refused with its reason', async (_what, moments, reason) => {
      const message = messageOf(accountId, refund('M', moments))
      expect(await ledger.recordMessage(message)).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) })
      const waited = { ...message, queuedAtMs: NOW, nowMs: NOW + DAY_MS }
      expect((await ledger.recordMessage(waited)).kind).toBe('refused')
    })

    test('one that only waited in the queue is taken, and one that is recorded is that row', async () => {
      const instruction = refund('M', { executeAtMs: NOW, expiresAtMs: NOW + 30 * DAY_MS })
      const waited = messageOf(accountId, instruction, { queuedAtMs: NOW, nowMs: NOW + 9 * DAY_MS })
      expect((await ledger.recordMessage(waited)).kind).toBe('accepted')
      expect((await ledger.recordMessage({ ...waited, queuedAtMs: undefined })).kind).toBe('duplicate')
    })
  })

  describe('what comes late for its order', () => {
    const DAYS = { authorizationDays: 7, refundDays: 30 }
    const money = { amountMinor: 10_000n, currency: refund('X').money!.currency }

    async function approved(operation: 'AUTH' | 'CAPTURE', orderId: string): Promise<void> {
      const reference = `${operation}-${orderId}`
      const batchId = await submit(ledger, accountId, [sale(reference, orderId, { operation, money })])
      await work(ledger, batchId, reference, 'APPROVED', { facts: factsWith(orderId, { orderId }) })
    }

    const capture = (over: Partial<Instruction> = {}) =>
      refund('C', { operation: 'CAUTH', orderId: '777', xtlOrderId: 'C', amountMinor: 1n, ...over })
    const lateIn = async (row: Instruction, days: number, over = {}) =>
      (await checked([row], { nowMs: NOW + days * DAY_MS, ...DAYS, ...over })).review.late

    test('is a capture after the days of its authorization, by when it would leave', async () => {
      await approved('AUTH', '777')
      expect(await lateIn(capture(), 6)).toMatchObject({ captures: { rows: 0, days: 7 } })
      expect(await lateIn(capture(), 8)).toMatchObject({ captures: { rows: 1, days: 7 }, refunds: { rows: 0 } })
      expect(await lateIn(capture({ executeAtMs: NOW + 8 * DAY_MS }), 6)).toMatchObject({ captures: { rows: 1 } })
      expect(await lateIn(capture(), 8, { authorizationDays: 9 })).toMatchObject({ captures: { rows: 0 } })
    })

    test('is a refund of an old sale, where the merchant says what is old', async () => {
      await approved('CAPTURE', '778')
      const row = refund('R', { orderId: '778', amountMinor: 1n })
      expect(await lateIn(row, 29)).toMatchObject({ refunds: { rows: 0 } })
      expect(await lateIn(row, 31)).toMatchObject({ refunds: { rows: 1, days: 30 }, captures: { rows: 0 } })
      expect(await lateIn(row, 31, { refundDays: null })).toMatchObject({ refunds: { rows: 0, days: null } })
    })

    test('is none of what the record does not know', async () => {
      expect(await lateIn(capture(), 100)).toMatchObject({ captures: { rows: 0 } })
    })
  })
}
