// Everything at once, in an order that a seed decides: whatever is done to worker, Redis and gateway, the books agree.
//
// NEMESIS_SEEDS=7,8,9    these schedules instead of the usual ones; `npm run search -- --only nemesis` takes new ones
// NEMESIS_STEPS=40       acts in a schedule
// NEMESIS_FIGURES=1      says on stderr what each schedule did and what it cost

import { expect, test } from 'vitest'
import { booksOf, compareBooks, query, readCsv, recordedIn } from '../fixtures/books.ts'
import { cardSales, vaultFile } from '../fixtures/cards.ts'
import { type Ended, until } from '../fixtures/cli.ts'
import { tallied } from '../fixtures/counts.ts'
import {
  type FileRow,
  type MixedFile,
  mixedFile,
  preparationFor,
  refundRow,
  refunds,
  toCsv,
} from '../fixtures/files.ts'
import { tell } from './figures.ts'
import { openDice, type Step, scheduleOf } from './schedule.ts'
import { openStage, type Stage } from './stage.ts'

const { NEMESIS_SEEDS = '26,60,101,734,1588,2203,3105,3927', NEMESIS_STEPS = '14' } = process.env
/** In each file of cards. */
const CARDS = 50
const SCHEDULE_WITHIN_MS = 300_000 + Number(NEMESIS_STEPS) * 5_000

test.concurrent.for(NEMESIS_SEEDS.split(',').map(Number))(
  'schedule %i: every row ends in one line, executed at most once',
  { timeout: SCHEDULE_WITHIN_MS },
  playSchedule,
)

async function playSchedule(seed: number): Promise<void> {
  tallied('schedules of the nemesis', 1)
  const startedMs = Date.now()
  const dice = openDice(seed)
  const files: Submitted[] = []
  const cardFiles: CardFile[] = []
  const starts: (readonly string[])[] = []
  /** First the files of cards; then mostly the service, sometimes a run of a file, which ends when that is done or stuck. */
  const commandOf = () => {
    const { input, out } = files[dice.below(files.length)] as Submitted
    const { command } = cardFiles[dice.below(cardFiles.length)] as CardFile
    return starts.shift() ?? dice.from(['worker'], ['worker'], ['run', input ?? '', '--out', out], command)
  }
  await using stage = await openStage(seed % 3 === 0 ? 'warm' : 'fresh', commandOf)
  const { office } = stage
  files.push(await submit(stage, mixedFile(150), 'mixed'), await submit(stage, plainFile(40), 'refunds'))
  cardFiles.push(await putCards(stage, ['vault', 'create'], vaultFile(CARDS, { first: 1_000 })))
  cardFiles.push(await putCards(stage, ['run'], cardSales(CARDS, 2_000)))
  starts.push(...cardFiles.map(({ command }) => command))

  const steps = scheduleOf(seed, Number(NEMESIS_STEPS))
  office.sandbox.prepare(preparationFor(steps.map((_, n) => messageRow(n))))
  for (const [n, { rows, orMs, act }] of steps.entries()) {
    await stage.ensureWorker()
    stage.send({ schema_version: 1, ...messageRow(n) })
    const enough = office.sandbox.log().length + rows
    const lastMs = Date.now() + orMs
    await until('the next act is due', () => office.sandbox.log().length >= enough || Date.now() > lastMs)
    stage.look()
    stage.perform(act, dice)
  }
  await stage.calm()
  const ends = [] // of runs of the files of cards, which no worker can work off
  for (const { command } of cardFiles) ends.push(await stage.tranche(...command))
  await stage.deliver()
  const idle = await stage.tranche('worker', '--until-idle')
  for (const { id } of query<{ id: string }>(office, "SELECT id FROM batch WHERE source = 'queue'"))
    files.push({ batch: id, input: null, out: office.path(`${id}.csv`), statuses: steps.map(() => 'APPROVED') })
  await Promise.all(files.map(({ batch, out }) => office.tranche('results', batch, '--out', out)))

  const reports = [...files, ...cardFiles]
  const about = told(stage, seed, steps, startedMs, idle)
  tell(about)
  const { caught, struck, left } = stage.toll()
  const found = {
    books: compareBooks(booksOf(office, ...reports)),
    otherThanForetold: reports.flatMap(otherThanForetold),
    leftWaiting: leftWaiting(stage),
    sweptOfNoKilledWorker: referencesMoved(stage, 'sweep').filter((reference) => !caught.has(reference)),
    doubtsBeyondTheStrikes: Math.max(0, referencesMoved(stage, 'doubt').length - struck),
    unexpectedEnds: left.filter(({ code }) => code === 1).map(({ stderr }) => stderr),
  }
  expect(found, about).toEqual({
    books: [],
    otherThanForetold: [],
    leftWaiting: [],
    sweptOfNoKilledWorker: [],
    doubtsBeyondTheStrikes: 0,
    unexpectedEnds: [],
  })
  expect([0, 3, 5, 6], about).toContain(idle.code)
  for (const { code, stderr } of ends) expect([0, 5], `${stderr}\n${about}`).toContain(code)
}

