// Some weeks of one account: its orders are authorized, captured, voided and refunded, and what was handed in comes back in other files and
// messages, days or more than a month later. The gateway executes whatever it is sent; who hands it in now and then asks for too much.

import type { Instruction } from '../../src/domain/instruction.ts'
import type { Reviewed } from '../../src/domain/submission.ts'
import { EUR, listOf } from '../fixtures/ledgers.ts'
import type { Handed } from './clerk.ts'
import { instructionsOf, named } from './files.ts'
import { type GatewayTruth, orderIdOf } from './gateway.ts'
import type { Habits } from './habits.ts'
import {
  BLANK,
  drawEvents,
  drawHabits,
  drawWeather,
  type Plan,
  type PlannedEvent,
  type PlannedFile,
  type PlannedRow,
} from './plan.ts'
import type { Random } from './random.ts'

export type Door = 'sales' | 'orders' | 'again' | 'message' | 'roster' | 'mistake'

export type MonthEvent =
  | { readonly what: 'hand-in'; readonly how: Door }
  /** Nobody works. `resolves`: doubts are looked up before work goes on. */
  | { readonly what: 'days-pass'; readonly days: number; readonly resolves: boolean }

export function drawMonth(random: Random): Plan {
  const lockFails = random.chance(0.1)
  const weather = drawWeather(random)
  const events: PlannedEvent[] = [{ atMs: 0, what: 'hand-in', how: 'sales' }]
  let atMs = 0
  for (let left = random.whole(3, 6); left > 0; left -= 1) {
    const until = atMs + random.between(800, 1_600)
    for (let doors = random.whole(2, 3); doors > 0; doors -= 1) {
      const how = random.pick(['sales', 'orders', 'orders', 'orders', 'again', 'again', 'again', 'message'] as const)
      events.push({ atMs: random.between(atMs, until), what: 'hand-in', how })
    }
    atMs = until
    events.push({ atMs, what: 'days-pass', days: random.pick([1, 3, 10, 32, 32]), resolves: random.chance(0.7) })
  }
  const endsAtMs = atMs + 500
  const others = { endsAtMs, files: 0, ofCards: [], accounts: 1, lockFails, latencyMs: weather.latencyMs }
  events.push(...drawEvents(random, others))
  return {
    ...{ lockFails, weather, events, endsAtMs, files: [], ...drawHabits(random) },
    accounts: [
      { ratePerSecond: random.chance(0.2) ? random.pick([3, 10, 25]) : null, inFlightMax: random.pick([1, 4, 32]) },
    ],
    captureTolerance: random.pick([0, 0, 15]),
    dailyLimits: null,
  }
}

function deedOf({ operation, orderId, vaultId, money }: Instruction): string {
  return [operation, plainOrder(orderId), vaultId ?? '', money?.amountMinor ?? ''].join(' ')
}

export function plainOrder(orderId: string | null): string {
  return (orderId ?? '').replace(/^0+/, '')
}

/** An order as the gateway has it. */
interface KnownOrder {
  readonly id: string
  readonly amountMinor: bigint
  /** `elsewhere`: not authorized or charged by this ledger. */
  readonly by: 'AUTH' | 'CAPTURE' | 'CAUTH' | 'elsewhere'
}

/** `allowLookalike`: its service says that it is meant, if it is asked. */
export interface DrawnMessage {
  readonly instruction: Instruction
  readonly runKey: string | null
  readonly allowLookalike: boolean
}

/** Whoever hands things in during a month, and what they meant by it. */
export class Month {
  readonly #random: Random
  readonly #truth: GatewayTruth
  /** null: nobody errs, but that files come again and ask for too much. */
  readonly #habits: Habits | null
  /** By deed: how often it is meant to be done. */
  readonly #meant = new Map<string, number>()
  /**
   * By deed: the references under which a person said, by a number, that it is meant once more; or under which it came for another account when
   * it no longer waited for its own, as once nobody had approved it in time: vault ids of two accounts have nothing to do with each other.
   */
  readonly allowed = new Map<string, Set<string>>()
  /** By deed: the references under which it was handed in. */
  readonly #references = new Map<string, Set<string>>()
  readonly #files: PlannedFile[] = []
  #drawn = 0

