// Files on their way in: nothing is there before all of it is there, and nothing is there twice.

import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { statusOf } from '../../../src/domain/states.ts'
import {
  CLERK,
  claimed,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  EUR,
  faultyRow,
  headerOf,
  messageOf,
  NOW,
  openAccount,
  refund,
  review,
  rowIn,
  rowOf,
  rowsIn,
  sale,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check, taken } from './given.ts'

export function describeDrafts(): void {
  describe('openDraft: a draft', () => {
    test('becomes a batch with every row as it came in, in file order', async () => {
      const rows = Array.from({ length: 1_203 }, (_, i) => refund(`R-${i}`, { amountMinor: BigInt(i + 1) }))
      const { draft, review: reviewed } = await review(ledger, headerOf(accountId), [...rows, faultyRow(1_204, 'bad')])
      expect(reviewed).toMatchObject({ rows: 1_204, accepted: 1_203, duplicate: 0, invalid: 1, lookalikes: 0 })
      const amountMinor = BigInt((1_203 * 1_204) / 2)
      expect(reviewed.totals).toEqual([{ operation: 'REFUND', currency: 'EUR', count: 1_203, amountMinor }])

      const batchId = await draft.record(CLERK)
      const recorded = await rowsIn(ledger, batchId)
      expect(recorded.map((row) => [row.rowNo, row.reference, row.state, row.amountMinor])).toEqual([
        ...rows.map((row, i) => [i + 1, row.reference, 'READY', row.money?.amountMinor]),
        [1_204, 'bad', 'INVALID', null],
      ])
      expect(recorded.at(-1)?.reason).toContain('amount: not an amount')
      const view = await ledger.batch(batchId)
      expect(view).toMatchObject({
        rows: 1_204,
        counts: { READY: 1_203, INVALID: 1 },
        createdBy: 'clerk@desk',
        hold: 'none',
      })
      expect((await dueIn(ledger, batchId)).length).toBe(1_000)
    })

    test('gives a due row back as the instruction that came in', async () => {
      const instruction = sale('S-1', '000123', {
        saveCardOnFile: true,
        details: { cust_fname: 'Ada', bill_addr_zip: '01234' },
        executeAtMs: NOW - 1,
        money: { amountMinor: 999_999_999_999_999n, currency: EUR },
      })
      const batchId = await submit(ledger, accountId, [instruction])
      expect((await dueRow(ledger, batchId, 'S-1')).instruction).toEqual(instruction)
    })

    test('is invisible before it is recorded, and whole from then on', async () => {
      const other = place.open()
      const { draft } = await review(ledger, headerOf(accountId), [refund('A'), refund('B')])
      const seen = async () => [
        await other.batches(),
        await other.workable(NOW, 100),
        await other.history('A'),
        await other.findUnfinished(headerOf(accountId)),
      ]
      expect(await seen()).toEqual([[], [], [], null])
      const recording = draft.record(CLERK)
      let recorded = false
      const done = recording.then(() => {
        recorded = true
      })
      // Copying takes several turns of the event loop; at each of them the others see nothing or everything.
      while (!recorded) {
        const batches = await other.batches()
        expect(batches.map(({ counts }) => counts)).toEqual(batches.length === 0 ? [] : [{ READY: 2 }])
        await new Promise((resolve) => setImmediate(resolve))
      }
      await done
      const batchId = await recording
      expect(await other.workable(NOW, 100)).toEqual([{ batchId, accountId, due: 2 }])
      expect(await other.findUnfinished(headerOf(accountId))).toEqual({ batchId, fingerprint: '{}', givenUp: false })
    })

    test('leaves nothing when it is discarded', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [refund('A')])
      await draft.discard()
      expect(await ledger.batches()).toEqual([])
      expect((await check([refund('A', { amountMinor: 5n })])).review.accepted).toBe(1)
    })

    test('that is only looked at waits for none, sees no other draft, and cannot be recorded', async () => {
      const other = place.open()
      const { draft: first } = await review(ledger, headerOf(accountId), [refund('A')])
      const looked = await review(other, headerOf(accountId, { lookOnly: true }), [refund('A', { amountMinor: 5n })])
      expect(looked.review).toMatchObject({ accepted: 1, duplicate: 0, invalid: 0 })
      await expect(looked.draft.record(CLERK)).rejects.toThrow('only to be looked at')
      await first.record(CLERK)
      const again = await review(other, headerOf(accountId, { lookOnly: true }), [refund('A', { amountMinor: 5n })])
      expect(again.review).toMatchObject({ accepted: 0, invalid: 1 })
    })

    test('waits for the one before it, on any connection', async () => {
      const other = place.open()
      const first = await ledger.openDraft(headerOf(accountId))
      let opened = false
      const second = other.openDraft(headerOf(accountId)).then((draft) => {
        opened = true
        return draft
      })
      await first.add([rowOf(1, refund('A'))])
      await first.review()
      expect(opened).toBe(false)
      await first.record(CLERK)
      const draft = await second
      await draft.add([rowOf(1, refund('A'))])
      expect((await draft.review()).duplicate).toBe(1) // it sees what the first one recorded
      await draft.discard()
    })
  })

  describe('openDraft: a reference', () => {
    test('that stands twice in a file is a fault in both rows', async () => {
      const { review: reviewed, faults } = await check([refund('A'), refund('B'), refund('A', { amountMinor: 5n })])
      expect(faults.map(({ rowNo, column, value }) => [rowNo, column, value])).toEqual([
        [1, 'reference', 'A'],
        [3, 'reference', 'A'],
      ])
      expect(reviewed).toMatchObject({ accepted: 1, invalid: 2 })
    })

    test('that is recorded with the same content is a DUPLICATE of the first row and never due', async () => {
      const first = await submit(ledger, accountId, [refund('other'), refund('A')])
      await work(ledger, first, 'A', 'APPROVED')
      const second = await submit(ledger, accountId, [refund('A', { orderId: `000${refund('A').orderId}` })])
      expect(await statesIn(ledger, second)).toEqual(['DUPLICATE'])
      expect((await rowIn(ledger, second, 'A')).reason).toBe(
        `the same instruction is row 2 of batch ${first}: APPROVED; not sent again`,
      )
      expect(await dueIn(ledger, second)).toEqual([])
      expect(await ledger.workable(NOW, 10, second)).toEqual([])
    })

    test.each([
      ['amount', { amountMinor: 1_001n }],
      ['order', { orderId: '77' }],
      ['time', { executeAtMs: NOW + DAY_MS }],
      ['operation', { operation: 'CANCEL' as const }],
    ])('that is recorded with another %s is a fault', async (_what, change) => {
      await submit(ledger, accountId, [refund('A')])
      const { review: reviewed, faults } = await check([refund('A', change)])
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 0, invalid: 1 })
      expect(faults[0]?.problem).toContain('recorded with other content')
      expect(faults[0]?.remedy).toContain(
        'is not sent yet: to have this one in its place, cancel or reject that batch first',
      )
    })

    test('belongs to one account: the same one of another account is free', async () => {
      await submit(ledger, accountId, [refund('A')])
      const { review: reviewed } = await check([refund('A')], { accountId: await openAccount(ledger, 'second') })
      expect(reviewed.accepted).toBe(1)
    })

    test('is not taken by an INVALID row', async () => {
      await submit(ledger, accountId, [faultyRow(1, 'A')])
      expect((await check([refund('A')])).review.accepted).toBe(1)
    })

    test('that a message takes between review and record undoes the whole draft', async () => {
      const rows = Array.from({ length: 700 }, (_, i) => refund(`R-${i}`))
      const { draft } = await review(ledger, headerOf(accountId), rows)
      const taken = await ledger.recordMessage({
        ...{
          accountId,
          instruction: refund('R-650'),
          runKey: null,
          allowLookalikeOf: null,
          accept: [],
          lookalikeDays: 20,
          captureTolerance: 0,
          dailyLimits: null,
          allowAboveLimit: false,
          into: 'day',
          cells: {},
        },
        nowMs: NOW,
      })
      expect(taken.kind).toBe('accepted')
      await expect(draft.record(CLERK)).rejects.toMatchObject({ name: 'Fault', code: 'refused' })
      expect((await ledger.batches()).map(({ source }) => source)).toEqual(['queue'])
      // Nothing of it is held: every other reference is free.
      expect((await check(rows)).review).toMatchObject({ accepted: 699, duplicate: 1 })
    })
  })

  describe('openDraft: an xtl_order_id', () => {
    const of = (reference: string, xtlOrderId: string, over: Partial<Instruction> = {}) =>
      sale(reference, `9${reference.length}${reference.charCodeAt(0)}`, { xtlOrderId, ...over })

    test('that stands in two rows of a file is a fault in both, in other words too', async () => {
      const { review: reviewed, faults } = await check([of('A', 'X1'), of('B', 'X2'), of('C', 'X1'), of('X2', '00X2')])
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 4 })
      expect(faults.map(({ rowNo, column, value, problem }) => [rowNo, column, value, problem])).toEqual(
        [
          [1, 'X1', 4],
          [2, 'X2', 5],
          [3, 'X1', 2],
          [4, '00X2', 3],
        ].map(([rowNo, value, line]) => [
          ...[rowNo, 'xtl_order_id', value],
          `the xtl_order_id is in more than one row of this file (line ${line})`,
        ]),
      )
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'of a recorded %s row is taken where money may have moved by it or may yet move',
      async (state) => {
        const batchId = await submit(ledger, accountId, [of('A', 'X1')])
        if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state !== 'READY') await work(ledger, batchId, 'A', state)
        const counts = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        const { faults } = await check([of('BB', '0X1')])
        expect(faults.map(({ column, problem }) => [column, problem])).toEqual(
          counts
            ? [
                [
                  'xtl_order_id',
                  `the xtl_order_id is that of another instruction (row 1 of batch ${batchId}, ${statusOf(state)})`,
                ],
              ]
            : [],
        )
      },
    )

    test('of a charge that was approved is never free again, but under another run key after 20 days', async () => {
      const batchId = await submit(ledger, accountId, [of('nov/A', 'X1')], { runKey: 'nov' })
      await work(ledger, batchId, 'nov/A', 'APPROVED', { sentAtMs: NOW })
      const invalid = async (days: number, runKey: string | null) =>
        (await check([of('B', 'X1')], { runKey, nowMs: NOW + days * DAY_MS })).review.invalid
      expect([await invalid(30, null), await invalid(400, null), await invalid(400, 'nov')]).toEqual([1, 1, 1])
      expect([await invalid(20, 'dec'), await invalid(21, 'dec')]).toEqual([1, 0])
    })

    test('stays with a row that runs again, and with one that is handed in again', async () => {
      const first = await submit(ledger, accountId, [of('A', 'X1'), of('BB', 'X2')])
      await work(ledger, first, 'A', 'FAILED')
      const lines = [of('A', 'X1'), of('BB', 'X2')].map((row, i) =>
        rowOf(i + 1, row, { cameFrom: { batchId: first, rowNo: i + 1 } }),
      )
      const { review: again } = await check(lines, { fedBack: true, retry: ['FAILED'] })
      expect(again).toMatchObject({ accepted: 1, duplicate: 1, invalid: 0 })
    })

    test('is not taken by an unsendable row, another account, or the authorization of a capture', async () => {
      const second = await openAccount(ledger, 'second')
      await submit(ledger, second, [of('A', 'X1')])
      const bad = rowOf(1, of('A', 'X1'), { faults: faultyRow(1, 'A').faults })
      await submit(ledger, accountId, [bad, rowOf(2, of('BB', 'X2', { operation: 'AUTH' }))])
      const capture = of('CCC', 'X2', { operation: 'CAUTH', orderId: '55', vaultId: null })
      expect((await check([of('DDDD', 'X1'), capture])).review).toMatchObject({ accepted: 2, invalid: 0 })
    })

    test('that a message takes between review and record undoes the whole draft', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [of('A', 'X1')])
      await place.open().recordMessage(messageOf(accountId, of('BB', 'X1')))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      expect((await ledger.batches()).map(({ source }) => source)).toEqual(['queue'])
    })
  })

  describe('findUnfinished: the same bytes again', () => {
    const find = (over: Partial<DraftHeader> = {}) => ledger.findUnfinished(headerOf(accountId, over))

    test('are the batch that is unfinished', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')], { fingerprint: 'how it was read' })
      expect(await find()).toEqual({ batchId, fingerprint: 'how it was read', givenUp: false })
    })

    test('are the finished batch whose results were never written, and no batch once they were', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'APPROVED')
      expect(await find()).toMatchObject({ batchId })
      await ledger.resultsWritten(batchId, '/out.csv', { version: 1, lastMove: 0 })
      expect(await find()).toBeNull()
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT'] as const)(
      'are the batch with a row %s, results or not',
      async (state) => {
        const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
        await work(ledger, batchId, 'B', 'APPROVED')
        if (state !== 'READY') {
          const row = await claimed(ledger, await dueRow(ledger, batchId, 'A'))
          if (state === 'IN_DOUBT') await settle(ledger, row, 'IN_DOUBT')
        }
        await ledger.resultsWritten(batchId, '/out.csv', { version: 1, lastMove: 0 })
        expect(await find()).toMatchObject({ batchId })
      },
    )

    test('under another run key, of another account or other bytes are another batch', async () => {
      await submit(ledger, accountId, [refund('A')], { runKey: '2026-11' })
      expect(await find({ runKey: '2026-12' })).toBeNull()
      expect(await find({ runKey: null })).toBeNull()
      expect(await find({ runKey: '2026-11', fileSha256: 'bb'.repeat(32) })).toBeNull()
      expect(await find({ runKey: '2026-11', accountId: await openAccount(ledger, 'second') })).toBeNull()
      expect(await find({ runKey: '2026-11' })).not.toBeNull()
    })
  })

  describe('account: accounts', () => {
    test('are one per address and user, for every connection', async () => {
      expect(await openAccount(place.open())).toBe(accountId)
    })

    test('take no second name', async () => {
      await expect(ledger.account('alias', 'https://default.gateway.example', 'merchant', NOW)).rejects.toMatchObject({
        code: 'config',
      })
    })

    test('are known by their user name at another address too, until it is said that they are others', async () => {
      const atNewAddress = (own: boolean) => ledger.account('shop', 'https://shop.example', 'merchant', NOW, own)
      await expect(atNewAddress(false)).rejects.toMatchObject({ code: 'config' })
      expect(await atNewAddress(true)).not.toBe(accountId)
      expect(await atNewAddress(false)).toBe(await atNewAddress(true))
    })

    test('do not change their address or user', async () => {
      await expect(ledger.account('default', 'https://default.gateway.example', 'someone', NOW)).rejects.toMatchObject({
        code: 'config',
      })
      await expect(ledger.account('default', 'https://elsewhere.example', 'merchant', NOW)).rejects.toMatchObject({
        code: 'config',
      })
    })
  })

  describe('record: a reviewed file', () => {
    const ROWS = Array.from({ length: 600 }, (_, i) => refund(`R-${i}`)) // more than are copied at a time
    const last = ROWS[599] as (typeof ROWS)[number]
    const reviewed = () => review(ledger, headerOf(accountId), ROWS)

    /** Nothing of the file is there, and it can be submitted once more. */
    async function expectOnly(message: BatchId): Promise<void> {
      expect((await ledger.batches()).map((batch) => batch.batchId)).toEqual([message])
      expect(await dueIn(ledger, message)).toHaveLength(1)
      expect(await ledger.history('R-0')).toEqual([])
      expect(await ledger.findUnfinished(headerOf(accountId))).toBeNull()
    }

    test('is refused, and stays invisible, once a message has come that looks like one of its rows', async () => {
      const { draft } = await reviewed()
      const { batchId } = await taken('other', { orderId: last.orderId })
      await expect(draft.record(CLERK)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('Nothing was recorded and nothing was sent. Try again'),
      })
      await expectOnly(batchId)
      const again = await reviewed()
      expect(again.review.lookalikes).toBe(1) // now somebody is asked
      await again.draft.discard()
    })

    test('is refused once a sale has come as a message that looks like one of its sales', async () => {
      const { draft } = await review(ledger, headerOf(accountId), [sale('S-1', '501')])
      await place.open().recordMessage(messageOf(accountId, sale('other', '501')))
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
    })

    test('is refused, and nothing of it is visible, once a message has taken one of its references', async () => {
      const { draft } = await reviewed()
      const { batchId } = await taken(last.reference)
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      await expectOnly(batchId)
      const again = await reviewed()
      expect(again.review).toMatchObject({ accepted: 599, duplicate: 1 })
      await again.draft.discard()
    })

    test('is recorded where a message came that repeats or resembles nothing of it', async () => {
      const { draft } = await reviewed()
      await taken('other', { orderId: last.orderId, amountMinor: 5_000n }) // more than the file refunds of that order
      const second = await openAccount(ledger, 'second')
      await place.open().recordMessage(messageOf(second, { ...last, reference: 'another' }))
      const batchId = await draft.record(CLERK)
      expect((await ledger.batch(batchId))?.counts).toEqual({ READY: 600 })
    })
  })
}
