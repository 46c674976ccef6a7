// Between the review of a file and its recording a person is asked, and the world goes on: rows that were reviewed are settled,
// cancelled, resolved. What the review would say otherwise then is not recorded.

import { describe, expect, test } from 'vitest'
import type { Draft, DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import {
  CLERK,
  DAY_MS,
  EUR,
  factsWith,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  review,
  rowOf,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, FIRST, MENDED, made } from './given.ts'

const LATER = NOW + 3_600_000

/** What another process does while a person looks at the review. */
interface Meanwhile {
  readonly resolve: (reference: string, over: Parameters<typeof findingOn>[1]) => Promise<void>
  readonly cancel: (batchId: BatchId) => Promise<void>
}

function meanwhile(): Meanwhile {
  const other = place.open()
  return {
    async resolve(reference, over) {
      expect(await other.resolve(findingOn(reference, over), CLERK, LATER)).toMatchObject({ kind: 'resolved' })
    },
    cancel: (batchId) => other.cancel(batchId, 'not these', CLERK, NOW),
  }
}

async function reviewed(
  rows: Parameters<typeof review>[2],
  over: Partial<DraftHeader>,
  says: Partial<Awaited<ReturnType<typeof review>>['review']>,
): Promise<Draft> {
  const { draft, review: found } = await review(ledger, headerOf(accountId, over), rows)
  expect(found).toMatchObject(says)
  return draft
}

async function expectRefused(draft: Draft): Promise<void> {
  const before = (await ledger.batches()).length
  await expect(draft.record(CLERK)).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('Nothing was recorded and nothing was sent. Try again'),
  })
  expect(await ledger.batches()).toHaveLength(before)
}

/** In doubt, and then called not executed by a person. */
async function foundNotExecuted(batchId: BatchId, reference: string): Promise<void> {
  await work(ledger, batchId, reference, 'IN_DOUBT')
  await meanwhile().resolve(reference, { finding: 'not-executed' })
}

/** What another account has, and what the file asks for. */
const ELSEWHERE = [
  ['with its reference, target and amount', sale('A', '41'), sale('A', '41')],
  [
    'of its order and amount, where it has no reference',
    refund('A', { orderId: '71' }),
    refund(made(FIRST, 1), { orderId: '71' }),
  ],
] as const

