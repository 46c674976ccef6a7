import { expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import type { Activity, Heartbeat } from '../../src/domain/worker.ts'
import type { Log } from '../../src/ports/log.ts'
import { createHeartbeat } from '../../src/processors/keep-heartbeat.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

const worker = { id: 'vm:7', host: 'vm', pid: 7, command: 'worker', sinceMs: NOW, batchId: null }

function heartbeatOf(beat: (heartbeat: Heartbeat) => Promise<void>) {
  const clock = new ManualClock(NOW)
  const said: string[] = []
  const say = (level: string) => (_: object, text: string) => void said.push(`${level}: ${text}`)
  const log: Log = { debug: () => {}, info: say('info'), warn: say('warn'), error: say('error') }
  return { clock, said, tick: createHeartbeat({ ledger: { beat }, worker, clock, log }) }
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

test('a heartbeat that cannot be written does not stop the tick; a full disk is told once, and so is its end', async () => {
  const full = () => Promise.reject(new Fault('full', 'The disk is full.'))
  const beats = [
    () => Promise.reject(new Fault('unavailable', 'away')),
    full,
    full,
    async () => {},
    async () => {},
    full,
  ]
  const { clock, said, tick } = heartbeatOf(() => beats.shift()!())
  while (beats.length > 0) {
    await expect(tick('idle')).resolves.toBeUndefined()
    await clock.advance(5_000)
  }
  const isFull = expect.stringMatching(/^warn: .*disk is full/)
  expect(said).toEqual([isFull, 'info: the ledger can be written again', isFull])
})
