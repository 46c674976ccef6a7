// Batches that other services name, and those of an hour: which batch takes a message, and which takes none any more.

import { describe, expect, test } from 'vitest'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import {
  CLERK,
  DAY_MS,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  review,
  rowsIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

export function describeNamed(): void {
  const take = (reference: string, into: IntakeMessage['into'], over: Partial<IntakeMessage> = {}) =>
    ledger.recordMessage(messageOf(accountId, refund(reference), { into, ...over }))
  async function batchOf(reference: string, into: IntakeMessage['into'], over: Partial<IntakeMessage> = {}) {
    const answer = await take(reference, into, over)
    if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
    return answer.batchId
  }
  const HOUR_MS = 3_600_000
  const whole = (name: string, fileSha256 = 'a'.repeat(64)) =>
    headerOf(accountId, { fileName: name, queued: { name }, fileSha256 })

  describe('recordMessage: a batch', () => {
    test('of an hour takes what comes in that hour, beside that of the day', async () => {
      const hour = NOW - (NOW % HOUR_MS)
      const first = await batchOf('A', 'hour', { nowMs: hour })
      expect(await batchOf('B', 'hour', { nowMs: hour + HOUR_MS - 1 })).toBe(first)
      expect(await batchOf('C', 'hour', { nowMs: hour + HOUR_MS })).not.toBe(first)
      expect(await batchOf('D', 'day', { nowMs: hour })).not.toBe(first)
    })

    test('that is named takes its messages on any day, and is one for each account and name', async () => {
      const name = { name: 'payroll_1' }
      const first = await batchOf('A', name)
      expect(await batchOf('B', name, { nowMs: NOW + 40 * DAY_MS })).toBe(first)
      expect(await batchOf('C', { name: 'payrollX1' })).not.toBe(first)
      expect(await batchOf('D', 'day')).not.toBe(first)
      const other = await openAccount(ledger, 'other')
      const answer = await ledger.recordMessage(messageOf(other, refund('E'), { into: name }))
      expect(answer).toMatchObject({ kind: 'accepted' })
      expect(answer).not.toMatchObject({ batchId: first })
      expect(await ledger.batch(first)).toMatchObject({ source: 'queue', fileName: 'payroll_1', rows: 2 })
      expect(await ledger.namedBatch(accountId, 'payroll_1')).toMatchObject({
        batchId: first,
        rows: 2,
        contentSha256: null,
      })
    })

    test('that is named and was cancelled takes no more, and no second one begins under its name', async () => {
      const first = await batchOf('A', { name: 'n' })
      await ledger.cancel(first, 'wrong', CLERK, NOW)
      expect(await take('B', { name: 'n' })).toMatchObject({ kind: 'refused', reason: expect.stringContaining(first) })
      expect(await take('A', { name: 'n' })).toMatchObject({ kind: 'duplicate', batchId: first })
      expect(await ledger.batches()).toHaveLength(1)
    })

    test('that is named can be purged once it is over, and takes no more then', async () => {
      const first = await batchOf('A', { name: 'n' })
      await work(ledger, first, 'A', 'APPROVED')
      const beforeMs = NOW + 9 * DAY_MS
      const request = { beforeMs, nowMs: beforeMs, actor: CLERK, reason: 'old', categoryOf: () => 'other' as const }
      let purged = 0
      for await (const step of ledger.purge(request)) purged += step.rows
      expect(purged).toBe(1)
      expect(await take('B', { name: 'n' })).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/purged/) })
      expect(await take('A', { name: 'n' })).toMatchObject({ kind: 'duplicate' })
    })

    test('that was handed in whole is known by its name and content, and takes no message', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')], whole('n'))
      expect(await place.open().namedBatch(accountId, 'n')).toEqual({
        ...{ batchId, rows: 2, contentSha256: 'a'.repeat(64), recordedAtMs: NOW },
      })
      expect(await take('C', { name: 'n' })).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining('as a whole'),
      })
      expect(await ledger.batch(batchId)).toMatchObject({ source: 'queue', rows: 2, counts: { READY: 2 } })
      expect(await rowsIn(ledger, batchId)).toHaveLength(2)
    })

    test('whose name a message took before it was recorded is not recorded, and nothing of it is left', async () => {
      const { draft } = await review(ledger, whole('n'), [refund('A'), refund('B')])
      const first = await batchOf('C', { name: 'n' })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      expect((await ledger.batches()).map(({ batchId }) => batchId)).toEqual([first])
      expect(await take('A', 'day')).toMatchObject({ kind: 'accepted' })
    })

    test('tells how many of its rows were recorded before, and since when', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B')])
      expect(await ledger.duplicatesIn(first)).toEqual({ rows: 0, firstAtMs: null })
      const again = [refund('A'), refund('B'), refund('C')]
      const batchId = await submit(ledger, accountId, again, { ...whole('n'), nowMs: NOW + DAY_MS })
      expect(await ledger.duplicatesIn(batchId)).toEqual({ rows: 2, firstAtMs: NOW })
    })

    test('that is a draft is not there yet', async () => {
      const { draft } = await review(ledger, whole('n'), [refund('A')])
      expect(await ledger.namedBatch(accountId, 'n')).toBeNull()
      const batchId: BatchId = await draft.record(CLERK)
      expect(await ledger.namedBatch(accountId, 'n')).toMatchObject({ batchId })
    })
  })
}
