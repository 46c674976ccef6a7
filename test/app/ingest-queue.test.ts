import { expect, test } from 'vitest'
import { createIngestQueue, type IngestQueue, TooManyWait } from '../../src/app/ingest-queue.ts'

/** Jobs that end when they are told to, and the order in which they began. */
function jobsIn(queue: IngestQueue) {
  const began: string[] = []
  const ends = new Map<string, () => void>()
  const add = (name: string, caller: string, records = false) =>
    queue.run({ name, caller, records }, () => {
      began.push(name)
      return new Promise<void>((resolve) => void ends.set(name, resolve))
    })
  const end = async (name: string) => {
    await new Promise(setImmediate)
    ends.get(name)?.()
    await new Promise(setImmediate)
  }
  return { began, add, end }
}

test('callers take turns, and what is recorded comes before every check', async () => {
  const queue = createIngestQueue()
  const { began, add, end } = jobsIn(queue)
  const all = [add('a1', 'a'), add('a2', 'a'), add('a3', 'a'), add('b1', 'b'), add('c1', 'c'), add('b2', 'b')]
  all.push(add('a4', 'a', true))
  expect(['a4', 'b1', 'c1', 'a2', 'b2', 'a3', 'a1'].map((name) => queue.placeOf(name))).toEqual([
    0,
    1,
    2,
    3,
    4,
    5,
    null,
  ])
  for (const name of ['a1', 'a4', 'b1', 'c1', 'a2', 'b2', 'a3']) await end(name)
  await Promise.all(all)
  expect(began).toEqual(['a1', 'a4', 'b1', 'c1', 'a2', 'b2', 'a3'])
})

test('one caller fills its own share alone, and a full queue of checks leaves room for what is recorded', async () => {
  const queue = createIngestQueue()
  const { add, end } = jobsIn(queue)
  const all = [add('first', 'a')]
  for (let i = 0; i < 20; i++) all.push(add(`a${i}`, 'a'))
  await expect(add('one more', 'a')).rejects.toThrow(TooManyWait)
  for (let i = 0; i < 80; i++) all.push(add(`b${i}`, `b${i % 4}`))
  await expect(add('of another', 'c')).rejects.toThrow(TooManyWait)
  all.push(add('recorded', 'a', true))
  expect(queue.placeOf('recorded')).toBe(0)
  const over = Promise.allSettled(all)
  const closed = queue.close()
  await end('first')
  await closed
  const ended = await over
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', ...Array(101).fill('rejected')])
})

test('a file that is not read in its time is given up, and the next one is read', async () => {
  const queue = createIngestQueue({ readWithinMs: 1 })
  const stopped = queue.run(
    { name: 'slow', caller: 'a', records: false },
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped'))),
  )
  expect(await stopped).toBe('stopped')
  expect(await queue.run({ name: 'next', caller: 'a', records: true }, async () => 'read')).toBe('read')
})

test('where the server ends, a check is stopped and what is being recorded comes to its end', async () => {
  for (const [records, how] of [
    [false, 'stopped'],
    [true, 'recorded'],
  ] as const) {
    const queue = createIngestQueue()
    const job = queue.run({ name: 'x', caller: 'a', records }, async (signal) => {
      await new Promise(setImmediate)
      return signal.aborted ? 'stopped' : 'recorded'
    })
    await Promise.resolve() // it has begun
    await queue.close()
    expect(await job).toBe(how)
  }
})
