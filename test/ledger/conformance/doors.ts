// Keys of services, and requests that have their effect once.

import { describe, expect, test } from 'vitest'
import type { Actor } from '../../../src/domain/actor.ts'
import { type ApiRequest, REQUESTS_KEPT_MS, RequestRepeated } from '../../../src/domain/api-request.ts'
import type { NewKey } from '../../../src/ports/ledger/keys.ts'
import { CLERK, findingOn, listOf, messageOf, NOW, refund, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const KEY: NewKey = {
  ...{ id: 'k1234567', name: 'billing', sha256: 'ab'.repeat(32), scopes: ['batches:read', 'batches:steer'] },
  ...{ merchants: ['shop'], environment: 'live', networks: ['10.0.0.0/8'], expiresAtMs: NOW + 1_000 },
}
const SERVICE: Actor = { kind: 'key', id: 'k1234567', name: 'billing', address: '10.0.0.7' }

const requestOf = (key: string, over: Partial<ApiRequest> = {}): ApiRequest => ({
  ...{ holder: 'k1234567', target: 'POST /v1/x', key, sha256: 'cd'.repeat(32), nowMs: NOW },
  ...over,
})
const actsNamed = async (...names: string[]) =>
  (await listOf(ledger.log(null))).filter(({ what }) => names.includes(what))

export function describeDoors(): void {
  describe('keys', () => {
    test('are kept with what they may do, and found by their id on every connection', async () => {
      await ledger.addKey(KEY, CLERK, NOW)
      const kept = {
        ...KEY,
        createdAtMs: NOW,
        createdBy: 'clerk@desk',
        makers: ['os:clerk'],
        revokedAtMs: null,
        lastUsedAtMs: null,
      }
      expect(await place.open().key(KEY.id)).toEqual(kept)
      expect(await ledger.key('k7654321')).toBeNull()
      const { sha256: _, ...shown } = kept
      expect(await ledger.keys()).toEqual([shown])
    })

    test('of all merchants and networks say so', async () => {
      await ledger.addKey({ ...KEY, merchants: null, networks: null }, CLERK, NOW)
      expect(await ledger.key(KEY.id)).toMatchObject({ merchants: null, networks: null })
    })

    test('are revoked once, and for every connection at once', async () => {
      await ledger.addKey(KEY, CLERK, NOW)
      const other = place.open()
      expect(await other.revokeKey(KEY.id, 'it was in a log', CLERK, NOW + 1)).toBe('revoked')
      expect(await ledger.key(KEY.id)).toMatchObject({ revokedAtMs: NOW + 1 })
      expect(await ledger.revokeKey(KEY.id, 'again', CLERK, NOW + 2)).toBe('already')
      expect(await ledger.revokeKey('k7654321', 'none', CLERK, NOW + 2)).toBe('unknown')
      expect(await ledger.key(KEY.id)).toMatchObject({ revokedAtMs: NOW + 1 })
    })

    test('note when they were used', async () => {
      await ledger.addKey(KEY, CLERK, NOW)
      await ledger.keyUsed(KEY.id, NOW + 5)
      expect(await ledger.key(KEY.id)).toMatchObject({ lastUsedAtMs: NOW + 5 })
    })

    test('are told in the log, and nothing secret of them', async () => {
      await ledger.addKey(KEY, CLERK, NOW)
      await ledger.revokeKey(KEY.id, 'lost', CLERK, NOW)
      const told = await actsNamed('add-key', 'revoke-key')
      expect(told).toMatchObject([
        { what: 'add-key', details: { key: KEY.id, name: 'billing', scopes: 'batches:read batches:steer' } },
        { what: 'revoke-key', reason: 'lost', details: { key: KEY.id } },
      ])
      expect(JSON.stringify(told)).not.toContain(KEY.sha256)
    })
  })

  describe('a request', () => {
    test('has its effect once, whichever connection it comes through', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const request = requestOf('one')
      await ledger.once(request).pause(batchId, 'look', SERVICE, NOW)
      await ledger.resume(batchId, 'go', CLERK, NOW)
      await expect(place.open().once(request).pause(batchId, 'look', SERVICE, NOW)).rejects.toBeInstanceOf(
        RequestRepeated,
      )
      expect((await ledger.batch(batchId))?.hold).toBe('none')
      expect(await ledger.keptRequest(request)).toEqual({ sha256: request.sha256, subject: {} })
      expect(await actsNamed('pause')).toMatchObject([{ actor: SERVICE }])
    })

    test('of another caller, to another address or under another key is another one', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await ledger.once(requestOf('one')).pause(batchId, 'look', SERVICE, NOW)
      for (const other of [
        requestOf('one', { holder: 'k2' }),
        requestOf('one', { target: 'POST /v1/y' }),
        requestOf('two'),
      ]) {
        expect(await ledger.keptRequest(other)).toBeNull()
        await ledger.once(other).pause(batchId, 'look', SERVICE, NOW)
      }
      expect(await actsNamed('pause')).toHaveLength(4)
    })

    test('cancels all rows, although they follow in transactions of their own', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await ledger.once(requestOf('one')).cancel(batchId, 'wrong month', SERVICE, NOW)
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED', 'CANCELLED'])
    })

    test('that is refused changes nothing, and nothing is kept of it', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await ledger.cancel(batchId, 'wrong', CLERK, NOW)
      await expect(ledger.once(requestOf('one')).pause(batchId, 'look', SERVICE, NOW)).rejects.toThrow(/was cancelled/)
      expect(await ledger.keptRequest(requestOf('one'))).toBeNull()
      const finding = findingOn('A', { finding: 'approved' })
      expect(await ledger.once(requestOf('two')).resolve(finding, SERVICE, NOW)).toMatchObject({ kind: 'refused' })
      expect(await ledger.keptRequest(requestOf('two'))).toBeNull()
    })

    test('takes one instruction in, and keeps which row it became', async () => {
      const request = requestOf('one')
      const taken = await ledger.once(request).recordMessage(messageOf(accountId, refund('A')))
      expect(taken).toMatchObject({ kind: 'accepted', rowNo: 1 })
      const subject = taken.kind === 'accepted' ? { kind: 'accepted', batch: taken.batchId, row: 1 } : null
      expect(await ledger.keptRequest(request)).toMatchObject({ subject })
      await expect(ledger.once(request).recordMessage(messageOf(accountId, refund('B')))).rejects.toBeInstanceOf(
        RequestRepeated,
      )
      const duplicate = await ledger.once(requestOf('two')).recordMessage(messageOf(accountId, refund('A')))
      expect(duplicate.kind).toBe('duplicate')
      expect(await ledger.batches()).toMatchObject([{ rows: 1 }])
    })

    test('one of many at once has the effect', async () => {
      const others = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? ledger : place.open()))
      const taken = await Promise.allSettled(
        others.map((by) => by.once(requestOf('one')).setRate(accountId, 5, SERVICE, NOW, 'slower')),
      )
      expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await actsNamed('rate')).toMatchObject([{ reason: '5/s: slower' }])
    })

    test('resolves one doubt', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      const finding = findingOn('A', { finding: 'approved' })
      expect(await ledger.once(requestOf('one')).resolve(finding, SERVICE, NOW)).toMatchObject({ kind: 'resolved' })
      expect(await ledger.keptRequest(requestOf('one'))).toMatchObject({ subject: { kind: 'resolved', row: 1 } })
    })

    test('is known for thirty days, and then its place is free', async () => {
      const request = requestOf('one')
      expect(await ledger.keepRequest(request, { kind: 'made' })).toBe(true)
      expect(await ledger.keepRequest(request, { kind: 'made' })).toBe(false)
      const late = { ...request, nowMs: NOW + REQUESTS_KEPT_MS }
      expect(await ledger.keptRequest({ ...late, nowMs: late.nowMs - 1 })).toMatchObject({ subject: { kind: 'made' } })
      expect(await ledger.keptRequest(late)).toBeNull()
      expect(await ledger.keepRequest(late, { kind: 'again' })).toBe(true)
    })
  })

  describe('pages', () => {
    test('of batches go on behind the one before, of some accounts or of all', async () => {
      const ids = []
      for (const n of [1, 2, 3])
        ids.push(await submit(ledger, accountId, [refund(`R${n}`)], { fileSha256: `0${n}`.repeat(32), nowMs: NOW + n }))
      const named = async (...asked: Parameters<typeof ledger.batchesAfter>) =>
        (await ledger.batchesAfter(...asked)).map(({ batchId }) => batchId)
      expect(await named(null, 2, null)).toEqual([ids[2], ids[1]])
      expect(await named(ids[1] ?? null, 2, [accountId])).toEqual([ids[0]])
      expect(await named(null, 9, [])).toEqual([])
    })

    test('of rows and of acts go on behind the one before', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      const named = async (...asked: [number, number]) =>
        (await ledger.rowsAfter(batchId, ...asked)).map(({ reference }) => reference)
      expect(await named(0, 2)).toEqual(['A', 'B'])
      expect(await named(1, 9)).toEqual(['B', 'C'])
      expect(await named(3, 9)).toEqual([])
      await ledger.pause(batchId, 'one', CLERK, NOW)
      await ledger.pause(batchId, 'two', CLERK, NOW)
      const all = await listOf(ledger.log(null))
      for (const [i, { position }] of all.entries())
        expect(await ledger.logAfter(null, position, 2)).toEqual(all.slice(i + 1, i + 3))
      expect(await ledger.logAfter(NOW + 1, null, 9)).toEqual([])
      expect(await ledger.logAfter(null, null, 9, batchId)).toEqual(all)
      const other = await submit(ledger, accountId, [refund('D')], { fileSha256: 'dd'.repeat(32) })
      await ledger.pause(other, 'three', CLERK, NOW)
      expect(await ledger.logAfter(null, null, 9, batchId)).toEqual(all)
      expect((await ledger.logAfter(null, null, 9, other)).map(({ what }) => what).toSorted()).toEqual([
        'pause',
        'submit',
      ])
    })
  })
}
