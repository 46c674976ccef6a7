// What a verification says it looked at.

import { expect, test } from 'vitest'
import { proofOf } from '../../src/commands/audit.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { CLERK, NOW, refund, submit } from '../fixtures/ledgers.ts'
import { accountId, ledger, useSqliteLedger } from '../fixtures/use-ledger.ts'

useSqliteLedger()

test('the head of a verification binds nothing that came while it looked', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const head = await ledger.head()
  const busy: Ledger = {
    ...ledger,
    async *audit(anchor) {
      yield* ledger.audit(anchor)
      await ledger.pause(batchId, 'meanwhile', CLERK, NOW)
    },
  }
  expect(await proofOf(busy, null)).toEqual({ head, disagreements: [] })
  expect(await ledger.head()).not.toBe(head)
})
