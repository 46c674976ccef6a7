// One run from its seed: a time of faults, then calm, then the books.

import type { ApprovalPolicy } from '../../src/domain/approval.ts'
import { CLERK, DAY_MS } from '../fixtures/ledgers.ts'
import { drawApproving, drawPolicy } from './approvers.ts'
import { compareBooks, RECORDED, type Recorded } from './books.ts'
import { GatewayTruth } from './gateway.ts'
import { Habits, withHabits } from './habits.ts'
import { drawMonth, Month } from './month.ts'
import { Office } from './office.ts'
import { DOUBT_REST_MS } from './person.ts'
import { drawDailyLimits, drawPlan, drawRepeats, type Plan, type PlannedEvent } from './plan.ts'
import type { Plant } from './plants.ts'
import { Random } from './random.ts'
import { SimulatedRecord } from './record.ts'
import { SimulatedRedis } from './redis.ts'
import { Life, World } from './world.ts'

export interface RunOptions {
  readonly seed: number
  /** Keeps what happened, to be read. */
  readonly trace?: boolean
  /** Whoever would take this step is killed before it. */
  readonly dieAtStep?: number | null
  readonly plant?: Plant
}

export interface RunResult {
  readonly seed: number
  /** What must never be and was, in words; empty: all is well. */
  readonly violations: readonly string[]
  readonly trace: readonly string[]
  /** Events of processes in the time of faults. */
  readonly steps: number
  readonly executions: number
  readonly rows: number
}

/** No process may need longer to end, and no batch longer to come to rest, once all faults are over. */
const PATIENCE_MS = 240_000
const ROUNDS_OF_CALM = 60
/** On each of them something leaves. */
const DAYS_OF_CALM = 150
/** Longer than the rest of a doubt, even by a wall clock that was set. */
const QUIET_MS = DOUBT_REST_MS + 40_000

/** Every so many seeds. */
const MONTHS = 3

let kept: SimulatedRecord | null = null

export async function runSeed({ seed, trace = false, dieAtStep = null, plant = {} }: RunOptions): Promise<RunResult> {
  kept ??= new SimulatedRecord()
  const record = kept
  const random = new Random(seed)
  const world = new World(random, { trace, dieAtStep })
  record.begin(world, plant)
  const isMonth = seed % MONTHS === 0
  // From numbers of their own, and not in every month, so that the others stay what their seeds make them.
  const ofHabits = new Random(seed + 4_000_000_007)
  const hasHabits = isMonth && ofHabits.chance(0.6)
  const plan = isMonth
    ? withHabits(drawMonth(random), hasHabits ? ofHabits : null)
    : { ...drawPlan(random), dailyLimits: drawDailyLimits(new Random(seed + 2_000_000_011)) }
  const repeats = drawRepeats(new Random(seed + 3_000_000_019))
  const weather = { ...plan.weather, repeats: repeats === 0 && hasHabits ? drawRepeats(ofHabits) : repeats }
  const ofApprovals = new Random(seed + 1_000_000_007)
  // What waits for an approval meets nothing of its order for days.
  const policy = isMonth && ofApprovals.chance(0.6) ? null : drawPolicy(ofApprovals)
  const events = policy === null ? [] : drawApproving(ofApprovals, plan.endsAtMs)
  const truth = new GatewayTruth(world, record, weather, !plan.lockFails)
  const redis = new SimulatedRedis(world, plan.redis)
  const habits = hasHabits ? new Habits(ofHabits, world, record, truth) : null
  const month = isMonth ? new Month(new Random(seed + 2_000_000_011), truth, habits) : null
  const office = new Office({ world, record, truth, redis, plan, plant, month })
  const parts: RunParts = {
    world,
    record,
    truth,
    redis,
    plan: { ...plan, events: [...plan.events, ...events] },
    office,
    month,
  }
  describe(parts, seed)
  await openAccounts(parts, policy)
  await timeOfFaults(parts)
  const { steps } = world
  if (world.violation === null) await timeOfCalm(parts)
  const violations = world.violation === null ? await lookAtBooks(parts) : [world.violation.message]
  if (violations.length > 0) sayRecord(world, record)
  const { n: rows } = record.all<{ n: number }>('SELECT count(*) AS n FROM instruction')[0] as { n: number }
  return { seed, violations, trace: world.trace ?? [], steps, executions: truth.executions.length, rows }
}

