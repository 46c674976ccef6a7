// Approvals where a limit might be slipped under, an approval might outlive what it was of, or a sheet might mislead.

import { describe, expect, test } from 'vitest'
import { type ApprovalPolicy, type ApprovalRule, type ApprovalSheet, isAwaiting } from '../../../src/domain/approval.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { parseCurrency } from '../../../src/domain/money.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  findingOn,
  listOf,
  messageOf,
  NOW,
  personAt,
  refund,
  settle,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const ANN = personAt('ann')
const HOUR_MS = 3_600_000
const RULE: ApprovalRule = { merchants: null, operations: null, fourEyes: false, bands: {}, rowOver: {} }
const policyOf = (rule: Partial<ApprovalRule>): ApprovalPolicy => ({
  rules: [{ ...RULE, ...rule }],
  expireAfterMs: 7 * DAY_MS,
  osUsers: true,
})
const FOUR_EYES = policyOf({ fourEyes: true })
const upTo = (limit: string, then = 1) => [
  { upTo: limit, approvals: 0 },
  { upTo: null, approvals: then },
]
const ABOVE_25 = policyOf({ bands: { EUR: upTo('25.00') } })

async function sheetOf(batchId: BatchId): Promise<ApprovalSheet> {
  const sheet = await ledger.approvalSheet(batchId)
  if (sheet === null) throw new Error('it needs no approval')
  return sheet
}

async function approve(batchId: BatchId, nowMs = NOW + 1): Promise<void> {
  const { digest } = await sheetOf(batchId)
  await ledger.approve({ batchId, digest, reason: 'seen', actor: ANN, nowMs })
}

async function hand(instruction: Instruction, over: Partial<IntakeMessage> = {}): Promise<BatchId> {
  const answer = await ledger.recordMessage(messageOf(accountId, instruction, over))
  if (answer.kind !== 'accepted') throw new Error(JSON.stringify(answer))
  return answer.batchId
}

const MOVED = NOW + DAY_MS

/** It was approved, its row may have been executed, and then the account moved. */
async function doubtWithoutApproval(references = ['A']): Promise<BatchId> {
  await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
  const rows = references.map((reference) => refund(reference))
  const batchId = await submit(ledger, accountId, rows)
  await approve(batchId)
  const worker = place.open()
  await work(worker, batchId, 'A', 'IN_DOUBT')
  await worker.close()
  await ledger.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, MOVED)
  return batchId
}

/** That row: one person proposes it, another one confirms. */
async function sendAgain(nowMs: number): Promise<void> {
  const finding = findingOn('A', { finding: 'send-again' })
  expect(await ledger.resolve(finding, CLERK, nowMs - 1)).toMatchObject({ kind: 'proposed' })
  expect(await ledger.resolve(finding, ANN, nowMs)).toMatchObject({ kind: 'resolved', state: 'READY' })
}

const needs = async (batchId: BatchId) => (await ledger.batch(batchId))?.approval?.needed ?? 0

