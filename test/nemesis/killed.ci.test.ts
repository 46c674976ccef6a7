// The long batch: thousands of rows, workers that die one after the other, a Redis that forgets everything meanwhile.

import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { tell } from './figures.ts'

const ROWS = 3_000
const KILLS = 10
const FLUSHES = 5
const IN_FLIGHT = 32

let office: Office
afterEach(() => office.close())

test(`${ROWS} rows, ${KILLS} killed workers, ${FLUSHES} flushes of Redis: every row ends once`, {
  timeout: 180_000,
}, async () => {
  const startedMs = Date.now()
  office = await openOffice({ apart: true, latencyMs: 20, env: { TRANCHE_IN_FLIGHT: String(IN_FLIGHT) } })
  await using redis = await openRedisServer(join(office.dir, 'r.sock'))
  const env = { TRANCHE_REDIS_URL: redis.path }
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const { batch } = (await office.tranche('submit', input, '--json')).last

  const executed = () => office.sandbox.log().length
  const stretch = ROWS / (KILLS + 1)
  const caught: number[] = []
  let running: Running = office.startWith(env, 'worker')
  for (let kill = 1; kill <= KILLS; kill += 1) {
    // Never at the same point of the window's growth; every second time Redis was emptied on the way.
    const enough = Math.floor(kill * stretch) + ((kill * 37) % 50)
    if (kill % 2 === 0) {
      await until('the batch is under way', () => executed() >= enough - stretch / 2, running)
      await redis.flush()
    }
    await until('the batch goes on', () => executed() >= enough, running)
    running.kill('SIGKILL')
    await running.ended
    // Ten such ends would hold the account until a person has looked: one does, half way.
    if (kill === KILLS / 2) await office.tranche('resume', '--merchant', 'default', '--reason', 'looked at the worker')
    caught.push(recordedIn(office).filter(({ state }) => state === 'SENDING').length)
    running = office.startWith(env, ...(kill < KILLS ? ['worker'] : ['run', input, '--out', out, '--json']))
  }
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(5)
  expect(ran.last.batch).toBe(batch)

  const inDoubt = caught.reduce((sum, n) => sum + n, 0)
  const figures = `in doubt ${inDoubt} (${caught}) of at most ${IN_FLIGHT * KILLS}; executed ${executed()}; ${Date.now() - startedMs} ms`
  tell(`${ROWS} rows, ${KILLS} kills, ${FLUSHES} flushes: ${figures}`)
  expect(countsIn(out), figures).toEqual({ APPROVED: ROWS - inDoubt, IN_DOUBT: inDoubt })
  expect(inDoubt, figures).toBeGreaterThan(0)
  expect(Math.max(...caught), figures).toBeLessThanOrEqual(IN_FLIGHT)
  expect(mostExecutionsOfARow()).toBe(1)
  expect(query(office, "SELECT id FROM move WHERE cause NOT IN ('claim', 'answer', 'sweep')"), figures).toEqual([])
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

/** Each row names an order of its own. */
function mostExecutionsOfARow(): number {
  return Math.max(...[...Map.groupBy(office.sandbox.log(), ({ orderId }) => orderId).values()].map((all) => all.length))
}
