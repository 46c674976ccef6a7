// Approval before money moves: what needs it, who gives it, and that nothing leaves before.

import { describe, expect, test } from 'vitest'
import type { Actor } from '../../../src/domain/actor.ts'
import type { ApprovalPolicy, ApprovalRule } from '../../../src/domain/approval.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claim,
  claimNamed,
  DAY_MS,
  dueIn,
  listOf,
  messageOf,
  NOW,
  openAccount,
  personAt,
  refund,
  settle,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { addPersonOfOld } from '../../fixtures/people.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const ANN = personAt('ann')
const BOB = personAt('bob')
const RULE: ApprovalRule = { merchants: null, operations: null, fourEyes: false, bands: {}, rowOver: {} }

const policyOf = (rule: Partial<ApprovalRule>, over: Partial<ApprovalPolicy> = {}): ApprovalPolicy => ({
  rules: [{ ...RULE, ...rule }],
  expireAfterMs: 7 * DAY_MS,
  osUsers: true,
  ...over,
})
const FOUR_EYES = policyOf({ fourEyes: true })
const TWO = policyOf({ bands: { EUR: [{ upTo: null, approvals: 2 }] } })

async function submitUnder(policy: ApprovalPolicy, ...rows: ReturnType<typeof refund>[]): Promise<BatchId> {
  await ledger.adoptPolicy(policy, 'test', CLERK, NOW)
  return submit(ledger, accountId, rows.length === 0 ? [refund('A')] : rows)
}

async function approve(
  batchId: BatchId,
  actor: Actor,
  over: { digest?: string; nowMs?: number } = {},
  by: Ledger = ledger,
) {
  const digest = over.digest ?? (await by.approvalSheet(batchId))?.digest ?? ''
  await by.approve({ batchId, digest, reason: 'seen', actor, nowMs: over.nowMs ?? NOW + 1 })
}

async function isSendable(batchId: BatchId): Promise<boolean> {
  const [row] = await dueIn(ledger, batchId)
  const isOffered = (await ledger.workable(NOW, 10)).some((batch) => batch.batchId === batchId)
  const answer = row === undefined ? null : await claim(ledger, row)
  expect(answer?.kind === 'claimed').toBe(isOffered)
  return isOffered
}

