// Messages of other services: known by their reference, recorded before anyone is told.

import { describe, expect, test } from 'vitest'
import type { AccountId, BatchId } from '../../../src/domain/ids.ts'
import type { IntakeMessage } from '../../../src/ports/ledger/intake.ts'
import {
  CLERK,
  DAY_MS,
  dueIn,
  dueRow,
  listOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  rowsIn,
  sale,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { taken } from './given.ts'

export function describeMessages(): void {
  describe('recordMessage: a message', () => {
    test('is in the record, due, when its promise resolves', async () => {
      const other = place.open()
      const answer = await ledger.recordMessage(messageOf(accountId, refund('A')))
      if (answer.kind !== 'accepted') throw new Error(answer.kind)
      expect(await other.batch(answer.batchId)).toMatchObject({ source: 'queue', rows: 1, counts: { READY: 1 } })
      expect(await dueRow(other, answer.batchId, 'A')).toMatchObject({ rowNo: answer.rowNo, instruction: refund('A') })
    })

    test('recorded again is the same row and tells where it stands, on any day', async () => {
      const first = await ledger.recordMessage(messageOf(accountId, refund('A')))
      if (first.kind !== 'accepted') throw new Error(first.kind)
      await work(ledger, first.batchId, 'A', 'DECLINED')
      const again = await place.open().recordMessage(messageOf(accountId, refund('A'), { nowMs: NOW + 3 * DAY_MS }))
      expect(again).toEqual({ ...first, kind: 'duplicate', state: 'DECLINED', recordedAtMs: NOW })
      expect(await rowsIn(ledger, first.batchId)).toHaveLength(1)
    })

    test('handed in many times at once is taken once', async () => {
      const other = place.open()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? ledger : other).recordMessage(messageOf(accountId, refund('A'))),
        ),
      )
      expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1)
      expect(answers.filter(({ kind }) => kind === 'duplicate')).toHaveLength(19)
    })

    test('under another spelling of a known run key is refused, whoever had the key first', async () => {
      await submit(ledger, accountId, [sale('2026-11/A', '7')], { runKey: '2026-11' })
      const under = (runKey: string, vaultId: string) =>
        ledger.recordMessage(messageOf(accountId, sale(`${runKey}/${vaultId}`, vaultId), { runKey }))
      expect(await under('11-2026', '8')).toEqual({
        kind: 'refused',
        reason: expect.stringContaining('run_key: is another spelling of 2026-11'),
      })
      expect(await under('december-2026', '9')).toMatchObject({ kind: 'accepted' })
      await expect(submit(ledger, accountId, [sale('2026-12/C', '10')], { runKey: '2026-12' })).rejects.toThrow(
        '2026-12 is another spelling of december-2026',
      )
      expect(await under('2026-11', '11')).toMatchObject({ kind: 'accepted' })
    })

    test('under the name of a month that was used a year ago leaves that month of this year to its own key', async () => {
      const charge = (runKey: string, vaultId: string, nowMs: number) =>
        ledger.recordMessage(messageOf(accountId, sale(`${runKey}/${vaultId}`, vaultId), { runKey, nowMs }))
      const [june, next] = [Date.UTC(2026, 5, 3), Date.UTC(2027, 5, 3)]
      expect(await charge('june', '7', june)).toMatchObject({ kind: 'accepted' })
      expect(await charge('2026-06', '8', june)).toMatchObject({
        reason: expect.stringContaining('another spelling of june'),
      })
      expect(await charge('june', '7', next)).toMatchObject({ kind: 'duplicate' })
      expect(await charge('june', '9', next)).toMatchObject({ kind: 'accepted' })
      expect(await charge('2027-06', '10', next)).toMatchObject({ kind: 'accepted' })
      expect(await charge('6-2027', '11', next)).toMatchObject({
        reason: expect.stringContaining('another spelling of 2027-06'),
      })
    })

    test('with a recorded reference and other content is refused', async () => {
      await submit(ledger, accountId, [refund('file')])
      await ledger.recordMessage(messageOf(accountId, refund('message')))
      for (const reference of ['file', 'message']) {
        const answer = await ledger.recordMessage(messageOf(accountId, refund(reference, { amountMinor: 1n })))
        expect(answer).toMatchObject({
          kind: 'refused',
          reason: expect.stringContaining('recorded with other content'),
        })
      }
    })

    test('that repeats a row of a file is a duplicate of it', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      expect(await ledger.recordMessage(messageOf(accountId, refund('A')))).toEqual({
        kind: 'duplicate',
        recordedAtMs: NOW,
        batchId,
        rowNo: 1,
        state: 'READY',
      })
    })

    test('is told in its history when it came, not when the first of its day did', async () => {
      await taken('M-1')
      await taken('M-2', {}, NOW + 60_000)
      const arrivals = await Promise.all(['M-1', 'M-2'].map((reference) => ledger.history(reference)))
      expect(arrivals.map(([first]) => first?.atMs)).toEqual([NOW, NOW + 60_000])
    })

    test('joins the batch of its day and account', async () => {
      const second = await openAccount(ledger, 'second')
      const batchOf = async (reference: string, account: AccountId, nowMs: number) => {
        const answer = await ledger.recordMessage(messageOf(account, refund(reference), { nowMs }))
        if (answer.kind !== 'accepted') throw new Error(answer.kind)
        return [answer.batchId, answer.rowNo]
      }
      const [today, firstRow] = await batchOf('A', accountId, NOW)
      expect(firstRow).toBe(1)
      expect(await batchOf('B', accountId, NOW + 1)).toEqual([today, 2])
      expect((await batchOf('C', accountId, NOW + DAY_MS))[0]).not.toBe(today)
      expect((await batchOf('D', second, NOW))[0]).not.toBe(today)
    })

    test('that looks like another row is refused until it says that it is a second one', async () => {
      await submit(ledger, accountId, [sale('A', '7')])
      const answer = await ledger.recordMessage(messageOf(accountId, sale('B', '007')))
      expect(answer).toMatchObject({
        kind: 'refused',
        reason: expect.stringMatching(/^lookalike: it looks like A .*set allow_lookalike_of to "A"$/),
      })
      const naming = (reference: string, allowLookalikeOf: string) =>
        ledger.recordMessage(messageOf(accountId, sale(reference, '007'), { allowLookalikeOf }))
      expect(await naming('B', 'X')).toEqual(answer)
      expect(await naming('B', 'A')).toMatchObject({ kind: 'accepted' })
      // The same answer lets no third one through: it looks like the second.
      expect(await naming('C', 'A')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('to "B"') })
      expect(await naming('C', 'B')).toMatchObject({ kind: 'accepted' })
    })

    test('with the xtl_order_id of another instruction is refused, whatever it allows', async () => {
      const file = await submit(ledger, accountId, [sale('A', '7', { xtlOrderId: 'X1' })])
      const second = sale('B', '8', { xtlOrderId: 'X1' })
      expect(await ledger.recordMessage(messageOf(accountId, second, { allowLookalikeOf: 'A' }))).toEqual({
        kind: 'refused',
        reason: `xtl_order_id_taken: X1 is that of A (row 1 of batch ${file}, PENDING). Give each instruction one of its own, or leave it out`,
        looksLike: { batchId: file, rowNo: 1, reference: 'A', state: 'READY' },
      })
      await work(ledger, file, 'A', 'FAILED')
      expect((await ledger.recordMessage(messageOf(accountId, second))).kind).toBe('accepted')
    })

    test('is compared with all that is not settled, and with what was approved in the last 30 days', async () => {
      const first = await ledger.recordMessage(messageOf(accountId, sale('A', '7')))
      if (first.kind !== 'accepted') throw new Error(first.kind)
      const at = (days: number) =>
        ledger
          .recordMessage(messageOf(accountId, sale(`B-${days}`, '7'), { nowMs: NOW + days * DAY_MS }))
          .then(({ kind }) => kind)
      expect(await at(400)).toBe('refused')
      await work(ledger, first.batchId, 'A', 'APPROVED', { sentAtMs: NOW })
      expect(await at(30)).toBe('refused')
      expect(await at(31)).toBe('accepted')
    })

    test('of another run key is measured by the shorter window once the row it looks like was sent', async () => {
      const first = await ledger.recordMessage(messageOf(accountId, sale('A', '7'), { runKey: 'nov' }))
      if (first.kind !== 'accepted') throw new Error(first.kind)
      const at = (days: number, runKey: string | null) =>
        ledger
          .recordMessage(messageOf(accountId, sale('B', '7'), { runKey, nowMs: NOW + days * DAY_MS }))
          .then(({ kind }) => kind)
      expect(await at(25, 'dec')).toBe('refused') // A has still to be sent
      await work(ledger, first.batchId, 'A', 'APPROVED', { sentAtMs: NOW })
      expect(await at(25, 'nov')).toBe('refused')
      expect(await at(25, null)).toBe('refused')
      expect(await at(20, 'dec')).toBe('refused')
      expect(await at(25, 'dec')).toBe('accepted')
    })

    test('is held back by no draft that is only being read', async () => {
      const draft = await place.open().openDraft({
        ...{ accountId, fileName: 'f', fileSha256: 'cc', runKey: null, columns: [], fingerprint: '', sandbox: false },
        ...{
          fedBack: false,
          retry: [],
          lookalikeDays: 20,
          captureTolerance: 0,
          nowMs: NOW,
          canaryRows: null,
          maxDeclinedPercent: null,
        },
      })
      expect(await ledger.recordMessage(messageOf(accountId, refund('A')))).toMatchObject({ kind: 'accepted' })
      await draft.discard()
    })
  })

  describe('recordMessage: a message that may come again by itself', () => {
    const source = (sourceId: string) => ({
      ifRefused: { sourceId, accountName: 'default', text: '{}', cards: null, reference: 'B' },
    })
    const hand = (one = ledger, over: Partial<IntakeMessage> = source('queue/1')) =>
      one.recordMessage(messageOf(accountId, sale('B', '7'), over))
    const kept = async () => (await ledger.refusals({ sinceMs: null, merchant: null, most: 10 })).refusals

    test('and was refused stays refused, whatever became of what it looked like; handed in anew it is judged anew', async () => {
      const file = await submit(ledger, accountId, [sale('A', '7')])
      const refused = await hand()
      const looksLike = { reference: 'A', batchId: file, rowNo: 1, state: 'READY' }
      const reason = expect.stringContaining('it looks like A')
      expect(refused).toEqual({ kind: 'refused', reason, looksLike })
      await work(ledger, file, 'A', 'DECLINED')
      const again = await hand(place.open())
      expect(again).toEqual({ ...refused, looksLike: undefined })
      expect((await ledger.batches()).map(({ rows }) => rows)).toEqual([1])
      expect(await hand(ledger, source('queue/2'))).toMatchObject({ kind: 'accepted' })
      expect(await hand()).toEqual({ ...again, looksLike: expect.objectContaining({ reference: 'B' }) })
      expect(await ledger.refusedBefore('queue/2')).toBe(null)
    })

    test('is refused and kept in one step, once, with the reason', async () => {
      await submit(ledger, accountId, [sale('A', '7')])
      const other = place.open()
      const answers = await Promise.all([hand(), hand(other), hand(), hand(other)])
      const [reason] = answers.map((answer) => (answer.kind === 'refused' ? answer.reason : ''))
      expect(answers).toMatchObject(Array(4).fill({ kind: 'refused', reason, looksLike: { reference: 'A' } }))
      expect(await kept()).toEqual([
        { sourceId: 'queue/1', merchant: 'default', reasons: [reason], text: '{}', atMs: NOW },
      ])
    })

    test('stays refused also where something else was said of it, and where a purge took what was said', async () => {
      const refusal = { ...source('queue/1').ifRefused, reasons: ['amount: is missing', 'not known'], nowMs: NOW }
      await ledger.recordRefusal(refusal)
      expect(await hand()).toEqual({ kind: 'refused', reason: 'amount: is missing; not known' })
      await ledger.recordRefusal({ ...refusal, sourceId: 'queue/2', reasons: [] })
      expect(await hand(ledger, source('queue/2'))).toEqual({
        kind: 'refused',
        reason: expect.stringMatching(/^it was refused before, .*nothing of it was recorded/),
      })
      expect(await ledger.batches()).toEqual([])
    })

    test('and that nobody refused is a duplicate when it comes again', async () => {
      const first = await hand()
      expect(first).toMatchObject({ kind: 'accepted' })
      expect(await hand()).toMatchObject({ ...first, kind: 'duplicate' })
      expect(await kept()).toEqual([])
    })
  })

  describe('recordMessage: an enormous amount', () => {
    const MOST = 999_999_999_999_999n

    test('is refused once its day adds up to more than can be counted; other days go on', async () => {
      const take = (n: number, amountMinor: bigint, over: Partial<IntakeMessage> = {}) =>
        ledger.recordMessage(messageOf(accountId, refund(`R-${n}`, { amountMinor, orderId: String(n + 1) }), over))
      const answers = await Promise.all(Array.from({ length: 4_500 }, (_, n) => take(n, MOST)))
      const kinds = answers.map(({ kind }) => kind)
      expect(kinds.indexOf('refused')).toBeGreaterThan(3_900)
      expect(kinds.lastIndexOf('accepted')).toBeLessThan(4_400)
      expect(answers.at(-1)).toEqual({
        kind: 'refused',
        reason: expect.stringMatching(
          /^the messages of this day add up to more than can be counted exactly .*batch \S+/,
        ),
      })
      const [day] = await ledger.batches()
      const accepted = kinds.filter((kind) => kind === 'accepted').length
      expect(day?.totals).toMatchObject([{ state: 'READY', count: accepted, amountMinor: MOST * BigInt(accepted) }])

      expect(await take(9_001, 1_000n)).toMatchObject({ kind: 'refused' })
      expect(await take(9_001, 1_000n, { nowMs: NOW + DAY_MS })).toMatchObject({ kind: 'accepted' })
      expect(
        await ledger.recordMessage(messageOf(await openAccount(ledger, 'second'), refund('R-9001'))),
      ).toMatchObject({ kind: 'accepted' })
      // Once a person has found that they are wrong and has cancelled them, the day goes on in another batch.
      await ledger.cancel(day?.batchId as BatchId, 'nonsense', CLERK, NOW)
      expect(await take(9_002, 1_000n)).toMatchObject({ kind: 'accepted' })
    })
  })

  describe('recordRefusal: refusals', () => {
    test('are kept once per source, and saying one again is no error', async () => {
      const kept = { accountName: 'default', reasons: ['no amount'], text: '{}', cards: null, nowMs: NOW }
      const refusal = { ...kept, sourceId: 'queue/1' }
      await ledger.recordRefusal(refusal)
      await place.open().recordRefusal({ ...refusal, reasons: ['something else'], nowMs: NOW + 1 })
      await ledger.recordRefusal({ ...refusal, sourceId: 'queue/2' })
    })

    test('for card data are told in the log of acts, once per source and without their text', async () => {
      const text = 'withheld: it held card data'
      const refusal = {
        accountName: 'default',
        reasons: ['holds card data'],
        text,
        cards: 'it held card data',
        nowMs: NOW,
      }
      await ledger.recordRefusal({ ...refusal, sourceId: 'queue/1' })
      await ledger.recordRefusal({ ...refusal, sourceId: 'queue/1' })
      await ledger.recordRefusal({ ...refusal, sourceId: 'queue/2', cards: null })
      expect(await listOf(ledger.log(null))).toMatchObject([
        {
          ...{ atMs: NOW, what: 'card-refused', by: 'worker', actor: null, reason: 'it held card data' },
          details: { source: 'message', message: 'queue/1', merchant: 'default' },
        },
      ])
    })
  })

  describe('recordMessage: messages of a day whose batch was cancelled', () => {
    test('go into a new batch of that day and are due; those before them stay cancelled', async () => {
      const { batchId: first } = await taken('A')
      await ledger.cancel(first, 'wrong price list', CLERK, NOW)
      const b = await taken('B', {}, NOW + 1)
      const c = await taken('C', {}, NOW + 2)
      expect([b.batchId === first, c.batchId, c.rowNo]).toEqual([false, b.batchId, 2])
      expect((await dueIn(ledger, b.batchId, NOW + 2)).map((row) => row.instruction.reference)).toEqual(['B', 'C'])
      expect(await ledger.finishCancelling(NOW + 3)).toBe(0)
      expect([await statesIn(ledger, first), await statesIn(ledger, b.batchId)]).toEqual([
        ['CANCELLED'],
        ['READY', 'READY'],
      ])
      expect(await taken('A', {}, NOW + 4)).toMatchObject({ kind: 'duplicate', batchId: first, state: 'CANCELLED' })
    })

    test('may be cancelled as often as there is reason', async () => {
      const batches: BatchId[] = []
      for (const reference of ['A', 'B', 'C']) {
        const { batchId } = await taken(reference)
        batches.push(batchId)
        await ledger.cancel(batchId, 'no', CLERK, NOW)
      }
      expect(new Set(batches).size).toBe(3)
    })
  })
}
