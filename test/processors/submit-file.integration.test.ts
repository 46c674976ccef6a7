// One file handed in more than once at the same moment: it is one batch, whoever comes first.

import { describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { InstructionFile, Reviewed, SubmitRequest } from '../../src/domain/submission.ts'
import { submitFile } from '../../src/processors/submit-file.ts'
import { CLERK, EUR, faultyRow, NOW, refund, rowOf } from '../fixtures/ledgers.ts'
import { accountId, place, useSqliteLedger } from '../fixtures/use-ledger.ts'

useSqliteLedger()

const fileOf = (sha256: string): InstructionFile => ({
  ...{ name: 'refunds.csv', sha256, columns: ['reference'], fedBack: false, xtlOrderIdOf: (reference) => reference },
  async *rows() {
    for (const n of [1, 2, 3]) yield [rowOf(n, refund(`R-${n}`))]
  },
})

const request = (over: Partial<SubmitRequest> = {}): SubmitRequest => ({
  ...{
    accountId,
    runKey: null,
    fingerprint: '',
    sandbox: false,
    retry: [],
    lookalikeDays: 20,
    captureTolerance: 0,
    dailyLimits: null,
    allowAboveLimit: 0,
    allowLookalikes: 0,
  },
  ...{
    skipInvalid: false,
    expectCount: null,
    expectTotals: [],
    canaryRows: null,
    maxDeclinedPercent: null,
    nowMs: NOW,
  },
  ...over,
})

test('of submits of one unknown file one records it, and the others answer with its batch', async () => {
  const file = fileOf('ab'.repeat(32))
  const submitted = await Promise.all([1, 2, 3].map(() => submitFile(file, request(), CLERK, place.open())))
  expect(submitted.map(({ kind }) => kind).toSorted()).toEqual(['known', 'known', 'recorded'])
  const batches = await place.open().batches()
  expect(batches).toMatchObject([{ rows: 3, counts: { READY: 3 } }])
  for (const one of submitted) expect(one).toMatchObject({ batchId: batches[0]?.batchId })
})

test('other bytes with the same rows, at the same moment, are a batch that sends nothing', async () => {
  const files = [fileOf('ab'.repeat(32)), fileOf('cd'.repeat(32))]
  const submitted = await Promise.all(files.map((file) => submitFile(file, request(), CLERK, place.open())))
  expect(submitted.map(({ kind }) => kind)).toEqual(['recorded', 'recorded'])
  const counts = (await place.open().batches()).map((batch) => batch.counts)
  expect(counts).toEqual(expect.arrayContaining([{ READY: 3 }, { DUPLICATE: 3 }]))
})

test('where a step before the recording fails, nothing is recorded, and the next try works', async () => {
  const ledger = place.open()
  const file = fileOf('ab'.repeat(32))
  const full = async () => {
    throw new Error('no space left')
  }
  await expect(submitFile(file, request(), CLERK, ledger, { onReviewed: full })).rejects.toThrow('no space left')
  expect(await ledger.batches()).toEqual([])
  const seen: number[] = []
  const look = async ({ review }: Reviewed) => void seen.push(review.rows, (await ledger.batches()).length)
  expect(await submitFile(file, request(), CLERK, ledger, { onReviewed: look })).toMatchObject({ kind: 'recorded' })
  expect(await submitFile(file, request(), CLERK, ledger, { onReviewed: look })).toMatchObject({ kind: 'known' })
  expect(seen).toEqual([3, 0])
})

describe('told to stop', () => {
  const stopping = (at: 'reading' | 'reviewed' | 'copying') => {
    const stop = new AbortController()
    const ledger = place.open()
    const file = { ...fileOf('ab'.repeat(32)), rows: () => many(at === 'reading' ? stop : null) }
    const onReviewed = async () => {
      if (at === 'reviewed') stop.abort()
      // Its copying waits for turns of the event loop, the first of which comes before the last of its rows.
      if (at === 'copying') setImmediate(() => stop.abort())
    }
    return { ledger, file, submitted: submitFile(file, request(), CLERK, ledger, { onReviewed, signal: stop.signal }) }
  }

  async function* many(stop: AbortController | null) {
    for (let n = 1; n <= 2_000; n += 1) {
      yield [rowOf(n, refund(`R-${n}`))]
      if (n === 1) stop?.abort()
      else expect(stop).toBeNull() // no row is read that is not wanted
    }
  }

  test.each(['reading', 'reviewed', 'copying'] as const)(
    'while a file is %s, nothing of it is recorded, and it can be handed in again',
    async (at) => {
      const { ledger, file, submitted } = stopping(at)
      await expect(submitted).rejects.toMatchObject({
        code: 'interrupted',
        message: expect.stringContaining('Nothing was recorded and nothing was sent'),
      })
      expect(await ledger.batches()).toEqual([])
      const again = { ...file, rows: () => many(null) }
      expect(await submitFile(again, request(), CLERK, ledger)).toMatchObject({ kind: 'recorded' })
    },
  )
})

describe('a file that is a batch already', () => {
  const again = (over: Partial<SubmitRequest>, file = fileOf('ab'.repeat(32))) =>
    submitFile(file, request(over), CLERK, place.open())

  test('goes on with the brakes that it was recorded with, named again or not', async () => {
    const brakes = { canaryRows: 1, maxDeclinedPercent: 20 }
    const { batchId } = (await again(brakes)) as { batchId: BatchId }
    expect(await again(brakes)).toEqual({ kind: 'known', batchId })
    expect(await again({})).toEqual({ kind: 'known', batchId })
  })

  test('is refused with brakes that it was not recorded with', async () => {
    const { batchId } = (await again({ maxDeclinedPercent: 20 })) as { batchId: BatchId }
    const otherwise = { kind: 'braked-otherwise', batchId, open: 3 }
    expect(await again({ canaryRows: 1, maxDeclinedPercent: 20 })).toEqual({ ...otherwise, brakes: ['canary'] })
    expect(await again({ maxDeclinedPercent: 5 })).toEqual({ ...otherwise, brakes: ['max-declined'] })
  })

  test('is held against what is declared of it now, as it was recorded', async () => {
    const { batchId } = (await again({})) as { batchId: BatchId }
    const declared = { expectCount: 3, expectTotals: [{ currency: EUR, amountMinor: 3_000n }] }
    expect(await again(declared)).toEqual({ kind: 'known', batchId })
    expect(await again({ ...declared, expectCount: 4 })).toEqual({
      ...{ kind: 'holds-other', batchId, rows: 3, open: 3 },
      refusals: [{ kind: 'count', expected: 4, found: 3 }],
    })
    const expectTotals = [{ currency: EUR, amountMinor: 3_001n }]
    expect(await again({ ...declared, expectTotals })).toMatchObject({
      refusals: [{ kind: 'total', found: 'EUR=30.00' }],
    })
  })

  test.each([
    ['unread', 'holds-other'],
    [null, 'known'],
  ] as const)('with a bad row whose amount is %s is %s where a total is declared', async (money, kind) => {
    const file: InstructionFile = {
      ...fileOf('ab'.repeat(32)),
      async *rows() {
        yield [rowOf(1, refund('R-1')), faultyRow(2, 'R-2', { money })]
      },
    }
    expect(await again({ skipInvalid: true }, file)).toMatchObject({ kind: 'recorded' })
    const expectTotals = [{ currency: EUR, amountMinor: 1_000n }]
    expect(await again({ skipInvalid: true, expectTotals }, file)).toMatchObject({ kind })
  })
})
