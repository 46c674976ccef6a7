// Rows that ask for the target of a recorded row otherwise than it did, or once more: what has moved money, or will, is not
// paid a second time because an amount changed, a month went by or the row came by another file.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  EUR,
  faultyRow,
  findingOn,
  messageOf,
  NOW,
  refund,
  rowOf,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, FIRST, MENDED, made, refunds } from './given.ts'

/** Of one card each: 40, 41, … */
const charges = (hash: string, amounts: readonly number[], runKey: string | null = null) =>
  amounts.map((amount, i) =>
    sale(made(hash, i + 1, runKey), String(40 + i), { money: { amountMinor: BigInt(amount), currency: EUR } }),
  )

const money = (amount: number) => ({ money: { amountMinor: BigInt(amount), currency: EUR } })

/** The first lines of the results of a batch. */
const linesOf = (batchId: BatchId, rows: readonly Instruction[]) =>
  rows.map((row, i) => rowOf(i + 1, row, { cameFrom: { batchId, rowNo: i + 1 } }))

async function asked(rows: Parameters<typeof check>[0], over: Partial<DraftHeader> = {}): Promise<readonly number[]> {
  return (await check(rows, over)).lookalikes.map(({ rowNo }) => rowNo)
}

async function pay(batchId: BatchId, ...references: readonly string[]): Promise<void> {
  for (const reference of references) await work(ledger, batchId, reference, 'APPROVED', { sentAtMs: NOW, atMs: NOW })
}

