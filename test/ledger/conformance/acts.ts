// What people did, as the record tells it.

import { describe, expect, test } from 'vitest'
import type { PersonAct } from '../../../src/domain/acts.ts'
import { CLERK, listOf, NOW, personAt, refund, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

export function describeActs(): void {
  describe('recordAct and log: acts', () => {
    const backup = (n: number, over: Partial<PersonAct> = {}): PersonAct => ({
      ...{ what: 'backup', actor: CLERK, details: { file: `copy-${n}.db` } },
      ...over,
    })

    test('are told in order of time, each once, also many at one moment', async () => {
      const times = Array.from({ length: 1_700 }, (_, n) => NOW + ((n * 7) % 5 === 0 ? 0 : n % 11))
      for (const [n, atMs] of times.entries()) expect(await ledger.recordAct(backup(n), atMs)).toBe('recorded')
      const told = await listOf(ledger.log(null))
      expect(told.map(({ atMs }) => atMs)).toEqual(times.toSorted((a, b) => a - b))
      expect(new Set(told.map(({ details }) => details?.file)).size).toBe(times.length)
      expect(await listOf(ledger.log(NOW + 5))).toEqual(told.filter(({ atMs }) => atMs >= NOW + 5))
    })

    test('stand between the files that were recorded and the doubts that were resolved', async () => {
      await ledger.recordAct(backup(1), NOW + 1)
      const batchId = await submit(ledger, accountId, [refund('R-1')])
      await ledger.pause(batchId, 'look', personAt('ann', 'Ann'), NOW)
      expect(await listOf(ledger.log(null))).toMatchObject([
        { what: 'pause', batchId, merchant: 'default', by: 'ann@desk, says "Ann"', actor: personAt('ann', 'Ann') },
        { what: 'submit', batchId, by: 'clerk@desk', details: { file: 'refunds.csv', rows: 1 } },
        { what: 'backup', batchId: null, actor: CLERK },
      ])
    })

    test('known by their details are kept once', async () => {
      const refused = { ...backup(1), what: 'card-refused', once: true } as const
      for (const atMs of [NOW, NOW + 1]) await ledger.recordAct(refused, atMs)
      await ledger.recordAct({ ...refused, details: { file: 'another' } }, NOW + 2)
      expect((await listOf(ledger.log(null))).map(({ atMs }) => atMs)).toEqual([NOW, NOW + 2])
    })
  })
}
