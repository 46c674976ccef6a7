// Sending a row in doubt once more where approvals are in force: one person proposes it, another one confirms or refuses it.

import { describe, expect, test } from 'vitest'
import type { Actor } from '../../../src/domain/actor.ts'
import { type ApprovalPolicy, FOUR_EYES as BY_ITSELF } from '../../../src/domain/approval.ts'
import { PROPOSAL_LIVES_MS, type Resolution, standingProposal } from '../../../src/domain/doubt.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { GrantName } from '../../../src/domain/person.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  auditOf,
  CLERK,
  claimNamed,
  findingOn,
  listOf,
  NOW,
  personAt,
  refund,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { addPersonOfOld } from '../../fixtures/people.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { saying } from '../../fixtures/words.ts'

const ANN = personAt('ann')
const BOB = personAt('bob')
const LATER = NOW + 3_600_000
const RULE = { merchants: null, operations: null, fourEyes: false, bands: {}, rowOver: {} }
const ADMIN = personAt('admin')

let batchId: BatchId

/** A refund in doubt, handed in by CLERK, under that policy. */
const FOUR_EYES: ApprovalPolicy = { ...BY_ITSELF, osUsers: true }

async function doubtUnder(policy: ApprovalPolicy | null): Promise<void> {
  batchId = await submit(ledger, accountId, [refund('A')])
  await work(ledger, batchId, 'A', 'IN_DOUBT')
  await ledger.adoptPolicy(policy, 'test', ADMIN, NOW)
}

const sendAgain = (actor: Actor, over: Partial<Resolution> = {}, nowMs = LATER, by: Ledger = ledger) =>
  by.resolve(
    findingOn('A', { finding: 'send-again', attempt: 1, reason: `says ${nameOf(actor)}`, ...over }),
    actor,
    nowMs,
  )
const nameOf = (actor: Actor) => actor.name
const stateNow = async () => (await statesIn(ledger, batchId))[0]
const proposalNow = async (nowMs = LATER) => {
  const [doubt] = await ledger.doubts()
  return doubt === undefined ? null : standingProposal(doubt, nowMs)
}
const refuse = async (actor: Actor, nowMs = LATER) =>
  ledger.refuseProposal(
    { batchId, rowNo: 1, proposedAtMs: (await proposalNow(nowMs))?.atMs ?? 0, reason: 'it is there' },
    actor,
    nowMs,
  )
const person = async (name: string, grants: readonly GrantName[], by = ADMIN): Promise<Actor> => {
  people += 1
  const link = { sha256: String(people).padStart(64, '0'), untilMs: NOW + 1 }
  await addPersonOfOld(ledger, { id: `p-${name}`, name, grants }, link, by, NOW)
  return { kind: 'person', id: `p-${name}`, name, address: null }
}
let people = 0
/** Why they are gone, of the proposals that nobody decided on. */
const lapsedNow = async () =>
  (await listOf(ledger.log(null)))
    .filter(({ what }) => what === 'lapse-send-again')
    .map(({ by, reason, batchId: of, details }) => [by, reason, of, details])
const lapsed = (why: string, by: string, attempt = 1) => [
  ...['worker', why, batchId],
  { row: 1, attempt, proposed_by: by },
]
const actsNow = async () =>
  (await listOf(ledger.log(null))).filter(({ what }) => what.endsWith('send-again')).map(({ what, by }) => [what, by])

