import { expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Heartbeat, type WorkerView, workerFor, workerView } from '../../src/domain/worker.ts'

const NOW = Date.UTC(2026, 10, 21, 20)
const HOLDER = { pid: 7, host: 'vm', command: 'worker', startedAtMs: NOW - 3_600_000 }
const beat = (over: Partial<Heartbeat> = {}): Heartbeat => ({
  ...{ id: 'vm:7', host: 'vm', pid: 7, command: 'worker', sinceMs: HOLDER.startedAtMs, batchId: null },
  ...{ beatAtMs: NOW - 5_000, activity: 'working', ...over },
})

test.each([
  ['whose last beat is 5 s old', [beat()], 'working'],
  ['whose last beat is 30 s old', [beat({ beatAtMs: NOW - 30_000 })], 'working'],
  ['whose last beat is older', [beat({ beatAtMs: NOW - 30_001 })], 'silent'],
  ['whose last beat is of before the clock was set back', [beat({ beatAtMs: NOW + 30_001 })], 'silent'],
  ['that writes its results after its last tick', [beat({ beatAtMs: NOW - 600_000, activity: 'ending' })], 'ending'],
  ['that does not come to an end', [beat({ beatAtMs: NOW - 600_001, activity: 'ending' })], 'silent'],
  ['without a beat', [], 'silent'],
  ['beside the beat of a dead one', [beat({ id: 'vm:6', pid: 6, beatAtMs: NOW })], 'silent'],
  ['with host and pid of a dead one', [beat({ sinceMs: HOLDER.startedAtMs - 1, beatAtMs: NOW })], 'silent'],
])('a worker %s is %s', (_what, beats, state) => {
  expect(workerView(HOLDER, beats, NOW)).toMatchObject({ id: 'vm:7', host: 'vm', state })
})

test('a worker that began a moment ago is not silent before its first beat', () => {
  expect(workerView({ ...HOLDER, startedAtMs: NOW - 30_000 }, [], NOW)).toMatchObject({
    state: 'idle',
    lastBeatMs: null,
  })
})

test('where the holder of the lock cannot be read, its heartbeat tells who it is', () => {
  expect(workerView(null, [beat()], NOW)).toMatchObject({ id: 'vm:7', host: 'vm', pid: 7, state: 'working' })
  expect(workerView(null, [], NOW)).toMatchObject({ id: 'unknown', host: null, state: 'silent' })
})

test('of several workers the one counts that does most for a batch, and none whose lease is over', () => {
  const seen = (id: string, over: Partial<WorkerView>): WorkerView => ({
    ...workerView(HOLDER, [beat()], NOW),
    id,
    ...over,
  })
  const ofOthers = seen('others', { merchants: ['other'] })
  const run = seen('run', { command: 'run', batchId: 'b2' as BatchId })
  const ours = seen('ours', { merchants: ['shop'] })
  const batch = { batchId: 'b1' as BatchId, merchant: 'shop' }
  expect(workerFor([ofOthers, run, ours], batch)?.id).toBe('ours')
  expect(workerFor([ofOthers, run, { ...ours, isLost: true }], batch)?.id).toBe('run')
  expect(workerFor([ofOthers], batch)?.id).toBe('others')
  expect(workerFor([{ ...ours, isLost: true }], batch)).toBe(undefined)
})
