// Look-alikes: which rows are asked about, and for how long.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import type { Finding } from '../../../src/domain/resolution.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  EUR,
  faultyRow,
  findingOn,
  NOW,
  openAccount,
  refund,
  rowOf,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'
import { check } from './given.ts'

export function describeLookalikes(): void {
  describe('look-alikes', () => {
    const count = async (rows: readonly Instruction[], over: Partial<DraftHeader> = {}) =>
      (await check(rows, over)).review.lookalikes

    test.each([
      [' (corr.)', 1],
      ['-neu', 1],
      ['_Corrected', 1],
      ['b', 0], // a second card holder
      ['0', 0],
    ])('in a roster is no row but a corrected one beside the first: %s, %i', async (suffix, found) => {
      const header = { runKey: '2026-12' }
      const [first, other] = [
        sale('2026-12/R-3', '41', { details: { cust_email: 'ann@a.example' } }),
        sale(`2026-12/R-3${suffix}`, '41', { xtlOrderId: 'X2', details: { cust_email: 'bob@b.example' } }),
      ]
      expect(await count([first, other], header)).toBe(found)
      await submit(ledger, accountId, [first], header)
      expect(await count([first, other], header)).toBe(found)
    })

    test('are told of a number that an earlier batch was given as well, and duplicates of when most was done', async () => {
      const run = (reference: string, days: number) =>
        submit(ledger, accountId, [sale(reference, '41', { xtlOrderId: reference })], {
          ...{ nowMs: NOW + days * DAY_MS, lookalikesAllowed: 1 },
        })
      const [first, second, third] = [await run('A', 0), await run('B', 1), await run('C', 2)]
      const seen = async (batchId: BatchId) => (await ledger.batch(batchId))?.numberBefore
      expect([await seen(first), await seen(second)]).toEqual([null, null]) // the first is like none
      expect(await seen(third)).toEqual({ batchId: second, rows: 1, atMs: NOW + DAY_MS })
      const again = ['A', 'B', 'C'].map((reference) => sale(reference, '41', { xtlOrderId: reference }))
      const later = await submit(ledger, accountId, [...again, sale('D', '42')], { nowMs: NOW + 40 * DAY_MS })
      expect((await ledger.batch(later))?.doneLongAgo).toMatchObject({ batchId: third, days: 38, rows: 3 })
    })

    test('in a file are later rows with the same operation, amount and order', async () => {
      const rows = [
        refund('A', { orderId: '55' }),
        refund('B', { orderId: '0055' }),
        refund('C', { orderId: '55', amountMinor: 999n }),
        refund('D', { orderId: '56' }),
        refund('E', { orderId: '57', operation: 'CAUTH' }),
        refund('F', { orderId: '55' }),
      ]
      const { review: reviewed, lookalikes } = await check(rows)
      expect(reviewed).toMatchObject({ accepted: 6, lookalikes: 2 })
      const like = { batchId: null, rowNo: 1, line: 2, reference: 'A', state: null, orderId: '55', atMs: null }
      const money = { amountMinor: 1000n, currency: EUR }
      expect(lookalikes).toMatchObject([
        { reference: 'B', operation: 'REFUND', money, orderId: '0055', like: { ...like, money } },
        { reference: 'F', operation: 'REFUND', money, orderId: '55', like: { ...like, money } },
      ])
    })

    test('stand beside the row that they look like, with what both ask for', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B', { orderId: '55' })])
      const { lookalikes } = await check([refund('C', { orderId: '055' })])
      const money = { amountMinor: 1000n, currency: EUR }
      const like = { batchId, rowNo: 2, line: null, reference: 'B', state: 'READY', money, orderId: '55', atMs: NOW }
      expect(lookalikes).toMatchObject([{ reference: 'C', money, orderId: '055', like }])
    })

    test('of sales: the same vault id', async () => {
      expect(await count([sale('A', '7'), sale('B', '007'), sale('C', '8')])).toBe(1)
    })

    test('a row that cannot be accepted counts on neither side', async () => {
      await submit(ledger, accountId, [refund('A', { orderId: '55' })])
      const faulty = rowOf(2, refund('X', { orderId: '55' }), { faults: faultyRow(2, 'X').faults })
      const { review: reviewed } = await check([
        rowOf(1, refund('A', { orderId: '55' })),
        faulty,
        rowOf(3, refund('Y', { orderId: '56' })),
      ])
      expect(reviewed).toMatchObject({ duplicate: 1, invalid: 1, accepted: 1, lookalikes: 0 })
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'of a recorded row that is %s: only what has or may have executed counts',
      async (state) => {
        const batchId = await submit(ledger, accountId, [refund('A', { orderId: '55' })])
        if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state !== 'READY') await work(ledger, batchId, 'A', state)
        expect(await statesIn(ledger, batchId)).toEqual([state])
        const counts = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        const { lookalikes } = await check([refund('B', { orderId: '055' })])
        expect(lookalikes.map(({ like }) => like)).toMatchObject(
          counts ? [{ batchId, rowNo: 1, reference: 'A', state }] : [],
        )
      },
    )

    test.each([
      ['declined', 'DECLINED'],
      ['not-executed', 'FAILED'],
    ] as const)(
      'of a row whose second request a person called %s: the first may have executed',
      async (finding, state) => {
        const batchId = await submit(ledger, accountId, [refund('A', { orderId: '55' })])
        const resolve = (as: Finding, attempt: number) =>
          ledger.resolve(findingOn('A', { finding: as, attempt }), CLERK, NOW + 300)
        await work(ledger, batchId, 'A', 'IN_DOUBT')
        await resolve('send-again', 1)
        await settle(ledger, await claimNamed(ledger, batchId, 'A', NOW + 300), 'IN_DOUBT')
        await resolve(finding, 2)
        expect(await statesIn(ledger, batchId)).toEqual([state])
        const { lookalikes } = await check([refund('B', { orderId: '055' })])
        expect(lookalikes.map(({ like }) => like)).toMatchObject([{ batchId, rowNo: 1, reference: 'A', state }])
        expect(await count([refund('B', { orderId: '055' })], { nowMs: NOW + 31 * DAY_MS })).toBe(1)
      },
    )

    test.each(['CAUTH', 'CANCEL', 'REFUND'] as const)(
      'of an approved %s of an order are looked for however long ago it was sent',
      async (operation) => {
        const row = (reference: string) => refund(reference, { operation, orderId: '55' })
        await work(ledger, await submit(ledger, accountId, [row('A')]), 'A', 'APPROVED')
        expect(await count([row('B')], { nowMs: NOW + 400 * DAY_MS })).toBe(1)
      },
    )

    test('of an approved sale are looked for in the 30 days since it was sent', async () => {
      const batchId = await submit(ledger, accountId, [sale('A', '55')])
      await work(ledger, batchId, 'A', 'APPROVED', { sentAtMs: NOW })
      const later = (ms: number) => count([sale('B', '55')], { nowMs: NOW + ms })
      expect(await later(30 * DAY_MS)).toBe(1)
      expect(await later(30 * DAY_MS + 1)).toBe(0)
      await ledger.recordClock(accountId, 31 * DAY_MS, NOW + 31 * DAY_MS)
      expect(await later(31 * DAY_MS)).toBe(1) // how long ago it was is not known then
      expect(await later(30 * DAY_MS + 1)).toBe(0) // the clock was set back since
      await ledger.recordClock(accountId, 0, NOW)
      expect(await later(31 * DAY_MS)).toBe(0)
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT'] as const)(
      'of a row that is %s are found however old it is, since its end is open',
      async (state) => {
        const batchId = await submit(ledger, accountId, [sale('A', '55', { executeAtMs: NOW - 1 })])
        if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state === 'IN_DOUBT') await work(ledger, batchId, 'A', 'IN_DOUBT', { sentAtMs: NOW })
        const { review: reviewed, lookalikes } = await check([sale('B', '55')], { nowMs: NOW + 400 * DAY_MS })
        expect(reviewed.lookalikes).toBe(1)
        expect(lookalikes[0]?.like).toMatchObject({ batchId, rowNo: 1, reference: 'A', state })
      },
    )

    test('of a row that waits for its execute_at are found after any time', async () => {
      await submit(ledger, accountId, [sale('JAN-1', '99', { executeAtMs: NOW + 45 * DAY_MS })])
      const twin = sale('FEB-1', '99', { executeAtMs: NOW + 45 * DAY_MS })
      expect(await count([twin], { nowMs: NOW + 35 * DAY_MS })).toBe(1)
    })

    test.each(['APPROVED', 'IN_DOUBT'] as const)(
      'between run keys, of a row that was sent and is %s, are found within the days asked for',
      async (state) => {
        const batchId = await submit(ledger, accountId, [sale('2026-11/A', '7')], { runKey: '2026-11' })
        await work(ledger, batchId, '2026-11/A', state, { sentAtMs: NOW })
        const later = (days: number, runKey: string | null, lookalikeDays = 20) =>
          count([sale('other', '7')], { nowMs: NOW + days * DAY_MS, runKey, lookalikeDays })
        expect(await later(20, '2026-05')).toBe(1)
        expect(await later(21, '2026-05')).toBe(0)
        expect(await later(21, '2026-05', 25)).toBe(1)
        expect(await later(25, '2026-11')).toBe(1) // the same run key
        expect(await later(25, null)).toBe(1) // no run key on one side
      },
    )

    test.each([
      ['is READY', null],
      ['waits for its execute_at', NOW + 365 * DAY_MS],
    ])(
      'between run keys, a row of last month that %s counts: both would be sent from now on',
      async (_, executeAtMs) => {
        await submit(ledger, accountId, [sale('2026-11/A', '7', { executeAtMs })], { runKey: '2026-11' })
        const december = { runKey: '2026-05', nowMs: NOW + 31 * DAY_MS, lookalikeDays: 0 }
        expect(await count([sale('2026-05/A', '7')], december)).toBe(1)
      },
    )

    test('of another account are none', async () => {
      await submit(ledger, await openAccount(ledger, 'second'), [refund('A', { orderId: '55' })], { fileSha256: 'bb' })
      expect(await count([refund('B', { orderId: '55' })])).toBe(0)
    })

    test('under the same reference are duplicates, not look-alikes', async () => {
      await submit(ledger, accountId, [refund('A')])
      expect((await check([refund('A')])).review).toMatchObject({ duplicate: 1, lookalikes: 0 })
    })
  })
}
