// One file over its corrections, its rejects, its retries and later attempts: whatever happened, each row is told once, as it ended.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DraftHeader, DraftRow } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { State } from '../../../src/domain/states.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  dueIn,
  faultyRow,
  findingOn,
  listOf,
  NOW,
  refund,
  rowOf,
  sale,
  settle,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'
import { accountId, ledger } from '../../fixtures/use-ledger.ts'
import { FIRST, MENDED, made, refunds } from './given.ts'

const onlyNew: Partial<DraftHeader> = { onlyNew: true }

async function familyOf(batchId: BatchId) {
  const reading = await ledger.openFamily(batchId, NOW)
  const rows = await listOf(reading.rows())
  await reading.close()
  return { rows, batch: reading.batch }
}

export function describeFamilies(): void {
  describe('a family', () => {
    test('is led by the mended original, and not by results that were fed back after it', async () => {
      const rows = refunds(FIRST, ['71', '72', '73'])
      const cells = ['73'] // by which a bad row is known in the mended file
      const first = await submit(ledger, accountId, [...rows.slice(0, 2), faultyRow(3, made(FIRST, 3), { cells })])
      await work(ledger, first, made(FIRST, 1), 'APPROVED')
      await work(ledger, first, made(FIRST, 2), 'FAILED')
      const original = [
        ...refunds(MENDED, ['71', '72']),
        rowOf(3, refund(made(MENDED, 3), { orderId: '73' }), { cells }),
      ]
      const mended = await submit(ledger, accountId, original, onlyNew)
      await work(ledger, mended, made(MENDED, 3), 'APPROVED')
      const line = (rowNo: number) => ({ cameFrom: { batchId: first, rowNo } })
      const back = [
        ...rows.slice(0, 2).map((row, i) => rowOf(i + 1, row, line(i + 1))),
        faultyRow(3, made(FIRST, 3), line(3)),
      ]
      const fed: Partial<DraftHeader> = { fedBack: true, retry: ['FAILED'] }
      const again = await submit(ledger, accountId, back, fed)
      await work(ledger, again, made(FIRST, 2), 'APPROVED')
      const reading = await ledger.openFamily(first, NOW)
      const told = (await listOf(reading.rows())).map(({ state, recordedAs }) => [state, recordedAs])
      await reading.close()
      expect(reading.batch.batchId).toBe(mended)
      expect(told).toEqual([
        ['APPROVED', { batchId: first, rowNo: 1 }],
        ['APPROVED', { batchId: again, rowNo: 2 }],
        ['APPROVED', { batchId: mended, rowNo: 3 }],
      ])
    })

    test('tells every row that its batch sent, though the first file that this comes from does not lead to it', async () => {
      const cells = (order: string) => ({ cells: [order] })
      const bad = (rowNo: number, hash: string, order: string) => faultyRow(rowNo, made(hash, rowNo), cells(order))
      const approve = async (batchId: BatchId) => {
        for (const { instruction } of await dueIn(ledger, batchId))
          await work(ledger, batchId, instruction.reference, 'APPROVED')
      }
      const first = await submit(ledger, accountId, [
        ...refunds(FIRST, ['71', '72']),
        bad(3, FIRST, '73'),
        bad(4, FIRST, '74'),
      ])
      await approve(first)
      const mended = [3, 4].map((rowNo) =>
        rowOf(rowNo - 2, refund(made(FIRST, rowNo), { orderId: `7${rowNo}` }), cells(`7${rowNo}`)),
      )
      await approve(await submit(ledger, accountId, mended, onlyNew))
      const second = await submit(ledger, accountId, refunds(MENDED, ['73', '74', '75', '76']), onlyNew)
      await approve(second)
      const { rows, batch } = await familyOf(second)
      expect(batch.batchId).toBe(second)
      expect(rows.filter(({ recordedAs }) => recordedAs?.batchId === second).map(({ state }) => state)).toEqual([
        'APPROVED',
        'APPROVED',
      ])
    })

    test('is led by the newest file, whichever of its batches is asked for', async () => {
      const orders = ['71', '72', '73', '74']
      const cells = ['74']
      const bad = faultyRow(4, made(FIRST, 4), { cells })
      const first = await submit(ledger, accountId, [...refunds(FIRST, orders.slice(0, 3)), bad])
      const original = refunds(MENDED, orders).map((row, i) => rowOf(i + 1, row, i === 3 ? { cells } : {}))
      const mended = await submit(ledger, accountId, original, onlyNew)
      const newest = await submit(ledger, accountId, refunds('0f1e2d3c4b5a6978', [...orders, '75']), onlyNew)
      for (const batchId of [first, mended, newest]) {
        const reading = await ledger.openFamily(batchId, NOW)
        const told = await listOf(reading.rows())
        await reading.close()
        expect([reading.batch.batchId, told.map(({ recordedAs }) => recordedAs?.batchId)]).toEqual([
          newest,
          [first, first, first, mended, newest],
        ])
      }
    })
  })

  describe('a family of any batch', () => {
    test('tells a bad row that is in no later file, and no bad row that is mended in one', async () => {
      const bad = (n: number, order: string) => faultyRow(n, made(FIRST, n), { cells: [order] })
      const first = await submit(ledger, accountId, [...refunds(FIRST, ['71', '72']), bad(3, '73'), bad(4, '74')])
      const mended = rowOf(3, refund(made(MENDED, 3), { orderId: '74' }), { cells: ['74'] })
      const rows = refunds(MENDED, ['71', '72']).map((row, i) => rowOf(i + 1, row))
      const second = await submit(ledger, accountId, [...rows, mended], onlyNew)
      for (const batchId of [first, second]) {
        const told = (await familyOf(batchId)).rows
        expect(told.map(({ state, cells }) => [state, cells[0]]).slice(2)).toEqual([
          ['READY', '74'],
          ['INVALID', '73'],
        ])
        expect(told.at(-1)?.warning).toBe('the newest file does not have this row')
      }
    })

    test('tells what was paid of a row that the newest file asks for otherwise, once and with a warning', async () => {
      const roster = (amountMinor: bigint) => [
        refund('A', { orderId: '71', amountMinor }),
        refund('B', { orderId: '72' }),
      ]
      const first = await submit(ledger, accountId, roster(1_000n))
      await work(ledger, first, 'A', 'APPROVED')
      const second = await submit(ledger, accountId, roster(9_900n))
      const { rows } = await familyOf(second)
      expect(rows.map(({ reference, state, warning }) => [reference, state, warning])).toEqual([
        ['A', 'APPROVED', 'the newest file has this row otherwise, and it was not sent so'],
        ['B', 'READY', null],
      ])
    })

    test('tells what only one of two corrections of a file sent', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
      const second = await submit(ledger, accountId, refunds(MENDED, ['71', '72', '73', '74']), onlyNew)
      const third = await submit(ledger, accountId, refunds('0f1e2d3c4b5a6978', ['71', '72', '73', '75']), onlyNew)
      for (const batchId of [first, second, third]) {
        const { rows, batch } = await familyOf(batchId)
        expect(batch.batchId).toBe(third)
        expect(rows.map(({ recordedAs }) => recordedAs?.batchId)).toEqual([first, first, first, third, second])
      }
    })

    test('tells what a file sent of its own that repeated more than it sent', async () => {
      const first = await submit(ledger, accountId, refunds(FIRST, ['71', '72', '73']))
      const second = await submit(ledger, accountId, refunds(MENDED, ['71', '72', '73', '74', '75']), onlyNew)
      const third = await submit(ledger, accountId, refunds('0f1e2d3c4b5a6978', ['74', '76', '77']), onlyNew)
      const { rows } = await familyOf(third)
      expect(rows.map(({ recordedAs }) => recordedAs?.batchId)).toEqual([
        second,
        third,
        third,
        first,
        first,
        first,
        second,
      ])
    })

    test('is that of the file, also where its rejects are asked for', async () => {
      const bad = faultyRow(3, made(FIRST, 3), { cells: ['73'] })
      const first = await submit(ledger, accountId, [...refunds(FIRST, ['71', '72']), bad])
      const rejects = await submit(ledger, accountId, [refund(made(FIRST, 3), { orderId: '73' })])
      const { rows, batch } = await familyOf(rejects)
      expect(batch.batchId).toBe(first)
      expect(rows.map(({ recordedAs }) => recordedAs?.batchId)).toEqual([first, first, rejects])
    })

    test('tells of money that the first attempt may have moved beside the one that runs again', async () => {
      const first = await submit(ledger, accountId, [refund('A', { orderId: '71' })])
      const row = await work(ledger, first, 'A', 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'not-executed' }), CLERK, NOW + DAY_MS)
      const again = await submit(ledger, accountId, [refund('A', { orderId: '71' })], { retry: ['FAILED'] })
      await work(ledger, again, 'A', 'APPROVED')
      await settle(ledger, row, 'APPROVED')
      const { rows } = await familyOf(first)
      expect(rows).toMatchObject([{ state: 'APPROVED', warning: expect.stringContaining(`row 1 of batch ${first}: `) }])
    })

    test('tells each row once, and what was paid of it, over any corrections, rejects, retries and later attempts', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.boolean(),
          fc.integer({ min: 1, max: 2 ** 31 }),
          fc.array(STEP, { maxLength: 5 }),
          tellsOnce,
        ),
        {
          numRuns: tries(60),
          examples: [
            [false, 1_610_612_722, ['correct', 'retry', 'correct']],
            [false, 4, ['correct', 'reattempt', 'correct', 'correct', 'correct']],
            [false, 293_643_143, ['correct', 'rejects', 'correct']],
            [false, 766_440_983, ['correct', 'rejects']],
            [false, 1_528_098_267, ['correct', 'correct', 'rejects', 'reattempt']],
            [false, 9, ['rejects', 'correct']],
          ],
        },
      )
    })
  })
}

