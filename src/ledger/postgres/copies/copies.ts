// The ledger on a server, told from older states of it and taken over: the alarm, the epochs, the adoption.

import { mayBeMoved, stoppedBy } from '../../../domain/alarm.ts'
import { Fault } from '../../../domain/fault.ts'
import type { CopyLedger, SharedRegister } from '../../../ports/ledger/copies.ts'
import { alarmInHistory, type History, type Said, type Testimony } from '../../rules/histories.ts'
import { type Engine, FAULTING } from '../../texts/engine.ts'
import { deleteDrafts } from '../../texts/intake/drafts.ts'
import { lastSentAtMs } from '../../texts/reading/last-sent.ts'
import { recordAct } from '../../texts/record/acts.ts'
import { all, change, one, type Script } from '../../texts/script.ts'
import { doubtOpenRows, END_CANARIES } from '../../texts/work/restore.ts'
import { keepPartitions } from '../make-tables.ts'
import type { Seal } from '../seal.ts'
import {
  beginEpoch,
  beginRestoring,
  type Epoch,
  type Failover,
  keep,
  LOCK_ADOPTING,
  remember,
  remembered,
  restOf,
  serverIdentity,
  startOfServer,
} from './identity.ts'
import { alarmOfNewest, askRegister, type RegisterAnswer, tellRegister } from './register.ts'
import { readServerWitness, type ServerWitness } from './witness.ts'

export interface CopyParts {
  readonly engine: Engine
  readonly seal: Seal
  readonly ledgerId: string
  /** For people. */
  readonly name: string
  readonly failover: Failover
  /** See `REST_MS`. */
  readonly restMs: number
  /** The files of this machine that may have something to say. */
  readonly witnessFiles: () => readonly string[]
  readonly witness: ServerWitness
  /** Of the transactor whose transactions are witnessed. */
  readonly transactorId: number
  /** Stops this process from sending, and tells all others that the server was put back. `adoptedAt`: see `Remembered`. */
  readonly onPutBack: (adoptedAt: number) => Promise<void>
  /** Keeps every submit out until it is called again. */
  readonly lockSubmit: () => Promise<() => void>
  readonly die: (error: unknown) => never
}

export interface ServerCopies extends Omit<CopyLedger, 'backup'> {
  /**
   * Whether this process has compared the server that was started then, once it had rested, with what all hosts saw. If not, it begins to, and
   * ends itself on an alarm. True also before it works.
   */
  ensureLooked(serverStart: string): boolean
  /** Resolves when no look is under way. */
  drained(): Promise<void>
}

interface Look {
  readonly serverStart: string
  readonly history: History
  readonly shared: RegisterAnswer | null
}

export function copiesOn(parts: CopyParts): ServerCopies {
  const { engine, seal, ledgerId, name, failover, restMs, witness, transactorId, die } = parts
  let isWorking = false
  let register: SharedRegister | null = null
  let lookedSince: string | null = null
  let looking: Promise<unknown> | null = null

  function testified(): Said[] {
    return parts.witnessFiles().flatMap((file) => {
      const said = readServerWitness(file)
      return said === null ? [] : [{ by: file, said }]
    })
  }

  const read = (others: readonly Said[]) =>
    engine.read(() => historyOf(ledgerId, failover, [...testified(), ...others]))
  const alarm = async () => alarmInHistory(await read([]))
  const keepEpoch = ({ no, value }: Epoch, since = 0) =>
    witness.keep({ ledgerId, epochNo: no, epoch: value, transactorId }, since, register)

  /** On an alarm it throws, or ends this process where it works. `serverStart`: as of the beginning; another server may be there by now. */
  async function look(): Promise<Look> {
    const { serverStart, hasRested } = await engine.read(() => restOf(restMs))
    // Before the ledger is read, which then holds whatever they saw committed.
    const shared = register === null ? null : await askRegister(register, isWorking)
    const history = await read(shared?.told ?? [])
    const found = alarmInHistory(history) ?? alarmOfNewest(shared?.newest ?? null, history)
    if (found !== null) {
      if (isKnownHereAlone(history, shared)) await parts.onPutBack(history.remembered.adoptedAt).catch(() => {})
      if (isWorking) die(stoppedBy(found, name))
      throw stoppedBy(found, name)
    }
    if (hasRested) lookedSince = serverStart
    return { serverStart, history, shared }
  }

  async function renewEpoch(): Promise<void> {
    for (;;) {
      const { serverStart, history, shared } = await look()
      await keepPartitions(engine)
      await seal()
      const since = witness.lastCommit()
      // On a server put back meanwhile, its testimony would replace the one that proves it.
      const epoch = await engine.write(function* () {
        return (yield* startOfServer()) === serverStart ? yield* nextEpoch() : null
      }, FAULTING)
      if (epoch === null) continue
      keepEpoch(epoch, since)
      isWorking = true
      if (shared !== null) await tellRegister(shared, epoch, history)
      return
    }
  }

  return {
    alarm,

    async renewEpoch(given = null) {
      register = given
      await renewEpoch()
    },

    ensureLooked(serverStart) {
      if (!isWorking || serverStart === lookedSince) return true
      looking ??= look()
        .catch(() => {}) // the next beat asks again
        .finally(() => {
          looking = null
        })
      return false
    },

    async drained() {
      await looking
    },

    async adopt(how, reason, actor, nowMs, dueBeforeMs = null) {
      await assertNobodyWorks(engine)
      const takeOver = function* (begin: () => Script<Epoch>): Script<Epoch> {
        yield* change('UPDATE worker SET ended_at = clock_timestamp() WHERE ended_at IS NULL')
        yield* remember(yield* serverIdentity(failover))
        yield* recordAct({ what: 'adopt', atMs: nowMs, actor, reason: `--${how}: ${reason}` })
        return yield* begin()
      }
      if (how === 'moved') {
        const found = await alarm()
        if (found !== null && !mayBeMoved(found)) throw stoppedBy(found, name)
        // It lacks nothing, a person says: what any machine saw committed must be there, and those that miss it will say so.
        keepEpoch(await engine.write(() => takeOver(nextEpoch), FAULTING))
        return 0
      }
      const witnessedNo = Math.max(0, ...testified().map(({ said }) => said.epochNo))
      // A file recorded after the rows came into doubt, and before the adoption commits, would be READY, and may be one that was sent since.
      const release = await parts.lockSubmit()
      try {
        await engine.write(beginRestoring, FAULTING)
        await deleteDrafts(engine)
        const inDoubt = await doubtOpenRows(engine, { actor, why: reason, nowMs, dueBeforeMs })
        const epoch = await engine.write(function* () {
          yield* one(LOCK_ADOPTING)
          yield* change(END_CANARIES)
          yield* change("DELETE FROM meta WHERE key = 'unfinished'")
          return yield* takeOver(() => beginAnew(witnessedNo))
        }, FAULTING)
        keepEpoch(epoch)
        return inDoubt
      } finally {
        release()
      }
    },

    lastSentAtMs: () => engine.read(lastSentAtMs),
  }
}