export function describeApprovals(): void {
  describe('a batch that needs approval', () => {
    test('is offered to no worker and claimed by none before it has it, and is after it', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      expect((await ledger.batch(batchId))?.approval).toEqual({
        needed: 1,
        given: 0,
        untilMs: NOW + 7 * DAY_MS,
        by: [],
      })
      expect(await isSendable(batchId)).toBe(false)
      await approve(batchId, ANN)
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 1, given: 1 })
      expect(await isSendable(batchId)).toBe(true)
    })

    test('waits for all the people that its sum asks for, whichever connection they use', async () => {
      const batchId = await submitUnder(TWO)
      await approve(batchId, ANN)
      const told = (actor: Actor) => ledger.unfitness({ batchId, actor, nowMs: NOW })
      expect([(await told(ANN))?.why, await told(BOB)]).toEqual(['an-approver-already', null])
      expect(await isSendable(batchId)).toBe(false)
      await approve(batchId, BOB, {}, place.open())
      expect(await isSendable(batchId)).toBe(true)
    })

    test('is not approved by resuming it', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      await ledger.pause(batchId, 'wait', ANN, NOW)
      await ledger.resume(batchId, 'go', ANN, NOW)
      await ledger.resumeAccount(accountId, 'go', ANN, NOW)
      expect(await isSendable(batchId)).toBe(false)
    })

    test('keeps later rows of the same order in other batches waiting', async () => {
      const batchId = await submitUnder(FOUR_EYES, refund('A', { orderId: '77' }))
      await ledger.adoptPolicy(null, 'test', CLERK, NOW)
      const later = await submit(ledger, accountId, [refund('B', { orderId: '77', amountMinor: 5n })])
      expect(await dueIn(ledger, later)).toEqual([])
      expect((await ledger.batch(later))?.blocked).toBe(1)
      await ledger.reject({ batchId, reason: 'no', actor: ANN, nowMs: NOW })
      expect(await dueIn(ledger, later)).toHaveLength(1)
    })

    test('needs none where every row is recorded already', async () => {
      await submit(ledger, accountId, [refund('A')])
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const again = await submit(ledger, accountId, [refund('A')], { fileSha256: 'bb'.repeat(32) })
      expect((await ledger.batch(again))?.approval).toBeNull()
    })
  })

  describe('approve', () => {
    test('refuses the submitter, on any host and under any claimed name', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      for (const actor of [CLERK, { ...personAt('clerk', 'Ann'), host: 'elsewhere' }]) {
        await expect(approve(batchId, actor)).rejects.toThrow('somebody else must approve')
        const told = await ledger.unfitness({ batchId, actor, nowMs: NOW })
        expect(told).toEqual({ why: 'the-submitter', untilMs: null })
      }
      expect(await isSendable(batchId)).toBe(false)
    })

    test('counts one person once, also where both say it at once', async () => {
      const batchId = await submitUnder(TWO)
      const sheet = await ledger.approvalSheet(batchId)
      const other = place.open()
      const tries = Array.from({ length: 10 }, (_, i) =>
        approve(batchId, ANN, { digest: sheet?.digest ?? '' }, i % 2 === 0 ? ledger : other).then(
          () => 'given',
          () => 'refused',
        ),
      )
      expect((await Promise.all(tries)).filter((one) => one === 'given')).toHaveLength(1)
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ given: 1 })
      expect(await isSendable(batchId)).toBe(false)
    })

    test('refuses keys, and users of the system where the policy says so', async () => {
      const batchId = await submitUnder(policyOf({ fourEyes: true }, { osUsers: false }))
      const key: Actor = { kind: 'key', id: 'k1', name: 'billing', address: null }
      await expect(approve(batchId, key)).rejects.toThrow('only people approve')
      await expect(approve(batchId, ANN)).rejects.toThrow('os_users')
      const link = { sha256: '11'.repeat(32), untilMs: NOW }
      await addPersonOfOld(ledger, { id: 'p1', name: 'ann', grants: ['approver'] }, link, BOB, NOW)
      await approve(batchId, { kind: 'person', id: 'p1', name: 'Ann', address: null })
      expect(await isSendable(batchId)).toBe(true)
    })

    test('refuses who made a key by which a message of it came, and names the keys', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const key = { id: 'k1', name: 'billing', sha256: 'ab'.repeat(32), scopes: [], merchants: null, environment: null }
      await ledger.addKey({ ...key, networks: null, expiresAtMs: NOW + 1 }, ANN, NOW)
      await ledger.recordMessage(messageOf(accountId, refund('A')))
      const taken = await ledger.recordMessage(messageOf(accountId, refund('B'), { keyId: 'k1' }))
      const { batchId } = taken as { batchId: BatchId }
      expect((await ledger.approvalSheet(batchId))?.keys).toMatchObject([{ id: 'k1', createdBy: 'ann@desk' }])
      await expect(approve(batchId, ANN)).rejects.toThrow('made the key')
      await approve(batchId, BOB)
    })

    test('refuses the digest of another batch, and one of before the account moved', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      const other = await submit(ledger, accountId, [refund('B')], { fileSha256: 'bb'.repeat(32) })
      const digest = (await ledger.approvalSheet(other))?.digest ?? ''
      await expect(approve(batchId, ANN, { digest })).rejects.toThrow('not the one that you looked at')
      const before = (await ledger.approvalSheet(batchId))?.digest ?? ''
      await ledger.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, NOW)
      await expect(approve(batchId, ANN, { digest: before })).rejects.toThrow('not the one that you looked at')
      expect(await isSendable(batchId)).toBe(false)
    })

    test('is void once the account has moved', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      await approve(batchId, ANN)
      await ledger.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, NOW)
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ given: 0, by: [] })
      expect(await isSendable(batchId)).toBe(false)
      await approve(batchId, ANN)
      expect(await isSendable(batchId)).toBe(true)
    })

    test('refuses what is cancelled, approved or needs nothing', async () => {
      const plain = await submit(ledger, accountId, [refund('plain')])
      await expect(approve(plain, ANN)).rejects.toThrow('needs no approval')
      const batchId = await submitUnder(FOUR_EYES)
      await approve(batchId, ANN)
      await expect(approve(batchId, BOB)).rejects.toThrow('all the approvals')
      const third = await submit(ledger, accountId, [refund('C')], { fileSha256: 'cc'.repeat(32) })
      await ledger.cancel(third, 'no', CLERK, NOW)
      await expect(approve(third, ANN)).rejects.toThrow('was cancelled')
    })

    test('and reject are told in the log, with who and why', async () => {
      const batchId = await submitUnder(TWO)
      await approve(batchId, ANN)
      await ledger.reject({ batchId, reason: 'wrong month', actor: BOB, nowMs: NOW + 2 })
      const acts = (await listOf(ledger.log(null))).filter(({ what }) => /approve|reject|approval/.test(what))
      expect(
        acts.map(({ what, actor, reason }) => [what, actor === null ? null : (actor as typeof ANN).name, reason]),
      ).toEqual([
        ['approval-policy', 'clerk', 'test'],
        ['await-approval', null, null],
        ['approve', 'ann', 'seen'],
        ['reject', 'bob', 'wrong month'],
      ])
    })
  })

  describe('the sheet', () => {
    test('shows what is sent, to whom, by whom, and the largest row', async () => {
      const batchId = await submitUnder(TWO, refund('A'), refund('B', { amountMinor: 9_900n }))
      expect(await ledger.approvalSheet(batchId)).toMatchObject({
        ...{ batchId, merchant: 'default', url: 'https://default.gateway.example', username: 'merchant', rows: 2 },
        totals: [{ operation: 'REFUND', currency: 'EUR', state: 'READY', count: 2, amountMinor: 10_900n }],
        largest: [{ currency: 'EUR', amountMinor: 9_900n, rowNo: 2, reference: 'B' }],
        ...{ needed: 2, given: 0, by: [], digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      })
    })

    test('has the same digest each time, and another one for other rows', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      const digests = new Set([0, 1].map(async () => (await ledger.approvalSheet(batchId))?.digest))
      expect(new Set(await Promise.all(digests)).size).toBe(1)
      const other = await submit(ledger, accountId, [refund('A2')], { fileSha256: 'bb'.repeat(32) })
      expect((await ledger.approvalSheet(other))?.digest).not.toBe((await ledger.approvalSheet(batchId))?.digest)
    })
  })

  describe('sums', () => {
    const above = policyOf({
      bands: {
        EUR: [
          { upTo: '25.00', approvals: 0 },
          { upTo: null, approvals: 1 },
        ],
      },
    })

    test('are those of 24 hours, so that many small files gain nothing', async () => {
      const needs: (number | undefined)[] = []
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      for (const [i, hours] of [0, 1, 2, 30].entries()) {
        const over = { fileSha256: `${i}0`.repeat(32), nowMs: NOW + hours * 3_600_000 }
        const batchId = await submit(ledger, accountId, [refund(`S-${i}`)], over)
        needs.push((await ledger.batch(batchId))?.approval?.needed)
      }
      expect(needs).toEqual([undefined, undefined, 1, undefined])
    })

    test('are those of files that were handed in at once too, whichever of them is recorded first', async () => {
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      await submit(ledger, accountId, [refund('A'), refund('B')], { nowMs: NOW + 60_000 })
      const own = await submit(ledger, accountId, [refund('C')], { fileSha256: 'bb'.repeat(32), nowMs: NOW })
      expect((await ledger.batch(own))?.approval).toMatchObject({ needed: 1 })
      expect((await ledger.approvalSheet(own))?.earlier).toEqual([
        { operation: 'REFUND', currency: 'EUR', amountMinor: 2_000n },
      ])
    })

    test('of what was handed in later count for no batch that waits, under a new policy either', async () => {
      const first = await submitUnder(FOUR_EYES, refund('A'))
      await submit(ledger, accountId, [refund('B')], { fileSha256: 'bb'.repeat(32) })
      await ledger.adoptPolicy(
        policyOf({
          bands: {
            EUR: [
              { upTo: '15.00', approvals: 1 },
              { upTo: null, approvals: 2 },
            ],
          },
        }),
        ...(['stricter', ANN, NOW] as const),
      )
      expect((await ledger.batch(first))?.approval).toMatchObject({ needed: 1 })
    })

    test('are those of one submitter', async () => {
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      await submit(ledger, accountId, [refund('A'), refund('B')])
      const own = await submit(ledger, accountId, [refund('C')], { fileSha256: 'bb'.repeat(32) }, ANN)
      expect((await ledger.batch(own))?.approval).toBeNull()
    })

    test('are over all keys and messages of an account, so that another key gains nothing', async () => {
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      const keyNo = (id: string, maker: string): Actor => ({
        ...{ kind: 'key', id, name: 'billing', address: null, makers: [maker] },
      })
      await ledger.recordMessage(messageOf(accountId, refund('M'), { nowMs: NOW }))
      const first = await submit(ledger, accountId, [refund('A')], { nowMs: NOW + 1 }, keyNo('k1', 'person:p1'))
      const over = { fileSha256: 'bb'.repeat(32), nowMs: NOW + 2 }
      const second = await submit(ledger, accountId, [refund('B')], over, keyNo('k2', 'person:p2'))
      const other = await submit(
        ledger,
        await openAccount(ledger, 'second'),
        [refund('C')],
        over,
        keyNo('k1', 'person:p1'),
      )
      const needs = async (batchId: BatchId) => (await ledger.batch(batchId))?.approval?.needed
      expect(await Promise.all([first, second, other].map(needs))).toEqual([undefined, 1, undefined])
    })

    test('are over all accounts of a submitter', async () => {
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      const second = await openAccount(ledger, 'second')
      await submit(ledger, accountId, [refund('A'), refund('B')])
      const other = await submit(ledger, second, [refund('C')], { fileSha256: 'bb'.repeat(32) })
      expect((await ledger.batch(other))?.approval).toMatchObject({ needed: 1 })
    })
  })

  describe('the policy', () => {
    test('is the first one that is configured, and no other configuration changes it', async () => {
      expect(await ledger.agreeOnPolicy(null, CLERK, NOW)).toBe('none-configured')
      expect(await ledger.agreeOnPolicy(FOUR_EYES, CLERK, NOW)).toBe('taken')
      expect(await place.open().agreeOnPolicy(FOUR_EYES, ANN, NOW)).toBe('same')
      expect(await ledger.agreeOnPolicy(TWO, CLERK, NOW)).toBe('differs')
      expect(await ledger.agreeOnPolicy(null, CLERK, NOW)).toBe('none-configured')
      expect(await ledger.approvalPolicy()).toEqual(FOUR_EYES)
      expect((await ledger.batch(await submit(ledger, accountId, [refund('A')])))?.approval).toMatchObject({
        needed: 1,
      })
    })

    test('that is stricter counts for batches that wait, and one that is laxer does not', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      await ledger.adoptPolicy(TWO, 'stricter', ANN, NOW)
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 2 })
      await ledger.adoptPolicy(null, 'off', ANN, NOW)
      expect((await ledger.batch(batchId))?.approval).toMatchObject({ needed: 2 })
      await approve(batchId, BOB)
      expect(await isSendable(batchId)).toBe(false)
    })
  })

  describe('a policy that comes into force while rows are still to be sent', () => {
    const BIG = policyOf({
      bands: {
        EUR: [
          { upTo: '50.00', approvals: 0 },
          { upTo: null, approvals: 1 },
        ],
      },
    })
    const handedIn = (...rows: ReturnType<typeof refund>[]) => submit(ledger, accountId, rows)

    test('holds the batches that need approvals by it, whether some of their rows were sent or not', async () => {
      const small = await handedIn(refund('A', { amountMinor: 1_000n }))
      const begun = await handedIn(refund('B', { amountMinor: 1_000n }), refund('C', { amountMinor: 9_000n }))
      await settle(ledger, await claimNamed(ledger, begun, 'B'), 'APPROVED')
      await ledger.adoptPolicy(BIG, 'test', ANN, NOW + DAY_MS)
      expect([await isSendable(small), await isSendable(begun)]).toEqual([true, false])
      expect((await ledger.batch(begun))?.approval).toMatchObject({ needed: 1, given: 0, untilMs: NOW + 8 * DAY_MS })
      await approve(begun, ANN)
      expect(await isSendable(begun)).toBe(true)
    })

    test('does so when it is the first one that is configured, and for messages', async () => {
      const answer = await ledger.recordMessage(messageOf(accountId, refund('A')))
      const batchId = (answer as { batchId: BatchId }).batchId
      expect(await ledger.agreeOnPolicy(FOUR_EYES, CLERK, NOW)).toBe('taken')
      expect(await isSendable(batchId)).toBe(false)
    })

    test('asks for more of a batch that was approved, and holds a row that was on its way and did not leave', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      await approve(batchId, ANN)
      const claimed = await claimNamed(ledger, batchId, 'A')
      await ledger.adoptPolicy(TWO, 'stricter', ANN, NOW)
      await settle(ledger, claimed, 'READY')
      expect(await isSendable(batchId)).toBe(false)
      await approve(batchId, BOB)
      expect(await isSendable(batchId)).toBe(true)
    })
  })

  describe('what nobody decides on', () => {
    test('cannot be approved after its time, and is cancelled then', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      const over = NOW + 7 * DAY_MS
      await expect(approve(batchId, ANN, { nowMs: over })).rejects.toThrow('expired')
      await ledger.expireApprovals(over - 1)
      expect((await ledger.batch(batchId))?.hold).toBe('none')
      await ledger.expireApprovals(over)
      await ledger.finishCancelling(over)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED'])
    })

    test('but was approved never expires', async () => {
      const batchId = await submitUnder(FOUR_EYES)
      await approve(batchId, ANN)
      await ledger.expireApprovals(NOW + 8 * DAY_MS)
      expect(await isSendable(batchId)).toBe(true)
    })
  })

  describe('reject', () => {
    test('cancels every row, and is open to the submitter as well', async () => {
      const batchId = await submitUnder(FOUR_EYES, refund('A'), refund('B'))
      await ledger.reject({ batchId, reason: 'withdrawn', actor: CLERK, nowMs: NOW })
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED', 'CANCELLED'])
      await expect(approve(batchId, ANN)).rejects.toThrow('was cancelled')
    })
  })

  describe('messages', () => {
    const above = policyOf({
      bands: {
        EUR: [
          { upTo: '25.00', approvals: 0 },
          { upTo: null, approvals: 1 },
        ],
      },
    })
    const hand = async (reference: string, nowMs = NOW) => {
      const answer = await ledger.recordMessage(messageOf(accountId, refund(reference), { nowMs }))
      if (answer.kind !== 'accepted') throw new Error(answer.kind)
      return answer.batchId
    }

    test('flow up to the limit, and wait in a batch beside it above that', async () => {
      await ledger.adoptPolicy(above, 'test', CLERK, NOW)
      const [first, second, third, fourth] = [await hand('A'), await hand('B'), await hand('C'), await hand('D')]
      expect(second).toBe(first)
      expect(third).not.toBe(first)
      expect(fourth).toBe(third)
      expect(await isSendable(first)).toBe(true)
      expect(await isSendable(third)).toBe(false)
      await approve(third, ANN)
      expect(await isSendable(third)).toBe(true)
    })

    test('that come after an approval join no batch that was approved', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const first = await hand('A')
      const digest = (await ledger.approvalSheet(first))?.digest ?? ''
      await hand('B')
      await expect(approve(first, ANN, { digest })).rejects.toThrow('not the one that you looked at')
      await approve(first, ANN)
      const next = await hand('C')
      expect(next).not.toBe(first)
      expect(await isSendable(next)).toBe(false)
    })

    test('that join a batch give it as much time as they have themselves, and none joins one that is over', async () => {
      const [hourMs, minuteMs] = [3_600_000, 60_000]
      await ledger.adoptPolicy(policyOf({ fourEyes: true }, { expireAfterMs: hourMs }), 'test', CLERK, NOW)
      const first = await hand('A')
      expect(await hand('B', NOW + 59 * minuteMs)).toBe(first)
      await ledger.expireApprovals(NOW + hourMs)
      expect(await ledger.batch(first)).toMatchObject({
        hold: 'none',
        approval: { untilMs: NOW + 59 * minuteMs + hourMs },
      })
      const next = await hand('C', NOW + 2 * hourMs)
      expect(next).not.toBe(first)
      await ledger.expireApprovals(NOW + 2 * hourMs)
      await ledger.finishCancelling(NOW + 2 * hourMs)
      expect(await statesIn(ledger, first)).toEqual(['CANCELLED', 'CANCELLED'])
      expect(await statesIn(ledger, next)).toEqual(['READY'])
    })
  })
}
