// People of the console: how they come in, what ends their sessions, and when a password is not looked at.

import { describe, expect, test } from 'vitest'
import { type Actor, identityOf } from '../../../src/domain/actor.ts'
import { FOUR_EYES } from '../../../src/domain/approval.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import { APPROVES_AFTER_MS, FIRST_SETUP_MS, SESSION_IDLE_MS, SESSION_LIVES_MS } from '../../../src/domain/person.ts'
import type { NewPerson } from '../../../src/ports/ledger/people.ts'
import { auditOf, CLERK, listOf, NOW, personAt, refund, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const ANN: NewPerson = { id: 'p1', name: 'ann', grants: ['approver', 'results'] }
const BOSS = personAt('boss')
const LINK = { sha256: '11'.repeat(32), untilMs: NOW + 1_000 }
const NAME_SHA = 'aa'.repeat(32)
const HASH = 'argon2id$of-a-password'
const FIRST = { id: 'p9', name: 'boss' }
const coming = (over = {}) => ({
  ...{ invitationSha256: LINK.sha256, first: FIRST, passwordHash: HASH, address: '127.0.0.1', nowMs: NOW },
  ...over,
})
const sessionOf = (n: number, nowMs = NOW, personId = 'p1') => ({
  ...{ sha256: `${n}${n}`.repeat(32), passwordHash: HASH, id: `s${n}`, personId, address: '127.0.0.1', nowMs },
})

async function haveAnn(nowMs = NOW, person = ANN): Promise<void> {
  await ledger.addPerson(person, { ...LINK, untilMs: nowMs + 1_000 }, CLERK, nowMs)
  await ledger.join(coming({ nowMs }))
}

export function describePeople(): void {
  describe('people', () => {
    test('come by a link, once and in time, and choose the password', async () => {
      expect(await ledger.addPerson(ANN, LINK, CLERK, NOW)).toBe('added')
      expect(await ledger.personNamed('ann')).toMatchObject({ passwordHash: null, person: { joined: false } })
      expect(await ledger.invited(LINK.sha256, NOW)).toEqual({ name: 'ann' })
      expect(await ledger.join(coming({ nowMs: LINK.untilMs }))).toBeNull()
      expect(await place.open().join(coming())).toMatchObject({ id: 'p1', joined: true })
      expect(await ledger.join(coming({ passwordHash: 'another' }))).toBeNull()
      expect(await ledger.personNamed('ann')).toMatchObject({ passwordHash: HASH })
    })

    test('of whom the first is an administrator, by the last link, while there is nobody', async () => {
      await ledger.inviteFirst({ ...LINK, sha256: '22'.repeat(32) })
      expect(await ledger.inviteFirst(LINK)).toBe('invited')
      expect(await ledger.join(coming({ invitationSha256: '22'.repeat(32) }))).toBeNull()
      expect(await ledger.join(coming())).toMatchObject({ name: 'boss', grants: [{ name: 'admin' }] })
      expect(await ledger.inviteFirst(LINK)).toBe('people')
    })

    test('do not come by the first link once somebody was added', async () => {
      await ledger.inviteFirst({ ...LINK, sha256: '22'.repeat(32) })
      await ledger.addPerson(ANN, LINK, CLERK, NOW)
      expect(await ledger.join(coming({ invitationSha256: '22'.repeat(32) }))).toBeNull()
    })

    test('who are two with roles that move money make every batch wait for one of them, also what is not sent yet', async () => {
      await ledger.addPerson(
        { id: 'p0', name: 'max', grants: ['admin'] },
        { ...LINK, sha256: '13'.repeat(32) },
        BOSS,
        NOW,
      )
      await haveAnn()
      expect(await ledger.approvalPolicy()).toBeNull()
      const before = await submit(ledger, accountId, [refund('A')])
      await ledger.addPerson(
        { id: 'p2', name: 'vic', grants: ['viewer'] },
        { ...LINK, sha256: '14'.repeat(32) },
        BOSS,
        NOW,
      )
      expect(await ledger.approvalPolicy()).toBeNull()
      await ledger.setGrants('vic', ['submitter'], 'helps', BOSS, NOW)
      expect(await ledger.approvalPolicy()).toEqual(FOUR_EYES)
      expect(FOUR_EYES.osUsers).toBe(false)
      const after = await submit(ledger, accountId, [refund('B')], { fileSha256: 'bb'.repeat(32) })
      const approvalOf = async (id: BatchId) => (await ledger.batch(id))?.approval ?? null
      expect([await approvalOf(before), await approvalOf(after)]).toMatchObject([
        { needed: 1, given: 0 },
        { needed: 1, given: 0 },
      ])
    })

    test('who come by a new link have their roles from then on, by whoever gave it', async () => {
      await haveAnn()
      const laterMs = NOW + FIRST_SETUP_MS
      await ledger.invite('ann', { sha256: '15'.repeat(32), untilMs: laterMs + 1_000 }, BOSS, laterMs)
      const grants = (await ledger.personNamed('ann'))?.person.grants
      expect(grants).toMatchObject([
        { name: 'approver', atMs: laterMs, by: identityOf(BOSS), first: false },
        { name: 'results', atMs: laterMs },
      ])
    })

    test('who are two of whom none can approve change nothing', async () => {
      await haveAnn(NOW, { ...ANN, grants: ['submitter'] })
      await ledger.addPerson(
        { id: 'p2', name: 'bob', grants: ['operator'] },
        { ...LINK, sha256: '14'.repeat(32) },
        BOSS,
        NOW,
      )
      expect(await ledger.approvalPolicy()).toBeNull()
    })

    test('who are two change nothing where a policy was turned off, or another is in force', async () => {
      const another = { ...FOUR_EYES, osUsers: true }
      await ledger.adoptPolicy(another, 'ours', BOSS, NOW)
      await haveAnn()
      await ledger.addPerson(
        { id: 'p2', name: 'bob', grants: ['operator'] },
        { ...LINK, sha256: '14'.repeat(32) },
        BOSS,
        NOW,
      )
      expect(await ledger.approvalPolicy()).toEqual(another)
      await ledger.adoptPolicy(null, 'cron pays alone', BOSS, NOW)
      await ledger.setGrants('bob', ['operator', 'submitter'], 'x', BOSS, NOW)
      expect(await ledger.approvalPolicy()).toBeNull()
    })

    test('have names that are never given twice', async () => {
      await haveAnn()
      await ledger.revokePerson('ann', 'left', CLERK, NOW)
      expect(await ledger.addPerson({ ...ANN, id: 'p2' }, LINK, CLERK, NOW)).toBe('taken')
      expect(await ledger.revokePerson('ann', 'left', CLERK, NOW)).toBe('already')
      expect(await ledger.revokePerson('nobody', 'left', CLERK, NOW)).toBe('unknown')
    })

    test.each(['submitter', 'approver', 'operator'] as const)('are not admin and %s', async (other) => {
      await expect(ledger.addPerson({ ...ANN, grants: ['admin', other] }, LINK, CLERK, NOW)).rejects.toThrow('together')
      await haveAnn()
      await expect(ledger.setGrants('ann', ['admin', other], 'x', CLERK, NOW)).rejects.toThrow('together')
      expect(await ledger.personNamed('ann')).toMatchObject({ person: { grants: [{}, {}] } })
    })

    test('keep since when they have a role', async () => {
      await haveAnn()
      await ledger.setGrants('ann', ['approver', 'viewer'], 'more', CLERK, NOW + FIRST_SETUP_MS)
      expect((await ledger.people())[0]?.grants).toMatchObject([
        { name: 'approver', atMs: NOW, first: true },
        { name: 'viewer', atMs: NOW + FIRST_SETUP_MS, first: false },
      ])
    })
  })

  describe('a session', () => {
    test('is found by its digest until it is idle or old', async () => {
      await haveAnn()
      await ledger.openSession(sessionOf(3), NAME_SHA)
      expect(await place.open().visit(sessionOf(3).sha256, NOW + 1)).toMatchObject({ person: { name: 'ann' } })
      expect(await ledger.visit(sessionOf(4).sha256, NOW + 1)).toBeNull()
      expect(await ledger.visit(sessionOf(3).sha256, NOW + SESSION_IDLE_MS)).toBeNull()
      for (let at = NOW; at < NOW + SESSION_LIVES_MS; at += SESSION_IDLE_MS - 1)
        expect(await ledger.visit(sessionOf(3).sha256, at)).not.toBeNull()
      expect(await ledger.visit(sessionOf(3).sha256, NOW + SESSION_LIVES_MS)).toBeNull()
    })

    test.each([
      ['the person is revoked', () => ledger.revokePerson('ann', 'left', CLERK, NOW + 1)],
      ['the roles change', () => ledger.setGrants('ann', ['viewer'], 'less', CLERK, NOW + 1)],
      ['another link is made', () => ledger.invite('ann', LINK, CLERK, NOW + 1)],
      ['it is ended', () => ledger.endSession('p1', 's3', CLERK, NOW + 1)],
    ])('ends when %s', async (_, end) => {
      await haveAnn()
      await ledger.openSession(sessionOf(3), NAME_SHA)
      await end()
      expect(await place.open().visit(sessionOf(3).sha256, NOW + 2)).toBeNull()
      expect(await ledger.sessions('p1', NOW + 2)).toEqual([])
    })

    test('is not opened for who may not come any more', async () => {
      await haveAnn()
      await ledger.revokePerson('ann', 'left', CLERK, NOW)
      expect(await ledger.openSession(sessionOf(3), NAME_SHA)).toBeNull()
    })

    test('is not opened by a password that was replaced while it was compared', async () => {
      await haveAnn()
      await ledger.invite('ann', LINK, CLERK, NOW)
      expect(await ledger.openSession(sessionOf(3), NAME_SHA)).toBeNull()
      await ledger.join(coming({ passwordHash: 'argon2id$of-another' }))
      expect(await ledger.openSession(sessionOf(3), NAME_SHA)).toBeNull()
    })

    test('has another digest after the password was shown again', async () => {
      await haveAnn()
      await ledger.openSession(sessionOf(3), NAME_SHA)
      const renewed = await ledger.renewSession(sessionOf(3).sha256, '99'.repeat(32), NAME_SHA, NOW + 5)
      expect(renewed).toMatchObject({ id: 's3', startedAtMs: NOW, provedAtMs: NOW + 5 })
      expect(await ledger.visit(sessionOf(3).sha256, NOW + 5)).toBeNull()
      expect(await ledger.visit('99'.repeat(32), NOW + 5)).not.toBeNull()
    })
  })

  describe('a password that its person changes', () => {
    const changing = (over = {}) => ({
      ...{ from: sessionOf(3).sha256, to: '99'.repeat(32), nameSha256: NAME_SHA, address: '10.0.0.7' },
      ...{ before: HASH, after: 'argon2id$of-another', ...over },
    })

    test('ends all other sessions of the person, and leaves an act', async () => {
      await haveAnn()
      for (const n of [3, 4]) await ledger.openSession(sessionOf(n), NAME_SHA)
      expect(await ledger.changePassword(changing(), NOW + 5)).toBe(true)
      expect(await ledger.personNamed('ann')).toMatchObject({ passwordHash: 'argon2id$of-another' })
      const visits = ['99', '33', '44'].map((digest) => ledger.visit(digest.repeat(32), NOW + 5))
      expect((await Promise.all(visits)).map((visit) => visit?.session.id ?? null)).toEqual(['s3', null, null])
      expect((await listOf(ledger.log(null))).at(-1)).toMatchObject({
        ...{ what: 'change-password', actor: { kind: 'person', id: 'p1', name: 'ann', address: '10.0.0.7' } },
        details: { person: 'p1', name: 'ann', sessions_ended: 1 },
      })
      expect(await auditOf(ledger)).toEqual([])
    })

    test('is not the one that was replaced meanwhile, nor that of a session that is over', async () => {
      await haveAnn()
      await ledger.openSession(sessionOf(3), NAME_SHA)
      expect(await ledger.changePassword(changing({ before: 'argon2id$of-a-third' }), NOW)).toBe(false)
      expect(await ledger.changePassword(changing({ from: sessionOf(4).sha256 }), NOW)).toBe(false)
      expect(await ledger.personNamed('ann')).toMatchObject({ passwordHash: HASH })
      expect(await ledger.visit(sessionOf(3).sha256, NOW)).not.toBeNull()
    })
  })

  describe('a password', () => {
    test('is looked at less and less often, for each name by itself, on every connection', async () => {
      let looked = 0
      const other = place.open()
      for (let at = NOW; at < NOW + 3_600_000; at += 1_000)
        looked += (await (at % 2_000 === 0 ? ledger : other).beginSignIn(NAME_SHA, at)).kind === 'try' ? 1 : 0
      expect(looked).toBeLessThanOrEqual(20)
      expect(await ledger.beginSignIn('bb'.repeat(32), NOW)).toEqual({ kind: 'try', failures: 1 })
    })

    test('of several tries at one moment is looked at once', async () => {
      const kinds = await Promise.all(Array.from({ length: 20 }, () => ledger.beginSignIn(NAME_SHA, NOW)))
      expect(kinds.filter(({ kind }) => kind === 'try')).toHaveLength(1)
    })

    test('that was right makes the failed tries forgotten', async () => {
      await haveAnn()
      await ledger.beginSignIn(NAME_SHA, NOW)
      await ledger.openSession(sessionOf(3), NAME_SHA)
      expect(await ledger.beginSignIn(NAME_SHA, NOW)).toEqual({ kind: 'try', failures: 1 })
    })
  })

  describe('a sign-in that is refused', () => {
    const refusedActs = async () =>
      (await listOf(ledger.log(null)))
        .filter(({ what }) => what === 'sign-in-refused')
        .map(({ by, reason, details }) => [by, reason, details])
    const address = '10.0.0.7'

    test('of a name that somebody has leaves an act at the first and the fifth in a row, and where it waits longest', async () => {
      await haveAnn()
      for (let failures = 1; failures <= 200; failures += 1)
        await ledger.noteRefusedSignIn({ name: 'ann', failures, address, nowMs: NOW + failures })
      const inAll = 'wrong passwords of all people together'
      const details = { person: 'p1', name: 'ann', address }
      expect(await refusedActs()).toEqual([
        ['worker', 'a wrong password', { ...details, tries: 1 }],
        ['worker', 'wrong passwords in a row', { ...details, tries: 5 }],
        ['worker', 'wrong passwords in a row; each further try waits 15 minutes', { ...details, tries: 11 }],
        ['worker', inAll, { tries: 50, address }],
      ])
      expect(await auditOf(ledger)).toEqual([])
    })

    test('of names that nobody has leaves few acts for all of them, and none of the names', async () => {
      await haveAnn()
      for (let n = 1; n <= 120; n += 1)
        await ledger.noteRefusedSignIn({ name: `n${n}`, failures: 1 + (n % 7), address, nowMs: NOW + n })
      const why = 'unknown names were tried'
      expect(await refusedActs()).toEqual([
        ['worker', why, { tries: 1, address }],
        ['worker', why, { tries: 5, address }],
        ['worker', why, { tries: 50, address }],
      ])
    })

    test('of names that nobody has is counted anew after a day without any', async () => {
      const tried = async (times: number, nowMs: number) => {
        for (let n = 0; n < times; n += 1)
          await ledger.noteRefusedSignIn({ name: 'nobody', failures: 1, address: null, nowMs })
      }
      await tried(4, NOW)
      await ledger.beginSignIn(NAME_SHA, NOW + 2 * 86_400_000)
      await tried(4, NOW + 2 * 86_400_000)
      expect((await refusedActs()).map(([, , details]) => details)).toMatchObject([{ tries: 1 }, { tries: 1 }])
    })
  })

  describe('a second person', () => {
    const [ADA, MAX] = [at('ada'), at('max')]
    let links = 0

    function at(name: string) {
      return { kind: 'person', id: `p-${name}`, name, address: null } as const
    }
    async function add(name: string, grants: NewPerson['grants'], by: Actor, nowMs = NOW): Promise<void> {
      links += 1
      const sha256 = String(links).padStart(64, '0')
      await ledger.addPerson({ id: `p-${name}`, name, grants }, { sha256, untilMs: nowMs + 1_000 }, by, nowMs)
      await ledger.join(coming({ invitationSha256: sha256, nowMs }))
    }
    const rolesOf = async (name: string) => {
      const person = (await ledger.personNamed(name))?.person
      return [person?.grants.map((one) => one.name), person?.waiting.map((one) => one.name)]
    }
    const confirm = async (name: string, by: Actor) => (await ledger.confirmPerson(name, by, NOW)).kind
    const approved = async (by: string, from: Actor) => {
      links += 1
      const batchId = await submit(
        ledger,
        accountId,
        [refund(`of ${links}`)],
        { fileSha256: `${links}`.repeat(64) },
        from,
      )
      const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
      return ledger.approve({ batchId, digest, reason: 'seen', actor: at(by), nowMs: NOW + APPROVES_AFTER_MS })
    }

    test('stands behind one of two whom one person made, or neither approves for the other at any age', async () => {
      await add('ada', ['admin'], BOSS)
      await add('sub', ['submitter'], ADA)
      await add('app', ['approver'], ADA)
      await expect(approved('app', at('sub'))).rejects.toThrow('One person made both')
      expect(await confirm('app', CLERK)).toBe('confirmed')
      await expect(approved('app', at('sub'))).resolves.toBeUndefined()
      expect((await ledger.personNamed('app'))?.person.confirmedBy).toContain('clerk@desk')
      const [act] = (await listOf(ledger.log(null))).filter(({ what }) => what === 'approve')
      await ledger.gatherEvents(NOW + 1)
      const { facts } = await ledger.events({ move: 0, event: 0 }, await ledger.eventsEnd(), 'all')
      expect(facts.find(({ type }) => type === 'batch.approved')?.said.accounts).toBe(act?.details?.accounts)
      expect(act?.details?.accounts).toMatch(
        /^Account app: made \S+ by person ada .*, confirmed by clerk@desk, .*; Account sub: made .* by nobody/,
      )
    })

    test('also where somebody between made them', async () => {
      await add('ada', ['admin'], BOSS)
      await add('max', ['admin'], ADA)
      await add('sub', ['submitter'], ADA)
      await add('app', ['approver'], MAX)
      await expect(approved('app', at('sub'))).rejects.toThrow('One person made both')
    })

    test('confirms each role that moves money, and each new link, once a policy is in force', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      await add('sub', ['submitter', 'viewer'], BOSS)
      expect(await rolesOf('sub')).toEqual([['viewer'], ['submitter']])
      await ledger.confirmPerson('sub', CLERK, NOW)
      expect(await rolesOf('sub')).toEqual([['submitter', 'viewer'], []])
      await ledger.setGrants('sub', ['submitter', 'operator'], 'more', BOSS, NOW)
      expect(await rolesOf('sub')).toEqual([['submitter'], ['operator']])
      await ledger.invite('sub', LINK, BOSS, NOW)
      expect(await rolesOf('sub')).toEqual([[], ['operator', 'submitter']])
      expect((await ledger.personNamed('sub'))?.person.confirmedBy).toBeNull()
    })

    test('is nobody whom the giver made, nor who made the giver, nor the owner where another administrator can', async () => {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      await add('ada', ['admin'], BOSS)
      await add('max', ['admin'], ADA)
      await add('app', ['approver'], MAX)
      for (const by of [ADA, MAX, at('app')]) expect(await confirm('app', by), by.name).toBe('same-hand')
      await add('eve', ['admin'], CLERK)
      expect(await ledger.confirmPerson('app', CLERK, NOW)).toEqual({ kind: 'others', names: ['eve'] })
      expect(await confirm('app', at('eve'))).toBe('confirmed')
      expect(await confirm('app', at('eve'))).toBe('nothing')
      const [act] = (await listOf(ledger.log(null))).filter(({ what }) => what === 'confirm-person')
      expect(act).toMatchObject({ details: { name: 'app', roles: 'approver', as: 'another administrator' } })
    })
  })

  describe('a person approves', () => {
    const FOUR_EYES = {
      rules: [{ merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }],
      ...{ expireAfterMs: 7 * 86_400_000, osUsers: false },
    }
    const BOSS = { kind: 'person', id: 'p9', name: 'boss', address: null } as const

    let submitted = 0

    async function approveBy(id: string, nowMs: number): Promise<void> {
      await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, NOW)
      submitted += 1
      const batchId = await submit(ledger, accountId, [refund(`A${submitted}`)])
      const digest = (await ledger.approvalSheet(batchId))?.digest ?? ''
      const actor = { kind: 'person', id, name: 'Ann', address: null } as const
      const told = await ledger.unfitness({ batchId, actor, nowMs })
      const approved = ledger.approve({ batchId, digest, reason: 'seen', actor, nowMs })
      // Whoever is told beforehand that they may not is refused, and nobody else is.
      expect(
        await approved.then(
          () => null,
          ({ code }) => code,
        ),
      ).toBe(told === null ? null : 'usage')
      if (told?.untilMs != null) expect(await ledger.unfitness({ batchId, actor, nowMs: told.untilMs })).toBeNull()
      await approved
    }

    test('with the role, when it is a day old', async () => {
      await ledger.addPerson({ id: 'p0', name: 'old', grants: ['viewer'] }, LINK, BOSS, NOW - FIRST_SETUP_MS)
      await ledger.addPerson(ANN, { ...LINK, sha256: '12'.repeat(32) }, BOSS, NOW)
      await expect(approveBy('p1', NOW + APPROVES_AFTER_MS - 1)).rejects.toThrow('24 hours')
    })

    test('after that day', async () => {
      await ledger.addPerson({ id: 'p0', name: 'old', grants: ['viewer'] }, LINK, BOSS, NOW - FIRST_SETUP_MS)
      await ledger.addPerson(ANN, { ...LINK, sha256: '12'.repeat(32) }, BOSS, NOW)
      await expect(approveBy('p1', NOW + APPROVES_AFTER_MS)).resolves.toBeUndefined()
    })

    test('at once, when it was given at the first set-up, before the first batch', async () => {
      await ledger.addPerson(ANN, LINK, BOSS, NOW)
      await expect(approveBy('p1', NOW + 1)).resolves.toBeUndefined()
      await ledger.addPerson({ ...ANN, id: 'p2', name: 'bea' }, { ...LINK, sha256: '12'.repeat(32) }, BOSS, NOW)
      await ledger.confirmPerson('bea', CLERK, NOW)
      await expect(approveBy('p2', NOW + 1)).rejects.toThrow('24 hours')
    })

    test('not without the role, revoked, unknown, or made an approver by the submitter', async () => {
      await ledger.addPerson({ ...ANN, grants: ['submitter'] }, LINK, BOSS, NOW)
      await expect(approveBy('p1', NOW + 1)).rejects.toThrow('role approver')
      await expect(approveBy('p7', NOW + 1)).rejects.toThrow('role approver')
      await ledger.addPerson({ ...ANN, id: 'p2', name: 'bea' }, { ...LINK, sha256: '12'.repeat(32) }, CLERK, NOW)
      await ledger.confirmPerson('bea', CLERK, NOW)
      for (const after of [1, APPROVES_AFTER_MS])
        await expect(approveBy('p2', NOW + after)).rejects.toThrow('The submitter of batch')
      await ledger.revokePerson('bea', 'left', CLERK, NOW)
      await expect(approveBy('p2', NOW + 1)).rejects.toThrow('role approver')
    })
  })
}
