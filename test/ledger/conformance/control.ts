// What a person orders: pause, resume and cancel, and the rate of an account.

import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/domain/fault.ts'
import type { Environment } from '../../../src/domain/merchant.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claimNamed,
  findingOn,
  listOf,
  NOW,
  openAccount,
  refund,
  rowsIn,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, succeed } from '../../fixtures/use-ledger.ts'

export function describeControl(): void {
  describe('cancel', () => {
    test('makes READY rows CANCELLED with the reason, and leaves what is under way or over', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
      await claimNamed(ledger, batchId, 'A')
      await work(ledger, batchId, 'B', 'APPROVED')
      await work(ledger, batchId, 'C', 'IN_DOUBT')
      await ledger.cancel(batchId, 'wrong file', CLERK, NOW + 1)
      expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'APPROVED', 'IN_DOUBT', 'CANCELLED'])
      expect((await rowsIn(ledger, batchId))[3]).toMatchObject({
        reason: 'cancelled: wrong file',
        completedAtMs: NOW + 1,
      })
    })

    test('goes through more rows than fit one step', async () => {
      const batchId = await submit(
        ledger,
        accountId,
        Array.from({ length: 1_050 }, (_, i) => refund(`R-${i}`)),
      )
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      expect((await ledger.batch(batchId))?.counts).toEqual({ CANCELLED: 1_050 })
    })

    test('refuses a later pause or resume', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      await expect(ledger.resume(batchId, 'go', CLERK, NOW)).rejects.toMatchObject({ code: 'usage' })
      await expect(ledger.pause(batchId, 'wait', CLERK, NOW)).rejects.toMatchObject({ code: 'usage' })
      expect((await ledger.batch(batchId))?.hold).toBe('cancelled')
    })
  })

  describe('pause', () => {
    test('leaves an open request to be settled as it was answered', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await claimNamed(ledger, batchId, 'A')
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      expect(await settle(ledger, row, 'APPROVED')).toMatchObject({ state: 'APPROVED' })
    })
  })

  describe('resume and resumeAccount', () => {
    test('are counted for their account', async () => {
      const second = await openAccount(ledger, 'second')
      const batchId = await submit(ledger, accountId, [refund('A')])
      expect((await ledger.controls(accountId)).resumes).toBe(0)
      await ledger.pause(batchId, 'wait', CLERK, NOW)
      expect((await ledger.controls(accountId)).resumes).toBe(0)
      await place.open().resume(batchId, 'go', CLERK, NOW)
      await ledger.resumeAccount(accountId, 'go', CLERK, NOW)
      expect([await ledger.controls(accountId), await ledger.controls(second)]).toMatchObject([
        { resumes: 2 },
        { resumes: 0 },
      ])
    })
  })

  describe('setRate', () => {
    test('holds for every connection until it is turned back', async () => {
      const second = await openAccount(ledger, 'second')
      const rates = async (from: Ledger) => {
        const wished = [await from.controls(accountId), await from.controls(second)]
        expect((await from.accounts()).map((account) => account.ratePerSecond)).toEqual(
          wished.map(({ ratePerSecond }) => ratePerSecond),
        )
        return wished.map(({ name, ratePerSecond }) => [name, ratePerSecond])
      }
      expect(await rates(ledger)).toEqual([
        ['default', null],
        ['second', null],
      ])
      await ledger.setRate(accountId, 0.5, CLERK, NOW)
      await place.open().setRate(second, 40, CLERK, NOW)
      expect(await rates(place.open())).toEqual([
        ['default', 0.5],
        ['second', 40],
      ])
      await ledger.setRate(accountId, null, CLERK, NOW)
      expect(await rates(ledger)).toEqual([
        ['default', null],
        ['second', 40],
      ])
    })
  })

  describe('adoptAccount: an account at another address', () => {
    const account = (name: string, url: string) => ledger.account(name, url, 'shop', NOW, true)

    test('is refused until it is adopted; then it is the same account, and its rows wait as before', async () => {
      const id = await account('shop', 'https://old.example')
      const batchId = await submit(ledger, id, [refund('A')])
      await expect(account('shop', 'https://new.example')).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('under a new user name: adopt-merchant'),
      })
      await ledger.adoptAccount('shop', 'https://new.example', 'shop', 'a letter', CLERK, NOW)
      expect(await account('shop', 'https://new.example')).toBe(id)
      await expect(account('shop', 'https://old.example')).rejects.toMatchObject({ code: 'config' })
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
      await settle(ledger, await claimNamed(ledger, batchId, 'A'), 'APPROVED')
    })

    test('cannot take over another account, one that is not known, or itself', async () => {
      await account('shop', 'https://old.example')
      await account('club', 'https://club.example')
      for (const [name, url] of [
        ['shop', 'https://club.example'],
        ['nobody', 'https://new.example'],
        ['shop', 'https://old.example'],
      ] as const) {
        await expect(ledger.adoptAccount(name, url, 'shop', 'try', CLERK, NOW), name).rejects.toMatchObject({
          code: 'usage',
        })
      }
      expect((await ledger.accounts()).slice(1).map(({ name, url }) => [name, url])).toEqual([
        ['shop', 'https://old.example'],
        ['club', 'https://club.example'],
      ])
    })
  })

  describe('the environment of an account', () => {
    const label = (environment: Environment, of = accountId) => ledger.labelAccount(of, environment, CLERK, NOW)
    const relabel = async (environment: Environment, name = 'default') => {
      const before = ledger
      await succeed().accounts() // a ledger in memory stays while somebody has it open
      await before.close() // on PostgreSQL it is a worker, and an account gets no other label while one is at work
      await ledger.relabelAccount(name, environment, 'a slip', CLERK, NOW)
    }
    const logged = async () => (await listOf(ledger.log(null))).filter(({ what }) => what === 'environment')
    const known = async () => (await place.open().accounts()).map(({ environment }) => environment)

    test('is the first one that it was used under, for each account by itself; another one is refused', async () => {
      const second = await openAccount(ledger, 'second')
      expect(await known()).toEqual([null, null])
      expect(await label('live')).toBe('taken')
      expect(await label('live')).toBe('same')
      await expect(label('test')).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('is live in this ledger and test in the configuration. Nothing was sent.'),
      })
      expect(await label('test', second)).toBe('taken')
      expect(await known()).toEqual(['live', 'test'])
      expect((await logged()).map(({ what, reason }) => [what, reason])).toEqual([
        ['environment', 'live'],
        ['environment', 'test'],
      ])
    })

    test('is shown with a batch', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      expect((await ledger.batch(batchId))?.environment).toBeNull()
      await label('test')
      expect((await ledger.batch(batchId))?.environment).toBe('test')
    })

    test('is put right while nothing was sent, with a reason', async () => {
      await label('test')
      await submit(ledger, accountId, [refund('A')])
      await expect(relabel('test')).rejects.toMatchObject({ code: 'usage' })
      await expect(relabel('live', 'nobody')).rejects.toMatchObject({ code: 'usage' })
      await relabel('live')
      expect(await label('live')).toBe('same')
      expect((await logged()).at(-1)).toMatchObject({
        ...{ what: 'environment', reason: 'test → live: a slip', actor: CLERK },
      })
    })

    test.each(['APPROVED', 'IN_DOUBT', 'DECLINED'] as const)('is never put right after a row was %s', async (state) => {
      await label('test')
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', state)
      await expect(relabel('live')).rejects.toMatchObject({ code: 'usage' })
      expect(await known()).toEqual(['test'])
    })

    test('is never put right after a person had a row in doubt sent again', async () => {
      await label('test')
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'send-again' }), CLERK, NOW + 400)
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
      await expect(relabel('live')).rejects.toMatchObject({ code: 'usage' })
    })

    test('is put right where the gateway refused the credentials and nothing else', async () => {
      await label('test')
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'READY')
      await relabel('live')
      expect(await known()).toEqual(['live'])
    })

    test('is not put right while a row is being sent', async () => {
      await label('test')
      const batchId = await submit(ledger, accountId, [refund('A')])
      await claimNamed(ledger, batchId, 'A')
      await expect(ledger.relabelAccount('default', 'live', 'a slip', CLERK, NOW)).rejects.toBeInstanceOf(Fault)
    })
  })
}
