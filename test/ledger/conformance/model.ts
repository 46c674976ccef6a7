// Any sequence of operations against a small model of the states: no move outside the table, no row lost, every sum true.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Hold } from '../../../src/domain/batch.ts'
import type { AccountId, BatchId, RowId } from '../../../src/domain/ids.ts'
import { FINDINGS, type Finding, stateOfFinding, takesTransaction } from '../../../src/domain/resolution.ts'
import { type Cause, canMove, type State } from '../../../src/domain/states.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { Settlement } from '../../../src/ports/ledger/work.ts'
import {
  auditOf,
  CLERK,
  claim,
  dueIn,
  factsWith,
  faultyRow,
  findingOn,
  type LedgerPlace,
  messageOf,
  NOW,
  named,
  openAccount,
  purgeAll,
  recordMeant,
  refund,
  rowOf,
  rowsIn,
  settle,
  submit,
} from '../../fixtures/ledgers.ts'
import { tries } from '../../fixtures/tries.ts'

type Step =
  | { readonly do: 'submit'; readonly references: readonly number[]; readonly faulty: boolean }
  | { readonly do: 'message'; readonly reference: number; readonly dayMs: number }
  | { readonly do: 'claim'; readonly pick: number; readonly stale: boolean }
  | {
      readonly do: 'settle'
      readonly pick: number
      readonly to: Settlement['to']
      readonly transaction: number | null
      readonly money: boolean
    }
  | { readonly do: 'resolve'; readonly pick: number; readonly finding: Finding; readonly transaction: number | null }
  | { readonly do: 'pause' | 'resume' | 'cancel'; readonly pick: number }
  | { readonly do: 'sweep' | 'finish-cancelling' | 'stop-account' | 'resume-account' | 'reopen' | 'purge' }

