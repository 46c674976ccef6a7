// Endpoints and deliveries: nothing that is noted is forgotten, and nothing is tried for ever.

import { describe, expect, test } from 'vitest'
import { DAY_MS, SCHEDULE_MS } from '../../../src/domain/webhook.ts'
import type { NewEndpoint } from '../../../src/ports/ledger/webhooks.ts'
import { CLERK, listOf, NOW, refund, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const ENDPOINT: NewEndpoint = {
  ...{ id: 'ep_a', url: 'https://shop.example/hooks', secret: 'whsec_one', types: null, merchant: null },
  allowsPrivate: false,
}
const EVENTS = ['m1-aaaaaaaaaaaa', 'm2-bbbbbbbbbbbb'].map((id) => ({ id, type: 'row.settled' }))
const HOUR_MS = 3_600_000

async function withDeliveries(over: Partial<NewEndpoint> = {}): Promise<void> {
  await ledger.addEndpoint({ ...ENDPOINT, ...over }, CLERK, NOW)
  await ledger.takeDeliveries(over.id ?? 'ep_a', EVENTS, { move: 2, event: 0 }, NOW)
}

const middle = () => 0.5
const result = (eventId: string, httpStatus: number | null, askedToWaitMs: number | null = null) => ({
  ...{ eventId, httpStatus, askedToWaitMs },
  said: 'the answer',
})
const settle = (eventId: string, httpStatus: number | null, atMs = NOW, askedToWaitMs: number | null = null) =>
  ledger.settleDeliveries('ep_a', [result(eventId, httpStatus, askedToWaitMs)], atMs, middle)
const dueAt = async (atMs: number) => (await ledger.dueDeliveries('ep_a', atMs, 10)).map(({ eventId }) => eventId)
const [FIRST, SECOND] = EVENTS.map(({ id }) => id) as [string, string]

async function typesOfEvents(): Promise<string[]> {
  await ledger.gatherEvents(NOW)
  const { facts } = await ledger.events({ move: 0, event: 0 }, await ledger.eventsEnd())
  return facts.map(({ type }) => type)
}

export function describeWebhooks(): void {
  describe('an endpoint', () => {
    test('is kept, told of what comes after it, signed for with its secrets, and gone with all it was to get', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'APPROVED')
      await ledger.gatherEvents(NOW)
      await ledger.addEndpoint({ ...ENDPOINT, types: ['row.*'], merchant: 'default' }, CLERK, NOW)
      const end = await ledger.eventsEnd()
      expect(await place.open().takenUpTo('ep_a')).toEqual(end)
      const { secret: _, ...shown } = { ...ENDPOINT, types: ['row.*'], merchant: 'default' }
      expect(await ledger.endpoints()).toEqual([
        { ...shown, createdAtMs: NOW, disabledAtMs: null, disabledWhy: null, failingSinceMs: null },
      ])
      await ledger.rotateSecret('ep_a', 'whsec_two', CLERK, NOW)
      const secretsAt = async (atMs: number) => (await ledger.signingEndpoints(atMs)).map(({ secrets }) => secrets)
      expect(await secretsAt(NOW + 23 * HOUR_MS)).toEqual([['whsec_two', 'whsec_one']])
      expect(await secretsAt(NOW + 25 * HOUR_MS)).toEqual([['whsec_two']])
      await ledger.takeDeliveries('ep_a', EVENTS, end, NOW)
      expect(await ledger.removeEndpoint('ep_a', CLERK, NOW)).toBe(true)
      expect(await ledger.removeEndpoint('ep_a', CLERK, NOW)).toBe(false)
      expect(await ledger.deliveries({}, 10)).toEqual([])
      await ledger.takeDeliveries('ep_a', EVENTS, end, NOW) // by who had not heard of it
      expect(await ledger.deliveries({}, 10)).toEqual([])
      const acts = (await listOf(ledger.log(null))).map(({ what, details }) => [what, details?.endpoint])
      expect(acts).toEqual(
        expect.arrayContaining(['add', 'rotate', 'remove'].map((what) => [`webhook-${what}`, 'ep_a'])),
      )
      expect(JSON.stringify(await listOf(ledger.log(null)))).not.toContain('whsec')
    })

    test('gets each event once, however often it is noted, with how far that reached', async () => {
      await withDeliveries()
      await settle(FIRST, 204)
      await ledger.takeDeliveries('ep_a', EVENTS, { move: 9, event: 3 }, NOW + 1)
      expect(await dueAt(NOW + 1)).toEqual([SECOND])
      expect(await ledger.takenUpTo('ep_a')).toEqual({ move: 9, event: 3 })
      expect(await ledger.webhookFigures()).toEqual([
        { endpointId: 'ep_a', pending: 1, oldestPendingAtMs: NOW, disabled: false },
      ])
    })
  })

  describe('a delivery', () => {
    test('is tried eleven times in 76 hours, and then it is dead', async () => {
      await withDeliveries()
      let atMs = NOW
      for (const [tries, delayMs] of SCHEDULE_MS.entries()) {
        atMs += delayMs
        expect(await dueAt(atMs - 1)).not.toContain(tries === 0 ? 'none' : FIRST)
        expect(await dueAt(atMs)).toContain(FIRST)
        await settle(FIRST, 500, atMs)
      }
      expect((atMs - NOW) / HOUR_MS).toBeCloseTo(75.6, 1)
      expect(await dueAt(atMs + 30 * DAY_MS)).toEqual([SECOND])
      const [dead] = await ledger.deliveries({ state: 'dead' }, 10)
      expect(dead).toMatchObject({ eventId: FIRST, attempts: 11, httpStatus: 500, said: 'the answer', nextAtMs: null })
    })

    test('waits for as long as it is asked to, a day at most', async () => {
      await withDeliveries()
      await settle(FIRST, 429, NOW, 2 * HOUR_MS)
      await settle(SECOND, 503, NOW, 90 * HOUR_MS)
      expect(await dueAt(NOW + 2 * HOUR_MS - 1)).toEqual([])
      expect(await dueAt(NOW + 2 * HOUR_MS)).toEqual([FIRST])
      expect(await dueAt(NOW + 24 * HOUR_MS)).toEqual([FIRST, SECOND])
    })

    test('that was answered 410 disables its endpoint; a person enables it, and it goes on where it was', async () => {
      await withDeliveries()
      expect(await settle(FIRST, 410)).toBe('disabled')
      expect(await dueAt(NOW + DAY_MS)).toEqual([])
      expect(await ledger.endpoints()).toMatchObject([
        { disabledAtMs: NOW, disabledWhy: expect.stringContaining('410') },
      ])
      expect(await typesOfEvents()).toEqual(['endpoint.disabled'])
      await ledger.enableEndpoint('ep_a', CLERK, NOW)
      expect(await dueAt(NOW + DAY_MS)).toEqual([SECOND, FIRST])
    })

    test('five days of failures disable, and a success after more than an hour of them is told', async () => {
      await withDeliveries()
      expect(await settle(FIRST, null)).toBeNull()
      expect(await settle(SECOND, 500, NOW + 2 * HOUR_MS)).toBeNull()
      expect(await settle(FIRST, 200, NOW + 3 * HOUR_MS)).toBe('recovered')
      expect(await settle(SECOND, 500, NOW + 4 * HOUR_MS)).toBeNull()
      expect(await settle(SECOND, 500, NOW + 5 * DAY_MS)).toBeNull()
      expect(await settle(SECOND, 500, NOW + 6 * DAY_MS)).toBe('disabled')
      expect(await typesOfEvents()).toEqual(['endpoint.recovered', 'endpoint.disabled'])
    })

    test('is sent again when a person asks: one attempt, which says nothing of the endpoint, also a disabled one', async () => {
      await withDeliveries()
      await settle(FIRST, 204)
      await settle(SECOND, 410)
      expect(await ledger.replay({ eventId: FIRST }, CLERK, NOW)).toBe(1)
      expect(await ledger.dueDeliveries('ep_a', NOW, 10)).toMatchObject([{ eventId: FIRST, isReplay: true }])
      expect(await settle(FIRST, 500, NOW + 9 * DAY_MS)).toBeNull()
      expect(await ledger.deliveries({ eventId: FIRST }, 1)).toMatchObject([{ state: 'delivered', httpStatus: 500 }])
      expect(await dueAt(NOW + 30 * DAY_MS)).toEqual([])
      expect(await ledger.replay({ state: 'dead' }, CLERK, NOW)).toBe(0)
      expect(await ledger.replay({ sinceMs: NOW + 1 }, CLERK, NOW)).toBe(0)
    })

    test('of one that was given up is sent again too, and of an event from before the endpoint where it is named', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'APPROVED')
      await ledger.gatherEvents(NOW)
      const { facts } = await ledger.events({ move: 0, event: 0 }, await ledger.eventsEnd())
      await ledger.addEndpoint(ENDPOINT, CLERK, NOW)
      const earlier = facts[0]!.id
      expect(await ledger.replay({ eventId: earlier }, CLERK, NOW)).toBe(0)
      expect(await ledger.replay({ eventId: earlier, endpointId: 'ep_a' }, CLERK, NOW)).toBe(1)
      expect(await dueAt(NOW)).toEqual([earlier])
      await settle(earlier, 500)
      expect(await ledger.deliveries({ state: 'dead' }, 10)).toMatchObject([{ eventId: earlier, attempts: 1 }])
      expect(await ledger.replay({ state: 'dead', sinceMs: NOW }, CLERK, NOW)).toBe(1)
      await settle(earlier, 200)
      expect(await ledger.deliveries({}, 10)).toMatchObject([{ state: 'delivered', attempts: 2, isReplay: false }])
      expect(await ledger.replay({ eventId: 'm1-000000000000', endpointId: 'ep_a' }, CLERK, NOW)).toBe(0)
    })

    test('of a ping is for one endpoint alone, and no event for others', async () => {
      await withDeliveries()
      await ledger.addEndpoint({ ...ENDPOINT, id: 'ep_b' }, CLERK, NOW)
      expect(await ledger.pingEndpoint('ep_b', NOW)).toBe(true)
      expect(await ledger.pingEndpoint('ep_c', NOW)).toBe(false)
      const [ping] = await ledger.dueDeliveries('ep_b', NOW, 10)
      expect(ping).toMatchObject({ type: 'ping', isReplay: true })
      expect(await ledger.eventsById([ping!.eventId])).toMatchObject([{ type: 'ping', said: { endpoint: 'ep_b' } }])
      expect(await typesOfEvents()).toEqual([])
    })

    test('is forgotten when it is over and old, and never while it waits', async () => {
      await withDeliveries()
      await settle(FIRST, 204)
      await ledger.forgetDeliveries(NOW)
      expect(await ledger.deliveries({}, 10)).toHaveLength(2)
      await ledger.forgetDeliveries(NOW + 1)
      expect((await ledger.deliveries({}, 10)).map(({ eventId }) => eventId)).toEqual([SECOND])
    })
  })
}
