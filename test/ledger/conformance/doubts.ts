// Doubts: what a person may say of them, when, and what it moves.

import { describe, expect, test } from 'vitest'
import type { Resolution } from '../../../src/domain/doubt.ts'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import { NO_FACTS } from '../../../src/ledger/rules/settling.ts'
import type { DueRow } from '../../../src/ports/ledger/work.ts'
import {
  auditOf,
  CLERK,
  type Claimed,
  claim,
  claimed,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  factsWith,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  review,
  reviewOnly,
  rowIn,
  rowOf,
  rowsIn,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, succeed } from '../../fixtures/use-ledger.ts'
import { saying } from '../../fixtures/words.ts'
import { FIRST, MENDED, made, taken } from './given.ts'

const REST_MS = 900_000
const SENT_MS = NOW + 100
const LATER = SENT_MS + REST_MS

export function describeDoubts(): void {
  const resolve = (reference: string, over: Partial<Resolution> = {}, nowMs = LATER) =>
    ledger.resolve(findingOn(reference, { restMs: REST_MS, ...over }), CLERK, nowMs)
  const inDoubt = async (...references: string[]): Promise<BatchId> => {
    const batchId = await submit(
      ledger,
      accountId,
      references.map((reference) => refund(reference)),
    )
    for (const reference of references) await work(ledger, batchId, reference, 'IN_DOUBT')
    return batchId
  }

  describe('resolve: a second finding', () => {
    const FINDS = [
      ['approved', 'APPROVED'],
      ['declined', 'DECLINED'],
      ['not-executed', 'FAILED'],
    ] as const

    test.each(FINDS.flatMap(([first]) => FINDS.map(([second, state]) => [first, second, state] as const)))(
      'after %s, %s takes its place where it is said to correct it, and both are kept',
      async (first, second, state) => {
        const batchId = await inDoubt('A')
        await resolve('A', { finding: first, transactionId: first === 'not-executed' ? null : '71' })
        const transactionId = second === 'not-executed' ? null : '72'
        expect(await resolve('A', { finding: second, transactionId, corrects: true })).toMatchObject(
          first === second && transactionId === null
            ? { kind: 'already', state }
            : { kind: 'resolved', batchId, rowNo: 1, state },
        )
        const { facts, ...row } = await rowIn(ledger, batchId, 'A')
        expect([row.state, facts.transactionId]).toEqual([state, transactionId])
        expect((await ledger.batch(batchId))?.counts).toEqual({ [state]: 1 })
        const causes = (await ledger.history('A')).map(({ cause }) => cause)
        expect(causes.filter((cause) => cause === 'resolve').length).toBe(first === second && !transactionId ? 1 : 2)
        expect(await auditOf(ledger)).toEqual([])
      },
    )

    test('is refused unless it is said to correct the first, and says how', async () => {
      await inDoubt('A')
      await resolve('A', { finding: 'declined' })
      expect(await resolve('A', { finding: 'approved' })).toMatchObject({
        ...{ kind: 'refused', why: 'not-in-doubt' },
        reason: saying(/it is DECLINED, as a person found.*--correct/),
      })
    })

    test('corrects no answer of the gateway, and nothing that has not ended', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'DECLINED')
      for (const reference of ['A', 'B'])
        expect(await resolve(reference, { finding: 'approved', corrects: true })).toMatchObject({
          ...{ kind: 'refused', why: 'not-found-before' },
        })
      expect(await statesIn(ledger, batchId)).toEqual(['DECLINED', 'READY'])
    })

    test('sends nothing, settles no other row by its transaction, and waits as a first one does', async () => {
      await inDoubt('A', 'B')
      await resolve('A', { finding: 'approved', transactionId: '71' })
      await resolve('B', { finding: 'approved', transactionId: '72' })
      const correct = (over: Partial<Resolution>, nowMs?: number) => resolve('B', { corrects: true, ...over }, nowMs)
      expect(await correct({ finding: 'send-again' })).toMatchObject({ why: 'not-found-before' })
      expect(await correct({ finding: 'approved', transactionId: '71' })).toMatchObject({ why: 'transaction-taken' })
      expect(await correct({ finding: 'not-executed' }, SENT_MS)).toMatchObject({ why: 'too-early' })
    })

    test('judges no row that is in doubt: that doubt is about a request which no finding was about', async () => {
      const batchId = await inDoubt('A')
      expect(await resolve('A', { finding: 'approved', corrects: true })).toMatchObject({ why: 'not-found-before' })
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
    })

    test('cannot deny what an answer said after the first', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await claimNamed(ledger, batchId, 'A')
      await settle(ledger, row, 'IN_DOUBT')
      await resolve('A', { finding: 'not-executed' })
      await settle(ledger, row, 'APPROVED', { facts: factsWith('73') })
      expect(await resolve('A', { finding: 'declined', corrects: true })).toMatchObject({ why: 'not-found-before' })
      expect(await resolve('A', { finding: 'approved', transactionId: '73', corrects: true })).toMatchObject({
        state: 'APPROVED',
      })
    })
  })

  describe('a row that was executed after it had been called otherwise', () => {
    const ROW = made(FIRST, 1, '2026-11')

    /** Called not executed; then asked for by message, and by a file with another amount and no run key. `others` ask for something else. */
    async function askedForAgain() {
      const file = ['71', '72', '71'].map((orderId, i) =>
        refund(made(FIRST, i + 1, '2026-11'), { orderId, amountMinor: 1_000n + BigInt(i) }),
      )
      const first = await submit(ledger, accountId, file, { runKey: '2026-11' })
      const sent = await work(ledger, first, ROW, 'IN_DOUBT')
      await resolve(ROW, { finding: 'not-executed' })
      const { batchId } = await taken('message', { orderId: '71' })
      const mended = await submit(ledger, accountId, [refund(made(MENDED, 1), { orderId: '71', amountMinor: 900n })])
      const month = await submit(ledger, accountId, [refund('2026-12/A', { orderId: '71', amountMinor: 900n })], {
        runKey: '2026-12',
      })
      const other = await submit(ledger, accountId, [refund('other', { orderId: '73' })])
      return { sent, alike: [batchId, mended], others: [first, month, other] }
    }
    const holdsOf = async (batches: readonly BatchId[]) =>
      Promise.all(batches.map(async (batchId) => (await ledger.batch(batchId))?.hold))

    test('because a finding was corrected, pauses the batches in which a row asks for the same', async () => {
      const { alike, others } = await askedForAgain()
      const corrected = await resolve(ROW, { finding: 'approved', corrects: true })
      expect(corrected).toMatchObject({ kind: 'resolved', paused: expect.arrayContaining(alike) })
      expect(await holdsOf(alike)).toEqual(['paused', 'paused'])
      expect(await holdsOf(others)).toEqual(['none', 'none', 'none'])
      const reason = (await ledger.batch(alike[0]!))?.holdReason
      expect(reason).toMatch(/^row 1 asks for the same as row 1 of batch .*, which was executed after all/)
      expect(await auditOf(ledger)).toEqual([])
      for (const _ of [1, 2]) await ledger.pause(alike[0]!, 'maintenance tonight', CLERK, LATER)
      expect((await ledger.batch(alike[0]!))?.holdReason).toBe(`${reason}; maintenance tonight`)
    })

    test('pauses one that asks for just the same under another run key, if too few days lie between for another month', async () => {
      const named = (runKey: string, amountMinor = 1_000n) =>
        submit(ledger, accountId, [refund(`${runKey}/A`, { orderId: '71', amountMinor })], { runKey })
      await work(ledger, await named('2026-11'), '2026-11/A', 'IN_DOUBT')
      await resolve('2026-11/A', { finding: 'not-executed' })
      const [mistyped, more] = [await named('2026-10'), await named('2026-09', 1_100n)]
      const corrected = (nowMs: number) => resolve('2026-11/A', { finding: 'approved', corrects: true }, nowMs)
      expect(await corrected(SENT_MS + 20 * DAY_MS)).toMatchObject({ kind: 'resolved', paused: [mistyped] })
      expect(await holdsOf([mistyped, more])).toEqual(['paused', 'none'])
      await resolve('2026-11/A', { finding: 'not-executed', corrects: true }, SENT_MS + 20 * DAY_MS)
      await ledger.resume(mistyped, 'looked', CLERK, LATER)
      expect(await corrected(SENT_MS + 20 * DAY_MS + 1)).toMatchObject({ kind: 'resolved', paused: [] })
    })

    test('because an answer came late, pauses them too', async () => {
      const { sent, alike, others } = await askedForAgain()
      await settle(ledger, sent, 'APPROVED')
      expect(await holdsOf(alike)).toEqual(['paused', 'paused'])
      expect(await holdsOf(others.slice(1))).toEqual(['none', 'none'])
    })

    test.each([true, false])(
      'pauses the batch of one that is open or in doubt, too: it may be sent again (open: %s)',
      async (open) => {
        await work(ledger, await submit(ledger, accountId, [refund('X', { orderId: '76' })]), 'X', 'IN_DOUBT')
        await resolve('X', { finding: 'not-executed' })
        const second = await submit(ledger, accountId, [refund('Y', { orderId: '76' })])
        await submit(ledger, accountId, [refund('Z', { orderId: '76', amountMinor: 700n })]) // another refund of the order
        const sending = await claimed(ledger, await dueRow(ledger, second, 'Y', LATER), LATER)
        if (!open) await settle(ledger, sending, 'IN_DOUBT', { sentAtMs: LATER })
        expect(await resolve('X', { finding: 'approved', corrects: true })).toMatchObject({ paused: [second] })
      },
    )

    test('pauses the batch of its own day where it came by message, and one like it came after it', async () => {
      const { batchId } = await taken('first', { orderId: '75' })
      await work(ledger, batchId, 'first', 'IN_DOUBT')
      await resolve('first', { finding: 'not-executed' })
      expect(await taken('second', { orderId: '75' })).toMatchObject({ batchId })
      expect(await resolve('first', { finding: 'approved', corrects: true })).toMatchObject({ paused: [batchId] })
      expect(await holdsOf([batchId])).toEqual(['paused'])
    })

    test('pauses none for a finding of another kind, nor for one of a row in doubt', async () => {
      const { alike } = await askedForAgain()
      expect(await resolve(ROW, { finding: 'declined', corrects: true })).toMatchObject({ paused: [] })
      const batchId = await inDoubt('B')
      expect(await resolve('B', { finding: 'approved' })).toMatchObject({ batchId, paused: [] })
      expect(await holdsOf(alike)).toEqual(['none', 'none'])
    })
  })

  describe('resolve: a wrong finding of a row that was to run again', () => {
    const AGAIN: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED', 'CANCELLED'], nowMs: LATER }
    const line = (batchId: BatchId) => rowOf(1, refund('A'), { cameFrom: { batchId, rowNo: 1 } })
    const retry = (batchId: BatchId) => submit(ledger, accountId, [line(batchId)], AGAIN)
    const cancel = (batchId: BatchId) => ledger.cancel(batchId, 'wrong', CLERK, LATER)
    const correct = (over: Partial<Resolution> = {}) => resolve('A', { corrects: true, ...over })
    const everywhere = async (...batches: BatchId[]) =>
      (await Promise.all(batches.map((batchId) => statesIn(ledger, batchId)))).flat()

    /** Executed, and called not executed all the same; and the batch that was to run it again. */
    async function wronglyFound(): Promise<{ first: BatchId; second: BatchId }> {
      const first = await inDoubt('A')
      await resolve('A', { finding: 'not-executed' })
      return { first, second: await retry(first) }
    }

    const runsNowhere = async (...batches: BatchId[]) => {
      for (const batchId of batches) {
        const { review: reviewed } = await reviewOnly(ledger, headerOf(accountId, AGAIN), [line(batchId)])
        expect(reviewed).toMatchObject({ accepted: 0, duplicate: 1 })
      }
      const plain = await reviewOnly(ledger, headerOf(accountId, { nowMs: LATER }), [refund('A')])
      expect(plain.review).toMatchObject({ accepted: 0, duplicate: 1 })
      expect(await auditOf(ledger)).toEqual([])
    }

    test('is corrected where the retry was cancelled: the executed row holds the reference, and nothing runs it again', async () => {
      const { first, second } = await wronglyFound()
      await cancel(second)
      const reading = await ledger.openReading(second, LATER)
      await reading.close()
      await ledger.resultsWritten(second, '/out.csv', reading.edition)
      expect(await correct({ transactionId: '7001' })).toMatchObject({ kind: 'resolved', batchId: first, rowNo: 1 })
      expect(await everywhere(first, second)).toEqual(['APPROVED', 'CANCELLED'])
      await runsNowhere(first, second)
      expect(await ledger.recordMessage(messageOf(accountId, refund('A')))).toMatchObject({
        ...{ kind: 'duplicate', batchId: first, state: 'APPROVED' },
      })
      expect(await ledger.batch(second)).toMatchObject({ resultsStale: true })
      expect((await rowIn(ledger, second, 'A')).warning).toBe(
        `it was not sent, and the row that it was to run again is row 1 of batch ${first}: APPROVED; it was in doubt before: see its history`,
      )
      expect((await rowIn(ledger, first, 'A')).warning).toBeNull()
    })

    test('is corrected over several retries, though one of them was claimed and not sent', async () => {
      const { first, second } = await wronglyFound()
      await settle(ledger, await claimNamed(ledger, second, 'A', LATER), 'READY', { dueAtMs: LATER })
      await cancel(second)
      const third = await retry(second)
      await cancel(third)
      expect(await correct({ finding: 'declined' })).toMatchObject({ state: 'DECLINED', batchId: first })
      expect(await everywhere(first, second, third)).toEqual(['DECLINED', 'CANCELLED', 'CANCELLED'])
      await runsNowhere(first, second, third)
    })

    test('is corrected only where that is said, and says how', async () => {
      const { first, second } = await wronglyFound()
      await cancel(second)
      expect(await resolve('A')).toMatchObject({
        ...{ kind: 'refused', why: 'not-in-doubt' },
        reason: saying(new RegExp(`row 1 of batch ${first}.*is FAILED, as a person found.*--correct`)),
      })
      expect(await everywhere(first, second)).toEqual(['FAILED', 'CANCELLED'])
    })

    test('is corrected while another submit is about to run it again, which then records nothing', async () => {
      const { first, second } = await wronglyFound()
      await cancel(second)
      const { draft, review: reviewed } = await review(ledger, headerOf(accountId, AGAIN), [line(second)])
      expect(reviewed.accepted).toBe(1)
      expect(
        await place.open().resolve(findingOn('A', { corrects: true, restMs: REST_MS }), CLERK, LATER),
      ).toMatchObject({ kind: 'resolved' })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      await runsNowhere(first, second)
    })

    test('is not corrected while the retry waits to be sent, and says that its batch is to be cancelled first', async () => {
      const { first, second } = await wronglyFound()
      expect(await correct()).toMatchObject({
        why: 'not-found-before',
        reason: saying(new RegExp(`row 1 of batch ${second}.* is PENDING: .*Cancel batch ${second} first`)),
      })
      expect(await everywhere(first, second)).toEqual(['FAILED', 'READY'])
    })

    test('is corrected once the batch that the refusal names is cancelled, also where it is not the first retry', async () => {
      const { first, second } = await wronglyFound()
      await cancel(second)
      const third = await submit(ledger, accountId, [line(second)], AGAIN)
      const said = saying(new RegExp(`Cancel batch ${third} first.*tranche cancel ${third} .*with --correct`))
      for (const over of [{ corrects: true }, { corrects: false }])
        expect(await correct(over)).toMatchObject({ kind: 'refused', reason: said })
      await cancel(third)
      expect(await correct()).toMatchObject({ kind: 'resolved' })
      expect(await statesIn(ledger, first)).toEqual(['APPROVED'])
    })

    test('is not corrected where a request of the retry may have left', async () => {
      const { first, second } = await wronglyFound()
      await settle(ledger, await claimNamed(ledger, second, 'A', LATER), 'IN_DOUBT', { sentAtMs: LATER })
      await resolve('A', { finding: 'send-again', attempt: 2 }, LATER + REST_MS)
      await cancel(second)
      expect(await correct()).toMatchObject({ why: 'not-found-before', reason: saying(/is CANCELLED, and no person/) })
      expect(await everywhere(first, second)).toEqual(['FAILED', 'CANCELLED'])
    })

    test('is none where the gateway refused the row', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      await work(ledger, first, 'A', 'FAILED')
      const second = await retry(first)
      await cancel(second)
      expect(await correct()).toMatchObject({ kind: 'refused', why: 'not-found-before' })
      expect(await everywhere(first, second)).toEqual(['FAILED', 'CANCELLED'])
    })
  })

  describe('resolve: a finding', () => {
    test.each([
      ['approved', 'APPROVED'],
      ['declined', 'DECLINED'],
      ['not-executed', 'FAILED'],
    ] as const)('%s ends the row as %s, with who said so and why', async (finding, state) => {
      const batchId = await inDoubt('A')
      expect(await resolve('A', { finding })).toMatchObject({ kind: 'resolved', batchId, rowNo: 1, state })
      expect(await rowIn(ledger, batchId, 'A')).toMatchObject({
        state,
        reason: `${finding} by clerk@desk: looked it up`,
        completedAtMs: LATER,
      })
      const last = (await ledger.history('A')).at(-1)
      expect(last).toMatchObject({ from: 'IN_DOUBT', to: state, cause: 'resolve', by: 'clerk@desk', attempt: 1 })
      expect((await ledger.batch(batchId))?.counts).toEqual({ [state]: 1 })
      expect(await ledger.doubts()).toEqual([])
    })

    test('send-again is not for a key', async () => {
      await inDoubt('A')
      const key = { kind: 'key' as const, id: 'k1', name: 'billing', address: null }
      const asked = findingOn('A', { restMs: REST_MS, finding: 'send-again' })
      expect(await ledger.resolve(asked, key, LATER)).toMatchObject({ kind: 'refused', why: 'a-key' })
      expect(await ledger.doubts()).toHaveLength(1)
      expect(await ledger.resolve({ ...asked, finding: 'not-executed' }, key, LATER)).toMatchObject({ state: 'FAILED' })
    })

    test('send-again makes the row due at once as the next attempt, marked as ever in doubt', async () => {
      const batchId = await inDoubt('A')
      expect(await resolve('A', { finding: 'send-again' })).toMatchObject({ kind: 'resolved', state: 'READY' })
      const row = await dueRow(ledger, batchId, 'A', LATER)
      expect(row).toMatchObject({ attempt: 1, everInDoubt: true })
      expect(await claim(ledger, row, LATER)).toEqual({ kind: 'claimed', attempt: 2 })
    })

    test('send-again, and then cancelled, the row says that it was in doubt', async () => {
      const batchId = await inDoubt('A')
      await resolve('A', { finding: 'send-again' })
      await ledger.cancel(batchId, 'wrong file', CLERK, LATER)
      const { state, warning } = await rowIn(ledger, batchId, 'A')
      expect([state, warning]).toEqual(['CANCELLED', 'it was in doubt before: see its history'])
    })

    test('keeps the transaction that was found', async () => {
      const batchId = await inDoubt('A')
      await resolve('A', { transactionId: '7001' })
      expect((await rowIn(ledger, batchId, 'A')).facts.transactionId).toBe('7001')
    })

    test('shows nothing of the answer, which may be of another request, and keeps its words', async () => {
      const batchId = await submit(ledger, accountId, [sale('A', '5')])
      const facts = factsWith('7009', { orderId: '42', recordId: '43', amount: '99.00', vaultId: '44' })
      await work(ledger, batchId, 'A', 'IN_DOUBT', { facts, answerText: 'TRANS_ORDER_ID=42' })
      expect((await rowIn(ledger, batchId, 'A')).facts).toEqual(NO_FACTS)
      expect(await ledger.find('A')).toMatchObject([{ state: 'IN_DOUBT', orderId: null, answered: { orderId: null } }])
      expect(JSON.stringify(await ledger.history('A'))).toContain('TRANS_ORDER_ID=42')
    })

    test('said twice changes nothing the second time; another one is refused', async () => {
      const batchId = await inDoubt('A')
      await resolve('A', { transactionId: '7001' })
      const moves = (await ledger.history('A')).length
      expect(await resolve('A', { transactionId: '7001' })).toMatchObject({
        kind: 'already',
        batchId,
        state: 'APPROVED',
      })
      expect(await resolve('A', { transactionId: '7002' })).toMatchObject({ kind: 'refused', why: 'not-in-doubt' })
      expect(await resolve('A', { finding: 'declined' })).toMatchObject({ kind: 'refused', why: 'not-in-doubt' })
      expect((await ledger.history('A')).length).toBe(moves)
    })

    test('frees the order for the rows that waited', async () => {
      const X = { orderId: '5' }
      const batchId = await submit(ledger, accountId, [refund('A', X), refund('B', { ...X, amountMinor: 2n })])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      expect(await dueIn(ledger, batchId, LATER)).toEqual([])
      expect(await ledger.doubts()).toMatchObject([{ holdsUp: 1 }])
      await resolve('A', { finding: 'not-executed' })
      expect((await dueIn(ledger, batchId, LATER)).map((row) => row.instruction.reference)).toEqual(['B'])
    })

    test('makes earlier results stale, of its batch and of batches that repeat the row', async () => {
      const first = await inDoubt('A')
      const second = await submit(ledger, accountId, [refund('A'), refund('B')])
      const write = async (batchId: BatchId) => {
        const reading = await ledger.openReading(batchId, NOW)
        await reading.close()
        await ledger.resultsWritten(batchId, `/${batchId}.csv`, reading.edition)
      }
      const stale = async () =>
        Promise.all([first, second].map(async (batchId) => (await ledger.batch(batchId))?.resultsStale))
      await write(first)
      await write(second)
      expect(await stale()).toEqual([false, false])
      await resolve('A')
      expect(await stale()).toEqual([true, true])
      await write(second)
      expect(await stale()).toEqual([true, false])
    })
  })

  describe('resolve: a finding is refused and changes nothing', () => {
    const nothingMoved = async (batchId: BatchId, answer: unknown, why: string) => {
      expect(answer).toMatchObject({ kind: 'refused', why })
      expect(new Set(await statesIn(ledger, batchId))).toEqual(new Set(['IN_DOUBT']))
    }

    test.each(['not-executed', 'send-again'] as const)(
      'as %s until the request has surely died, though it is true at once that it was executed',
      async (finding) => {
        const batchId = await inDoubt('A')
        await nothingMoved(batchId, await resolve('A', { finding }, LATER - 1), 'too-early')
        expect(await resolve('A', { finding }, LATER)).toMatchObject({ kind: 'resolved' })
        await inDoubt('B')
        expect(await resolve('B', { finding: 'approved' }, SENT_MS)).toMatchObject({ kind: 'resolved' })
      },
    )

    test('until the worker’s rest is over, however short the rest of the person', async () => {
      const at = (ms: number) => resolve('A', { finding: 'send-again', restMs: 0 }, ms)
      await ledger.keepDoubtRest(2 * REST_MS)
      const batchId = await inDoubt('A')
      await place.open().keepDoubtRest(1) // its request was sent under the longer one
      expect(await ledger.doubts()).toMatchObject([{ leftByMs: SENT_MS, restMs: 2 * REST_MS }])
      await nothingMoved(batchId, await at(SENT_MS + 2 * REST_MS - 1), 'too-early')
      expect(await at(SENT_MS + 2 * REST_MS)).toMatchObject({ kind: 'resolved' })
      await ledger.keepDoubtRest(1)
      await inDoubt('B')
      expect(await ledger.doubts()).toMatchObject([{ restMs: 1 }])
    })

    test('while the request of a dead process may be under way, until its send-by or its sweep', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await claimed(ledger, await dueRow(ledger, batchId, 'A'))
      await succeed().sweep(NOW + 5_000) // before its send-by: the process was dead by then
      const at = (ms: number) => resolve('A', { finding: 'send-again' }, ms)
      await nothingMoved(batchId, await at(NOW + 5_000 + REST_MS - 1), 'too-early')
      expect(await at(NOW + 5_000 + REST_MS)).toMatchObject({ kind: 'resolved' })
    })

    test('when it was found a day later, the send-by alone counts', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await claimed(ledger, await dueRow(ledger, batchId, 'A'), NOW, NOW + 15_000)
      const dayLater = NOW + 86_400_000
      await succeed().sweep(dayLater)
      expect(await resolve('A', { finding: 'send-again' }, dayLater)).toMatchObject({ kind: 'resolved' })
    })

    test('when another attempt was looked up than the one in doubt', async () => {
      const batchId = await inDoubt('A')
      await nothingMoved(batchId, await resolve('A', { attempt: 2 }), 'other-attempt')
      await resolve('A', { attempt: 1, finding: 'send-again' })
      const again = await claimed(ledger, await dueRow(ledger, batchId, 'A', LATER), LATER)
      await settle(ledger, again, 'IN_DOUBT', { sentAtMs: LATER })
      await nothingMoved(batchId, await resolve('A', { attempt: 1 }, LATER + REST_MS), 'other-attempt')
      expect(await resolve('A', { attempt: 2 }, LATER)).toMatchObject({ kind: 'resolved' })
    })

    /** In doubt about a second attempt, which left at LATER. */
    async function inDoubtAgain(reference: string): Promise<BatchId> {
      const batchId = await inDoubt(reference)
      await resolve(reference, { finding: 'send-again' })
      const again = await claimed(ledger, await dueRow(ledger, batchId, reference, LATER), LATER)
      await settle(ledger, again, 'IN_DOUBT', { sentAtMs: LATER })
      return batchId
    }

    test.each(['not-executed', 'send-again', 'declined'] as const)(
      'as %s of a later attempt when no attempt is named: it may mean the one before',
      async (finding) => {
        const batchId = await inDoubtAgain('A')
        const answer = await resolve('A', { finding }, LATER + REST_MS)
        await nothingMoved(batchId, answer, 'other-attempt')
        expect(answer).toMatchObject({ reason: saying(/--attempt 2/) })
        expect(await resolve('A', { finding, attempt: 2 }, LATER + REST_MS)).toMatchObject({ kind: 'resolved' })
      },
    )

    test('as declined of a later attempt until its request has surely died', async () => {
      const batchId = await inDoubtAgain('A')
      const at = (ms: number) => resolve('A', { finding: 'declined', attempt: 2, transactionId: '7001' }, ms)
      await nothingMoved(batchId, await at(LATER + REST_MS - 1), 'too-early')
      expect(await at(LATER + REST_MS)).toMatchObject({ kind: 'resolved', state: 'DECLINED' })
      await inDoubtAgain('B')
      expect(await resolve('B', { finding: 'approved' }, LATER)).toMatchObject({ kind: 'resolved' })
    })

    test('when its reference is that of another row than the one that was looked up', async () => {
      const batchId = await inDoubt('0012', '12')
      const row = { batchId, rowNo: 1 } // a spreadsheet made 12 of 0012
      const answer = await resolve('12', { attempt: 1, row, finding: 'send-again' })
      await nothingMoved(batchId, answer, 'other-row')
      expect(await resolve('0012', { attempt: 1, row })).toMatchObject({ kind: 'resolved', rowNo: 1 })
    })

    test('when its transaction settled another row, with zeros in front or without', async () => {
      const batchId = await inDoubt('A', 'B')
      await resolve('A', { transactionId: '7001' })
      const padded = await resolve('B', { transactionId: '007001' })
      expect(padded).toMatchObject({ kind: 'refused', why: 'transaction-taken' })
      expect(await resolve('A', { transactionId: '07001' })).toMatchObject({ kind: 'already' })
      expect(await resolve('B', { transactionId: '7001' })).toMatchObject({ kind: 'refused', why: 'transaction-taken' })
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'IN_DOUBT'])
      await resolve('B', { transactionId: '0099' })
      await inDoubt('C')
      expect(await resolve('C', { transactionId: '99' })).toMatchObject({ kind: 'refused', why: 'transaction-taken' })
    })

    test('as send-again in a cancelled batch', async () => {
      const batchId = await inDoubt('A')
      await ledger.cancel(batchId, 'wrong file', CLERK, NOW)
      await nothingMoved(batchId, await resolve('A', { finding: 'send-again' }), 'cancelled')
    })

    test('of a reference that is not known, or known to several merchants', async () => {
      const other = await openAccount(ledger, 'hotel')
      const batchId = await inDoubt('A')
      expect(await resolve('Z')).toMatchObject({ kind: 'refused', why: 'unknown' })
      const hotels = await submit(ledger, other, [refund('A')])
      expect(await resolve('A', { merchant: 'hotel' })).toMatchObject({ kind: 'refused', why: 'not-in-doubt' })
      await work(ledger, hotels, 'A', 'IN_DOUBT')
      await nothingMoved(batchId, await resolve('A'), 'ambiguous')
      expect(await resolve('A', { merchant: 'hotel' })).toMatchObject({ kind: 'resolved', batchId: hotels })
      expect(await resolve('A')).toMatchObject({ kind: 'resolved', batchId })
    })
  })

  describe('settle after resolve: an answer', () => {
    test('settles a row that was to be sent again', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await resolve('A', { finding: 'send-again' })
      expect(await settle(ledger, row, 'APPROVED', { facts: factsWith('7001') })).toMatchObject({ state: 'APPROVED' })
      expect(await dueIn(ledger, batchId, LATER)).toEqual([])
    })

    test.each([
      ['approved', 'APPROVED', '7001'],
      ['approved', 'APPROVED', null],
      ['declined', 'DECLINED', '7001'],
      ['declined', 'DECLINED', null],
    ] as const)(
      'that says what the person had found is on record, and no person can deny it any more: %s, %s, %s',
      async (finding, state, transactionId) => {
        const batchId = await submit(ledger, accountId, [refund('A')])
        const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
        await resolve('A', { finding, transactionId })
        const answer = { facts: factsWith('7001', { orderId: '42' }), atMs: LATER }
        for (const _ of ['once', 'twice']) expect(await settle(ledger, row, state, answer)).toMatchObject({ state })
        expect((await ledger.history('A')).at(-1)).toMatchObject({ from: state, to: state, cause: 'late-answer' })
        expect((await ledger.history('A')).filter(({ cause }) => cause === 'late-answer')).toHaveLength(1)
        expect((await rowIn(ledger, batchId, 'A')).facts).toMatchObject({ transactionId: '7001', orderId: '42' })
        const { lateAnswers, moneyWarnings, counts } = (await ledger.batch(batchId))!
        expect([lateAnswers, moneyWarnings, counts]).toEqual([0, 0, { [state]: 1 }])
        for (const denied of ['not-executed', finding === 'approved' ? 'declined' : 'approved'] as const)
          expect(await resolve('A', { finding: denied, corrects: true })).toMatchObject({
            ...{ kind: 'refused', why: 'not-found-before' },
            reason: saying(
              new RegExp(`is ${state}, as the gateway answered itself: an answer is no finding to correct`),
            ),
          })
        expect(await statesIn(ledger, batchId)).toEqual([state])
        expect(await auditOf(ledger)).toEqual([])
      },
    )

    test('that says what the person had found, of another amount, pauses the batch as any such answer does', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await resolve('A', { transactionId: '7001' })
      const answer = { facts: factsWith('7001', { amount: '99.00' }), warning: 'answered 99.00', warnsOfMoney: true }
      await settle(ledger, row, 'APPROVED', answer)
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'paused', moneyWarnings: 1, lateAnswers: 0 })
    })

    test('stays beside a row that was ended, and its batch asks for attention until a resume', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await resolve('A', { finding: 'not-executed' })
      await settle(ledger, row, 'APPROVED', { facts: factsWith('7001') })
      expect(await ledger.batch(batchId)).toMatchObject({ lateAnswers: 1, moneyWarnings: 1, counts: { FAILED: 1 } })
      expect((await rowIn(ledger, batchId, 'A')).warning).toContain('7001')
      await ledger.resume(batchId, 'looked at it', CLERK, LATER)
      expect(await ledger.batch(batchId)).toMatchObject({ lateAnswers: 0, moneyWarnings: 1 })
    })

    /** A row called not executed, and the batch in which it runs again. */
    async function retried(): Promise<{ first: BatchId; row: Claimed; second: BatchId }> {
      const first = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, first, 'A', 'IN_DOUBT')
      await resolve('A', { finding: 'not-executed' })
      return { first, row, second: await submit(ledger, accountId, [lineOf(first)], RETRY) }
    }
    const RETRY: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED'], nowMs: LATER, fileSha256: 'bb'.repeat(32) }
    const lineOf = (batchId: BatchId) => rowOf(1, refund('A'), { cameFrom: { batchId, rowNo: 1 } })
    const late = (row: Claimed) => settle(ledger, row, 'APPROVED', { facts: factsWith('7001'), atMs: LATER })

    test('stops the row that runs again in its place: it waits for a person, in doubt', async () => {
      const { first, row, second } = await retried()
      const [due] = await dueIn(ledger, second, LATER)
      expect(await late(row)).toMatchObject({ state: 'FAILED' })
      expect(await statesIn(ledger, first)).toEqual(['FAILED'])
      expect(await rowIn(ledger, second, 'A')).toMatchObject({
        state: 'IN_DOUBT',
        reason: expect.stringMatching(/^it was to be sent again, but it was executed before: .*transaction id 7001/),
      })
      expect(await claim(ledger, due as DueRow, LATER)).toEqual({ kind: 'not-free' })
      expect(await resolve('A', { transactionId: '7001' })).toMatchObject({ kind: 'resolved', batchId: second })
      expect(await auditOf(ledger)).toEqual([])
    })

    test('stops it also when it was claimed already and turns out not to be sent', async () => {
      const { row, second } = await retried()
      const again = await claimNamed(ledger, second, 'A', LATER)
      await late(row)
      expect(await statesIn(ledger, second)).toEqual(['SENDING'])
      expect(await settle(ledger, again, 'READY', { dueAtMs: LATER })).toMatchObject({ state: 'IN_DOUBT' })
      expect(await dueIn(ledger, second, LATER)).toEqual([])
    })

    test('stops a row that was sent again itself and whose next attempt was not sent', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await resolve('A', { finding: 'send-again' })
      await settle(ledger, await claimNamed(ledger, batchId, 'A', LATER), 'READY', { dueAtMs: LATER })
      expect(await late(row)).toMatchObject({ state: 'IN_DOUBT' })
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
    })

    test('keeps it from running once more after the second attempt failed as well', async () => {
      const { row, second } = await retried()
      await settle(ledger, await claimNamed(ledger, second, 'A', LATER), 'FAILED')
      const { draft } = await review(ledger, headerOf(accountId, RETRY), [lineOf(second)])
      await late(row)
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      const { review: reviewed, faults } = await reviewOnly(ledger, headerOf(accountId, RETRY), [lineOf(second)])
      expect(reviewed.accepted).toBe(0)
      expect(faults[0]?.problem).toMatch(/may have been executed after all: .*transaction id 7001/)
    })

    test('ends the canary that the stopped row was the last of', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B')])
      const row = await work(ledger, first, 'A', 'IN_DOUBT')
      await work(ledger, first, 'B', 'FAILED')
      await resolve('A', { finding: 'not-executed' })
      const lines = ['A', 'B'].map((name, i) =>
        rowOf(i + 1, refund(name), { cameFrom: { batchId: first, rowNo: i + 1 } }),
      )
      const second = await submit(ledger, accountId, lines, { ...RETRY, canaryRows: 1 })
      await late(row)
      expect(await ledger.batch(second)).toMatchObject({ hold: 'paused', counts: { IN_DOUBT: 1, READY: 1 } })
    })

    test('makes the row count for look-alikes, of files and messages', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', { orderId: '55' })])
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
      await resolve('A', { finding: 'not-executed' })
      const second = refund('B', { orderId: '55' })
      const lookalikes = async () =>
        (await reviewOnly(ledger, headerOf(accountId, { nowMs: LATER }), [second])).lookalikes
      expect(await lookalikes()).toEqual([])
      await late(row)
      expect(await lookalikes()).toMatchObject([
        {
          like: { reference: 'A', state: 'FAILED' },
          moneyWarning: expect.stringContaining('APPROVED (transaction id 7001)'),
        },
      ])
      expect(await ledger.recordMessage(messageOf(accountId, second, { nowMs: LATER }))).toMatchObject({
        kind: 'refused',
        reason: expect.stringMatching(/it looks like A .*FAILED; .*APPROVED \(transaction id 7001\)/),
      })
    })
  })

  test('a late answer in a cancelled batch can be looked at too, and the batch stays cancelled', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
    const row = await work(ledger, batchId, 'A', 'IN_DOUBT')
    await ledger.cancel(batchId, 'wrong file', CLERK, NOW)
    await resolve('A', { finding: 'not-executed' })
    await settle(ledger, row, 'APPROVED', { facts: factsWith('7001') })
    expect(await ledger.batch(batchId)).toMatchObject({ lateAnswers: 1 })
    await ledger.resume(batchId, 'looked at it', CLERK, LATER)
    expect(await ledger.batch(batchId)).toMatchObject({ lateAnswers: 0, hold: 'cancelled', holdReason: 'wrong file' })
    await expect(ledger.resume(batchId, 'again', CLERK, LATER)).rejects.toThrow('cannot be undone')
  })

  describe('doubts: what waits for one', () => {
    test('says so in its results', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', { orderId: '5' }),
        refund('B', { orderId: '005', amountMinor: 2n }),
        refund('C', { orderId: '6' }),
      ])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      const reasons = (await rowsIn(ledger, batchId)).map(({ reason }) => reason)
      expect(reasons[1]).toBe(`waits for A (row 1 of batch ${batchId}), which names the same order and is in doubt`)
      expect(reasons[2]).toBeNull()
    })

    test('is counted when it is submitted', async () => {
      await inDoubt('A')
      const [doubt] = await ledger.doubts()
      const orderId = doubt?.instruction.orderId ?? null
      const rows = [refund('B', { orderId, amountMinor: 3n }), refund('C', { orderId: '77' })]
      const reviewed = await review(ledger, headerOf(accountId), rows)
      await reviewed.draft.discard()
      expect(reviewed.review).toMatchObject({ accepted: 2, heldByDoubt: 1 })
    })
  })

  describe('doubts: the list', () => {
    test('holds what a person needs to look each one up, and nothing that is settled', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'IN_DOUBT', {
        reason: 'no answer',
        facts: factsWith('9'),
      })
      await work(ledger, batchId, 'B', 'DECLINED')
      expect(await ledger.doubts()).toEqual([
        {
          rowId: expect.any(Number),
          ...{
            batchId,
            rowNo: 1,
            merchant: 'default',
            attempt: 1,
            restMs: 0,
            holdsUp: 0,
            leftByMs: NOW + 100,
            sentAtMs: NOW + 100,
            claimedAtMs: NOW,
          },
          ...{ reason: 'no answer', twoPeople: false, proposal: null, instruction: refund('A') },
        },
      ])
    })
  })
}