/** Since 1970. More of them pass than epochs are begun, and their number has 12 digits, as many as an epoch may have. */
const HUNDREDTHS = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 100 AS BIGINT) AS hundredths'

/** What was witnessed before says nothing any more: not even of an adoption in what is lost. */
function* beginAnew(witnessedNo: number): Script<Epoch> {
  const { epochNo } = yield* remembered()
  const { hundredths } = (yield* one<{ hundredths: number }>(HUNDREDTHS))!
  const epoch = yield* beginEpoch(Math.max(epochNo, witnessedNo, hundredths) + 1)
  yield* keep('adopted_at', String(epoch.no))
  return epoch
}

function* nextEpoch(): Script<Epoch> {
  return yield* beginEpoch((yield* remembered()).epochNo + 1)
}

/** Whether this machine's own witness proves later work. The others read for themselves what Redis says. */
function isKnownHereAlone(history: History, shared: RegisterAnswer | null): boolean {
  const told = new Set(shared?.told.map(({ said }) => said))
  const testimonies = history.testimonies.filter(({ said }) => !told.has(said))
  return history.remembered.unfinished === null && alarmInHistory({ ...history, testimonies })?.kind === 'older'
}

/** In the order in which they were asked for. */
const KNOWN_HERE = `
  SELECT e.value AS "epochHere", l.last AS "commitNoHere"
  FROM json_to_recordset(CAST(:said AS json)) AS s (nth INTEGER, no BIGINT, transactor BIGINT)
  LEFT JOIN epoch e ON e.no = s.no LEFT JOIN lane l ON l.id = s.transactor ORDER BY s.nth`

function* historyOf(ledgerId: string, failover: Failover, sayings: readonly Said[]): Script<History> {
  const asked = sayings.map(({ said }, nth) => ({ nth, no: said.epochNo, transactor: said.transactorId }))
  const known = yield* all<Pick<Testimony, 'epochHere' | 'commitNoHere'>>(KNOWN_HERE, { said: JSON.stringify(asked) })
  const testimonies = sayings.map((saying, nth) => ({ ...saying, ...known[nth]! }))
  return { ledgerId, server: yield* serverIdentity(failover), remembered: yield* remembered(), testimonies }
}

const LIVING = `
  SELECT name, host, pid, command FROM worker WHERE ended_at IS NULL AND lease_until > clock_timestamp() ORDER BY beat_at LIMIT 1`

async function assertNobodyWorks(engine: Engine): Promise<void> {
  const fault = await engine.read(whyAtWork)
  if (fault !== null) throw fault
}

/** null: nobody works off this ledger. A worker that joins later asks it for everything anew. */
export function* whyAtWork(): Script<Fault | null> {
  const living = yield* one<{ host: string; pid: number; command: string }>(LIVING)
  if (living === undefined) return null
  const { host, pid, command } = living
  return new Fault(
    'stopped',
    `Process ${pid} on ${host} (tranche ${command}) works off this ledger, or did less than 15 s ago. Nothing was changed. Stop every worker (SIGTERM), then adopt.`,
  )
}