export function describeApprovalsAgain(): void {
  describe('the sum of messages within 24 hours', () => {
    test('has those of yesterday in it, whenever the batch of that day began', async () => {
      await ledger.adoptPolicy(ABOVE_25, 'test', CLERK, NOW)
      const midnight = NOW - (NOW % DAY_MS)
      await hand(refund('A', { amountMinor: 1n }), { nowMs: midnight })
      await hand(refund('B', { amountMinor: 2_000n }), { nowMs: midnight + 23 * HOUR_MS })
      const next = await hand(refund('C', { amountMinor: 1_000n }), { nowMs: midnight + 25 * HOUR_MS })
      expect(await needs(next)).toBe(1)
    })

    test('has those of a named batch in it, however old it is, and no longer than 24 hours', async () => {
      await ledger.adoptPolicy(ABOVE_25, 'test', CLERK, NOW)
      const over = (hours: number) => ({ into: { name: 'year' }, nowMs: NOW + 30 * DAY_MS + hours * HOUR_MS })
      const year = await hand(refund('A', { amountMinor: 2_000n }), { into: { name: 'year' } })
      expect(await hand(refund('B', { amountMinor: 2_000n }), over(0))).toBe(year)
      const beside = await hand(refund('C', { amountMinor: 1_000n }), over(23))
      expect(beside).not.toBe(year)
      expect(await needs(beside)).toBe(1)
      expect(await hand(refund('D', { amountMinor: 1_000n }), over(24.9))).toBe(beside)
      expect(await hand(refund('F', { amountMinor: 500n }), over(25))).toBe(year) // B is out, C and D are not
      await ledger.reject({ batchId: beside, reason: 'no', actor: ANN, nowMs: over(26).nowMs })
      expect(await hand(refund('E', { amountMinor: 2_000n }), over(26))).toBe(year)
    })

    test('has none in it that were declined', async () => {
      await ledger.adoptPolicy(ABOVE_25, 'test', CLERK, NOW)
      const into = { name: 'year' }
      const year = await hand(refund('A', { amountMinor: 1n }), { into })
      const later = NOW + 2 * DAY_MS
      await hand(refund('B', { amountMinor: 2_000n }), { into, nowMs: later })
      await work(ledger, year, 'A', 'APPROVED')
      await settle(ledger, await claimNamed(ledger, year, 'B', later), 'DECLINED', { atMs: later })
      expect(await hand(refund('C', { amountMinor: 2_000n }), { into, nowMs: later + HOUR_MS })).toBe(year)
    })
  })

  describe('a batch of messages that waits', () => {
    test('needs what all of its rows together ask for, in whatever order they came', async () => {
      const JPY = parseCurrency('JPY')!
      await ledger.adoptPolicy(
        policyOf({
          bands: { EUR: [{ upTo: null, approvals: 2 }], JPY: [{ upTo: null, approvals: 1 }] },
          rowOver: { JPY: '100' },
        }),
        ...(['test', CLERK, NOW] as const),
      )
      const first = await hand(refund('A'))
      expect(await needs(first)).toBe(2)
      expect(await hand(refund('B', { money: { amountMinor: 101n, currency: JPY } }))).toBe(first)
      expect(await needs(first)).toBe(3)
    })

    test('needs one more for a large row that came before the band was reached', async () => {
      await ledger.adoptPolicy(
        policyOf({
          bands: {
            EUR: [
              { upTo: '25.00', approvals: 1 },
              { upTo: null, approvals: 2 },
            ],
          },
          rowOver: { EUR: '15.00' },
        }),
        ...(['test', CLERK, NOW] as const),
      )
      const first = await hand(refund('A', { amountMinor: 1_600n }))
      expect(await needs(first)).toBe(2)
      expect(await hand(refund('B', { amountMinor: 1_000n }))).toBe(first)
      expect(await needs(first)).toBe(3)
    })

    test('takes no more once it is paused, so that it can be approved while messages go on coming', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const first = await hand(refund('A'))
      await ledger.pause(first, 'to look at it', ANN, NOW)
      const { digest } = await sheetOf(first)
      const next = await hand(refund('B'))
      expect(next).not.toBe(first)
      expect(await hand(refund('C'))).toBe(next)
      await ledger.approve({ batchId: first, digest, reason: 'seen', actor: ANN, nowMs: NOW })
      expect((await ledger.workable(NOW, 10)).map(({ batchId }) => batchId)).toEqual([])
      await ledger.resume(first, 'approved', ANN, NOW)
      expect((await ledger.workable(NOW, 10)).map(({ batchId }) => batchId)).toEqual([first])
    })

    test('is approved as it was shown or not at all, where a message comes at the same moment', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const other = place.open()
      for (let round = 0; round < 6; round += 1) {
        const first = await hand(refund(`A-${round}`))
        const { digest } = await sheetOf(first)
        const decision = { batchId: first, digest, reason: 'seen', actor: ANN, nowMs: NOW }
        const message = messageOf(accountId, refund(`B-${round}`))
        const both = [() => ledger.approve(decision), () => other.recordMessage(message)]
        const begun = (round % 2 === 0 ? both : both.toReversed()).map((begin) => begin())
        const refused = (await Promise.allSettled(begun)).some(({ status }) => status === 'rejected')
        const rows = (await ledger.batch(first))?.rows
        expect([refused, rows]).toEqual(refused ? [true, 2] : [false, 1])
        if (refused) await expect(ledger.approve(decision)).rejects.toThrow('pause it, approve it')
        for (const { batchId, approval, hold } of await ledger.batches())
          if (isAwaiting(approval) && hold === 'none')
            await ledger.reject({ batchId, reason: 'next', actor: ANN, nowMs: NOW })
      }
    })

    test.each(['day', { name: 'year' }] as const)(
      'holds no message that needs no approval, also where the policy came later: %j',
      async (into) => {
        const first = await hand(refund('A', { amountMinor: 600n }), { into })
        expect(await hand(refund('B', { amountMinor: 100n }), { into })).toBe(first)
        await ledger.adoptPolicy(policyOf({ rowOver: { EUR: '5.00' } }), 'test', CLERK, NOW)
        const { digest } = await sheetOf(first)
        const free = await hand(refund('C', { amountMinor: 100n }), { into })
        expect([await needs(first), await needs(free)]).toEqual([1, 0])
        expect(await hand(refund('D', { amountMinor: 100n }), { into })).toBe(free)
        const large = await hand(refund('E', { amountMinor: 601n }), { into })
        expect(new Set([first, free, large]).size).toBe(3)
        expect((await sheetOf(first)).digest).toBe(digest)
        await ledger.reject({ batchId: large, reason: 'no', actor: ANN, nowMs: NOW })
        expect(await hand(refund('F', { amountMinor: 100n }), { into })).toBe(free)
        await approve(first)
        expect(await hand(refund('G', { amountMinor: 100n }), { into })).toBe(free)
        const workable = await ledger.workable(NOW + 1, 10)
        expect(new Map(workable.map(({ batchId, due }) => [batchId, due]))).toEqual(
          new Map([
            [first, 2],
            [free, 4],
          ]),
        )
      },
    )

    test('does not keep the messages of a day once it is rejected', async () => {
      const first = await hand(refund('A', { amountMinor: 600n }))
      await ledger.adoptPolicy(policyOf({ rowOver: { EUR: '5.00' } }), 'test', CLERK, NOW)
      const free = await hand(refund('C', { amountMinor: 100n }))
      await ledger.reject({ batchId: first, reason: 'no', actor: ANN, nowMs: NOW })
      expect(await ledger.batch(free)).toMatchObject({ hold: 'none', rows: 1 })
      expect((await ledger.workable(NOW, 10)).map(({ batchId }) => batchId)).toEqual([free])
    })

    test('tells which look-alikes were allowed, and of what', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const first = await hand(refund('A', { orderId: '7' }))
      await hand(refund('B', { orderId: '7' }), { allowLookalikeOf: 'A' })
      await hand(refund('C', { orderId: '8' }), { allowLookalikeOf: 'A' })
      expect(await sheetOf(first)).toMatchObject({
        ...{ rows: 3, lookalikesAllowed: 1 },
        lookalikes: [{ rowNo: 2, reference: 'B', like: { batchId: first, rowNo: 1, reference: 'A', state: 'READY' } }],
      })
    })
  })

  describe('an approval that became void', () => {
    test('is asked for again with as much time as a new one has', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [refund('A')])
      await approve(batchId)
      const later = NOW + 30 * DAY_MS
      await ledger.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, later)
      await ledger.expireApprovals(later + DAY_MS)
      expect(await ledger.batch(batchId)).toMatchObject({
        hold: 'none',
        approval: { given: 0, untilMs: later + 7 * DAY_MS },
      })
      await approve(batchId, later + DAY_MS)
      expect(await ledger.workable(later, 10)).toHaveLength(1)
    })
  })

  describe('a batch whose approval became void while its rows were in doubt', () => {
    test('waits for none while nothing of it is to be sent', async () => {
      const batchId = await doubtWithoutApproval()
      expect(await ledger.figures()).toMatchObject({ approvalSinceMs: null, batches: { in_doubt: 1 } })
      const found = findingOn('A', { finding: 'approved', transactionId: '7' })
      expect(await ledger.resolve(found, CLERK, MOVED + DAY_MS)).toMatchObject({ kind: 'resolved' })
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 1, given: 0 })
      expect((await ledger.figures()).approvalSinceMs).toBeNull()
    })

    test('can be neither approved nor rejected, for it has nothing to send', async () => {
      const batchId = await doubtWithoutApproval()
      await expect(approve(batchId, MOVED + 1)).rejects.toThrow('no row to send')
      const decision = { batchId, reason: 'no', actor: ANN, nowMs: MOVED + 1 }
      await expect(ledger.reject(decision)).rejects.toThrow('no row to send')
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'none', approval: { given: 0 } })
    })

    test('is asked for again, with as much time as a new batch has, once a row of it is to be sent again', async () => {
      const batchId = await doubtWithoutApproval()
      const late = MOVED + 30 * DAY_MS
      await sendAgain(late)
      expect((await ledger.figures()).approvalSinceMs).not.toBeNull()
      const asked = (await listOf(ledger.log(null))).filter(({ what }) => what === 'await-approval')
      expect(asked.map(({ atMs }) => atMs)).toEqual([NOW, late])
      await ledger.expireApprovals(late + 7 * DAY_MS - 1)
      expect((await ledger.batch(batchId))?.hold).toBe('none')
      await ledger.expireApprovals(late + 7 * DAY_MS)
      expect((await ledger.batch(batchId))?.hold).toBe('cancelled')
    })

    test('keeps its deadline when a row is sent again while others wait', async () => {
      const batchId = await doubtWithoutApproval(['A', 'B'])
      await sendAgain(MOVED + 7 * DAY_MS)
      await ledger.expireApprovals(MOVED + 7 * DAY_MS)
      expect((await ledger.batch(batchId))?.hold).toBe('cancelled')
    })

    test('needs as many approvals as a stricter policy asks for that was adopted meanwhile', async () => {
      const batchId = await doubtWithoutApproval()
      await ledger.adoptPolicy(policyOf({ bands: { EUR: [{ upTo: null, approvals: 2 }] } }), 'test', CLERK, MOVED)
      expect(await needs(batchId)).toBe(1)
      await sendAgain(MOVED + DAY_MS)
      expect(await needs(batchId)).toBe(2)
    })
  })

  describe('the largest row of a sheet', () => {
    test('is told with its own reference, where several have that amount', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [
        refund('Z', { amountMinor: 9_900n }),
        refund('small', { amountMinor: 100n }),
        refund('A', { amountMinor: 9_900n }),
      ])
      expect((await sheetOf(batchId)).largest).toEqual([
        { currency: 'EUR', amountMinor: 9_900n, rowNo: 1, reference: 'Z' },
      ])
    })
  })
}
