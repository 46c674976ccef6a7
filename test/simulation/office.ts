// Who acts in a run: workers, people with commands, other services with messages. Each is a process that may die or stand
// still at any event; what it runs is the program's own.

import { aboveLimit, type DailyLimits } from '../../src/domain/daily-limit.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { ParsedMessage } from '../../src/domain/message.ts'
import type { CardReader } from '../../src/ports/cards.ts'
import type { Gateway } from '../../src/ports/gateway.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { AccountLane } from '../../src/processors/execute-slice.ts'
import { submitFile } from '../../src/processors/submit-file.ts'
import { takeMessage } from '../../src/processors/take-message.ts'
import { workOff } from '../../src/processors/work-off.ts'
import { createLimiter } from '../../src/throttle/limiter.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import { CLERK, listOf, lookalikeNamedIn } from '../fixtures/ledgers.ts'
import { isIdle, logOf, requestOf } from './acting.ts'
import { type Approving, approveAll, decideOn } from './approvers.ts'
import { detailsOf } from './cards.ts'
import { answer, type Handed, lookAtCorrection, type Recorded, textOf } from './clerk.ts'
import {
  cellsOf,
  firstReference,
  inputOf,
  instructionsOf,
  isOfOriginal,
  type KeptFile,
  type KeptRow,
  keptOf,
  sha256Of,
} from './files.ts'
import type { GatewayTruth } from './gateway.ts'
import type { Door, Month } from './month.ts'
import { isOwnName } from './originals.ts'
import { DOUBT_REST_MS, decideDoubts } from './person.ts'
import type { Plan, PlannedFile, RunningAgain } from './plan.ts'
import type { Plant } from './plants.ts'
import type { SimulatedRecord } from './record.ts'
import type { SimulatedRedis } from './redis.ts'
import { Life, type World } from './world.ts'

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
  /** null: nobody hands in a month of orders. */
  readonly month: Month | null
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
  /** Messages by their id: what was refused once stays refused. */
  readonly #refused = new Set<string>()
  readonly #meant = new Set<string>()
  readonly #unanswered = new Map<string, KeptFile>()
  /** Files with card details, by name: who knows that one was not finished runs it again. */
  readonly cardFiles = new Map<string, KeptFile>()
  /** Originals as they were handed in, every time. */
  readonly originals: KeptFile[] = []
  /** Batches of which only rows were wanted that no earlier file has. */
  readonly onlyNew = new Set<BatchId>()
  /** For days nobody is there who would start what has died. */
  isClosed: boolean = false
  /** By reference. */
  readonly #rows = new Map<string, KeptRow>()
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
    // The same results with another order are another batch of that name.
    const open = runs === null ? [] : await ledger.batches('open')
    const own = open.find(({ fileName }) => fileName === runs?.file.name)
    if (runs !== null && own === undefined) {
      release()
      return ledger.close()
    }
    const only = own?.batchId ?? (batches.length === 0 ? null : this.#parts.world.random.pick(batches).batchId)
    const changed = Promise.withResolvers<void>()
    const cards =
      runs === null || own === undefined
        ? null
        : { batchId: own.batchId, reader: readerOf(runs, life), onChanged: changed.resolve }
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
      // While trouble lasts, somebody lowers the limit for every third process, and raises it again.
      const dailyLimits = truth.calm || this.#started % 3 !== 0 ? plan.dailyLimits : halfOf(plan.dailyLimits)
      const gateway = this.#withinLimits(truth.open(life, accountId, limiter.departure), accountId, dailyLimits)
      const { timeoutMs, notExecutedStatus } = truth.weather
      const lane = {
        ...{
          gateway,
          credentials: credentialsOf(),
          limiter,
          timeoutMs,
          notExecutedStatus,
          deleteAnswer: 'status' as const,
          reasonRules: [],
          dailyLimits,
        },
      }
      lanes.set(accountId, plant.lane?.(lane) ?? lane)
    }
    return lanes
  }

  /** Nothing above its limit is sent that nobody accepted for it. */
  #withinLimits(gateway: Gateway, accountId: AccountId, limits: DailyLimits | null): Gateway {
    const { record, world } = this.#parts
    return {
      ...gateway,
      send: (instruction, ...others) => {
        const above = aboveLimit(limits, instruction)
        if (above !== null && record.acceptedLimit(accountId, instruction.reference) > above.limitMinor)
          world.fail(
            `${instruction.reference} is above the limit of ${above.limitMinor}, nobody accepted that, and it is sent`,
          )
        return gateway.send(instruction, ...others)
      },
    }
  }

  #accountOf(ledger: Ledger, number: number, life: Life): Promise<AccountId> {
    return ledger.account(`merchant-${number}`, `https://gateway-${number}`, 'user', life.clock.nowMs(), true)
  }

  #openIntake(life: Life, ledger: Ledger, accounts: readonly AccountId[]) {
    const { plan } = this.#parts
    const parts = {
      ledger,
      clock: life.clock,
      log: logOf(life),
      parse: (payload: unknown) => this.#messages.get(payload as string) as ParsedMessage,
      batches: null,
      cancelling: null,
      knows: null,
      addressees: {
        names: [],
        areSeveral: false,
        keyEnvironment: null,
        accountOf: (merchant: string) => ({
          accountId: accounts[Number(merchant)] as AccountId,
          accountKey: merchant,
          environment: null,
          lookalikeDays: 20,
          captureTolerance: plan.captureTolerance,
          dailyLimits: this.#parts.plan.dailyLimits,
          into: 'day' as const,
          xtlOrderIdOf: (reference: string) => reference,
        }),
      },
      comesAgain: true,
    }
    return this.#parts.redis.openIntake(life, async (payload, id) => {
      const { merchant, instruction, runKey } = this.#messages.get(payload as string) as UnderstoodMessage
      this.#parts.month?.handsIn({ account: Number(merchant), runKey }, [instruction])
      const taken = await takeMessage({ jobName: 'instruction', payload, sourceId: id }, parts)
      life.say(() => `message ${instruction.reference}: ${taken.kind}`)
      if (taken.kind === 'refused') {
        this.#refused.add(id)
        const named = this.#meant.has(id) ? lookalikeNamedIn(taken.reasons.join()) : null
        if (named === null) return
        this.#parts.month?.allow(Number(merchant), [instruction])
        this.message(Number(merchant), instruction, `${id} like ${named}`, true, named, runKey)
        return
      }
      if (this.#refused.has(id)) this.#parts.world.fail(`message ${id} was taken after it had been refused`)
      if (payload === POISON) this.#parts.world.fail('a message was taken whose write throws')
      this.taken.add(`${accounts[Number(merchant)]}/${instruction.reference}`)
    })
  }

  /** `isMeant`: its service names what it looks like where that is asked. */
  message(
    account: number,
    instruction: Instruction,
    id: string,
    isMeant = true,
    allowLookalikeOf: string | null = null,
    runKey: string | null = null,
  ): void {
    if (isMeant) this.#meant.add(id)
    const message: UnderstoodMessage = {
      kind: 'message',
      merchant: String(account),
      instruction,
      runKey,
      allowLookalikeOf,
      accept: isMeant ? ['above_limit'] : [],
      batchName: null,
      replyTo: null,
      completesWithOutcome: false,
      cells: { reference: instruction.reference },
    }
    this.#rows.set(instruction.reference, { instruction, bad: false, payment: null, cameFrom: null })
    this.#messages.set(id, message)
    this.#parts.redis.send(id, id)
  }

  poison(account: number, instruction: Instruction): void {
    const cells = new Proxy({}, { get: () => ({ toJSON: () => Number('1').toFixed(101) }) })
    const merchant = String(account)
    this.#messages.set(POISON, {
      kind: 'message',
      merchant,
      instruction,
      runKey: null,
      allowLookalikeOf: null,
      accept: [],
      batchName: null,
      replyTo: null,
      completesWithOutcome: false,
      cells,
    })
    this.#parts.redis.send(POISON, POISON)
  }

  // ─────────────────────────────────────────────────────────── Commands

  submit(file: PlannedFile, again?: RunningAgain): void {
    this.#submit(keptOf(file, again))
  }

  /** What was drawn in the moment in which it comes in: orders of before. */
  handIn(how: Door): void {
    const { month, world } = this.#parts
    if (month === null) return
    if (how === 'mistake') this.#renameAccount()
    const drawn =
      how === 'message'
        ? month.drawMessage()
        : how === 'roster'
          ? month.drawRoster()
          : how === 'mistake'
            ? month.drawMistake()
            : month.drawFile(how)
    if (drawn === null) return
    if (!('instruction' in drawn)) {
      this.submit(drawn)
      return
    }
    const { instruction, runKey, allowLookalike } = drawn
    this.message(0, instruction, `${instruction.reference} at ${world.nowMs}`, allowLookalike, null, runKey)
  }

  /** A configuration is put there that calls the first account otherwise, and one in which its key is another's. */
  #renameAccount(): void {
    const others: readonly (readonly [string, string, string])[] = [
      ['renamed', 'https://www.gateway-0', 'user'],
      ['renamed', 'https://gateway-0', 'user'],
      ['merchant-0', 'https://gateway-0', 'another user'],
    ]
    this.command('renamed', async (life, ledger) => {
      await this.#accountOf(ledger, 0, life) // a command that was killed may not have recorded it
      for (const other of others) {
        const taken = await ledger.account(...other, life.clock.nowMs()).catch((error: unknown) => {
          if (!(error instanceof Fault) || error.code !== 'config') throw error
          return null
        })
        if (taken !== null) this.#parts.world.fail(`the first account was taken for another one: ${other.join(' ')}`)
      }
    })
  }

  /** Whoever was not answered asks again. */
  submitUnanswered(): void {
    for (const file of [...this.#unanswered.values()]) this.#submit(file)
  }

  #submit(file: KeptFile): void {
    const bytes = sha256Of(file)
    this.#unanswered.set(bytes, file)
    if (file.rows.some(({ instruction }) => instruction.card !== null)) this.cardFiles.set(file.name, file)
    this.command(`submit`, async (life, ledger) => {
      const accountId = await this.#accountOf(ledger, file.account, life)
      await this.#handIn(life, ledger, accountId, file)
      this.#unanswered.delete(bytes)
    })
  }

  /** As often as the answers to what is asked call for. */
  async #handIn(life: Life, ledger: Ledger, accountId: AccountId, kept: KeptFile): Promise<void> {
    const { plan, month, record, world } = this.#parts
    let handed: Handed | null = { file: kept, allowLookalikes: 0 }
    while (handed !== null) {
      const { file } = handed
      this.#keep(handed, life)
      const request = requestOf(accountId, handed, life, plan)
      const submitted = await submitFile(inputOf(file, life), request, CLERK, ledger).catch((error: Error) => {
        if (month === null || !error.message.includes('is another spelling of')) throw error
        life.say(() => error.message)
        return null
      })
      if (submitted === null) {
        handed = month?.respelled(handed) ?? null
        continue
      }
      if (submitted.kind !== 'refused') {
        const { batchId, kind } = submitted
        life.say(() => `${file.name} is ${batchId} (${kind})`)
        this.promised.set(batchId, cellsOf(file))
        if (kind === 'recorded' && file.onlyNew) this.onlyNew.add(batchId)
        return
      }
      const { reviewed } = submitted
      for (const wrong of lookAtCorrection(file, reviewed, record)) world.fail(wrong)
      const above = reviewed.review.aboveLimit.reduce((sum, { rows }) => sum + rows, 0)
      handed =
        above === (handed.allowAboveLimit ?? 0)
          ? await (month?.answer(handed, reviewed) ?? answer(handed, reviewed, () => this.#recorded()))
          : { ...handed, allowAboveLimit: above } // whoever hands it in means it
      await reviewed.draft.discard()
    }
    life.say(() => `${kept.name} is refused`)
  }

  #keep(handed: Handed, life: Life): void {
    const { file } = handed
    if (file.fedBack) return
    for (const [i, instruction] of instructionsOf(file).entries()) {
      this.#rows.set(instruction.reference, { ...(file.rows[i] as KeptRow), instruction })
    }
    if (this.#parts.month !== null) {
      this.#parts.month.handsIn(file, instructionsOf(file))
      life.say(() => `hands in ${textOf(handed)}`)
    }
    if (!isOfOriginal(file)) return
    this.originals.push(file)
    life.say(() => `hands in ${textOf(handed)}`)
  }

  /** What was sent, or will be. */
  #recorded(): Recorded[] {
    const rows = this.#parts.record.all<{ reference: string; content: string }>(`
      SELECT i.reference, i.content FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE b.stage = 'open' AND i.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')`)
    return rows.map(({ reference, content }) => {
      const name = firstReference(reference)
      return { payment: this.#rows.get(name)?.payment ?? null, named: isOwnName(name) ? name : '', content }
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

  decide(approving: Approving): void {
    this.command(approving.what, (life, ledger) => decideOn(life, ledger, approving))
  }

  approveAll(): void {
    this.command('approve', approveAll)
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

  feedBack(which: number, { retry, asksAgain }: RunningAgain): void {
    this.command('results', async (life, ledger) => {
      const batches = await ledger.batches()
      const batch = batches[which % Math.max(1, batches.length)]
      if (batch === undefined || batch.source !== 'file') return
      const reading = await ledger.openReading(batch.batchId, life.clock.nowMs())
      const lines = await listOf(reading.rows())
      const rows = lines.flatMap(({ reference, rowNo, state }) => {
        const row = this.#rows.get(firstReference(reference ?? ''))
        // Results hold no card details: what failed of a file of cards runs again from the file itself.
        if (row === undefined || state === 'INVALID' || row.instruction.card !== null) return []
        const instruction = { ...row.instruction, reference: reference ?? '' }
        return [{ ...row, instruction, bad: false, cameFrom: { batchId: batch.batchId as string, rowNo } }]
      })
      const states = lines.map(({ state }) => state).join('')
      const file: KeptFile = {
        name: `results-of-${batch.batchId}-${states}`,
        account: Number(batch.merchant.replace('merchant-', '')),
        runKey: null,
        skipInvalid: true,
        onlyNew: false,
        canaryRows: null,
        maxDeclinedPercent: null,
        fedBack: true,
        retry,
        asksAgain,
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

function halfOf(limits: DailyLimits | null): DailyLimits | null {
  if (limits === null) return null
  return { ...limits, amounts: new Map([...limits.amounts].map(([currency, minor]) => [currency, minor / 2n])) }
}
