// The ordinary mistakes of a month: a roster whose vault ids have slipped, the run key of a month spelled otherwise, a month that is handed in
// once more, a file for another account, and rows that name the order of somebody else. Each is one that the ledger could know of.

import type { Instruction } from '../../src/domain/instruction.ts'
import { EUR } from '../fixtures/ledgers.ts'
import { firstReference, type KeptFile, keptOf, named, sha256Of } from './files.ts'
import { type GatewayTruth, orderIdOf } from './gateway.ts'
import { BLANK, type Plan, type PlannedEvent, type PlannedFile } from './plan.ts'
import type { Random } from './random.ts'
import type { SimulatedRecord } from './record.ts'
import type { World } from './world.ts'

/** A second account, and when rosters and mistakes come in: between the days on which nobody works. */
export function withHabits(plan: Plan, random: Random | null): Plan {
  if (random === null) return plan
  const events: PlannedEvent[] = []
  let fromMs = 0
  for (const { atMs, what } of plan.events.toSorted((one, other) => one.atMs - other.atMs)) {
    if (what !== 'days-pass') continue
    const add = (how: 'roster' | 'mistake', most: number) => {
      for (let left = random.whole(1, most); left > 0; left -= 1)
        events.push({ atMs: random.between(fromMs, atMs), what: 'hand-in', how })
    }
    add('roster', 3)
    add('mistake', 2)
    fromMs = atMs
  }
  const accounts = [...plan.accounts, { ratePerSecond: null, inFlightMax: random.pick([1, 4, 32]) }]
  return { ...plan, accounts, events: [...plan.events, ...events] }
}

interface Charge {
  readonly name: string
  readonly vaultId: string
  readonly amountMinor: bigint
}

/** An authorization or sale that the ledger knows. */
interface KnownSale {
  readonly operation: 'AUTH' | 'CAPTURE'
  readonly orderId: string
  readonly transactionId: string
  readonly vaultId: string
  readonly amountMinor: number
}

const OWN_ACCOUNT = 1
const COUNTS = "state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')"

export class Habits {
  readonly #random: Random
  readonly #world: World
  readonly #record: SimulatedRecord
  readonly #truth: GatewayTruth
  readonly #roster: readonly Charge[]
  readonly #rosters: PlannedFile[] = []
  /** By run key, as it is spelled: the month that is meant. */
  readonly #months = new Map<string, string>()
  /** A name and a vault id that are not together in the roster, and that somebody was asked about and said are meant. */
  readonly #accepted = new Set<string>()
  /** By deed: references of rows that have slipped where nothing that is recorded says so. */
  readonly #unknowable = new Map<string, Set<string>>()
  #made = 0

