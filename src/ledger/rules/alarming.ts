// Whether a ledger may be another than the one that sent last: what stands beside it, what its witnesses say, and which files
// it is in. Pure.

import type { Alarm } from '../../domain/alarm.ts'

/** What a witness outside the ledger says of it. */
export interface Testimony {
  /** The file that says it. */
  readonly file: string
  readonly ledgerPath: string
  readonly epoch: string
  /** How far the record had come. */
  readonly progress: number
}

/** What stands in the file with the epoch. */
export interface Epoch {
  readonly ledgerId: string
  readonly epoch: string
}

/** A server that has the ledger since. */
export interface MovedTo {
  /** For people. */
  readonly name: string
  readonly atMs: number
  /** Random: the ledger there has the same. */
  readonly token: string
}

/** What there is to tell a ledger from a copy of it. */
export interface Traces {
  readonly ledgerId: string
  /** Of the file beside the ledger, for people. */
  readonly epochFile: string
  /** What stands in that file; null: there is none. */
  readonly beside: Epoch | null
  /** Those that the ledger remembers: the one beside it, and the one that is about to be. */
  readonly epochs: readonly string[]
  readonly progress: number
  /** What spoke against it when it was opened before; null: nothing. */
  readonly overtakenBy: Testimony | null
  readonly testimonies: readonly Testimony[]
  /** The witness in its own directory, which a copy of the directory carries along. */
  readonly witnessInside: string
  /** Where it was moved; null: nowhere. */
  readonly movedTo: MovedTo | null
  /** It is being taken over as an older state: some of its open rows have come into doubt, and others have not. */
  readonly restoring: boolean
  /** When it was made as a backup; null: it is none, or was adopted. */
  readonly copiedAtMs: number | null
  /** It remembers another machine. */
  readonly otherMachine: boolean
  /** It remembers other files than these. */
  readonly otherFiles: boolean
  /** Something else wrote to its directory, or may have. */
  readonly touched: boolean
}

/** null: nothing suggests that this is another ledger than the one that sent last. */
export function alarmIn(traces: Traces): Alarm | null {
  const { beside, epochFile, movedTo } = traces
  if (movedTo !== null) return movedAway(movedTo)
  if (beside !== null && beside.ledgerId !== traces.ledgerId) return otherLedger(epochFile)
  if (traces.restoring) return HALF_RESTORED
  const against = traces.overtakenBy ?? witnessAgainst(traces)
  if (against !== null) return overtaken(against)
  if (traces.copiedAtMs !== null) return copyOf(traces.copiedAtMs)
  if (beside === null) return { kind: 'unmarked', noticed: `${epochFile}, which belongs beside it, is missing` }
  if (!traces.epochs.includes(beside.epoch)) return putBack(epochFile)
  if (traces.otherMachine) return { kind: 'elsewhere', noticed: 'it is a copy, or was moved from another machine' }
  if (traces.otherFiles) return otherPlace()
  return traces.touched && !isVouchedFor(traces, beside) ? touched() : null
}

/** The first witness that knows of work which this ledger does not; null: none does. */
export function witnessAgainst({
  testimonies,
  epochs,
  progress,
}: Pick<Traces, 'testimonies' | 'epochs' | 'progress'>): Testimony | null {
  return testimonies.find((said) => provesWorkSince(said, epochs, progress)) ?? null
}

/** A witness that fell behind says nothing: another user or service may have had it. */
function provesWorkSince(said: Testimony, known: readonly string[], progress: number): boolean {
  return known.length === 0 || known.includes(said.epoch) ? said.progress > progress : isUnknownSince(said.epoch, known)
}

/** An epoch that this ledger never had, and that is no earlier than its own: another copy of it worked. */
export function isUnknownSince(epoch: string, known: readonly string[]): boolean {
  return !known.includes(epoch) && generationOf(epoch) >= Math.max(...known.map(generationOf))
}

/** An epoch is a number and a word. What stands in a file beside the ledger may be anything else: it comes before all epochs. */
export function generationOf(epoch: string): number {
  return Number(/^(\d{1,12})-/.exec(epoch)?.[1] ?? 0)
}

/** A witness outside the directory knows the epoch, so the ledger is the newest that it knows of. */
function isVouchedFor({ testimonies, witnessInside }: Traces, beside: Epoch): boolean {
  return testimonies.some((said) => said.file !== witnessInside && said.epoch === beside.epoch)
}

function movedAway({ name, atMs }: MovedTo): Alarm {
  return { kind: 'moved-away', noticed: `it was moved to ${name} at ${new Date(atMs).toISOString()}` }
}

function otherLedger(epochFile: string): Alarm {
  return {
    kind: 'other',
    noticed: `${epochFile} beside it belongs to another ledger, which stood here before, and what that one recorded is not in this one`,
  }
}

function overtaken({ file, ledgerPath }: Testimony): Alarm {
  return {
    kind: 'older',
    noticed: `${file} records later work by this ledger in ${ledgerPath}, so this is an older state or a copy`,
  }
}

function copyOf(copiedAtMs: number): Alarm {
  return {
    kind: 'backup',
    noticed: `it is a backup, made at ${new Date(copiedAtMs).toISOString()}`,
  }
}

function putBack(epochFile: string): Alarm {
  return {
    kind: 'older',
    noticed: `${epochFile} beside it records later work, so this is an older state that was put back`,
  }
}

function otherPlace(): Alarm {
  return {
    kind: 'elsewhere',
    noticed: 'it is a copy, or was moved from another disk, or put back from a copy (its files are other ones)',
  }
}

function touched(): Alarm {
  return {
    kind: 'touched',
    noticed:
      'something other than this program wrote to its directory, or changed an owner or a mode there: an older state may have been copied over it, and there is no witness to show whether one was (TRANCHE_WITNESS_DIR)',
  }
}

const HALF_RESTORED: Alarm = {
  kind: 'restoring',
  noticed: 'taking it over as an older state has not come to its end',
}

/** What the register of another host's Redis shows. */
export const WORKED_ELSEWHERE: Alarm = {
  kind: 'older',
  noticed: 'Redis records later work by another copy of it, so this is an older state or a copy',
}