/** What the ledger has when something is wrong with it. */
function sayRecord(world: World, record: SimulatedRecord): void {
  const lines = (sql: string) => record.all<object>(sql).map((row) => JSON.stringify(row))
  for (const line of [
    ...lines('SELECT id, stopped_reason, held_reason, wait_until, new_doubts, resumes FROM account'),
    ...lines('SELECT id, source, stage, hold, hold_reason, canary_row_no, canary_execute_at FROM batch'),
    ...lines(`SELECT id, batch_id, row_no, state, reference, holds_reference, order_key, due_at, attempt, ever_in_doubt, transaction_id, warning
      FROM instruction ORDER BY id`),
  ])
    world.say('record', () => line)
}

interface RunParts {
  readonly world: World
  readonly record: SimulatedRecord
  readonly truth: GatewayTruth
  readonly redis: SimulatedRedis
  readonly plan: Plan
  readonly office: Office
  readonly month: Month | null
}

function describe({ world, plan }: RunParts, seed: number): void {
  const { accounts, weather, redis, lockFails } = plan
  const troubles = Array.from(weather.troubles, ([trouble, chance]) => `${trouble} ${chance * 100} %`)
  world.say(
    'plan',
    () => `seed ${seed}; ${lockFails ? 'the worker lock fails; ' : ''}accounts ${JSON.stringify(accounts)}`,
  )
  world.say('plan', () => `gateway ${JSON.stringify({ ...weather, troubles })}`)
  world.say('plan', () => `redis ${JSON.stringify(redis)}`)
}

/** Accounts are numbered in the order of the configuration. Done before anything can go wrong. */
async function openAccounts({ world, record, plan }: RunParts, policy: ApprovalPolicy | null): Promise<void> {
  const life = new Life(world, 'set-up')
  life.start(
    async () => {
      const ledger = record.openLedger(life)
      for (const number of plan.accounts.keys()) {
        await ledger.account(`merchant-${number}`, `https://gateway-${number}`, 'user', life.clock.nowMs(), true)
      }
      if (policy === null) return
      await ledger.adoptPolicy(policy, 'of the plan', CLERK, life.clock.nowMs())
      record.fewestApprovals = policy.rules.some(({ fourEyes, operations }) => fourEyes && operations === null) ? 1 : 0
      record.sentAgainByTwo = policy.rules.map(({ operations }) => operations)
    },
    () => {},
  )
  await world.run(() => !life.isAlive, PATIENCE_MS)
  world.steps = 0
}

// ───────────────────────────────────────────────────────────── Faults

async function timeOfFaults(parts: RunParts): Promise<void> {
  const { world, plan } = parts
  const events = plan.events.toSorted((one, other) => one.atMs - other.atMs)
  let shiftMs = world.nowMs
  for (const event of events) {
    await world.run(() => false, event.atMs + shiftMs)
    if (world.violation !== null) return
    if (event.what === 'quiet-hour') {
      const fromMs = world.nowMs
      await quietHour(parts, event.sleeperWakesMs)
      shiftMs += world.nowMs - fromMs
    } else if (event.what === 'days-pass') {
      const fromMs = world.nowMs
      await daysPass(parts, event)
      shiftMs += world.nowMs - fromMs
    } else happen(event, parts)
  }
  await world.run(() => false, plan.endsAtMs + shiftMs)
}

