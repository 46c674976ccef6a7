// The ledger on a server, told from older states of it and taken over: the alarm, the epochs, the adoption.

import { type Alarm, mayBeMoved, stoppedBy } from '../../../domain/alarm.ts'
import { Fault } from '../../../domain/fault.ts'
import type { CopyLedger, SharedRegister } from '../../../ports/ledger/copies.ts'
import { generationOf, WORKED_ELSEWHERE } from '../../rules/alarming.ts'
import { alarmInHistory, type History, isOutdated, type Testimony, type Witnessed } from '../../rules/histories.ts'
import { type Engine, FAULTING } from '../../texts/engine.ts'
import { deleteDrafts } from '../../texts/intake/drafts.ts'
import { lastRecordAtMs } from '../../texts/reading/last-record.ts'
import { recordAct } from '../../texts/record/acts.ts'
import { all, change, one, type Script } from '../../texts/script.ts'
import { doubtOpenRows, END_CANARIES } from '../../texts/work/restore.ts'
import { keepPartitions } from '../schema.ts'
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
import { parseWitnessed, readServerWitness, type ServerWitness } from './witness.ts'

export interface CopyParts {
  readonly engine: Engine
  readonly seal: Seal
  readonly ledgerId: string
  /** For people. */
  readonly name: string
  readonly failover: Failover
  /** See `LOOKED_BACK_AFTER_MS`. */
  readonly lookedBackAfterMs: number
  /** The files of this machine that may have something to say. */
  readonly witnessFiles: () => readonly string[]
  readonly witness: ServerWitness
  /** Of the transactor whose transactions are witnessed. */
  readonly transactorId: number
  /** Keeps every submit out until it is called again. */
  readonly lockSubmit: () => Promise<() => void>
  readonly die: (error: unknown) => never
}

export interface ServerCopies extends Omit<CopyLedger, 'backup'> {
  /**
   * Whether this process has looked at what all hosts saw, since nobody trusts any more what it was told before the server started then.
   * Where it has not, it looks now, in the background, and ends itself on an alarm.
   */
  hasLookedSince(serverStart: string): boolean
  /** Resolves when nothing is looked at any more. */
  drained(): Promise<void>
}

interface Look {
  readonly serverStart: string
  readonly history: History
  readonly shared: Shared | null
}

export function copiesOn(parts: CopyParts): ServerCopies {
  const { engine, seal, ledgerId, name, failover, lookedBackAfterMs, witness, transactorId, die } = parts
  let isWorking = false
  let register: SharedRegister | null = null
  let lookedAt: string | null = null
  let looking: Promise<unknown> | null = null

  function testified(): Said[] {
    return parts.witnessFiles().flatMap((file) => {
      const said = readServerWitness(file)
      return said === null ? [] : [{ by: file, said }]
    })
  }

  const read = (others: readonly Said[]) =>
    engine.read(() => historyOf(ledgerId, failover, [...testified(), ...others]))
  const alarm = async () => alarmInHistory((await read([])).history)
  const keepEpoch = ({ no, value }: Epoch, since = 0) =>
    witness.keep({ ledgerId, epochNo: no, epoch: value, transactorId }, since, register)

  /** Throws on an alarm, or ends this process where it works. */
  async function look(): Promise<Look> {
    for (;;) {
      const { serverStart, hasRested } = await engine.read(() => restOf(lookedBackAfterMs))
      // Before the ledger is read: what they say was committed is in it then.
      const shared = register === null ? null : await askedOf(register, isWorking)
      const { history, serverStart: startHere } = await read(shared?.told ?? [])
      const found = alarmInHistory(history) ?? alarmOfNewest(shared?.newest ?? null, history)
      if (found !== null) {
        if (isWorking) die(stoppedBy(found, name))
        throw stoppedBy(found, name)
      }
      if (startHere !== serverStart) continue // what was told is older than that server
      if (hasRested) lookedAt = serverStart
      return { serverStart, history, shared }
    }
  }

  async function renewEpoch(): Promise<void> {
    for (;;) {
      const { serverStart, history, shared } = await look()
      await keepPartitions(engine)
      await seal()
      const since = witness.lastCommit()
      // On a server that was put back meanwhile it would take the place of what proves that.
      const epoch = await engine.write(function* () {
        return (yield* startOfServer()) === serverStart ? yield* nextEpoch() : null
      }, FAULTING)
      if (epoch === null) continue
      keepEpoch(epoch, since)
      isWorking = true
      if (shared !== null) await tellShared(shared, epoch, history)
      return
    }
  }

  return {
    alarm,

    async renewEpoch(shared = null) {
      register = shared
      await renewEpoch()
    },

    hasLookedSince(serverStart) {
      if (!isWorking || serverStart === lookedAt) return true
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
      const seen = Math.max(0, ...testified().map(({ said }) => said.epochNo))
      // A file recorded between the last step and the adoption would be READY, and may be one that was sent since.
      const release = await parts.lockSubmit()
      try {
        await engine.write(beginRestoring, FAULTING)
        await deleteDrafts(engine)
        const inDoubt = await doubtOpenRows(engine, { actor, why: reason, nowMs, dueBeforeMs })
        const epoch = await engine.write(function* () {
          yield* one(LOCK_ADOPTING)
          yield* change(END_CANARIES)
          yield* change("DELETE FROM meta WHERE key = 'unfinished'")
          return yield* takeOver(() => beginAnew(seen))
        }, FAULTING)
        keepEpoch(epoch)
        return inDoubt
      } finally {
        release()
      }
    },

    lastRecordAtMs: () => engine.read(lastRecordAtMs),
  }
}

