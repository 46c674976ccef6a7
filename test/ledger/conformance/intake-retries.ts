// Results fed back: what may run again, how often, and as what.

import { describe, expect, test } from 'vitest'
import type { DraftRow, RetryStatus } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Operation } from '../../../src/domain/instruction.ts'
import {
  CLERK,
  claim,
  DAY_MS,
  dueIn,
  dueRow,
  EUR,
  factsWith,
  faultyRow,
  headerOf,
  NOW,
  openAccount,
  refund,
  review,
  rowIn,
  rowOf,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'
import { check } from './given.ts'

export function describeRetries(): void {
  describe('results fed back', () => {
    /** One row of each ending: `ok` APPROVED, `no` FAILED, `off` CANCELLED, `bad` INVALID, `odd` DECLINED. */
    async function finished(): Promise<BatchId> {
      const batchId = await submit(ledger, accountId, [
        rowOf(1, refund('ok')),
        rowOf(2, refund('no')),
        rowOf(3, refund('off')),
        faultyRow(4, 'bad'),
        rowOf(5, refund('odd')),
      ])
      await work(ledger, batchId, 'ok', 'APPROVED')
      await work(ledger, batchId, 'no', 'FAILED')
      await work(ledger, batchId, 'odd', 'DECLINED')
      await ledger.cancel(batchId, 'enough', CLERK, NOW)
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'FAILED', 'CANCELLED', 'INVALID', 'DECLINED'])
      return batchId
    }

    const from = (batchId: string, mendBad = false): DraftRow[] => [
      rowOf(1, refund('ok'), { cameFrom: { batchId, rowNo: 1 } }),
      rowOf(2, refund('no'), { cameFrom: { batchId, rowNo: 2 } }),
      rowOf(3, refund('off'), { cameFrom: { batchId, rowNo: 3 } }),
      mendBad
        ? rowOf(4, refund('bad'), { cameFrom: { batchId, rowNo: 4 } })
        : faultyRow(4, 'bad', { cameFrom: { batchId, rowNo: 4 } }),
      rowOf(5, refund('odd'), { cameFrom: { batchId, rowNo: 5 } }),
    ]
    const fed = (...retry: RetryStatus[]) => ({ fedBack: true, retry })

    test('send nothing, whatever stands in them', async () => {
      const batchId = await finished()
      for (const mended of [false, true]) {
        const { review: reviewed, faults } = await check(from(batchId, mended), fed())
        expect(faults).toEqual([])
        expect(reviewed).toMatchObject({ rows: 5, accepted: 0, duplicate: 5, invalid: 0 })
      }
    })

    test('with --retry failed run the failed row as the next attempt; the old row stays', async () => {
      const first = await finished()
      const before = await rowIn(ledger, first, 'no')
      const second = await submit(ledger, accountId, from(first), fed('FAILED'))
      expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE', 'DUPLICATE', 'DUPLICATE'])
      const due = await dueRow(ledger, second, 'no')
      expect(due).toMatchObject({ attempt: 1, instruction: refund('no') })
      expect(await claim(ledger, due)).toEqual({ kind: 'claimed', attempt: 2 })
      const warning = `it was submitted again as row 2 of batch ${second}: PENDING`
      expect(await rowIn(ledger, first, 'no')).toEqual({ ...before, submittedAgain: 'SENDING', warning })
      // The reference is the new row's now: a repeat meets the row that is being sent.
      const third = await submit(ledger, accountId, [refund('no')])
      expect((await ledger.batch(third))?.duplicateOf).toEqual({ SENDING: 1 })
    })

    test('with --retry cancelled run the cancelled row', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('CANCELLED'))
      expect((await dueIn(ledger, second)).map((row) => [row.instruction.reference, row.attempt])).toEqual([['off', 0]])
    })

    test('never run a row twice, however often they are fed', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('FAILED', 'CANCELLED'))
      await work(ledger, second, 'no', 'APPROVED')
      const { review: reviewed } = await check(from(first), fed('FAILED', 'CANCELLED'))
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 5 })
    })

    test('with --retry invalid run the row that was mended, once', async () => {
      const first = await finished()
      const mended = from(first, true)
      expect((await check(mended, fed('INVALID'))).review).toMatchObject({ accepted: 1, duplicate: 4, invalid: 0 })
      const second = await submit(ledger, accountId, mended, fed('INVALID'))
      expect((await dueIn(ledger, second)).map((row) => row.instruction.reference)).toEqual(['bad'])
      expect((await check(mended, fed('INVALID'))).review).toMatchObject({ accepted: 0, duplicate: 5 })
    })

    test('that are fed back in turn still know the row that was never good', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed())
      const lines = (mended: boolean) => from(second, mended)
      expect((await check(lines(true), fed())).review).toMatchObject({ accepted: 0, duplicate: 5, invalid: 0 })
      const third = await submit(ledger, accountId, lines(true), fed('INVALID'))
      expect((await dueIn(ledger, third)).map((row) => row.instruction.reference)).toEqual(['bad'])
      for (const again of [from(first, true), lines(true), from(third, true)])
        expect((await check(again, fed('INVALID'))).review).toMatchObject({ accepted: 0, duplicate: 5 })
    })

    test('with --retry invalid are refused while the row is still wrong', async () => {
      const first = await finished()
      const { review: reviewed, faults } = await check(from(first), fed('INVALID'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 1 })
      expect(faults.map(({ rowNo, column }) => [rowNo, column])).toEqual([[4, 'amount']])
    })

    test('of a mended row that failed since leave its reference with the row that failed', async () => {
      const first = await finished()
      const mended = from(first, true)
      const second = await submit(ledger, accountId, mended, fed('INVALID'))
      await work(ledger, second, 'bad', 'FAILED')
      const third = await submit(ledger, accountId, [mended[3] as DraftRow], fed('FAILED'))
      expect(await dueIn(ledger, third)).toMatchObject([{ attempt: 1 }])
    })

    test('cannot add an instruction', async () => {
      const first = await finished()
      const { review: reviewed, faults } = await check(
        [
          ...from(first),
          rowOf(6, refund('new')),
          rowOf(7, refund('guess'), { cameFrom: { batchId: first, rowNo: 1 } }),
        ],
        fed('FAILED', 'CANCELLED'),
      )
      expect(reviewed).toMatchObject({ accepted: 2, invalid: 2 })
      expect(faults.map(({ rowNo, problem }) => [rowNo, problem])).toEqual([
        [6, 'the line is not a result of this ledger'],
        [7, `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference ok)`],
      ])
    })

    test('whose references lost their zeros in a spreadsheet are the rows that they were', async () => {
      const first = await submit(ledger, accountId, [refund('000123'), refund('007'), refund('A-07')])
      await work(ledger, first, '000123', 'APPROVED')
      await work(ledger, first, '007', 'FAILED')
      const line = (rowNo: number, reference: string, was: string) =>
        rowOf(rowNo, { ...refund(was), reference }, { cameFrom: { batchId: first, rowNo } })
      const saved = [line(1, '123', '000123'), line(2, '7', '007'), line(3, 'A-07', 'A-07')]
      expect((await check(saved, fed())).review).toMatchObject({ accepted: 0, duplicate: 3, invalid: 0 })
      const again = await submit(ledger, accountId, saved, fed('FAILED'))
      expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE'])
      expect(await dueIn(ledger, again)).toMatchObject([{ attempt: 1, instruction: { reference: '007' } }])
      // Zeros are put back where batch and row say so, and nowhere else.
      const elsewhere = [line(1, '07', '007'), line(2, '123', '000123')]
      expect((await check(elsewhere, fed('FAILED'))).faults.map(({ problem }) => problem)).toEqual([
        `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference 000123)`,
        `the reference is not that of the row which the line names (row 2 of batch ${first} has the reference 007)`,
      ])
    })

    test('with one column sorted without the others are refused, whatever may run again', async () => {
      const first = await finished()
      const swapped = from(first).map((row) => ({ ...row, cameFrom: { batchId: first, rowNo: (row.rowNo % 5) + 1 } }))
      for (const retry of [[], ['FAILED', 'CANCELLED', 'INVALID']] as RetryStatus[][]) {
        const { review: reviewed, faults } = await check(swapped, fed(...retry))
        expect(reviewed.accepted).toBe(0)
        expect(faults.map(({ rowNo, problem }) => [rowNo, problem])).toContainEqual([
          5,
          `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference ok)`,
        ])
      }
      const beyond = [rowOf(1, refund('ok'), { cameFrom: { batchId: first, rowNo: 99 } })]
      expect((await check(beyond, fed())).faults[0]?.problem).toContain('row 99 of batch')
    })

    test('that became unreadable are a fault only of rows that would run again', async () => {
      const first = await finished()
      const unread = [1, 2, 3, 5].map((rowNo) =>
        faultyRow(rowNo, ['ok', 'no', 'off', '', 'odd'][rowNo - 1] as string, { cameFrom: { batchId: first, rowNo } }),
      )
      const { review: reviewed, faults } = await check(unread, fed())
      expect([reviewed.duplicate, faults]).toEqual([4, []])
      const again = await check(unread, fed('FAILED'))
      expect(again.review).toMatchObject({ accepted: 0, duplicate: 3, invalid: 1 })
      expect(again.faults).toMatchObject([{ rowNo: 2, column: 'amount' }])
      // The reference is what the row is known by: a damaged one is never forgiven.
      const damaged = unread.map((row) => ({
        ...row,
        faults: row.faults.map((fault) => ({ ...fault, column: 'Result_Reference' })),
      }))
      expect((await check(damaged, fed())).review).toMatchObject({ duplicate: 0, invalid: 4 })
    })

    test('that can be read and say something else are refused, also of a row that is done', async () => {
      const first = await finished()
      const changed = [rowOf(1, refund('ok', { amountMinor: 1_001n }), { cameFrom: { batchId: first, rowNo: 1 } })]
      expect((await check(changed, fed())).faults[0]?.problem).toContain('the reference is recorded with other content')
    })

    test('with masked cards are compared in what can be read of them', async () => {
      const bin = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
      const first = await submit(ledger, accountId, [
        rowOf(1, sale('paid', '', { vaultId: null, card: bin, money: { amountMinor: 2_000n, currency: EUR } })),
        rowOf(2, sale('kept', '', { vaultId: null, operation: 'VAULT_CREATE', card: bin, money: null })),
      ])
      const masked = (rowNo: number, amountMinor: bigint | null, operation: Operation, card = '411111-1111') =>
        faultyRow(rowNo, ['paid', 'kept'][rowNo - 1] as string, {
          ...{ cameFrom: { batchId: first, rowNo }, said: { operation, card } },
          money: amountMinor === null ? null : { amountMinor, currency: EUR },
        })
      const same = await check([masked(1, 2_000n, 'CAPTURE'), masked(2, null, 'VAULT_CREATE')], fed())
      expect([same.review.duplicate, same.faults]).toEqual([2, []])
      const others: [DraftRow, string, RegExp][] = [
        [masked(1, 2_500n, 'CAPTURE'), 'amount', /new reference/],
        [masked(1, 2_000n, 'AUTH'), 'operation', /new reference/],
        [masked(1, 2_000n, 'CAPTURE', '411111-1112'), 'card', /new reference/],
        [masked(2, 2_000n, 'CAPTURE'), 'operation, amount, currency', /stored a card.*result_vault_id/],
      ]
      for (const [row, differences, remedy] of others) {
        const { review: reviewed, faults } = await check([row], fed())
        expect(reviewed).toMatchObject({ duplicate: 0, invalid: 1 })
        expect(faults).toEqual([
          expect.objectContaining({
            problem: expect.stringContaining(`other content: ${differences} not the same`),
            remedy: expect.stringMatching(remedy),
          }),
        ])
      }
    })

    test('pasted together so that a row stands twice are refused in both lines', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('FAILED'))
      await work(ledger, second, 'no', 'APPROVED')
      const pasted = [
        rowOf(1, refund('no'), { cameFrom: { batchId: first, rowNo: 2 } }),
        rowOf(2, refund('no'), { cameFrom: { batchId: second, rowNo: 2 } }),
        rowOf(3, refund('ok'), { cameFrom: { batchId: second, rowNo: 1 } }),
      ]
      for (const retry of [[], ['FAILED']] as RetryStatus[][]) {
        const { review: reviewed, faults } = await check(pasted, fed(...retry))
        expect(reviewed).toMatchObject({ accepted: 0, duplicate: 1, invalid: 2 })
        expect(faults.map(({ rowNo }) => rowNo)).toEqual([1, 2])
      }
    })

    test('with bad lines that are no recorded row are refused whole', async () => {
      const first = await finished()
      const strange = [
        rowOf(1, refund('01.12.2026'), { cameFrom: { batchId: first, rowNo: 1 } }), // was "ok", as a spreadsheet has it
        rowOf(2, refund('no'), { cameFrom: { batchId: first, rowNo: 3 } }), // of another row, but recorded
        faultyRow(3, 'derived', { cameFrom: null }),
        faultyRow(4, 'bad', { cameFrom: { batchId: first, rowNo: 4 } }),
      ]
      const { review: reviewed } = await check(strange, fed('INVALID'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 4, unidentified: 2 })
      expect((await check([faultyRow(1, 'new')])).review).toMatchObject({ invalid: 1, unidentified: 0 })
    })

    test('are counted by what runs again and what does not', async () => {
      const first = await finished()
      const again = async (mended: boolean, ...retry: RetryStatus[]) =>
        (await check(from(first, mended), fed(...retry))).review.again
      const one = (state: string) => ({ state, count: 1 })
      expect(await again(false)).toEqual({
        repeated: ['APPROVED', 'CANCELLED', 'DECLINED', 'FAILED', 'INVALID'].map(one),
        retried: [],
        ...{ changed: 0, otherCells: 0 },
        notAsked: [],
      })
      expect(await again(true, 'FAILED', 'INVALID')).toEqual({
        repeated: ['APPROVED', 'CANCELLED', 'DECLINED'].map(one),
        retried: ['FAILED', 'INVALID'].map(one),
        ...{ changed: 0, otherCells: 0 },
        notAsked: [],
      })
      expect((await check([refund('ok'), refund('new')])).review.again).toEqual({
        repeated: [one('APPROVED')],
        retried: [],
        ...{ changed: 0, otherCells: 0 },
        notAsked: [],
      })
    })

    test('of a batch that the ledger does not know are refused', async () => {
      await finished()
      await expect(review(ledger, headerOf(accountId, fed()), from('260101-abcde'))).rejects.toMatchObject({
        code: 'refused',
      })
    })

    test('do not run a row again that an answer approved while they were read', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      const line = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      const { draft, review: reviewed } = await review(ledger, headerOf(accountId, fed('FAILED')), [line])
      expect(reviewed.accepted).toBe(1)
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      expect(await ledger.batches()).toHaveLength(1)
    })

    test('of another merchant are refused, whatever may run again', async () => {
      const first = await finished()
      const second = headerOf(await openAccount(ledger, 'second'), fed('INVALID'))
      const mended = [rowOf(1, refund('bad'), { cameFrom: { batchId: first, rowNo: 4 } })]
      await expect(review(ledger, second, mended)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining(`batch ${first}, which is of merchant default`),
      })
    })

    test.each(['FAILED', 'INVALID'] as const)(
      'keep the run key of a row that was %s: the next month is no look-alike of it',
      async (status) => {
        const [runKey, reference] = ['2026-11', '2026-11/A']
        const row = status === 'FAILED' ? rowOf(1, sale(reference, '7')) : faultyRow(1, reference)
        const first = await submit(ledger, accountId, [row], { runKey })
        if (status === 'FAILED') await work(ledger, first, reference, 'FAILED')
        const line = rowOf(1, sale(reference, '7'), { cameFrom: { batchId: first, rowNo: 1 } })
        const again = await submit(ledger, accountId, [line], fed(status))
        await work(ledger, again, reference, 'APPROVED')
        const later = (days: number, key: string) =>
          check([sale(`${key}/B`, '7')], { runKey: key, nowMs: NOW + days * DAY_MS })
        expect((await later(21, '2026-05')).review.lookalikes).toBe(0)
        expect((await later(20, '2026-05')).review.lookalikes).toBe(1)
        expect((await later(21, '2026-11')).review.lookalikes).toBe(1)
      },
    )

    test('do not let a doubt be forgotten: the new attempt knows that an earlier one was in doubt', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'IN_DOUBT')
      await settle(ledger, attempt, 'READY') // its owner proves that nothing was sent
      await work(ledger, first, 'A', 'FAILED')
      const second = await submit(
        ledger,
        accountId,
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        fed('FAILED'),
      )
      expect(await dueRow(ledger, second, 'A')).toMatchObject({ attempt: 2, everInDoubt: true })
    })

    test('do not run a row again that a late answer approved', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      const { review: reviewed, faults } = await check(
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        fed('FAILED'),
      )
      expect(reviewed.accepted).toBe(0)
      expect(faults[0]?.problem).toMatch(/may have been executed after all: .*APPROVED \(transaction id 501\)/)
    })
  })
}
