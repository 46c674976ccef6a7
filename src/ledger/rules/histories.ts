// Whether a server has the history of the ledger that sent last: what the ledger remembers of the server, and what this machine remembers
// of the ledger. Pure.

import type { Alarm } from '../../domain/alarm.ts'

/** What a server is known by. null: it does not tell. */
export interface ServerIdentity {
  /** Made with the cluster; a copy by dump and restore has another. */
  readonly systemId: string | null
  /** Another one since a standby took over, or a backup was restored to a moment. */
  readonly timeline: string | null
  /** The database and the tables in it; a copy beside the ledger has others. */
  readonly database: string | null
}

/** What a place has seen of the ledger. */
export interface Witnessed {
  readonly ledgerId: string
  readonly epochNo: number
  readonly epoch: string
  /** A transactor of its own. */
  readonly transactorId: number
  /** The last of its transactions that was committed since that epoch was begun; 0: none. Who has the epoch has every earlier one. */
  readonly commitNo: number
}

export interface Remembered extends ServerIdentity {
  readonly epochNo: number
  /**
   * The epoch that was begun when an older state was taken over, or when the ledger moved here from a file: what was witnessed before it says
   * nothing. 0: neither.
   */
  readonly adoptedAt: number
  /** Why nothing may be sent yet. */
  readonly unfinished: Unfinished | null
}

/**
 * - `adopting`: it is being taken over as an older state
 * - `arriving`: it moves here, and the file that it comes from may still send
 * - `put-back`: a worker saw something committed that is not there any more
 */
export type Unfinished = 'adopting' | 'arriving' | 'put-back'

export interface History {
  readonly ledgerId: string
  readonly server: ServerIdentity
  readonly remembered: Remembered
  readonly testimonies: readonly Testimony[]
}

export interface Said {
  /** What says it, for people: the beginning of a sentence. */
  readonly by: string
  readonly said: Witnessed
}

export interface Testimony extends Said {
  /** What the ledger says of that epoch; null: it never had it, or knows no more. */
  readonly epochHere: string | null
  /** The last transaction of that transactor that the ledger has; null: it has none. */
  readonly commitNoHere: number | null
}

/** null: nothing suggests that a later state of this ledger has been anywhere. */
export function alarmInHistory({ ledgerId, server, remembered, testimonies }: History): Alarm | null {
  const stranger = testimonies.find(({ said }) => said.ledgerId !== ledgerId)
  if (stranger !== undefined) return another(stranger.by)
  if (remembered.unfinished !== null) return broken(remembered.unfinished)
  const against = testimonies.find((one) => provesMore(one, remembered))
  if (against !== undefined) return older(against.by)
  if ((server.timeline === null) !== (remembered.timeline === null)) return otherMode(server.timeline === null)
  if (isOther(server.systemId, remembered.systemId) || isOther(server.database, remembered.database)) return elsewhere()
  return isOther(server.timeline, remembered.timeline) ? failedOver() : null
}

/**
 * A machine that was off for a week is behind: that is no alarm. Where the ledger has forgotten the epoch, it may have forgotten the
 * transactor too.
 */
function provesMore({ said, epochHere, commitNoHere }: Testimony, { epochNo, adoptedAt }: Remembered): boolean {
  if (said.epochNo < adoptedAt) return false
  if (said.epochNo > epochNo || (epochHere !== null && epochHere !== said.epoch)) return true
  return epochHere !== null && (commitNoHere ?? 0) < said.commitNo
}

/** Whether it can prove nothing, now or later, of a ledger that goes on from here. */
export function isOutdated({ said, epochHere }: Testimony, { adoptedAt }: Remembered): boolean {
  return epochHere === null || said.epochNo < adoptedAt
}

function isOther(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one !== other
}

function another(by: string): Alarm {
  return {
    kind: 'other',
    noticed: `${by} records the work of another ledger on this machine, so its address may be that of another database`,
  }
}

const NOTICED: Readonly<Record<Unfinished, string>> = {
  adopting: 'a command that took it over as an older state was broken off',
  arriving: 'the ledger that moves here has not arrived as a whole',
  'put-back':
    'a worker saw something committed that is not in it any more, so its server was put back to an older state',
}

function broken(what: Unfinished): Alarm {
  return { kind: 'older', noticed: NOTICED[what] }
}

function older(by: string): Alarm {
  return {
    kind: 'older',
    noticed: `${by} records later work by this ledger, so its server was put back to an older state, or another one took over without the newest of it`,
  }
}

function elsewhere(): Alarm {
  return {
    kind: 'elsewhere',
    noticed: 'it is on another server than before, or in another database: a copy, a dump that was restored, or a move',
  }
}

/** One host that compares no timeline would go on where all others stop. */
function otherMode(tellsNone: boolean): Alarm {
  const [here, before] = tellsNone ? ['is', 'was not'] : ['is not', 'was']
  return {
    kind: 'failed-over',
    noticed: `TRANCHE_POSTGRES_FAILOVER ${here} storage on this host, and ${before} when the ledger was made or taken over last, so nothing tells whether another server took its place`,
  }
}

function failedOver(): Alarm {
  return {
    kind: 'failed-over',
    noticed:
      'its server has another timeline than before: a standby took over, or a backup was restored to a moment, and what was committed last may be missing',
  }
}
