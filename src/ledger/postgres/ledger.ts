// The PostgreSQL ledger, put together: every contract from the one server that keeps it.

import { Fault } from '../../domain/fault.ts'
import type { SharedClock } from '../../ports/clock.ts'
import type { WaitingToSubmit } from '../../ports/ledger/intake.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { approvalsOn } from '../texts/approving/approvals.ts'
import { keysOn } from '../texts/doors/keys.ts'
import { peopleOn } from '../texts/doors/people.ts'
import { providedOn } from '../texts/doors/provided.ts'
import { requestsOn } from '../texts/doors/requests.ts'
import { sessionsOn } from '../texts/doors/sessions.ts'
import { deliveriesOn } from '../texts/events/deliveries.ts'
import { endpointsOn } from '../texts/events/endpoints.ts'
import { eventsOn } from '../texts/events/events.ts'
import { openDraftOn } from '../texts/intake/draft.ts'
import { type IntakeParts, intakeOn } from '../texts/intake/intake.ts'
import { purgingOn } from '../texts/purge.ts'
import { queriesOn } from '../texts/reading/queries.ts'
import { headOf } from '../texts/record/chain.ts'
import { count, type Script } from '../texts/script.ts'
import { actsOn } from '../texts/work/acts.ts'
import { dueRowsOn } from '../texts/work/claim.ts'
import { controlOn } from '../texts/work/control.ts'
import { doubtsOn } from '../texts/work/doubts.ts'
import { looksBy } from '../texts/work/looks.ts'
import { workingOn } from '../texts/work/working.ts'
import { copiesOn, whyAtWork } from './copies/copies.ts'
import {
  assertSameHistoryOn,
  type Failover,
  hasStandby,
  REST_MS,
  restingFault,
  whyUnsureOf,
} from './copies/identity.ts'
import { type ToFileParts, toFileOn } from './copies/to-file.ts'
import { createServerWitness } from './copies/witness.ts'
import { holdDelivery } from './delivery-lock.ts'
import { connectDirectly } from './direct.ts'
import { draftEngineOn } from './draft.ts'
import { engineOn, FULL_TEXT } from './engine.ts'
import { throwAsFault } from './errors.ts'
import { type Machine, THIS_MACHINE } from './machine.ts'
import { keepPartitions } from './make-tables.ts'
import { createReads, quietBy } from './reads.ts'
import { createSeal, sealRecord } from './seal.ts'
import { createSeen } from './seen.ts'
import type { Address } from './session.ts'
import { createSessions } from './sessions.ts'
import { lockSubmit } from './submit-lock.ts'
import { createTransactor, type TransactorParts } from './transactor.ts'
import { createClaiming } from './work/claims.ts'
import { createDueFrom } from './work/due-from.ts'
import { createHot, type OnUnknownAnswer } from './work/hot.ts'
import { createKeptAnswers } from './work/kept-answers.ts'
import { createMember, heartbeatsOn } from './work/member.ts'
import { createSenders } from './work/senders.ts'
import { sweepingOn } from './work/sweep.ts'

export interface LedgerParts extends Pick<ToFileParts, 'filePath' | 'openTemporaryFolder'> {
  readonly address: Address
  /** Past a pooler: what reads a file, and what keeps others from it, needs a connection of its own. Absent, or null: the same. */
  readonly direct?: Address | null
  readonly ledgerId: string
  /** Ends the process after an error that leaves nothing to trust. */
  readonly die: (error: unknown) => never
  readonly clock: SharedClock
  /** Absent: the one that this runs on. */
  readonly machine?: Machine
  /** Where this process works off rows; null: it works off none, or nobody could tell that it is dead but by its lease. */
  readonly place: Place | null
  /** Absent: as `identity.ts` has it. */
  readonly restMs?: number
  /** For people: without its password. */
  readonly name: string
  readonly failover: Failover
  /** The files of all places of this machine. */
  readonly witnessFiles: () => readonly string[]
  /** An answer could not be written down: it is lost if this process dies before the server takes it. */
  readonly onKeepingFailed: (error: unknown) => void
  readonly onUnknownAnswer: OnUnknownAnswer
}

/** One process at a time has it. */
export interface Place {
  readonly id: string
  /** Where it remembers how far the ledger had come. */
  readonly witnessPath: string
  /** Where it keeps what the server does not take: each ledger in a file of its own, with its id behind the name. */
  readonly answersPath: string
}

