// The wall clock set forward and back under a run, as a person, a wrong time server or a restored machine does it.

import { test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { type Running, until } from '../fixtures/cli.ts'
import { refunds } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { FAKE_CLOCK, openWallClock, type WallClock } from './clock.ts'
import type { Asked } from './gateway.ts'
import { openPlace, type Place, takingMs } from './place.ts'

/** Only where a clock can be set under a process. */
const clocked = test.skipIf(FAKE_CLOCK === null)

const HOUR_S = 3_600
const ROWS = 150

/** From the true time: far ahead, far behind, and to and fro around it. */
const OFFSETS_S = [2 * HOUR_S, -2 * HOUR_S, 0, -1, 1, 0]

clocked.concurrent(
  'the clock is set forward and back during a run: every row is sent, once, and the run ends with 0',
  async ({ expect }) => {
    await using place = await openPlace({ TRANCHE_IN_FLIGHT: '4', TRANCHE_RATE: '40' }, takingMs(20))
    const { office, gateway } = place
    await using redis = await openRedisServer(office.path('r.sock'))
    const clock = openWallClock(office.path('offset'))
    const env = { ...clock.env, TRANCHE_REDIS_URL: redis.path } // a Redis of its own would not start under that clock
    const { input, out } = await place.file('in', refunds(ROWS))
    const running = office.startWith(env, 'run', input, '--out', out)
    for (const [nth, offsetS] of OFFSETS_S.entries()) {
      await until('the run is under way', () => gateway.received().length >= 15 * (nth + 1), running)
      clock.set(offsetS)
    }
    const ran = await running.ended
    expect(countsIn(out)).toEqual({ APPROVED: ROWS })
    expect(ran.code, ran.stderr).toBe(0)
    expect(gateway.received()).toHaveLength(ROWS)
    expect(place.lies({ input, out })).toEqual([])
  },
)

const RATE = 20
/** A process may lose the processor between its last look at the clock and the byte: two intervals are allowed for that. */
const STALLED = 2

/** What is done at the rate, each time another second's worth of rows has arrived. */
const SPURS: readonly ((clock: WallClock, running: Running) => Promise<void> | void)[] = [
  (clock) => clock.set(HOUR_S),
  (clock) => clock.set(0),
  (clock) => clock.set(1),
  (clock) => clock.set(-1),
  async (_, running) => {
    await running.freeze()
    const wakeMs = Date.now() + 1_500
    await until('it has stood still for longer than a second', () => Date.now() > wakeMs)
    running.kill('SIGCONT')
  },
]

clocked.concurrent('no second holds more than the rate, whatever the clock does', async ({ expect }) => {
  await using place = await openPlace({ TRANCHE_RATE: String(RATE) })
  const { office, gateway } = place
  await using redis = await openRedisServer(office.path('r.sock'))
  const clock = openWallClock(office.path('offset'))
  const env = { ...clock.env, TRANCHE_REDIS_URL: redis.path } // a Redis of its own would not start under that clock
  const { input, out } = await place.file('in', refunds(RATE * 9))
  await office.tranche('submit', input)
  const worker = await office.worker(env)
  await worked(place, RATE / 2, worker)
  for (const spur of SPURS) {
    await spur(clock, worker)
    await worked(place, RATE, worker)
  }
  worker.kill('SIGKILL')
  await worker.ended
  const next = office.startWith(env, 'run', input, '--out', out)
  const ran = await next.ended
  expect([0, 5], ran.stderr).toContain(ran.code)
  expect(fullestSecond(gateway.received().map(({ arrivedMs }) => arrivedMs))).toBeLessThanOrEqual(RATE + STALLED)
  expect(place.lies({ input, out })).toEqual([])
})

clocked('a clock from before the program was written records and sends nothing', async ({ expect }) => {
  await using place = await openPlace({})
  const { office, gateway } = place
  const clock = openWallClock(office.path('offset'))
  clock.set(-6 * 365 * 24 * HOUR_S)
  const { input, out } = await place.file('in', refunds(2))
  for (const args of [
    ['submit', input],
    ['run', input, '--out', out],
    ['worker', '--until-idle'],
  ]) {
    const ended = await office.startWith(clock.env, ...args).ended
    expect([ended.code, ended.stderr]).toEqual([
      2,
      expect.stringMatching(/The clock of this machine says 2020-.*Set the clock\./),
    ])
  }
  const doctor = await office.startWith(clock.env, 'doctor').ended
  expect(doctor.stdout).toMatch(/^FIX {2}clock: The clock of this machine says 2020-/m)
  expect(gateway.received()).toEqual([])
  const ran = await office.tranche('run', input, '--out', out)
  expect([ran.code, gateway.received().length]).toEqual([0, 2])
})

async function worked({ gateway }: Place, rows: number, running: Running): Promise<void> {
  const enough = gateway.received().length + rows
  await until('rows are sent', () => gateway.received().length >= enough, running)
}

/** The most requests that certainly arrived within one second, in order of arrival. */
function fullestSecond(arrived: readonly Asked['arrivedMs'][]): number {
  const lastWithin = ({ from }: Asked['arrivedMs']) => arrived.findLastIndex(({ to }) => to < from + 1_000)
  return Math.max(...arrived.map((one, nth) => lastWithin(one) - nth + 1))
}