function happen(
  event: Exclude<PlannedEvent, { what: 'quiet-hour' | 'days-pass' }>,
  { world, record, truth, redis, plan, office }: RunParts,
) {
  const worker = office.workers()[0]
  const command = office.commands()[0]
  const back = (afterMs: number) => {
    world.after(afterMs, () => {
      if (!truth.calm && !office.isClosed) office.startWorker({})
    })
  }
  switch (event.what) {
    case 'submit':
    case 'submit-again': {
      const file = plan.files[event.file]
      if (file !== undefined) office.submit(file, event.what === 'submit' ? undefined : event)
      return
    }
    case 'message':
      return office.message(event.account, event.instruction, `${event.instruction.reference} at ${event.atMs}`)
    case 'hand-in':
      return office.handIn(event.how)
    case 'poison':
      return office.poison(event.account, event.instruction)
    case 'worker':
      return void office.startWorker(event)
    case 'run': {
      const file = office.cardFiles.get(plan.files[event.file]?.name ?? '')
      if (file !== undefined) office.startWorker({ runs: { file, changesAfter: event.changesAfter } })
      return
    }
    case 'worker-dies': {
      const dies = (life: Life) => {
        life.dieIn(event.steps)
        back(event.backAfterMs)
      }
      if (event.when !== 'now') return truth.at(event.when, dies)
      return worker === undefined ? undefined : dies(worker.life)
    }
    case 'worker-stops': {
      worker?.askToStop()
      if (event.impatientAfterMs !== null)
        world.after(event.impatientAfterMs, () => worker?.life.kill('is told to leave at once'))
      return back(event.backAfterMs)
    }
    case 'worker-freezes':
      if (event.when !== 'now') return truth.at(event.when, (life) => life.freeze(event.forMs))
      return worker?.life.freeze(event.forMs)
    case 'command-freezes':
      return command?.freeze(event.forMs)
    case 'command-dies':
      return command?.dieIn(event.steps)
    case 'machine-suspends':
      if (event.when !== 'now') return truth.at(event.when, () => world.suspend(event.forMs))
      return world.suspend(event.forMs)
    case 'wall-clock':
      return world.setWallBy(event.offMs)
    case 'disk-full':
      record.disk.full = true
      world.say('disk', () => `is full for ${Math.round(event.forMs)} ms`)
      return void world.after(event.forMs, () => {
        record.disk.full = false
      })
    case 'disk-busy':
      record.disk.busy = true
      world.say('disk', () => `is locked for ${Math.round(event.forMs)} ms`)
      return void world.after(event.forMs, () => {
        record.disk.busy = false
      })
    case 'redis-down':
      return redis.down(event.forMs)
    case 'redis-flushed':
      return redis.flush()
    case 'spell':
      truth.spell = event.spell
      world.say('gateway', () => `${event.spell} for ${Math.round(event.forMs)} ms`)
      return void world.after(event.forMs, () => {
        truth.spell = 'none'
      })
    case 'pause':
    case 'resume':
    case 'cancel':
      return office.steer(event.what, event.which)
    case 'approve':
    case 'reject':
      return office.decide(event)
    case 'write-results':
      return office.writeResults(event.which)
    case 'feed-back':
      return office.feedBack(event.which, event)
    case 'resume-accounts':
      return office.resumeAccounts()
  }
}

/** Nobody works; doubts come to rest and a person looks at them. Time passes quickly. */
async function quietHour(parts: RunParts, sleeperWakesMs: number | null): Promise<void> {
  const { world, truth, office } = parts
  const sleeper = sleeperWakesMs === null ? undefined : office.workers()[0]?.life
  // It falls asleep where that is worst: a request is claimed, and none of its bytes has left.
  if (sleeper !== undefined) await world.run(() => truth.isConnecting(sleeper), world.nowMs + 1_500)
  const untilMs = world.nowMs + QUIET_MS
  sleeper?.freeze(QUIET_MS + (sleeperWakesMs ?? 0))
  await allLeave(parts, sleeper)
  // A sleeper's rows are in doubt as soon as the next worker starts, which is that of the hour.
  if (sleeper !== undefined) {
    const sweeper = office.startWorker({})
    await world.run(() => false, world.nowMs + 500)
    sweeper.kill('is killed')
  }
  await world.run(() => false, untilMs - 500)
  office.resolveDoubts()
  await world.run(() => false, untilMs)
  office.startWorker({})
}

async function allLeave({ world, office }: RunParts, sleeper?: Life): Promise<void> {
  const others = () => office.workers().filter(({ life }) => life !== sleeper)
  for (const worker of others()) worker.askToStop()
  await world.run(() => others().length === 0, world.nowMs + 8_000)
  for (const worker of others()) worker.life.kill('is killed')
}

/** Whoever comes back lets go on what others held up, and looks doubts up or leaves them. */
async function daysPass(
  parts: RunParts,
  { days, resolves }: Extract<PlannedEvent, { what: 'days-pass' }>,
): Promise<void> {
  const { world, office } = parts
  const untilMs = world.nowMs + days * DAY_MS
  office.isClosed = true
  await allLeave(parts)
  await world.run(() => false, untilMs)
  office.isClosed = false
  world.say('world', () => `${days} days later`)
  office.resumeAll()
  office.approveAll()
  if (resolves) office.resolveDoubts()
  await world.run(() => office.commands().length === 0, untilMs + 1_000)
  office.startWorker({})
}