const STEP = fc.constantFrom('correct', 'correct', 'rejects', 'retry', 'reattempt')
type Step = typeof STEP extends fc.Arbitrary<infer Kind> ? Kind : never

let trials = 0

/** A clerk's month: after every file some rows are paid, declined, failed, or cancelled before they were sent. */
async function tellsOnce(hasReferences: boolean, seed: number, steps: readonly Step[]): Promise<void> {
  const trial = ++trials
  const runKey = `t${trial}`
  let random = seed
  const below = (n: number) => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
    return (random >>> 8) % n
  }
  const batches: BatchId[] = []
  const ever = new Set<string>()
  let last = 0
  const added = () => {
    const id = `${trial}${String(++last).padStart(3, '0')}`
    ever.add(id)
    return { id, isBad: last % 3 === 0 && below(2) === 0 }
  }
  let file = Array.from({ length: 6 }, added)
  /** What became of each row when it was last sent. */
  const ended = new Map<string, State>()
  let paid = 0

  const read = async (batchId: BatchId) => {
    const reading = await ledger.openReading(batchId, NOW)
    const rows = await listOf(reading.rows())
    await reading.close()
    const cellIn = (cells: readonly string[], column: string) => cells[reading.columns.indexOf(column)]!
    return rows.map((row) => ({ ...row, id: cellIn(row.cells, 'card'), amount: cellIn(row.cells, 'amount') }))
  }
  const toRow = (rowNo: number, reference: string, id: string, isBad: boolean, over: Partial<DraftRow> = {}) =>
    isBad
      ? faultyRow(rowNo, reference, { cells: [id, 'x'], ...over })
      : rowOf(rowNo, sale(reference, id), { cells: [id, '10.00'], ...over })

  async function send(rows: readonly DraftRow[], over: Partial<DraftHeader>): Promise<void> {
    if (rows.length === 0) return
    const nowMs = NOW + batches.length * 7 * DAY_MS
    const header = { runKey, columns: ['card', 'amount'], fileSha256: `${trial}-${batches.length}`, nowMs, ...over }
    const batchId = await submit(ledger, accountId, rows, header)
    batches.push(batchId)
    for (const { instruction } of await dueIn(ledger, batchId, nowMs)) {
      const to = (['APPROVED', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED'] as const)[below(5)]!
      ended.set(instruction.vaultId!, to)
      if (to === 'CANCELLED') continue
      if (to === 'APPROVED') paid += 1
      const row = await claimNamed(ledger, batchId, instruction.reference, nowMs)
      await settle(ledger, row, to, { reason: 'Insufficient funds', atMs: nowMs, sentAtMs: nowMs })
    }
    await ledger.cancel(batchId, 'the rest is not wanted', CLERK, nowMs)
  }

  const sendFile = () => {
    const hash = `${trial}a${batches.length}`.padStart(16, '0')
    const rows = file.map(({ id, isBad }, i) =>
      toRow(i + 1, `${runKey}/${hasReferences ? `sub${id}` : made(hash, i + 1)}`, id, isBad),
    )
    return send(rows, onlyNew)
  }
  const feedBack = async (over: Partial<DraftHeader>) => {
    const from = batches[below(batches.length)]!
    const lines = (await read(from)).map(({ rowNo, reference, id, amount }, i) =>
      toRow(i + 1, reference!, id, amount === 'x', { cameFrom: { batchId: from, rowNo } }),
    )
    return send(lines, { fedBack: true, ...over })
  }
  await sendFile()
  for (const step of steps) {
    if (step === 'correct') {
      if (below(2) === 0) file = file.toSpliced(below(file.length), 1)
      file = file.map((row) => (below(2) === 0 ? { ...row, isBad: false } : row))
      // One row only: a file most of whose rows are spoiled is no state of the one before.
      const spoiled = batches.length === 1 && !file.some(({ isBad }) => isBad) ? below(file.length) : -1
      file = file.map((row, i) => (i === spoiled ? { ...row, isBad: true } : row))
      if (below(2) === 0) file.splice(below(file.length + 1), 0, added())
      await sendFile()
    } else if (step === 'rejects') {
      const bad = (await read(batches[below(batches.length)]!)).filter(({ state }) => state === 'INVALID')
      const rows = bad.map(({ reference, id, rowNo }, i) => {
        const isBad = below(3) === 0
        return toRow(i + 1, reference!, id, isBad, { cells: [isBad ? 'x' : '10.00', id, String(rowNo)] })
      })
      await send(rows, { ...onlyNew, columns: ['amount', 'card', 'reject_line'] })
    } else if (step === 'retry') await feedBack({ retry: ['FAILED', 'CANCELLED'] })
    else await feedBack({ reattempt: { categories: ['funds'], reasonRules: [], xtlOrderIdOf: () => null! } })
  }

  for (const batchId of batches) {
    const { rows, batch } = await familyOf(batchId)
    const told = rows.map(({ cells: [id], state }) => [id, state]).sort(([a], [b]) => (a! < b! ? -1 : 1))
    expect(told).toEqual([...ever].sort().map((id) => [id, ended.get(id) ?? 'INVALID']))
    const approved = rows.filter(({ state }) => state === 'APPROVED')
    expect(new Set(approved.map(({ recordedAs: r }) => `${r?.batchId} ${r?.rowNo}`)).size).toBe(paid)
    const sum = batch.totals.filter(({ state }) => state === 'APPROVED').reduce((all, t) => all + t.amountMinor, 0n)
    expect(sum).toBe(BigInt(paid) * 1_000n)
  }
}
