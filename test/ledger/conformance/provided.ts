// People by an identity provider: known by issuer and subject alone, with the roles of their groups, and sessions that it opens.

import { describe, expect, test } from 'vitest'
import { FOUR_EYES } from '../../../src/domain/approval.ts'
import { APPROVES_AFTER_MS, FIRST_SETUP_MS } from '../../../src/domain/person.ts'
import type { Provided } from '../../../src/ports/ledger/people.ts'
import { CLERK, listOf, NOW, personAt, refund, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const ISSUER = 'https://login.example'
const BOSS = personAt('boss')

const ann = (over: Partial<Provided> = {}): Provided => ({
  ...{ issuer: ISSUER, providerName: 'Example', subject: 'u1', name: 'ann', newId: 'p1' },
  ...{ grants: ['approver'], hasApprovers: false, address: '127.0.0.1', nowMs: NOW },
  ...over,
})
let sessions = 0
const session = (provedAtMs = NOW) => {
  sessions += 1
  return { sha256: String(sessions).padStart(64, '0'), id: `s${sessions}`, provedAtMs }
}
const enter = (over: Partial<Provided> = {}) => ledger.enter(ann(over), session())
const grantsOf = async (name: string) => (await ledger.personNamed(name))?.person.grants

export function describeProvided(): void {
  describe('people by an identity provider', () => {
    test('are made when they come first, and come in', async () => {
      const opening = session(NOW - 5)
      expect(await ledger.enter(ann(), opening)).toMatchObject({ kind: 'in', session: { provedAtMs: NOW - 5 } })
      const visit = await place.open().visit(opening.sha256, NOW)
      expect(visit).toMatchObject({ person: { id: 'p1', name: 'ann', issuer: ISSUER, joined: true } })
      expect(await ledger.personNamed('ann')).toMatchObject({ passwordHash: null })
      expect((await listOf(ledger.log(null))).map(({ what, actor }) => [what, actor?.kind])).toEqual([
        ['add-person', 'provider'],
        ['sign-in', 'person'],
      ])
    })

    test('are known by issuer and subject, and by nothing else', async () => {
      await enter()
      await enter({ newId: 'p2', name: 'ann.smith' })
      await enter({ newId: 'p3', subject: 'u2' })
      await enter({ newId: 'p4', issuer: 'https://other.example' })
      expect((await ledger.people()).map(({ id, name }) => [id, name])).toEqual([
        ['p1', 'ann'],
        ['p3', 'ann-2'],
        ['p4', 'ann-3'],
      ])
    })

    test('take over nobody who has that name, or had it', async () => {
      const link = { sha256: '11'.repeat(32), untilMs: NOW + 1_000 }
      await ledger.addPerson({ id: 'p0', name: 'ann', grants: ['admin'] }, link, CLERK, NOW)
      await ledger.revokePerson('ann', 'left', CLERK, NOW)
      await enter()
      expect(await grantsOf('ann')).toMatchObject([{ name: 'admin' }])
      expect(await grantsOf('ann-2')).toMatchObject([{ name: 'approver', by: `provider:${ISSUER}` }])
    })

    test('do not come in without a role, and are not made', async () => {
      expect(await enter({ grants: [] })).toEqual({ kind: 'no-roles' })
      expect(await ledger.people()).toEqual([])
    })

    test('do not come in once they are revoked', async () => {
      await enter()
      await ledger.revokePerson('ann', 'left', CLERK, NOW)
      expect(await enter({ grants: ['viewer'] })).toEqual({ kind: 'revoked' })
      expect(await grantsOf('ann')).toMatchObject([{ name: 'approver' }])
      expect(await ledger.sessions('p1', NOW)).toEqual([])
    })

    test.each(['submitter', 'approver', 'operator'] as const)('are not admin and %s', async (other) => {
      await expect(enter({ grants: ['admin', other] })).rejects.toThrow('together')
      await enter()
      await expect(enter({ grants: ['admin', other] })).rejects.toThrow('together')
      expect(await grantsOf('ann')).toMatchObject([{ name: 'approver' }])
    })

    test('have the roles of today, and of those that stay since when they are held', async () => {
      await enter()
      const laterMs = NOW + FIRST_SETUP_MS
      await enter({ grants: ['approver', 'viewer'], nowMs: laterMs })
      expect(await grantsOf('ann')).toMatchObject([
        { name: 'approver', atMs: NOW, first: true },
        { name: 'viewer', atMs: laterMs, first: false },
      ])
      await enter({ grants: [], nowMs: laterMs })
      await enter({ grants: ['approver'], nowMs: laterMs + 1 })
      expect(await grantsOf('ann')).toMatchObject([{ name: 'approver', atMs: laterMs + 1, first: false }])
      const changes = (await listOf(ledger.log(null))).filter(({ what }) => what === 'set-roles')
      expect(changes.map(({ details }) => [details?.before, details?.after])).toEqual([
        ['approver', 'approver viewer'],
        ['approver viewer', ''],
        ['', 'approver'],
      ])
    })

    test('lose their other sessions when the roles are other ones, and only then', async () => {
      await enter()
      await enter()
      expect(await ledger.sessions('p1', NOW)).toHaveLength(2)
      await enter({ grants: ['viewer'] })
      expect(await ledger.sessions('p1', NOW)).toHaveLength(1)
      await enter({ grants: [] })
      expect(await ledger.sessions('p1', NOW)).toEqual([])
    })

    test('get no link and no roles from anybody else', async () => {
      await enter()
      const link = { sha256: '11'.repeat(32), untilMs: NOW + 1_000 }
      expect(await ledger.invite('ann', link, CLERK, NOW)).toBe('provided')
      expect(await ledger.setGrants('ann', ['viewer'], 'x', CLERK, NOW)).toBe('provided')
      expect(await ledger.invited(link.sha256, NOW)).toBeNull()
      expect(await grantsOf('ann')).toMatchObject([{ name: 'approver' }])
    })

    test('who are two with roles that move money make every batch wait for one of them', async () => {
      await enter()
      expect(await ledger.approvalPolicy()).toBeNull()
      await enter({ subject: 'u2', newId: 'p2', name: 'bob', grants: ['viewer'] })
      expect(await ledger.approvalPolicy()).toBeNull()
      await enter({ subject: 'u2', newId: 'p3', name: 'bob', grants: ['submitter'] })
      expect(await ledger.approvalPolicy()).toEqual(FOUR_EYES)
    })

    test('make every batch wait from the first of them on, where a group of approvers is configured', async () => {
      await enter({ grants: ['viewer'], hasApprovers: true })
      expect(await ledger.approvalPolicy()).toBeNull()
      await enter({ subject: 'u2', newId: 'p2', name: 'bob', grants: ['submitter'], hasApprovers: true })
      expect(await ledger.approvalPolicy()).toEqual(FOUR_EYES)
    })

    test('do not make batches wait where somebody decided on no policy', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      await ledger.adoptPolicy(null, 'test', CLERK, NOW)
      await enter({ hasApprovers: true })
      expect(await ledger.approvalPolicy()).toBeNull()
    })

    test('approve nothing of somebody with a password or another issuer, who may be the same human', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const link = { sha256: '11'.repeat(32), untilMs: NOW }
      await ledger.addPerson({ id: 'p0', name: 'ann', grants: ['submitter'] }, link, CLERK, NOW)
      await enter()
      await enter({ subject: 'u2', newId: 'p2', name: 'bob', grants: ['submitter'] })
      await enter({ issuer: 'https://other.example', newId: 'p3', name: 'ann', grants: ['submitter'] })
      const by = (id: string, name: string) => ({ kind: 'person', id, name, address: null }) as const
      const approved = async (reference: string, submitter: ReturnType<typeof by>) => {
        const batchId = await submit(ledger, accountId, [refund(reference)], {}, submitter)
        const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
        return ledger.approve({ batchId, digest, reason: 'seen', actor: by('p1', 'ann-2'), nowMs: NOW })
      }
      await expect(approved('A', by('p0', 'ann'))).rejects.toThrow('signs in another way')
      await expect(approved('B', by('p3', 'ann-3'))).rejects.toThrow('signs in another way')
      await expect(approved('C', by('p2', 'bob'))).resolves.toBeUndefined()
    })

    test('approve a day after their groups said so first, however often they come in', async () => {
      const link = { sha256: '11'.repeat(32), untilMs: NOW }
      await ledger.addPerson({ id: 'p0', name: 'old', grants: ['viewer'] }, link, BOSS, NOW - FIRST_SETUP_MS)
      await enter()
      await enter({ nowMs: NOW + APPROVES_AFTER_MS / 2 })
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [refund('A')])
      const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
      const actor = { kind: 'person', id: 'p1', name: 'ann', address: null } as const
      const approve = (nowMs: number) => ledger.approve({ batchId, digest, reason: 'seen', actor, nowMs })
      await expect(approve(NOW + APPROVES_AFTER_MS - 1)).rejects.toThrow('24 hours')
      await expect(approve(NOW + APPROVES_AFTER_MS)).resolves.toBeUndefined()
    })

    test('prove again who they are: another secret, from when the provider saw them', async () => {
      const opening = session(0)
      await ledger.enter(ann(), opening)
      const to = '99'.repeat(32)
      expect(await ledger.enterAgain(ann(), { from: opening.sha256, to, provedAtMs: NOW - 7 })).toBe('renewed')
      expect(await ledger.visit(opening.sha256, NOW)).toBeNull()
      expect(await place.open().visit(to, NOW)).toMatchObject({ session: { id: opening.id, provedAtMs: NOW - 7 } })
    })

    test.each([
      ['as another one', { subject: 'u2' }, 'other-person', true],
      ['by another issuer', { issuer: 'https://other.example' }, 'other-person', true],
      ['with other roles', { grants: ['viewer'] }, 'other-roles', false],
      ['without roles', { grants: [] }, 'no-roles', false],
    ] as const)('prove nothing %s', async (_, over, answer, stays) => {
      const opening = session(0)
      await ledger.enter(ann(), opening)
      await enter({ subject: 'u2', newId: 'p2', name: 'bob' })
      const renewal = { from: opening.sha256, to: '99'.repeat(32), provedAtMs: NOW }
      expect(await ledger.enterAgain(ann(over), renewal)).toBe(answer)
      expect(await ledger.visit(renewal.to, NOW)).toBeNull()
      expect((await ledger.visit(opening.sha256, NOW)) !== null).toBe(stays)
    })

    test.each([
      ['the same roles and leaves the session as it was', {}, 'not-fresh', true],
      ['other roles and ends the session', { grants: ['viewer'] }, 'other-roles', false],
      ['no roles and ends the session', { grants: [] }, 'no-roles', false],
    ] as const)('have, of a sign-in that is not fresh, %s', async (_, over, answer, stays) => {
      const opening = session(5)
      await ledger.enter(ann(), opening)
      const renewal = { from: opening.sha256, to: '99'.repeat(32), provedAtMs: null }
      expect(await ledger.enterAgain(ann(over), renewal)).toBe(answer)
      expect(await ledger.visit(renewal.to, NOW)).toBeNull()
      expect((await ledger.visit(opening.sha256, NOW))?.session.provedAtMs).toBe(stays ? 5 : undefined)
    })

    test('prove nothing for a session that is over', async () => {
      const opening = session()
      await ledger.enter(ann(), opening)
      await ledger.revokePerson('ann', 'left', CLERK, NOW)
      const renewal = { from: opening.sha256, to: '99'.repeat(32), provedAtMs: NOW }
      expect(await ledger.enterAgain(ann(), renewal)).toBe('over')
      expect(await ledger.visit(renewal.to, NOW)).toBeNull()
    })
  })
}