  constructor(random: Random, world: World, record: SimulatedRecord, truth: GatewayTruth) {
    this.#random = random
    this.#world = world
    this.#record = record
    this.#truth = truth
    this.#roster = Array.from({ length: random.whole(3, 5) }, (_, i) => ({
      ...{ name: `c-${i + 1}`, vaultId: String(101 + i) },
      amountMinor: BigInt(random.whole(100, 900) * 5 + i), // no two are equal: a slip between those moves no money
    }))
  }

  // ───────────────────────────────────────────────────────────── Rosters

  drawRoster(): PlannedFile {
    const random = this.#random
    const now = this.#now()
    const what = random.pick(['plain', 'slipped', 'slipped', 'misspelled', 'misspelled', 'late', 'elsewhere'] as const)
    if (this.#rosters.length === 0) return this.#file(now, now)
    const before = random.pick(this.#rosters)
    const month = this.#months.get(before.runKey ?? '') ?? now
    switch (what) {
      case 'plain':
        return this.#file(now, now)
      case 'slipped':
        return this.#file(now, now, slipped(this.#roster))
      case 'misspelled':
        return this.#file(random.pick(spellingsOf(month)), month)
      case 'late':
        return this.#file(month, month)
      case 'elsewhere':
        return before.account === 0 && this.#isRecordedWhole(before) ? { ...before, account: 1 } : this.#file(now, now)
    }
  }

  /** The roster under the key of a month, or under another spelling of it. */
  #file(runKey: string, month: string, roster = this.#roster): PlannedFile {
    this.#months.set(runKey, month)
    const rows = roster.map(({ name, vaultId, amountMinor }) => ({
      ...{ bad: false, payment: null },
      instruction: named(
        { ...BLANK, operation: 'CAPTURE', vaultId, money: { amountMinor, currency: EUR } },
        `${runKey}/${name}`,
      ),
    }))
    const file: PlannedFile = {
      ...{ name: 'roster.csv', account: 0, runKey, rows, ofCards: false },
      ...{ skipInvalid: true, onlyNew: false, canaryRows: null, maxDeclinedPercent: null },
    }
    this.#rosters.push(file)
    return file
  }

  /** One row of a roster, by message: it has slipped, or the key of its month is spelled otherwise. null: there was no roster so far. */
  drawCharge(): { readonly instruction: Instruction; readonly runKey: string } | null {
    const random = this.#random
    const [first] = this.#rosters
    if (first === undefined) return null
    const month = this.#months.get(first.runKey ?? '') ?? ''
    const { runKey, rows } = random.chance(0.5)
      ? this.#file(random.pick(spellingsOf(month)), month)
      : this.#file(this.#now(), this.#now(), slipped(this.#roster))
    return { instruction: random.pick(rows).instruction, runKey: runKey ?? '' }
  }

  #now(): string {
    return new Date(this.#world.wallMs).toISOString().slice(0, 7)
  }

  #isRecordedWhole({ rows }: PlannedFile): boolean {
    const same = `SELECT 1 FROM instruction WHERE account_id = ${OWN_ACCOUNT} AND reference = ? AND vault_id = ? AND holds_reference = 1 AND ${COUNTS}`
    return rows.every(({ instruction: { reference, vaultId } }) => {
      return this.#record.all(same, reference, vaultId ?? '').length > 0
    })
  }

  /** What a row of a roster asks for, however its month is spelled; null: it is of none. */
  deedOf({ reference, vaultId, money }: Instruction): string | null {
    const [key = '', name] = firstReference(reference).split('/')
    const month = this.#months.get(key)
    return month === undefined ? null : ['roster', month, name, vaultId, money?.amountMinor].join(' ')
  }

  /** How often such a deed of a roster is meant. */
  meantOf(deed: string): number {
    const [, , name, vaultId] = deed.split(' ')
    const isOwn = this.#roster.some((charge) => charge.name === name && charge.vaultId === vaultId)
    return isOwn || this.#accepted.has(`${name} ${vaultId}`) ? 1 : (this.#unknowable.get(deed)?.size ?? 0)
  }

  accepts({ reference, vaultId }: Instruction): void {
    this.#accepted.add(`${firstReference(reference).split('/')[1]} ${vaultId}`)
  }

  /** Looks at what is recorded in this moment: a slip that is told by nothing is nobody's fault. */
  handsIn(account: number, runKey: string | null, instructions: readonly Instruction[]): void {
    if (runKey === null) return
    for (const instruction of instructions) {
      const deed = this.deedOf(instruction)
      if (deed === null || this.#isToldBySomeRun(account, runKey, instruction)) continue
      const references = this.#unknowable.get(deed) ?? new Set()
      this.#unknowable.set(deed, references.add(`${account}/${instruction.reference}`))
    }
  }

  /** In the last run that has the vault id, that was another one's, and who has it now had another one. */
  #isToldBySomeRun(account: number, runKey: string, { reference, vaultId }: Instruction): boolean {
    const name = reference.split('/')[1] ?? ''
    const told = `
      SELECT 1 FROM instruction i JOIN instruction o ON o.account_id = i.account_id AND o.reference = i.run_key || '/' || ? AND o.holds_reference = 1
      WHERE o.id <> i.id AND o.vault_id <> i.vault_id AND i.id = (
        SELECT max(c.id) FROM instruction c JOIN batch b ON b.id = c.batch_id WHERE c.account_id = ? AND c.vault_id = ?
          AND c.run_key <> ? AND c.holds_reference = 1 AND b.stage = 'open')`
    return this.#record.all(told, name, account + 1, vaultId ?? '', runKey).length > 0
  }

  /**
   * Of a roster whose key is another spelling of a known one: how it is handed in again, and whether it is meant to be charged once more;
   * null: it is left.
   */
  respelled(file: KeptFile): { readonly file: KeptFile; readonly isOnceMore: boolean } | null {
    const random = this.#random
    const month = this.#months.get(file.runKey ?? '')
    if (month === undefined || random.chance(0.5)) return null
    const isOnceMore = random.chance(0.3)
    this.#made += 1
    const runKey = isOnceMore ? `extra ${this.#made}` : month
    this.#months.set(runKey, month)
    const rows = file.rows.map((row) => {
      const [, name] = row.instruction.reference.split('/')
      return { ...row, instruction: named(row.instruction, `${runKey}/${name}`) }
    })
    return { file: { ...file, runKey, rows }, isOnceMore }
  }

  // ───────────────────────────────────────────────────────────── Rows and files that are wrong

  /** A row that nobody means: of another customer's order, of a transaction id, or a void of less than its order. */
  drawWrongRow(): Instruction | null {
    const random = this.#random
    const known = this.#knownSales()
    if (known.length === 0) return null
    const [own, other] = [random.pick(known), random.pick(known)]
    this.#made += 1
    const reference = `wrong-${this.#made}`
    const row = (
      operation: Instruction['operation'],
      { orderId, amountMinor }: KnownSale,
      over: Partial<Instruction> = {},
    ) =>
      named(
        {
          ...{ ...BLANK, operation, orderId, money: { amountMinor: BigInt(amountMinor) / 3n + 1n, currency: EUR } },
          ...over,
        },
        reference,
      )
    const moving = (sale: KnownSale) => (sale.operation === 'AUTH' ? ('CAUTH' as const) : ('REFUND' as const))
    const isOfOther = known.every((sale) => sale.orderId !== other.orderId || sale.vaultId !== own.vaultId)
    switch (random.pick(['order', 'order', 'order', 'transaction', 'void'] as const)) {
      case 'order':
        return isOfOther ? row(moving(other), other, { beside: besideOf(own.vaultId) }) : null
      case 'transaction': {
        const isOrder = known.some(({ orderId }) => orderId === own.transactionId)
        return isOrder ? null : row('REFUND', { ...own, orderId: own.transactionId })
      }
      case 'void':
        return row('CANCEL', own)
    }
  }

  #knownSales(): KnownSale[] {
    return this.#record.all<KnownSale>(`
      SELECT operation, ltrim(answered_order_id, '0') AS orderId, ltrim(transaction_id, '0') AS transactionId, vault_id AS vaultId,
        amount_minor AS amountMinor
      FROM instruction WHERE account_id = ${OWN_ACCOUNT} AND state = 'APPROVED' AND operation IN ('AUTH', 'CAPTURE') AND money_warning = 0
        AND answered_order_id IS NOT NULL AND transaction_id IS NOT NULL AND vault_id IS NOT NULL ORDER BY id`)
  }

  /** One of them, for the other account: only where all of it is recorded, and may have moved money. */
  drawElsewhere(files: readonly PlannedFile[]): PlannedFile | null {
    const open = `SELECT 1 FROM batch WHERE account_id = ${OWN_ACCOUNT} AND file_sha256 = ? AND stage = 'open' AND source = 'file'
      AND NOT EXISTS (SELECT 1 FROM instruction i WHERE i.batch_id = batch.id AND NOT ${COUNTS})`
    const whole = files.filter(
      (file) => file.account === 0 && this.#record.all(open, sha256Of(keptOf(file))).length > 0,
    )
    return whole.length === 0 ? null : { ...this.#random.pick(whole), account: 1 }
  }

  /** Whether the own account has something under its reference that counts. */
  isRecorded({ reference }: Instruction): boolean {
    const same = `SELECT 1 FROM instruction WHERE account_id = ${OWN_ACCOUNT} AND reference = ? AND ${COUNTS}`
    return this.#record.all(same, reference).length > 0
  }

  chance(probability: number): boolean {
    return this.#random.chance(probability)
  }

  /** Now and then a row says whose order it is, and says it rightly. */
  withBeside(row: Instruction): Instruction {
    if (!this.#random.chance(0.4)) return row
    const order = row.orderId?.replace(/^0+/, '')
    const sale = this.#truth.executions.find(({ transactionId }) => orderIdOf(transactionId) === order)
    const vaultId = sale?.instruction.vaultId ?? null
    return vaultId === null ? row : { ...row, beside: besideOf(vaultId) }
  }
}

function besideOf(vaultId: string) {
  return { vaultId, card: null, xtlOrderId: null }
}

/** Each row has the vault id of the next one. */
function slipped(roster: readonly Charge[]): Charge[] {
  return roster.map((charge, i) => ({ ...charge, vaultId: (roster[(i + 1) % roster.length] as Charge).vaultId }))
}

function spellingsOf(month: string): string[] {
  const [year = '', number = ''] = month.split('-')
  const name = new Date(`${month}-01T00:00:00Z`).toLocaleString('en', { month: 'long', timeZone: 'UTC' })
  return [`${year}-0${number}`, `${number}-${year}`, `${year}${number}`, `${year}-${Number(number)}`, `${name} ${year}`]
}
