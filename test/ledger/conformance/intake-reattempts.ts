// A declined charge is asked for once more: when, under which reference, and never twice.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { parseCurrency } from '../../../src/domain/money.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  EUR,
  factsWith,
  faultyRow,
  findingOn,
  headerOf,
  listOf,
  messageOf,
  NOW,
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
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, taken } from './given.ts'

const USD = parseCurrency('USD')!
/** What was sent on the first day is no look-alike any more. */
const NO_MORE = NOW + 31 * DAY_MS
const LATER = NOW + 7 * DAY_MS
const NO_FUNDS = { reason: 'Insufficient funds' }

const reattempt: NonNullable<DraftHeader['reattempt']> = {
  categories: ['funds', 'technical'],
  reasonRules: [],
  xtlOrderIdOf: (reference) => `T${reference.replaceAll(/\W/g, 'x')}`,
}
const ROSTER = { runKey: '2026-11' }
const again = (over: Partial<DraftHeader> = {}): Partial<DraftHeader> => ({
  ...ROSTER,
  reattempt,
  nowMs: LATER,
  fileSha256: 'bb'.repeat(32),
  ...over,
})

const named = (name: string) => `2026-11/${name}`
const charge = (name: string, vaultId: string, over: Partial<Instruction> = {}) => sale(named(name), vaultId, over)
const ADA = charge('ada', '501')
const BOB = charge('bob', '502')
const CY = charge('cy', '503')

/** The first run of the month: `ada` has paid, `bob` had no money, `cy` a stolen card. */
async function firstRun(): Promise<BatchId> {
  const batchId = await submit(ledger, accountId, [ADA, BOB, CY], ROSTER)
  await work(ledger, batchId, named('ada'), 'APPROVED')
  await work(ledger, batchId, named('bob'), 'DECLINED', NO_FUNDS)
  await work(ledger, batchId, named('cy'), 'DECLINED', { reason: 'Stolen card' })
  return batchId
}

const references = async (batchId: BatchId) =>
  (await dueIn(ledger, batchId, LATER)).map(({ instruction }) => instruction.reference)

type Answered = 'APPROVED' | 'DECLINED' | 'FAILED'

async function settleLater(batchId: BatchId, reference: string, to: Answered, reason = 'x', atMs = LATER) {
  await settle(ledger, await claimNamed(ledger, batchId, reference, atMs), to, { reason, atMs, sentAtMs: atMs })
}

/** A card is stored anew under a vault id. */
async function replaceCard(vaultId: string, atMs: number) {
  const update = sale(`card-${vaultId}`, vaultId, { operation: 'VAULT_UPDATE', money: null, xtlOrderId: null })
  const batchId = await submit(ledger, accountId, [update], { nowMs: atMs })
  await settleLater(batchId, update.reference, 'APPROVED', 'x', atMs)
}

async function familyOf(batchId: BatchId) {
  const reading = await ledger.openFamily(batchId, LATER)
  const rows = await listOf(reading.rows())
  await reading.close()
  return rows.map(({ reference, state }) => [reference, state])
}