interface Report {
  /** null: messages. */
  readonly input: string | null
  readonly out: string
  readonly statuses: MixedFile['statuses']
}

interface Submitted extends Report {
  readonly batch: string
}

/** The command that sends it records it, and no other does. */
interface CardFile extends Report {
  readonly command: readonly string[]
}

async function putCards({ office }: Stage, command: readonly string[], csv: string): Promise<CardFile> {
  const name = command.join('-')
  const input = await office.put(`cards-${name}.csv`, csv)
  const out = office.path(`cards-${name}.out.csv`)
  const statuses = Array.from({ length: CARDS }, () => 'APPROVED' as const)
  return { input, out, statuses, command: [...command, input, '--out', out] }
}

async function submit({ office, tranche }: Stage, file: MixedFile, name: string): Promise<Submitted> {
  office.sandbox.prepare(file.preparation)
  const input = await office.put(`${name}.csv`, toCsv(file.rows))
  const submitted = await tranche('submit', input, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  return { batch: submitted.last.batch, input, out: office.path(`${name}.out.csv`), statuses: file.statuses }
}

/** Orders of their own, which no other file names. */
function plainFile(count: number): MixedFile {
  const rows = refunds(count, 5_000)
  return { rows, statuses: rows.map(() => 'APPROVED'), preparation: preparationFor(rows) }
}

function messageRow(n: number): FileRow & { readonly reference: string } {
  return refundRow(8_000 + n, { reference: `msg-${n}` })
}

/** Whatever happened, a row that is settled is settled as the gateway would have done in peace. */
function otherThanForetold({ out, statuses }: Report): string[] {
  return readCsv(out)
    .map(({ reference, result_status: status = '' }, i) => ({ reference, status, foretold: statuses[i] ?? 'no row' }))
    .filter(({ status, foretold }) => !['IN_DOUBT', 'PENDING', foretold].includes(status))
    .map(({ reference, status, foretold }) => `${reference} is ${status}, not ${foretold}`)
}

/** A row may wait behind a doubt of its own order, and behind nothing else. */
function leftWaiting({ office }: Stage): string[] {
  const rows = recordedIn(office)
  const doubted = new Set(rows.filter(({ state }) => state === 'IN_DOUBT').map((row) => row.order_key))
  const waitsRightly = (order: string | null) => order !== null && doubted.has(order)
  return rows
    .filter((row) => row.state === 'SENDING' || (row.state === 'READY' && !waitsRightly(row.order_key)))
    .map(({ reference, state }) => `${reference} is ${state}`)
}

function referencesMoved({ office }: Stage, cause: 'sweep' | 'doubt'): string[] {
  const sql = `SELECT reference FROM move m JOIN instruction i ON i.id = m.row_id WHERE cause = '${cause}'`
  return query<{ reference: string }>(office, sql).map(({ reference }) => reference)
}

function told(stage: Stage, seed: number, steps: readonly Step[], startedMs: number, idle: Ended): string {
  const { kills, caught, struck, left } = stage.toll()
  const sql = "SELECT count(*) || ' × ' || reason AS line FROM move WHERE cause = 'doubt' GROUP BY reason"
  const doubts = query<{ line: string }>(stage.office, sql).map(({ line }) => line)
  return [
    `schedule ${seed}: ${kills} kills caught ${caught.size} rows, ${struck} strikes put ${referencesMoved(stage, 'doubt').length} in doubt`,
    `${stage.office.sandbox.log().length} executed, ${Math.round((Date.now() - startedMs) / 1_000)} s, workers left with [${left.map(({ code }) => code)}]`,
    ...steps.map(({ act }) => JSON.stringify(act)),
    ...doubts,
    idle.stderr,
  ].join('\n  ')
}
