// Who acts in a run: workers, people with commands, other services with messages. Each is a process that may die or stand
// still at any event; what it runs is the program's own.

import { countIn, endingOf } from '../../src/domain/batch-status.ts'
import type { DraftRow } from '../../src/domain/draft.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { ParsedMessage } from '../../src/domain/message.ts'
import type { InstructionFile, SubmitRequest } from '../../src/domain/submission.ts'
import type { CardReader } from '../../src/ports/cards.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import type { AccountLane } from '../../src/processors/execute-slice.ts'
import { submitFile } from '../../src/processors/submit-file.ts'
import { takeMessage } from '../../src/processors/take-message.ts'
import { workOff } from '../../src/processors/work-off.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { CLERK, listOf } from '../fixtures/ledgers.ts'
import { detailsOf } from './cards.ts'
import type { GatewayTruth } from './gateway.ts'
import { DOUBT_REST_MS, decideDoubts } from './person.ts'
import type { Plan, PlannedFile, PlannedRow } from './plan.ts'
import type { Plant } from './plants.ts'
import type { SimulatedRecord } from './record.ts'
import type { SimulatedRedis } from './redis.ts'
import { Life, type World } from './world.ts'

const COLUMNS = ['reference', 'note']

/** What a message is delivered as that nobody can record. */
const POISON = 'poison'

/** What the world outside of the processes is made of. */
export interface OfficeParts {
  readonly world: World
  readonly record: SimulatedRecord
  readonly truth: GatewayTruth
  readonly redis: SimulatedRedis
  readonly plan: Plan
  readonly plant: Plant
}

/** A file as a person keeps it, planned or made of results. */
interface KeptFile {
  readonly name: string
  readonly account: number
  readonly runKey: string | null
  readonly skipInvalid: boolean
  readonly canaryRows: number | null
  readonly maxDeclinedPercent: number | null
  readonly fedBack: boolean
  readonly retry: readonly ('FAILED' | 'CANCELLED')[]
  readonly rows: readonly (PlannedRow & { readonly cameFrom: DraftRow['cameFrom'] })[]
}

type UnderstoodMessage = Extract<ParsedMessage, { kind: 'message' }>

interface Starting {
  readonly untilIdle?: boolean
  readonly onlyOneBatch?: boolean
  /** A file that it reads while it works its batch off, and no other. */
  readonly runs?: RunFile | null
}

interface RunFile {
  readonly file: Pick<KeptFile, 'name' | 'rows'>
  /** How many rows are read before the file is changed; null: it is not. */
  readonly changesAfter: number | null
}

interface Worker {
  readonly life: Life
  askToStop(): void
}

export class Office {
  readonly #parts: OfficeParts
  /** Batches that a submit answered with, and the cells of their rows: those must come out again. */
  readonly promised = new Map<BatchId, readonly (readonly string[])[]>()
  /** References of messages that were acknowledged, by account. */
  readonly taken = new Set<string>()
  readonly #unanswered = new Map<string, KeptFile>()
  /** Files with card details, by name: who knows that one was not finished runs it again. */
  readonly cardFiles = new Map<string, KeptFile>()
  readonly #instructions = new Map<string, Instruction>()
  readonly #messages = new Map<string, UnderstoodMessage>()
  #workers: Worker[] = []
  #commands: Life[] = []
  #started = 0

  constructor(parts: OfficeParts) {
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#workers.length === 0 && this.#commands.length === 0
  }

  get workersRun(): boolean {
    return this.#workers.length > 0
  }

  workers(): readonly Worker[] {
    return this.#workers
  }

  commands(): readonly Life[] {
    return this.#commands
  }

  // ─────────────────────────────────────────────────────────── Workers

  /** `untilIdle`: ends by itself when nothing can move without a person. */
  startWorker({ untilIdle = false, onlyOneBatch = false, runs = null }: Starting): Life {
    const life = this.#newLife('worker')
    const stopping = Promise.withResolvers<void>()
    const worker: Worker = {
      life,
      // The signal comes as an event of that process.
      askToStop: () => void this.#parts.world.after(0, () => stopping.resolve(), life),
    }
    this.#workers.push(worker)
    life.start(
      () => this.#work(life, stopping.promise, { untilIdle, onlyOneBatch, runs }),
      () => {
        this.#workers = this.#workers.filter((other) => other !== worker)
      },
    )
    return life
  }