const REFERENCES = 14
const pick = fc.nat(50)
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      references: fc.uniqueArray(fc.nat(REFERENCES - 1), { maxLength: 5 }),
      faulty: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('message' as const),
      reference: fc.nat(REFERENCES - 1),
      dayMs: fc.constantFrom(0, 86_400_000),
    }),
  },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('claim' as const), pick, stale: fc.boolean() }) },
  {
    weight: 9,
    arbitrary: fc.record({
      ...{
        do: fc.constant('settle' as const),
        pick,
        to: fc.constantFrom<Settlement['to']>('APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'READY'),
      },
      ...{ transaction: fc.option(fc.integer({ min: 1, max: 6 })), money: fc.boolean() },
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('resolve' as const), pick, finding: fc.constantFrom(...FINDINGS) },
      transaction: fc.option(fc.integer({ min: 1, max: 6 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('pause' as const, 'resume' as const, 'resume' as const, 'cancel' as const),
      pick,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'sweep' as const,
        'finish-cancelling' as const,
        'stop-account' as const,
        'resume-account' as const,
        'reopen' as const,
        'purge' as const,
      ),
    }),
  },
)

/** What a reference asks for follows from its number: some share an order, every amount is its own. */
const instructionOf = (n: number) =>
  refund(`R-${n}`, { amountMinor: BigInt(2 ** n), orderId: n % 3 === 0 ? '70' : n % 3 === 1 ? `0${n}` : `8${n}` })

interface ModelRow {
  readonly n: number
  readonly batch: ModelBatch
  /** Order of arrival. */
  readonly at: number
  state: State
  attempt: number
  transaction: number | null
  /** What moved it last was a finding of a person. */
  found: boolean
  /** An answer said so after the row had moved on. */
  executed: boolean
  rowId: RowId | null
}

interface ModelBatch {
  readonly batchId: BatchId
  readonly rows: ModelRow[]
  readonly others: Array<'INVALID' | 'DUPLICATE'>
  hold: Hold
  moneyWarned: boolean
  /** Answers that came when their rows had moved on, and that nobody has looked at. */
  late: number
}

class Model {
  readonly batches: ModelBatch[] = []
  readonly rows = new Map<number, ModelRow>()
  stopped = false
  held = false
  doubts = 0

  batch(batchId: BatchId): ModelBatch {
    const known = this.batches.find((batch) => batch.batchId === batchId)
    if (known !== undefined) return known
    const batch: ModelBatch = { batchId, rows: [], others: [], hold: 'none', moneyWarned: false, late: 0 }
    this.batches.push(batch)
    return batch
  }

  arrive(batch: ModelBatch, n: number): void {
    const nothing = { attempt: 0, transaction: null, found: false, executed: false, rowId: null }
    const row: ModelRow = { n, batch, at: this.rows.size, state: 'READY', ...nothing }
    this.rows.set(n, row)
    batch.rows.push(row)
  }

  isFree(row: ModelRow): boolean {
    if (row.state !== 'READY') return false
    const ofOrder = [...this.rows.values()].filter((other) => other !== row && orderOf(other.n) === orderOf(row.n))
    return !ofOrder.some(
      ({ state, at }) => state === 'SENDING' || state === 'IN_DOUBT' || (state === 'READY' && at < row.at),
    )
  }

  mayClaim(row: ModelRow, attempt: number): boolean {
    return this.isFree(row) && row.attempt === attempt && row.batch.hold === 'none' && !this.stopped && !this.held
  }

  settle(row: ModelRow, attempt: number, to: Settlement['to'], transaction: number | null, money: boolean): State {
    const answered = to === 'APPROVED' || to === 'DECLINED'
    const isKnown = !row.found && to === row.state && transaction !== null && transaction === row.transaction
    const keepLate = () => {
      if (!answered || isKnown) return row.state
      row.batch.late += 1
      if (to === 'APPROVED') row.executed = true
      return this.stopExecuted(row)
    }
    const seen =
      answered &&
      transaction !== null &&
      [...this.rows.values()].some((other) => other !== row && other.transaction === transaction)
    const isNamed = row.transaction === null ? row.attempt === 1 && attempt === 1 : transaction === row.transaction
    if (row.found && answered && to === row.state && isNamed && !seen) {
      this.land(row, to, transaction)
      if (to === 'APPROVED' && money) this.warnOfMoney(row.batch)
      return row.state
    }
    if (row.attempt !== attempt) return keepLate()
    if (row.state === 'SENDING') {
      const landed = seen ? 'IN_DOUBT' : to === 'READY' && row.batch.hold === 'cancelled' ? 'CANCELLED' : to
      this.land(row, landed, transaction)
      if (landed === 'IN_DOUBT') this.countDoubt()
      else if (landed === 'APPROVED' && money) this.warnOfMoney(row.batch)
    } else if (row.state === 'IN_DOUBT' && (to === 'READY' || (answered && !seen))) {
      this.land(row, to, transaction)
      if (to === 'APPROVED' && money) this.warnOfMoney(row.batch)
    } else if (row.state === 'READY' && answered) {
      // A transaction of another row says that this one, which is to be sent again, may have been executed.
      this.land(row, seen ? 'IN_DOUBT' : to, transaction)
      if (seen) this.countDoubt()
      else if (to === 'APPROVED' && money) this.warnOfMoney(row.batch)
    } else return keepLate()
    return this.stopExecuted(row)
  }

  /** It would be executed twice: a person must look. */
  private stopExecuted(row: ModelRow): State {
    if (row.state === 'READY' && row.executed) row.state = 'IN_DOUBT'
    return row.state
  }

  resolve(row: ModelRow, finding: Finding, transaction: number | null): string {
    const to = stateOfFinding(finding)
    if (row.state !== 'IN_DOUBT')
      return row.state === to && (transaction === null || transaction === row.transaction)
        ? `already ${to}`
        : 'not-in-doubt'
    if (finding === 'send-again' && row.batch.hold === 'cancelled') return 'cancelled'
    const others = [...this.rows.values()].filter((other) => other !== row)
    if (transaction !== null && others.some((other) => other.transaction === transaction)) return 'transaction-taken'
    this.land(row, to, transaction)
    row.found = true
    this.doubts = Math.max(0, this.doubts - 1)
    return `resolved ${to}`
  }

  private land(row: ModelRow, to: State, transaction: number | null): void {
    row.state = to
    row.found = false
    row.transaction = to === 'APPROVED' || to === 'DECLINED' ? transaction : null
  }

  sweep(): void {
    const swept = [...this.rows.values()].filter(({ state }) => state === 'SENDING')
    for (const row of swept) row.state = 'IN_DOUBT'
    if (swept.length > 0) this.countDoubt()
  }

  /** A person has looked. */
  looked(): void {
    this.doubts = 0
    this.held = false
  }

  private countDoubt(): void {
    this.doubts += 1
    if (this.doubts < 10 || this.held) return
    this.held = true
    for (const batch of this.batches) if (batch.hold === 'none') batch.hold = 'paused'
  }

  private warnOfMoney(batch: ModelBatch): void {
    if (batch.hold !== 'none' || batch.moneyWarned) return
    batch.moneyWarned = true
    batch.hold = 'paused'
  }
}

const orderOf = (n: number) => instructionOf(n).orderId?.replace(/^0+/, '')

class Run {
  readonly model = new Model()
  /** With whoever claimed each: an answer comes to him. */
  readonly attempts: Array<{ row: ModelRow; attempt: number; by: Ledger }> = []
  ledger: Ledger
  readonly place: LedgerPlace
  readonly accountId: AccountId

  constructor(place: LedgerPlace, ledger: Ledger, accountId: AccountId) {
    this.place = place
    this.ledger = ledger
    this.accountId = accountId
  }

  async take(step: Step): Promise<void> {
    const { model, ledger } = this
    switch (step.do) {
      case 'submit':
        return this.submit(step.references, step.faulty)
      case 'message':
        return this.message(step.reference, step.dayMs)
      case 'claim':
        return this.claim(step.pick, step.stale)
      case 'settle':
        return this.settle(step)
      case 'resolve':
        return this.resolve(step)
      case 'pause':
      case 'resume':
      case 'cancel':
        return this.steer(step.do, step.pick)
      case 'sweep':
        this.ledger = this.place.open() // whoever worked is dead, and was not closed
        await this.ledger.sweep(NOW)
        return model.sweep()
      case 'finish-cancelling':
        await ledger.finishCancelling(NOW)
        for (const row of model.rows.values())
          if (row.state === 'READY' && row.batch.hold === 'cancelled') row.state = 'CANCELLED'
        return
      case 'stop-account':
        await ledger.stopAccount(this.accountId, 'stop', NOW)
        model.stopped = true
        return
      case 'resume-account':
        await ledger.resumeAccount(this.accountId, 'go', CLERK, NOW)
        model.stopped = false
        return model.looked()
      case 'reopen':
        await ledger.close()
        this.ledger = this.place.open()
        this.attempts.length = 0
        await this.ledger.sweep(NOW)
        return model.sweep()
      case 'purge':
        return void (await purgeAll(this.ledger)) // of which the model knows nothing: it changes none of this
    }
  }

  private async submit(references: readonly number[], faulty: boolean): Promise<void> {
    const rows = references.map((n, i) => rowOf(i + 1, instructionOf(n)))
    const batchId = await submit(
      this.ledger,
      this.accountId,
      faulty ? [...rows, faultyRow(rows.length + 1, 'bad')] : rows,
    )
    const batch = this.model.batch(batchId)
    for (const n of references) {
      if (this.model.rows.has(n)) batch.others.push('DUPLICATE')
      else this.model.arrive(batch, n)
    }
    if (faulty) batch.others.push('INVALID')
  }

  private async message(n: number, dayMs: number): Promise<void> {
    const message = messageOf(this.accountId, instructionOf(n), { nowMs: NOW + dayMs })
    const answer = await recordMeant(this.ledger, message)
    const known = this.model.rows.get(n)
    if (known === undefined) {
      if (answer.kind !== 'accepted') throw new Error(`a new message was ${answer.kind}`)
      this.model.arrive(this.model.batch(answer.batchId), n)
    } else expect(answer).toMatchObject({ kind: 'duplicate', batchId: known.batch.batchId, state: known.state })
  }

  private async claim(at: number, stale: boolean): Promise<void> {
    const { model } = this
    for (const batch of model.batches) {
      const due = await dueIn(this.ledger, batch.batchId, NOW + 1e9)
      const free = batch.rows.filter((row) => model.isFree(row)).map(({ n }) => `R-${n}`)
      expect(new Set(due.map((row) => row.instruction.reference))).toEqual(new Set(free))
      expect(due.length).toBe(free.length)
      for (const found of due) model.rows.get(Number(found.instruction.reference.slice(2)))!.rowId = found.rowId
    }
    const known = [...model.rows.values()].filter((row) => row.rowId !== null)
    const row = known[at % known.length]
    if (row?.rowId == null) return
    const attempt = stale && row.attempt > 0 ? row.attempt - 1 : row.attempt
    const may = model.mayClaim(row, attempt)
    const answer = await claim(this.ledger, { rowId: row.rowId, attempt }, NOW + 1e9)
    expect(answer).toEqual(may ? { kind: 'claimed', attempt: attempt + 1 } : { kind: 'not-free' })
    if (!may) return
    row.state = 'SENDING'
    row.attempt += 1
    this.attempts.push({ row, attempt: row.attempt, by: this.ledger })
  }

  private async settle({ pick: at, to, transaction, money }: Extract<Step, { do: 'settle' }>): Promise<void> {
    const made = this.attempts[at % this.attempts.length]
    if (made?.row.rowId == null) return
    const facts = transaction === null ? null : factsWith(String(transaction))
    const over = { facts, warnsOfMoney: money && to === 'APPROVED', warning: money ? 'odd' : null }
    const claimed = { rowId: made.row.rowId, attempt: made.attempt, row: named(`R-${made.row.n}`) }
    const { state } = await settle(made.by, claimed, to, over)
    expect(state).toBe(this.model.settle(made.row, made.attempt, to, transaction, money))
  }

  private async resolve({ pick: at, finding, transaction }: Extract<Step, { do: 'resolve' }>): Promise<void> {
    const known = [...this.model.rows.values()]
    const row = known[at % known.length]
    if (row === undefined) return
    const transactionId = transaction === null || !takesTransaction(finding) ? null : String(transaction)
    const asked = findingOn(`R-${row.n}`, { attempt: row.attempt, finding, transactionId })
    const answer = await this.ledger.resolve(asked, CLERK, NOW + 1e9)
    if (answer.kind === 'proposed') throw new Error('no policy is in force here')
    expect(answer.kind === 'refused' ? answer.why : `${answer.kind} ${answer.state}`).toBe(
      this.model.resolve(row, finding, transactionId === null ? null : transaction),
    )
  }

  private async steer(how: 'pause' | 'resume' | 'cancel', at: number): Promise<void> {
    const batch = this.model.batches[at % this.model.batches.length]
    if (batch === undefined) return
    const ordered = this.ledger[how](batch.batchId, 'because', CLERK, NOW)
    const looks = how === 'resume' && batch.late > 0
    if (batch.hold === 'cancelled' && how !== 'cancel' && !looks)
      return expect(ordered).rejects.toMatchObject({ code: 'usage' })
    await ordered
    if (batch.hold !== 'cancelled') batch.hold = how === 'pause' ? 'paused' : how === 'resume' ? 'none' : 'cancelled'
    if (how === 'resume') Object.assign(batch, { late: 0, moneyWarned: false })
    if (how === 'resume') this.model.looked()
    if (how === 'cancel') for (const row of batch.rows) if (row.state === 'READY') row.state = 'CANCELLED'
  }

  /** Every row stands where the model says, and counts and sums are those of the rows. */
  async check(): Promise<void> {
    expect((await this.ledger.batches()).length).toBe(this.model.batches.length)
    for (const { batchId, rows, others, hold, late } of this.model.batches) {
      const view = await this.ledger.batch(batchId)
      const recorded = await rowsIn(this.ledger, batchId)
      expect(view).toMatchObject({ hold, lateAnswers: late, rows: rows.length + others.length })
      expect(view?.accountHeld !== null).toBe(this.model.held)
      expect(recorded.map(({ rowNo }) => rowNo)).toEqual(recorded.map((_, i) => i + 1))
      const said = recorded.map(({ reference, state }) =>
        state === 'INVALID' || state === 'DUPLICATE' ? state : `${reference} ${state}`,
      )
      expect(said.sort()).toEqual([...rows.map(({ n, state }) => `R-${n} ${state}`), ...others].sort())

      const totals = new Map<string, { count: number; amountMinor: bigint }>()
      for (const { operation, currency, state, amountMinor } of recorded) {
        const key = `${operation ?? ''} ${currency ?? ''} ${state}`
        const total = totals.get(key) ?? { count: 0, amountMinor: 0n }
        totals.set(key, { count: total.count + 1, amountMinor: total.amountMinor + (amountMinor ?? 0n) })
      }
      const told = view?.totals.map(
        ({ operation, currency, state, count, amountMinor }) =>
          [`${operation} ${currency} ${state}`, { count, amountMinor }] as const,
      )
      expect(new Map(told)).toEqual(totals)
    }
  }

  /** The moves of each row follow one another, are all in the table and end where the row stands. */
  async checkHistories(): Promise<void> {
    for (const { n, state, batch } of this.model.rows.values()) {
      const moves = (await this.ledger.history(`R-${n}`)).filter(({ batchId }) => batchId === batch.batchId)
      let at: State | null = null
      for (const { from, to, cause } of moves) {
        expect(from).toBe(at)
        if (from !== null && !canMove(from, to, cause as Cause))
          throw new Error(`${from} → ${to} by ${cause} is no move`)
        at = to
      }
      expect(at).toBe(state)
    }
  }
}

/** The simulator takes such sequences by the thousand. */
const RUNS = 15

export function describeModel(newPlace: () => Promise<LedgerPlace>, numRuns = RUNS): void {
  describe('after any sequence of operations', () => {
    test('every row stands in one place, every sum is true, and no move is outside the table', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 60, size: 'max' }), async (sequence) => {
          const place = await newPlace()
          try {
            const ledger = place.open()
            const run = new Run(place, ledger, await openAccount(ledger))
            for (const step of sequence) {
              await run.take(step)
              await run.check()
            }
            await run.checkHistories()
            expect(await auditOf(run.ledger)).toEqual([])
          } finally {
            await place.remove()
          }
        }),
        // Long sequences shrink for ever: what was found by then is told.
        { numRuns: tries(numRuns), interruptAfterTimeLimit: 90_000, markInterruptAsFailure: false },
      )
    })
  })
}