export function describeChanged(): void {
  describe('a file in which every amount changed', () => {
    const OLD = [100, 200, 300, 400, 500]
    const NEW = [110, 210, 310, 410, 510]

    test.each([
      ['wait', [1, 2, 3, 4, 5]],
      ['were cancelled', [1, 2]],
      ['failed', [1, 2]],
      ['were declined', [1, 2]],
    ] as const)('is asked about the rows that were or will be sent, where the others %s', async (others, expected) => {
      const first = await submit(ledger, accountId, charges(FIRST, OLD))
      await pay(first, made(FIRST, 1), made(FIRST, 2))
      if (others === 'were cancelled') await ledger.cancel(first, 'wrong prices', CLERK, NOW)
      const end = others === 'failed' ? 'FAILED' : others === 'were declined' ? 'DECLINED' : null
      if (end !== null) for (const rowNo of [3, 4, 5]) await work(ledger, first, made(FIRST, rowNo), end)
      const { review, lookalikes } = await check(charges(MENDED, NEW))
      expect(review).toMatchObject({ accepted: 5, duplicate: 0, correction: null })
      expect(lookalikes.map(({ rowNo }) => rowNo)).toEqual(expected)
      expect(lookalikes[1]).toMatchObject({ like: { batchId: first, rowNo: 2 }, changedFrom: { amountMinor: 200n } })
    })

    test('but some is asked about all of them', async () => {
      const first = await submit(ledger, accountId, charges(FIRST, OLD))
      await pay(first, ...OLD.map((_, i) => made(FIRST, i + 1)))
      const { lookalikes } = await check(charges(MENDED, [...NEW.slice(0, 3), ...OLD.slice(3)]))
      expect(lookalikes.map(({ rowNo, changedFrom }) => [rowNo, changedFrom?.amountMinor])).toEqual([
        [1, 100n],
        [2, 200n],
        [3, 300n],
        [4, undefined],
        [5, undefined],
      ])
    })

    test('is asked about under its run key, also with references of its own', async () => {
      const first = await submit(ledger, accountId, charges(FIRST, OLD, 'k'), { runKey: 'k' })
      await pay(first, made(FIRST, 1, 'k'))
      expect(await asked(charges(MENDED, NEW, 'k'), { runKey: 'k' })).toEqual([1, 2, 3, 4, 5])
      const named = NEW.map((amount, i) => sale(`k/R-${i}`, String(40 + i), money(amount)))
      expect(await asked(named, { runKey: 'k' })).toEqual([1, 2, 3, 4, 5])
      expect(await asked(charges(MENDED, NEW, 'l'), { runKey: 'l' })).toEqual([])
    })

    test('of refunds is asked about, also for less', async () => {
      const of = (hash: string, amountMinor: bigint) => refunds(hash, ['71', '72', '73'], { amountMinor })
      const first = await submit(ledger, accountId, of(FIRST, 1_000n))
      await pay(first, made(FIRST, 1))
      expect(await asked(of(MENDED, 900n))).toEqual([1, 2, 3])
    })

    test('of refunds is asked about as one that changed, also for more', async () => {
      const orders = ['71', '72', '73']
      const first = await submit(ledger, accountId, refunds(FIRST, orders))
      await pay(first, made(FIRST, 1))
      const { lookalikes } = await check(refunds(MENDED, orders, { amountMinor: 1_100n }))
      expect(lookalikes).toHaveLength(3)
      for (const { like, changedFrom, refundedBefore } of lookalikes)
        expect([like.batchId, changedFrom?.amountMinor, refundedBefore]).toEqual([first, 1_000n, null])
    })

    test('of cards is asked about where the expiry was mended, too', async () => {
      const card = (hash: string, year: string) =>
        sale(made(hash, 1), '41', {
          ...{ vaultId: null, card: { bin: '411111', lastFour: '1111', expiry: { month: '12', year } } },
        })
      const first = await submit(ledger, accountId, [card(FIRST, '2030')])
      await pay(first, made(FIRST, 1))
      expect(await asked([card(MENDED, '2031')])).toEqual([1])
    })

    test('is the next month’s, 30 days after the charges; what waits is asked about after any time', async () => {
      const first = await submit(ledger, accountId, charges(FIRST, OLD))
      await pay(first, ...[1, 2, 3, 4].map((rowNo) => made(FIRST, rowNo)))
      const later = (ms: number) => asked(charges(MENDED, NEW), { nowMs: NOW + ms })
      expect(await later(30 * DAY_MS)).toEqual([1, 2, 3, 4, 5])
      expect(await later(30 * DAY_MS + 1)).toEqual([5])
      const second = await submit(ledger, accountId, charges('1111aaaa1111aaaa', OLD), {
        nowMs: NOW + 31 * DAY_MS,
      })
      expect(await statesIn(ledger, second)).toHaveLength(5)
      expect(await later(90 * DAY_MS)).toEqual([1, 2, 3, 4, 5])
    })

    test('is asked about those of before, however many new rows it has, and where it is a single refund', async () => {
      const first = await submit(ledger, accountId, charges(FIRST, OLD.slice(0, 2)))
      await pay(first, made(FIRST, 1), made(FIRST, 2))
      expect(await asked(charges(MENDED, NEW.slice(0, 4)))).toEqual([1, 2])
      expect(await asked(charges(MENDED, NEW))).toEqual([1, 2])
      const other = '1111aaaa1111aaaa'
      await pay(await submit(ledger, accountId, refunds(other, ['71'], { amountMinor: 500n })), made(other, 1))
      expect(await asked(refunds(MENDED, ['71'], { amountMinor: 400n }))).toEqual([1])
    })

    test('is asked about nothing by the amounts that other rows of its own ask for', async () => {
      const twice = (hash: string) => [
        refund(made(hash, 1), { orderId: '71', amountMinor: 500n }),
        refund(made(hash, 2), { orderId: '71', amountMinor: 400n }),
      ]
      expect(await asked(twice(MENDED))).toEqual([])
    })

    test('is none where both files have references of their own: those name instructions', async () => {
      const named = (prefix: string, amounts: readonly number[]) =>
        amounts.map((amount, i) => sale(`${prefix}${i}`, String(40 + i), money(amount)))
      const first = await submit(ledger, accountId, named('A', OLD))
      await pay(first, ...OLD.map((_, i) => `A${i}`))
      expect(await asked(named('B', NEW))).toEqual([])
    })

    test('is none where the file still has those rows as themselves: it charges their cards for something else', async () => {
      const named = OLD.map((amount, i) => sale(`A${i}`, String(40 + i), money(amount)))
      await submit(ledger, accountId, named)
      expect(await asked([...named, ...charges(MENDED, NEW)])).toEqual([])
    })
  })

  describe('a row that runs again', () => {
    const LONG_AFTER = { nowMs: NOW + 400 * DAY_MS }
    const fed: Partial<DraftHeader> = { ...LONG_AFTER, fedBack: true, retry: ['FAILED', 'CANCELLED', 'INVALID'] }

    async function ended(as: 'FAILED' | 'CANCELLED' | 'INVALID', rows: readonly Instruction[]): Promise<BatchId> {
      const bad = rows.map(({ reference }, i) => faultyRow(i + 1, reference))
      const first = await submit(ledger, accountId, as === 'INVALID' ? bad : rows)
      if (as === 'CANCELLED') await ledger.cancel(first, 'no', CLERK, NOW)
      else if (as === 'FAILED') for (const { reference } of rows) await work(ledger, first, reference, 'FAILED')
      return first
    }

    test.each(['FAILED', 'CANCELLED', 'INVALID'] as const)(
      'after it was %s is asked about, however long ago another file paid for it',
      async (as) => {
        const rows = charges(FIRST, [100, 200, 300])
        const first = await ended(as, rows)
        const second = await submit(ledger, accountId, [
          sale('R-1', '40', money(100)), // under a reference of its own
          sale(made(MENDED, 2), '41', money(250)), // with another amount
        ])
        await pay(second, 'R-1', made(MENDED, 2))
        expect(await asked(linesOf(first, rows), fed)).toEqual([1, 2])
      },
    )

    test('is asked about because of a message, or of a row under a reference of its own, that asked for the same', async () => {
      const rows = ['40', '41'].map((vaultId) => sale(`own-${vaultId}`, vaultId))
      const first = await ended('FAILED', rows)
      const message = messageOf(accountId, sale('message', '40'))
      const { batchId } = (await place.open().recordMessage(message)) as { readonly batchId: BatchId }
      await pay(batchId, 'message')
      await pay(await submit(ledger, accountId, [sale('another', '41')]), 'another')
      expect(await asked(linesOf(first, rows), fed)).toEqual([1, 2])
    })

    test('as a declined charge that is asked for once more is held against later files in the same way', async () => {
      const rows = charges(FIRST, [100, 200])
      const first = await submit(ledger, accountId, rows)
      for (const { reference } of rows)
        await work(ledger, first, reference, 'DECLINED', { reason: 'Insufficient funds' })
      const second = await submit(ledger, accountId, charges(MENDED, [100, 250]))
      await pay(second, made(MENDED, 1), made(MENDED, 2))
      const reattempt = { categories: ['funds'], reasonRules: [], xtlOrderIdOf: (name: string) => name } as const
      const header = { fedBack: true, reattempt, nowMs: NOW + 60 * DAY_MS }
      const { review, lookalikes } = await check(linesOf(first, rows), header)
      expect(review).toMatchObject({ accepted: 2 })
      expect(lookalikes.map(({ rowNo }) => rowNo)).toEqual([1, 2])
    })

    test('is held against a file of which another line of the same results has a row', async () => {
      const rows = charges(FIRST, [100, 200])
      const first = await submit(ledger, accountId, rows)
      await ledger.cancel(first, 'a wrong price', CLERK, NOW)
      const second = await submit(ledger, accountId, charges(MENDED, [100, 250]), { onlyNew: true, fileSha256: 'bb' })
      const again = await submit(ledger, accountId, linesOf(first, rows), { fedBack: true, fileSha256: 'cc' })
      expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'DUPLICATE'])
      await pay(second, made(FIRST, 1), made(MENDED, 2))
      const { review, lookalikes } = await check(linesOf(again, rows), { fedBack: true, retry: ['CANCELLED'] })
      expect(review).toMatchObject({ accepted: 1, duplicate: 1 })
      expect(lookalikes.map(({ like }) => like)).toMatchObject([{ batchId: second, rowNo: 2 }])
    })

    test('among rejects is asked about, however long ago its file was mended; the other rows of the file were meant beside it', async () => {
      const bad = faultyRow(2, made(FIRST, 2))
      const first = await submit(ledger, accountId, [sale(made(FIRST, 1), '41', money(100)), bad])
      await pay(first, made(FIRST, 1))
      const again = (amount: number) => [sale(made(FIRST, 2), '41', money(amount))]
      expect(await asked(again(200))).toEqual([])
      const mended = [sale(made(MENDED, 1), '41', money(100)), sale(made(MENDED, 2), '41', money(200))]
      const second = await submit(ledger, accountId, mended, { onlyNew: true })
      await pay(second, made(MENDED, 2))
      for (const days of [5, 40])
        for (const amount of [200, 250]) expect(await asked(again(amount), { nowMs: NOW + days * DAY_MS })).toEqual([1])
    })

    test('is not asked about because of what was paid before it, what moved nothing, or another run', async () => {
      const rows = charges(FIRST, [100, 200, 300])
      await pay(await submit(ledger, accountId, [sale('before', '40', money(100))]), 'before')
      const first = await submit(ledger, accountId, rows, { runKey: '2026-04' })
      for (const { reference } of rows) await work(ledger, first, reference, 'FAILED')
      const nothing = await submit(ledger, accountId, [sale('nothing', '41', money(200))])
      await work(ledger, nothing, 'nothing', 'FAILED')
      const next = await submit(ledger, accountId, [sale('2026-05/c', '42', money(300))], { runKey: '2026-05' })
      await pay(next, '2026-05/c')
      expect(await asked(linesOf(first, rows), fed)).toEqual([])
    })

    test('is the only one of its file for which time does not count', async () => {
      const rows = charges(FIRST, [100], 'k')
      const first = await submit(ledger, accountId, rows, { runKey: 'k' })
      await work(ledger, first, made(FIRST, 1, 'k'), 'FAILED')
      const second = await submit(ledger, accountId, [sale('old', '49', money(900))])
      const row = await claimNamed(ledger, second, 'old', NOW)
      await settle(ledger, row, 'APPROVED', { sentAtMs: NOW, atMs: NOW })
      const header = { ...LONG_AFTER, runKey: 'k', retry: ['FAILED' as const] }
      const fresh = [sale('k/new', '49', money(900)), sale('k/newer', '49', money(800))]
      expect(await asked([...rows, ...fresh], header)).toEqual([])
    })
  })

  describe('a row with another amount in a file that holds rows of an earlier one', () => {
    /** S-1 to S-3 have references of their own, the last row has none. */
    const mixed = (hash: string, amount: number) => [
      ...[41, 42, 43].map((card, i) => sale(`S-${i + 1}`, String(card), money(100 * (i + 1)))),
      sale(made(hash, 4), '44', money(amount)),
    ]
    const LATER: Partial<DraftHeader> = { nowMs: NOW + 40 * DAY_MS, onlyNew: true }

    test('is asked about where those are known by their references, and where it has one itself now', async () => {
      const first = await submit(ledger, accountId, mixed(FIRST, 400))
      await pay(first, 'S-1', 'S-2', 'S-3', made(FIRST, 4))
      expect(await asked(mixed(MENDED, 450))).toEqual([4])
      expect(await asked(mixed(MENDED, 450), LATER)).toEqual([4])
      expect(await asked([...mixed(MENDED, 450).slice(0, 3), sale('S-4', '44', money(450))])).toEqual([4])
    })

    test('is asked about long after it was paid in another correction, or by a retry', async () => {
      const [one, two, three] = charges(FIRST, [100, 200, 300])
      const first = await submit(ledger, accountId, [one!, two!, faultyRow(3, three!.reference)])
      await pay(first, one!.reference)
      await work(ledger, first, two!.reference, 'FAILED')
      const again = await submit(ledger, accountId, linesOf(first, [one!, two!]), { fedBack: true, retry: ['FAILED'] })
      await pay(again, two!.reference)
      const second = await submit(ledger, accountId, charges(MENDED, [100, 200, 300]), { onlyNew: true })
      await pay(second, made(MENDED, 3))
      expect(await asked(charges('0f1e2d3c4b5a6978', [100, 250, 300]), LATER)).toEqual([2])
      expect(await asked(charges('0f1e2d3c4b5a6978', [100, 200, 350]), LATER)).toEqual([3])
    })

    test('is asked about long after it was paid, where the other rows were declined and asked for once more', async () => {
      const file = (amount: number) => [sale('S-1', '41'), sale('S-2', '42'), sale(made(FIRST, 3), '43', money(amount))]
      const first = await submit(ledger, accountId, file(1_000))
      await pay(first, made(FIRST, 3))
      const declined = file(1_000).slice(0, 2)
      for (const { reference } of declined)
        await work(ledger, first, reference, 'DECLINED', { reason: 'Insufficient funds' })
      const reattempt = { categories: ['funds'], reasonRules: [], xtlOrderIdOf: (name: string) => name } as const
      const again = await submit(ledger, accountId, linesOf(first, declined), { fedBack: true, reattempt })
      await pay(again, 'S-1~2', 'S-2~2')
      expect(await asked([...declined, sale(made(MENDED, 3), '43', money(1_200))], LATER)).toEqual([3])
    })

    test('is asked about long after it was mended among the results of another version', async () => {
      const [one, two, three] = charges(FIRST, [100, 200, 300])
      const bad = (hash: string) => faultyRow(2, made(hash, 2))
      const first = await submit(ledger, accountId, [one!, bad(FIRST), rowOf(3, three!)])
      await pay(first, made(FIRST, 1), made(FIRST, 3))
      const rejects = linesOf(first, [one!, two!]).slice(1)
      await pay(await submit(ledger, accountId, rejects, { fedBack: true, retry: ['INVALID'] }), made(FIRST, 2))
      const version = [...charges(MENDED, [100, 200, 300, 400])].map((row, i) =>
        i === 1 ? bad(MENDED) : rowOf(i + 1, row),
      )
      const second = await submit(ledger, accountId, version, { onlyNew: true })
      const mended = linesOf(second, charges(MENDED, [100, 200])).slice(1)
      expect(await asked(mended, { ...LATER, onlyNew: false, fedBack: true, retry: ['INVALID'] })).toEqual([2])
    })
  })

  describe('a file in which every amount changed, and the run key', () => {
    const AMOUNTS = [100, 200, 300]
    const CHANGED = [150, 250, 350]

    test.each([
      ['was forgotten', 'june', null, [1, 2, 3]],
      ['was added', null, 'june', [1, 2, 3]],
      ['is another', 'june', 'july', []],
    ])('that %s: only another one makes it another month’s', async (_, before, now, expected) => {
      const first = await submit(ledger, accountId, charges(FIRST, AMOUNTS, before), { runKey: before })
      await pay(first, ...AMOUNTS.map((_, i) => made(FIRST, i + 1, before)))
      await submit(ledger, accountId, [sale('of no run', '49')])
      for (const onlyNew of [false, true])
        expect(await asked(charges(MENDED, CHANGED, now), { runKey: now, onlyNew })).toEqual(expected)
    })
  })

  describe('a file under the run key of an earlier one', () => {
    const rows = (hash: string) => [
      sale('k/S-1', '41', money(100)),
      ...[2, 3, 4].map((n) => sale(made(hash, n, 'k'), `4${n}`, money(100 * n))),
    ]

    test.each([
      ['that retries', { retry: ['FAILED' as const] }],
      ['that retries nothing', {}],
    ])('and %s is a correction of it, however long ago it was paid', async (_, over) => {
      const first = await submit(ledger, accountId, rows(FIRST), { runKey: 'k' })
      await work(ledger, first, 'k/S-1', 'FAILED')
      await pay(first, ...[2, 3, 4].map((n) => made(FIRST, n, 'k')))
      const { review } = await check(rows(MENDED), { runKey: 'k', nowMs: NOW + 40 * DAY_MS, ...over })
      expect(review.correction).toMatchObject({ rows: 3 })
    })

    test('is asked about every row that was paid, however long ago, where most amounts were mended', async () => {
      const first = await submit(ledger, accountId, charges(FIRST, [100, 200, 300, 400], 'k'), { runKey: 'k' })
      await pay(first, ...[1, 2, 3, 4].map((n) => made(FIRST, n, 'k')))
      const mended = charges(MENDED, [100, 250, 350, 450], 'k')
      expect(await asked(mended, { runKey: 'k', nowMs: NOW + 400 * DAY_MS })).toEqual([1, 2, 3, 4])
      const named = mended.map((row, i) => ({ ...row, reference: `k/R-${i}` }))
      expect(await asked(named, { runKey: 'k', nowMs: NOW + 400 * DAY_MS })).toEqual([1, 2, 3, 4])
    })

    test('and one without a run key that retries is, too; where it retries nothing, it is next month’s', async () => {
      const file = (hash: string) => [sale('S-1', '41', money(100)), ...charges(hash, [100, 200, 300]).slice(1)]
      const first = await submit(ledger, accountId, file(FIRST))
      await work(ledger, first, 'S-1', 'FAILED')
      await pay(first, made(FIRST, 2), made(FIRST, 3))
      const later = { nowMs: NOW + 40 * DAY_MS }
      expect((await check(file(MENDED), { ...later, retry: ['FAILED'] })).review.correction).toMatchObject({ rows: 2 })
      expect((await check(file(MENDED), later)).review.correction).toBeNull()
    })
  })

  describe('a row that counts, although another attempt has its reference', () => {
    const again = (batchId: BatchId) => linesOf(batchId, refunds(FIRST, ['71']))
    const mended = refunds(MENDED, ['71'], { amountMinor: 900n })

    test('is what another amount is held against: in doubt twice, or answered late', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71']))
      const sent = await work(ledger, first, made(FIRST, 1), 'IN_DOUBT')
      await ledger.resolve(findingOn(made(FIRST, 1), { finding: 'not-executed' }), CLERK, NOW + DAY_MS)
      const second = await submit(ledger, accountId, again(first), { fedBack: true, retry: ['FAILED'] })
      await ledger.cancel(second, 'not now', CLERK, NOW + DAY_MS)
      expect(await asked(mended)).toEqual([])
      await settle(ledger, sent, 'APPROVED')
      expect(await asked(mended)).toEqual([1])
    })

    test('is none in a file that has it as itself', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71']))
      await work(ledger, first, made(FIRST, 1), 'FAILED')
      const second = await submit(ledger, accountId, again(first), { fedBack: true, retry: ['FAILED'] })
      await pay(second, made(FIRST, 1))
      const more = sale(made(MENDED, 2), '41')
      expect(await asked([...refunds(MENDED, ['71']), more], { onlyNew: true })).toEqual([])
    })

    test('counts where it was in doubt twice and was cancelled then', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71']))
      for (const day of [0, 1]) {
        const nowMs = NOW + day * DAY_MS
        const row = await claimNamed(ledger, first, made(FIRST, 1), nowMs)
        await settle(ledger, row, 'IN_DOUBT', { atMs: nowMs, sentAtMs: nowMs })
        const finding = findingOn(made(FIRST, 1), { finding: 'send-again', attempt: day + 1 })
        expect(await ledger.resolve(finding, CLERK, nowMs + DAY_MS)).toMatchObject({ kind: 'resolved' })
      }
      await ledger.cancel(first, 'enough', CLERK, NOW + 2 * DAY_MS)
      expect(await statesIn(ledger, first)).toEqual(['CANCELLED'])
      const nowMs = NOW + 3 * DAY_MS
      expect(await asked(refunds(MENDED, ['71']), { nowMs })).toEqual([1])
      expect(await asked(mended, { nowMs })).toEqual([1])
    })
  })

  describe('a row that runs again in a corrected file', () => {
    const AMOUNTS = [100, 200, 300]

    /** Row 1 was executed, called otherwise, and is asked for with another amount; that was declined. */
    async function wronglyCorrected() {
      const first = await submit(ledger, accountId, charges(FIRST, AMOUNTS))
      await pay(first, made(FIRST, 2), made(FIRST, 3))
      const sent = await work(ledger, first, made(FIRST, 1), 'IN_DOUBT')
      const finding = findingOn(made(FIRST, 1), { finding: 'not-executed' })
      expect(await ledger.resolve(finding, CLERK, NOW + DAY_MS)).toMatchObject({ kind: 'resolved' })
      const second = await submit(ledger, accountId, charges(MENDED, [150, 200, 300]), { onlyNew: true })
      await work(ledger, second, made(MENDED, 1), 'FAILED')
      return { sent, again: linesOf(second, charges(MENDED, [150])) }
    }

    test('is held against the row before it that a person then found to be approved', async () => {
      const { again } = await wronglyCorrected()
      const corrected = findingOn(made(FIRST, 1), { finding: 'approved', corrects: true })
      expect(await ledger.resolve(corrected, CLERK, NOW + 2 * DAY_MS)).toMatchObject({ kind: 'resolved' })
      expect(await asked(again, { fedBack: true, retry: ['FAILED'] })).toEqual([1])
    })

    test('is held against the row before it that was then answered as approved', async () => {
      const { sent, again } = await wronglyCorrected()
      await settle(ledger, sent, 'APPROVED')
      expect(await asked(again, { fedBack: true, retry: ['FAILED'] })).toEqual([1])
    })
  })
}
