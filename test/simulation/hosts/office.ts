// Who acts in a run of several hosts: workers, one at a time on each, and people.

import { join } from 'node:path'
import { createSharedClock } from '../../../src/app/clock.ts'
import { openTemporaryFolder } from '../../../src/app/temporary-folder.ts'
import { Fault } from '../../../src/domain/fault.ts'
import type { AccountId, BatchId } from '../../../src/domain/ids.ts'
import { type LedgerParts, ledgerOn } from '../../../src/ledger/postgres/ledger.ts'
import type { SharedClock } from '../../../src/ports/clock.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import type { AccountLane } from '../../../src/processors/execute-slice.ts'
import { submitFile } from '../../../src/processors/submit-file.ts'
import { workOff } from '../../../src/processors/work-off.ts'
import { createLimiter } from '../../../src/throttle/limiter.ts'
import { credentialsOf } from '../../fixtures/credentials.ts'
import { CLERK } from '../../fixtures/ledgers.ts'
import { isIdle, logOf, requestOf } from '../acting.ts'
import { cellsOf, inputOf, type KeptFile } from '../files.ts'
import type { GatewayTruth, HeldRow, Holder } from '../gateway.ts'
import { DOUBT_REST_MS, decideDoubts } from '../person.ts'
import { told } from '../record.ts'
import type { SimulatedRedis } from '../redis.ts'
import { Life, type World } from '../world.ts'
import type { Host } from './host.ts'
import type { HostsPlan, PlannedBatch } from './plan.ts'
import type { HostsPlant } from './plants.ts'
import type { SimulatedServer } from './server.ts'

const NOTHING_LIMITED = { captureTolerance: 0, dailyLimits: null }

export interface HostsParts {
  readonly world: World
  readonly server: SimulatedServer
  readonly truth: GatewayTruth
  readonly claims: Claims
  readonly redis: SimulatedRedis
  readonly hosts: readonly Host[]
  readonly plan: HostsPlan
  readonly plant: HostsPlant
}

/** Which row an instruction has, and which attempt was claimed last, as its worker was told. */
export class Claims implements Holder {
  readonly #held = new Map<string, HeldRow>()

  claimed(reference: string, id: number, attempt: number): void {
    this.#held.set(reference, { id, attempt, state: 'SENDING', sendBy: 0 })
  }

  held(_accountId: AccountId, reference: string): HeldRow | undefined {
    return this.#held.get(reference)
  }
}

export interface Worker {
  readonly life: Life
  readonly host: Host
  askToStop(): void
}

export class HostsOffice {
  readonly #parts: HostsParts
  /** Batches that a submit answered with, and the cells of their rows. */
  readonly promised = new Map<BatchId, readonly (readonly string[])[]>()
  #workers: Worker[] = []
  #commands = new Set<Life>()
  #started = 0
  #ids = 0
  #batches = 0

  constructor(parts: HostsParts) {
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#workers.length === 0 && this.#commands.size === 0
  }

  get commandsRun(): boolean {
    return this.#commands.size > 0
  }

  workers(): readonly Worker[] {
    return this.#workers
  }

  workerOf(host: number): Worker | undefined {
    return this.#workers.find((worker) => worker.host === this.#parts.hosts[host])
  }

  // ─────────────────────────────────────────────────────────── Workers

  /** One at a time on each host: its place is locked. */
  startWorker(which: number, untilIdle = false): void {
    const host = this.#parts.hosts[which] as Host
    if (this.workerOf(which) !== undefined) return
    const life = this.#newLife('worker', host)
    const stopping = Promise.withResolvers<void>()
    const worker: Worker = {
      ...{ life, host },
      askToStop: () => void this.#parts.world.after(0, () => stopping.resolve(), life),
    }
    this.#workers.push(worker)
    life.start(
      () => this.#work(worker, stopping.promise, untilIdle),
      () => {
        this.#workers = this.#workers.filter((other) => other !== worker)
      },
    )
  }

