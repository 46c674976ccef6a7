// What other programs are told: every event of the record once, in one order, under a name that never changes.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EventFact, type EventPosition, eventBody } from '../../../src/domain/event.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { MAYBE_EXECUTED } from '../../../src/domain/message.ts'
import { eventFaults } from '../../../src/events/schema.ts'
import type { RowsAsked } from '../../../src/ports/ledger/events.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  factsWith,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  personAt,
  refund,
  rowIn,
  sale,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const START: EventPosition = { move: 0, event: 0 }

async function eventsIn(from: Ledger = ledger, rows: RowsAsked = 'all'): Promise<EventFact[]> {
  await from.gatherEvents(NOW + 1_000)
  const upTo = await from.eventsEnd()
  const found: EventFact[] = []
  for (let at = START; at.move < upTo.move || at.event < upTo.event; ) {
    const { facts, reached } = await from.events(at, upTo, rows)
    found.push(...facts)
    at = reached
  }
  return found
}

const isBehind = (at: EventPosition, other: EventPosition) => at.move > other.move || at.event > other.event
const typesOf = (facts: readonly EventFact[]) => facts.map(({ type }) => type)
const bodyOf = (fact: EventFact | undefined) => eventBody(fact as EventFact, 'ledger', [])

export function describeEvents(): void {
  describe('events', () => {
    test('tell of a batch from its acceptance to its end, and of each row', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'APPROVED', { facts: factsWith('901') })
      await ledger.gatherEvents(NOW + 500)
      await work(ledger, batchId, 'B', 'DECLINED', { reason: 'Insufficient funds' })
      const facts = await eventsIn()
      expect(typesOf(facts)).toEqual([
        ...['row.settled', 'batch.accepted', 'batch.started', 'row.settled', 'batch.finished'],
      ])
      const [approved, accepted, , declined, finished] = facts.map((fact) => bodyOf(fact))
      expect(approved).toMatchObject({
        ...{ specversion: '1.0', source: '/ledger/ledger', type: 'row.settled', subject: `batch/${batchId}/row/1` },
        ...{ time: new Date(NOW + 300).toISOString(), timestamp: new Date(NOW + 300).toISOString() },
        data: {
          ...{ final: true, reference: 'A', batch: batchId, row: 1, merchant: 'default', operation: 'REFUND' },
          ...{ amount: '10.00', currency: 'EUR', state: 'APPROVED', attempt: 1, transaction_id: '901', reason: null },
        },
      })
      expect(declined?.data).toMatchObject({ state: 'DECLINED', reason: 'Insufficient funds', category: 'funds' })
      expect(accepted?.data).toMatchObject({ batch: batchId, rows: 2, source: 'file' })
      expect(finished?.data).toMatchObject({
        ...{ final: true, rows: 2, counts: { APPROVED: 1, DECLINED: 1 } },
        audit_head: expect.stringMatching(/^[0-9]+:[0-9a-f]{64}$/),
        totals: [
          { operation: 'REFUND', currency: 'EUR', status: 'APPROVED', count: 1, amount: '10.00' },
          { operation: 'REFUND', currency: 'EUR', status: 'DECLINED', count: 1, amount: '10.00' },
        ],
      })
    })

    test('of a doubt say that it is not final, and must not be sent again, until a person has found out', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT', { facts: factsWith('77', { orderId: '42' }) })
      await ledger.gatherEvents(NOW)
      await ledger.resolve(findingOn('A'), CLERK, NOW + 600_000)
      const facts = await eventsIn()
      expect(typesOf(facts)).toEqual([
        ...['row.settled', 'doubt.opened', 'batch.accepted', 'batch.started', 'batch.needs_attention'],
        ...['row.settled', 'doubt.resolved', 'batch.finished'],
      ])
      expect(bodyOf(facts[0]).data).toMatchObject({ final: false, advice: 'do not send again', state: 'IN_DOUBT' })
      expect(bodyOf(facts[0]).data).toMatchObject({ order_id: refund('A').orderId, transaction_id: null })
      expect(bodyOf(facts[4]).data).toMatchObject({ final: false, advice: 'do not send again' })
      expect(bodyOf(facts[5]).data).toMatchObject({ final: true, state: 'APPROVED' })
      expect(new Set(facts.map(({ id }) => id)).size).toBe(facts.length)
    })

    test('tell of people, roles and keys, and of sign-ins from where nobody of that name came lately', async () => {
      const link = { sha256: 'ab'.repeat(32), untilMs: NOW + 1_000 }
      const boss = { id: 'p9', name: 'boss' }
      const joining = { invitationSha256: link.sha256, first: boss, passwordHash: 'x', address: null, nowMs: NOW }
      await ledger.inviteFirst(link)
      await ledger.join(joining)
      await ledger.addPerson({ id: 'p1', name: 'ann', grants: ['viewer'] }, link, CLERK, NOW)
      await ledger.join(joining)
      await ledger.setGrants('ann', ['auditor', 'viewer'], 'moved', CLERK, NOW)
      const key = { id: 'abcd1234', name: 'billing', sha256: '00'.repeat(32), scopes: ['batches:read'] as const }
      await ledger.addKey({ ...key, merchants: null, environment: null, networks: null, expiresAtMs: NOW }, CLERK, NOW)
      for (const [i, address] of ['10.0.0.1', '10.0.0.2', '10.0.0.1', null].entries()) {
        const session = { sha256: `${i}${i}`.repeat(32), id: `s${i}`, passwordHash: 'x', personId: 'p1', address }
        await ledger.openSession({ ...session, nowMs: NOW }, 'cd'.repeat(32))
      }
      await ledger.gatherEvents(NOW)
      const bodies = (await eventsIn()).map(bodyOf)
      expect(bodies.map(({ type, subject, data: { version: _, ...data } }) => [type, subject, data])).toEqual([
        ['access.person_added', 'person/boss', { by: 'person', person: 'boss', roles: 'admin' }],
        ['access.person_added', 'person/ann', { by: 'person', person: 'ann', roles: 'viewer' }],
        [
          ...['access.roles_changed', 'person/ann'],
          { by: 'person', person: 'ann', roles: 'auditor viewer', reason: 'moved' },
        ],
        [
          'access.key_added',
          'key/abcd1234',
          { by: 'person', key: 'abcd1234', name: 'billing', scopes: 'batches:read' },
        ],
        ['access.new_address', 'person/ann', { by: 'person', person: 'ann', address: '10.0.0.1' }],
        ['access.new_address', 'person/ann', { by: 'person', person: 'ann', address: '10.0.0.2' }],
      ])
      expect(bodies.flatMap(eventFaults)).toEqual([])
    })

    test('tell what people and the machine do to batches and accounts', async () => {
      const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
      await ledger.adoptPolicy({ rules: [rule], expireAfterMs: 1_000, osUsers: true }, 'test', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [refund('A')])
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      await ledger.resume(batchId, 'go', CLERK, NOW)
      const { digest } = (await ledger.approvalSheet(batchId))!
      await ledger.approve({ batchId, digest, reason: 'seen', actor: personAt('ann'), nowMs: NOW })
      await ledger.stopAccount(accountId, '401', NOW)
      await ledger.resumeAccount(accountId, 'mended', CLERK, NOW)
      await ledger.cancel(batchId, 'no', CLERK, NOW)
      const other = await submit(ledger, accountId, [refund('B')], { fileSha256: 'bb'.repeat(32) })
      await ledger.reject({ batchId: other, reason: 'wrong', actor: CLERK, nowMs: NOW })
      const facts = (await eventsIn()).filter(({ type }) => !['row.settled', 'batch.finished'].includes(type))
      expect(typesOf(facts)).toEqual([
        ...['batch.accepted', 'batch.accepted', 'batch.awaiting_approval', 'batch.paused', 'batch.resumed'],
        ...['batch.approved', 'account.stopped', 'account.resumed', 'batch.cancelled'],
        ...['batch.awaiting_approval', 'batch.rejected'],
      ])
      expect(bodyOf(facts[2]).data).toMatchObject({ final: false, advice: 'do not send again', approvals_needed: 1 })
      expect(bodyOf(facts[3]).data).toMatchObject({ final: false, reason: 'wait', by: 'person' })
      expect(bodyOf(facts[6])).toMatchObject({ subject: 'account/default', data: { reason: '401', by: 'machine' } })
    })

    test('say that results are stale when a row changes after they were written', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.gatherEvents(NOW)
      const reading = await ledger.openReading(batchId, NOW)
      await ledger.resultsWritten(batchId, '/results.csv', reading.edition)
      await reading.close()
      expect(typesOf(await eventsIn())).not.toContain('results.stale')
      await ledger.resolve(findingOn('A'), CLERK, NOW + 600_000)
      expect(typesOf(await eventsIn()).filter((type) => type === 'results.stale')).toHaveLength(1)
    })

    test('tell of a refused message with its reasons, and of the queue that asked', async () => {
      const refusal = { accountName: 'default', text: '{}', cards: null, nowMs: NOW }
      const asked = { reference: 'R1', replyTo: 'tranche-outcome-shop' }
      for (const sourceId of ['one', 'one', 'two'])
        await ledger.recordRefusal({ ...refusal, ...asked, sourceId, reasons: ['amount: is missing'] })
      const facts = await eventsIn()
      expect(typesOf(facts)).toEqual(['row.refused', 'row.refused'])
      expect(facts[0]?.replyTo).toEqual(['tranche-outcome-shop'])
      const { data } = bodyOf(facts[0])
      expect(data).toMatchObject({ final: true, reference: 'R1', merchant: 'default', reason: 'amount: is missing' })
      expect(Object.keys(data)).not.toContain('replyTo')
    })

    test('take no recorded instruction for refused, whatever a second request under its reference is refused for', async () => {
      const replyTo = 'tranche-outcome-shop'
      const refusedAs = (sourceId: string, reference: string | null = 'A') =>
        ({
          ...{ sourceId, accountName: 'default', text: '{}', cards: null, replyTo, queuedAtMs: NOW },
          ...{ reference, recordedAs: reference === null ? [] : [reference] },
        }) as const
      const handIn = (instruction: Instruction, sourceId: string) =>
        ledger.recordMessage(
          messageOf(accountId, instruction, { ifRefused: refusedAs(sourceId, instruction.reference) }),
        )
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'APPROVED')
      await handIn(refund('A', { amountMinor: 1_099n }), 'other content')
      await handIn(refund('B', { orderId: refund('A').orderId }), 'lookalike')
      const missing = { ...refusedAs('not understood'), reasons: ['amount: is missing'], nowMs: NOW }
      await ledger.recordRefusal(missing)
      await ledger.recordRefusal({
        ...missing,
        ...refusedAs('lost', 'C'),
        reasons: ['amount: is missing', MAYBE_EXECUTED],
      })
      const ofOtherRun = { ...refusedAs('other run'), recordedAs: ['2026-05/A'] }
      await ledger.recordRefusal({ ...missing, ...ofOtherRun })
      await ledger.recordRefusal({ ...missing, ...refusedAs('misspelt merchant'), accountName: 'unknown' })
      await ledger.recordRefusal({ ...missing, ...refusedAs('batch', null), batchName: 'november' })
      const elsewhere = {
        ...refusedAs('other merchant', 'N'),
        reasons: ['lookalike: it is recorded for another account'],
      }
      await ledger.recordRefusal({ ...missing, ...elsewhere })
      const told = (await eventsIn()).filter(({ type }) => type === 'row.refused').map((fact) => bodyOf(fact).data)
      const like = { reference: 'A', batch: batchId, row: 1, state: 'APPROVED', final: true }
      const beside = { final: false, advice: 'do not send again', merchant: 'default', looks_like: like }
      expect(told).toMatchObject([
        { ...beside, reference: 'A', code: 'other_content' },
        { ...beside, reference: 'B', code: 'lookalike' },
        { ...beside, reference: 'A', code: 'missing' },
        { final: false, advice: 'do not send again', reference: 'C' },
        { final: true, reference: 'A' },
        { ...beside, merchant: 'unknown', reference: 'A' },
        { final: true, batch_name: 'november' },
        { final: false, code: 'lookalike', reference: 'N' },
      ])
    })

    test('know the queues of each message, also of who handed it in again, and those that its batch concerns', async () => {
      const asking = async (reference: string, replyTo: string | null) => {
        const answer = await ledger.recordMessage(messageOf(accountId, refund(reference), { replyTo }))
        return (answer as { batchId: BatchId }).batchId
      }
      const batchId = await asking('A', 'tranche-outcome-shop')
      await asking('A', 'tranche-outcome-audit')
      await asking('A', 'tranche-outcome-audit')
      await asking('B', null)
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      await ledger.resume(batchId, 'go', CLERK, NOW)
      for (const reference of ['A', 'B']) await work(ledger, batchId, reference, 'APPROVED')
      const facts = await eventsIn()
      const queuesOf = (type: string) => facts.filter((fact) => fact.type === type).map(({ replyTo }) => replyTo)
      expect(queuesOf('row.settled')).toEqual([['tranche-outcome-audit', 'tranche-outcome-shop'], []])
      expect(queuesOf('batch.paused')).toEqual([['tranche-outcome-audit', 'tranche-outcome-shop']])
    })

    test('tell who joins what is held, and nobody else, and producers whose rows wait of their account', async () => {
      const asking = async (reference: string, name: string | null) => {
        const replyTo = name === null ? null : `tranche-outcome-${name}`
        const answer = await ledger.recordMessage(messageOf(accountId, refund(reference), { replyTo }))
        return (answer as { batchId: BatchId }).batchId
      }
      const told = async (type: string) =>
        (await eventsIn()).filter((fact) => fact.type === type).map(({ replyTo }) => replyTo)
      const batchId = await asking('A', 'early')
      await asking('B', 'done')
      await work(ledger, batchId, 'B', 'APPROVED')
      expect(await ledger.heldBy(batchId)).toBeNull()
      expect(await told('row.held')).toEqual([])
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      await asking('C', 'late')
      await asking('D', null)
      expect(await ledger.heldBy(batchId)).toEqual({ by: 'batch.paused', reason: 'wait' })
      expect(await told('row.held')).toEqual([['tranche-outcome-late'], []])
      const held = (await eventsIn()).find(({ type }) => type === 'row.held')
      expect(bodyOf(held)).toMatchObject({
        subject: `batch/${batchId}/row/3`,
        data: { final: false, row: 3, reference: 'C' },
      })
      expect(bodyOf(held).data.held).toEqual({ by: 'batch.paused', reason: 'wait' })
      await ledger.resume(batchId, 'go', CLERK, NOW)
      await ledger.stopAccount(accountId, '401', NOW)
      await asking('E', 'last')
      expect(await ledger.heldBy(batchId)).toEqual({ by: 'account.stopped', reason: '401' })
      expect((await told('row.held'))[2]).toEqual(['tranche-outcome-last'])
      await ledger.resumeAccount(accountId, 'go', CLERK, NOW)
      await eventsIn()
      await work(ledger, batchId, 'A', 'APPROVED')
      const waiting = ['tranche-outcome-early', 'tranche-outcome-last', 'tranche-outcome-late']
      expect([await told('account.stopped'), await told('account.resumed')]).toEqual([[waiting], [waiting]])
    })

    test('know the queues of each row of a batch, of one that it repeats, and of who hands the batch in again', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const queued = { name: 'b', replyTo: 'tranche-outcome-shop' }
      const header = headerOf(accountId, { fileName: 'b', queued, fileSha256: 'b'.repeat(64) })
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')], header)
      await ledger.askForOutcomes(batchId, 'tranche-outcome-audit')
      await ledger.askForOutcomes(batchId, 'tranche-outcome-audit')
      await work(ledger, first, 'A', 'APPROVED')
      await work(ledger, batchId, 'B', 'APPROVED')
      const settled = (await eventsIn()).filter(({ type }) => type === 'row.settled')
      const both = ['tranche-outcome-audit', 'tranche-outcome-shop']
      expect(settled.map(({ replyTo, row }) => [row?.reference, replyTo])).toEqual([
        ['A', both],
        ['B', both],
      ])
    })

    test('know the queues of a row that a person has sent once more', async () => {
      const [a, b] = [sale('A', '7001'), sale('B', '7002')]
      const replyTo = 'tranche-outcome-shop'
      for (const row of [a, b]) await ledger.recordMessage(messageOf(accountId, row, { replyTo }))
      const { batchId } = (await ledger.batches())[0]!
      await work(ledger, batchId, 'A', 'DECLINED', { reason: 'Insufficient funds' })
      await work(ledger, batchId, 'B', 'FAILED')
      const reattempt = {
        categories: ['funds' as const],
        reasonRules: [],
        xtlOrderIdOf: (reference: string) => `X${reference.length}`,
      }
      const again = await submit(ledger, accountId, [a, b], { reattempt, retry: ['FAILED'] })
      await work(ledger, again, 'A~2', 'APPROVED')
      await work(ledger, again, 'B', 'APPROVED')
      const settled = (await eventsIn()).filter(({ row }) => row?.state === 'APPROVED')
      expect(settled.map(({ row, replyTo: queues }) => [row?.reference, queues])).toEqual([
        ['A~2', [replyTo]],
        ['B', [replyTo]],
      ])
    })

    test('say since when a queue has not been told: one that a message names, or one of a merchant', async () => {
      const settle = async (reference: string, replyTo: string | null) => {
        const answer = await ledger.recordMessage(messageOf(accountId, refund(reference), { replyTo }))
        await work(ledger, (answer as { batchId: BatchId }).batchId, reference, 'APPROVED')
      }
      const untold = async () => [await ledger.untoldSinceMs(null), await ledger.untoldSinceMs('default')]
      expect(await untold()).toEqual([null, null])
      await settle('A', null)
      expect(await untold()).toEqual([null, NOW + 300])
      expect(await ledger.untoldSinceMs('another')).toBeNull()
      await settle('B', 'tranche-outcome-shop')
      expect(await untold()).toEqual([NOW + 300, NOW + 300])
      await ledger.keepPublished(await ledger.eventsEnd())
      expect(await untold()).toEqual([null, null])
    })

    test('are the same for every reader, wherever it begins, and grow at the end only', async () => {
      const references = Array.from({ length: 12 }, (_, i) => `R${i}`)
      const batchId = await submit(
        ledger,
        accountId,
        references.map((reference) => refund(reference)),
      )
      let before: readonly EventFact[] = []
      for (const reference of references) {
        await work(ledger, batchId, reference, reference.endsWith('3') ? 'IN_DOUBT' : 'APPROVED')
        if (reference.endsWith('5')) await ledger.pause(batchId, 'wait', CLERK, NOW)
        if (reference.endsWith('5')) await ledger.resume(batchId, 'go', CLERK, NOW)
        const now = await eventsIn(place.open())
        expect(now.slice(0, before.length)).toEqual(before)
        before = now
      }
      const versions = before.map((fact) => bodyOf(fact).data.version as number)
      expect(versions).toEqual(versions.toSorted((a, b) => a - b))
      const asking = fc.record({
        from: fc.nat(before.length - 1),
        rows: fc.constantFrom('all', 'doubts', 'asked'),
      } as const)
      const upTo = await ledger.eventsEnd()
      await fc.assert(
        fc.asyncProperty(asking, async ({ from, rows }) => {
          const { facts } = await ledger.events(before[from]!.at, upTo, rows)
          const isWanted = ({ row, type }: EventFact) =>
            row === null ||
            rows === 'all' ||
            (rows === 'doubts' && (type.startsWith('doubt') || row.state === 'IN_DOUBT'))
          expect(facts).toEqual(before.filter((fact) => isBehind(fact.at, before[from]!.at) && isWanted(fact)))
        }),
        { numRuns: tries(20) },
      )
      const ids = before.map(({ id }) => id)
      expect((await ledger.eventsById(ids)).map(({ id }) => id)).toEqual(ids)
      expect(await ledger.eventsById(before.map(({ id }) => id))).toEqual(before)
    })

    test('tell of a row that expired as of one that is over, with its reason', async () => {
      await submit(ledger, accountId, [refund('A', { expiresAtMs: NOW + 100 })])
      await ledger.cancelExpired(NOW + 100)
      const facts = await eventsIn()
      expect(typesOf(facts)).toContain('batch.finished')
      const reason = 'expired at 2026-05-04T09:00:00.100Z: not sent'
      const settled = facts.find(({ type }) => type === 'row.settled')
      expect(bodyOf(settled).data).toMatchObject({
        final: true,
        reference: 'A',
        state: 'CANCELLED',
        attempt: 0,
        reason,
      })
    })

    test('go on from any one of them', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.gatherEvents(NOW)
      await work(ledger, batchId, 'B', 'APPROVED')
      const facts = await eventsIn()
      const upTo = await ledger.eventsEnd()
      for (const [i, { id }] of facts.entries()) {
        const { facts: found } = await ledger.events((await ledger.positionBefore(id))!, upTo)
        const at = found.findIndex((fact) => fact.id === id)
        expect(at).toBeGreaterThanOrEqual(0)
        expect(found.slice(at + 1)).toEqual(facts.slice(i + 1))
      }
      expect(await ledger.positionBefore('m1-000000000000')).toBeNull()
      expect(await ledger.positionBefore('nonsense')).toBeNull()
    })

    test('are noted once by however many who look at once', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'APPROVED')
      const others = [ledger, place.open(), place.open()]
      await Promise.all(others.flatMap((one) => [one.gatherEvents(NOW), one.gatherEvents(NOW)]))
      expect(typesOf(await eventsIn())).toEqual(['row.settled', 'batch.accepted', 'batch.started', 'batch.finished'])
      expect((await rowIn(ledger, batchId, 'A')).state).toBe('APPROVED')
    })

    test('are told by one at a time', async () => {
      const hold = await ledger.holdDelivery('queues')
      expect(hold?.isHeld()).toBe(true)
      hold?.release()
    })
  })
}
