// Finding instructions by any of their ids.

import { describe, expect, test } from 'vitest'
import { factsWith, NOW, openAccount, refund, sale, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const found = async (id: string) => (await ledger.find(id)).map(({ reference, by }) => [reference, by])

export function describeFinding(): void {
  describe('find', () => {
    test('finds by reference, order, transaction, merchant order and vault id, with zeros in front or without', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('R-1', { orderId: '0077' }),
        sale('S-1', '900123', { xtlOrderId: 'SHOP1' }),
        sale('S-2', '900124', { operation: 'AUTH' }),
      ])
      await work(ledger, batchId, 'R-1', 'APPROVED', { facts: factsWith('7001') })
      await work(ledger, batchId, 'S-1', 'APPROVED', { facts: factsWith('7002', { orderId: '8001' }) })
      await work(ledger, batchId, 'S-2', 'APPROVED', { facts: factsWith('7003', { orderId: '8002' }) })
      expect(await found('R-1')).toEqual([['R-1', 'reference']])
      expect(await found('77')).toEqual([['R-1', 'order']])
      expect(await found('007001')).toEqual([['R-1', 'transaction']])
      expect(await found('SHOP1')).toEqual([['S-1', 'merchant-order']])
      expect(await found('900123')).toEqual([['S-1', 'vault']])
      expect(await found('8001')).toEqual([['S-1', 'order']])
      expect(await found('8002')).toEqual([['S-2', 'order']])
      expect(await found('0')).toEqual([])
      expect(await found('nothing')).toEqual([])
    })

    test('tells what was asked and what was answered', async () => {
      const batchId = await submit(ledger, accountId, [refund('R-1', { orderId: '77' })])
      await work(ledger, batchId, 'R-1', 'APPROVED', { facts: factsWith('7001') })
      expect(await ledger.find('7001')).toMatchObject([
        {
          ...{ reference: 'R-1', batchId, rowNo: 1, merchant: 'default', state: 'APPROVED', operation: 'REFUND' },
          ...{ amountMinor: 1_000n, currency: 'EUR', orderId: '77', transactionId: '7001', attempts: 1 },
          ...{ sentAtMs: NOW + 100, completedAtMs: NOW + 300 },
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
  })
}
