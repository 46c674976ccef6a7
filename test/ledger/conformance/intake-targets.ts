// Whose order and whose card: rows and messages held against what is recorded of their targets.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Beside, Instruction } from '../../../src/domain/instruction.ts'
import { type Currency, parseCurrency } from '../../../src/domain/money.ts'
import {
  CLERK,
  DAY_MS,
  EUR,
  factsWith,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  recordMeant,
  refund,
  review,
  rowOf,
  sale,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, FIRST, made } from './given.ts'

export function describeTargets(): void {
  const euros = (amountMinor: bigint) => ({ amountMinor, currency: EUR })
  const saying = (said: Partial<Beside>): Beside => ({ vaultId: null, card: null, xtlOrderId: null, ...said })

  /** An approved row of the gateway's order `orderId`, transaction 41. */
  async function approved(row: Instruction, orderId: string | null = '777', over: Partial<DraftHeader> = {}) {
    const batchId = await submit(ledger, over.accountId ?? accountId, [row], over)
    await work(ledger, batchId, row.reference, 'APPROVED', {
      facts: factsWith(`41${orderId ?? row.reference}`, { orderId }),
      sentAtMs: over.nowMs ?? NOW,
    })
    return batchId
  }

  /** What files and messages with the row come to: the faults, the code of the question, and the refusal of the message. */
  async function judged(row: Instruction, over: Partial<DraftHeader> = {}) {
    const { faults, lookalikes } = await check([row], over)
    const { runKey = null, nowMs = NOW } = over
    const answer = await ledger.recordMessage(messageOf(over.accountId ?? accountId, row, { runKey, nowMs }))
    return {
      faults: faults.map(({ column, value, problem }) => ({ column, value, problem })),
      questions: lookalikes.map(({ question }) => question?.code ?? null),
      refused: answer.kind === 'refused' ? answer.reason : null,
    }
  }

  const FITS = { faults: [], questions: [], refused: null }

  describe('a row that names an order and says more of it', () => {
    const sold = (over: Partial<Instruction> = {}) => approved(sale('S', '9002', { xtlOrderId: 'INV1', ...over }))
    const back = (beside: Beside, over: Partial<Instruction> = {}) =>
      refund('R', { orderId: '000777', amountMinor: 100n, beside, ...over })

    test.each([
      [
        'vaultId',
        '9001',
        'customer_vault_id',
        'the order is of another customer (order 777: vault id 9002, by row 1 of',
      ],
      ['xtlOrderId', 'INV2', 'xtl_order_id', 'the order has another xtl_order_id (order 777: INV1, by row 1 of'],
    ] as const)('is bad where its %s is not that of the sale', async (what, value, column, problem) => {
      await sold()
      const { faults, refused } = await judged(back(saying({ [what]: value })))
      expect(faults).toEqual([{ column, value, problem: expect.stringContaining(problem) }])
      expect(refused).toMatch(/^other_target: /)
    })

    test('is bad where its card is not that of the sale', async () => {
      const card = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
      await sold({ vaultId: null, card })
      expect((await judged(back(saying({ card: '4444' })))).faults).toMatchObject([
        { column: 'pmt_numb', value: '4444' },
      ])
      expect(await judged(back(saying({ card: '1111', vaultId: '5' })))).toEqual(FITS)
    })

    test.each([
      [{ cust_email: 'bob@b.example' }, ['other-customer']],
      [{ cust_email: 'bob@b.example', cust_lname: 'Birch' }, ['other-customer']],
      [{ cust_email: 'bob@b.example', cust_lname: 'ASH' }, []],
      [{ cust_email: 'Ann@moved.example' }, []],
      [{ cust_fname: 'Bob' }, []],
    ])('is asked about with the customer %j beside a sale to Ann as %j', async (details, questions) => {
      await sold({ details: { cust_lname: 'Ash', cust_email: 'ann@a.example' } })
      const found = await judged(back(saying({ details })))
      expect([found.questions, found.refused === null]).toEqual([questions, questions.length === 0])
    })

    test('fits where all of it is that of the sale, which this program may have numbered itself', async () => {
      await sold({ xtlOrderId: 'TAAAAAAAAAAAAAAAAAAA', vaultId: '0009002' })
      expect(await judged(back(saying({ vaultId: '9002', xtlOrderId: 'INV2' })))).toEqual(FITS)
    })

    test('is not judged by another order, nor by a sale that was declined', async () => {
      const batchId = await submit(ledger, accountId, [sale('S', '9002')])
      await work(ledger, batchId, 'S', 'DECLINED', { facts: factsWith('41', { orderId: '777' }) })
      const { faults } = await judged(back(saying({ vaultId: '9001' })))
      expect(faults).toMatchObject([{ column: 'request_ref_po_id' }])
    })

    test('is not recorded where the sale was answered after the review', async () => {
      const batchId = await submit(ledger, accountId, [sale('S', '9002')])
      const { draft } = await review(ledger, headerOf(accountId), [back(saying({ vaultId: '9001' }))])
      await work(ledger, batchId, 'S', 'APPROVED', { facts: factsWith('41', { orderId: '777' }) })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('is bad as the capture of one authorization with the xtl_order_id of another', async () => {
      await approved(sale('A', '5', { operation: 'AUTH', xtlOrderId: 'X1' }), '777')
      await approved(sale('B', '6', { operation: 'AUTH', xtlOrderId: 'X2' }), '778')
      const capture = (xtlOrderId: string) => refund('C', { operation: 'CAUTH', orderId: '777', xtlOrderId })
      expect((await judged(capture('X2'))).faults).toMatchObject([{ column: 'xtl_order_id', value: 'X2' }])
      expect(await judged(capture('X1'))).toEqual(FITS)
    })
  })

  describe('an order id that is a transaction id here', () => {
    test('is bad, with the order id in its remedy', async () => {
      await approved(sale('S', '5'))
      const { faults } = await check([refund('R', { orderId: '0041777' })])
      expect(faults).toMatchObject([{ column: 'request_ref_po_id', value: '41777', remedy: 'write the order id, 777' }])
      expect((await judged(refund('R', { orderId: '41777' }))).refused).toMatch(/^transaction_id: /)
    })

    test('is an order id where an order has it too', async () => {
      await approved(sale('S', '5'))
      await approved(sale('T', '6'), '41777')
      expect(await judged(refund('R', { orderId: '41777' }))).toEqual(FITS)
    })
  })

  describe('an order id that is not known here', () => {
    test('is asked about where it is the xtl_order_id of an approved sale', async () => {
      await approved(sale('S', '5', { xtlOrderId: '088001234' }))
      const { questions, refused } = await judged(refund('R', { orderId: '88001234' }))
      expect(questions).toEqual(['own-number'])
      expect(refused).toContain('names order 88001234, which is known here as the xtl_order_id of order 777')
      await approved(sale('T', '6'), '88001234')
      expect(await judged(refund('Q', { orderId: '88001234' }))).toEqual(FITS)
    })

    test.each([
      ['REFUND', 'CAPTURE', 'nothing was paid for the order', /^over_refund: /],
      ['CAUTH', 'AUTH', 'nothing was authorized for the order', /^over_capture: /],
    ] as const)('takes no %s where its only %s was declined', async (operation, declined, problem, code) => {
      const first = sale('5', '5', { operation: declined })
      const batchId = await submit(ledger, accountId, [first])
      await work(ledger, batchId, '5', 'DECLINED', { facts: factsWith('45', { orderId: '777' }) })
      const { faults, refused } = await judged(refund('R', { operation, orderId: '000777' }))
      expect(faults).toEqual([{ column: 'request_ref_po_id', value: '777', problem: expect.stringContaining(problem) }])
      expect(refused).toMatch(code)
      await approved({ ...first, reference: 'S', vaultId: '6' })
      expect(await judged(refund('Q', { operation, orderId: '777' }))).toEqual(FITS)
    })

    test.each(['READY', 'IN_DOUBT', 'DECLINED'] as const)(
      'is refunded where its only capture is %s, unless its authorization alone was declined',
      async (state) => {
        const facts = factsWith('45', { orderId: '777' })
        const capture = refund('C', { operation: 'CAUTH', orderId: '777', amountMinor: 500n })
        const batchId = await submit(ledger, accountId, [capture])
        if (state !== 'READY') await work(ledger, batchId, 'C', state, { facts })
        const isFaulty = async () =>
          (await check([refund('R', { orderId: '777', amountMinor: 100n })])).faults.length > 0
        expect(await isFaulty()).toBe(false)
        const first = await submit(ledger, accountId, [sale('A', '5', { operation: 'AUTH' })])
        await work(ledger, first, 'A', 'DECLINED', { facts: factsWith('46', { orderId: '777' }) })
        expect(await isFaulty()).toBe(state === 'DECLINED')
      },
    )
  })

  describe('a refund under the reference of another one of its order', () => {
    test.each([
      ['RMA-17', 'RMA-17-corrected', ['correction']],
      ['RMA-17 (NEU)', 'RMA-17', ['correction']],
      ['RMA17A', 'RMA17Aneu', ['correction']],
      ['RMA.17', 'RMA-17-corrected', ['correction']],
      ['RMA-17', 'RMA-17-2', []],
      ['RMA-17', 'RMA-171', []],
    ])('after %s, %s for less is asked about as %j', async (before, reference, questions) => {
      await submit(ledger, accountId, [refund(before, { orderId: '700', amountMinor: 5_000n })])
      const next = refund(reference, { orderId: '0700', amountMinor: 4_500n })
      const found = await judged(next)
      expect([found.questions, found.refused !== null]).toEqual([questions, questions.length > 0])
      expect((await check([{ ...next, orderId: '701' }])).lookalikes).toEqual([])
    })
  })

  describe('a sale under the reference of another one of its vault id', () => {
    test.each([
      ['inv-71', 'inv-71-corrected', null, ['correction']],
      ['inv-71', 'INV 071', null, ['correction']],
      ['12/inv-71', '12/korr-inv-71', '12', ['correction']],
      ['12/inv-71', '11/inv-71-neu', '11', []],
      ['inv-71', 'inv-72', null, []],
    ])(
      'after %s, %s for more under the run key %s is asked about as %j',
      async (before, reference, runKey, questions) => {
        await submit(ledger, accountId, [sale(before, '5')], { runKey: runKey === null ? null : '12' })
        const next = sale(reference, '0005', { money: euros(1_090n), xtlOrderId: 'X1' })
        const found = await judged(next, { runKey })
        expect([found.questions, found.refused !== null]).toEqual([questions, questions.length > 0])
        expect((await check([{ ...next, vaultId: '6' }], { runKey })).lookalikes).toEqual([])
      },
    )
  })

  describe('a sale beside an authorization', () => {
    const authorized = (over: Partial<Instruction> = {}, header: Partial<DraftHeader> = {}) =>
      approved(sale('A', '5', { operation: 'AUTH', ...over }), '777', header)
    const charge = (over: Partial<Instruction> = {}) => sale('S', '0005', over)
    const inDays = (days: number) => ({ nowMs: NOW + days * DAY_MS })

    test('of the same card and amount is asked about for as long as it is open', async () => {
      await authorized()
      const { questions, refused } = await judged(charge())
      expect(questions).toEqual(['authorized'])
      expect(refused).toContain(
        'it is a sale of its own, and order 777 is authorized for the same: is its capture meant (CAUTH)? (A, row 1 of batch',
      )
      expect((await check([charge()], inDays(7))).lookalikes).toHaveLength(1)
      expect((await check([charge()], inDays(8))).lookalikes).toEqual([])
    })

    test('of the same xtl_order_id is asked about, whatever it charges', async () => {
      await authorized({ xtlOrderId: 'X1' })
      expect((await judged(charge({ xtlOrderId: 'X1', vaultId: '6', money: euros(5n) }))).questions).toEqual([
        'authorized',
      ])
    })

    test('of another card or currency is not', async () => {
      await authorized()
      expect(await judged(charge({ vaultId: '6' }))).toEqual(FITS)
      const dollars = { amountMinor: 999n, currency: parseCurrency('USD') as Currency }
      expect((await judged(sale('U', '5', { money: dollars }))).questions).toEqual(['currency'])
    })

    test.each([900n, 1_150n])(
      'of the same vault id and %i is asked about for as long as nothing is captured or voided',
      async (amountMinor) => {
        await authorized()
        const part = charge({ money: euros(amountMinor) })
        const { questions, refused } = await judged(part)
        expect(questions).toEqual(['authorized'])
        expect(refused).toContain(
          'it is a sale of its own, and order 777 is authorized for 10.00 EUR: is its capture meant (CAUTH)? (A, row 1 of batch',
        )
        expect((await check([part], inDays(8))).lookalikes).toEqual([])
        await submit(ledger, accountId, [refund('C', { operation: 'CAUTH', orderId: '777', amountMinor: 100n })])
        expect(await judged(part)).toEqual(FITS)
        await approved(sale('B', '8', { operation: 'AUTH' }), '778')
        await submit(ledger, accountId, [refund('V', { operation: 'CANCEL', orderId: '778', money: null })])
        expect(await judged(sale('T', '8', { money: euros(amountMinor) }))).toEqual(FITS)
      },
    )

    test.each([
      [345n, 300n, ['charged']],
      [300n, 301n, []],
    ])('of %i is asked about in the capture of %i that follows', async (charged, captured, questions) => {
      const capture = refund('C', { operation: 'CAUTH', orderId: '0777', money: euros(captured) })
      await approved(sale('0', '5', { money: euros(900n), xtlOrderId: 'before' }), '776')
      await authorized({ money: euros(400n) })
      await recordMeant(ledger, messageOf(accountId, sale('K', '6', { money: euros(900n) })))
      const ofRun = sale('12/s', '5', { money: euros(900n), xtlOrderId: 'run' })
      await submit(ledger, accountId, [ofRun], { runKey: '12' })
      expect(await judged({ ...capture, reference: 'D', money: euros(1n) })).toEqual(FITS)
      await submit(ledger, accountId, [charge({ money: euros(charged) })])
      const { questions: found, refused } = await judged(capture)
      expect(found).toEqual(questions)
      if (questions.length > 0)
        expect(refused).toContain('captures what vault id 5 was charged by a sale since it was authorized (S, row 1')
    })

    test('that was captured is asked about like a second sale, and that was voided is not', async () => {
      await authorized()
      await submit(ledger, accountId, [refund('C', { operation: 'CAUTH', orderId: '777' })])
      expect((await check([charge()], inDays(30))).lookalikes).toHaveLength(1)
      expect((await check([charge()], inDays(31))).lookalikes).toEqual([])
      await approved(sale('B', '8', { operation: 'AUTH' }), '778')
      await submit(ledger, accountId, [refund('V', { operation: 'CANCEL', orderId: '778', money: null })])
      expect(await judged(sale('T', '8'))).toEqual(FITS)
    })

    test('is accepted by its number, or by the reference of the authorization', async () => {
      await authorized()
      expect(await recordMeant(ledger, messageOf(accountId, charge()))).toMatchObject({ kind: 'accepted' })
    })

    test.each([1_000n, 999n])('that arrived after the review of a sale of %s is not recorded', async (amountMinor) => {
      const { draft } = await review(ledger, headerOf(accountId), [charge({ money: euros(amountMinor) })])
      await place.open().recordMessage(messageOf(accountId, sale('A', '5', { operation: 'AUTH' })))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test.each([1_000n, 999n])('that waits is asked about by a sale of %s', async (amountMinor) => {
      await submit(ledger, accountId, [sale('A', '5', { operation: 'AUTH' })])
      const { questions, refused } = await judged(charge({ money: euros(amountMinor) }))
      expect(questions).toEqual(['authorized'])
      expect(refused).toContain('an order waits to be authorized for ')
    })

    test('in one file is asked about, in whichever order', async () => {
      const [auth, own] = [sale('A', '5', { operation: 'AUTH' }), charge()]
      const askedOf = async (...rows: readonly Instruction[]) =>
        (await check(rows)).lookalikes.map(({ rowNo, question, besideVoid }) => [rowNo, question?.code, besideVoid])
      expect(await askedOf(auth, own)).toEqual([[2, 'authorized', false]])
      expect(await askedOf(own, auth)).toEqual([[2, 'charged', false]])
      expect(await askedOf(auth, charge({ vaultId: '6' }))).toEqual([])
    })

    test('is named as the first of several above, and as the first of several that wait', async () => {
      const [first, second] = ['1', '2'].map((no) => sale(no, '5', { operation: 'AUTH', xtlOrderId: no })) as [
        Instruction,
        Instruction,
      ]
      const likes = async (...rows: readonly Instruction[]) =>
        (await check(rows)).lookalikes.map(({ rowNo, like }) => [rowNo, like.reference])
      expect(await likes(first, second, charge())).toEqual([
        [2, '1'],
        [3, '1'],
      ])
      await recordMeant(ledger, messageOf(accountId, first))
      await recordMeant(ledger, messageOf(accountId, second))
      expect(await likes(charge(), sale('P', '5', { money: euros(900n) }))).toEqual([
        [1, '1'],
        [2, '1'],
      ])
    })

    test('that comes after the sale is asked about', async () => {
      await approved(charge())
      expect((await judged(sale('A', '5', { operation: 'AUTH' }))).questions).toEqual(['charged'])
      expect(await judged(sale('B', '5', { operation: 'AUTH', money: euros(999n) }))).toEqual(FITS)
    })
  })

  describe('a void', () => {
    const cancel = (amountMinor: bigint | null) =>
      refund('V', { operation: 'CANCEL', orderId: '777', money: amountMinor === null ? null : euros(amountMinor) })

    test.each([
      [999n, ['part-void']],
      [1_000n, []],
      [null, []],
    ])('of %s, of an order of 1000, is asked about as %j', async (amountMinor, questions) => {
      await approved(sale('S', '5'))
      expect((await judged(cancel(amountMinor))).questions).toEqual(questions)
    })

    test('of less than its authorization is asked about too', async () => {
      await approved(sale('S', '5', { operation: 'AUTH' }))
      expect((await judged(cancel(1n))).refused).toContain(
        'voids 0.01 of order 777, 10.00 EUR; the gateway may release all of it',
      )
    })
  })

  describe('a void of an authorization that is captured in part', () => {
    const ofOrder = (reference: string, operation: 'CAUTH' | 'CANCEL', amountMinor: bigint) =>
      refund(reference, { operation, orderId: '777', money: euros(amountMinor) })
    const done = async (row: Instruction) => {
      const batchId = await submit(ledger, accountId, [row])
      const facts = factsWith(`42${row.operation}`, { orderId: '777' })
      await work(ledger, batchId, row.reference, 'APPROVED', { facts })
    }

    test.each([
      [250n, 750n, null],
      [250n, 751n, 'voids 7.51 EUR of order 777, of which 2.50 EUR was captured and 7.50 EUR is left (C, row 1'],
      [1_000n, 1_000n, null],
    ])('of %s is asked about where it voids %s', async (captured, voided, problem) => {
      await approved(sale('A', '5', { operation: 'AUTH' }))
      await done(ofOrder('C', 'CAUTH', captured))
      const { questions, refused } = await judged(ofOrder('V', 'CANCEL', voided))
      expect(questions).toEqual(problem === null ? [] : ['part-void'])
      expect(refused ?? '').toContain(problem ?? '')
    })

    test('is asked about where another void took of the rest', async () => {
      await approved(sale('A', '5', { operation: 'AUTH' }))
      await done(ofOrder('C', 'CAUTH', 250n))
      await done(ofOrder('V1', 'CANCEL', 300n))
      expect((await check([ofOrder('V2', 'CANCEL', 450n)])).lookalikes).toEqual([])
      expect((await judged(ofOrder('V3', 'CANCEL', 451n))).refused).toContain(
        '2.50 EUR was captured and 4.50 EUR is left',
      )
    })
  })

  describe('a void without an amount', () => {
    const cancel = (orderId: string) => refund('V', { operation: 'CANCEL', orderId, money: null })

    test('is asked about where the order was captured, and is not where it is only authorized or its capture was declined', async () => {
      await approved(sale('A', '5', { operation: 'AUTH' }))
      const capture = refund('C', { operation: 'CAUTH', orderId: '777', amountMinor: 750n })
      const declined = await submit(ledger, accountId, [refund('D', { operation: 'CAUTH', orderId: '777' })])
      await work(ledger, declined, 'D', 'DECLINED')
      expect((await check([cancel('777')])).lookalikes).toEqual([])
      const { draft } = await review(ledger, headerOf(accountId), [cancel('777')])
      const taken = await place.open().recordMessage(messageOf(accountId, capture))
      const { batchId } = taken as { batchId: BatchId }
      await work(ledger, batchId, 'C', 'APPROVED', { facts: factsWith('42', { orderId: '777' }) })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      const { questions, refused } = await judged(cancel('777'))
      expect(questions).toEqual(['part-void'])
      expect(refused).toContain(
        'voids all of order 777, of which money was captured, and gives no amount (C, row 1 of batch',
      )
    })
  })

  describe('a roster', () => {
    /** The price is another one in each month: else what waits would look alike. */
    const roster = (runKey: string, ids: readonly string[]) =>
      ids.map((id, i) =>
        sale(`${runKey}/sub-${i + 1}`, id, { xtlOrderId: `${runKey}${i}`, money: euros(1_000n + BigInt(runKey)) }),
      )
    const december = { runKey: '12', nowMs: NOW + 31 * DAY_MS }
    const november = () => submit(ledger, accountId, roster('11', ['7001', '7002', '7003']), { runKey: '11' })

    test('whose vault ids have slipped by a row is asked about', async () => {
      await november()
      const { lookalikes } = await check(roster('12', ['7003', '7001', '7002']), december)
      expect(lookalikes.map(({ question }) => question?.code)).toEqual(Array(3).fill('other-reference'))
      expect(lookalikes[0]?.question?.text).toBe('charges vault id 7003, which was that of 11/sub-3; its own was 7001')
      const [first] = roster('12', ['7003'])
      expect((await judged(first as Instruction, december)).refused).toContain('which was that of 11/sub-3')
    })

    test('that came as single messages is that of the run before, as one in a file is', async () => {
      const runKey = '2026-05'
      const later = { nowMs: NOW + 22 * DAY_MS }
      await ledger.recordMessage(messageOf(accountId, sale('2026-04/sub-9', '7009'), { runKey: '2026-04' }))
      const rows = ['7001', '7002', '7003'].map((id, i) => sale(`${runKey}/sub-${i + 1}`, id, { xtlOrderId: `A${i}` }))
      for (const row of rows) {
        const { batchId } = (await ledger.recordMessage(messageOf(accountId, row, { runKey }))) as { batchId: BatchId }
        await work(ledger, batchId, row.reference, row === rows[0] ? 'DECLINED' : 'APPROVED')
      }
      const next = (key: string, sub: number, vaultId: string, amountMinor = 1_000n) =>
        sale(`${key}/sub-${sub}`, vaultId, { xtlOrderId: `B${sub}`, money: euros(amountMinor) })
      const of = (key: string) => ({ ...later, runKey: key })
      const slipped = await judged(next('2026-06', 2, '7003', 1_001n), of('2026-06'))
      expect(slipped.questions).toEqual(['other-reference'])
      expect(slipped.refused).toContain('which was that of 2026-05/sub-3; its own was 7002')
      const again = await judged(next('2026-05-final', 3, '7003'), of('2026-05-final'))
      expect(again.questions).toEqual(['same-month'])
      expect(again.refused).toContain('is recorded in the run 2026-05, of the same month')
      expect((await judged(next('2026-06', 1, '8001'), of('2026-06'))).questions).toEqual(['failed-run'])
    })

    test.each([
      [[2], ['failed-run']],
      [
        [2, 4],
        ['failed-run', 'failed-run'],
      ],
      [[1, 2], []],
      [[2, 5], []],
      [[4], [], 'had a second attempt'],
    ])(
      'of which only the rows %j come under the next key, mended, is asked about as %j',
      async (subs, codes, again?) => {
        const rows = roster('11', ['7001', '7002', '7003', '7004'])
        const batchId = await submit(ledger, accountId, rows, { runKey: '11' })
        for (const [i, { reference }] of rows.entries())
          await work(ledger, batchId, reference, i % 2 === 0 ? 'APPROVED' : 'DECLINED')
        if (again !== undefined) await submit(ledger, accountId, [sale('11/sub-4~2', '9004')], { runKey: '11' })
        const next = roster('12', ['7001', '8002', '7003', '8004', '8005'])
        const found = await check(
          next.filter((_, i) => subs.includes(i + 1)),
          december,
        )
        expect(found.lookalikes.map(({ question }) => question?.code)).toEqual(codes)
      },
    )

    const WHO = ['ann', 'bob', 'cleo', 'dora']
    const named = (file: string, customers: readonly string[]) =>
      customers.map((who, i) =>
        sale(made(file, i), `700${i}`, { xtlOrderId: `${file}${i}`, details: { cust_email: `${who}@example.com` } }),
      )

    test.each([
      [['dora', 'ann', 'bob', 'cleo'], 4],
      [['zoe', 'yves', 'cleo', 'dora'], 0], // two new addresses
      [['cleo', 'bob', 'ann', 'zoe'], 2], // two exchanged, and a new address
      [['bob', 'zoe', 'cleo', 'dora'], 0], // one of two exchanged
    ])('without references and with the customers %j is asked about in %i rows', async (customers, rows) => {
      const batchId = await submit(ledger, accountId, named('b', WHO), { runKey: '11' })
      for (const { reference } of named('b', WHO)) await work(ledger, batchId, reference, 'APPROVED')
      const questions = (await check(named('c', customers), december)).lookalikes.map(({ question }) => question?.code)
      expect(questions).toEqual(Array(rows).fill('other-payer'))
    })

    test('whose running numbers have moved is asked about only where a vault id is charged otherwise than before, or twice', async () => {
      const batchId = await november()
      for (const name of ['sub-1', 'sub-2', 'sub-3']) await work(ledger, batchId, `11/${name}`, 'APPROVED')
      const moved = (amounts: readonly bigint[], ids = ['7002', '7003']) =>
        roster('12', ids).map((row, i) => ({ ...row, money: euros(amounts[i] ?? 1_011n) }))
      const askedOf = async (rows: readonly Instruction[]) =>
        (await check(rows, december)).lookalikes.map(({ rowNo }) => rowNo)
      expect(await askedOf(moved([1_011n, 1_011n]))).toEqual([])
      expect(await askedOf(moved([1_011n, 1_012n]))).toEqual([2])
      expect(await askedOf(moved([], ['7002', '7003', '7003']))).toEqual([2, 3])
    })

    test('under a key that has the key of its month in it is asked about, whatever the age', async () => {
      const row = (runKey: string) => sale(`${runKey}/a`, '7001', { xtlOrderId: runKey.replaceAll('-', '') })
      await approved(row('2026-05'), null, { runKey: '2026-05' })
      const later = { nowMs: NOW + 22 * DAY_MS }
      const { questions, refused } = await judged(row('2026-05-final'), { ...later, runKey: '2026-05-final' })
      expect(questions).toEqual(['same-month'])
      expect(refused).toContain('is recorded in the run 2026-05, of the same month, with the same reference, card and')
      expect((await check([row('subs-2026-05')], { ...later, runKey: 'subs-2026-05' })).lookalikes).toHaveLength(1)
      expect((await check([row('2026-06')], { ...later, runKey: '2026-06' })).lookalikes).toEqual([])
      const other = sale('2026-05-final/b', '7001', { xtlOrderId: 'B' })
      expect((await check([other], { ...later, runKey: '2026-05-final' })).lookalikes).toEqual([])
    })

    test('of a month far from today is asked about, where nothing is recorded of its run', async () => {
      const row = (runKey: string, name = 'a') =>
        sale(`${runKey}/${name}`, '7001', { xtlOrderId: `${name}${runKey.replace('-', '')}` })
      await approved(row('2026-04'), null, { runKey: '2026-04', nowMs: NOW - 25 * DAY_MS })
      const { questions, refused } = await judged(row('2025-05'), { runKey: '2025-05' })
      expect(questions).toEqual(['far-run'])
      expect(refused).toContain(
        'is the first of the run 2025-05, a month or week that is far from today or does not exist',
      )
      expect((await check([row('2026-05')], { runKey: '2026-05' })).lookalikes).toEqual([])
      await recordMeant(ledger, messageOf(accountId, row('2025-05'), { runKey: '2025-05' }))
      const next = sale('2025-05/n', '7002')
      expect((await check([next], { runKey: '2025-05' })).lookalikes).toEqual([])
    })

    test.each<[refs: string[], ids: string[], is: string, customers: boolean, asked: number[]]>([
      [['K-4711', 'K-0815', 'K-9000'], ['7002', '7003'], 'slipped', false, [1, 2]],
      [['K-4711', 'K-0815', 'K-9000'], ['7002', '7001'], 'exchanged', false, [1, 2]],
      [['K-4', 'K-5', 'K-6'], ['7002', '7003'], 'slipped, with numbers of customers', false, [1, 2]],
      [['K-4711', 'K-0815', 'K-9000'], ['7002', '7003'], 'those of other references, with their customers', true, []],
      [['K-1', 'K-2', 'K-3'], ['7002', '7003'], 'those of other lines', false, []],
      [['L2', 'L3', 'L4'], ['7002', '7003'], 'those of other lines below a header', false, []],
      [['L3', 'L4', 'L5'], ['7002', '7003'], 'those of other customers', false, [1, 2]],
    ])(
      'with the references %j whose vault ids %j are %s is asked about in the rows',
      async (refs, ids, _, hasCustomers, asked) => {
        const of = (run: string, vaultIds: readonly string[]) =>
          vaultIds.map((id, i) => {
            const details = hasCustomers ? { cust_email: `${id}@a.example` } : {}
            return sale(`${run}/${refs[i]}`, id, { xtlOrderId: `${run}${i}`, details })
          })
        const batchId = await submit(ledger, accountId, of('11', ['7001', '7002', '7003']), { runKey: '11' })
        for (const name of refs) await work(ledger, batchId, `11/${name}`, 'APPROVED')
        expect((await check(of('12', ids), december)).lookalikes.map(({ rowNo }) => rowNo)).toEqual(asked)
      },
    )

    test('whose running numbers have moved is asked about as well where it is what failed in the run before', async () => {
      const batchId = await november()
      for (const name of ['sub-1', 'sub-2']) await work(ledger, batchId, `11/${name}`, 'DECLINED')
      await work(ledger, batchId, '11/sub-3', 'APPROVED')
      const rows = roster('12', ['7002', '7001']).map((row) => ({ ...row, money: euros(1_011n) }))
      const { lookalikes } = await check(rows, december)
      expect(lookalikes.map(({ question }) => question?.code)).toEqual(['failed-run', 'failed-run'])
    })

    test('that says that it is of the month before, and is the same file, is asked about', async () => {
      const oct = {
        runKey: '2026-10',
        fileSha256: 'oct',
        months: { names: ['roster.xlsx', 'October 2026'], columns: [] },
      }
      await approved(sale('2026-10/a', '7001'), null, oct)
      const nov = { ...oct, runKey: '2026-11', nowMs: Date.UTC(2026, 10, 4) }
      const askedOf = async (over: Partial<DraftHeader>) =>
        (await check([sale(`${over.runKey}/a`, '7001')], { ...nov, ...over })).lookalikes.map(
          ({ question }) => question,
        )
      expect(await askedOf(nov)).toMatchObject([
        { code: 'other-month', text: expect.stringContaining('speaks of the month of the run 2026-10') },
      ])
      const asMonth = { ...nov, columns: ['Month'], months: { names: ['roster-2026-11.csv'], columns: ['Month'] } }
      const inColumn = rowOf(1, sale('2026-11/a', '7001'), { cells: ['Oktober 2026'] })
      expect((await check([inColumn], asMonth)).lookalikes).toHaveLength(1)
      expect(await askedOf({ ...nov, fileSha256: 'nov' })).toEqual([])
      for (const names of [['roster.csv', 'Members'], ['members-2024-05.csv'], ['roster-2026-11.csv', 'Oct 2026']])
        expect(await askedOf({ ...nov, months: { ...oct.months, names } })).toEqual([])
    })

    test('whose name is of the month in which it was made is asked about once, and not for ever', async () => {
      const under = (runKey: string, days: number) => ({
        ...{ runKey, nowMs: NOW + days * DAY_MS, fileSha256: 'roster' },
        months: { names: ['roster-may-2026.csv'], columns: [] },
      })
      const [may, june, july] = [under('2026-05', 0), under('2026-06', 31), under('2026-07', 61)]
      const isAsked = async (header: typeof may) =>
        (await check([sale(`${header.runKey}/a`, '7001')], header)).lookalikes.length === 1
      await approved(sale('2026-05/a', '7001'), null, may)
      expect([await isAsked(june), await isAsked(july)]).toEqual([true, true])
      await approved(sale('2026-06/a', '7001'), null, { ...june, nowMs: NOW, lookalikesAllowed: 1 })
      expect(await isAsked(july)).toBe(false)
    })

    test('with the vault id of another customer in one row is asked about where name and e-mail are others', async () => {
      const to = (reference: string, [cust_lname, cust_email]: readonly [string, string]) =>
        sale(reference, '7001', { xtlOrderId: reference, details: { cust_lname, cust_email } })
      const asked = async (who: readonly [string, string], over: Partial<DraftHeader>) =>
        (await check([to(`${over.runKey}/z`, who)], over)).lookalikes.map(({ question }) => question?.code)
      const [ann, zoe] = [['Ash', 'ann@a.example'] as const, ['Young', 'zoe@z.example'] as const]
      await approved(to('11/a', ann), null, { runKey: '11' })
      expect(await asked(zoe, december)).toEqual(['other-customer'])
      expect(await asked(['Ash', 'ann@new.example'], december)).toEqual([])
      expect(await asked(['Birch', 'ann@a.example'], december)).toEqual([])
      await approved(to('12/b', zoe), null, { runKey: '12' }) // two who pay with one card
      expect(await asked(ann, { runKey: '1', nowMs: NOW + 62 * DAY_MS })).toEqual([])
    })

    test('is no reason for a message to charge the vault id of another customer', async () => {
      const to = (reference: string, details: Instruction['details'], amountMinor: bigint) =>
        judged(sale(reference, '7001', { xtlOrderId: reference, details, money: euros(amountMinor) }))
      const ann = { cust_fname: 'Ann', cust_lname: 'Ash', cust_email: 'ann@a.example' }
      await approved(sale('S', '7001', { details: ann }))
      const { questions, refused } = await to(
        'Z',
        { cust_fname: 'Zoe', cust_lname: 'Young', cust_email: 'z@z.example' },
        1_001n,
      )
      expect(questions).toEqual(['other-customer'])
      expect(refused).toContain(
        'it charges vault id 7001 for a customer with another name or e-mail than before (S, row 1',
      )
      expect(await to('M', { ...ann, cust_lname: 'Birch', cust_email: 'm@m.example' }, 1_002n)).toEqual(FITS)
      expect(await to('N', { cust_email: 'new@a.example' }, 1_003n)).toEqual(FITS) // one alone may have another address
    })

    test('is not asked about for a new card, a new customer, or references of the month', async () => {
      await november()
      expect((await check(roster('12', ['7001', '8000', '7003', '8001']), december)).lookalikes).toEqual([])
      const renamed = [sale('12/inv-9', '7002', { xtlOrderId: 'I9', money: euros(1_012n) })]
      expect((await check(renamed, december)).lookalikes).toEqual([])
    })
  })

  describe('a card that was stored', () => {
    const card = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
    const byNumber = (over: Partial<Instruction> = {}) => sale('N', '', { vaultId: null, card, ...over })
    const byVaultId = (over: Partial<Instruction> = {}) => sale('V', '61', over)
    const stored = { facts: factsWith('41', { orderId: '700', vaultId: '0061' }) }
    const first = {
      'by a sale': byNumber({ reference: 'S', xtlOrderId: 'S', saveCardOnFile: true, money: euros(5n) }),
      'in the vault': refund('S', { operation: 'VAULT_CREATE', money: null, orderId: null, card }),
      'by an update': refund('S', { operation: 'VAULT_UPDATE', money: null, orderId: null, card, vaultId: '0061' }),
    }
    const storeBy = async (how: keyof typeof first) =>
      work(ledger, await submit(ledger, accountId, [first[how]]), 'S', 'APPROVED', stored)

    test.each(Object.keys(first) as (keyof typeof first)[])(
      '%s, is one card by its vault id and by its number',
      async (how) => {
        await storeBy(how)
        expect(await judged(byVaultId({ reference: 'F', xtlOrderId: 'F', money: euros(7n) }))).toEqual(FITS)
        await approved(byVaultId())
        const { questions, refused } = await judged(byNumber())
        expect(questions).toEqual(['same-card'])
        expect(refused).toContain(
          'it asks for the same as that row, which names the same card by vault id 61 (V, row 1',
        )
        await approved(byNumber({ money: euros(900n) }), '778')
        expect((await judged(byVaultId({ reference: 'W', xtlOrderId: 'W', money: euros(900n) }))).questions).toEqual([
          'same-card',
        ])
        const later = { nowMs: NOW + 31 * DAY_MS }
        expect((await check([byNumber({ reference: 'O', xtlOrderId: 'O' })], later)).lookalikes).toEqual([])
        const other = { ...card, lastFour: '1112' }
        expect(await judged(byNumber({ reference: 'P', xtlOrderId: 'P', card: other }))).toEqual(FITS)
      },
    )

    test('and deleted is asked about, unless it was stored again', async () => {
      const remove = refund('D', { operation: 'VAULT_DELETE', money: null, orderId: null, vaultId: '0061' })
      const batchId = await submit(ledger, accountId, [remove])
      expect((await check([byVaultId()])).faults).toEqual([])
      await work(ledger, batchId, 'D', 'APPROVED', { facts: factsWith('42', { transactionId: null }) })
      const { faults, questions, refused } = await judged(byVaultId())
      expect([faults, questions]).toEqual([[], ['deleted']])
      expect(refused).toContain('it charges vault id 61, which that row deleted (D, row 1 of batch')
      const { review: next } = await check([byVaultId({ reference: 'N', xtlOrderId: 'N' })], { runKey: '2026-12' })
      expect(next).toMatchObject({ accepted: 1, lookalikes: 1 })
      await storeBy('in the vault')
      expect(await judged(byVaultId())).toEqual(FITS)
    })

    test.each([
      [byNumber(), byVaultId()],
      [byVaultId(), byNumber()],
      [byNumber({ operation: 'AUTH' }), byVaultId()],
      [byVaultId(), byVaultId({ reference: 'A', operation: 'AUTH' })],
    ])('and is asked for by a message %# after the review is not asked for by the file', async (message, row) => {
      await storeBy('in the vault')
      const { draft } = await review(ledger, headerOf(accountId), [row])
      await place.open().recordMessage(messageOf(accountId, message))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('is authorized by the one and sold by the other', async () => {
      await storeBy('in the vault')
      await approved(byVaultId({ operation: 'AUTH' }))
      expect((await judged(byNumber())).questions).toEqual(['authorized'])
    })
  })

  describe('a sale of a vault id', () => {
    const charge = (amountMinor: bigint, over: Partial<Instruction> = {}) =>
      sale('N', '5', { money: euros(amountMinor), ...over })

    test.each(['CAPTURE', 'AUTH'] as const)(
      'or its %s of ten times the largest that was approved is asked about',
      async (operation) => {
        await approved(sale('S', '5', { money: euros(1_990n) }))
        await approved(sale('T', '5', { money: euros(990n), xtlOrderId: 'T1' }), '778')
        expect((await judged(charge(19_900n, { operation }))).questions).toEqual(['large'])
        expect((await check([charge(19_899n, { operation })])).lookalikes).toEqual([])
      },
    )

    test('of one hundredth of the only amount that was approved is asked about', async () => {
      await approved(sale('S', '5', { money: euros(199_000n) }))
      await approved(sale('T', '5', { money: euros(199_010n), xtlOrderId: 'T1' }), '778')
      const { questions, refused } = await judged(charge(1_990n))
      expect(questions).toEqual(['small'])
      expect(refused).toContain('asks for one hundredth of all that vault id 5 was approved for, 1990.10 EUR')
      await approved(sale('U', '5', { money: euros(3_000n), xtlOrderId: 'U1' }), '779')
      expect(await judged(charge(1_990n))).toEqual(FITS)
    })

    test.each([
      ['CAUTH', 'AUTH'],
      ['REFUND', 'CAPTURE'],
    ] as const)('is asked about in a %s of one hundredth of its %s', async (operation, first) => {
      await approved(sale('S', '5', { operation: first, money: euros(199_000n) }))
      const part = (amountMinor: bigint) => refund('P', { operation, orderId: '0777', money: euros(amountMinor) })
      expect((await check([part(1_991n)])).lookalikes).toEqual([])
      expect((await judged(part(1_990n))).questions).toEqual(['small'])
    })

    test.each([
      ['an authorization and a sale of', [100n, 100n], []],
      ['sales of', [0n, 99n, 100n], []],
      ['a sale of', [0n, 101n], ['large']],
    ])(
      'after %s %s, as to try the card or the service, is asked about as %j',
      async (_, [held, ...sold], questions) => {
        if (held) await approved(sale('A', '5', { operation: 'AUTH', money: euros(held) }))
        for (const [i, amount] of sold.entries())
          await approved(sale(`S${i}`, '5', { money: euros(amount), xtlOrderId: `T${i}` }), `78${i}`)
        expect((await judged(charge(1_990n))).questions).toEqual(questions)
      },
    )

    test('in another currency than the only one that it was charged in is asked about', async () => {
      const [dollars, francs] = ['USD', 'CHF'].map((currency) => ({
        money: { amountMinor: 700n, currency: parseCurrency(currency) as Currency },
      }))
      await approved(sale('S', '5'))
      const { questions, refused } = await judged(charge(0n, dollars))
      expect(questions).toEqual(['currency'])
      expect(refused).toContain('charges vault id 5 in USD, which was only ever charged in EUR')
      await approved(sale('T', '5', { xtlOrderId: 'T1', ...dollars }), '778')
      expect(await judged(charge(0n, dollars))).toMatchObject({ questions: [null] }) // the same once more
      expect(await judged(charge(0n, francs))).toEqual(FITS)
    })

    test('is not, where nothing was approved of it', async () => {
      const batchId = await submit(ledger, accountId, [sale('S', '5')])
      await work(ledger, batchId, 'S', 'DECLINED')
      expect(await judged(charge(1_000_000n))).toEqual(FITS)
    })
  })

  test('a row that failed is not asked about for the next attempt of another one with its e-mail', async () => {
    const [a, b] = ['61', '62'].map((id) => sale(id, id, { xtlOrderId: id, details: { cust_email: 'mum@a.example' } }))
    const batchId = await submit(ledger, accountId, [a!, b!])
    for (const id of ['61', '62']) await work(ledger, batchId, id, 'FAILED')
    const again: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED'] }
    await approved(a!, '777', again)
    expect((await check([b!], again)).lookalikes).toEqual([])
    await approved(sale('web', '63', { details: { cust_email: 'mum@a.example' } }), '778')
    expect((await check([b!], again)).lookalikes.map(({ question }) => question?.code)).toEqual(['paid'])
  })

  describe('another account', () => {
    test('that has at least half of the orders is named', async () => {
      const other = await openAccount(ledger, 'hotel')
      await approved(sale('S', '5'), '777', { accountId: other })
      const row = refund('R', { orderId: '777' })
      const { lookalikes } = await check([row, refund('Q')])
      expect(lookalikes).toMatchObject([{ rowNo: 1, question: { code: 'order-elsewhere' } }])
      expect(lookalikes[0]?.question?.text).toBe(
        'names order 777, which another account of this ledger knows and this one does not',
      )
      expect((await check([row, refund('Q'), refund('P')])).lookalikes).toEqual([])
      expect((await judged(row)).refused).toContain('another account of this ledger')
      await approved(sale('S', '5'))
      expect((await check([row])).lookalikes).toEqual([])
    })

    test('that has the same reference, target and amount is named', async () => {
      const other = await openAccount(ledger, 'hotel')
      await submit(ledger, other, [sale('S', '5')])
      expect((await judged(sale('S', '5'), { fileSha256: 'bb' })).questions).toEqual(['row-elsewhere'])
      expect(await judged(sale('S', '6'), { fileSha256: 'bb' })).toEqual(FITS)
    })

    test('for which a row without a reference waits is named', async () => {
      const other = await openAccount(ledger, 'hotel')
      const batchId = await submit(ledger, other, [refund('S', { orderId: '700' })])
      const found = async (amountMinor: bigint) => {
        const row = refund(made(FIRST, 1), { orderId: '0700', amountMinor })
        const { lookalikes } = await check([row, refund('Q'), refund('P')], { fileSha256: 'bb' })
        return lookalikes.map(({ question }) => question?.code)
      }
      expect(await found(1_000n)).toEqual(['waiting-elsewhere'])
      expect(await found(900n)).toEqual([])
      await work(ledger, batchId, 'S', 'DECLINED')
      expect(await found(1_000n)).toEqual([])
    })

    test('for which a file of the same bytes was recorded is named', async () => {
      const other = await openAccount(ledger, 'hotel')
      await submit(ledger, other, [sale('S', '5')])
      const dollars = sale('T', '6', { money: { amountMinor: 1_000n, currency: parseCurrency('USD') as Currency } })
      expect((await check([dollars])).lookalikes).toMatchObject([{ question: { code: 'file-elsewhere' } }])
      expect((await check([dollars], { sandbox: true })).lookalikes).toEqual([])
    })

    test('for tests is no other account', async () => {
      const other = await openAccount(ledger, 'hotel')
      await ledger.labelAccount(other, 'test', CLERK, NOW)
      await submit(ledger, other, [sale('S', '5')])
      expect(await judged(sale('S', '5'))).toEqual(FITS)
    })
  })

  describe('rows that stand one below another', () => {
    const cells = (row: Instruction, rowNo: number, customer: string) =>
      rowOf(rowNo, row, { cells: [row.reference, customer] })
    const dragged = (customers: readonly string[], stepMinor = 100n) =>
      customers.map((customer, i) =>
        cells(
          refund(`D${i}`, { orderId: `${998100 + i}`, amountMinor: 1_990n + BigInt(i) * stepMinor }),
          i + 1,
          customer,
        ),
      )

    test('as a spreadsheet fills them downwards are asked about, once', async () => {
      const { lookalikes } = await check(dragged(['Ann', 'Ann', 'Ann', 'Ann', 'Ann']))
      expect(lookalikes.map(({ rowNo, question }) => [rowNo, question?.code])).toEqual([[4, 'series']])
    })

    test.each([
      ['three', dragged(['Ann', 'Ann', 'Ann'])],
      ['of several customers', dragged(['Ann', 'Bob', 'Cid', 'Dan'])],
      ['of one amount', dragged(['Ann', 'Ann', 'Ann', 'Ann'], 0n)],
      ['and only say a currency', dragged(['EUR', 'EUR', 'EUR', 'EUR'])],
    ])('and are %s are not', async (_, rows) => {
      expect((await check(rows)).lookalikes).toEqual([])
    })

    test('the last of which is the sum of the others is asked about', async () => {
      const of = (amounts: readonly bigint[]) =>
        amounts.map((amountMinor, i) => sale(`P${i}`, '5', { money: euros(amountMinor) }))
      expect((await check(of([1_000n, 1_500n, 2_500n]))).lookalikes).toMatchObject([
        { rowNo: 3, question: { code: 'subtotal' } },
      ])
      expect((await check(of([1_000n, 1_500n, 2_500n, 700n]))).lookalikes).toEqual([])
      expect((await check(of([1_000n, 1_500n, 2_499n]))).lookalikes).toEqual([])
    })
  })

  describe('an update of a vault record', () => {
    const card = { bin: '411111', lastFour: '1111', expiry: { month: '12', year: '2030' } }
    const record = (reference: string, details: Instruction['details'], over: Partial<Instruction>) =>
      refund(reference, { money: null, orderId: null, card, details, ...over })
    const ANN = { first_name: 'Ann', last_name: 'Ash', email: 'ann@example.com' }
    const BOB = { first_name: 'Bob', last_name: 'Birch', email: 'bob@example.com' }
    const update = (details: Instruction['details']) =>
      record(made('b', 1), details, { operation: 'VAULT_UPDATE', vaultId: '0061' })

    test.each([
      [BOB, ['other-customer']],
      [{ ...BOB, email: 'Ann@Example.com' }, []],
      [{ first_name: 'Bob', last_name: 'Birch' }, []],
    ])('with the customer %j of a record of Ann is asked about as %j', async (customer, questions) => {
      const batchId = await submit(ledger, accountId, [record('V', ANN, { operation: 'VAULT_CREATE' })])
      await work(ledger, batchId, 'V', 'APPROVED', { facts: factsWith('41', { transactionId: null, vaultId: '61' }) })
      const { lookalikes } = await check([update(customer)])
      expect(lookalikes.map(({ question }) => question?.code)).toEqual(questions)
    })
  })
}
