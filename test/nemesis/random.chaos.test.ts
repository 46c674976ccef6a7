// Everything at once, in an order that a seed decides: whatever is done to worker, Redis and gateway, the books agree.
//
// NEMESIS_SEEDS=7,8,9    these schedules instead of the usual ones; a failure names its seed
// NEMESIS_MINUTES=30     new schedules, one after the other, for so long
// NEMESIS_STEPS=40       acts in a schedule
// NEMESIS_FIGURES=1      says on stderr what each schedule did and what it cost

import { expect, test } from 'vitest'
import { booksOf, compareBooks, query, readCsv, recordedIn } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { type MixedFile, mixedFile, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { tell } from './figures.ts'
import { openDice, scheduleOf } from './schedule.ts'
import { openStage, type Stage } from './stage.ts'

const { NEMESIS_SEEDS = '1,2,3,4', NEMESIS_MINUTES, NEMESIS_STEPS = '14' } = process.env
const SCHEDULE_WITHIN_MS = 60_000 + Number(NEMESIS_STEPS) * 5_000

if (NEMESIS_MINUTES === undefined) {
  test.concurrent.for(NEMESIS_SEEDS.split(',').map(Number))(
    'schedule %i: every row ends in one line, executed at most once, and in doubt only where something was done to it',
    { timeout: SCHEDULE_WITHIN_MS },
    playSchedule,
  )
} else {
  const endMs = Date.now() + Number(NEMESIS_MINUTES) * 60_000
  test('schedule after schedule: every row ends in one line, executed at most once', {
    timeout: Number(NEMESIS_MINUTES) * 60_000 + SCHEDULE_WITHIN_MS,
  }, async () => {
    for (let seed = endMs % 1_000_000; Date.now() < endMs; seed += 1) await playSchedule(seed)
  })
}

async function playSchedule(seed: number): Promise<void> {
  const startedMs = Date.now()
  await using stage = await openStage()
  const { office } = stage
  const files = [await submit(stage, mixedFile(200), 'mixed'), await submit(stage, plainFile(100), 'refunds')]

  const steps = scheduleOf(seed, Number(NEMESIS_STEPS))
  const dice = openDice(seed)
  for (const { rows, orMs, act } of steps) {
    await stage.ensureWorker()
    const enough = office.sandbox.log().length + rows
    const lastMs = Date.now() + orMs
    await until('the next act is due', () => office.sandbox.log().length >= enough || Date.now() > lastMs)
    stage.look()
    stage.perform(act, dice)
  }
  await stage.calm()
  const idle = await stage.tranche('worker', '--until-idle')

  const { kills, caught, struck, left } = stage.toll()
  const moved = (cause: string) =>
    query<{ reference: string }>(
      office,
      `SELECT reference FROM move m JOIN instruction i ON i.id = row_id WHERE cause = '${cause}'`,
    )
  const doubts = moved('doubt').length
  const seconds = Math.round((Date.now() - startedMs) / 1_000)
  const about = `schedule ${seed}: ${kills} kills caught ${caught.size} rows, ${struck} strikes put ${doubts} in doubt, workers left with [${left.map(({ code }) => code)}], ${seconds} s
  ${steps.map(({ act }) => JSON.stringify(act)).join('\n  ')}\n${reasons(stage)}\n${idle.stderr}`
  tell(about)

  expect([0, 3, 5, 6], about).toContain(idle.code)
  expect(new Set(moved('sweep').map(({ reference }) => reference)), about).toEqual(caught)
  expect(doubts, about).toBeLessThanOrEqual(struck)
  expect(moveless(stage), about).toEqual([])
  const reports = []
  for (const { batch, input, out, statuses } of files) {
    expect((await office.tranche('results', batch, '--out', out)).code, about).toBe(0)
    const wrong = readCsv(out).filter(
      ({ result_status: status }, i) => !['IN_DOUBT', 'PENDING', statuses[i]].includes(status),
    )
    expect(wrong, about).toEqual([])
    reports.push({ input, out })
  }
  expect(compareBooks(booksOf(office, ...reports)), about).toEqual([])
}

function reasons({ office }: Stage): string {
  const sql = "SELECT count(*) || ' × ' || reason AS line FROM move WHERE cause = 'doubt' GROUP BY reason"
  return query<{ line: string }>(office, sql)
    .map(({ line }) => `  ${line}`)
    .join('\n')
}

/** Rows that could have been sent and were not: those that wait must wait behind a doubt of their order. */
function moveless({ office }: Stage): string[] {
  const rows = recordedIn(office)
  const doubted = new Set(rows.filter(({ state }) => state === 'IN_DOUBT').map((row) => row.order_key))
  return rows
    .filter((row) => row.state === 'SENDING' || (row.state === 'READY' && !doubted.has(row.order_key)))
    .map(({ reference, state }) => `${reference} is ${state}`)
}

/** Orders of their own, which no other file names. */
function plainFile(count: number): MixedFile {
  const rows = refunds(count, 5_000)
  return { rows, statuses: rows.map(() => 'APPROVED'), preparation: preparationFor(rows) }
}

async function submit({ office, tranche }: Stage, { rows, statuses, preparation }: MixedFile, name: string) {
  office.sandbox.prepare(preparation)
  const input = await office.put(`${name}.csv`, toCsv(rows))
  const submitted = await tranche('submit', input, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  return { batch: submitted.last.batch as string, input, out: office.path(`${name}.out.csv`), statuses }
}
