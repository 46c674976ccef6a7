// What a person orders: pause, resume and cancel, and the rate of an account.

import { describe, expect, test } from 'vitest'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import {
  CLERK,
  claimNamed,
  NOW,
  openAccount,
  refund,
  rowsIn,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

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
    const account = (name: string, url: string) => ledger.account(name, url, 'shop', NOW)

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
}
