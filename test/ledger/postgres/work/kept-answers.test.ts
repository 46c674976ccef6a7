import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { RowId } from '../../../../src/domain/ids.ts'
import {
  createKeptAnswers,
  type KeptAnswer,
  type KeptAnswers,
} from '../../../../src/ledger/postgres/work/kept-answers.ts'
import { ManualClock } from '../../../fixtures/clock.ts'
import { NOW, named, settlementOf } from '../../../fixtures/ledgers.ts'

interface Opened {
  readonly kept: KeptAnswers
  readonly clock: ManualClock
  /** Rows whose answers are on disk. */
  readonly written: () => readonly number[]
  readonly isThere: () => boolean
}

function open(): Opened {
  const dir = mkdtempSync(join(tmpdir(), 'tranche-answers-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'answers')
  const clock = new ManualClock(NOW)
  const kept = createKeptAnswers(path, clock, (error) => {
    throw error
  })
  return {
    ...{ kept, clock, isThere: () => existsSync(path) },
    written: () => kept.left().map(({ settlement }) => settlement.rowId),
  }
}

const answerOf = (row: number): KeptAnswer => ({
  settlement: settlementOf({ rowId: row as RowId, attempt: 1, row: named('any') }, 'APPROVED'),
  token: { worker: 7, claimNo: row },
})

function settling({ kept }: Opened, row: number) {
  const settled = Promise.withResolvers<string>()
  const told = kept.until(settled.promise, answerOf(row))
  return { ...settled, told }
}

test('an answer is written down when it has not been settled for five seconds, each at its own time, and once', async () => {
  const opened = open()
  settling(opened, 1)
  await opened.clock.advance(3_000)
  settling(opened, 2)
  await opened.clock.advance(1_999)
  expect(opened.written()).toEqual([])
  await opened.clock.advance(1)
  expect(opened.written()).toEqual([1])
  await opened.clock.advance(2_999)
  expect(opened.written()).toEqual([1])
  await opened.clock.advance(1)
  expect(opened.written()).toEqual([1, 2])
  settling(opened, 3)
  await opened.clock.advance(60_000)
  expect(opened.written()).toEqual([1, 2, 3])
})

test('what is settled in time is never written down, and those that come after it have their whole time', async () => {
  const opened = open()
  const first = settling(opened, 1)
  await opened.clock.advance(4_000)
  first.resolve('settled')
  await first.told
  // None is open: the watch over the first one ends, and is not taken for the one over the next.
  settling(opened, 2)
  await opened.clock.advance(4_999)
  expect(opened.isThere()).toBe(false)
  await opened.clock.advance(1)
  expect(opened.written()).toEqual([2])
})

test('an answer that comes at the moment at which the last one is settled has its whole time', async () => {
  const opened = open()
  const first = settling(opened, 1)
  await opened.clock.advance(4_000)
  first.resolve('settled')
  queueMicrotask(() => settling(opened, 2)) // behind the end of the first, and before the watch over it hears of that
  await opened.clock.advance(4_999)
  expect(opened.isThere()).toBe(false)
  await opened.clock.advance(1)
  expect(opened.written()).toEqual([2])
})

test('what was written down goes when all of it is settled, and not before', async () => {
  const opened = open()
  const [first, second] = [settling(opened, 1), settling(opened, 2)]
  await opened.clock.advance(5_000)
  first.resolve('settled')
  await first.told
  expect(opened.written()).toEqual([1, 2])
  second.resolve('settled')
  await second.told
  expect(opened.isThere()).toBe(false)
})

test('what fails for good is written down at once, and stays', async () => {
  const opened = open()
  const [first, second] = [settling(opened, 1), settling(opened, 2)]
  first.reject(new Error('a bug'))
  await expect(first.told).rejects.toThrow('a bug')
  second.resolve('settled')
  await second.told
  expect(opened.written()).toEqual([1])
})

test('a thousand answers that come and go are watched by one sleep', async () => {
  const opened = open()
  let sleeps = 0
  const sleep = opened.clock.sleep.bind(opened.clock)
  opened.clock.sleep = (ms, signal) => {
    sleeps += 1
    return sleep(ms, signal)
  }
  let last = settling(opened, 0)
  for (let row = 1; row <= 1_000; row++) {
    const next = settling(opened, row)
    last.resolve('settled')
    await last.told
    last = next
  }
  expect(sleeps).toBe(1)
})