  async #work(
    life: Life,
    stopping: Promise<void>,
    { untilIdle, onlyOneBatch, runs }: Required<Starting>,
  ): Promise<void> {
    const { record, redis, plan } = this.#parts
    const ledger = record.openLedger(life)
    const release = plan.lockFails ? () => {} : record.workerLock.take(life)
    if (release === null) {
      life.say(() => 'is refused: another one works')
      return ledger.close()
    }
    const log = logOf(life)
    const batches = onlyOneBatch ? await ledger.batches() : []
    const own = runs === null ? undefined : (await ledger.batches()).find(({ fileName }) => fileName === runs.file.name)
    if (runs !== null && own === undefined) {
      release()
      return ledger.close()
    }
    const only = own?.batchId ?? (batches.length === 0 ? null : this.#parts.world.random.pick(batches).batchId)
    const changed = Promise.withResolvers<void>()
    const cards = runs === null ? null : { reader: readerOf(runs, life), onChanged: changed.resolve }
    void changed.promise.then(() => life.say(() => 'finds its file changed'))
    try {
      const work = await workOff({
        register: null,
        ledger,
        clock: life.clock,
        log,
        worker: {
          id: life.name,
          host: 'office',
          pid: 1,
          command: 'worker',
          sinceMs: life.clock.nowMs(),
          batchId: null,
        },
        only,
        openLanes: () => this.#openLanes(life, ledger),
        openDispatch: (concurrency, run) => redis.openDispatch(life, concurrency, run),
        openIntake: async (lanes) => (only === null ? this.#openIntake(life, ledger, [...lanes.keys()]) : null),
        onSettled: () => {},
        onTrouble: undefined,
        cards,
        doubtRestMs: DOUBT_REST_MS,
      })
      let asked = false
      void Promise.race([stopping, changed.promise]).then(() => {
        asked = true
      })
      while (!asked && !((untilIdle || only !== null) && (await isIdle(ledger, only, life, cards !== null)))) {
        await Promise.race([stopping, life.clock.sleep(500)])
      }
      life.say(() => 'stops')
      await work.stop()
      life.say(() => 'has stopped')
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      life.say(() => `ends with a fault: ${error.message}`)
    } finally {
      release()
    }
    await ledger.close()
  }

  async #openLanes(life: Life, ledger: Ledger): Promise<Map<AccountId, AccountLane>> {
    const { truth, plan, plant } = this.#parts
    const lanes = new Map<AccountId, AccountLane>()
    for (const [number, { ratePerSecond, inFlightMax }] of plan.accounts.entries()) {
      const accountId = await this.#accountOf(ledger, number, life)
      const limiter = createLimiter({ inFlightMax, ratePerSecond, clock: life.clock })
      const gateway = truth.open(life, accountId, limiter.departure)
      const { timeoutMs, notExecutedStatus } = truth.weather
      const lane = { gateway, limiter, timeoutMs, notExecutedStatus, deleteAnswer: 'status' as const }
      lanes.set(accountId, plant.lane?.(lane) ?? lane)
    }
    return lanes
  }

  #accountOf(ledger: Ledger, number: number, life: Life): Promise<AccountId> {
    return ledger.account(`merchant-${number}`, `https://gateway-${number}`, 'user', life.clock.nowMs())
  }

  #openIntake(life: Life, ledger: Ledger, accounts: readonly AccountId[]) {
    const parts = {
      ledger,
      clock: life.clock,
      log: logOf(life),
      parse: (payload: unknown) => this.#messages.get(payload as string) as ParsedMessage,
      accountOf: (merchant: string) => ({
        accountId: accounts[Number(merchant)] as AccountId,
        accountKey: merchant,
        lookalikeDays: 20,
      }),
    }
    return this.#parts.redis.openIntake(life, async (payload, id) => {
      const taken = await takeMessage('instruction', payload, id, parts)
      const { merchant, instruction } = this.#messages.get(payload as string) as UnderstoodMessage
      life.say(() => `message ${instruction.reference}: ${taken.kind}`)
      if (taken.kind === 'refused') return
      if (payload === POISON) this.#parts.world.fail('a message was taken whose write throws')
      this.taken.add(`${accounts[Number(merchant)]}/${instruction.reference}`)
    })
  }

  message(account: number, instruction: Instruction, id: string): void {
    const message: UnderstoodMessage = {
      kind: 'message',
      merchant: String(account),
      instruction,
      runKey: null,
      allowLookalike: true,
      cells: { reference: instruction.reference },
    }
    this.#instructions.set(instruction.reference, instruction)
    this.#messages.set(id, message)
    this.#parts.redis.send(id, id)
  }

  poison(account: number, instruction: Instruction): void {
    const cells = new Proxy({}, { get: () => ({ toJSON: () => Number('1').toFixed(101) }) })
    const merchant = String(account)
    this.#messages.set(POISON, { kind: 'message', merchant, instruction, runKey: null, allowLookalike: true, cells })
    this.#parts.redis.send(POISON, POISON)
  }

  // ─────────────────────────────────────────────────────────── Commands

  submit(file: PlannedFile): void {
    this.#submit({ ...file, fedBack: false, retry: [], rows: file.rows.map((row) => ({ ...row, cameFrom: null })) })
  }

  /** Whoever was not answered asks again. */
  submitUnanswered(): void {
    for (const file of [...this.#unanswered.values()]) this.#submit(file)
  }

  #submit(file: KeptFile): void {
    for (const { instruction } of file.rows)
      if (!file.fedBack) this.#instructions.set(instruction.reference, instruction)
    this.#unanswered.set(file.name, file)
    if (file.rows.some(({ instruction }) => instruction.card !== null)) this.cardFiles.set(file.name, file)
    this.command(`submit`, async (life, ledger) => {
      const accountId = await this.#accountOf(ledger, file.account, life)
      const request: SubmitRequest = {
        accountId,
        runKey: file.runKey,
        fingerprint: '',
        sandbox: false,
        retry: file.retry,
        lookalikeDays: 20,
        allowLookalikes: 0,
        skipInvalid: file.skipInvalid,
        expectCount: null,
        canaryRows: file.canaryRows,
        maxDeclinedPercent: file.maxDeclinedPercent,
        expectTotals: [],
        nowMs: life.clock.nowMs(),
      }
      const input = fileOf(file, life)
      let submitted = await submitFile(input, request, CLERK, ledger)
      if (submitted.kind === 'refused') {
        const { draft, review } = submitted.reviewed
        await draft.discard()
        if (review.lookalikes > 0) {
          submitted = await submitFile(input, { ...request, allowLookalikes: review.lookalikes }, CLERK, ledger)
        }
      }
      this.#unanswered.delete(file.name)
      if (submitted.kind === 'refused') {
        await submitted.reviewed.draft.discard()
        life.say(() => `${file.name} is refused`)
        return
      }
      const { batchId, kind } = submitted
      life.say(() => `${file.name} is ${batchId} (${kind})`)
      this.promised.set(
        batchId,
        file.rows.map((row, i) => cellsOf(file, row, i)),
      )
    })
  }

  /** Any command of a person: a process of its own, which may end with a fault. */
  command(name: string, act: (life: Life, ledger: Ledger) => Promise<void>): void {
    const life = this.#newLife(name)
    this.#commands.push(life)
    life.start(
      async () => {
        const ledger = this.#parts.record.openLedger(life)
        try {
          await act(life, ledger)
        } catch (error) {
          if (!(error instanceof Fault)) throw error
          life.say(() => `ends with a fault: ${error.message}`)
        }
        await ledger.close()
      },
      () => {
        this.#commands = this.#commands.filter((other) => other !== life)
      },
    )
  }

  steer(what: 'pause' | 'resume' | 'cancel', which: number): void {
    this.command(what, async (life, ledger) => {
      const batches = await ledger.batches()
      const batch = batches[which % Math.max(1, batches.length)]
      if (batch === undefined) return
      await ledger[what](batch.batchId, 'a person said so', CLERK, life.clock.nowMs())
      life.say(() => `${batch.batchId}: done`)
    })
  }

  resumeAccounts(): void {
    this.command('resume', async (life, ledger) => {
      for (const { accountId, stopped, held } of await ledger.accounts()) {
        if (stopped !== null || held !== null)
          await ledger.resumeAccount(accountId, 'mended', CLERK, life.clock.nowMs())
      }
    })
  }

  /** Everything that a person holds up goes on. */
  resumeAll(): void {
    this.command('resume', async (life, ledger) => {
      for (const { accountId } of await ledger.accounts()) {
        await ledger.resumeAccount(accountId, 'go on', CLERK, life.clock.nowMs())
      }
      for (const { batchId, hold } of await ledger.batches()) {
        if (hold === 'paused') await ledger.resume(batchId, 'go on', CLERK, life.clock.nowMs())
      }
    })
  }

  resolveDoubts(): void {
    const { truth, world, plan } = this.#parts
    const habits = { random: world.random, careless: plan.careless }
    this.command('resolve', (life, ledger) => decideDoubts(life, ledger, truth, habits))
  }

  writeResults(which: number): void {
    this.command('results', async (life, ledger) => {
      const batches = await ledger.batches()
      const batch = batches[which % Math.max(1, batches.length)]
      if (batch === undefined) return
      const reading = await ledger.openReading(batch.batchId, life.clock.nowMs())
      await reading.close()
      await life.pause(2)
      await ledger.resultsWritten(batch.batchId, `${batch.batchId}.csv`, reading.edition)
    })
  }

  feedBack(which: number, retry: readonly ('FAILED' | 'CANCELLED')[]): void {
    this.command('results', async (life, ledger) => {
      const batches = await ledger.batches()
      const batch = batches[which % Math.max(1, batches.length)]
      if (batch === undefined || batch.source !== 'file') return
      const reading = await ledger.openReading(batch.batchId, life.clock.nowMs())
      const lines = await listOf(reading.rows())
      const rows = lines.flatMap(({ reference, rowNo, state }) => {
        const instruction = this.#instructions.get(reference ?? '')
        if (instruction === undefined || state === 'INVALID') return []
        return [{ instruction, bad: false, cameFrom: { batchId: batch.batchId as string, rowNo } }]
      })
      const states = lines.map(({ state }) => state).join('')
      const file: KeptFile = {
        name: `results-of-${batch.batchId}-${states}`,
        account: Number(batch.merchant.replace('merchant-', '')),
        runKey: null,
        skipInvalid: true,
        canaryRows: null,
        maxDeclinedPercent: null,
        fedBack: true,
        retry,
        rows,
      }
      if (rows.length > 0) this.#submit(file)
    })
  }

  #newLife(name: string): Life {
    this.#started += 1
    return new Life(this.#parts.world, `${name}-${this.#started}`)
  }
}