  async #work({ life, host }: Worker, stopping: Promise<void>, untilIdle: boolean): Promise<void> {
    const { redis, plant } = this.#parts
    const clock = this.#clockOf(life)
    const ledger = this.#openLedger(life, host, clock, true)
    const register = redis.openRegister(life)
    try {
      const work = await workOff({
        register: plant.register?.(register) ?? register,
        ...{ ledger, clock, log: logOf(life) },
        worker: { id: life.name, host: host.name, pid: 1, command: 'worker', sinceMs: clock.nowMs(), batchId: null },
        only: null,
        openLanes: () => this.#openLanes(life, ledger, clock),
        openDispatch: (concurrency, run) => redis.openDispatch(life, concurrency, run, host.name),
        openIntake: async () => null,
        onSettled: () => {},
        onTrouble: undefined,
        cards: null,
        doubtRestMs: DOUBT_REST_MS,
      })
      let asked = false
      void stopping.then(() => {
        asked = true
      })
      while (!asked && !(untilIdle && (await isIdle(ledger, null, life, false)))) {
        await Promise.race([stopping, life.clock.sleep(1_000)])
      }
      life.say(() => 'stops')
      await work.stop()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      life.say(() => `ends with a fault: ${error.message}`)
    }
    await ledger.close()
  }

  async #openLanes(life: Life, ledger: Ledger, clock: SharedClock): Promise<Map<AccountId, AccountLane>> {
    const { truth, plan, plant } = this.#parts
    const { ratePerSecond, inFlightMax } = plan
    const accountId = await ledger.account('merchant-0', 'https://gateway-0', 'user', clock.nowMs())
    const limiter = createLimiter({ inFlightMax, ratePerSecond, clock })
    const gateway = truth.open(life, accountId, limiter.departure)
    const { timeoutMs, notExecutedStatus } = truth.weather
    const lane: AccountLane = {
      ...{
        gateway,
        credentials: credentialsOf(),
        limiter,
        timeoutMs,
        notExecutedStatus,
        deleteAnswer: 'status' as const,
      },
      ...{
        gateway,
        limiter,
        timeoutMs,
        notExecutedStatus,
        deleteAnswer: 'status' as const,
        dailyLimits: null,
        reasonRules: [],
      },
    }
    return new Map([[accountId, plant.lane?.(lane) ?? lane]])
  }

  #openLedger(life: Life, host: Host, clock: SharedClock, isWorker: boolean): Ledger {
    const { world, server, claims, plant } = this.#parts
    const die = (error: unknown): never => {
      if (life.isAlive && !(error instanceof Fault))
        world.fail(`the ledger of ${life.name} gave up: ${(error as Error).stack}`)
      life.kill(`its ledger gave up: ${(error as Error).message}`)
      throw error
    }
    const parts: LedgerParts = {
      address: { url: '', schema: server.schema },
      ledgerId: server.ledgerId,
      ...{ die, clock, place: isWorker ? host.place : null, name: 'the ledger', failover: 'none' },
      witnessFiles: () => host.witnessFiles(),
      onKeepingFailed: die,
      onUnknownAnswer: () => {},
      filePath: join(host.dir, 'ledger.db'),
      openTemporaryFolder: () => openTemporaryFolder('tranche-record-', process.env),
      machine: {
        connect: server.connectFor(life),
        turns: { soon: life.timing.soon, later: life.timing.later },
        newBatchId: () => `batch-${++this.#batches}` as BatchId,
        newId: () => ++this.#ids,
      },
    }
    const ledger = ledgerOn({ ...parts, ...plant.parts })
    return told(watched(plant.ledger?.(ledger) ?? ledger, claims), life)
  }

  /** For the books. */
  openToRead(life: Life, clock: SharedClock): Ledger {
    return this.#openLedger(life, this.#parts.hosts[0] as Host, clock, false)
  }

  // ─────────────────────────────────────────────────────────── Commands

  command(name: string, act: (life: Life, ledger: Ledger, clock: SharedClock) => Promise<void>): void {
    const host = this.#parts.world.random.pick(this.#parts.hosts)
    const life = this.#newLife(name, host)
    this.#commands.add(life)
    life.start(
      async () => {
        const clock = this.#clockOf(life)
        const ledger = this.#openLedger(life, host, clock, false)
        try {
          await act(life, ledger, clock)
        } catch (error) {
          if (!(error instanceof Fault)) throw error
          life.say(() => `ends with a fault: ${error.message}`)
        }
        await ledger.close()
      },
      () => void this.#commands.delete(life),
    )
  }

  submit({ name, instructions }: PlannedBatch): void {
    const file: KeptFile = {
      ...{
        name,
        account: 0,
        runKey: null,
        skipInvalid: true,
        onlyNew: false,
        fedBack: false,
        retry: [],
        asksAgain: false,
      },
      ...{ canaryRows: null, maxDeclinedPercent: null },
      rows: instructions.map((instruction) => ({ instruction, bad: false, payment: null, cameFrom: null })),
    }
    this.command('submit', async (life, ledger, clock) => {
      const accountId = await ledger.account('merchant-0', 'https://gateway-0', 'user', clock.nowMs())
      for (const allowLookalikes of [0, file.rows.length]) {
        const request = {
          ...requestOf(accountId, { file, allowLookalikes }, life, NOTHING_LIMITED),
          nowMs: clock.nowMs(),
        }
        const submitted = await submitFile(inputOf(file, life), request, CLERK, ledger)
        if (submitted.kind !== 'refused') {
          life.say(() => `${name} is ${submitted.batchId} (${submitted.kind})`)
          this.promised.set(submitted.batchId, cellsOf(file))
          return
        }
        await submitted.reviewed.draft.discard()
        await life.pause(50) // its tables go with its connection, and all connections are one here
      }
      life.say(() => `${name} is refused`)
    })
  }

  steer(what: 'pause' | 'resume' | 'cancel', which: number): void {
    this.command(what, async (life, ledger, clock) => {
      const batches = await ledger.batches()
      const batch = batches[which % Math.max(1, batches.length)]
      if (batch === undefined) return
      await ledger[what](batch.batchId, 'a person said so', CLERK, clock.nowMs())
      life.say(() => `${batch.batchId}: done`)
    })
  }

  /** Everything that a person holds up goes on. */
  resumeAll(): void {
    this.command('resume', async (_life, ledger, clock) => {
      for (const { accountId } of await ledger.accounts())
        await ledger.resumeAccount(accountId, 'go on', CLERK, clock.nowMs())
      for (const { batchId, hold } of await ledger.batches())
        if (hold === 'paused') await ledger.resume(batchId, 'go on', CLERK, clock.nowMs())
    })
  }

  resolveDoubts(): void {
    const { truth, world, plan } = this.#parts
    const habits = { random: world.random, careless: plan.careless }
    this.command('resolve', (life, ledger, clock) => decideDoubts(life, ledger, truth, habits, clock))
  }

  /** Whoever put a server back knows that it is older. */
  adopt(): void {
    this.command('adopt', async (life, ledger, clock) => {
      const rows = await ledger.adopt('restored', 'it was put back', CLERK, clock.nowMs())
      life.say(() => `adopts it: ${rows} rows in doubt`)
    })
  }

  /** As whoever opens a ledger is told the time by its server. */
  #clockOf(life: Life): SharedClock {
    const clock = createSharedClock(life.clock)
    const atMs = clock.monotonicMs()
    clock.follow(this.#parts.server.wallMs, atMs, atMs)
    return clock
  }

  #newLife(name: string, host: Host): Life {
    this.#started += 1
    return new Life(this.#parts.world, `${name}-${this.#started}@${host.name}`, host)
  }
}

/** Every claim is known before its request leaves. */
function watched(ledger: Ledger, claims: Claims): Ledger {
  const references = new Map<number, string>()
  return {
    ...ledger,
    async dueRows(...args) {
      const rows = await ledger.dueRows(...args)
      for (const { rowId, instruction } of rows) references.set(rowId, instruction.reference)
      return rows
    },
    async claim(claim) {
      const answer = await ledger.claim(claim)
      if (answer.kind === 'claimed') claims.claimed(references.get(claim.rowId) ?? '', claim.rowId, answer.attempt)
      return answer
    },
  }
}