export function describeSinceReview(): void {
  describe('record: a reviewed file is refused', () => {
    test('once a row like one of its rows was answered as approved after it had ended', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '71' })])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      const rows = [refund('B', { orderId: '71' })]
      const draft = await reviewed(rows, {}, { accepted: 1, lookalikes: 0 })
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expectRefused(draft)
      expect((await check(rows)).review.lookalikes).toBe(1) // now somebody is asked
    })

    test.each(['declined', 'not-executed'] as const)(
      'once a row like one of its rows, which a person had called %s, was found to be approved',
      async (finding) => {
        const first = await submit(ledger, accountId, [sale('A', '41')])
        await work(ledger, first, 'A', 'IN_DOUBT')
        await meanwhile().resolve('A', { finding })
        const draft = await reviewed([sale('B', '41')], {}, { accepted: 1, lookalikes: 0 })
        await meanwhile().resolve('A', { corrects: true })
        await expectRefused(draft)
      },
    )

    test.each(['answered', 'found'] as const)(
      'once the row that is to run again was %s to be approved after it had ended',
      async (how) => {
        const first = await submit(ledger, accountId, [sale('A', '41')])
        const attempt = await work(ledger, first, 'A', 'IN_DOUBT')
        await meanwhile().resolve('A', { finding: 'not-executed' })
        const line = rowOf(1, sale('A', '41'), { cameFrom: { batchId: first, rowNo: 1 } })
        const draft = await reviewed([line], { fedBack: true, retry: ['FAILED'] }, { accepted: 1, lookalikes: 0 })
        if (how === 'answered') await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
        else await meanwhile().resolve('A', { corrects: true })
        await expectRefused(draft)
      },
    )

    test('once a row like one that is to run again was found to be approved', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '71' })])
      await foundNotExecuted(first, 'A')
      const second = await submit(ledger, accountId, [refund('B', { orderId: '71' })])
      await work(ledger, second, 'B', 'FAILED')
      const line = rowOf(1, refund('B', { orderId: '71' }), { cameFrom: { batchId: second, rowNo: 1 } })
      const draft = await reviewed([line], { fedBack: true, retry: ['FAILED'] }, { accepted: 1, lookalikes: 0 })
      await meanwhile().resolve('A', { corrects: true })
      await expectRefused(draft)
    })

    test('once the row that it is to run again, over a cancelled retry, was found to be approved', async () => {
      const line = (batchId: BatchId) => rowOf(1, sale('A', '41'), { cameFrom: { batchId, rowNo: 1 } })
      const again: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED', 'CANCELLED'] }
      const first = await submit(ledger, accountId, [sale('A', '41')])
      await foundNotExecuted(first, 'A')
      const second = await submit(ledger, accountId, [line(first)], again)
      await meanwhile().cancel(second)
      const draft = await reviewed([line(second)], again, { accepted: 1, lookalikes: 0 })
      await meanwhile().resolve('A', { corrects: true })
      await expectRefused(draft)
    })

    test('once last month’s charge, in doubt until then, is to be sent again', async () => {
      const first = await submit(ledger, accountId, [sale('2026-04/A', '41')], { runKey: '2026-04' })
      await work(ledger, first, '2026-04/A', 'IN_DOUBT')
      const next = { runKey: '2026-05', nowMs: NOW + 25 * DAY_MS }
      const draft = await reviewed([sale('2026-05/A', '41')], next, { accepted: 1, lookalikes: 0 })
      await meanwhile().resolve('2026-04/A', { finding: 'send-again' })
      await expectRefused(draft)
    })

    test('once a row with an xtl_order_id of its rows was answered as approved after it had ended', async () => {
      const of = (name: string, vaultId: string) => sale(name, vaultId, { xtlOrderId: 'X1' })
      const first = await submit(ledger, accountId, [of('A', '41')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      const draft = await reviewed([of('B', '42')], {}, { accepted: 1, invalid: 0 })
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expectRefused(draft)
    })

    test('once a row that it asks for with another amount was answered as approved after it had ended', async () => {
      const charges = (hash: string, amounts: readonly bigint[]) =>
        amounts.map((amountMinor, i) => sale(`${hash}-${i + 1}`, `4${i}`, { money: { amountMinor, currency: EUR } }))
      const first = await submit(ledger, accountId, charges(FIRST, [100n, 200n, 300n]))
      const attempt = await work(ledger, first, made(FIRST, 3), 'FAILED')
      const mended = charges(MENDED, [100n, 200n, 250n])
      const draft = await reviewed(mended, { onlyNew: true }, { accepted: 1, duplicate: 2, lookalikes: 0 })
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expectRefused(draft)
      expect((await check(mended, { onlyNew: true })).review.lookalikes).toBe(1)
    })

    test('once rows that it asks for with other amounts, every one, were answered as approved after they had ended', async () => {
      const charges = (hash: string, amount: bigint) =>
        ['41', '42', '43'].map((vaultId, i) =>
          sale(`${hash}-${i + 1}`, vaultId, { money: { amountMinor: amount, currency: EUR } }),
        )
      const first = await submit(ledger, accountId, charges(FIRST, 100n))
      const attempts = await Promise.all([1, 2, 3].map((n) => work(ledger, first, made(FIRST, n), 'FAILED')))
      const mended = charges(MENDED, 110n)
      const draft = await reviewed(mended, {}, { accepted: 3, lookalikes: 0 })
      await settle(ledger, attempts[2]!, 'APPROVED', { facts: factsWith('501') })
      await expectRefused(draft)
      expect((await check(mended)).lookalikes).toMatchObject([{ rowNo: 3, changedFrom: { amountMinor: 100n } }])
    })

    test('once rows that an earlier file held, and that it leaves out, were cancelled before they were sent', async () => {
      const rows = (hash: string) => ['71', '72'].map((orderId, i) => refund(`${hash}-${i + 1}`, { orderId }))
      const first = await submit(ledger, accountId, rows(FIRST))
      const draft = await reviewed(rows(MENDED), { onlyNew: true }, { accepted: 0, duplicate: 2 })
      await meanwhile().cancel(first)
      await expectRefused(draft)
      expect((await check(rows(MENDED), { onlyNew: true })).review).toMatchObject({ accepted: 2, duplicate: 0 })
    })

    test.each([MENDED, 'own'])(
      'once a row that was cancelled with its file, and comes again under the references of %s, was cancelled alone as well',
      async (references) => {
        const rows = (hash: string) => ['71', '72'].map((orderId, i) => refund(`${hash}-${i + 1}`, { orderId }))
        const mended = rows(references)
        const first = await submit(ledger, accountId, rows(FIRST))
        await meanwhile().cancel(first)
        const draft = await reviewed(mended, { onlyNew: true }, { accepted: 2, duplicate: 0 })
        await place.open().cancelRow({ batchId: first, rowNo: 2 }, 'not this one', CLERK, NOW)
        await expectRefused(draft)
        expect((await check(mended, { onlyNew: true })).review).toMatchObject({ accepted: 1, duplicate: 1 })
      },
    )

    test.each(ELSEWHERE)('once a row %s came for another account', async (_, theirs, ours) => {
      const other = await openAccount(ledger, 'hotel')
      const draft = await reviewed([ours], {}, { accepted: 1, lookalikes: 0 })
      await place.open().recordMessage(messageOf(other, theirs))
      await expectRefused(draft)
      expect((await check([ours])).review.lookalikes).toBe(1)
    })

    test('once a row of the file of another account with the same bytes was answered as approved after it had ended', async () => {
      const first = await submit(ledger, await openAccount(ledger, 'hotel'), [sale('A', '41')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      const draft = await reviewed([sale('B', '42')], {}, { accepted: 1, lookalikes: 0 })
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expectRefused(draft)
    })

    describe('of refunds of a sale of 15.00', () => {
      const sold = async () => {
        const sales = await submit(ledger, accountId, [
          sale('S', '41', { money: { amountMinor: 1_500n, currency: EUR } }),
        ])
        await work(ledger, sales, 'S', 'APPROVED', { facts: factsWith('41', { orderId: '777' }) })
        return sales
      }
      const back = (reference: string, amountMinor: bigint) => refund(reference, { orderId: '777', amountMinor })

      test('once another refund was answered as approved after it had ended, and both are too much', async () => {
        await sold()
        const first = await submit(ledger, accountId, [back('A', 1_000n)])
        const attempt = await work(ledger, first, 'A', 'FAILED')
        const draft = await reviewed([back('B', 501n)], {}, { accepted: 1, lookalikes: 0 })
        await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
        await expectRefused(draft)
      })

      test('once another refund was found to be approved, and both are too much', async () => {
        await sold()
        await foundNotExecuted(await submit(ledger, accountId, [back('A', 1_000n)]), 'A')
        const draft = await reviewed([back('B', 501n)], {}, { accepted: 1, lookalikes: 0 })
        await meanwhile().resolve('A', { corrects: true })
        await expectRefused(draft)
      })

      test('once the sale became known, which is less', async () => {
        const money = { amountMinor: 1_500n, currency: EUR }
        const sales = await submit(ledger, accountId, [sale('S', '41', { money })])
        const draft = await reviewed([back('B', 1_501n)], {}, { accepted: 1, lookalikes: 0 })
        await work(ledger, sales, 'S', 'APPROVED', { facts: factsWith('41', { orderId: '777' }) })
        await expectRefused(draft)
      })

      test('not once another refund was found to be approved, and the sale has enough for both', async () => {
        await sold()
        await foundNotExecuted(await submit(ledger, accountId, [back('A', 1_000n)]), 'A')
        const draft = await reviewed([back('B', 500n)], {}, { accepted: 1, lookalikes: 0 })
        await meanwhile().resolve('A', { corrects: true })
        expect(await statesIn(ledger, await draft.record(CLERK))).toEqual(['READY'])
      })
    })
  })

  describe('record: a reviewed file is recorded', () => {
    test.each(ELSEWHERE)('where a row %s came for an account for tests', async (_, theirs, ours) => {
      const other = await openAccount(ledger, 'hotel')
      await ledger.labelAccount(other, 'test', CLERK, NOW)
      const draft = await reviewed([ours], {}, { accepted: 1, lookalikes: 0 })
      await place.open().recordMessage(messageOf(other, theirs))
      expect(await statesIn(ledger, await draft.record(CLERK))).toEqual(['READY'])
    })

    test('where rows like its rows, which a person was asked about, were sent meanwhile', async () => {
      const names = ['A', 'B', 'C']
      const first = await submit(
        ledger,
        accountId,
        names.map((name) => sale(name, '41')),
      )
      await work(ledger, first, 'B', 'IN_DOUBT')
      const draft = await reviewed([sale('D', '41')], {}, { accepted: 1, lookalikes: 1 })
      await work(ledger, first, 'A', 'APPROVED')
      await meanwhile().resolve('B', {})
      await work(ledger, first, 'C', 'DECLINED')
      expect(await statesIn(ledger, await draft.record(CLERK))).toEqual(['READY'])
    })

    test('where rows that are like none of its rows came to count, whatever moved before the review', async () => {
      const first = await submit(ledger, accountId, [sale('A', '41'), sale('B', '42'), sale('C', '43')])
      for (const reference of ['A', 'B']) await foundNotExecuted(first, reference)
      await meanwhile().resolve('A', { corrects: true })
      const late = await work(ledger, first, 'C', 'FAILED')
      await settle(ledger, late, 'APPROVED', { facts: factsWith('501') })
      const rows = [sale('D', '41'), sale('E', '43'), sale('F', '44')]
      const draft = await reviewed(rows, {}, { accepted: 3, lookalikes: 2 })
      await meanwhile().resolve('B', { corrects: true })
      expect(await statesIn(ledger, await draft.record(CLERK))).toEqual(['READY', 'READY', 'READY'])
    })
  })
}
