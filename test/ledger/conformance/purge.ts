// Personal data that goes out of the record, and what every later submit decides all the same.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DraftRow } from '../../../src/domain/draft.ts'
import type { AccountId, BatchId } from '../../../src/domain/ids.ts'
import { categoryOfRow } from '../../../src/domain/reason-categories.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { Settlement } from '../../../src/ports/ledger/work.ts'
import {
  auditOf,
  CLERK,
  claimNamed,
  DAY_MS,
  factsWith,
  faultyRow,
  findingOn,
  headerOf,
  listOf,
  messageOf,
  NOW,
  OWN_RULES,
  purgeAll,
  refund,
  reviewOnly,
  rowOf,
  rowsIn,
  sale,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

const MAIL = 'ann@example.test'

/** Rows that repeat, resemble and refund one another, with cells and details of a person that no question compares: those that do are told below. */
const instructions = fc.record({
  n: fc.nat(9),
  like: fc.nat(2),
  kind: fc.constantFrom('refund', 'sale'),
  amountMinor: fc.constantFrom(100n, 200n),
})
type Wanted = typeof instructions extends fc.Arbitrary<infer T> ? T : never

function rowFor({ n, like, kind, amountMinor }: Wanted, rowNo: number): DraftRow {
  const mail = `${kind}-${n}-${MAIL}`
  const over = { money: refund('x', { amountMinor }).money, details: { bill_addr: mail } }
  const made = kind === 'sale' ? sale(`S-${n}`, `55${like}`, over) : refund(`R-${n}`, { ...over, orderId: `77${like}` })
  return rowOf(rowNo, made, { cells: [made.reference, mail] })
}

/** A look alone: a review that throws must keep no later one waiting. */
const HEADER = { columns: ['reference', 'mail'], lookOnly: true }
const { columns: COLUMNS } = HEADER
const files = fc.array(fc.uniqueArray(instructions, { maxLength: 6, selector: ({ n, kind }) => `${kind}${n}` }), {
  maxLength: 4,
})
const outcomes = fc.array(fc.constantFrom<Settlement['to']>('APPROVED', 'DECLINED', 'FAILED'), {
  minLength: 1,
  maxLength: 9,
})

/** What any of these files would be decided to be now, handed in again or as results fed back with a retry. */
async function decisions(
  ledger: Ledger,
  accountId: AccountId,
  all: readonly (readonly DraftRow[])[],
  batches: readonly BatchId[],
) {
  const decided = []
  for (const [i, rows] of all.entries()) {
    for (const nowMs of [NOW + DAY_MS, NOW + 60 * DAY_MS]) {
      decided.push(await reviewOnly(ledger, headerOf(accountId, { ...HEADER, nowMs }), rows))
    }
    const fedBack = rows.map((row) => ({ ...row, cameFrom: { batchId: batches[i] as string, rowNo: row.rowNo } }))
    const header = headerOf(accountId, {
      ...HEADER,
      nowMs: NOW + DAY_MS,
      fedBack: true,
      retry: ['FAILED', 'INVALID'],
    })
    decided.push(await reviewOnly(ledger, header, fedBack).catch((error: unknown) => String(error)))
  }
  return decided
}

export function describePurge(renew: () => Promise<void>): void {
  describe('purge and toPurge: a purge', () => {
    test('changes nothing that any later submit of any file decides', async () => {
      await fc.assert(
        fc.asyncProperty(files, outcomes, files, async (earlier, ends, later) => {
          await renew()
          const toRows = (wanted: readonly Wanted[]) => wanted.map((one, i) => rowFor(one, i + 1))
          const recorded = earlier.map(toRows)
          const batches: BatchId[] = []
          let transaction = 7_000
          for (const rows of recorded) {
            const bad = faultyRow(rows.length + 1, 'bad', { cells: ['bad', MAIL] })
            const batchId = await submit(ledger, accountId, [...rows, bad], { columns: COLUMNS })
            batches.push(batchId)
            for (const { reference, state } of await rowsIn(ledger, batchId)) {
              if (state !== 'READY') continue
              const to = ends[transaction % ends.length] as Settlement['to']
              const row = await claimNamed(ledger, batchId, reference as string)
              await settle(ledger, row, to, {
                facts: factsWith(String(++transaction)),
                answerText: MAIL,
                reason: `no, ${MAIL}`,
              })
            }
          }
          const all = [...recorded, ...later.map(toRows)]
          const names = all.map((_, i) => batches[i] ?? batches[0] ?? ('none' as BatchId))
          const before = await decisions(ledger, accountId, all, names)
          const rows = recorded.reduce((sum, one) => sum + one.length + 1, 0)
          expect(await purgeAll(ledger)).toBe(rows)
          expect(await decisions(ledger, accountId, all, names)).toEqual(before)
          const told = await Promise.all(batches.map((batchId) => rowsIn(ledger, batchId)))
          expect(JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
            MAIL,
          )
          for (const row of all.flat()) expect(JSON.stringify(await ledger.history(row.reference))).not.toContain(MAIL)
          expect(await auditOf(ledger)).toEqual([])
        }),
        { numRuns: tries(25), endOnFailure: true },
      )
    })

    test('takes with the names and e-mails the questions that compare them', async () => {
      const ann = { details: { cust_email: MAIL } }
      const failed = await submit(ledger, accountId, [sale('S-1', '550', ann)])
      await settle(ledger, await claimNamed(ledger, failed, 'S-1'), 'FAILED')
      const paid = await submit(ledger, accountId, [sale('S-2', '551', ann)])
      await settle(ledger, await claimNamed(ledger, paid, 'S-2'), 'APPROVED')
      const again = rowOf(1, sale('S-1', '550', ann), { cameFrom: { batchId: failed, rowNo: 1 } })
      const header = headerOf(accountId, { ...HEADER, nowMs: NOW + DAY_MS, fedBack: true, retry: ['FAILED'] })
      const codes = async () =>
        (await reviewOnly(ledger, header, [again])).lookalikes.map(({ question }) => question?.code)
      expect(await codes()).toEqual(['paid'])
      expect(await purgeAll(ledger)).toBe(2)
      expect(await codes()).toEqual([])
    })

    test('of messages takes a day that is over, and the texts of those that were refused', async () => {
      const cells = { cust_email: MAIL }
      const taken = await ledger.recordMessage(messageOf(accountId, refund('R-1'), { cells, nowMs: NOW }))
      expect(taken.kind).toBe('accepted')
      const batchId = 'batchId' in taken ? taken.batchId : ('' as BatchId)
      await settle(ledger, await claimNamed(ledger, batchId, 'R-1'), 'APPROVED')
      const refusal = { accountName: 'default', reasons: [`bad ${MAIL}`], text: MAIL, cards: null }
      await ledger.recordRefusal({ ...refusal, sourceId: 'a', nowMs: NOW })
      await ledger.recordRefusal({ ...refusal, sourceId: 'b', nowMs: NOW + DAY_MS })
      expect(await ledger.toPurge(NOW + 1_000)).toEqual({ batches: [], left: [], refusals: 1 }) // more may come that day
      const nextDay = Math.ceil((NOW + 1) / DAY_MS) * DAY_MS
      expect(await ledger.toPurge(nextDay)).toEqual({
        batches: [{ batchId, rows: 1 }],
        left: [],
        refusals: 1,
      })
      expect(await purgeAll(ledger, nextDay)).toBe(2)
      expect(await ledger.toPurge(nextDay)).toEqual({ batches: [], left: [], refusals: 0 })
      await ledger.recordRefusal({ ...refusal, sourceId: 'a', nowMs: NOW }) // known for ever
      expect(await ledger.toPurge(nextDay)).toMatchObject({ refusals: 0 })
      expect((await listOf(ledger.log(null))).map(({ what, batchId: of, by }) => [what, of, by])).toEqual([
        ['purge', batchId, 'clerk@desk'],
        ['purge', null, 'clerk@desk'],
      ])
    })

    test('keeps why a person said what became of a row, and its act tells what was taken', async () => {
      const batchId = await submit(ledger, accountId, [refund('R-1')])
      await settle(ledger, await claimNamed(ledger, batchId, 'R-1'), 'IN_DOUBT', { facts: null, reason: MAIL })
      await ledger.resolve(findingOn('R-1', { transactionId: '7', reason: 'portal' }), CLERK, NOW + DAY_MS)
      expect(await purgeAll(ledger)).toBe(1)
      const moves = (await ledger.history('R-1')).map(({ cause, reason }) => [cause, reason])
      expect(moves).toEqual([
        ['recorded', null],
        ['claim', null],
        ['doubt', null],
        ['resolve', 'portal'],
      ])
      const purges = (await listOf(ledger.log(null))).filter(({ what }) => what === 'purge')
      expect(purges).toMatchObject([{ details: { rows: 1, taken: expect.stringContaining('except those of resol') } }])
    })

    test('keeps the word by which a refusal is counted, and not its text', async () => {
      const reasons = ['invalid amount', 'Insufficient funds', `house rule 7, ${MAIL}`, 'because', null]
      const references = reasons.map((_, i) => `R-${i}`)
      const batchId = await submit(ledger, accountId, [...references.map((one) => refund(one)), faultyRow(6, 'bad')])
      for (const [i, reason] of reasons.entries()) {
        const row = await claimNamed(ledger, batchId, references[i] as string)
        await settle(ledger, row, i % 2 === 0 ? 'FAILED' : 'DECLINED', { reason })
      }
      const counted = async () => (await rowsIn(ledger, batchId)).map((row) => categoryOfRow(row, OWN_RULES))
      const before = await counted()
      expect(before).toEqual(['data', 'funds', 'fraud', 'other', 'other', 'data'])
      expect(await purgeAll(ledger)).toBe(6)
      expect(await counted()).toEqual(before)
      const told = (await rowsIn(ledger, batchId)).map(({ reason }) => reason)
      expect(new Set(told)).toEqual(new Set(['its cells and texts were purged from the record']))
      expect(await auditOf(ledger)).toEqual([])
    })

    test('keeps that a duplicate asks for something else than the row it points at', async () => {
      const first = await submit(ledger, accountId, [refund('R-1'), refund('R-2')])
      for (const name of ['R-1', 'R-2']) await settle(ledger, await claimNamed(ledger, first, name), 'APPROVED')
      const rows = [refund('R-1', { amountMinor: 5n }), refund('R-2')]
      const again = await submit(ledger, accountId, rows, { onlyNew: true })
      const told = async () => (await rowsIn(ledger, again)).map(({ reason, repeats }) => [reason, repeats?.changed])
      const before = await told()
      expect(before).toEqual([
        [expect.stringContaining('recorded with other content (amount); not sent'), true],
        [expect.stringContaining('the same instruction is row 2'), false],
      ])
      expect(await purgeAll(ledger)).toBe(4)
      expect(await told()).toEqual(before)
      expect(await ledger.batch(again)).toMatchObject({ duplicatesChanged: 1 })
    })

    test('that is broken off goes on behind the last row that it took, from any connection', async () => {
      const rows = Array.from({ length: 201 }, (_, i) => refund(`R-${i}`, { orderId: `${i + 1}` }))
      const batchId = await submit(ledger, accountId, rows)
      await ledger.cancel(batchId, 'no', CLERK, NOW)
      const { edition, close } = await ledger.openReading(batchId, NOW)
      await close()
      await ledger.resultsWritten(batchId, '/results.csv', edition)
      const categoryOf = () => 'other' as const
      const request = { beforeMs: NOW + DAY_MS, reason: 'old', actor: CLERK, nowMs: NOW, categoryOf }
      const first = ledger.purge(request)[Symbol.asyncIterator]()
      expect(await first.next()).toMatchObject({ value: { batchId, rows: 200 } })
      expect(await ledger.toPurge(NOW + DAY_MS)).toMatchObject({ batches: [{ batchId, rows: 1 }] })
      const second = place.open().purge(request)[Symbol.asyncIterator]()
      expect(await second.next()).toMatchObject({ value: { batchId, rows: 1 } })
      expect(await second.next()).toMatchObject({ done: true })
      expect(await first.next()).toMatchObject({ done: true })
      expect(await ledger.toPurge(NOW + DAY_MS)).toMatchObject({ batches: [] })
      const acts = (await listOf(ledger.log(null))).filter(({ what }) => what === 'purge')
      expect(acts).toMatchObject([{ details: { rows: 201 } }, { details: { rows: 1 } }])
      expect(await auditOf(ledger)).toEqual([])
    })

    test('leaves a batch with a late answer that waits for a person', async () => {
      const batchId = await submit(ledger, accountId, [refund('R-1')])
      const row = await claimNamed(ledger, batchId, 'R-1')
      await settle(ledger, row, 'IN_DOUBT', { facts: null })
      await ledger.resolve(findingOn('R-1', { finding: 'not-executed' }), CLERK, NOW + DAY_MS)
      await settle(ledger, row, 'APPROVED', { facts: factsWith('7') })
      expect(await purgeAll(ledger)).toBe(0)
      expect((await ledger.toPurge(NOW + 9 * DAY_MS)).left).toEqual([{ batchId, why: 'late-answers' }])
      await ledger.resume(batchId, 'looked', CLERK, NOW)
      expect(await purgeAll(ledger)).toBe(1)
    })
  })
}
