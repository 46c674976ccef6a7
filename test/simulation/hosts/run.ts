// One run of several hosts from its seed: a time of faults, then calm, then the books.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { createSharedClock } from '../../../src/app/clock.ts'
import { compareBooks, RECORDED, type RecordedRow } from '../books.ts'
import { GatewayTruth } from '../gateway.ts'
import { DOUBT_REST_MS } from '../person.ts'
import { Random } from '../random.ts'
import { SimulatedRedis } from '../redis.ts'
import type { RunResult } from '../run.ts'
import { Life, World } from '../world.ts'
import { Host } from './host.ts'
import { Claims, HostsOffice } from './office.ts'
import { drawHostsPlan, HOSTS, type HostEvent, type HostsPlan } from './plan.ts'
import type { HostsPlant } from './plants.ts'
import type { SimulatedServer } from './server.ts'

export interface HostsRunOptions {
  readonly seed: number
  /** Keeps what happened, to be read. */
  readonly trace?: boolean
  readonly plant?: HostsPlant
}

interface RunParts {
  readonly world: World
  readonly server: SimulatedServer
  readonly truth: GatewayTruth
  readonly redis: SimulatedRedis
  readonly hosts: readonly Host[]
  readonly plan: HostsPlan
  readonly office: HostsOffice
  /** Whether it lacks what was committed, and nobody has adopted it since. */
  readonly older: { isPutBack: boolean }
}

/** No process may need longer to end, and no batch longer to come to rest, once all faults are over. */
const PATIENCE_MS = 300_000
const ROUNDS_OF_CALM = 40
/** Longer than a lease: a worker that died a moment ago counts as one that works. */
const SURELY_GONE_MS = 20_000

