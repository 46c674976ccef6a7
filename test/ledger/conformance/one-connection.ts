// A file that is recorded by the connection that claims: its transactions and the claims take turns, one after the other.

import { describe, expect, test } from 'vitest'
import type { RowId } from '../../../src/domain/ids.ts'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  dueRow,
  headerOf,
  messageOf,
  refund,
  review,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const X = { orderId: '4711' }

export function describeOneConnection(): void {
  describe('while a file is recorded by the same connection', () => {
    test('a claim of one of its rows is refused', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const { rowId } = await dueRow(ledger, first, 'A')
      const rows = Array.from({ length: 5_000 }, (_, i) => refund(`R-${i}`))
      const { draft } = await review(ledger, headerOf(accountId, { fileSha256: 'bb' }), rows)
      const recording = draft.record(CLERK)
      // Each claim shares a commit with a part of the file, of which there are ten.
      const claims: unknown[] = []
      for (let i = 0; i < 5; i++) claims.push(await claim(ledger, { rowId: (rowId + 1) as RowId, attempt: 0 }))
      expect(claims).toEqual(Array(5).fill({ kind: 'not-free' }))
      const batchId = await recording
      expect((await claim(ledger, await dueRow(ledger, batchId, 'R-0'))).kind).toBe('claimed')
      expect((await dueIn(ledger, batchId))[0]?.rowId).toBe(rowId + 2)
    })

    test('a file recorded around a message that is being sent waits for that message', async () => {
      const rows = Array.from({ length: 600 }, (_, i) => refund(`R-${i}`, i === 0 ? X : {}))
      const { draft } = await review(ledger, headerOf(accountId), rows)
      const recording = draft.record(CLERK)
      const arriving = ledger.recordMessage(messageOf(accountId, refund('M', { ...X, amountMinor: 5_000n })))
      const message = await arriving
      if (message.kind !== 'accepted') throw new Error(message.kind)
      const sending = await claimNamed(ledger, message.batchId, 'M')
      const batchId = await recording
      const due = () => dueIn(ledger, batchId).then((found) => found.some((row) => row.instruction.reference === 'R-0'))
      expect(await due()).toBe(false)
      await settle(ledger, sending, 'APPROVED')
      expect(await due()).toBe(true)
    })
  })
}
