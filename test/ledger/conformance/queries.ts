// Reading: what a person is told about a batch, its rows and their history.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endingOf } from '../../../src/domain/batch-status.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { ReconciliationRow } from '../../../src/domain/reconciliation.ts'
import { exitCodeOf } from '../../../src/present/exit-codes.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  dueIn,
  factsWith,
  faultyRow,
  findingOn,
  listOf,
  NOW,
  refund,
  rowOf,
  rowsIn,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

export function describeQueries(): void {
  const view = async (batchId: string) => {
    const found = await ledger.batch(batchId)
    if (found === null) throw new Error(`no batch ${batchId}`)
    return found
  }

  describe('heartbeats', () => {
    const beat = {
      ...{ id: 'vm:7', host: 'vm', pid: 7, command: 'worker', sinceMs: NOW, batchId: null },
      ...{ beatAtMs: NOW + 5, activity: 'working' as const },
    }

    test('there are none before a worker beats, and the last beat of each worker is kept', async () => {
      expect(await ledger.heartbeats()).toEqual([])
      await ledger.beat(beat)
      await ledger.beat({ ...beat, beatAtMs: NOW + 10, activity: 'idle' })
      expect(await ledger.heartbeats()).toEqual([{ ...beat, beatAtMs: NOW + 10, activity: 'idle' }])
    })

    test('a beat is seen by every connection, and moves nothing', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const head = await ledger.head()
      await ledger.beat({ ...beat, command: 'run', batchId })
      expect(await place.open().heartbeats()).toMatchObject([{ command: 'run', batchId }])
      expect([await ledger.head(), await statesIn(ledger, batchId)]).toEqual([head, ['READY']])
    })
  })

  describe('batch: a batch', () => {
    test('is found by its id or by a beginning that fits it alone', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      expect((await ledger.batch(first))?.batchId).toBe(first)
      expect((await ledger.batch(first.slice(0, 4)))?.batchId).toBe(first)
      expect(await ledger.batch('%')).toBeNull()
      expect(await ledger.batch('')).toBeNull()
      await submit(ledger, accountId, [refund('B')])
      await expect(ledger.batch(first.slice(0, 4))).rejects.toMatchObject({ code: 'usage' })
      expect((await ledger.batch(first))?.batchId).toBe(first)
    })

    test('tells counts and amounts per operation, currency and state', async () => {
      const batchId = await submit(ledger, accountId, [
        rowOf(1, refund('A', { amountMinor: 100n })),
        rowOf(2, refund('B', { amountMinor: 20n })),
        rowOf(3, refund('C', { operation: 'CANCEL', money: null })),
        faultyRow(4, 'bad'),
      ])
      await work(ledger, batchId, 'A', 'APPROVED')
      const { totals, counts } = await view(batchId)
      expect(counts).toEqual({ APPROVED: 1, READY: 2, INVALID: 1 })
      expect(new Set(totals)).toEqual(
        new Set([
          { operation: 'REFUND', currency: 'EUR', state: 'APPROVED', count: 1, amountMinor: 100n },
          { operation: 'REFUND', currency: 'EUR', state: 'READY', count: 1, amountMinor: 20n },
          { operation: 'CANCEL', currency: '', state: 'READY', count: 1, amountMinor: 0n },
          { operation: '', currency: '', state: 'INVALID', count: 1, amountMinor: 0n },
        ]),
      )
    })

    test('tells when its next row is due', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', { executeAtMs: NOW + 900 }),
        refund('B', { executeAtMs: NOW + 400 }),
      ])
      expect(await view(batchId)).toMatchObject({ nextDueAtMs: NOW + 400, nextExecuteAtMs: NOW + 400 })
      await settle(ledger, await claimNamed(ledger, batchId, 'B', NOW + 400), 'APPROVED')
      expect((await view(batchId)).nextDueAtMs).toBe(NOW + 900)
      await settle(ledger, await claimNamed(ledger, batchId, 'A', NOW + 900), 'APPROVED')
      expect(await view(batchId)).toMatchObject({ nextDueAtMs: null, nextExecuteAtMs: null })
    })

    test('tells how many rows wait behind a row that no machine will move', async () => {
      const X = { orderId: '5' }
      const batchId = await submit(ledger, accountId, [refund('A', X), refund('B', { ...X, amountMinor: 2n })])
      expect(await view(batchId)).toMatchObject({ blocked: 0, nextDueAtMs: NOW, nextExecuteAtMs: null })
      const a = await work(ledger, batchId, 'A', 'IN_DOUBT')
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: null })
      await settle(ledger, a, 'APPROVED')
      expect(await view(batchId)).toMatchObject({ blocked: 0, nextDueAtMs: NOW })
    })

    test('tells of rows that wait behind a paused batch, not behind rows that are due later', async () => {
      const soon = Date.now() + 3_600_000
      const paused = await submit(ledger, accountId, [
        refund('A', { orderId: '5' }),
        refund('B', { orderId: '6', executeAtMs: soon }),
      ])
      await ledger.pause(paused, 'wait', CLERK, NOW)
      const batchId = await submit(ledger, accountId, [
        refund('C', { orderId: '5', amountMinor: 2n }),
        refund('D', { orderId: '6', amountMinor: 2n }),
      ])
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: NOW })
      expect((await dueIn(ledger, batchId)).map((row) => row.instruction.reference)).toEqual(['D'])
      await work(ledger, batchId, 'D', 'APPROVED')
      expect(await view(batchId)).toMatchObject({ blocked: 1, nextDueAtMs: null })
    })

    test('tells apart the rows that are held up and are due later by themselves', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '5' })])
      await work(ledger, first, 'A', 'IN_DOUBT')
      const later = Date.now() + 3_600_000
      const batchId = await submit(ledger, accountId, [
        refund('B', { orderId: '5', amountMinor: 2n }),
        refund('C', { orderId: '5', amountMinor: 3n, executeAtMs: later }),
        refund('D', { orderId: '5', amountMinor: 4n, executeAtMs: Date.now() + 10_000 }),
        refund('E', { orderId: '6', executeAtMs: later }),
      ])
      expect(await view(batchId)).toMatchObject({ blocked: 3, blockedDue: 2, nextExecuteAtMs: later })
    })

    test('tells of the same rows whatever holds them up: rows in doubt, and few or many rows of paused batches', async () => {
      const batches = fc.array(
        fc.record({
          orders: fc.array(fc.constantFrom('1', '2', '3', null), { minLength: 1, maxLength: 5 }),
          doubts: fc.nat(2),
          isPaused: fc.boolean(),
        }),
        { minLength: 1, maxLength: 4 },
      )
      let runs = 0
      await fc.assert(
        fc.asyncProperty(batches, async (asked) => {
          runs += 1
          const order = (name: string) => `${runs}${name}`
          const made: { batchId: BatchId; isPaused: boolean; orders: readonly (string | null)[] }[] = []
          for (const [n, { orders, doubts, isPaused }] of asked.entries()) {
            const rows = orders.map((name, i) =>
              refund(`${runs}-${n}-${i}`, {
                ...(name !== null && { orderId: order(name) }),
                amountMinor: BigInt(n * 10 + i + 1),
              }),
            )
            const batchId = await submit(ledger, accountId, rows, { fileSha256: `${runs}/${n}` })
            for (let i = 0; i < doubts; i += 1) {
              const [due] = await dueIn(ledger, batchId)
              if (due !== undefined) await work(ledger, batchId, due.instruction.reference, 'IN_DOUBT')
            }
            if (isPaused) await ledger.pause(batchId, 'wait', CLERK, NOW)
            made.push({ batchId, isPaused, orders })
          }
          const held: { readonly order: string; readonly at: number; readonly state: string }[] = []
          const expected: number[] = []
          for (const [at, { batchId, orders }] of made.entries())
            for (const { rowNo, state } of await rowsIn(ledger, batchId)) {
              const name = orders[rowNo - 1] ?? null
              if (name !== null) held.push({ order: name, at, state })
            }
          for (const at of made.keys()) {
            const waiting = held.filter((row) => row.at === at && row.state === 'READY')
            const isBehind = (row: (typeof held)[number]) =>
              held.some(
                (other) =>
                  other.order === row.order &&
                  (other.state === 'IN_DOUBT' ||
                    (other.state === 'READY' && other.at < at && made[other.at]?.isPaused === true)),
              )
            expected.push(waiting.filter(isBehind).length)
          }
          expect(await Promise.all(made.map(async ({ batchId }) => (await view(batchId)).blocked))).toEqual(expected)
          // What holds nothing up any more must not hold up the next run.
          for (const { batchId, isPaused } of made) if (isPaused) await ledger.resume(batchId, 'on', CLERK, NOW)
          await ledger.resumeAccount(accountId, 'on', CLERK, NOW)
        }),
        {
          numRuns: tries(25),
          examples: [
            [
              [
                { orders: ['1'], doubts: 0, isPaused: true },
                { orders: ['1', '2', '3'], doubts: 0, isPaused: false },
              ],
            ],
            [[{ orders: ['1', '1', '1'], doubts: 1, isPaused: false }]],
          ],
        },
      )
    })

    test('tells where the rows stand that its duplicates repeat, as of now', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      const second = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
      await work(ledger, first, 'A', 'APPROVED')
      await work(ledger, first, 'B', 'IN_DOUBT')
      expect(await view(second)).toMatchObject({
        counts: { DUPLICATE: 3, READY: 1 },
        duplicateOf: { APPROVED: 1, IN_DOUBT: 1, READY: 1 },
        openOriginals: [
          { batchId: first, state: 'IN_DOUBT', count: 1 },
          { batchId: first, state: 'READY', count: 1 },
        ],
      })
      expect((await rowsIn(ledger, second)).map(({ reason }) => reason)).toEqual([
        `the same instruction is row 1 of batch ${first}: APPROVED; not sent again`,
        `the same instruction is row 2 of batch ${first}: IN_DOUBT; not sent again`,
        `the same instruction is row 3 of batch ${first}: PENDING; not sent again`,
        null,
      ])
    })

    test('tells of a repeated row that was bad as the mended one stands, whose results are stale from then on', async () => {
      const first = await submit(ledger, accountId, [refund('A'), faultyRow(2, 'bad')])
      await work(ledger, first, 'A', 'FAILED')
      const lines = [refund('A'), null].map((one, i) => {
        const cameFrom = { cameFrom: { batchId: first, rowNo: i + 1 } }
        return one === null ? faultyRow(2, 'bad', cameFrom) : rowOf(1, one, cameFrom)
      })
      const again = await submit(ledger, accountId, lines, { fedBack: true, retry: ['FAILED'] })
      await work(ledger, again, 'A', 'APPROVED')
      const reading = await ledger.openReading(again, NOW)
      await reading.close()
      await ledger.resultsWritten(again, '/out.csv', reading.edition)
      expect((await view(again)).resultsStale).toBe(false)
      const mended = await submit(ledger, accountId, [refund('bad')])
      await work(ledger, mended, 'bad', 'APPROVED')
      expect((await view(again)).resultsStale).toBe(true)
      const { repeats, reason } = (await rowsIn(ledger, again))[1] as ReconciliationRow
      expect([repeats?.state, reason]).toEqual([
        'APPROVED',
        `the same instruction is row 1 of batch ${mended}: APPROVED; not sent again`,
      ])
    })

    test('tells of a repeated row as its retry stands, and its results are stale from then on', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      await work(ledger, first, 'A', 'FAILED')
      const repeating = await submit(ledger, accountId, [refund('A')])
      const written = async () => {
        const reading = await ledger.openReading(repeating, NOW)
        await reading.close()
        await ledger.resultsWritten(repeating, '/out.csv', reading.edition)
        expect((await view(repeating)).resultsStale).toBe(false)
      }
      const told = async (nowMs = NOW) => {
        const batch = await view(repeating)
        const [row] = await rowsIn(ledger, repeating)
        return [batch.duplicateOf, exitCodeOf(batch, endingOf(batch, nowMs)!), row?.repeats?.state, row?.reason]
      }
      await written()
      const again = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      const retry = { fedBack: true, retry: ['FAILED'] as const, nowMs: NOW + 5_000 }
      const second = await submit(ledger, accountId, [again], retry)
      expect((await view(repeating)).resultsStale).toBe(true)
      const named = (status: string) => `the same instruction is row 1 of batch ${second}: ${status}; not sent again`
      expect(await told()).toEqual([{ READY: 1 }, 6, 'READY', named('PENDING')])
      await written()
      const row = await claimNamed(ledger, second, 'A', NOW + 5_000)
      await settle(ledger, row, 'IN_DOUBT', { atMs: NOW + 9_000 })
      expect((await view(repeating)).resultsStale).toBe(true)
      expect(await told()).toEqual([{ IN_DOUBT: 1 }, 5, 'IN_DOUBT', named('IN_DOUBT')])
      const reading = await ledger.openReading(repeating, NOW)
      expect(await listOf(reading.rows(NOW + 9_000))).toHaveLength(1)
      await reading.close()
      await settle(ledger, row, 'APPROVED')
      expect(await told()).toEqual([{ APPROVED: 1 }, 0, 'APPROVED', named('APPROVED')])
    })

    test('warns of a row that was submitted again as the last such row stands, with stale results', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      await work(ledger, first, 'A', 'FAILED', { warning: 'odd' })
      await work(ledger, first, 'B', 'FAILED')
      await ledger.cancel(first, 'not today', CLERK, NOW)
      const told = async () =>
        (await rowsIn(ledger, first)).map(({ warning, submittedAgain }) => [warning, submittedAgain])
      const wasStale = async () => {
        const { resultsStale } = await view(first)
        const reading = await ledger.openReading(first, NOW)
        await reading.close()
        await ledger.resultsWritten(first, '/out.csv', reading.edition)
        expect((await view(first)).resultsStale).toBe(false)
        return resultsStale
      }
      const again = (batchId: BatchId, nowMs: number, ...lines: [rowNo: number, reference: string][]) => {
        const rows = lines.map(([rowNo, reference], i) =>
          rowOf(i + 1, refund(reference), { cameFrom: { batchId, rowNo } }),
        )
        return submit(ledger, accountId, rows, { fedBack: true, retry: ['FAILED', 'CANCELLED'], nowMs })
      }
      const ended = await rowsIn(ledger, first)
      expect(await told()).toEqual([
        ['odd', null],
        [null, null],
        [null, null],
      ])
      await wasStale()
      const second = await again(first, NOW + 5_000, [1, 'A'], [3, 'C'])
      const of = (batchId: BatchId, rowNo: number, status: string) =>
        `it was submitted again as row ${rowNo} of batch ${batchId}: ${status}`
      expect(await wasStale()).toBe(true)
      expect(await told()).toEqual([
        [`${of(second, 1, 'PENDING')}; odd`, 'READY'],
        [null, null],
        [of(second, 2, 'PENDING'), 'READY'],
      ])
      await settle(ledger, await claimNamed(ledger, second, 'A', NOW + 5_000), 'FAILED', { atMs: NOW + 5_100 })
      await settle(ledger, await claimNamed(ledger, second, 'C', NOW + 5_000), 'APPROVED', { atMs: NOW + 9_000 })
      expect(await wasStale()).toBe(true)
      const reading = await ledger.openReading(first, NOW)
      expect((await listOf(reading.rows(NOW + 9_000))).map(({ reference }) => reference)).toEqual(['C'])
      await reading.close()
      const third = await again(second, NOW + 10_000, [1, 'A'])
      expect(await wasStale()).toBe(true)
      expect(await told()).toEqual([
        [`${of(third, 1, 'PENDING')}; odd`, 'READY'],
        [null, null],
        [of(second, 2, 'APPROVED'), 'APPROVED'],
      ])
      expect((await rowsIn(ledger, second)).map(({ warning }) => warning)).toEqual([of(third, 1, 'PENDING'), null])
      const said = (rows: Awaited<ReturnType<typeof rowsIn>>) => rows.map(({ state, reason }) => [state, reason])
      expect(said(await rowsIn(ledger, first))).toEqual(said(ended))
    })

    test('tells of a warning about money of a repeated row that a retry has taken over', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      const row = await work(ledger, first, 'A', 'FAILED')
      const repeating = await submit(ledger, accountId, [refund('A')])
      const again = rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })
      await submit(ledger, accountId, [again], { fedBack: true, retry: ['FAILED'] })
      expect(await view(repeating)).toMatchObject({ duplicateMoneyWarnings: 0 })
      await settle(ledger, row, 'APPROVED', { facts: factsWith('501') }) // late: both may have moved money
      expect(await view(repeating)).toMatchObject({ duplicateMoneyWarnings: 1 })
      expect(await rowsIn(ledger, repeating)).toMatchObject([{ repeats: { state: 'IN_DOUBT', warned: true } }])
    })

    test('knows its results as stale once a row changes, and as fresh once they are written', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      expect(await view(batchId)).toMatchObject({ resultsPath: null, resultsStale: false })
      const reading = await ledger.openReading(batchId, NOW)
      const row = await work(ledger, batchId, 'A', 'IN_DOUBT') // while the results are being written
      await reading.close()
      await ledger.resultsWritten(batchId, '/out.csv', reading.edition)
      expect(await view(batchId)).toMatchObject({ resultsPath: '/out.csv', resultsStale: true })

      const again = await ledger.openReading(batchId, NOW)
      await again.close()
      await ledger.resultsWritten(batchId, '/out.csv', again.edition)
      expect((await view(batchId)).resultsStale).toBe(false)
      await settle(ledger, row, 'APPROVED')
      expect((await view(batchId)).resultsStale).toBe(true)
    })
  })

  test('batches that are done are among the unsettled ones while a person has something to look at', async () => {
    const header = (nowMs: number) => ({ nowMs, fileSha256: `${nowMs}` })
    const bad = await submit(ledger, accountId, [faultyRow(1, 'X')], header(NOW - 7))
    const late = await submit(ledger, accountId, [refund('E', { expiresAtMs: NOW + 9 })], header(NOW - 6))
    await ledger.cancelExpired(NOW + 9)
    const cancelled = await submit(ledger, accountId, [refund('A')], header(NOW - 5))
    const left = await submit(ledger, accountId, [refund('A')], header(NOW - 4))
    await ledger.cancel(cancelled, 'the list was short', CLERK, NOW)
    const short = await submit(ledger, accountId, [refund('S')], header(NOW - 2))
    await work(ledger, short, 'S', 'DECLINED', { category: 'balance', reason: 'Order balance: 1.00, requested: 10.00' })
    const good = await submit(ledger, accountId, [refund('G')], header(NOW - 1))
    await work(ledger, good, 'G', 'APPROVED')
    const unsettled = (await ledger.batches('unsettled')).map(({ batchId }) => batchId)
    expect(unsettled).toEqual([short, left, late, bad])
  })

  test('settledOfLate counts the rows of a batch, whatever they became, and says from when on it counted', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C'), refund('D')])
    const other = await submit(ledger, accountId, [refund('E')])
    await work(ledger, batchId, 'A', 'APPROVED', { atMs: NOW + 10 })
    await work(ledger, batchId, 'B', 'IN_DOUBT', { atMs: NOW + 20 })
    await work(ledger, batchId, 'C', 'READY', { atMs: NOW + 30 })
    await work(ledger, other, 'E', 'DECLINED', { atMs: NOW + 30 })
    const settled = (...[id, sinceMs, among]: [BatchId, number, number?]) =>
      ledger.settledOfLate(id, sinceMs, among ?? 100)
    expect(await settled(batchId, NOW)).toEqual({ rows: 2, sinceMs: NOW })
    expect(await settled(batchId, NOW + 20)).toEqual({ rows: 1, sinceMs: NOW + 20 })
    expect(await settled(other, NOW + 31)).toEqual({ rows: 0, sinceMs: NOW + 31 })
    expect(await settled(batchId, NOW, 8)).toEqual({ rows: 2, sinceMs: NOW })
    expect(await settled(other, NOW, 1)).toEqual({ rows: 1, sinceMs: NOW + 30 })
  })

  test('reasons counts why rows of a batch were declined, failed or are in doubt, the commonest first', async () => {
    const batchId = await submit(
      ledger,
      accountId,
      ['A', 'B', 'C', 'D', 'E', 'F'].map((reference) => refund(reference)),
    )
    const other = await submit(ledger, accountId, [refund('G')])
    for (const reference of ['A', 'B']) await work(ledger, batchId, reference, 'DECLINED', { reason: 'no funds' })
    await work(ledger, batchId, 'C', 'FAILED', { reason: 'bad amount' })
    await work(ledger, batchId, 'D', 'IN_DOUBT', { reason: 'no answer' })
    await work(ledger, batchId, 'E', 'APPROVED', { reason: 'approved' })
    await work(ledger, other, 'G', 'DECLINED', { reason: 'no funds' })
    const of = (state: string, reason: string, count: number) => ({ state, reason, count, categoryKept: null })
    const reasons = await ledger.reasons(batchId)
    expect(reasons[0]).toEqual(of('DECLINED', 'no funds', 2))
    expect(reasons.slice(1)).toHaveLength(2)
    expect(reasons).toEqual(expect.arrayContaining([of('FAILED', 'bad amount', 1), of('IN_DOUBT', 'no answer', 1)]))
  })

  describe('openReading: a reading', () => {
    test('is of one moment, whatever is settled meanwhile', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      const reading = await ledger.openReading(batchId, NOW)
      await work(ledger, batchId, 'A', 'APPROVED')
      await ledger.cancel(batchId, 'stop', CLERK, NOW)
      expect((await listOf(reading.rows())).map(({ state }) => state)).toEqual(['READY', 'READY'])
      expect(reading.batch).toMatchObject({ counts: { READY: 2 }, hold: 'none' })
      await reading.close()
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'CANCELLED'])
    })
  })

  describe('history: the history of a reference', () => {
    test('tells every move, who made it and what was answered, over all rows that had the reference', async () => {
      const first = await submit(ledger, accountId, [refund('A')])
      await work(ledger, first, 'A', 'FAILED', { httpStatus: 400, answerText: 'no', reason: 'refused as wrong' })
      const second = await submit(
        ledger,
        accountId,
        [rowOf(1, refund('A'), { cameFrom: { batchId: first, rowNo: 1 } })],
        {
          fedBack: true,
          retry: ['FAILED'],
        },
      )
      await ledger.cancel(second, 'never mind', CLERK, NOW)
      expect(
        (await ledger.history('A')).map((move) => [move.batchId, move.from, move.to, move.cause, move.attempt]),
      ).toEqual([
        [first, null, 'READY', 'recorded', 0],
        [first, 'READY', 'SENDING', 'claim', 1],
        [first, 'SENDING', 'FAILED', 'answer', 1],
        [second, null, 'READY', 'recorded', 0],
        [second, 'READY', 'CANCELLED', 'cancel', 1],
      ])
      expect((await ledger.history('A'))[2]).toMatchObject({
        httpStatus: 400,
        answerText: 'no',
        reason: 'refused as wrong',
        by: 'worker',
      })
    })

    test('of an unknown reference is empty', async () => {
      expect(await ledger.history('nobody')).toEqual([])
    })
  })

  describe('waitsFor', () => {
    const later = { orderId: '5', amountMinor: 2n }

    test('names the batch whose row holds up every row that is due', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '5' })])
      const second = await submit(ledger, accountId, [refund('B', later)])
      expect([await ledger.waitsFor(first, NOW), await ledger.waitsFor(second, NOW)]).toEqual([null, first])
      const third = await submit(ledger, accountId, [refund('C', { ...later, amountMinor: 3n }), refund('D')])
      expect(await ledger.waitsFor(third, NOW)).toBeNull() // D can
      await ledger.cancel(first, 'no', CLERK, NOW)
      expect(await ledger.waitsFor(second, NOW)).toBeNull()
    })

    test('counts no row that a canary keeps back', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '5' })])
      const canary = await submit(ledger, accountId, [refund('B', later), refund('C')], { canaryRows: 1 })
      expect(await ledger.waitsFor(canary, NOW)).toBe(first)
    })

    test('names none for a row that waits within its batch, or is due later', async () => {
      const own = await submit(ledger, accountId, [refund('A', { orderId: '5' }), refund('B', later)])
      expect(await ledger.waitsFor(own, NOW)).toBeNull()
      const timed = await submit(ledger, accountId, [
        refund('C', { orderId: '5', amountMinor: 3n, executeAtMs: NOW + DAY_MS }),
      ])
      expect(await ledger.waitsFor(timed, NOW)).toBeNull()
      expect(await ledger.waitsFor(timed, NOW + DAY_MS)).toBe(own)
    })
  })

  describe('openReading: rows that changed since a moment', () => {
    const LATER = NOW + 900_000

    test('are those that moved, came, were noted, or repeat one that did', async () => {
      const first = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      const a = await work(ledger, first, 'A', 'IN_DOUBT')
      await work(ledger, first, 'B', 'APPROVED')
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, LATER)
      const second = await submit(ledger, accountId, [refund('A'), refund('B')], { nowMs: NOW + 1 })
      const since = async (batchId: BatchId, sinceMs: number) => {
        const reading = await ledger.openReading(batchId, LATER)
        const rows = (await listOf(reading.rows(sinceMs))).map(({ reference }) => reference)
        await reading.close()
        return rows
      }
      expect(await since(first, NOW)).toEqual(['A', 'B', 'C']) // the batch came then
      expect(await since(first, NOW + 1)).toEqual(['A', 'B'])
      expect(await since(first, LATER)).toEqual(['A'])
      expect(await since(second, LATER)).toEqual(['A'])
      expect(await since(first, LATER + 1)).toEqual([])
      await settle(ledger, a, 'APPROVED', { atMs: LATER + 5 })
      expect(await since(first, LATER + 1)).toEqual(['A'])
      expect(await since(second, LATER + 1)).toEqual(['A'])
    })
  })

  describe('refusals', () => {
    const keep = (id: string, accountName: string, atMs: number) =>
      ledger.recordRefusal({
        ...{ sourceId: `tranche-intake/${id}/1`, accountName, nowMs: atMs, cards: null },
        ...{ reasons: [`amount: of ${id}`, 'and more'], text: JSON.stringify({ reference: id }) },
      })
    const asked = { sinceMs: null, merchant: null, most: 9 }
    const idsOf = ({ refusals }: Awaited<ReturnType<typeof ledger.refusals>>) =>
      refusals.map(({ sourceId }) => sourceId.split('/')[1])

    test('are told latest first, as they were kept, and counted beyond what is asked for', async () => {
      await keep('a', 'shop', NOW)
      await keep('b', 'shop', NOW + 2)
      await keep('c', 'unknown', NOW + 1)
      await keep('a', 'shop', NOW + 9) // known by its source
      const found = await place.open().refusals({ ...asked, most: 2 })
      expect([idsOf(found), found.count]).toEqual([['b', 'c'], 3])
      expect(found.refusals[0]).toEqual({
        ...{ sourceId: 'tranche-intake/b/1', merchant: 'shop', atMs: NOW + 2 },
        ...{ reasons: ['amount: of b', 'and more'], text: '{"reference":"b"}' },
      })
    })

    test('are narrowed to a merchant and to a moment, that moment included', async () => {
      await keep('a', 'shop', NOW)
      await keep('b', 'other', NOW + 1)
      await keep('c', 'shop', NOW + 2)
      expect(idsOf(await ledger.refusals({ ...asked, merchant: 'shop' }))).toEqual(['c', 'a'])
      expect(idsOf(await ledger.refusals({ ...asked, sinceMs: NOW + 1 }))).toEqual(['c', 'b'])
      expect(await ledger.refusals({ ...asked, merchant: 'shop', sinceMs: NOW + 3 })).toEqual({
        refusals: [],
        count: 0,
      })
    })
  })
}