/** The file read again: a row at a time, as slowly as a disk may be. */
function readerOf({ file, changesAfter }: RunFile, life: Life): CardReader {
  let read = 0
  return {
    async cardOf(rowNo) {
      await life.pause(1)
      read += 1
      const instruction = file.rows[rowNo - 1]?.instruction
      const card = instruction === undefined ? null : detailsOf(instruction)
      return card === null || (changesAfter !== null && read > changesAfter) ? 'changed' : card
    },
    close: async () => {},
  }
}

function cellsOf(file: KeptFile, row: PlannedRow, i: number): readonly string[] {
  return [row.instruction.reference, `${file.name} ${i + 1}`]
}

function fileOf(file: KeptFile, life: Life): InstructionFile {
  return {
    name: file.name,
    sha256: `sha of ${file.name}`,
    columns: COLUMNS,
    fedBack: file.fedBack,
    xtlOrderIdOf: (reference) => `X${reference.replaceAll(/[^A-Za-z0-9]/g, 'x')}`,
    async *rows() {
      for (let from = 0; from < file.rows.length; from += 5) {
        await life.pause(0.5)
        yield file.rows.slice(from, from + 5).map((row, i) => draftRowOf(file, row, from + i))
      }
    },
  }
}

function draftRowOf(file: KeptFile, row: KeptFile['rows'][number], i: number): DraftRow {
  const rowNo = i + 1
  const line = rowNo + 1
  const fault = { rowNo, line, column: 'amount', value: 'x', problem: 'not an amount', remedy: 'correct it' }
  return {
    rowNo,
    line,
    cells: cellsOf(file, row, i),
    reference: row.instruction.reference,
    instruction: row.instruction,
    faults: row.bad ? [fault] : [],
    cameFrom: row.cameFrom,
  }
}

async function isIdle(ledger: Ledger, only: BatchId | null, life: Life, cards: boolean): Promise<boolean> {
  if (only !== null) {
    const batch = await ledger.batch(only)
    if (batch === null || endingOf(batch, life.clock.nowMs(), cards || !batch.needsFile) !== null) return true
    return countIn(batch, 'SENDING') === 0 && (await ledger.waitsFor(only, life.clock.nowMs())) !== null
  }
  return (await ledger.batches('open')).every(
    (batch) => batch.needsFile || endingOf(batch, life.clock.nowMs()) !== null,
  )
}

function logOf(life: Life): Log {
  const line = (details: object, message: string) =>
    life.say(() => `log: ${message}${'err' in details ? ` (${(details.err as Error).message})` : ''}`)
  return { debug: () => {}, info: line, warn: line, error: line }
}