export function describeProposals(): void {
  describe('send-again under a policy', () => {
    test('of one person is a proposal that moves nothing, and of another one sends the row', async () => {
      await doubtUnder(FOUR_EYES)
      const first = await sendAgain(ANN)
      const proposal = { by: 'ann@desk', reason: 'says ann', atMs: LATER, untilMs: LATER + PROPOSAL_LIVES_MS }
      expect(first).toEqual({ kind: 'proposed', batchId, rowNo: 1, proposal })
      expect([await stateNow(), await proposalNow()]).toEqual(['IN_DOUBT', proposal])
      expect(await ledger.proposals(LATER)).toEqual([{ merchant: 'default', batchId }])
      expect(await sendAgain(BOB, {}, LATER + 1, place.open())).toMatchObject({ kind: 'resolved', state: 'READY' })
      expect([await stateNow(), await proposalNow()]).toEqual(['READY', null])
      expect(await actsNow()).toEqual([
        ['propose-send-again', 'ann@desk'],
        ['confirm-send-again', 'bob@desk'],
      ])
      expect((await ledger.history('A')).at(-1)).toMatchObject({ to: 'READY', cause: 'resolve', by: 'bob@desk' })
      expect(await auditOf(ledger)).toEqual([])
    })

    test('is not confirmed by whoever proposed it, on any host, as root, or under a claimed name', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      const root = { ...personAt('root'), uid: 0, sudo: { name: 'ann', uid: 4_001 } } as Actor
      for (const actor of [ANN, { ...personAt('ann', 'Bob'), host: 'elsewhere' } as Actor, root])
        expect(await sendAgain(actor, {}, LATER + 1)).toMatchObject({ kind: 'proposed', proposal: { atMs: LATER } })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await actsNow()).toHaveLength(1)
    })

    test('is not confirmed by who submitted the batch, who may propose it', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      expect(await sendAgain(CLERK)).toMatchObject({ why: 'proposal', reason: saying(/submitted the batch/) })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await refuse(ANN)).toBe(true)
      expect(await sendAgain(CLERK)).toMatchObject({ kind: 'proposed' })
      expect(await sendAgain(ANN)).toMatchObject({ kind: 'resolved', state: 'READY' })
    })

    test('is ordered by no key and no provider, and confirmed by users only where the policy lets them approve', async () => {
      await doubtUnder({ ...FOUR_EYES, osUsers: false })
      const key = { kind: 'key', id: 'k1', name: 'billing', address: null } as const
      for (const actor of [key, { ...key, kind: 'provider' } as const])
        expect(await sendAgain(actor)).toMatchObject({ kind: 'refused', why: 'a-key' })
      await sendAgain(ANN)
      await expect(refuse(key)).rejects.toThrow('A key decides on no proposal')
      expect(await sendAgain(key)).toMatchObject({ kind: 'refused', why: 'a-key' })
      expect(await sendAgain(BOB)).toMatchObject({ why: 'proposal', reason: saying(/os_users/) })
      expect(await stateNow()).toBe('IN_DOUBT')
    })

    test('of a person is confirmed by an approver whom neither the proposer nor the submitter made one', async () => {
      await doubtUnder(FOUR_EYES)
      const olga = await person('olga', ['operator'])
      await sendAgain(olga)
      const [otto, own, theirs] = [
        await person('otto', ['operator']),
        await person('owen', ['approver'], { kind: 'person', id: 'p-olga', name: 'olga', address: null } as never),
        await person('theo', ['approver'], CLERK as never),
      ]
      for (const [actor, why] of [
        [otto, /does not have the role approver/],
        [own, /who proposed it made .*owen/],
        [theirs, /who submitted the batch made .*theo/],
      ] as const)
        expect(await sendAgain(actor)).toMatchObject({ why: 'proposal', reason: saying(why) })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await sendAgain(await person('anna', ['approver']))).toMatchObject({ kind: 'resolved', state: 'READY' })
    })

    test.each<[string, ApprovalPolicy, 'proposed' | 'resolved']>([
      [
        'whatever its amount',
        { ...FOUR_EYES, rules: [{ ...RULE, bands: { EUR: [{ upTo: null, approvals: 0 }] } }] },
        'proposed',
      ],
      [
        'of another merchant only',
        { ...FOUR_EYES, rules: [{ ...RULE, merchants: ['other'], fourEyes: true }] },
        'resolved',
      ],
      [
        'of another operation only',
        { ...FOUR_EYES, rules: [{ ...RULE, operations: ['AUTH'], fourEyes: true }] },
        'resolved',
      ],
    ])('asks a second person for what the policy is of: %s', async (_, policy, kind) => {
      await doubtUnder(policy)
      expect((await ledger.doubts())[0]).toMatchObject({ twoPeople: kind === 'proposed' })
      expect(await sendAgain(ANN)).toMatchObject({ kind })
    })

    test('asks one where the batch was handed in under approvals, also when no policy is in force any more', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', ADMIN, NOW)
      batchId = await submit(ledger, accountId, [refund('A')])
      const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
      await ledger.approve({ batchId, digest, reason: 'seen', actor: ANN, nowMs: NOW })
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.adoptPolicy(null, 'test', ADMIN, NOW)
      expect(await sendAgain(BOB)).toMatchObject({ kind: 'proposed' })
      expect(await sendAgain(CLERK)).toMatchObject({ why: 'proposal' })
    })

    test('is one person’s word where no policy is in force', async () => {
      await doubtUnder(null)
      expect(await sendAgain(ANN)).toMatchObject({ kind: 'resolved', state: 'READY' })
    })

    test('leaves the other findings to one person', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      expect(await ledger.resolve(findingOn('A'), ANN, LATER)).toMatchObject({ kind: 'resolved', state: 'APPROVED' })
    })
  })

  describe('a proposal', () => {
    test('is confirmed as it was shown, and no other, and none that was not shown', async () => {
      await doubtUnder(FOUR_EYES)
      expect(await sendAgain(ANN, { proposedAtMs: LATER })).toMatchObject({ why: 'proposal' })
      expect(await proposalNow()).toBeNull()
      await sendAgain(ANN, { proposedAtMs: null })
      for (const proposedAtMs of [null, LATER + 1])
        expect(await sendAgain(BOB, { proposedAtMs })).toMatchObject({ why: 'proposal', reason: saying(/ann@desk/) })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await sendAgain(BOB, { proposedAtMs: LATER })).toMatchObject({ kind: 'resolved' })
    })

    test('is foreseen, and so is that it stands already, or would be confirmed', async () => {
      await doubtUnder(FOUR_EYES)
      const foresee = async (actor: Actor, over: Partial<Resolution> = {}) => {
        const asked = findingOn('A', { finding: 'send-again', attempt: 1, ...over })
        return (await ledger.foresee([asked], actor, LATER))[0]
      }
      expect(await foresee(ANN)).toMatchObject({ kind: 'would-propose', doubt: { rowNo: 1 } })
      expect(await proposalNow()).toBeNull()
      await sendAgain(ANN)
      expect(await foresee(ANN)).toMatchObject({ kind: 'proposed' })
      expect(await foresee(BOB)).toMatchObject({ kind: 'would-resolve', state: 'READY' })
      expect(await foresee(BOB, { proposedAtMs: null })).toMatchObject({ kind: 'refused', why: 'proposal' })
      expect([await stateNow(), (await actsNow()).length]).toEqual(['IN_DOUBT', 1])
    })

    test('that was shown is sent by nobody alone, when the policy has gone meanwhile', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      await ledger.adoptPolicy(null, 'test', ADMIN, NOW)
      expect(await sendAgain(BOB, { proposedAtMs: LATER })).toMatchObject({ why: 'proposal' })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await ledger.doubts()).toMatchObject([{ twoPeople: false, proposal: null }])
      expect(await ledger.proposals(LATER)).toEqual([])
    })

    test('that a person meant to make sends nothing, when one word has become enough meanwhile', async () => {
      await doubtUnder(FOUR_EYES)
      await ledger.adoptPolicy(null, 'test', ADMIN, NOW)
      const meant = { proposedAtMs: null, onlyProposes: true }
      expect(await sendAgain(ANN, meant)).toMatchObject({ why: 'proposal', reason: saying(/would be sent at once/) })
      expect([await stateNow(), await actsNow()]).toEqual(['IN_DOUBT', []])
      expect(await sendAgain(ANN, { ...meant, onlyProposes: false })).toMatchObject({ state: 'READY' })
    })

    test('is refused by another person, or by its own, with a reason, and then has to be made anew', async () => {
      await doubtUnder(FOUR_EYES)
      for (const actor of [BOB, ANN]) {
        await sendAgain(ANN)
        expect(await refuse(actor)).toBe(true)
        expect(await refuse(actor)).toBe(false)
      }
      expect(await sendAgain(BOB)).toMatchObject({ kind: 'proposed', proposal: { by: 'bob@desk' } })
      const refused = (await listOf(ledger.log(null))).filter(({ what }) => what === 'refuse-send-again')
      expect(refused).toMatchObject([
        { reason: 'it is there', by: 'bob@desk', details: { row: 1, attempt: 1, proposed_by: 'ann@desk' } },
        { by: 'ann@desk' },
      ])
    })

    test('lapses after seven days', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      const over = LATER + PROPOSAL_LIVES_MS
      expect(await proposalNow(over)).toBeNull()
      expect(await ledger.proposals(over)).toEqual([])
      expect(await refuse(BOB, over)).toBe(false)
      expect(await lapsedNow()).toEqual([]) // nobody took it away
      expect(await sendAgain(BOB, {}, over)).toMatchObject({ kind: 'proposed', proposal: { by: 'bob@desk' } })
      expect(await stateNow()).toBe('IN_DOUBT')
      expect(await lapsedNow()).toEqual([lapsed('it was not confirmed in time', 'ann@desk')])
      expect(await auditOf(ledger)).toEqual([])
    })

    test('lapses when the row is resolved otherwise, and is of no other attempt', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      await sendAgain(BOB)
      await settle(ledger, await claimNamed(ledger, batchId, 'A', LATER), 'IN_DOUBT', { atMs: LATER })
      expect(await proposalNow()).toBeNull()
      const again = (actor: Actor, nowMs: number) => sendAgain(actor, { attempt: 2 }, nowMs)
      expect(await again(ANN, LATER + 1)).toMatchObject({ kind: 'proposed' })
      expect(await ledger.resolve(findingOn('A', { attempt: 2 }), BOB, LATER + 2)).toMatchObject({ state: 'APPROVED' })
      expect(await ledger.doubts()).toEqual([])
      expect(await refuse(BOB)).toBe(false)
      expect(await lapsedNow()).toEqual([lapsed('the row was resolved otherwise', 'ann@desk', 2)])
      expect(await auditOf(ledger)).toEqual([])
    })

    test.each<[string, () => Promise<unknown>]>([
      ['loses the role', () => ledger.setGrants('olga', ['viewer'], 'moved on', ADMIN, LATER)],
      ['is revoked', () => ledger.revokePerson('olga', 'left', ADMIN, LATER)],
      ['gets a new link', () => ledger.invite('olga', { sha256: 'ee'.repeat(32), untilMs: LATER }, ADMIN, LATER)],
    ])('lapses when its proposer %s, for good', async (_, change) => {
      await doubtUnder(FOUR_EYES)
      const olga = await person('olga', ['operator'])
      const anna = await person('anna', ['approver'])
      await sendAgain(olga)
      await change()
      expect(await proposalNow()).toBeNull()
      expect(await lapsedNow()).toEqual([lapsed('what its proposer may do here was changed', 'person olga (p-olga)')])
      await ledger.setGrants('olga', ['operator'], 'back', ADMIN, LATER)
      expect(await sendAgain(anna, { proposedAtMs: LATER })).toMatchObject({ why: 'proposal' })
      expect(await stateNow()).toBe('IN_DOUBT')
    })

    test('lapses when the account moves to another gateway', async () => {
      await doubtUnder(FOUR_EYES)
      await sendAgain(ANN)
      const next = place.open()
      await ledger.close() // no worker is at work on an account that moves
      await next.adoptAccount('default', 'https://moved.example', 'merchant', 'moved', CLERK, NOW)
      expect(await next.doubts()).toMatchObject([{ proposal: null }])
      const acts = await listOf(next.log(null))
      expect(acts.filter(({ what }) => what === 'lapse-send-again')).toMatchObject([
        { reason: 'the merchant was moved to another gateway', details: { proposed_by: 'ann@desk' } },
      ])
    })

    test('is made by one of many at once, and confirmed by one', async () => {
      await doubtUnder(FOUR_EYES)
      const others = Array.from({ length: 6 }, (_, i) => personAt(`p${i}`))
      const open = place.open()
      const order = (actor: Actor, i: number) =>
        sendAgain(actor, { proposedAtMs: null }, LATER + i, i % 2 === 0 ? ledger : open)
      const made = await Promise.all(others.map(order))
      expect(made.filter(({ kind }) => kind === 'proposed')).toHaveLength(1)
      const { atMs } = (await proposalNow(LATER)) ?? { atMs: 0 }
      const first = made.findIndex(({ kind }) => kind === 'proposed')
      const confirming = others.filter((_, i) => i !== first)
      const confirmed = await Promise.all(
        confirming.map((actor, i) => sendAgain(actor, { proposedAtMs: atMs }, LATER + 9, i % 2 === 0 ? ledger : open)),
      )
      expect(confirmed.filter(({ kind }) => kind === 'resolved')).toHaveLength(1)
      expect((await actsNow()).map(([what]) => what)).toEqual(['propose-send-again', 'confirm-send-again'])
    })
  })
}
