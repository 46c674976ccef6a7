// People at random, on a gateway that has a bad day: they hand in, pause, resume, cancel, turn the dial, make backups, try
// to adopt, write results and resolve doubts by the gateway's own log, while what works is killed, frozen and told to end.
//
// HOSTILE_SEEDS=7,8      these days instead of the usual ones; `npm run search -- --only people` takes new ones
// HOSTILE_ACTS=80        acts in a day

import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'csv-stringify/sync'
import { expect, test } from 'vitest'
import { query, readCsv, recordedIn } from '../fixtures/books.ts'
import { type Ended, type Running, until } from '../fixtures/cli.ts'
import { refunds } from '../fixtures/files.ts'
import { tell } from '../nemesis/figures.ts'
import { type Dice, openDice } from '../nemesis/schedule.ts'
import { faulty } from './faults.ts'
import { honest } from './gateway.ts'
import { openPlace, type Place, takingMs } from './place.ts'

const { HOSTILE_SEEDS = '3,8', HOSTILE_ACTS = '30' } = process.env
const DAY_WITHIN_MS = 300_000 + Number(HOSTILE_ACTS) * 5_000

test.concurrent.for(HOSTILE_SEEDS.split(',').map(Number))(
  'day %i: nothing moves twice, every row ends in one line and the books agree',
  { timeout: DAY_WITHIN_MS },
  playDay,
)

interface Day {
  readonly place: Place
  readonly dice: Dice
  readonly files: { readonly input: string; readonly out: string }[]
  readonly tranche: (...args: readonly string[]) => Promise<Ended>
  /** What works now; null: nothing. */
  worker: Running | null
  readonly told: string[]
  /** What commands ended with that may never end so. */
  readonly wrong: string[]
}

async function playDay(seed: number): Promise<void> {
  const dice = openDice(seed)
  const env = {
    TRANCHE_IN_FLIGHT: '6',
    TRANCHE_TIMEOUT_MS: '2500',
    TRANCHE_DOUBT_REST_MS: '0',
    TRANCHE_CONNECTIONS: dice.from('fresh', 'fresh', 'warm'),
  }
  await using place = await openPlace(env, faulty(openDice(seed + 1), 12, takingMs(25)))
  // Some rows are in two of them.
  const rows = [
    refunds(150),
    [...refunds(40, 111), ...refunds(100, 201)],
    [...refunds(10, 31), ...refunds(20, 231), ...refunds(120, 401)],
  ]
  const files = await Promise.all(rows.map((some, n) => place.file(`f${n}`, some)))
  const day: Day = { place, dice, files, tranche: place.office.tranche, worker: null, told: [], wrong: [] }
  await command(day, [0], 'submit', files[0]?.input ?? '')
  for (let act = 0; act < Number(HOSTILE_ACTS); act += 1) {
    if (dice.below(4) > 0) await start(day)
    await somethingMoves(day)
    await pick(dice, ACTS)(day)
  }
  await evening(day)

  const reports = batchesOf(day).map((id) => ({ id, input: null, out: place.office.path(`${id}.csv`) }))
  for (const { id, out } of reports) await command(day, [0], 'results', id, '--out', out)
  const about = [told(day, seed), ...day.told].join('\n  ')
  tell(about)
  const found = {
    wrong: day.wrong,
    lies: place.lies(...reports),
    open: statesOf(place, 'READY', 'SENDING', 'IN_DOUBT'),
  }
  expect(found, about).toEqual({ wrong: [], lies: [], open: [] })
}

function told({ place }: Day, seed: number): string {
  const requests = place.gateway.received().length
  const [doubts, swept, resolved] = ['doubt', 'sweep', 'resolve'].map(place.moves)
  return `day ${seed}: ${requests} requests, ${doubts} doubts, ${swept} swept, ${resolved} resolved`
}