/** Of tables that are there. Connects when it is asked for something. */
export function ledgerOn({
  address,
  direct = null,
  ledgerId,
  die,
  clock,
  machine: { connect, turns, newBatchId, newId } = THIS_MACHINE,
  place,
  onKeepingFailed,
  onUnknownAnswer,
  failover,
  restMs = REST_MS,
  ...of
}: LedgerParts): Ledger {
  const sessions = createSessions(() => connect(address))
  const parts: Omit<TransactorParts, 'connect'> = {
    name: of.name,
    schema: address.schema,
    clock,
    newId,
    reconnect: sessions.open,
    die,
  }
  const seen = createSeen(clock)
  const transactor = () => createTransactor({ ...parts, connect: sessions.kept() })
  const settled = quietBy(transactor())
  const reads = createReads(sessions.open, settled, clock)
  const engine = engineOn(transactor(), reads, turns)
  const connectAlone = () => (direct === null ? connect(address) : connectDirectly(() => connect(direct), reads))
  const directSessions = createSessions(() => connectAlone().catch(throwAsFault))
  const member = createMember({
    ...{ connect: sessions.kept(), place: place?.id ?? null, clock, newId, failover, restMs },
    seen,
    ensureLooked: (serverStart) => copies.ensureLooked(serverStart),
    onGivenUp: () => senders.lose(),
  })
  const senders = createSenders({
    ...{ transactor: transactor(), read: reads.readOften, member, failover, steadyMs: clock.monotonicMs },
  })
  const witness = createServerWitness(place)
  const hotTransactor = createTransactor({
    ...{ ...parts, connect: sessions.kept() },
    onCommitted: (no) => {
      witness.committed(no)
      seen.committed(hotTransactor.id, no)
    },
  })
  const hot = createHot({
    ...{ engine, transactor: hotTransactor, member, clock, fullText: FULL_TEXT, turns, onUnknownAnswer },
    kept: createKeptAnswers(place === null ? null : `${place.answersPath}.${ledgerId}`, clock, onKeepingFailed),
    claiming: createClaiming(failover, restMs, senders.held),
    hasStandby: failover === 'synchronous' ? () => reads.readOften(hasStandby) : null,
  })
  const submitLock = (waiting?: WaitingToSubmit) => lockSubmit(directSessions.open, address.schema, clock, waiting)
  const due = dueRowsOn({ read: reads.readOften }, createDueFrom(clock.monotonicMs))
  const working = workingOn(engine, clock.nowMs, due)
  const sweeping = sweepingOn({ engine, member, clock, place: place?.id ?? null })
  const seal = createSeal(() => sealRecord(engine))
  const copies = copiesOn({
    ...{ engine, seal, ledgerId, failover, restMs, witness, transactorId: hotTransactor.id, die },
    ...{ lockSubmit: submitLock, onPutBack: member.foundPutBack },
    ...of,
  })
  const looks = looksBy(copies, of.name, { whyUnsure: whyUnsureOf(failover, restMs), whyAtWork })
  const reached = (nowMs: number) => Math.min(nowMs, clock.reachedMs())
  const assertGoesOn = assertSameHistoryOn(failover)
  const intake: IntakeParts = {
    ...{ newBatchId, lockSubmit: submitLock, assertGoesOn },
    openDraft: async (header, release) => {
      await keepPartitions(engine)
      const draft = await draftEngineOn(await directSessions.open(), header, { ...parts, settled, turns })
      return openDraftOn(draft, header, { newBatchId, release, assertGoesOn })
    },
  }
  return {
    ledgerId,
    ...working,
    // A row is due when the server and this machine agree that it is.
    async workable(nowMs, countTo, only) {
      const leftMs = member.restLeftMs()
      if (leftMs > 0) throw restingFault(leftMs)
      return working.workable(reached(nowMs), countTo, only)
    },
    dueRows: (batchId, nowMs, limit, except) => working.dueRows(batchId, reached(nowMs), limit, except),
    cancelExpired: (nowMs) => working.cancelExpired(reached(nowMs)),
    ...sweeping,
    async sweep(nowMs) {
      await hot.settleLeft() // what was answered is no doubt
      return sweeping.sweep(nowMs)
    },
    claim: hot.claim,
    settle: hot.settle,
    maySend: member.isTrusted,
    isShared: true,
    keepAccounts: senders.keepAccounts,
    tenure: senders.tenure,
    beat: member.beat,
    ...doubtsOn(engine, noSteps, looks),
    ...intakeOn(engine, intake),
    ...keysOn(engine),
    ...peopleOn(engine),
    ...sessionsOn(engine),
    ...providedOn(engine),
    ...requestsOn(engine, { looks, setForward: noSteps, intake, ledgerId }),
    ...queriesOn(engine, async () => {
      await seal() // the head of a reading binds all that it shows
      return reads.openReader()
    }),
    ...heartbeatsOn(engine),
    ...controlOn(engine, looks),
    ...approvalsOn(engine, ledgerId, looks),
    ...actsOn(engine, clock.nowMs),
    ...eventsOn(engine, ledgerId, seal),
    ...endpointsOn(engine, ledgerId),
    ...deliveriesOn(engine, ledgerId),
    holdDelivery: (to) => holdDelivery(directSessions.open, address.schema, to),
    ...purgingOn(engine),
    clearLog: async () => true,
    async head() {
      await seal()
      return engine.read(headOf)
    },
    ...copies,
    async renewEpoch(register) {
      if (member.isOverruled()) die(overruledFault(of.name))
      await copies.renewEpoch(register)
    },
    ...toFileOn({ seal, openSnapshot: reads.openSnapshot, ...of }),
    async close() {
      await hot.drained()
      await member.leave()
      await copies.drained()
      await engine.drained()
      await Promise.all([sessions.closeAll(), directSessions.closeAll()])
      witness.close()
    },
  }
}

/** It stood still, or was cut off, while all that happened. What it could not hand in is in its file. */
function overruledFault(name: string): Fault {
  return new Fault(
    'stopped',
    `The ledger ${name} was put back and taken over while this worker stood still. Nothing more is sent from here. Start it again.`,
  )
}

/** The time of the server tells how long a doubt has rested: steps of a host's own clock do not matter. */
function* noSteps(): Script<number> {
  return yield* count('SELECT 0 AS n')
}
