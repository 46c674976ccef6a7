// What happens in one run, drawn from its seed: who sends what, how the world misbehaves, who dies when.

import type { DailyLimits } from '../../src/domain/daily-limit.ts'
import { type Instruction, TRANSACTION_TYPES } from '../../src/domain/instruction.ts'
import { type Currency, parseCurrency } from '../../src/domain/money.ts'
import type { Approving } from './approvers.ts'
import { TROUBLES, type Trouble, type Weather } from './gateway.ts'
import type { MonthEvent } from './month.ts'
import { drawOriginal, type Payment } from './originals.ts'
import type { Random } from './random.ts'
import type { RedisHabits } from './redis.ts'
import { drawRoster } from './rosters.ts'
import { BEGINNING_MS } from './world.ts'

const EUR = parseCurrency('EUR') as Currency

/** What a row has that says nothing. */
export const BLANK = {
  ...{ reference: '', card: null, orderId: null, vaultId: null, xtlOrderId: null },
  ...{ saveCardOnFile: false, details: {}, executeAtMs: null, expiresAtMs: null },
}

export interface PlannedFile {
  readonly name: string
  readonly account: number
  readonly runKey: string | null
  readonly rows: readonly PlannedRow[]
  readonly skipInvalid: boolean
  readonly onlyNew: boolean
  readonly canaryRows: number | null
  readonly maxDeclinedPercent: number | null
  /** It has rows with card details: only runs that read it send them. */
  readonly ofCards: boolean
}

/** `bad`: a row that could be read but has a fault. */
export interface PlannedRow {
  /** An empty reference: it has none of its own. */
  readonly instruction: Instruction
  readonly bad: boolean
  /** Of an original: what it is a row for. */
  readonly payment: Payment | null
}

/** At once, or when the next request is claimed or its first byte has left. */
type Moment = 'now' | 'claimed' | 'sent'

/** `asksAgain`: declined charges are asked for once more. */
export interface RunningAgain {
  readonly retry: readonly ('FAILED' | 'CANCELLED')[]
  readonly asksAgain: boolean
}

export type PlannedEvent = { readonly atMs: number } & (
  | { readonly what: 'submit'; readonly file: number }
  /** The same file, with rows of it to run again. */
  | ({ readonly what: 'submit-again'; readonly file: number } & RunningAgain)
  | { readonly what: 'message'; readonly account: number; readonly instruction: Instruction }
  /** Its write throws inside the commit that it shares with whatever comes at the same moment. */
  | { readonly what: 'poison'; readonly account: number; readonly instruction: Instruction }
  | { readonly what: 'worker'; readonly onlyOneBatch: boolean }
  /** Runs the file again, as who knows that it was not finished. */
  | { readonly what: 'run'; readonly file: number; readonly changesAfter: number | null }
  | { readonly what: 'worker-dies'; readonly when: Moment; readonly steps: number; readonly backAfterMs: number }
  | { readonly what: 'worker-stops'; readonly backAfterMs: number; readonly impatientAfterMs: number | null }
  | { readonly what: 'worker-freezes' | 'machine-suspends'; readonly when: Moment; readonly forMs: number }
  | { readonly what: 'command-freezes'; readonly forMs: number }
  | { readonly what: 'command-dies'; readonly steps: number }
  | { readonly what: 'wall-clock'; readonly offMs: number }
  | { readonly what: 'disk-full' | 'disk-busy'; readonly forMs: number }
  | { readonly what: 'redis-down'; readonly forMs: number }
  | { readonly what: 'redis-flushed' }
  | { readonly what: 'spell'; readonly spell: '401' | '403' | '404' | '429' | 'down'; readonly forMs: number }
  | { readonly what: 'pause' | 'resume' | 'cancel' | 'write-results'; readonly which: number }
  | ({ readonly what: 'feed-back'; readonly which: number } & RunningAgain)
  | { readonly what: 'resume-accounts' }
  | Approving
  | MonthEvent
  /** `sleeperWakesMs`: a worker stands still all that time, and goes on so long after the next one has started. */
  | { readonly what: 'quiet-hour'; readonly sleeperWakesMs: number | null }
)

export interface Plan {
  /** The worker lock does not keep a second worker out. */
  readonly lockFails: boolean
  /** How often a person orders something to be sent again that was executed. */
  readonly careless: number
  readonly accounts: readonly { readonly ratePerSecond: number | null; readonly inFlightMax: number }[]
  /** Of every account; null: no day is limited. */
  readonly dailyLimits: DailyLimits | null
  readonly weather: Weather
  readonly redis: RedisHabits
  readonly files: readonly PlannedFile[]
  readonly events: readonly PlannedEvent[]
  readonly endsAtMs: number
  /** Per cent by which captures may exceed their authorization. */
  readonly captureTolerance: number
}