  constructor(random: Random, truth: GatewayTruth, habits: Habits | null) {
    this.#random = random
    this.#truth = truth
    this.#habits = habits
  }

  // ───────────────────────────────────────────────────────────── Handing in

  drawFile(how: 'sales' | 'orders' | 'again'): PlannedFile {
    this.#drawn += 1
    const file = how === 'again' ? this.#fileAgain() : this.#newFile(how === 'sales' ? this.#sales() : this.#ofOrders())
    this.#files.push(file)
    return file
  }

  /** A row of its own, or one that was handed in before: under the same reference, or another. */
  drawMessage(): DrawnMessage {
    this.#drawn += 1
    const random = this.#random
    const reference = `message-${this.#drawn}`
    const before = this.#files.flatMap(({ rows }) => rows.map(({ instruction }) => instruction))
    const isBefore = before.length > 0 && random.chance(0.5)
    const drawn = isBefore ? random.pick(before) : (this.#ofOrders()[0] as Instruction)
    const instruction = drawn.reference !== '' && random.chance(0.3) ? drawn : named(drawn, reference)
    const allowLookalike = random.chance(0.3)
    if (!isBefore) this.#mean(instruction)
    this.handsIn({ account: 0, runKey: null }, [instruction])
    return { instruction, runKey: null, allowLookalike }
  }

  drawRoster(): PlannedFile | null {
    return this.#habits?.drawRoster() ?? null
  }

  /** A file, or a message, that nobody would hand in who looked; null: there is nothing to err with. */
  drawMistake(): PlannedFile | DrawnMessage | null {
    const habits = this.#habits
    if (habits === null) return null
    if (habits.chance(0.3)) return habits.drawElsewhere(this.#files)
    if (habits.chance(0.3)) return this.#mistaken(habits, habits.drawCharge())
    const instruction = habits.drawWrongRow()
    if (instruction === null) return null
    const deed = deedOf(instruction)
    this.#meant.set(deed, this.#meant.get(deed) ?? 0)
    if (habits.chance(0.7)) {
      const file = this.#file([{ instruction, bad: false, payment: null }], `${instruction.reference}.csv`)
      return { ...file, skipInvalid: true, onlyNew: false, canaryRows: null }
    }
    return this.#mistaken(habits, { instruction, runKey: null })
  }

  #mistaken(habits: Habits, drawn: Omit<DrawnMessage, 'allowLookalike'> | null): DrawnMessage | null {
    if (drawn === null) return null
    const { instruction, runKey } = drawn
    const allowLookalike = habits.chance(0.3)
    this.handsIn({ account: 0, runKey }, [instruction])
    return { instruction, runKey, allowLookalike }
  }

  #newFile(instructions: readonly Instruction[]): PlannedFile {
    const random = this.#random
    const hasReferences = random.chance(0.5)
    for (const instruction of instructions) this.#mean(instruction)
    const rows = instructions.map((instruction, i) =>
      hasReferences ? named(instruction, `f${this.#drawn}-${i + 1}`) : instruction,
    )
    return this.#file(rows.map((instruction) => ({ instruction, bad: random.chance(0.1), payment: null })))
  }

