// The order book: captures, voids and refunds of one order, held against what is recorded of it.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { type Currency, parseCurrency } from '../../../src/domain/money.ts'
import {
  CLERK,
  claim,
  claimNamed,
  DAY_MS,
  dueRow,
  EUR,
  factsWith,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  recordMeant,
  refund,
  review,
  rowOf,
  rowsIn,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check } from './given.ts'

const OTHERWISE = { warnsOfMoney: true, warning: 'the gateway answered the amount 1.00' }

export function describeOrders(): void {
  const of = (reference: string, amountMinor: bigint, over: Partial<Instruction> = {}) =>
    refund(reference, { orderId: '777', amountMinor, ...over })
  const message = (instruction: Instruction, isMeant = true) =>
    isMeant
      ? recordMeant(ledger, messageOf(accountId, instruction))
      : ledger.recordMessage(messageOf(accountId, instruction))

  /** A sale of 100.00 EUR that the gateway called order 777. */
  async function sold(over: Parameters<typeof work>[4] = {}, orderId = '000777'): Promise<BatchId> {
    const batchId = await submit(ledger, accountId, [
      sale('S', '5', { money: { amountMinor: 10_000n, currency: EUR } }),
    ])
    await work(ledger, batchId, 'S', 'APPROVED', { facts: factsWith('41', { orderId }), ...over })
    return batchId
  }

  describe('refunds of an order whose sale is recorded', () => {
    test('may add up to it exactly, in one file and over several', async () => {
      await sold()
      await submit(ledger, accountId, [of('A', 6_000n), of('B', 1_000n)])
      const rest = await check([of('C', 1_000n), of('D', 2_000n)])
      expect([rest.review.accepted, rest.faults]).toEqual([2, []])
    })

    test('are refused from the row on that goes beyond it; the fault names both sums and the sale', async () => {
      const batchId = await sold()
      await submit(ledger, accountId, [of('A', 6_000n)])
      const { review: reviewed, faults } = await check([of('B', 3_000n), of('C', 2_000n), refund('other')])
      expect(reviewed).toMatchObject({ accepted: 2, invalid: 1 })
      expect(faults).toEqual([
        {
          rowNo: 2,
          line: 3,
          column: 'amount',
          value: '20.00',
          problem: `more of the order would be refunded than was paid (order 777: paid 100.00 EUR by row 1 of batch ${batchId}, refunds of 90.00 EUR, last by row 1 of this file; this row asks for 20.00 EUR)`,
          remedy: 'take out the refund that is too much, or correct the amount or the order id',
        },
      ])
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'count an earlier refund that is %s only where it has moved or may move money',
      async (state) => {
        await sold()
        const batchId = await submit(ledger, accountId, [of('A', 6_000n)])
        if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state !== 'READY') await work(ledger, batchId, 'A', state)
        expect(await statesIn(ledger, batchId)).toEqual([state])
        const counts = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        expect((await check([of('B', 5_000n)])).review.invalid).toBe(counts ? 1 : 0)
        expect((await message(of('M', 5_000n))).kind).toBe(counts ? 'refused' : 'accepted')
      },
    )

    test('in another currency than the sale are refused', async () => {
      await sold()
      const usd = { money: { amountMinor: 500n, currency: parseCurrency('USD') as Currency } }
      const { faults } = await check([of('A', 0n, usd)])
      expect(faults).toMatchObject([
        { column: 'request_currency', problem: expect.stringContaining('paid 100.00 EUR') },
      ])
      expect(await message(of('M', 0n, usd))).toMatchObject({ kind: 'refused', reason: expect.stringContaining('EUR') })
    })

    test('count rows that cannot be sent for nothing', async () => {
      await sold()
      const { faults } = await check([of('A', 9_000n), of('A', 9_000n), of('B', 10_000n)])
      expect(faults.map(({ rowNo, column }) => [rowNo, column])).toEqual([
        [1, 'reference'],
        [2, 'reference'],
      ])
    })

    test('are measured by captures of an authorization, and not by the authorization itself', async () => {
      const capture = sale('C', '5', { operation: 'CAUTH', orderId: '0777', vaultId: null })
      const auth = sale('S', '5', { operation: 'AUTH', money: { amountMinor: 50_000n, currency: EUR } })
      const batchId = await submit(ledger, accountId, [auth, capture])
      await work(ledger, batchId, 'S', 'APPROVED', { facts: factsWith('1', { orderId: '777' }) })
      expect((await check([of('A', 1_000n)])).review.invalid).toBe(0)
      expect((await check([of('A', 1_001n)])).review.invalid).toBe(1)
      await work(ledger, batchId, 'C', 'APPROVED', { facts: factsWith('2', { orderId: '888' }) })
      expect((await check([of('A', 1_001n)])).review.invalid).toBe(1)
      for (const orderId of ['777', '888']) {
        expect((await check([of('A', 1_000n, { orderId })])).review.invalid).toBe(0)
        expect((await check([of('A', 1_001n, { orderId })])).review.invalid).toBe(1)
      }
    })

    test('are none where it was authorized and nothing of it is captured, whichever came first', async () => {
      const waiting = await submit(ledger, accountId, [of('A', 1_000n)])
      const auth = await authorized()
      expect((await check([of('B', 100n)])).faults).toMatchObject([
        { problem: expect.stringContaining(`authorized 100.00 EUR, not captured, by row 1 of batch ${auth}`) },
      ])
      expect((await message(of('M', 100n))).kind).toBe('refused')
      expect((await claim(ledger, await dueRow(ledger, waiting, 'A'))).kind).toBe('not-free')
      expect(await statesIn(ledger, waiting)).toEqual(['CANCELLED'])
    })

    test('beside one in doubt are asked about, as a row or as a message, whatever they ask for', async () => {
      await sold()
      const doubtful = await submit(ledger, accountId, [of('A', 3_000n)])
      await work(ledger, doubtful, 'A', 'IN_DOUBT')
      expect((await check([of('B', 2_999n)])).lookalikes).toMatchObject([
        { reference: 'B', like: { reference: 'A', state: 'IN_DOUBT' }, refundedBefore: null },
      ])
      expect(await message(of('M', 2_999n), false)).toMatchObject({
        reason: expect.stringMatching(/^lookalike: a row of order 777 is in doubt, .* set allow_lookalike_of to "A"$/),
      })
      expect((await message(of('M', 2_999n))).kind).toBe('accepted')
      // Also where it looks like another one.
      expect(await message(of('N', 2_999n), false)).toMatchObject({ reason: expect.stringContaining('to "A"') })
    })

    test('after one that was answered otherwise are asked about: another sum moved than the record adds up', async () => {
      await sold()
      await work(ledger, await submit(ledger, accountId, [of('A', 3_000n)]), 'A', 'APPROVED', OTHERWISE)
      expect((await check([of('B', 1n)])).lookalikes).toMatchObject([{ reference: 'B', like: { reference: 'A' } }])
      expect(await message(of('M', 1n), false)).toMatchObject({ reason: expect.stringMatching(/otherwise .* to "A"$/) })
    })

    test('whose sale was answered with another amount are not measured by it, and are asked about', async () => {
      await sold(OTHERWISE)
      const { review, lookalikes } = await check([of('A', 90_000n), of('B', 1n, { orderId: '778' })])
      expect([review.accepted, lookalikes]).toMatchObject([2, [{ reference: 'A', like: { reference: 'S' } }]])
      expect(await message(of('M', 1n), false)).toMatchObject({ reason: expect.stringMatching(/otherwise .* to "S"$/) })
    })

    test('of another account are another order', async () => {
      const second = await openAccount(ledger, 'second')
      const batchId = await submit(ledger, second, [sale('S', '5')], { fileSha256: 'bb' })
      await work(ledger, batchId, 'S', 'APPROVED', { facts: factsWith('41', { orderId: '777' }) })
      await submit(ledger, second, [of('A', 1_000n)], { fileSha256: 'bc' })
      expect((await check([of('B', 90_000n), refund('C'), refund('D')])).review).toMatchObject({
        accepted: 3,
        lookalikes: 0,
      })
    })

    test('that run again count once', async () => {
      await sold()
      const first = await submit(ledger, accountId, [of('A', 6_000n), of('B', 4_000n)])
      await work(ledger, first, 'A', 'FAILED')
      await work(ledger, first, 'B', 'APPROVED')
      const lines = [of('A', 6_000n), of('B', 4_000n)].map((row, i) =>
        rowOf(i + 1, row, { cameFrom: { batchId: first, rowNo: i + 1 } }),
      )
      const retry: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED'] }
      expect((await check(lines, retry)).review).toMatchObject({ accepted: 1, duplicate: 1, invalid: 0 })
      await submit(ledger, accountId, [of('C', 100n)])
      expect((await check(lines, retry)).review).toMatchObject({ accepted: 0, duplicate: 1, invalid: 1 })
      // What does not run again has no attempts of its own.
      const again = await submit(ledger, accountId, lines, retry)
      expect((await rowsIn(ledger, again)).map(({ state, attempts }) => [state, attempts])).toEqual([
        ['INVALID', 0],
        ['DUPLICATE', expect.any(Number)],
      ])
    })

    test('never exceed it, in whatever files, messages and sums they come', async () => {
      const arriving = fc.array(
        fc.record({
          by: fc.constantFrom('file', 'message'),
          amounts: fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1, maxLength: 4 }),
          fate: fc.constantFrom('APPROVED', 'DECLINED', 'FAILED', null),
        }),
        { minLength: 1, maxLength: 6 },
      )
      let n = 0
      await fc.assert(
        fc.asyncProperty(arriving, async (arrivals) => {
          const orderId = `31${n++}`
          const from = await submit(ledger, accountId, [
            sale(`S${n}`, `${n}`, { money: { amountMinor: 10_000n, currency: EUR } }),
          ])
          await work(ledger, from, `S${n}`, 'APPROVED', { facts: factsWith(`9${n}`, { orderId }) })
          let moved = 0n
          for (const { by, amounts, fate } of arrivals) {
            const rows = amounts.map((amount) => refund(`R${n++}`, { orderId, amountMinor: BigInt(amount) }))
            const taken: { batchId: BatchId; row: Instruction }[] = []
            if (by === 'file') {
              const { draft } = await review(ledger, headerOf(accountId), rows)
              const batchId = await draft.record(CLERK)
              const states = await statesIn(ledger, batchId)
              rows.forEach((row, i) => {
                if (states[i] === 'READY') taken.push({ batchId, row })
              })
            } else {
              for (const row of rows) {
                const answer = await message(row)
                if (answer.kind === 'accepted') taken.push({ batchId: answer.batchId, row })
              }
            }
            for (const { batchId, row } of taken) {
              if (fate !== null) await work(ledger, batchId, row.reference, fate)
              if (fate !== 'DECLINED' && fate !== 'FAILED') moved += row.money?.amountMinor ?? 0n
              if (fate === null) return // what waits holds the order back
            }
            expect(moved).toBeLessThanOrEqual(10_000n)
          }
        }),
        { numRuns: tries(40) },
      )
    })
  })

  const usd = (amountMinor: bigint) => ({ money: { amountMinor, currency: parseCurrency('USD') as Currency } })
  const capture = (reference: string, amountMinor: bigint, over: Partial<Instruction> = {}) =>
    of(reference, amountMinor, { operation: 'CAUTH', ...over })
  const voiding = (reference: string, over: Partial<Instruction> = {}) =>
    of(reference, 0n, { operation: 'CANCEL', money: null, ...over })

  /** An authorization of 100.00 EUR that the gateway called order 777. */
  async function authorized(over: Parameters<typeof work>[4] = {}): Promise<BatchId> {
    const money = { amountMinor: 10_000n, currency: EUR }
    const batchId = await submit(ledger, accountId, [sale('U', '5', { operation: 'AUTH', money })])
    await work(ledger, batchId, 'U', 'APPROVED', { facts: factsWith('40', { orderId: '000777' }), ...over })
    return batchId
  }

  describe('captures of an authorization', () => {
    test('may add up to it exactly, and the first one beyond it says all sums', async () => {
      const auth = await authorized()
      const first = await submit(ledger, accountId, [capture('A', 6_000n)])
      expect((await check([capture('B', 4_000n)])).review.accepted).toBe(1)
      const { review: reviewed, faults } = await check([capture('B', 3_000n), capture('C', 1_001n), capture('D', 999n)])
      expect(reviewed).toMatchObject({ accepted: 2, invalid: 1 })
      const sums = `order 777: authorized 100.00 EUR by row 1 of batch ${auth}, captures of`
      expect(faults).toMatchObject([
        {
          ...{ rowNo: 2, column: 'amount', value: '10.01' },
          problem: `more of the order would be captured than was authorized (${sums} 90.00 EUR, last by row 1 of this file; this row asks for 10.01 EUR)`,
        },
      ])
      expect(await message(capture('M', 4_001n))).toMatchObject({
        kind: 'refused',
        reason: expect.stringContaining(`${sums} 60.00 EUR, last by row 1 of batch ${first}; this row asks for 40.01`),
      })
      expect((await message(capture('N', 4_000n))).kind).toBe('accepted')
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'count an earlier one that is %s only where it has moved or may move money',
      async (state) => {
        await authorized()
        const batchId = await submit(ledger, accountId, [capture('A', 6_000n)])
        if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state !== 'READY') await work(ledger, batchId, 'A', state)
        const counts = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        expect((await check([capture('B', 5_000n)])).review.invalid).toBe(counts ? 1 : 0)
        expect((await message(capture('M', 5_000n))).kind).toBe(counts ? 'refused' : 'accepted')
      },
    )

    test('count one that was answered APPROVED after a person had called it not executed', async () => {
      await authorized()
      const sent = await work(ledger, await submit(ledger, accountId, [capture('A', 6_000n)]), 'A', 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, NOW + DAY_MS)
      expect((await check([capture('B', 5_000n)])).review.invalid).toBe(0)
      await settle(ledger, sent, 'APPROVED')
      expect((await check([capture('B', 5_000n)])).review.invalid).toBe(1)
    })

    test('are in its currency', async () => {
      await authorized()
      const { faults } = await check([capture('A', 0n, usd(500n))])
      expect(faults).toMatchObject([
        {
          column: 'request_currency',
          value: 'USD',
          problem: expect.stringContaining('authorized in another currency'),
        },
      ])
      expect((await message(capture('M', 0n, usd(500n)))).kind).toBe('refused')
    })

    test('may exceed it by what the merchant allows', async () => {
      await authorized()
      const rows = [capture('A', 11_500n)]
      expect((await check(rows, { captureTolerance: 14 })).review.invalid).toBe(1)
      expect((await check(rows, { captureTolerance: 15 })).review.invalid).toBe(0)
      const byMessage = (captureTolerance: number) =>
        ledger.recordMessage(messageOf(accountId, capture('M', 11_500n), { captureTolerance }))
      expect((await byMessage(14)).kind).toBe('refused')
      expect((await byMessage(15)).kind).toBe('accepted')
    })

    test('of one that was answered with another amount are asked about', async () => {
      await authorized({ warnsOfMoney: true, warning: 'the gateway answered the amount 1.00' })
      const { review, lookalikes } = await check([capture('A', 90_000n)])
      expect(review).toMatchObject({ accepted: 1, invalid: 0 })
      expect(lookalikes.map(({ like }) => like.reference)).toEqual(['U'])
      expect(await message(capture('M', 1n), false)).toMatchObject({ kind: 'refused' })
    })

    test('of another account or order are none of it', async () => {
      await authorized()
      const second = await openAccount(ledger, 'second')
      await submit(ledger, second, [capture('A', 20_000n)])
      expect((await check([capture('B', 10_000n), capture('C', 90_000n, { orderId: '778' })])).review.accepted).toBe(2)
    })
  })

  describe('a void', () => {
    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'that is %s ends its order where it was or may be executed',
      async (state) => {
        const batchId = await submit(ledger, accountId, [voiding('V')])
        if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state === 'SENDING') await claimNamed(ledger, batchId, 'V')
        else if (state !== 'READY') await work(ledger, batchId, 'V', state)
        const ends = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        for (const row of [capture('A', 100n), of('A', 100n)]) {
          const { faults } = await check([row])
          expect(faults.map(({ column, value }) => [column, value])).toEqual(ends ? [['request_ref_po_id', '777']] : [])
          expect((await message({ ...row, reference: `M${row.operation}` })).kind).toBe(ends ? 'refused' : 'accepted')
          if (!ends) return // what waits is refunded or captured already
        }
      },
    )

    test('of a sale, an authorization or what was captured of it fits, until something is refunded', async () => {
      await authorized()
      expect((await check([voiding('V')])).review).toMatchObject({ accepted: 1, lookalikes: 0 })
      await submit(ledger, accountId, [capture('A', 1_000n)])
      const part = (amountMinor: bigint) => voiding('V', { money: { amountMinor, currency: EUR } })
      const asked = { rowNo: 1, besideVoid: true, like: { reference: 'A', state: 'READY' } }
      for (const one of [voiding('V'), part(9_001n)]) expect((await check([one])).lookalikes).toMatchObject([asked])
      expect(await message(voiding('W'), false)).toMatchObject({ reason: expect.stringContaining('to "A"') })
      expect((await check([part(10_001n)])).faults).toMatchObject([{ column: 'amount' }])
      const refunded = await submit(ledger, accountId, [of('R', 1_000n)])
      expect((await check([voiding('V')])).faults).toMatchObject([
        {
          column: 'request_ref_po_id',
          problem: expect.stringContaining(`refunds of 10.00 EUR, last by row 1 of batch ${refunded}`),
        },
      ])
      expect((await message(voiding('W'))).kind).toBe('refused')
    })

    test.each([
      ['a capture', capture('A', 1_000n)],
      ['a refund', of('A', 1_000n)],
    ])('beside %s of its order in one file is asked about, whichever comes first', async (_what, row) => {
      for (const [rows, reference] of [
        [[row, voiding('V')], 'V'],
        [[voiding('V'), row], 'A'],
      ] as const) {
        const { review: reviewed, lookalikes } = await check([refund('other'), ...rows])
        expect(reviewed).toMatchObject({ accepted: 3, invalid: 0, lookalikes: 1 })
        expect(lookalikes).toMatchObject([
          { rowNo: 3, reference, besideVoid: true, refundedBefore: null, like: { batchId: null, rowNo: 2 } },
        ])
      }
    })

    test('of a part leaves the rest to be captured, unless its answer says another amount', async () => {
      await authorized()
      const part = (reference: string) => voiding(reference, { money: { amountMinor: 4_000n, currency: EUR } })
      const first = await submit(ledger, accountId, [part('V')])
      await work(ledger, first, 'V', 'APPROVED')
      expect((await check([capture('A', 6_001n)])).faults).toMatchObject([
        { column: 'amount', problem: expect.stringContaining('voids of 40.00 EUR; this row asks for 60.01') },
      ])
      const rest = await submit(ledger, accountId, [capture('A', 5_000n)])
      await work(ledger, rest, 'A', 'APPROVED')
      const second = await submit(ledger, accountId, [voiding('W', { money: { amountMinor: 100n, currency: EUR } })])
      await work(ledger, second, 'W', 'APPROVED', OTHERWISE)
      expect((await check([capture('B', 1n)])).faults).toMatchObject([{ column: 'request_ref_po_id' }])
    })

    test('that comes as a message between the review of a file and its recording refuses the file', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [capture('A', 100n)])
      await place.open().recordMessage(messageOf(accountId, voiding('V')))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })
  })

  describe('a row that waits, once more before it is claimed', () => {
    /** Whether it is claimed. */
    const claims = async (batchId: BatchId, reference: string) => {
      const row = await dueRow(ledger, batchId, reference)
      expect(row.sharesOrder).toBe(true)
      return (await claim(ledger, row)).kind === 'claimed'
    }
    /** It was found not to have been executed, and another row was handed in; then it was found that it was. */
    async function corrected(
      first: Instruction,
      second: Instruction,
      over: Partial<DraftHeader> = {},
    ): Promise<BatchId> {
      const batchId = await submit(ledger, accountId, [first])
      await work(ledger, batchId, first.reference, 'IN_DOUBT')
      await ledger.resolve(findingOn(first.reference, { finding: 'not-executed' }), CLERK, NOW + DAY_MS)
      const later = await submit(ledger, accountId, [second], over)
      await ledger.resolve(findingOn(first.reference, { finding: 'approved', corrects: true }), CLERK, NOW + DAY_MS)
      return later
    }

    test.each([
      ['a capture beyond its authorization', capture('A', 6_000n), capture('B', 5_000n), 'would be captured'],
      ['a refund beyond its sale', of('A', 6_000n), of('B', 5_000n), 'would be refunded'],
      ['a capture after a void', voiding('A'), capture('B', 5_000n), 'a void of the order is recorded'],
      ['a void after a refund', of('A', 6_000n), voiding('B'), 'a refund of the order is recorded'],
    ])('is cancelled as %s', async (_what, first, second, why) => {
      await (first.operation === 'REFUND' ? sold() : authorized())
      const batchId = await corrected(first, second)
      expect(await claims(batchId, 'B')).toBe(false)
      const reason = expect.stringContaining(why)
      expect(await rowsIn(ledger, batchId)).toMatchObject([{ state: 'CANCELLED', reason, completedAtMs: NOW }])
      expect((await ledger.history('B')).at(-1)).toMatchObject({
        from: 'READY',
        to: 'CANCELLED',
        cause: 'order',
        reason,
      })
    })

    test.each([
      ['within its authorization', capture('A', 6_000n), capture('B', 4_000n), 0],
      ['within the tolerance it was handed in with', capture('A', 6_000n), capture('B', 5_000n), 10],
      ['within its sale', of('A', 6_000n), of('B', 4_000n), 0],
    ])('goes on %s', async (_what, first, second, captureTolerance) => {
      await (first.operation === 'REFUND' ? sold() : authorized())
      const batchId = await corrected(first, second, { captureTolerance })
      expect(await claims(batchId, 'B')).toBe(true)
    })

    test.each([
      ['a capture', 'AUTH', capture('B', 10_001n), 'would be captured'],
      ['a refund', 'CAPTURE', of('B', 10_001n), 'would be refunded'],
    ] as const)('is cancelled as %s beyond what a late answer says of its %s', async (_what, operation, row, why) => {
      const money = { amountMinor: 10_000n, currency: EUR }
      const first = await submit(ledger, accountId, [sale('U', '5', { operation, money })])
      const sent = await work(ledger, first, 'U', 'IN_DOUBT')
      const batchId = await submit(ledger, accountId, [row])
      expect((await dueRow(ledger, batchId, 'B')).sharesOrder).toBe(false)
      await settle(ledger, sent, 'APPROVED', { facts: factsWith('40', { orderId: '0777' }) })
      expect(await claims(batchId, 'B')).toBe(false)
      expect(await rowsIn(ledger, batchId)).toMatchObject([
        { state: 'CANCELLED', reason: expect.stringContaining(why) },
      ])
    })

    test('is not claimed where its order came to be shared since it was found due', async () => {
      await authorized()
      const first = await submit(ledger, accountId, [capture('A', 6_000n)])
      const batchId = await submit(ledger, accountId, [of('B', 1n, { orderId: '778' })])
      const due = await dueRow(ledger, batchId, 'B')
      expect(due.sharesOrder).toBe(false)
      expect((await claim(ledger, { ...(await dueRow(ledger, first, 'A')), sharesOrder: false })).kind).toBe('not-free')
      expect((await claim(ledger, due)).kind).toBe('claimed')
    })

    test('keeps the largest tolerance of the messages of its batch', async () => {
      await authorized()
      for (const [reference, amount, captureTolerance] of [
        ['M', 10_000n, 15],
        ['N', 1_500n, 15],
        ['O', 1n, 0],
      ] as const) {
        const row = capture(reference, amount, reference === 'O' ? { orderId: '778' } : {})
        expect((await ledger.recordMessage(messageOf(accountId, row, { captureTolerance }))).kind).toBe('accepted')
      }
      const [batch] = (await ledger.batches()).filter(({ source }) => source === 'queue')
      const batchId = batch?.batchId as BatchId
      await work(ledger, batchId, 'M', 'APPROVED')
      expect(await claims(batchId, 'N')).toBe(true)
    })

    test('is cancelled with a warning where a request of it was in doubt before', async () => {
      await authorized()
      const batchId = await corrected(voiding('A'), capture('B', 5_000n))
      const row = { ...(await dueRow(ledger, batchId, 'B')) }
      await ledger.resolve(findingOn('A', { finding: 'not-executed', corrects: true }), CLERK, NOW + DAY_MS)
      await work(ledger, batchId, 'B', 'IN_DOUBT')
      await ledger.resolve(findingOn('B', { finding: 'send-again' }), CLERK, NOW + DAY_MS)
      await ledger.resolve(findingOn('A', { corrects: true }), CLERK, NOW + DAY_MS)
      const waiting = { rowId: row.rowId, attempt: 1 }
      expect((await claim(ledger, waiting, NOW + DAY_MS)).kind).toBe('not-free')
      expect(await rowsIn(ledger, batchId)).toMatchObject([
        { state: 'CANCELLED', warning: expect.stringContaining('it was in doubt before') },
      ])
    })

    test('what only waits beside it counts for nothing', async () => {
      const alone = await submit(ledger, accountId, [of('C', 1n, { orderId: '9' }), of('D', 2n, { orderId: '9' })])
      expect((await dueRow(ledger, alone, 'C')).sharesOrder).toBe(false)
      await claimNamed(ledger, alone, 'C')
    })
  })

  test('many orders of several rows each are judged in file order, over pages', async () => {
    await authorized()
    const orders = Array.from({ length: 900 }, (_, i) => `${50_000 + i}`)
    const rows = orders.flatMap((orderId) => [
      capture(`C${orderId}`, 10n, { orderId }),
      of(`R${orderId}`, 5n, { orderId }),
      voiding(`V${orderId}`, { orderId }),
    ])
    const { review: reviewed } = await check([capture('A', 9_000n), ...rows, capture('B', 1_001n)])
    expect(reviewed).toMatchObject({ rows: 2_702, invalid: 1, lookalikes: 900 })
  })

  describe('refunds of an order whose sale is not recorded', () => {
    const asked = async (amountMinor: bigint, over: Partial<DraftHeader> = {}) =>
      (await check([of('new', amountMinor)], over)).lookalikes.map(({ like, refundedBefore }) => [
        like.reference,
        refundedBefore?.amountMinor ?? null,
      ])

    test('are look-alikes where they repeat or exceed what was refunded before, however long ago', async () => {
      await submit(ledger, accountId, [of('A', 3_000n), of('B', 2_000n)])
      expect(await asked(4_999n)).toEqual([])
      expect(await asked(5_000n)).toEqual([['B', 5_000n]])
      expect(await asked(9_000n, { nowMs: NOW + 400 * DAY_MS })).toEqual([['B', 5_000n]])
      expect(await asked(3_000n)).toEqual([['A', null]]) // like one row
      expect((await check([of('new', 1n), of('newer', 60_000n)])).review).toMatchObject({ accepted: 2, lookalikes: 1 })
    })

    test('are asked about in one file as they are over two', async () => {
      const usd = { money: { amountMinor: 1_000n, currency: 'USD' as Currency } }
      const found = await check([
        of('A', 1_000n),
        of('B', 1_001n),
        refund('C', { orderId: '0777', ...usd }),
        of('D', 1n),
      ])
      expect(found.lookalikes).toMatchObject([
        {
          rowNo: 2,
          like: { batchId: null, rowNo: 1, state: null },
          refundedBefore: { amountMinor: 1_000n, currency: EUR },
        },
        { rowNo: 3, like: { batchId: null, rowNo: 2 }, refundedBefore: { amountMinor: 2_001n, currency: EUR } },
        { rowNo: 4, like: { batchId: null, rowNo: 3 }, refundedBefore: { currency: null } },
      ])
      expect(found.review).toMatchObject({ accepted: 4, lookalikes: 3 })
      expect((await check([of('A', 1_000n), of('B', 999n), of('C', 1n)])).review.lookalikes).toBe(0)
      expect((await check([of('A', 1_000n), refund('other', { amountMinor: 2_000n })])).review.lookalikes).toBe(0)
    })

    test('in a file count with what is recorded, and rows that cannot be sent count for nothing', async () => {
      await submit(ledger, accountId, [of('A', 3_000n)])
      const { lookalikes } = await check([of('B', 2_000n), of('C', 5_000n), of('D', 4_999n)])
      expect(lookalikes).toMatchObject([
        { rowNo: 2, like: { batchId: null, rowNo: 1 }, refundedBefore: { amountMinor: 5_000n, currency: EUR } },
      ])
      const twice = await check([of('E', 2_000n), of('E', 2_000n), of('F', 2_999n), of('G', 1n)])
      expect(twice.review).toMatchObject({ invalid: 2, lookalikes: 0 })
    })

    test('in another currency than before are look-alikes, and so is what comes after them', async () => {
      const usd = { money: { amountMinor: 1n, currency: 'USD' as Currency } }
      await submit(ledger, accountId, [of('A', 3_000n)])
      expect((await check([refund('new', { orderId: '777', ...usd })])).lookalikes).toMatchObject([
        { like: { reference: 'A' }, refundedBefore: { amountMinor: 3_000n, currency: EUR } },
      ])
      expect(await message(refund('M', { orderId: '777', ...usd }), false)).toMatchObject({
        reason: expect.stringContaining('order 777 was refunded before (30.00 EUR)'),
      })
      expect((await message(refund('M', { orderId: '777', ...usd }))).kind).toBe('accepted')
      expect((await check([of('later', 2n)])).lookalikes).toMatchObject([{ refundedBefore: { currency: null } }])
      expect(await message(of('N', 2n), false)).toMatchObject({
        reason: expect.stringContaining('order 777 was refunded before (in several currencies)'),
      })
    })

    test('that come as messages are refused until they say that they are meant', async () => {
      await submit(ledger, accountId, [of('A', 3_000n), of('B', 2_000n)])
      expect(await message(of('M', 5_000n), false)).toMatchObject({
        kind: 'refused',
        reason:
          'lookalike: order 777 was refunded before (50.00 EUR), and its sale is not recorded here, last by B. If it is meant all the same, set allow_lookalike_of to "B"',
      })
      expect((await message(of('M', 5_000n))).kind).toBe('accepted')
      expect((await message(of('N', 9_999n), false)).kind).toBe('accepted')
    })
  })

  describe('refunds that arrive as messages between the review of a file and its recording', () => {
    const reviewed = (amountMinor: bigint) => review(ledger, headerOf(accountId), [of('A', amountMinor)])

    test('let the file be recorded where it still fits the sale, and refuse it where it does not', async () => {
      await sold()
      const fits = await reviewed(4_000n)
      expect((await place.open().recordMessage(messageOf(accountId, of('M', 6_000n)))).kind).toBe('accepted')
      await fits.draft.record(CLERK)
      const second = await review(ledger, headerOf(accountId), [of('C', 1n, { orderId: '778' })])
      await second.draft.discard()

      const other = await submit(ledger, accountId, [
        sale('S2', '6', { money: { amountMinor: 10_000n, currency: EUR } }),
      ])
      await work(ledger, other, 'S2', 'APPROVED', { facts: factsWith('42', { orderId: '779' }) })
      const late = await review(ledger, headerOf(accountId), [of('D', 4_001n, { orderId: '779' })])
      await place.open().recordMessage(messageOf(accountId, of('N', 6_000n, { orderId: '779' })))
      await expect(late.draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('refuse a file that now repeats or exceeds what was refunded of an order without a sale', async () => {
      const { draft } = await reviewed(5_000n)
      await place.open().recordMessage(messageOf(accountId, of('M', 2_000n)))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      const asked = await check([of('A', 5_000n)])
      expect(asked.review.lookalikes).toBe(1)
    })

    test('refuse a file beside a refund that came into doubt since', async () => {
      await sold()
      const before = await submit(ledger, accountId, [of('R', 1_000n)])
      const row = await claimNamed(ledger, before, 'R')
      const { draft } = await reviewed(2_000n)
      await settle(ledger, row, 'IN_DOUBT')
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('let a file be recorded that repeats or exceeds them only in rows that were asked about', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [of('A', 1_000n), of('B', 5_000n)])
      await place.open().recordMessage(messageOf(accountId, of('M', 2_000n)))
      expect(await statesIn(ledger, await draft.record(CLERK))).toEqual(['READY', 'READY'])
    })
  })
}