/** More of them pass than epochs are begun. Their number since 1970 has 12 digits, which is what an epoch may have. */
const HUNDREDTHS = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 100 AS BIGINT) AS hundredths'

/** What was witnessed before says nothing any more: not even of an adoption in what is lost. */
function* beginAnew(seenNo: number): Script<Epoch> {
  const { epochNo } = yield* remembered()
  const { hundredths } = (yield* one<{ hundredths: number }>(HUNDREDTHS))!
  const epoch = yield* beginEpoch(Math.max(epochNo, seenNo, hundredths) + 1)
  yield* keep('adopted_at', String(epoch.no))
  return epoch
}

function* nextEpoch(): Script<Epoch> {
  return yield* beginEpoch((yield* remembered()).epochNo + 1)
}

interface Said {
  /** For people: the beginning of a sentence. */
  readonly by: string
  readonly said: Witnessed
}

/** In the order in which they were asked for. */
const KNOWN_HERE = `
  SELECT e.value AS "epochHere", l.last AS "commitNoHere"
  FROM json_to_recordset(CAST(:said AS json)) AS s (place INTEGER, no BIGINT, transactor BIGINT)
  LEFT JOIN epoch e ON e.no = s.no LEFT JOIN lane l ON l.id = s.transactor ORDER BY s.place`

function* historyOf(
  ledgerId: string,
  failover: Failover,
  sayings: readonly Said[],
): Script<Pick<Look, 'history' | 'serverStart'>> {
  const serverStart = yield* startOfServer()
  const asked = sayings.map(({ said }, place) => ({ place, no: said.epochNo, transactor: said.transactorId }))
  const known = yield* all<Pick<Testimony, 'epochHere' | 'commitNoHere'>>(KNOWN_HERE, { said: JSON.stringify(asked) })
  const testimonies = sayings.map((saying, place) => ({ ...saying, ...known[place]! }))
  const server = yield* serverIdentity(failover)
  return { history: { ledgerId, server, remembered: yield* remembered(), testimonies }, serverStart }
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

// What the Redis that the hosts share knows. One that was emptied says nothing.

interface Told extends Said {
  readonly place: string
  readonly text: string
}

interface Shared {
  readonly register: SharedRegister
  readonly told: readonly Told[]
  readonly newest: string | null
}

/** null: it is away. Who works goes on without it; who starts does not. */
async function askedOf(register: SharedRegister, isWorking: boolean): Promise<Shared | null> {
  try {
    const [testimonies, newest] = await Promise.all([register.testimonies(), register.newest()])
    const told = Array.from(testimonies).flatMap(([place, text]) => {
      const said = parseWitnessed(text)
      return said === null ? [] : [{ place, text, by: 'Redis', said }]
    })
    return { register, told, newest }
  } catch (error) {
    if (!isWorking) throw error
    return null
  }
}

/** Also of the file from which the ledger moved here, if anyone works with a copy of it. */
function alarmOfNewest(newest: string | null, { remembered }: History): Alarm | null {
  if (newest === null) return null
  const no = generationOf(newest)
  return no > remembered.epochNo && no >= remembered.adoptedAt ? WORKED_ELSEWHERE : null
}

/** Several workers write there; the highest epoch counts. Places come and go: what proves nothing any more is forgotten. */
async function tellShared(shared: Shared, { no, value }: Epoch, { testimonies, remembered }: History): Promise<void> {
  const { register, told, newest } = shared
  const outdated = testimonies.flatMap((one) => (isOutdated(one, remembered) ? [one.said] : []))
  const forgotten = told.flatMap(({ place, text, said }) => (outdated.includes(said) ? [[place, text] as const] : []))
  try {
    if (newest === null || generationOf(newest) < no) await register.replace(newest, `${no}-${value}`)
    await register.forget(new Map(forgotten))
  } catch {
    // Away. Whatever it holds is older, which is no harm.
  }
}
