// Four workers on one PostgreSQL and one Redis, and everything goes wrong in an order that a seed decides: the three books agree.
//
// NEMESIS_HOSTS_SEEDS=7,8      these schedules instead of the usual ones; a failure names its seed
// NEMESIS_HOSTS_MINUTES=30     new schedules, one after the other, for so long
// NEMESIS_FIGURES=1            says on stderr what each schedule did and what it cost

import { expect, test } from 'vitest'
import { booksOf, compareBooks } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { tell } from './figures.ts'
import { type Hosts, mostInASecond, openHosts, openRows, RATE } from './hosts.ts'
import { openDice } from './schedule.ts'

const { NEMESIS_HOSTS_SEEDS = '11,4702', NEMESIS_HOSTS_MINUTES, NEMESIS_HOSTS_STEPS = '10' } = process.env
const ROWS = 900
const SCHEDULE_WITHIN_MS = 300_000
/** The lease of a dead worker, the time its requests may take, and a tick. */
const OVER_WITHIN_MS = 120_000

if (NEMESIS_HOSTS_MINUTES === undefined) {
  test.for(NEMESIS_HOSTS_SEEDS.split(',').map(Number))(
    'schedule %i of four hosts: every row ends in one line, executed at most once',
    { timeout: SCHEDULE_WITHIN_MS },
    playSchedule,
  )
} else {
  const endMs = Date.now() + Number(NEMESIS_HOSTS_MINUTES) * 60_000
  test('schedule after schedule of four hosts: every row ends in one line, executed at most once', {
    timeout: Number(NEMESIS_HOSTS_MINUTES) * 60_000 + SCHEDULE_WITHIN_MS,
  }, async () => {
    for (let seed = endMs % 1_000_000; Date.now() < endMs; seed += 1) await playSchedule(seed)
  })
}

async function playSchedule(seed: number): Promise<void> {
  const startedMs = Date.now()
  const dice = openDice(seed)
  await using hosts = await openHosts(4)
  const { office } = hosts
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const submitted = await hosts.tranche('submit', input, '--yes', '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  const { batch } = submitted.last as { batch: string }
  const struck: string[] = []
  for (let n = 0; n < Number(NEMESIS_HOSTS_STEPS) && (await openRows(hosts)) > 0; n++) {
    struck.push(await hosts.strike(dice))
    await hosts.calm()
    await letGo(hosts, batch)
  }
  const about = `seed ${seed}: ${struck.join(', ')}; ${hosts.kills()} kills`
  const lastMs = Date.now() + OVER_WITHIN_MS
  while ((await openRows(hosts)) > 0 && Date.now() < lastMs) {
    await letGo(hosts, batch)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  expect(await openRows(hosts), about).toBe(0)
  await hosts.stop()
  const out = office.path('out.csv')
  await hosts.tranche('results', batch, '--out', out)
  const books = booksOf(await hosts.books(), { input, out })
  const deep = await hosts.tranche('doctor', '--deep')
  expect(deep.stdout, about).toContain('ok   record:')
  const counts = Object.groupBy(books.recorded, ({ state }) => state)
  const most = mostInASecond(office.sandbox.log().map(({ atMs }) => atMs))
  tell(
    `${about}; ${counts.APPROVED?.length} approved, ${counts.IN_DOUBT?.length ?? 0} in doubt, ${most} in a second, ${Date.now() - startedMs} ms`,
  )
  expect(compareBooks(books), about).toEqual([])
  expect(most, about).toBeLessThanOrEqual(RATE)
  expect(
    Object.keys(counts).filter((state) => state !== 'APPROVED' && state !== 'IN_DOUBT'),
    about,
  ).toEqual([])
}

/** A person looks in: doubts may have paused the batch, or hold the account. */
async function letGo(hosts: Hosts, batch: string): Promise<void> {
  await until('the ledger answers', async () => (await hosts.tranche('status', batch, '--json')).code !== 4)
  const status = await hosts.tranche('status', batch, '--json')
  if (/"paused"/.test(status.stdout)) await hosts.tranche('resume', batch, '--reason', 'looked at it')
}