function batchesOf({ place }: Day): string[] {
  const all = query<{ id: string }>(place.office, "SELECT id FROM batch WHERE stage = 'open' ORDER BY rowid")
  return all.map(({ id }) => id)
}

function pick<T>(dice: Dice, from: readonly T[]): T {
  return from[dice.below(from.length)] as T
}

/** Some rows later, or a while later: nothing may be moving. */
async function somethingMoves({ place: { gateway }, dice }: Day): Promise<void> {
  const enough = gateway.received().length + dice.below(12)
  const lastMs = Date.now() + 100 + dice.below(400)
  await until('the next act is due', () => gateway.received().length >= enough || Date.now() > lastMs)
}

async function command(day: Day, codes: readonly number[], ...args: readonly string[]): Promise<Ended> {
  const ended = await day.tranche(...args)
  note(day, codes, args, ended)
  return ended
}

function note(day: Day, codes: readonly number[], args: readonly string[], { code, stderr }: Ended): void {
  const what = `${args.join(' ')} → ${code}`
  day.told.push(what)
  if (code !== null && !codes.includes(code)) day.wrong.push(`${what}: ${stderr}`)
}

// ───────────────────────────────────────────────────────────── What is done in a day

const ANY_END = [0, 3, 5, 6, 130]

/** Mostly the service; sometimes a clerk's run of a file. */
async function start(day: Day): Promise<void> {
  if (day.worker !== null) return
  const { input, out } = pick(day.dice, day.files)
  // Where a file is another batch by now, its results do not take the place of the first one's.
  const args = day.dice.below(3) === 0 ? ['run', input, '--out', out] : ['worker']
  const started = day.place.office.start(...args)
  day.worker = started
  void started.ended.then((ended) => {
    note(day, args[0] === 'run' ? [...ANY_END, 2] : ANY_END, args, ended)
    if (day.worker === started) day.worker = null
  })
}

async function kill(day: Day): Promise<void> {
  day.worker?.kill('SIGKILL')
  await day.worker?.ended
  await start(day)
}

async function terminate(day: Day): Promise<void> {
  day.worker?.kill('SIGTERM')
  await day.worker?.ended
}

async function freeze(day: Day): Promise<void> {
  const frozen = day.worker
  await frozen?.freeze()
  await sleep(day.dice.from(100, 500, 3_000)) // the last is beyond the deadline of what is open
  frozen?.kill('SIGCONT')
}

async function submit(day: Day): Promise<void> {
  await command(day, [0], 'submit', pick(day.dice, day.files).input)
}

async function submitNew(day: Day): Promise<void> {
  const file = await day.place.file(`f${day.files.length}`, refunds(40, 1_000 * day.files.length))
  day.files.push(file)
  await command(day, [0], 'submit', file.input)
}

/** A run beside what works, killed at some moment of its life. */
async function runKilled(day: Day): Promise<void> {
  const { input, out } = pick(day.dice, day.files)
  const args = ['run', input, '--out', `${out}.second.csv`]
  const running = day.place.office.start(...args)
  await Promise.race([sleep(day.dice.below(900)), running.ended])
  running.kill('SIGKILL')
  note(day, [...ANY_END, 2], args, await running.ended)
}

async function steer(day: Day, what: 'pause' | 'resume' | 'cancel'): Promise<void> {
  const id = pick(day.dice, batchesOf(day))
  await command(day, [0, 2], what, id, '--reason', 'as it pleases')
}

async function resumeAll(day: Day): Promise<void> {
  for (const { id } of query<{ id: string }>(day.place.office, "SELECT id FROM batch WHERE hold = 'paused'"))
    await command(day, [0], 'resume', id, '--reason', 'looked at it')
  if (
    query(day.place.office, 'SELECT id FROM account WHERE coalesce(stopped_reason, held_reason) IS NOT NULL').length > 0
  )
    await command(day, [0], 'resume', '--merchant', 'default', '--reason', 'looked at it')
}

