// The ledger on a server, told from older states of it and taken over: the alarm, the epochs, the adoption.

import { mayBeMoved, stoppedBy } from '../../../domain/alarm.ts'
import { Fault } from '../../../domain/fault.ts'
import type { CopyLedger, EpochRegister } from '../../../ports/ledger/copies.ts'
import { generationOf, WORKED_ELSEWHERE } from '../../rules/alarming.ts'
import { alarmInHistory, type History, type Testimony, type Witnessed } from '../../rules/histories.ts'
import { type Engine, FAULTING } from '../../texts/engine.ts'
import { deleteDrafts } from '../../texts/intake/drafts.ts'
import { lastRecordAtMs } from '../../texts/reading/last-record.ts'
import { recordAct } from '../../texts/record/acts.ts'
import { change, one, type Script } from '../../texts/script.ts'
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
  serverIdentity,
} from './identity.ts'
import { readServerWitness, type ServerWitness } from './witness.ts'

export interface CopyParts {
  readonly engine: Engine
  readonly seal: Seal
  readonly ledgerId: string
  /** For people. */
  readonly name: string
  readonly failover: Failover
  /** The files of this machine that may have something to say. */
  readonly witnessFiles: () => readonly string[]
  readonly witness: ServerWitness
  /** Of the transactor whose transactions are witnessed. */
  readonly transactorId: number
  /** Keeps every submit out until it is called again. */
  readonly lockSubmit: () => Promise<() => void>
  readonly die: (error: unknown) => never
}

/** Far above what any machine has seen of the history that is left. */
const EPOCHS_LEFT_OUT = 1_000_000

export function copiesOn(parts: CopyParts): Omit<CopyLedger, 'backup'> {
  const { engine, seal, ledgerId, name, failover, witness, transactorId, die } = parts
  let isWorking = false

  function testified(): readonly { readonly file: string; readonly said: Witnessed }[] {
    return parts.witnessFiles().flatMap((file) => {
      const said = readServerWitness(file)
      return said === null ? [] : [{ file, said }]
    })
  }

  const look = () => engine.read(() => historyOf(ledgerId, failover, testified()))
  const alarm = async () => alarmInHistory(await look())
  const keepEpoch = ({ no, value }: Epoch) =>
    witness.keep({ ledgerId, epochNo: no, epoch: value, transactorId, commitNo: 0 })

  return {
    alarm,

    async renewEpoch(register) {
      const found = (await alarm()) ?? (await alarmOfRegister(register, await look()))
      if (found !== null) {
        if (isWorking) die(stoppedBy(found, name))
        throw stoppedBy(found, name)
      }
      await keepPartitions(engine)
      await seal()
      const epoch = await engine.write(nextEpoch, FAULTING)
      keepEpoch(epoch)
      await tellRegister(register, epoch)
      isWorking = true
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

/** What was witnessed before says nothing any more. */
function* beginAnew(seenNo: number): Script<Epoch> {
  const { epochNo } = yield* remembered()
  const epoch = yield* beginEpoch(Math.max(epochNo, seenNo) + EPOCHS_LEFT_OUT)
  yield* keep('adopted_at', String(epoch.no))
  return epoch
}

function* nextEpoch(): Script<Epoch> {
  return yield* beginEpoch((yield* remembered()).epochNo + 1)
}

const LAST_COMMIT = 'SELECT last FROM lane WHERE id = :id'

function* historyOf(
  ledgerId: string,
  failover: Failover,
  testified: readonly { readonly file: string; readonly said: Witnessed }[],
): Script<History> {
  const testimonies: Testimony[] = []
  for (const { file, said } of testified) {
    const epoch = yield* one<{ value: string }>('SELECT value FROM epoch WHERE no = :no', { no: said.epochNo })
    const last = yield* one<{ last: number }>(LAST_COMMIT, { id: said.transactorId })
    testimonies.push({ file, said, epochHere: epoch?.value ?? null, commitNoHere: last?.last ?? null })
  }
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

// The Redis that the hosts share may know a later epoch. It may be away, or emptied: then it says nothing.

async function alarmOfRegister(register: EpochRegister | null | undefined, { remembered }: History) {
  const newest = await register?.newest().catch(() => null)
  if (newest == null) return null
  const no = generationOf(newest)
  return no > remembered.epochNo && no >= remembered.adoptedAt ? WORKED_ELSEWHERE : null
}

/** Several workers write there; the highest one counts. */
async function tellRegister(register: EpochRegister | null | undefined, { no, value }: Epoch): Promise<void> {
  try {
    const newest = (await register?.newest()) ?? null
    if (newest === null || generationOf(newest) < no) await register?.replace(newest, `${no}-${value}`)
  } catch {
    // Away. Whatever it holds is older, which is no harm.
  }
}