export function drawPlan(random: Random): Plan {
  const endsAtMs = random.between(2_500, 7_000)
  const accounts = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => ({
    ratePerSecond: random.chance(0.4) ? random.pick([0.8, 1, 2, 3, 5, 10, 25]) : null,
    inFlightMax: random.pick([1, 2, 4, 8, 32]),
  }))
  const others = drawFiles(random, accounts.length)
  const lockFails = random.chance(0.15)
  const weather = drawWeather(random)
  const events = drawEvents(random, {
    endsAtMs,
    files: others.length,
    ofCards: others.flatMap(({ ofCards }, file) => (ofCards ? [file] : [])),
    accounts: accounts.length,
    lockFails,
    latencyMs: weather.latencyMs,
  })
  const original = random.chance(0.3) ? drawOriginal(random, accounts.length, endsAtMs) : []
  if (original.length > 0 && random.chance(0.4)) {
    const which = random.whole(0, 9)
    events.push({ atMs: random.between(500, endsAtMs), what: 'cancel', which })
    events.push({
      atMs: random.between(1_000, endsAtMs),
      what: 'feed-back',
      which,
      retry: ['FAILED', 'CANCELLED'],
      asksAgain: true,
    })
  }
  const files = [...others, ...original.map(({ file }) => file)]
  if (random.chance(0.25)) {
    const [roster, runs] = drawRoster(random, accounts.length, endsAtMs, files.length)
    files.push(roster)
    events.push(...runs)
  }
  return {
    lockFails,
    ...drawHabits(random),
    accounts,
    dailyLimits: null,
    weather,
    files,
    events: [...events, ...original.map(({ atMs }, i) => ({ atMs, what: 'submit' as const, file: others.length + i }))],
    endsAtMs,
    captureTolerance: 0,
  }
}

export function drawHabits(random: Random): Pick<Plan, 'careless' | 'redis'> {
  return {
    careless: random.chance(0.2) ? 0.5 : 0.02,
    redis: {
      loses: random.chance(0.3) ? random.between(0, 0.5) : 0,
      repeats: random.chance(0.3) ? random.between(0, 0.5) : 0,
      delays: random.chance(0.3) ? random.between(0, 0.5) : 0,
    },
  }
}

/** From numbers of its own, so that other seeds stay what they are. In this zone a day ends an hour after a run begins, which clocks may jump over. */
export function drawDailyLimits(random: Random): DailyLimits | null {
  if (!random.chance(0.25)) return null
  return { amounts: new Map([[EUR, BigInt(random.whole(80_000, 300_000))]]), timeZone: 'Pacific/Kiritimati' }
}

export function drawWeather(random: Random): Weather {
  const troubles = new Map<Trouble, number>()
  const isFair = random.chance(0.1)
  for (const trouble of TROUBLES)
    if (!isFair && random.chance(0.25)) troubles.set(trouble, random.pick([0.02, 0.05, 0.15, 0.3]))
  const declines = random.pick([0, 0.05, 0.2, 0.5])
  return {
    connection: random.chance(0.3) ? 'warm' : 'fresh',
    timeoutMs: random.pick([300, 700, 1500]),
    notExecutedStatus: random.chance(0.2) ? [503] : [],
    latencyMs: random.pick([2, 20, 100, 250]),
    declines,
    singledOut: !isFair && random.chance(0.2) ? random.pick([0.05, 0.2]) : 0,
    troubles,
    repeats: 0,
  }
}

/** From numbers of its own, so that other seeds stay what they are. */
export function drawRepeats(random: Random): number {
  return random.chance(0.2) ? random.pick([0.05, 0.3]) : 0
}

