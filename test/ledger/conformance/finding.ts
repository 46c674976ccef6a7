// Finding instructions by any of their ids.

import { describe, expect, test } from 'vitest'
import { factsWith, messageOf, NOW, openAccount, refund, sale, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const found = async (id: string) => (await ledger.find(id)).map(({ reference, by }) => [reference, by])

export function describeFinding(): void {
  describe('find', () => {
    test('finds by reference, order, transaction, merchant order and vault id, with zeros in front or without', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('R-1', { orderId: '0077' }),
        sale('S-1', '900123', { xtlOrderId: 'SHOP1' }),
        sale('S-2', '900124', { operation: 'AUTH' }),
        sale('S-3', '900125'),
      ])
      await work(ledger, batchId, 'R-1', 'APPROVED', { facts: factsWith('7001') })
      await work(ledger, batchId, 'S-1', 'APPROVED', { facts: factsWith('7002', { orderId: '8001' }) })
      await work(ledger, batchId, 'S-2', 'APPROVED', { facts: factsWith('7003', { orderId: '8002' }) })
      await work(ledger, batchId, 'S-3', 'DECLINED', { facts: factsWith('7004', { orderId: '8003' }) })
      expect(await found('R-1')).toEqual([['R-1', 'reference']])
      expect(await found('77')).toEqual([['R-1', 'order']])
      expect(await found('007001')).toEqual([['R-1', 'transaction']])
      expect(await found('SHOP1')).toEqual([['S-1', 'merchant-order']])
      expect(await found('900123')).toEqual([['S-1', 'vault']])
      expect(await found('8001')).toEqual([['S-1', 'order']])
      expect(await found('8002')).toEqual([['S-2', 'order']])
      expect(await found('08003')).toEqual([['S-3', 'order']])
      expect(await found('0')).toEqual([])
      expect(await found('nothing')).toEqual([])
    })

    test('finds a reference behind a run key', async () => {
      await ledger.recordMessage(messageOf(accountId, refund('2026-12/A'), { runKey: '2026-12' }))
      expect(await ledger.find('A')).toMatchObject([{ reference: '2026-12/A', by: 'keyed-reference' }])
    })

    test('tells what was asked and what was answered', async () => {
      const batchId = await submit(ledger, accountId, [refund('R-1', { orderId: '77' })])
      await work(ledger, batchId, 'R-1', 'APPROVED', { facts: factsWith('7001') })
      expect(await ledger.find('7001')).toMatchObject([
        {
          ...{ reference: 'R-1', batchId, rowNo: 1, merchant: 'default', state: 'APPROVED', operation: 'REFUND' },
          ...{ amountMinor: 1_000n, currency: 'EUR', orderId: '77', transactionId: '7001', attempts: 1 },
          ...{ sentAtMs: NOW + 100, completedAtMs: NOW + 300, line: 2 },
          asked: { orderId: '77', vaultId: null },
          answered: { amount: null, currency: null, orderId: null, vaultId: null, xtlOrderId: null },
        },
      ])
    })

    test('tells an answer apart from what was asked', async () => {
      const batchId = await submit(ledger, accountId, [sale('S-1', '900123', { xtlOrderId: 'SHOP1' })])
      const facts = factsWith('7002', { orderId: '8001', amount: '9.99', currency: 'USD', xtlOrderId: 'SHOP2' })
      await work(ledger, batchId, 'S-1', 'APPROVED', { facts: { ...facts, vaultId: '0900123' } })
      expect(await ledger.find('S-1')).toMatchObject([
        {
          ...{ orderId: '8001', vaultId: '0900123', xtlOrderId: 'SHOP1' },
          asked: { orderId: null, vaultId: '900123' },
          answered: { amount: '9.99', currency: 'USD', orderId: '8001', vaultId: '0900123', xtlOrderId: 'SHOP2' },
        },
      ])
    })

    test('finds rows of every account, in the order of their arrival', async () => {
      const second = await openAccount(ledger, 'second')
      await submit(ledger, accountId, [refund('A', { orderId: '77' })])
      await submit(ledger, second, [refund('B', { orderId: '77' })], { fileSha256: 'bb'.repeat(32) })
      expect(await found('77')).toEqual([
        ['A', 'order'],
        ['B', 'order'],
      ])
    })

    test('finds batches by the beginning of their file’s name, the latest first, and by nothing that only looks alike', async () => {
      expect(await ledger.knownSinceMs()).toBeNull()
      const named = async (name: string, most = 9) =>
        (await ledger.batchesNamed(name, most)).map(({ fileName }) => fileName)
      for (const [n, fileName] of ['nov.csv', 'nov-2.csv', 'n%v.csv'].entries())
        await submit(ledger, accountId, [refund(`R${n}`)], {
          ...{ fileName, fileSha256: `0${n}`.repeat(32), nowMs: NOW + n },
        })
      expect(await named('nov')).toEqual(['nov-2.csv', 'nov.csv'])
      expect(await named('nov', 1)).toEqual(['nov-2.csv'])
      expect(await named('n%v')).toEqual(['n%v.csv'])
      expect([await named('NOV'), await named('ov')]).toEqual([[], []])
      expect(await ledger.knownSinceMs()).toBe(NOW)
    })
  })
}
