// Four workers on one PostgreSQL and one Redis, and everything goes wrong in an order that a seed decides: the three books agree, and
// nothing of a batch left before its approvals.
//
// NEMESIS_HOSTS_SEEDS=7,8      these schedules instead of the usual one; `npm run search -- --only hosts-nemesis` takes new ones, in each mode
// NEMESIS_HOSTS_STEPS=10       strikes in a schedule
//
// Each schedule says its seed on stderr. One that fails says how to repeat it, and leaves what workers and server said in a folder.

import { cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { booksOf, compareBooks } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { type Approvals, approvalsOf, PEOPLE, POLICY } from './approvals.ts'
import { type Hosts, type Mode, openHosts, openRows, RATE } from './hosts.ts'
import { watchPace } from './pace.ts'
import { openDice } from './schedule.ts'

const { NEMESIS_HOSTS_SEEDS = '1', NEMESIS_HOSTS_STEPS = '10' } = process.env
const MODES = ['none', 'synchronous', 'storage'] as const satisfies readonly Mode[]
/** Needs no approval. */
const SMALL = refunds(120)
const LARGE = refunds(700, 50_000)
const ORDERS_OF_LARGE = new Set(LARGE.map((row) => row.request_ref_po_id))
const SCHEDULE_WITHIN_MS = 420_000
/** The lease of a dead worker, the time its requests may take, and a tick. */
const OVER_WITHIN_MS = 120_000

test.for(NEMESIS_HOSTS_SEEDS.split(',').map(Number))(
  'schedule %i of four hosts: every row ends in one line, executed at most once',
  { timeout: SCHEDULE_WITHIN_MS },
  playSchedule,
)

async function playSchedule(seed: number): Promise<void> {
  const repeat = `NEMESIS_HOSTS_SEEDS=${seed} NEMESIS_HOSTS_STEPS=${NEMESIS_HOSTS_STEPS} npx vitest run test/nemesis/hosts`
  const mode = MODES[seed % MODES.length] as Mode
  process.stderr.write(`nemesis: schedule ${seed} (${mode}) begins\n`)
  const struck: string[] = []
  await using hosts = await openHosts({ count: 4, mode, policy: PEOPLE.length === 0 ? null : POLICY })
  try {
    await play(hosts, seed, struck)
  } catch (error) {
    const logs = keepLogs(hosts, seed, struck)
    process.stderr.write(`nemesis: schedule ${seed} (${mode}) failed: ${struck.join(', ')}\n  ${repeat}\n  ${logs}\n`)
    throw new Error(`schedule ${seed} failed. Repeat it: ${repeat}\nWhat workers and server said: ${logs}`, {
      cause: error,
    })
  }
}

async function play(hosts: Hosts, seed: number, struck: string[]): Promise<void> {
  const startedMs = Date.now()
  using pace = watchPace()
  const dice = openDice(seed)
  const { office } = hosts
  const [small, large] = [await submit(hosts, 'small', SMALL), await submit(hosts, 'large', LARGE)]
  const approvals = approvalsOf(hosts, large.batch, (orderId) => ORDERS_OF_LARGE.has(orderId))
  for (let n = 0; n < Number(NEMESIS_HOSTS_STEPS) && (await openRows(hosts)) > 0; n++) {
    const approves = n >= 1 && dice.below(2) === 0
    const [strike] = await Promise.all([hosts.strike(dice), approves ? approvals.next() : null])
    struck.push(`${strike}${approves ? ' while a person approves' : ''}`)
    await hosts.calm()
    await letGo(hosts)
  }
  await workOff(hosts, approvals)
  await hosts.stop()
  for (const { batch, out } of [small, large]) await hosts.tranche('results', batch, '--out', out)
  const kept = await hosts.books()
  const books = booksOf(kept, small, large)
  const deep = await hosts.tranche('doctor', '--deep')
  const counts = Object.groupBy(books.recorded, ({ state }) => state)
  const log = office.sandbox.log()
  const most = pace.mostInASecond(log.map(({ atMs }) => atMs))
  process.stderr.write(
    `nemesis: schedule ${seed}: ${struck.join(', ')}; ${books.recorded.length} rows, ${log.length} executed, ` +
      `${counts.APPROVED?.length ?? 0} approved, ${counts.IN_DOUBT?.length ?? 0} in doubt, ${hosts.kills()} kills, ` +
      `${most} in a second, ${Math.round((Date.now() - startedMs) / 1_000)} s\n`,
  )
  const wrong = [...compareBooks(books), ...(PEOPLE.length === 0 ? [] : approvals.tooEarly(kept))]
  expect(wrong).toEqual([])
  expect(deep.stdout).toContain('ok   record:')
  expect(most).toBeLessThanOrEqual(RATE)
  expect(Object.keys(counts).filter((state) => state !== 'APPROVED' && state !== 'IN_DOUBT')).toEqual([])
}

/** All faults are over: people approve what is left, and let go on what was paused. */
async function workOff(hosts: Hosts, approvals: Approvals): Promise<void> {
  const lastMs = Date.now() + OVER_WITHIN_MS
  while ((await openRows(hosts)) > 0 && Date.now() < lastMs) {
    await approvals.all()
    await letGo(hosts)
    await sleep(500)
  }
  expect(await openRows(hosts)).toBe(0)
}

interface Submitted {
  readonly batch: string
  readonly input: string
  readonly out: string
}

async function submit({ office, tranche }: Hosts, name: string, rows: readonly FileRow[]): Promise<Submitted> {
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put(`${name}.csv`, toCsv(rows))
  const submitted = await tranche('submit', input, '--yes', '--json')
  expect([0, 4], submitted.stderr).toContain(submitted.code)
  return { batch: submitted.last.batch, input, out: office.path(`${name}.out.csv`) }
}

/** A person looks in: doubts may have paused the batches, or hold the account. */
async function letGo(hosts: Hosts): Promise<void> {
  await until('the ledger answers', async () => (await hosts.tranche('status', '--json')).code !== 1)
  const { last } = await hosts.tranche('status', '--json')
  for (const { batch, state } of last.batches as { batch: string; state: string }[])
    if (state === 'paused') await hosts.tranche('resume', batch, '--reason', 'looked at it')
}

function keepLogs(hosts: Hosts, seed: number, struck: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), `nemesis-hosts-${seed}-`))
  const gateway = hosts.office.sandbox
    .log()
    .map((entry) => JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value)))
  const all = { ...hosts.logs(), gateway: gateway.join('\n'), strikes: struck.join('\n') }
  for (const [name, text] of Object.entries(all)) writeFileSync(join(dir, `${name}.log`), text)
  const books = hosts.office.path('books.db')
  if (existsSync(books)) cpSync(books, join(dir, 'books.db'))
  return dir
}