export async function runHostsSeed(
  server: SimulatedServer,
  { seed, trace = false, plant = {} }: HostsRunOptions,
): Promise<RunResult> {
  const random = new Random(seed)
  const world = new World(random, { trace, dieAtStep: null, quiet: server.quiet })
  const plan = drawHostsPlan(random)
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tranche-hosts-'))
  await server.begin(world, plan.server, plant.sql)
  try {
    const claims = new Claims()
    const truth = new GatewayTruth(world, claims, plan.weather, false, plan.inFlightMax)
    const redis = new SimulatedRedis(world, plan.redis)
    const hosts = plan.clocks.map((clock, i) => new Host(world, `host-${i}`, join(dir, String(i)), clock))
    const office = new HostsOffice({ world, server, truth, claims, redis, hosts, plan, plant })
    const parts: RunParts = { world, server, truth, redis, hosts, plan, office, older: { isPutBack: false } }
    world.say('plan', () => `seed ${seed}: ${JSON.stringify({ ...plan, batches: undefined, events: undefined })}`)
    await timeOfFaults(parts)
    const { steps } = world
    if (world.violation === null) await timeOfCalm(parts)
    const violations = world.violation === null ? await lookAtBooks(parts) : [world.violation.message]
    if (violations.length > 0) await sayRecord(parts)
    const rows = plan.batches.reduce((sum, { instructions }) => sum + instructions.length, 0)
    return {
      seed,
      violations,
      trace: (world.trace ?? []).filter((line) => !line.includes('  books  ')),
      steps,
      executions: truth.executions.length,
      rows,
    }
  } finally {
    await server.end()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function sayRecord({ world, server }: RunParts): Promise<void> {
  for (const text of [
    'SELECT id, place, fenced_at, ended_at, lease_until FROM worker ORDER BY id',
    'SELECT * FROM sender',
    'SELECT id, stopped_reason, held_reason, wait_until, new_doubts FROM account',
    'SELECT id, stage, hold, hold_reason FROM batch',
    'SELECT id, batch_id, state, due_at, execute_at, reference, order_key, attempt, ever_in_doubt, transaction_id FROM instruction ORDER BY id',
    'SELECT id, row_id, attempt, from_state, to_state, cause, worker, claim_no, at FROM move ORDER BY id',
  ])
    for (const row of await server.all(text)) world.say('record', () => JSON.stringify(row))
}

// ───────────────────────────────────────────────────────────── Faults

async function timeOfFaults(parts: RunParts): Promise<void> {
  const { world, plan } = parts
  for (const event of plan.events.toSorted((one, other) => one.atMs - other.atMs)) {
    await world.run(() => false, event.atMs)
    if (world.violation !== null) return
    await happen(event, parts)
  }
  await world.run(() => false, plan.endsAtMs)
}

async function happen(event: HostEvent, parts: RunParts): Promise<void> {
  const { world, server, truth, redis, hosts, plan, office } = parts
  switch (event.what) {
    case 'submit':
      return office.submit(plan.batches[event.batch]!)
    case 'worker':
      return office.startWorker(event.host)
    case 'worker-dies': {
      const dies = (life: Life) => life.dieIn(event.steps)
      if (event.when !== 'now') return truth.at(event.when, dies)
      const worker = office.workerOf(event.host)
      return worker === undefined ? undefined : dies(worker.life)
    }
    case 'worker-stops':
      return office.workerOf(event.host)?.askToStop()
    case 'worker-freezes':
      if (event.when !== 'now') return truth.at(event.when, (life) => life.freeze(event.forMs))
      return office.workerOf(event.host)?.life.freeze(event.forMs)
    case 'host-suspends': {
      const suspends = (life: Life) =>
        office
          .workers()
          .find((worker) => worker.life === life)
          ?.host.suspend(life, event.forMs)
      if (event.when !== 'now') return truth.at(event.when, suspends)
      const worker = office.workerOf(event.host)
      return worker === undefined ? undefined : suspends(worker.life)
    }
    case 'host-clock':
      return hosts[event.host]?.setWallBy(event.offMs)
    case 'server-crashes':
      return server.crash(event.downForMs)
    case 'copy': {
      // What is handed in meanwhile would be lost with it, and be handed in again: that is another story.
      await world.run(() => !office.commandsRun, world.nowMs + 60_000)
      for (let tries = 0; tries < 100 && !(await server.keepCopy()); tries += 1)
        await world.run(() => false, world.nowMs + 7)
      return
    }
    case 'put-back': {
      parts.older.isPutBack ||= await server.putBack(event.downForMs, event.isPromoted)
      return
    }
    case 'redis-down':
      return redis.down(event.forMs)
    case 'redis-flushed':
      return redis.flush()
    case 'pause':
    case 'resume':
    case 'cancel':
      return office.steer(event.what, event.which)
  }
}

// ───────────────────────────────────────────────────────────── Calm

async function timeOfCalm(parts: RunParts): Promise<void> {
  const { world, server, truth, redis, office } = parts
  world.say('world', () => 'all faults are over')
  truth.calm = true
  server.calm()
  redis.habits = { loses: 0, repeats: 0, delays: 0 }
  if (!(await allEnd(parts))) return
  for (let round = 0; round < ROUNDS_OF_CALM && world.violation === null; round += 1) {
    if (parts.older.isPutBack) {
      await world.run(() => false, world.nowMs + SURELY_GONE_MS)
      office.adopt()
      if (!(await ends(parts, 'a person cannot adopt a ledger that nobody works off'))) return
      parts.older.isPutBack = false
    }
    office.resumeAll()
    if (!(await ends(parts, 'nothing can be resumed'))) return
    office.startWorker(round % HOSTS, true)
    office.startWorker((round + 1) % HOSTS, true)
    if (!(await ends(parts, 'a worker that was to work until nothing moves goes on for ever'))) return
    const open = await server.all<{ state: string }>(
      "SELECT DISTINCT state FROM instruction WHERE state IN ('READY', 'SENDING', 'IN_DOUBT')",
    )
    if (open.length === 0) break
    if (!open.some(({ state }) => state === 'IN_DOUBT')) continue
    await world.run(() => false, world.nowMs + DOUBT_REST_MS + 5_000)
    office.resolveDoubts()
    if (!(await ends(parts, 'doubts cannot be resolved'))) return
  }
  // Whatever the gateway still had in hand of abandoned requests.
  await world.run(() => false, world.nowMs + 30_000)
}

async function allEnd(parts: RunParts): Promise<boolean> {
  for (const worker of parts.office.workers()) worker.askToStop()
  return ends(parts, 'a process did not end although it was asked to and all faults are over')
}

async function ends({ world, office }: RunParts, otherwise: string): Promise<boolean> {
  if (await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS)) return world.violation === null
  world.fail(otherwise)
  return false
}

async function lookAtBooks(parts: RunParts): Promise<string[]> {
  const { world, server, truth, plan, office, hosts } = parts
  const life = new Life(world, 'books', hosts[0])
  const ledger = office.openToRead(life, createSharedClock(life.clock))
  const recorded = {
    rows: await server.all<RecordedRow>(RECORDED.rows),
    moves: await server.all(RECORDED.moves),
    batches: await server.all(RECORDED.batches),
  } as Parameters<typeof compareBooks>[0]['recorded']
  const { ratePerSecond, inFlightMax } = plan
  const accounts = [{ ratePerSecond, inFlightMax }]
  const books = {
    ...{ recorded, truth, plan: { lockFails: false, accounts, captureTolerance: 0 }, promised: office.promised },
    fastest: Math.max(1, ...plan.clocks.map(({ drift }) => drift)),
    ...{ taken: new Set<string>(), originals: [], onlyNew: new Set<never>() },
  }
  let wrong: string[] | null = null
  life.start(
    async () => {
      wrong = await compareBooks(books, ledger, world.wallMs)
      await ledger.close()
    },
    () => {},
  )
  // The audit reads through files, which are no part of the simulation: their time is true time.
  while (life.isAlive && world.violation === null) {
    await world.run(() => false, world.nowMs + 10)
    await tick()
  }
  return wrong ?? ['the books cannot be read']
}