// ───────────────────────────────────────────────────────────── Calm

async function timeOfCalm(parts: RunParts): Promise<void> {
  const { world, record, truth, redis, office, plan } = parts
  // By a clock that was ahead, a request left later than it did: its doubt may be resolved so much later only.
  const aheadMs = Math.max(0, ...plan.events.map((event) => (event.what === 'wall-clock' ? event.offMs : 0)))
  world.say('world', () => 'all faults are over')
  truth.calm = true
  truth.spell = 'none'
  record.disk = { full: false, busy: false }
  redis.habits = { loses: 0, repeats: 0, delays: 0 }
  world.setWallBy(0)
  for (const worker of office.workers()) worker.askToStop()
  if (!(await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS))) {
    return world.fail('a process did not end although it was asked to and all faults are over')
  }
  let daysPassed = 0
  for (let round = 0; round < ROUNDS_OF_CALM + daysPassed && daysPassed < DAYS_OF_CALM; round += 1) {
    office.resumeAll()
    office.approveAll()
    office.submitUnanswered()
    await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS)
    office.startWorker({ untilIdle: true })
    if (!(await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS))) {
      return world.fail('a worker that was to work until nothing moves goes on for ever')
    }
    for (const file of office.cardFiles.values()) {
      office.startWorker({ runs: { file, changesAfter: null } })
      if (!(await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS))) {
        return world.fail('a run of a file with cards does not end')
      }
    }
    if (record.all("SELECT 1 FROM instruction WHERE state = 'IN_DOUBT' LIMIT 1").length > 0) {
      await world.run(() => false, world.nowMs + DOUBT_REST_MS + aheadMs)
      office.resolveDoubts()
      await world.run(() => office.isEmpty, world.nowMs + PATIENCE_MS)
    } else if (waitsForNextDay(record, world)) {
      daysPassed += 1
      world.setWallBy(daysPassed * DAY_MS)
    } else if (!isDue(record, world) && !isHeldUp(record) && redis.messagesLeft === 0 && !waitsForCards(record, office))
      break
    if (world.violation !== null) return
  }
  // Whatever the gateway still had in hand of abandoned requests.
  await world.run(() => false, world.nowMs + 30_000)
}

/** Rows that waited for one of a file of cards, which was run behind the worker. */
function waitsForCards(record: SimulatedRecord, { cardFiles }: Office): boolean {
  return cardFiles.size > 0 && record.all("SELECT 1 FROM instruction WHERE state = 'READY' LIMIT 1").length > 0
}

/** A row before it in its order may have expired as the worker ended: the next worker sends it. */
function isDue(record: SimulatedRecord, { wallMs }: World): boolean {
  return record.all("SELECT 1 FROM instruction WHERE state = 'READY' AND due_at <= ? LIMIT 1", wallMs).length > 0
}

/** Nothing else keeps a row waiting for more than a minute, once all faults are over. */
function waitsForNextDay(record: SimulatedRecord, { wallMs }: World): boolean {
  return (
    record.all("SELECT 1 FROM instruction WHERE state = 'READY' AND due_at > ? LIMIT 1", wallMs + 60_000).length > 0
  )
}

/** Something waits for a person who can do something about it. */
function isHeldUp(record: SimulatedRecord): boolean {
  const held = `SELECT 1 FROM batch b JOIN account a ON a.id = b.account_id
    WHERE (b.hold = 'paused' OR b.approvals_needed > b.approvals_given OR a.stopped_reason IS NOT NULL OR a.held_reason IS NOT NULL OR a.wait_until IS NOT NULL)
      AND EXISTS (SELECT 1 FROM instruction i WHERE i.batch_id = b.id AND i.state = 'READY') LIMIT 1`
  return record.all(held).length > 0
}

async function lookAtBooks({ world, record, truth, plan, office, month }: RunParts): Promise<string[]> {
  const life = new Life(world, 'books')
  const ledger = record.openLedger(life)
  const { promised, taken, originals, onlyNew } = office
  const recorded: Recorded = {
    rows: record.all(RECORDED.rows),
    moves: record.all(RECORDED.moves),
    batches: record.all(RECORDED.batches),
  }
  return compareBooks({ recorded, truth, plan, promised, taken, originals, onlyNew, month }, ledger, world.wallMs)
}