async function setRateOverride(day: Day): Promise<void> {
  await command(day, [0], 'rate', 'default', day.dice.from('20/s', '100/s', '500/s', 'configured'))
}

async function backup(day: Day): Promise<void> {
  await command(day, [0], 'backup', day.place.office.path(`backup-${day.told.length}.db`))
}

/** Nothing is there to adopt. Called an older state all the same, which nothing here can know, all that waits is in doubt. */
async function adopt(day: Day): Promise<void> {
  const how = day.dice.from('--moved', '--moved', '--moved', '--restored')
  await command(day, how === '--moved' ? [2, 6] : [0, 6], 'adopt', how, '--reason', 'by mistake') // 6: something works
}

async function writeResults(day: Day): Promise<void> {
  const id = pick(day.dice, batchesOf(day))
  await command(day, [0, 3, 5, 6], 'results', id, '--out', day.place.office.path(`${id}.csv`))
}

async function look(day: Day): Promise<void> {
  await command(
    day,
    [0],
    ...pick(day.dice, [['status'], ['in-doubt', 'list'], ['history', `R-${day.dice.below(150) + 1}`]]),
  )
}

const resolveSome = (day: Day) => resolveDoubts(day, true)

const ACTS: readonly ((day: Day) => Promise<void>)[] = [
  ...[start, kill, kill, kill, terminate, freeze, freeze, submit, submit, submitNew, submitNew, runKilled],
  ...[(day: Day) => steer(day, 'pause'), (day: Day) => steer(day, 'pause'), (day: Day) => steer(day, 'resume')],
  ...[(day: Day) => steer(day, 'cancel'), resumeAll, resumeAll, resumeAll, setRateOverride, backup, adopt],
  ...[writeResults, look, resolveSome, resolveSome],
]

// ───────────────────────────────────────────────────────────── What is found out about doubts

/** By the gateway's own log. What is certainly not there may be sent again. */
async function resolveDoubts(day: Day, sendsAgain: boolean): Promise<void> {
  const { place, dice } = day
  const list = place.office.path(`doubts-${day.told.length}.csv`)
  await command(day, [0], 'in-doubt', 'list', '--out', list)
  await place.gateway.settled() // what a worker that died had sent is read before anybody says that it is not there
  const found = readCsv(list).map((doubt) => {
    const entries = place.gateway.log().filter(({ orderId }) => orderId === doubt.order_id)
    const entry = entries.find(({ status }) => status === 'APPROVED') ?? entries.at(-1)
    const resolution =
      entry === undefined
        ? dice.from('not-executed', sendsAgain ? 'send-again' : 'not-executed')
        : entry.status.toLowerCase()
    return { ...doubt, resolution, resolution_transaction_id: entry?.transactionId ?? '', resolution_reason: 'log' }
  })
  if (found.length === 0) return
  writeFileSync(list, stringify(found, { header: true }))
  await command(day, [0, 5], 'in-doubt', 'resolve', '--file', list) // 5: some were resolved or sent meanwhile, or are of a cancelled batch
}

/** The gateway is well again; everything is handed in, let go on and worked off, and every doubt is resolved. */
async function evening(day: Day): Promise<void> {
  const { place, files } = day
  await terminate(day)
  place.gateway.play(honest)
  for (const { input } of files) await command(day, [0], 'submit', input)
  await command(day, [0], 'rate', 'default', 'configured')
  for (let round = 0; round < 5; round += 1) {
    await resumeAll(day)
    await resolveDoubts(day, false)
    await command(day, ANY_END, 'worker', '--until-idle')
    if (statesOf(place, 'READY', 'SENDING', 'IN_DOUBT').length === 0) return
  }
}

function statesOf({ office }: Place, ...states: readonly string[]): string[] {
  return recordedIn(office)
    .filter(({ state }) => states.includes(state))
    .map(({ reference, state }) => `${reference} is ${state}`)
}
