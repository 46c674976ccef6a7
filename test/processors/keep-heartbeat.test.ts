import { expect, test } from 'vitest'
import type { Activity, Heartbeat } from '../../src/domain/worker.ts'
import type { Log } from '../../src/ports/log.ts'
import { createHeartbeat } from '../../src/processors/keep-heartbeat.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

const silent = () => {}
const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
const worker = { id: 'vm:7', host: 'vm', pid: 7, command: 'worker', sinceMs: NOW, batchId: null }

function heartbeatOf(beat: (heartbeat: Heartbeat) => Promise<void>) {
  const clock = new ManualClock(NOW)
  return { clock, tick: createHeartbeat({ ledger: { beat }, worker, clock, log }) }
}

test('of four ticks in a second, one in five seconds is written; a change after two, the end at once', async () => {
  const beats: Array<readonly [number, Activity]> = []
  const { clock, tick } = heartbeatOf(async ({ beatAtMs, activity }) => void beats.push([beatAtMs - NOW, activity]))
  for (const activity of [...Array<'idle'>(24).fill('idle'), ...Array<'working'>(12).fill('working')]) {
    await tick(activity)
    await clock.advance(250)
  }
  await tick('ending')
  expect(beats).toEqual([
    [0, 'idle'],
    [5_000, 'idle'],
    [7_000, 'working'],
    [9_000, 'ending'],
  ])
})

test('a heartbeat that cannot be written does not stop the tick', async () => {
  const { tick } = heartbeatOf(() => Promise.reject(new Error('disk full')))
  await expect(tick('idle')).resolves.toBeUndefined()
})
