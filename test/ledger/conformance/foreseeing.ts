// Doubts: what is foreseen of findings is what comes of them.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Foreseen, Resolution, Resolved } from '../../../src/domain/doubt.ts'
import { FINDINGS, takesTransaction } from '../../../src/domain/resolution.ts'
import { CLERK, findingOn, NOW, openAccount, refund, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'

const REST_MS = 900_000
const SENT_MS = NOW + 100
const REFERENCES = ['A', 'B', 'C', 'unknown'] as const

/** In words, as both tell it. */
const told = (answer: Foreseen | Resolved) =>
  answer.kind === 'proposed' || answer.kind === 'would-propose'
    ? 'proposed'
    : answer.kind === 'refused'
      ? `refused: ${answer.why}`
      : answer.kind === 'would-resolve'
        ? `resolved: ${answer.doubt.batchId}/${answer.doubt.rowNo} ${answer.state}`
        : `${answer.kind}: ${answer.batchId}/${answer.rowNo} ${answer.state}`

const findings = fc.array(
  fc.record({
    reference: fc.constantFrom(...REFERENCES),
    merchant: fc.constantFrom(null, 'default', 'club'),
    finding: fc.constantFrom(...FINDINGS),
    attempt: fc.constantFrom(null, 1, 1, 1, 2),
    transaction: fc.constantFrom(null, '71', '71', '072'),
    row: fc.constantFrom(null, 1, 2, 3),
  }),
  { minLength: 1, maxLength: 6 },
)

/** The second line names no merchant, and means the row that the first has left in doubt. */
const MEANT_BY_ELIMINATION = (['default', null, 'club'] as const).map((merchant) => ({
  reference: 'A' as const,
  merchant,
  finding: 'approved' as const,
  attempt: null,
  transaction: null,
  row: null,
}))

export function describeForeseeing(): void {
  describe('foresee', () => {
    test('a row moves once, and a transaction settles one row, of several findings together', async () => {
      const batch = await submit(ledger, accountId, [refund('A'), refund('B')])
      for (const reference of ['A', 'B']) await work(ledger, batch, reference, 'IN_DOUBT')
      const found = (reference: string, transactionId: string | null) =>
        findingOn(reference, { transactionId, attempt: 1, row: { batchId: batch, rowNo: reference === 'A' ? 1 : 2 } })
      const asked = [found('A', '71'), found('A', null), found('B', '071'), found('B', '72')]
      expect(await ledger.foresee(asked, CLERK, NOW + REST_MS)).toMatchObject([
        { kind: 'would-resolve', state: 'APPROVED', doubt: { merchant: 'default', rowNo: 1 } },
        { kind: 'refused', why: 'not-in-doubt' },
        { kind: 'refused', why: 'transaction-taken' },
        { kind: 'would-resolve', state: 'APPROVED', doubt: { rowNo: 2 } },
      ])
      expect(await statesIn(ledger, batch)).toEqual(['IN_DOUBT', 'IN_DOUBT'])
    })

    test('says of every finding what comes of it, of several in a row too, and changes nothing', async () => {
      const club = await openAccount(ledger, 'club')
      let runs = 0
      await fc.assert(
        fc.asyncProperty(findings, fc.boolean(), async (asked, isRested) => {
          runs += 1
          // What is left in doubt by the runs before holds an account.
          for (const account of [accountId, club]) await ledger.resumeAccount(account, 'on', CLERK, NOW)
          const named = (reference: string) => `${reference}-${runs}`
          const own = await submit(
            ledger,
            accountId,
            ['A', 'B', 'C'].map((reference) => refund(named(reference))),
          )
          const other = await submit(ledger, club, [refund(named('A'))])
          for (const [batch, reference] of [
            [own, 'A'],
            [own, 'B'],
            [other, 'A'],
          ] as const)
            await work(ledger, batch, named(reference), 'IN_DOUBT')
          const resolutions = asked.map(({ reference, finding, transaction, row, ...over }): Resolution => {
            const transactionId = takesTransaction(finding) && transaction !== null ? `${transaction}${runs}` : null
            const rowMeant = row === null ? null : { batchId: own, rowNo: row }
            return findingOn(named(reference), { ...over, finding, transactionId, row: rowMeant, restMs: REST_MS })
          })
          const nowMs = isRested ? SENT_MS + REST_MS : SENT_MS
          const foreseen = await ledger.foresee(resolutions, CLERK, nowMs)
          expect(await statesIn(ledger, own)).toEqual(['IN_DOUBT', 'IN_DOUBT', 'READY'])
          let isChanged = false
          for (const [i, resolution] of resolutions.entries()) {
            const expected = told(foreseen[i] as Foreseen)
            const was = told(await ledger.resolve(resolution, CLERK, nowMs))
            if (!isChanged || expected.startsWith('resolved')) expect(was).toBe(expected)
            else expect(was).not.toMatch(/^resolved/)
            isChanged ||= was.startsWith('resolved')
          }
        }),
        { numRuns: tries(20), examples: [[MEANT_BY_ELIMINATION, true]] },
      )
    })
  })
}