export function describeReattempts(): void {
  describe('a declined charge', () => {
    test('takes no reference that another charge has as its own', async () => {
      const [one, two] = [charge('s', '501'), charge('s~2', '502')]
      const first = await submit(ledger, accountId, [one, two], ROSTER)
      await work(ledger, first, named('s'), 'DECLINED', NO_FUNDS)
      await work(ledger, first, named('s~2'), 'APPROVED')
      const second = await submit(ledger, accountId, [one, two], again())
      expect(await references(second)).toEqual([named('s~3')])
    })

    test('is asked about where the same e-mail was charged the same since, by another file', async () => {
      const who = (cust_email: string) => ({ details: { cust_email } })
      const [ann, bob] = [charge('bob', '502', who('Ann@x.example')), charge('cy', '503', who('bob@x.example'))]
      const first = await submit(ledger, accountId, [ann, bob, charge('ann-2', '504', who('bob@x.example'))], ROSTER)
      for (const name of ['bob', 'cy']) await work(ledger, first, named(name), 'DECLINED', NO_FUNDS)
      const codes = async () =>
        (await check([ann, bob], again())).lookalikes.map(({ rowNo, question }) => [rowNo, question?.code])
      await submit(ledger, accountId, [sale('2026-12/bob', '9', who('ann@x.example'))], { runKey: '2026-12' })
      expect(await codes()).toEqual([])
      await submit(ledger, accountId, [sale('paid', '8', who('ann@x.example'))])
      expect(await codes()).toEqual([[1, 'paid']])
    })

    test('is asked for once more as a new instruction; what has paid and what must not be asked is left', async () => {
      const first = await firstRun()
      const second = await submit(ledger, accountId, [ADA, BOB, CY], again())
      expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE'])
      const due = await dueRow(ledger, second, named('bob~2'), LATER)
      expect(due).toMatchObject({ attempt: 0, instruction: { xtlOrderId: 'T2026x11xbobx2', vaultId: '502' } })
      expect(await rowIn(ledger, first, named('bob'))).toMatchObject({ state: 'DECLINED', submittedAgain: null })
    })

    test('says what is asked, and why the others are not', async () => {
      await firstRun()
      const { review: reviewed } = await check([ADA, BOB, CY], again())
      expect(reviewed).toMatchObject({
        ...{ accepted: 1, duplicate: 2, invalid: 0, lookalikes: 0 },
        again: {
          retried: [{ state: 'DECLINED', count: 1 }],
          repeated: [
            { state: 'APPROVED', count: 1 },
            { state: 'DECLINED', count: 1 },
          ],
          notAsked: [{ why: 'fraud', count: 1 }],
        },
      })
    })

    test('is a duplicate of its last attempt, whoever hands it in', async () => {
      const first = await firstRun()
      const second = await submit(ledger, accountId, [ADA, BOB, CY], again())
      await settleLater(second, named('bob~2'), 'APPROVED')
      for (const header of [again(), { ...ROSTER, nowMs: LATER }]) {
        const third = await submit(ledger, accountId, [ADA, BOB, CY], header)
        expect((await ledger.batch(third))?.duplicateOf).toEqual({ APPROVED: 2, DECLINED: 1 })
      }
      const fed = { fedBack: true, reattempt, nowMs: LATER, retry: ['FAILED'] as const }
      const results = [rowOf(1, BOB, { cameFrom: { batchId: first, rowNo: 2 } })]
      expect((await check(results, fed)).review).toMatchObject({ accepted: 0, duplicate: 1 })
    })

    test('whose second attempt was declined as well has a third, from whichever results it comes', async () => {
      const first = await firstRun()
      const second = await submit(ledger, accountId, [BOB], again())
      await settleLater(second, named('bob~2'), 'DECLINED', NO_FUNDS.reason)
      const { draft } = await review(ledger, headerOf(accountId, again()), [BOB])
      const third = await draft.record(CLERK)
      expect(await references(third)).toEqual([named('bob~3')])
      await settleLater(third, named('bob~3'), 'APPROVED')
      const fed: Partial<DraftHeader> = { fedBack: true, reattempt, nowMs: LATER }
      for (const [reference, batchId, rowNo] of [
        [named('bob'), first, 2],
        [named('bob~2'), second, 1],
        [named('bob~3'), third, 1],
      ] as const) {
        const line = rowOf(1, { ...BOB, reference }, { cameFrom: { batchId, rowNo } })
        for (const header of [fed, { fedBack: true, nowMs: LATER }]) {
          const { review: reviewed, faults } = await check([line], header)
          const repeated = [{ state: 'APPROVED', count: 1 }]
          expect([reviewed.accepted, reviewed.again.repeated, faults]).toEqual([0, repeated, []])
        }
      }
    })

    test('whose second attempt failed runs that one again, under its reference and its xtl_order_id', async () => {
      await firstRun()
      const second = await submit(ledger, accountId, [BOB], again())
      await settleLater(second, named('bob~2'), 'FAILED')
      expect((await check([BOB], again())).review).toMatchObject({ accepted: 0, duplicate: 1 })
      const third = await submit(ledger, accountId, [BOB], again({ retry: ['FAILED'] }))
      expect(await dueRow(ledger, third, named('bob~2'), LATER)).toMatchObject({
        attempt: 1,
        instruction: { xtlOrderId: 'T2026x11xbobx2' },
      })
    })

    test('whose second attempt failed and ran again is told as that one, wherever it is asked about', async () => {
      await firstRun()
      const second = await submit(ledger, accountId, [ADA, BOB, CY], again())
      await settleLater(second, named('bob~2'), 'FAILED')
      const third = await submit(ledger, accountId, [ADA, BOB, CY], again({ retry: ['FAILED'] }))
      await settleLater(third, named('bob~2'), 'APPROVED')
      const fourth = await submit(ledger, accountId, [ADA, BOB, CY], { ...ROSTER, nowMs: LATER })
      expect((await ledger.batch(fourth))?.duplicateOf).toEqual({ APPROVED: 2, DECLINED: 1 })
      expect(await familyOf(fourth)).toEqual([
        [named('ada'), 'APPROVED'],
        [named('bob~2'), 'APPROVED'],
        [named('cy'), 'DECLINED'],
      ])
    })

    test('whose second attempt failed, ran again and was declined has a third', async () => {
      await firstRun()
      const second = await submit(ledger, accountId, [BOB], again())
      await settleLater(second, named('bob~2'), 'FAILED')
      const third = await submit(ledger, accountId, [BOB], again({ retry: ['FAILED'] }))
      await settleLater(third, named('bob~2'), 'DECLINED', NO_FUNDS.reason)
      const line = rowOf(1, { ...BOB, reference: named('bob~2') }, { cameFrom: { batchId: third, rowNo: 1 } })
      const fourth = await submit(ledger, accountId, [line], { fedBack: true, reattempt, nowMs: LATER })
      expect(await references(fourth)).toEqual([named('bob~3')])
    })

    test('is told once in a family, though its reference stood in two bad rows', async () => {
      await firstRun()
      const bad = await submit(ledger, accountId, [ADA, CY, BOB, BOB], { ...ROSTER, nowMs: NOW + DAY_MS })
      const second = await submit(ledger, accountId, [BOB], again())
      await settleLater(second, named('bob~2'), 'APPROVED')
      const approved = (await familyOf(bad)).filter(([, state]) => state === 'APPROVED')
      expect(approved).toEqual([
        [named('ada'), 'APPROVED'],
        [named('bob~2'), 'APPROVED'],
      ])
    })

    test('in a corrected file without references is the attempt that paid, and a new row beside it is new', async () => {
      const own = (hash: string, n: number, vaultId: string) => sale(named(`${hash.repeat(16)}-${n}`), vaultId)
      const first = [own('a', 1, '502'), own('a', 2, '601'), own('a', 3, '602')]
      const batchId = await submit(ledger, accountId, first, ROSTER)
      for (const [i, { reference }] of first.entries())
        await work(ledger, batchId, reference, i === 0 ? 'DECLINED' : 'APPROVED', NO_FUNDS)
      const second = await submit(ledger, accountId, first, again())
      await settleLater(second, `${first[0]!.reference}~2`, 'APPROVED')
      const mended = [own('b', 1, '502'), own('b', 2, '601'), own('b', 3, '602'), own('b', 4, '502')]
      const { review: reviewed } = await check(mended, { ...ROSTER, onlyNew: true, nowMs: LATER })
      expect(reviewed).toMatchObject({ accepted: 1, duplicate: 3 })
    })

    test('whose line became unreadable is a fault, and is not passed over', async () => {
      const first = await firstRun()
      const line = faultyRow(1, named('bob'), { cameFrom: { batchId: first, rowNo: 2 } })
      const { review: reviewed, faults } = await check([line], { fedBack: true, reattempt, nowMs: LATER })
      expect([reviewed.duplicate, faults.length]).toEqual([0, 1])
    })

    test('in results that are fed back is asked for once more under its run key', async () => {
      const first = await firstRun()
      const lines = [ADA, BOB, CY].map((row, i) => rowOf(i + 1, row, { cameFrom: { batchId: first, rowNo: i + 1 } }))
      const second = await submit(ledger, accountId, lines, { fedBack: true, reattempt, nowMs: LATER })
      expect(await references(second)).toEqual([named('bob~2')])
      // Next month's roster is not asked about: the late charge is that of its own month.
      await settleLater(second, named('bob~2'), 'APPROVED')
      const next = { runKey: '2026-05', nowMs: NOW + 22 * DAY_MS }
      const { lookalikes } = await check([sale('2026-05/bob', '502')], next)
      expect(lookalikes).toEqual([])
    })

    test('is not asked for by itself: without the wish it is a duplicate', async () => {
      await firstRun()
      expect((await check([ADA, BOB, CY], { ...ROSTER, nowMs: LATER })).review).toMatchObject({ accepted: 0 })
    })

    test('that was ever in doubt is not asked for: it may have been executed', async () => {
      const batchId = await submit(ledger, accountId, [BOB], ROSTER)
      await work(ledger, batchId, named('bob'), 'IN_DOUBT')
      const found = findingOn(named('bob'), { finding: 'declined', reason: NO_FUNDS.reason })
      expect(await ledger.resolve(found, CLERK, LATER)).toMatchObject({ kind: 'resolved' })
      const { review: reviewed } = await check([BOB], again())
      expect(reviewed).toMatchObject({ accepted: 0, again: { notAsked: [{ why: 'not-certain', count: 1 }] } })
    })

    test('is asked for whatever the reason when the card is another one', async () => {
      await firstRun()
      const replaced = charge('cy', '599')
      const second = await submit(ledger, accountId, [ADA, replaced], again())
      expect(await references(second)).toEqual([named('cy~2')])
      expect(await dueRow(ledger, second, named('cy~2'), LATER)).toMatchObject({ instruction: { vaultId: '599' } })
    })

    test.each([
      { ...ROSTER, key: '2026-11/' },
      { runKey: null, key: '' },
    ])('of the run $runKey is asked about where its new card is that of another reference', async ({ runKey, key }) => {
      const priced = (name: string, vaultId: string, amountMinor: bigint) =>
        sale(`${key}${name}`, vaultId, { money: { amountMinor, currency: EUR } })
      const bob = (vaultId: string) => priced('bob', vaultId, 1_001n)
      const first = await submit(ledger, accountId, [priced('ada', '501', 1_000n), bob('502')], { runKey })
      await work(ledger, first, `${key}ada`, 'APPROVED')
      await work(ledger, first, `${key}bob`, 'DECLINED', NO_FUNDS)
      const askedOf = async (row: Instruction, nowMs = LATER) =>
        (await check([row], again({ runKey, nowMs }))).lookalikes.map(({ question }) => question)
      expect(await askedOf(bob('501'))).toEqual([
        { code: 'other-reference', text: `charges vault id 501, which was that of ${key}ada; its own was 502` },
      ])
      expect(await askedOf(bob('599'))).toEqual([])
      // Asked about once is enough, and nobody else has the card of before.
      const second = await submit(ledger, accountId, [bob('501')], again({ runKey }))
      await settleLater(second, `${key}bob~2`, 'DECLINED', NO_FUNDS.reason)
      for (const vaultId of ['501', '502']) expect(await askedOf(bob(vaultId), NO_MORE)).toEqual([])
    })

    test('is asked about where its new card is that of another reference in the run before', async () => {
      await firstRun()
      const next = (vaultId: string) => sale('2026-06/bob', vaultId, { money: { amountMinor: 1_001n, currency: EUR } })
      const [june, before] = [{ runKey: '2026-06', nowMs: NO_MORE }, NO_MORE - DAY_MS]
      const batchId = await submit(ledger, accountId, [next('502')], { ...june, nowMs: before })
      await settleLater(batchId, '2026-06/bob', 'DECLINED', NO_FUNDS.reason, before)
      const { lookalikes } = await check([next('501')], again(june))
      expect(lookalikes.map(({ question }) => question?.text)).toEqual([
        'charges vault id 501, which was that of 2026-11/ada; its own was 502',
      ])
    })

    test('that paid with another card is no other reference in the next run', async () => {
      await firstRun()
      const second = await submit(ledger, accountId, [charge('bob', '599')], again())
      await settleLater(second, named('bob~2'), 'APPROVED')
      const { lookalikes } = await check([sale('2026-06/bob', '599')], { runKey: '2026-06', nowMs: NO_MORE })
      expect(lookalikes).toEqual([])
    })

    test('is asked for when its card was updated in the vault since', async () => {
      await firstRun()
      await replaceCard('503', NOW + DAY_MS)
      expect((await check([CY], again())).review).toMatchObject({ accepted: 1 })
      expect((await check([CY], again({ nowMs: NOW + 40 * DAY_MS }))).review).toMatchObject({ accepted: 1 })
    })

    test('is never asked of a card that was reported stolen, however long ago', async () => {
      const earlier = sale('2026-10/cy', '503')
      const before = NOW - 30 * DAY_MS
      const batchId = await submit(ledger, accountId, [earlier], { runKey: '2026-10', nowMs: before })
      await settleLater(batchId, earlier.reference, 'DECLINED', NO_FUNDS.reason, before)
      await firstRun()
      const { review: reviewed } = await check([earlier], again({ runKey: '2026-10', nowMs: NO_MORE + DAY_MS }))
      expect(reviewed).toMatchObject({ accepted: 0, again: { notAsked: [{ why: 'fraud', count: 1 }] } })
    })

    test('is not asked of a card that declined it for good, though another card was tried since', async () => {
      const batchId = await submit(ledger, accountId, [CY], ROSTER)
      await work(ledger, batchId, named('cy'), 'DECLINED', { reason: 'Expired card' })
      const second = await submit(ledger, accountId, [charge('cy', '599')], again())
      await settleLater(second, named('cy~2'), 'DECLINED', NO_FUNDS.reason)
      const { review: reviewed } = await check([CY], again({ nowMs: LATER + DAY_MS }))
      expect(reviewed).toMatchObject({ accepted: 0, again: { notAsked: [{ why: 'card', count: 1 }] } })
    })

    test('of a card that was replaced and may not be asked either is told, and refuses nothing', async () => {
      const old = charge('bob', '502', { money: { amountMinor: 777n, currency: EUR } })
      const batchId = await submit(ledger, accountId, [old, CY], ROSTER)
      await work(ledger, batchId, named('bob'), 'DECLINED', NO_FUNDS)
      await work(ledger, batchId, named('cy'), 'DECLINED', { reason: 'Stolen card' })
      const { review: reviewed, faults } = await check([{ ...old, vaultId: '503' }], again())
      expect(faults).toEqual([])
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 1, again: { notAsked: [{ why: 'fraud', count: 1 }] } })
    })

    test('is not asked of the card of another subscriber: references that moved on refuse the file', async () => {
      const sub = (n: number, vaultId: number) => charge(`s-${n}`, String(vaultId), { xtlOrderId: null })
      const roster = Array.from({ length: 10 }, (_, i) => sub(i + 1, 601 + i))
      const batchId = await submit(ledger, accountId, roster, ROSTER)
      for (const { reference } of roster.slice(0, 9)) await work(ledger, batchId, reference, 'APPROVED')
      await work(ledger, batchId, named('s-10'), 'DECLINED', NO_FUNDS)
      // A line was put in before the ninth: the tenth names the card that paid as the ninth.
      const moved = [...roster.slice(0, 8), sub(9, 699), sub(10, 609), sub(11, 610)]
      for (const nowMs of [LATER, NO_MORE]) {
        const { review: reviewed } = await check(moved, again({ onlyNew: true, nowMs }))
        expect(reviewed).toMatchObject({ invalid: 2, again: { retried: [] } })
      }
    })

    test('with another amount is an error as ever', async () => {
      await firstRun()
      for (const money of [null, { amountMinor: 999n, currency: EUR }, { amountMinor: 1_000n, currency: USD }]) {
        const { review: reviewed, faults } = await check([charge('bob', '502', { money })], again())
        expect([reviewed.accepted, reviewed.invalid, faults.map(({ column }) => column)]).toEqual([0, 1, ['reference']])
      }
    })

    test('of a card that was declined ten times in a day waits for the next day', async () => {
      const rows = Array.from({ length: 10 }, (_, i) => charge(`bob-${i}`, '502', { money: ADA.money }))
      const batchId = await submit(ledger, accountId, rows, ROSTER)
      for (const { reference } of rows) await work(ledger, batchId, reference, 'DECLINED', NO_FUNDS)
      const first = rows.slice(0, 1)
      const sameDay = await check(first, again({ nowMs: NOW + 3_600_000 }))
      expect(sameDay.review.again.notAsked).toEqual([{ why: 'limit', count: 1 }])
      // Five are left of fifteen in thirty days, and all ten want them.
      const nextDay = await check(rows, again({ nowMs: NOW + 2 * DAY_MS }))
      expect(nextDay.review).toMatchObject({ accepted: 5, again: { notAsked: [{ why: 'limit', count: 5 }] } })
      expect((await check(rows, again({ nowMs: NOW + 40 * DAY_MS }))).review.accepted).toBe(10)
    })

    test('that is a refund is not asked for', async () => {
      const batchId = await submit(ledger, accountId, [refund('back')], ROSTER)
      await work(ledger, batchId, 'back', 'DECLINED', NO_FUNDS)
      const { review: reviewed } = await check([refund('back')], again())
      expect(reviewed).toMatchObject({ accepted: 0, again: { notAsked: [{ why: 'not-a-charge', count: 1 }] } })
    })

    test('looks like a charge that was made for it by hand, and a person is asked', async () => {
      await firstRun()
      const byHand = await submit(ledger, accountId, [sale('bob-by-hand', '502')], { nowMs: NOW + DAY_MS })
      await settleLater(byHand, 'bob-by-hand', 'APPROVED')
      const { lookalikes } = await check([BOB], again())
      expect(lookalikes.map(({ reference, like }) => [reference, like.reference])).toEqual([
        [named('bob~2'), 'bob-by-hand'],
      ])
    })

    test('whose next reference is taken looks like that row, also where the file has both', async () => {
      await firstRun()
      const same = await submit(ledger, accountId, [charge('bob~2', '502')], { ...ROSTER, nowMs: NOW + DAY_MS })
      expect(await statesIn(ledger, same)).toEqual(['READY'])
      const alone = await check([BOB], again())
      expect(alone.review).toMatchObject({ accepted: 1, duplicate: 0, lookalikes: 1 })
      expect(alone.lookalikes[0]).toMatchObject({ reference: named('bob~3'), like: { reference: named('bob~2') } })
      const both = await check([BOB, charge('bob~2', '502')], again())
      expect(both.review).toMatchObject({ accepted: 1, duplicate: 1, lookalikes: 1 })
    })

    test('of a file without references is asked for from the same file, and is no corrected row of it', async () => {
      const own = sale('2026-11/0123456789abcdef-1', '502')
      const batchId = await submit(ledger, accountId, [own], ROSTER)
      await work(ledger, batchId, own.reference, 'DECLINED', NO_FUNDS)
      for (const onlyNew of [false, true]) {
        const { review: reviewed } = await check([own], again({ onlyNew }))
        expect(reviewed).toMatchObject({ accepted: 1, duplicate: 0, correction: null, lookalikes: 0 })
      }
    })

    test('of a bad row keeps its own reference in the results', async () => {
      await firstRun()
      const clash = { ...ADA, reference: named('dee'), vaultId: '777', xtlOrderId: 'T2026x11xbobx2' }
      const { draft, faults } = await review(ledger, headerOf(accountId, again()), [BOB, clash])
      expect(faults.map(({ column }) => column)).toEqual(['xtl_order_id', 'xtl_order_id'])
      const batchId = await draft.record(CLERK)
      expect(await rowIn(ledger, batchId, named('bob'))).toMatchObject({ state: 'INVALID' })
    })

    /** Each names one payment in `xtl_order_id`; the card of the second is another. */
    const invoiced = (name: string, vaultId: string) => charge(name, vaultId, { xtlOrderId: 'INV1001' })
    const [OLD_CARD, NEW_CARD] = [invoiced('old', '502'), invoiced('other', '777')]

    async function declined(row = OLD_CARD): Promise<BatchId> {
      const batchId = await submit(ledger, accountId, [row], ROSTER)
      await work(ledger, batchId, row.reference, 'DECLINED', NO_FUNDS)
      return batchId
    }

    const isTaken = (batchId: BatchId, state: string) => [
      ['xtl_order_id', `the xtl_order_id is that of another instruction (row 1 of batch ${batchId}, ${state})`],
    ]
    const problems = async (...checked: Parameters<typeof check>) =>
      (await check(...checked)).faults.map(({ column, problem }) => [column, problem])

    test.each([ROSTER, {}])('whose xtl_order_id a sale with %j took since, and paid, is left out', async (over) => {
      const first = await declined()
      const other = await submit(ledger, accountId, [NEW_CARD], over)
      await work(ledger, other, NEW_CARD.reference, 'APPROVED')
      const line = rowOf(1, OLD_CARD, { cameFrom: { batchId: first, rowNo: 1 } })
      const fedBack: Partial<DraftHeader> = { fedBack: true, reattempt, nowMs: LATER }
      const leftOut = { accepted: 1, invalid: 0, duplicate: 1, again: { notAsked: [{ why: 'taken', count: 1 }] } }
      const DEE = charge('dee', '504')
      expect((await check([line], fedBack)).review).toMatchObject({ ...leftOut, accepted: 0 })
      expect((await check([OLD_CARD, DEE], again({ onlyNew: true }))).review).toMatchObject(leftOut)
      const batchId = await submit(ledger, accountId, [OLD_CARD, DEE], again())
      expect(await rowIn(ledger, batchId, OLD_CARD.reference)).toMatchObject({ state: 'DUPLICATE' })
    })

    interface Other {
      readonly state?: 'IN_DOUBT' | 'SENDING' | 'PENDING'
      readonly row?: Partial<Instruction>
      readonly over?: Partial<DraftHeader>
      readonly isRefunded?: boolean
    }

    test.each<[what: string, other: Other]>([
      ...(['IN_DOUBT', 'SENDING', 'PENDING'] as const).map((state): [string, Other] => [state, { state }]),
      ['of another run', { row: { reference: '2026-12/other' }, over: { runKey: '2026-12' } }],
      ['a refund', { row: refund(named('other'), { xtlOrderId: 'INV1001' }) }],
      ['of less', { row: { money: { amountMinor: 100n, currency: EUR } } }],
      ['that is refunded', { isRefunded: true }],
    ])('whose xtl_order_id another instruction took since, and did not pay, is a fault: %s', async (_, other) => {
      const { state = 'APPROVED', row, over, isRefunded = false } = other
      await declined()
      const taking = { ...NEW_CARD, ...row }
      const batchId = await submit(ledger, accountId, [taking], { ...ROSTER, ...over })
      const answered = { facts: factsWith('777', { orderId: '901' }) }
      if (state === 'APPROVED') await work(ledger, batchId, taking.reference, state, answered)
      else if (state === 'IN_DOUBT') await work(ledger, batchId, taking.reference, state)
      else if (state === 'SENDING') await claimNamed(ledger, batchId, taking.reference, NOW)
      if (isRefunded) await submit(ledger, accountId, [refund('back', { orderId: '901' })], ROSTER)
      expect(await problems([OLD_CARD], again())).toEqual(isTaken(batchId, state))
      expect((await check([OLD_CARD], again())).faults[0]?.remedy).toMatch(/take the row out$/)
    })

    test.each(['FAILED', 'DECLINED', 'CANCELLED'] as const)(
      'whose xtl_order_id another instruction had that was %s is asked for',
      async (state) => {
        await declined()
        const other = await submit(ledger, accountId, [NEW_CARD], ROSTER)
        if (state === 'CANCELLED') await ledger.cancel(other, 'enough', CLERK, NOW)
        else await work(ledger, other, NEW_CARD.reference, state, NO_FUNDS)
        expect((await check([OLD_CARD], again())).review).toMatchObject({ accepted: 1, invalid: 0 })
      },
    )

    test.each(['FAILED', 'CANCELLED'] as const)(
      'whose second attempt was %s does not run that one again beside another instruction',
      async (state) => {
        await declined()
        const second = await submit(ledger, accountId, [OLD_CARD], again())
        if (state === 'FAILED') await settleLater(second, named('old~2'), state)
        else await ledger.cancel(second, 'enough', CLERK, LATER)
        const other = await submit(ledger, accountId, [NEW_CARD], { ...ROSTER, nowMs: LATER })
        expect(await problems([OLD_CARD], again({ retry: [state] }))).toEqual(isTaken(other, 'PENDING'))
      },
    )

    test('whose next attempt has paid has paid for its xtl_order_id, by whichever door another comes', async () => {
      await declined()
      await declined(NEW_CARD)
      const second = await submit(ledger, accountId, [OLD_CARD], again())
      await settleLater(second, named('old~2'), 'APPROVED')
      expect((await check([NEW_CARD], again())).review).toMatchObject({ accepted: 0, invalid: 0, duplicate: 1 })
      const third = invoiced('third', '778')
      expect(await problems([third], { ...ROSTER, nowMs: LATER })).toEqual(isTaken(second, 'APPROVED'))
      const message = messageOf(accountId, third, { ...ROSTER, nowMs: LATER })
      expect(await ledger.recordMessage(message)).toMatchObject({ kind: 'refused' })
    })

    test('and another row of the file with its xtl_order_id are not sent both', async () => {
      await declined()
      const repeated = ['xtl_order_id', 'the xtl_order_id is in more than one row of this file (line 3)']
      expect(await problems([OLD_CARD, NEW_CARD], again())).toEqual([repeated])
      await declined(NEW_CARD)
      const both = await check([OLD_CARD, NEW_CARD], again())
      expect(both.faults.map(({ rowNo, value }) => [rowNo, value])).toEqual([
        [1, 'INV1001'],
        [2, 'INV1001'],
      ])
    })

    test('is not asked for beside a message that took its xtl_order_id while the file was read', async () => {
      await declined()
      const { draft } = await review(ledger, headerOf(accountId, again()), [OLD_CARD])
      const message = messageOf(accountId, NEW_CARD, { ...ROSTER, nowMs: LATER })
      expect(await place.open().recordMessage(message)).toMatchObject({ kind: 'accepted' })
      await expect(draft.record(CLERK)).rejects.toThrow('Nothing was recorded and nothing was sent')
    })

    test('whose next attempt was approved after all while a file was read keeps its xtl_order_id from it', async () => {
      await declined()
      const second = await submit(ledger, accountId, [OLD_CARD], again())
      const attempt = await claimNamed(ledger, second, named('old~2'), LATER)
      await settle(ledger, attempt, 'FAILED', { reason: 'x', atMs: LATER, sentAtMs: LATER })
      const { draft } = await review(ledger, headerOf(accountId, { ...ROSTER, nowMs: LATER }), [NEW_CARD])
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expect(draft.record(CLERK)).rejects.toThrow('Nothing was recorded and nothing was sent')
    })

    test('takes no reference that a message took while the file was read', async () => {
      await firstRun()
      const { draft } = await review(ledger, headerOf(accountId, again()), [BOB])
      await taken(named('bob~2'), {}, LATER)
      await expect(draft.record(CLERK)).rejects.toThrow('Nothing was recorded and nothing was sent')
    })
  })
}