function drawFiles(random: Random, accounts: number): PlannedFile[] {
  const drawn: PlannedFile[] = []
  const orders = random.pick([2, 4, 12, 1_000])
  for (let file = 0; file < random.pick([1, 1, 2, 2, 3]); file += 1) {
    const account = random.whole(0, accounts - 1)
    const runKey = random.chance(0.15) ? `key${file}` : null
    const earlier = drawn.filter((other) => other.account === account && other.runKey === runKey)
    const rows: PlannedRow[] = []
    const ofCards = random.chance(0.15)
    const size = random.chance(0.05) ? random.whole(15, 40) : random.whole(1, 10)
    for (let rowNo = 1; rowNo <= size; rowNo += 1) {
      const repeated = earlier.length > 0 && random.chance(0.2) ? random.pick(random.pick(earlier).rows) : null
      const bad = random.chance(0.03)
      const reference = `${runKey ?? 'r'}/${file}-${rowNo}`
      const draw = ofCards && random.chance(0.8) ? drawCardRow : drawInstruction
      const instruction = repeated?.instruction ?? draw(random, reference, orders)
      if (rows.some((other) => other.instruction.reference === instruction.reference)) continue
      const isOther = repeated !== null && instruction.money !== null && random.chance(0.1)
      const money = isOther ? { amountMinor: 77n, currency: EUR } : instruction.money
      rows.push({ instruction: { ...instruction, money }, bad, payment: null })
    }
    drawn.push({
      name: `file-${file}.csv`,
      account,
      runKey,
      rows,
      skipInvalid: random.chance(0.8),
      onlyNew: false,
      canaryRows: random.chance(0.15) ? random.whole(1, 3) : null,
      maxDeclinedPercent: random.chance(0.1) ? random.pick([1, 20, 50]) : null,
      ofCards: rows.some(({ instruction }) => instruction.card !== null),
    })
  }
  return drawn
}

export function drawInstruction(random: Random, reference: string, orders: number): Instruction {
  const operation = random.chance(0.6) ? 'REFUND' : random.pick(TRANSACTION_TYPES)
  const isSale = operation === 'CAPTURE' || operation === 'AUTH'
  const order = random.whole(1, orders)
  const hasAmount = operation !== 'CANCEL' || random.chance(0.3)
  const drawn: Instruction = {
    reference,
    operation,
    money: hasAmount
      ? {
          amountMinor: BigInt(random.chance(0.1) ? random.pick([500, 999_999_999_999_999]) : random.whole(100, 99_999)),
          currency: EUR,
        }
      : null,
    orderId: isSale ? null : random.chance(0.2) ? `000${order}` : String(order),
    vaultId: isSale ? String(random.whole(1, 50)) : null,
    card: null,
    saveCardOnFile: false,
    xtlOrderId:
      operation === 'REFUND' || operation === 'CANCEL' ? null : `X${reference.replaceAll(/[^A-Za-z0-9]/g, 'x')}`,
    details: {},
    executeAtMs: random.chance(0.1) ? BEGINNING_MS + random.whole(0, 8_000) : null,
    expiresAtMs: null,
  }
  return { ...drawn, expiresAtMs: expiryOf(drawn) }
}

/** Of one row in four, by its amount: a draw of its own would change all that is drawn after it. */
function expiryOf({ money, executeAtMs }: Instruction): number | null {
  const amount = Number(money?.amountMinor ?? 1)
  return amount % 4 === 0 ? Math.max(executeAtMs ?? 0, BEGINNING_MS) + 1 + (amount % 9_973) : null
}

/** A sale by card, or a change of the vault: of few records, so that some rows wait for each other. */
function drawCardRow(random: Random, reference: string, orders: number): Instruction {
  const sale = { ...drawInstruction(random, reference, orders), orderId: null }
  const card = {
    bin: '411111',
    lastFour: String(random.whole(1_000, 1_000 + Math.min(orders, 50))),
    expiry: { month: '12', year: '2030' },
  }
  const amountMinor = BigInt(random.whole(100, 99_999))
  const xtlOrderId = `X${reference.replaceAll(/[^A-Za-z0-9]/g, 'x')}`
  const vaultId = String(random.whole(1, 3))
  const ofVault = { ...sale, money: null, xtlOrderId: null, details: { first_name: 'Ada', last_name: 'Byron' } }
  switch (random.pick(['sale', 'sale', 'create', 'create', 'update', 'delete'])) {
    case 'create':
      return { ...ofVault, operation: 'VAULT_CREATE', card, vaultId: null }
    case 'update':
      return { ...ofVault, operation: 'VAULT_UPDATE', card, vaultId }
    case 'delete':
      return { ...ofVault, operation: 'VAULT_DELETE', card: null, vaultId, details: {} }
    default:
      return { ...sale, operation: 'CAPTURE', money: { amountMinor, currency: EUR }, card, vaultId: null, xtlOrderId }
  }
}

interface EventHabits {
  readonly endsAtMs: number
  readonly files: number
  readonly ofCards: readonly number[]
  readonly accounts: number
  readonly lockFails: boolean
  readonly latencyMs: number
}

