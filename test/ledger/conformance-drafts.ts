// Files on their way in: nothing is there before all of it is there, and nothing is there twice.

import { describe, expect, test } from 'vitest'
import type { DraftHeader, DraftRow, RetryStatus } from '../../src/domain/draft.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { Finding } from '../../src/domain/resolution.ts'
import {
  CLERK,
  claim,
  claimed,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  EUR,
  factsWith,
  faultyRow,
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
} from '../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../fixtures/use-ledger.ts'

export function describeDrafts(): void {
  const check = (rows: readonly (Instruction | DraftRow)[], over: Partial<DraftHeader> = {}) =>
    reviewOnly(ledger, headerOf(accountId, over), rows)

  describe('a draft', () => {
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

    test('is seen by nobody before it is recorded, and whole from then on', async () => {
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

    test('that is only looked at waits for nobody, sees nothing of another draft, and cannot be recorded', async () => {
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

  describe('a reference', () => {
    test('that stands twice in a file is a fault in both rows', async () => {
      const { review: reviewed, faults } = await check([refund('A'), refund('B'), refund('A', { amountMinor: 5n })])
      expect(faults.map(({ rowNo, column, value }) => [rowNo, column, value])).toEqual([
        [1, 'reference', 'A'],
        [3, 'reference', 'A'],
      ])
      expect(reviewed).toMatchObject({ accepted: 1, invalid: 2 })
    })

    test('that is recorded with the same content is a DUPLICATE, points at the first row and is never due', async () => {
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
          allowLookalike: true,
          lookalikeDays: 20,
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

  describe('an xtl_order_id', () => {
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
          `the xtl_order_id stands in more than one row of this file (line ${line})`,
        ]),
      )
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'of a recorded row that is %s is taken where money has or may have moved by it, or is going to',
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
                  `the xtl_order_id is that of another instruction (row 1 of batch ${batchId}, ${state})`,
                ],
              ]
            : [],
        )
      },
    )

    test('of a charge that was approved is free after 30 days, under another run key after 20', async () => {
      const batchId = await submit(ledger, accountId, [of('nov/A', 'X1')], { runKey: 'nov' })
      await work(ledger, batchId, 'nov/A', 'APPROVED', { sentAtMs: NOW })
      const invalid = async (days: number, runKey: string | null) =>
        (await check([of('B', 'X1')], { runKey, nowMs: NOW + days * DAY_MS })).review.invalid
      expect([await invalid(30, null), await invalid(31, null)]).toEqual([1, 0])
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

    test('is not taken by a row that cannot be sent, by another account, or by the authorization of a capture', async () => {
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

  describe('results fed back', () => {
    /** One row of each ending: `ok` APPROVED, `no` FAILED, `off` CANCELLED, `bad` INVALID, `odd` DECLINED. */
    async function finished(): Promise<BatchId> {
      const batchId = await submit(ledger, accountId, [
        rowOf(1, refund('ok')),
        rowOf(2, refund('no')),
        rowOf(3, refund('off')),
        faultyRow(4, 'bad'),
        rowOf(5, refund('odd')),
      ])
      await work(ledger, batchId, 'ok', 'APPROVED')
      await work(ledger, batchId, 'no', 'FAILED')
      await work(ledger, batchId, 'odd', 'DECLINED')
      await ledger.cancel(batchId, 'enough', CLERK, NOW)
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'FAILED', 'CANCELLED', 'INVALID', 'DECLINED'])
      return batchId
    }

    const from = (batchId: string, mendBad = false): DraftRow[] => [
      rowOf(1, refund('ok'), { cameFrom: { batchId, rowNo: 1 } }),
      rowOf(2, refund('no'), { cameFrom: { batchId, rowNo: 2 } }),
      rowOf(3, refund('off'), { cameFrom: { batchId, rowNo: 3 } }),
      mendBad
        ? rowOf(4, refund('bad'), { cameFrom: { batchId, rowNo: 4 } })
        : faultyRow(4, 'bad', { cameFrom: { batchId, rowNo: 4 } }),
      rowOf(5, refund('odd'), { cameFrom: { batchId, rowNo: 5 } }),
    ]
    const fed = (...retry: RetryStatus[]) => ({ fedBack: true, retry })

    test('send nothing, whatever stands in them', async () => {
      const batchId = await finished()
      for (const mended of [false, true]) {
        const { review: reviewed, faults } = await check(from(batchId, mended), fed())
        expect(faults).toEqual([])
        expect(reviewed).toMatchObject({ rows: 5, accepted: 0, duplicate: 5, invalid: 0 })
      }
    })

    test('with --retry failed run the failed row as the next attempt under its reference; the old row stays', async () => {
      const first = await finished()
      const before = await rowIn(ledger, first, 'no')
      const second = await submit(ledger, accountId, from(first), fed('FAILED'))
      expect(await statesIn(ledger, second)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE', 'DUPLICATE', 'DUPLICATE'])
      const due = await dueRow(ledger, second, 'no')
      expect(due).toMatchObject({ attempt: 1, instruction: refund('no') })
      expect(await claim(ledger, due)).toEqual({ kind: 'claimed', attempt: 2 })
      const warning = `it was submitted again as row 2 of batch ${second}: PENDING`
      expect(await rowIn(ledger, first, 'no')).toEqual({ ...before, submittedAgain: 'SENDING', warning })
      // The reference is the new row's now: a repeat meets the row that is being sent.
      const third = await submit(ledger, accountId, [refund('no')])
      expect((await ledger.batch(third))?.duplicateOf).toEqual({ SENDING: 1 })
    })

    test('with --retry cancelled run the cancelled row', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('CANCELLED'))
      expect((await dueIn(ledger, second)).map((row) => [row.instruction.reference, row.attempt])).toEqual([['off', 0]])
    })

    test('never run a row twice, however often they are fed', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('FAILED', 'CANCELLED'))
      await work(ledger, second, 'no', 'APPROVED')
      const { review: reviewed } = await check(from(first), fed('FAILED', 'CANCELLED'))
      expect(reviewed).toMatchObject({ accepted: 0, duplicate: 5 })
    })

    test('with --retry invalid run the row that was mended, once', async () => {
      const first = await finished()
      const mended = from(first, true)
      expect((await check(mended, fed('INVALID'))).review).toMatchObject({ accepted: 1, duplicate: 4, invalid: 0 })
      const second = await submit(ledger, accountId, mended, fed('INVALID'))
      expect((await dueIn(ledger, second)).map((row) => row.instruction.reference)).toEqual(['bad'])
      expect((await check(mended, fed('INVALID'))).review).toMatchObject({ accepted: 0, duplicate: 5 })
    })

    test('with --retry invalid are refused while the row is still wrong', async () => {
      const first = await finished()
      const { review: reviewed, faults } = await check(from(first), fed('INVALID'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 1 })
      expect(faults.map(({ rowNo, column }) => [rowNo, column])).toEqual([[4, 'amount']])
    })

    test('of a mended row that failed since leave its reference with the row that failed', async () => {
      const first = await finished()
      const mended = from(first, true)
      const second = await submit(ledger, accountId, mended, fed('INVALID'))
      await work(ledger, second, 'bad', 'FAILED')
      const third = await submit(ledger, accountId, [mended[3] as DraftRow], fed('FAILED'))
      expect(await dueIn(ledger, third)).toMatchObject([{ attempt: 1 }])
    })

    test('cannot add an instruction', async () => {
      const first = await finished()
      const { review: reviewed, faults } = await check(
        [
          ...from(first),
          rowOf(6, refund('new')),
          rowOf(7, refund('guess'), { cameFrom: { batchId: first, rowNo: 1 } }),
        ],
        fed('FAILED', 'CANCELLED'),
      )
      expect(reviewed).toMatchObject({ accepted: 2, invalid: 2 })
      expect(faults.map(({ rowNo, problem }) => [rowNo, problem])).toEqual([
        [6, 'the line is not a result of this ledger'],
        [7, `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference ok)`],
      ])
    })

    test('whose references lost their zeros in a spreadsheet are the rows that they were', async () => {
      const first = await submit(ledger, accountId, [refund('000123'), refund('007'), refund('A-07')])
      await work(ledger, first, '000123', 'APPROVED')
      await work(ledger, first, '007', 'FAILED')
      const line = (rowNo: number, reference: string, was: string) =>
        rowOf(rowNo, { ...refund(was), reference }, { cameFrom: { batchId: first, rowNo } })
      const saved = [line(1, '123', '000123'), line(2, '7', '007'), line(3, 'A-07', 'A-07')]
      expect((await check(saved, fed())).review).toMatchObject({ accepted: 0, duplicate: 3, invalid: 0 })
      const again = await submit(ledger, accountId, saved, fed('FAILED'))
      expect(await statesIn(ledger, again)).toEqual(['DUPLICATE', 'READY', 'DUPLICATE'])
      expect(await dueIn(ledger, again)).toMatchObject([{ attempt: 1, instruction: { reference: '007' } }])
      // Zeros are put back where batch and row say so, and nowhere else.
      const elsewhere = [line(1, '07', '007'), line(2, '123', '000123')]
      expect((await check(elsewhere, fed('FAILED'))).faults.map(({ problem }) => problem)).toEqual([
        `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference 000123)`,
        `the reference is not that of the row which the line names (row 2 of batch ${first} has the reference 007)`,
      ])
    })

    test('with one column sorted without the others are refused, whatever may run again', async () => {
      const first = await finished()
      const swapped = from(first).map((row) => ({ ...row, cameFrom: { batchId: first, rowNo: (row.rowNo % 5) + 1 } }))
      for (const retry of [[], ['FAILED', 'CANCELLED', 'INVALID']] as RetryStatus[][]) {
        const { review: reviewed, faults } = await check(swapped, fed(...retry))
        expect(reviewed.accepted).toBe(0)
        expect(faults.map(({ rowNo, problem }) => [rowNo, problem])).toContainEqual([
          5,
          `the reference is not that of the row which the line names (row 1 of batch ${first} has the reference ok)`,
        ])
      }
      const beyond = [rowOf(1, refund('ok'), { cameFrom: { batchId: first, rowNo: 99 } })]
      expect((await check(beyond, fed())).faults[0]?.problem).toContain('row 99 of batch')
    })

    test('that cannot be read any more are no fault of rows that would not run again, and one of those that would', async () => {
      const first = await finished()
      const unread = [1, 2, 3, 5].map((rowNo) =>
        faultyRow(rowNo, ['ok', 'no', 'off', '', 'odd'][rowNo - 1] as string, { cameFrom: { batchId: first, rowNo } }),
      )
      const { review: reviewed, faults } = await check(unread, fed())
      expect([reviewed.duplicate, faults]).toEqual([4, []])
      const again = await check(unread, fed('FAILED'))
      expect(again.review).toMatchObject({ accepted: 0, duplicate: 3, invalid: 1 })
      expect(again.faults).toMatchObject([{ rowNo: 2, column: 'amount' }])
      // The reference is what the row is known by: a damaged one is never forgiven.
      const damaged = unread.map((row) => ({
        ...row,
        faults: row.faults.map((fault) => ({ ...fault, column: 'Result_Reference' })),
      }))
      expect((await check(damaged, fed())).review).toMatchObject({ duplicate: 0, invalid: 4 })
    })

    test('that can be read and say something else are refused, also of a row that is done', async () => {
      const first = await finished()
      const changed = [rowOf(1, refund('ok', { amountMinor: 1_001n }), { cameFrom: { batchId: first, rowNo: 1 } })]
      expect((await check(changed, fed())).faults[0]?.problem).toContain('the reference is recorded with other content')
    })

    test('pasted together so that a row stands twice are refused in both lines', async () => {
      const first = await finished()
      const second = await submit(ledger, accountId, from(first), fed('FAILED'))
      await work(ledger, second, 'no', 'APPROVED')
      const pasted = [
        rowOf(1, refund('no'), { cameFrom: { batchId: first, rowNo: 2 } }),
        rowOf(2, refund('no'), { cameFrom: { batchId: second, rowNo: 2 } }),
        rowOf(3, refund('ok'), { cameFrom: { batchId: second, rowNo: 1 } }),
      ]
      for (const retry of [[], ['FAILED']] as RetryStatus[][]) {
        const { review: reviewed, faults } = await check(pasted, fed(...retry))
        expect(reviewed).toMatchObject({ accepted: 0, duplicate: 1, invalid: 2 })
        expect(faults.map(({ rowNo }) => rowNo)).toEqual([1, 2])
      }
    })

    test('with bad lines that are no recorded row are refused whole: left out, they could come back as something new', async () => {
      const first = await finished()
      const strange = [
        rowOf(1, refund('01.12.2026'), { cameFrom: { batchId: first, rowNo: 1 } }), // was "ok", as a spreadsheet has it
        rowOf(2, refund('no'), { cameFrom: { batchId: first, rowNo: 3 } }), // of another row, but recorded
        faultyRow(3, 'derived', { cameFrom: null }),
        faultyRow(4, 'bad', { cameFrom: { batchId: first, rowNo: 4 } }),
      ]
      const { review: reviewed } = await check(strange, fed('INVALID'))
      expect(reviewed).toMatchObject({ accepted: 0, invalid: 4, unidentified: 2 })
      expect((await check([faultyRow(1, 'new')])).review).toMatchObject({ invalid: 1, unidentified: 0 })
    })

    test('are counted by what runs again and what does not', async () => {
      const first = await finished()
      const again = async (mended: boolean, ...retry: RetryStatus[]) =>
        (await check(from(first, mended), fed(...retry))).review.again
      const one = (state: string) => ({ state, count: 1 })
      expect(await again(false)).toEqual({
        repeated: ['APPROVED', 'CANCELLED', 'DECLINED', 'FAILED', 'INVALID'].map(one),
        retried: [],
      })
      expect(await again(true, 'FAILED', 'INVALID')).toEqual({
        repeated: ['APPROVED', 'CANCELLED', 'DECLINED'].map(one),
        retried: ['FAILED', 'INVALID'].map(one),
      })
      expect((await check([refund('ok'), refund('new')])).review.again).toEqual({
        repeated: [one('APPROVED')],
        retried: [],
      })
    })

    test('of a batch that the ledger does not know are refused', async () => {
      await finished()
      await expect(review(ledger, headerOf(accountId, fed()), from('260101-abcde'))).rejects.toMatchObject({
        code: 'refused',
      })
    })

    test('do not run a row again of which an answer said APPROVED while they were read', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      const line = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      const { draft, review: reviewed } = await review(ledger, headerOf(accountId, fed('FAILED')), [line])
      expect(reviewed.accepted).toBe(1)
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      await expect(draft.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
      expect(await ledger.batches()).toHaveLength(1)
    })

    test('of another merchant are refused, whatever may run again: a row that took no reference would run at both', async () => {
      const first = await finished()
      const second = headerOf(await openAccount(ledger, 'second'), fed('INVALID'))
      const mended = [rowOf(1, refund('bad'), { cameFrom: { batchId: first, rowNo: 4 } })]
      await expect(review(ledger, second, mended)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining(`batch ${first}, which is of merchant default`),
      })
    })

    test.each(['FAILED', 'INVALID'] as const)(
      'keep the run key of a row that was %s: the next month is no look-alike of it',
      async (status) => {
        const [runKey, reference] = ['2026-11', '2026-11/A']
        const row = status === 'FAILED' ? rowOf(1, sale(reference, '7')) : faultyRow(1, reference)
        const first = await submit(ledger, accountId, [row], { runKey })
        if (status === 'FAILED') await work(ledger, first, reference, 'FAILED')
        const line = rowOf(1, sale(reference, '7'), { cameFrom: { batchId: first, rowNo: 1 } })
        const again = await submit(ledger, accountId, [line], fed(status))
        await work(ledger, again, reference, 'APPROVED')
        const later = (days: number, key: string) =>
          check([sale(`${key}/B`, '7')], { runKey: key, nowMs: NOW + days * DAY_MS })
        expect((await later(21, '2026-12')).review.lookalikes).toBe(0)
        expect((await later(20, '2026-12')).review.lookalikes).toBe(1)
        expect((await later(21, '2026-11')).review.lookalikes).toBe(1)
      },
    )

    test('do not let a doubt be forgotten: the new attempt knows that an earlier one was in doubt', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'IN_DOUBT')
      await settle(ledger, attempt, 'READY') // its owner proves that nothing was sent
      await work(ledger, first, 'A', 'FAILED')
      const second = await submit(
        ledger,
        accountId,
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        fed('FAILED'),
      )
      expect(await dueRow(ledger, second, 'A')).toMatchObject({ attempt: 2, everInDoubt: true })
    })

    test('do not run a row again of which a late answer said APPROVED', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const attempt = await work(ledger, first, 'A', 'FAILED')
      await settle(ledger, attempt, 'APPROVED', { facts: factsWith('501') })
      const { review: reviewed, faults } = await check(
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        fed('FAILED'),
      )
      expect(reviewed.accepted).toBe(0)
      expect(faults[0]?.problem).toMatch(/may have been executed after all: .*APPROVED \(transaction id 501\)/)
    })
  })

  describe('look-alikes', () => {
    const count = async (rows: readonly Instruction[], over: Partial<DraftHeader> = {}) =>
      (await check(rows, over)).review.lookalikes

    test('within a file: later rows with the same operation, amount and order under another reference', async () => {
      const rows = [
        refund('A', { orderId: '55' }),
        refund('B', { orderId: '0055' }),
        refund('C', { orderId: '55', amountMinor: 999n }),
        refund('D', { orderId: '56' }),
        refund('E', { orderId: '55', operation: 'CANCEL' }),
        refund('F', { orderId: '55' }),
      ]
      const { review: reviewed, lookalikes } = await check(rows)
      expect(reviewed).toMatchObject({ accepted: 6, lookalikes: 2 })
      expect(lookalikes.map(({ reference, like }) => [reference, like])).toEqual([
        ['B', { batchId: null, rowNo: 1, reference: 'A', state: null }],
        ['F', { batchId: null, rowNo: 1, reference: 'A', state: null }],
      ])
    })

    test('of sales: the same vault id', async () => {
      expect(await count([sale('A', '7'), sale('B', '007'), sale('C', '8')])).toBe(1)
    })

    test('a row that cannot be accepted counts on neither side', async () => {
      await submit(ledger, accountId, [refund('A', { orderId: '55' })])
      const faulty = rowOf(2, refund('X', { orderId: '55' }), { faults: faultyRow(2, 'X').faults })
      const { review: reviewed } = await check([
        rowOf(1, refund('A', { orderId: '55' })),
        faulty,
        rowOf(3, refund('Y', { orderId: '56' })),
      ])
      expect(reviewed).toMatchObject({ duplicate: 1, invalid: 1, accepted: 1, lookalikes: 0 })
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)(
      'of a recorded row that is %s: only what has or may have executed counts',
      async (state) => {
        const batchId = await submit(ledger, accountId, [refund('A', { orderId: '55' })])
        if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state === 'CANCELLED') await ledger.cancel(batchId, 'no', CLERK, NOW)
        else if (state !== 'READY') await work(ledger, batchId, 'A', state)
        expect(await statesIn(ledger, batchId)).toEqual([state])
        const counts = ['READY', 'SENDING', 'IN_DOUBT', 'APPROVED'].includes(state)
        const { lookalikes } = await check([refund('B', { orderId: '055' })])
        expect(lookalikes.map(({ like }) => like)).toEqual(counts ? [{ batchId, rowNo: 1, reference: 'A', state }] : [])
      },
    )

    test.each([
      ['declined', 'DECLINED'],
      ['not-executed', 'FAILED'],
    ] as const)(
      'of a row in doubt about a second request that a person called %s: of two requests, one may have been executed',
      async (finding, state) => {
        const batchId = await submit(ledger, accountId, [refund('A', { orderId: '55' })])
        const resolve = (as: Finding, attempt: number) =>
          ledger.resolve(
            {
              ...{ reference: 'A', merchant: null, attempt, row: null, finding: as, transactionId: null },
              ...{ reason: 'looked it up', restMs: 0 },
            },
            CLERK,
            NOW + 300,
          )
        await work(ledger, batchId, 'A', 'IN_DOUBT')
        await resolve('send-again', 1)
        await settle(ledger, await claimNamed(ledger, batchId, 'A', NOW + 300), 'IN_DOUBT')
        await resolve(finding, 2)
        expect(await statesIn(ledger, batchId)).toEqual([state])
        const { lookalikes } = await check([refund('B', { orderId: '055' })])
        expect(lookalikes.map(({ like }) => like)).toEqual([{ batchId, rowNo: 1, reference: 'A', state }])
        expect(await count([refund('B', { orderId: '055' })], { nowMs: NOW + 31 * DAY_MS })).toBe(0)
      },
    )

    test('of an approved row are looked for in the 30 days since it was sent', async () => {
      const batchId = await submit(ledger, accountId, [sale('A', '55')])
      await work(ledger, batchId, 'A', 'APPROVED', { sentAtMs: NOW })
      const later = (ms: number) => count([sale('B', '55')], { nowMs: NOW + ms })
      expect(await later(30 * DAY_MS)).toBe(1)
      expect(await later(30 * DAY_MS + 1)).toBe(0)
    })

    test.each(['READY', 'SENDING', 'IN_DOUBT'] as const)(
      'of a row that is %s are found however old it is: nobody knows yet what becomes of it',
      async (state) => {
        const batchId = await submit(ledger, accountId, [sale('A', '55', { executeAtMs: NOW - 1 })])
        if (state === 'SENDING') await claimNamed(ledger, batchId, 'A')
        else if (state === 'IN_DOUBT') await work(ledger, batchId, 'A', 'IN_DOUBT', { sentAtMs: NOW })
        const { review: reviewed, lookalikes } = await check([sale('B', '55')], { nowMs: NOW + 400 * DAY_MS })
        expect(reviewed.lookalikes).toBe(1)
        expect(lookalikes[0]?.like).toEqual({ batchId, rowNo: 1, reference: 'A', state })
      },
    )

    test('of a row that waits for its execute_at are found after any time', async () => {
      await submit(ledger, accountId, [sale('JAN-1', '99', { executeAtMs: NOW + 45 * DAY_MS })])
      const twin = sale('FEB-1', '99', { executeAtMs: NOW + 45 * DAY_MS })
      expect(await count([twin], { nowMs: NOW + 35 * DAY_MS })).toBe(1)
    })

    test.each(['APPROVED', 'IN_DOUBT'] as const)(
      'between different run keys, of a row that was sent and is %s, are looked for in the days that were asked for',
      async (state) => {
        const batchId = await submit(ledger, accountId, [sale('2026-11/A', '7')], { runKey: '2026-11' })
        await work(ledger, batchId, '2026-11/A', state, { sentAtMs: NOW })
        const later = (days: number, runKey: string | null, lookalikeDays = 20) =>
          count([sale('other', '7')], { nowMs: NOW + days * DAY_MS, runKey, lookalikeDays })
        expect(await later(20, '2026-12')).toBe(1)
        expect(await later(21, '2026-12')).toBe(0)
        expect(await later(21, '2026-12', 25)).toBe(1)
        expect(await later(25, '2026-11')).toBe(1) // the same run key
        expect(await later(25, null)).toBe(1) // no run key on one side
      },
    )

    test.each([
      ['is READY', null],
      ['waits for its execute_at', NOW + 365 * DAY_MS],
    ])(
      'between different run keys a row of last month that %s counts: both would be sent from now on',
      async (_, executeAtMs) => {
        await submit(ledger, accountId, [sale('2026-11/A', '7', { executeAtMs })], { runKey: '2026-11' })
        const december = { runKey: '2026-12', nowMs: NOW + 31 * DAY_MS, lookalikeDays: 0 }
        expect(await count([sale('2026-12/A', '7')], december)).toBe(1)
      },
    )

    test('of another account are none', async () => {
      await submit(ledger, await openAccount(ledger, 'second'), [refund('A', { orderId: '55' })])
      expect(await count([refund('B', { orderId: '55' })])).toBe(0)
    })

    test('under the same reference are duplicates, not look-alikes', async () => {
      await submit(ledger, accountId, [refund('A')])
      expect((await check([refund('A')])).review).toMatchObject({ duplicate: 1, lookalikes: 0 })
    })
  })

  describe('the same bytes again', () => {
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

  describe('accounts', () => {
    test('are one per address and user, for every connection', async () => {
      expect(await openAccount(place.open())).toBe(accountId)
    })

    test('take no second name', async () => {
      await expect(ledger.account('alias', 'https://default.gateway.example', 'merchant', NOW)).rejects.toMatchObject({
        code: 'config',
      })
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
}