  #file(rows: readonly PlannedRow[], name = `file-${this.#drawn}.csv`): PlannedFile {
    const random = this.#random
    return {
      ...{ name, account: 0, runKey: null, rows, ofCards: false },
      ...{ skipInvalid: random.chance(0.6), onlyNew: random.chance(0.15) },
      ...{ canaryRows: random.chance(0.1) ? 1 : null, maxDeclinedPercent: null },
    }
  }

  /** A file of before, mended or not: with other rows beside its own, without references, or with others. */
  #fileAgain(): PlannedFile {
    const random = this.#random
    if (this.#files.length === 0) return this.#newFile(this.#sales())
    const file = random.pick(this.#files)
    const mended = file.rows.map((row) => ({ ...row, bad: row.bad && random.chance(0.1) }))
    const other = (change: (instruction: Instruction, i: number) => Instruction) =>
      this.#file(mended.map((row, i) => ({ ...row, instruction: change(row.instruction, i) })))
    const what = random.pick(['same', 'mended', 'nameless', 'renamed', 'respelled', 'most', 'some', 'some'] as const)
    switch (what) {
      case 'same':
        return file
      case 'nameless':
        return this.#file(mended.map(nameless))
      case 'renamed':
        return other((row, i) => named(row, `a${this.#drawn}-${i + 1}`))
      case 'respelled':
        return other((row) => ({ ...row, orderId: row.orderId === null ? null : `00${plainOrder(row.orderId)}` }))
      case 'most':
      case 'some': {
        const left = what === 'most' ? mended : [random.pick(mended)]
        const added = this.#newFile(this.#ofOrders().slice(0, 2)).rows
        const rows = random.chance(0.5) ? [...left, ...added] : [...added, ...left]
        return this.#file(random.chance(0.5) ? rows : rows.map(nameless))
      }
      default:
        return this.#file(mended, file.name)
    }
  }

  #sales(): Instruction[] {
    const random = this.#random
    return Array.from({ length: random.whole(1, 4) }, () => ({
      ...BLANK,
      operation: random.chance(0.6) ? ('AUTH' as const) : ('CAPTURE' as const),
      money: { amountMinor: BigInt(random.whole(10, 999) * 10), currency: EUR },
      vaultId: String(random.whole(1, 9)),
    }))
  }

  #ofOrders(): Instruction[] {
    const random = this.#random
    const orders = this.#orders()
    const rows = Array.from({ length: random.whole(1, 3) }, () => this.#ofOrder(random.pick(orders))).flat()
    const said = rows.map((row) => this.#habits?.withBeside(row) ?? row)
    return random.chance(0.3) ? said.toReversed() : said
  }

  /** What the gateway has, the latest twice as often. */
  #orders(): KnownOrder[] {
    const made = this.#truth.executions.flatMap(
      ({ accountId, instruction: { operation, money }, status, transactionId }) =>
        status === 'APPROVED' &&
        Number(accountId) === 1 &&
        money !== null &&
        (operation === 'AUTH' || operation === 'CAPTURE' || operation === 'CAUTH')
          ? [{ id: orderIdOf(transactionId), amountMinor: money.amountMinor, by: operation }]
          : [],
    )
    const elsewhere = ['800001', '800002', '800003', '800004'].map((id) => ({
      id,
      amountMinor: 5_000n,
      by: 'elsewhere' as const,
    }))
    return [...made, ...made.slice(-3), ...made.slice(-3), ...elsewhere]
  }

  /** One row of the order, or several that belong together: parts of it, too much of it, a void beside what moves money. */
  #ofOrder({ id, amountMinor: all, by }: KnownOrder): Instruction[] {
    const random = this.#random
    const captures = by === 'AUTH' ? 0.7 : by === 'elsewhere' ? 0.3 : 0
    const moving = random.chance(captures) ? ('CAUTH' as const) : ('REFUND' as const)
    const row = (operation: 'CAUTH' | 'REFUND' | 'CANCEL', amountMinor: bigint | null): Instruction => ({
      ...BLANK,
      operation,
      money: amountMinor === null ? null : { amountMinor, currency: EUR },
      orderId: random.chance(0.2) ? `000${id}` : id,
    })
    const part = (all * BigInt(random.whole(10, 60))) / 100n
    const [whole, first, rest] = [row(moving, all), row(moving, part), row(moving, all - part)]
    const [cancel, refund] = [row('CANCEL', Number(id) % 3 === 0 ? part : null), row('REFUND', part)]
    return random.pick([
      ...[[whole], [whole], [first], [rest], [row(moving, (all * 11n) / 10n)], [cancel]],
      ...[
        [first, rest],
        [first, whole],
        [whole, cancel],
        [cancel, whole],
        [whole, refund],
        [refund, cancel],
      ],
    ])
  }

  // ───────────────────────────────────────────────────────────── What is meant

  #mean(instruction: Instruction): void {
    const deed = deedOf(instruction)
    this.#meant.set(deed, (this.#meant.get(deed) ?? 0) + 1)
  }

  /** What a row asks for, however its order or its month is spelled and whatever reference it has. */
  deedOf(instruction: Instruction): string {
    return this.#habits?.deedOf(instruction) ?? deedOf(instruction)
  }

  /** How often it is meant to be done. `forEver`: else a sale is another one after a month. undefined: nobody of the month handed it in. */
  meantOf(deed: string): { readonly times: number; readonly forEver: boolean } | undefined {
    if (this.#habits !== null && deed.startsWith('roster ')) return { times: this.#habits.meantOf(deed), forEver: true }
    const times = this.#meant.get(deed)
    return times === undefined ? undefined : { times, forEver: times === 0 }
  }

  handsIn({ account, runKey }: Pick<PlannedFile, 'account' | 'runKey'>, instructions: readonly Instruction[]): void {
    this.#habits?.handsIn(account, runKey, instructions)
    for (const instruction of instructions) {
      const [deed, key] = [this.deedOf(instruction), `${account}/${instruction.reference}`]
      setOf(this.#references, deed).add(key)
      if (account > 0 && this.#habits?.isRecorded(instruction) === false) setOf(this.allowed, deed).add(key)
    }
  }

  /** Says that these are meant. What was never handed in under another reference is meant anyway, if it is no mistake. */
  allow(account: number, instructions: readonly Instruction[]): void {
    for (const instruction of instructions) {
      const deed = this.deedOf(instruction)
      const isMistake = this.meantOf(deed)?.times === 0
      if (isMistake || setOf(this.#references, deed).size > 1)
        setOf(this.allowed, deed).add(`${account}/${instruction.reference}`)
      if (deed.startsWith('roster ')) this.#habits?.accepts(instruction)
    }
  }

  /** Of a roster whose run key is another spelling of a known one: how it is handed in again; null: it is left. */
  respelled({ file }: Handed): Handed | null {
    const next = this.#habits?.respelled(file) ?? null
    if (next === null) return null
    this.handsIn(next.file, instructionsOf(next.file))
    if (next.isOnceMore) this.allow(next.file.account, instructionsOf(next.file))
    return { file: next.file, allowLookalikes: 0 }
  }

  /** Of a file that was refused: how it is handed in again; null: it is left. Who is asked takes rows out, or answers with the number. */
  async answer({ file }: Handed, { draft, refusals }: Reviewed): Promise<Handed | null> {
    const random = this.#random
    const asked = await listOf(draft.lookalikes())
    const isRefusedAs = (kind: (typeof refusals)[number]['kind']) => refusals.some((refusal) => refusal.kind === kind)
    if (random.chance(0.15) || isRefusedAs('unidentified')) return null
    const next = {
      ...file,
      skipInvalid: file.skipInvalid || isRefusedAs('bad-rows'),
      onlyNew: file.onlyNew || isRefusedAs('correction'),
    }
    if (next.onlyNew !== file.onlyNew || asked.length === 0) return { file: next, allowLookalikes: 0 }
    if (random.chance(0.5)) {
      const instructions = instructionsOf(file)
      this.allow(
        file.account,
        asked.map(({ rowNo }) => instructions[rowNo - 1] as Instruction),
      )
      return { file: next, allowLookalikes: asked.length }
    }
    const rows = next.rows.filter((_, i) => !asked.some(({ rowNo }) => rowNo === i + 1))
    return rows.length === 0 ? null : { file: { ...next, rows }, allowLookalikes: 0 }
  }
}

function nameless(row: PlannedRow): PlannedRow {
  return { ...row, instruction: { ...row.instruction, reference: '', xtlOrderId: null } }
}

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set)
  return set
}