export function drawEvents(random: Random, habits: EventHabits): PlannedEvent[] {
  const { endsAtMs, files, ofCards, accounts, lockFails, latencyMs } = habits
  const events: PlannedEvent[] = []
  const at = (from = 0) => random.between(from, endsAtMs)
  /** Times it happens: mostly never, else a few times. */
  const times = (chance: number, most = 2) => (random.chance(chance) ? random.whole(1, most) : 0)
  const add = (count: number, draw: () => PlannedEvent) => {
    for (let i = 0; i < count; i += 1) events.push(draw())
  }
  for (let file = 0; file < files; file += 1) {
    events.push({ atMs: file === 0 ? random.between(0, 300) : at(), what: 'submit', file })
    add(times(0.2), () => ({ atMs: at(), what: 'submit', file }))
  }
  const shortMs = () =>
    random.pick([random.between(10, 400), random.between(400, 3_000), random.between(15_500, 25_000)])
  const when = () => random.pick(['now', 'claimed', 'sent'] as const)
  const backAfterMs = () => random.between(10, 800)
  const isPeaceful = random.chance(0.1)
  events.push({ atMs: random.between(0, 1_000), what: 'worker', onlyOneBatch: random.chance(0.15) })
  add(lockFails ? random.whole(1, 3) : times(0.3), () => ({
    atMs: at(),
    what: 'worker',
    onlyOneBatch: random.chance(0.15),
  }))
  for (const file of ofCards) {
    add(random.whole(1, 4), () => ({
      atMs: at(500),
      what: 'run',
      file,
      changesAfter: random.chance(0.15) ? random.whole(0, 4) : null,
    }))
  }
  const account = () => random.whole(0, accounts - 1)
  let messages = 0
  add(times(0.15, 5), () => ({
    atMs: at(),
    what: 'message',
    account: account(),
    instruction: drawInstruction(random, `m-${random.chance(0.8) ? ++messages : 1}`, 4),
  }))
  if (isPeaceful) return events
  add(times(0.5, 3), () => ({
    atMs: at(500),
    what: 'worker-dies',
    when: when(),
    steps: random.whole(0, 60),
    backAfterMs: backAfterMs(),
  }))
  add(times(0.25), () => ({
    atMs: at(500),
    what: 'worker-stops',
    backAfterMs: backAfterMs(),
    impatientAfterMs: random.chance(0.3) ? random.between(0, 500) : null,
  }))
  add(times(0.15), () => ({ atMs: at(), what: 'worker-freezes', when: when(), forMs: shortMs() }))
  add(times(0.1), () => ({ atMs: at(), what: 'command-freezes', forMs: shortMs() }))
  add(times(0.1), () => ({ atMs: at(), what: 'machine-suspends', when: when(), forMs: shortMs() }))
  add(times(0.2), () => ({ atMs: at(), what: 'command-dies', steps: random.whole(0, 8) }))
  add(times(0.15), () => ({
    atMs: at(),
    what: 'wall-clock',
    offMs: random.pick([-1, 1]) * random.pick([500, 3_000, 20_000, 7_200_000]),
  }))
  add(times(0.12), () => ({ atMs: at(), what: 'disk-full', forMs: random.between(50, 2_500) }))
  add(times(0.15), () => ({
    atMs: at(),
    what: 'disk-busy',
    forMs: random.chance(0.1) ? shortMs() : random.between(10, 1_500),
  }))
  add(times(0.15), () => ({ atMs: at(), what: 'redis-down', forMs: random.between(100, 2_000) }))
  add(times(0.15), () => ({ atMs: at(), what: 'redis-flushed' }))
  add(times(0.2), () => ({
    atMs: at(),
    what: 'spell',
    spell: random.pick(['401', '403', '404', '429', 'down']),
    forMs: random.between(100, 2_000),
  }))
  add(times(0.25), () => ({ atMs: at(), what: 'pause', which: random.whole(0, 9) }))
  add(times(0.4, 3), () => ({ atMs: at(), what: 'resume', which: random.whole(0, 9) }))
  add(times(0.15), () => ({ atMs: at(), what: 'cancel', which: random.whole(0, 9) }))
  add(times(0.2), () => ({ atMs: at(), what: 'write-results', which: random.whole(0, 9) }))
  add(times(0.4, 3), () => ({
    atMs: at(1_000),
    what: 'feed-back',
    which: random.whole(0, 9),
    retry: random.pick([['FAILED'], ['CANCELLED'], ['FAILED', 'CANCELLED'], []] as const),
    asksAgain: random.chance(0.5),
  }))
  add(times(0.4), () => ({ atMs: at(), what: 'resume-accounts' }))
  add(times(0.15), () => ({
    atMs: at(),
    what: 'poison',
    account: account(),
    instruction: drawInstruction(random, `p-${++messages}`, 4),
  }))
  add(times(lockFails ? 0.6 : 0.3), () => ({
    atMs: at(1_000),
    what: 'quiet-hour',
    sleeperWakesMs: lockFails && random.chance(0.7) ? random.between(0, 20 + 4 * latencyMs) : null,
  }))
  return events
}
