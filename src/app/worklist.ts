// The worklist of doubts: as a table for a person, read again when it is filled in, and what was found recorded line by line.

import type { App } from '../app.ts'
import type { Actor } from '../domain/actor.ts'
import type { DoubtRow, Foreseen, Resolution, Resolved } from '../domain/doubt.ts'
import { Fault } from '../domain/fault.ts'
import { words } from '../domain/words.ts'
import { WORKLIST_COLUMNS } from '../domain/worklist-columns.ts'
import type { WorklistEntry, WorklistOptions } from '../ingest/worklist.ts'
import type { DoubtLedger } from '../ports/ledger/doubts.ts'
import { doubtMeant } from './doubts.ts'
import { openToRead } from './input-file.ts'

export type { WorklistEntry } from '../ingest/worklist.ts'

/** As the person was told what it does, before they said yes. */
export type ToldEntry = WorklistEntry & Pick<Resolution, 'onlyProposes'>

/** CSV as the results are written. */
export async function toWorklistCsv(doubts: readonly Readonly<Record<string, string | number>>[]): Promise<string> {
  const { toGuardedCsv } = await import('../results/formats.ts')
  return toGuardedCsv(
    WORKLIST_COLUMNS,
    doubts.map((doubt) => WORKLIST_COLUMNS.map((name) => String(doubt[name] ?? ''))),
  )
}

export async function readWorklistFile(path: string, options: WorklistOptions) {
  const { readWorklist } = await import('../ingest/worklist.ts')
  const handle = await openToRead(path)
  try {
    return await readWorklist(handle, options)
  } finally {
    await handle.close()
  }
}

type Configured = Pick<App, 'config'>

/** A file is asked about by what it would have sent: what it only proposes sends nothing, whatever is decided meanwhile. */
export function asTold(entries: readonly WorklistEntry[], doubts: readonly DoubtRow[]): readonly ToldEntry[] {
  return entries.map((entry) => ({ ...entry, onlyProposes: doubtMeant(doubts, entry)?.twoPeople === true }))
}

function resolutionBy({ line: _, ...entry }: ToldEntry, { config }: Configured): Resolution {
  // A file confirms nobody's proposal to send a row again: for that, a person looks at that one proposal.
  const shown = entry.finding === 'send-again' ? { proposedAtMs: null } : {}
  return { ...entry, ...shown, restMs: config.doubtRestMs }
}

export interface Planned {
  readonly entry: WorklistEntry
  readonly foreseen: Foreseen
}

/** What would come of each line now. Changes nothing. */
export async function planWorklist(
  app: Configured & Pick<App, 'clock'>,
  ledger: Pick<DoubtLedger, 'foresee'>,
  actor: Actor,
  entries: readonly WorklistEntry[],
): Promise<readonly Planned[]> {
  const resolutions = entries.map((entry) => resolutionBy(entry, app))
  const foreseen = await ledger.foresee(resolutions, actor, app.clock.nowMs())
  return entries.map((entry, i) => ({ entry, foreseen: foreseen[i] as Foreseen }))
}

export interface FoundByFile {
  readonly entry: WorklistEntry
  readonly answer: Resolved
}

/**
 * Each line is recorded by itself and durably, so what came before trouble stands, and the fault says so. `resolve`: of the ledger, for
 * that line; null: the line had its effect before.
 */
export async function* recordWorklist(
  app: Configured & Pick<App, 'clock'>,
  entries: readonly ToldEntry[],
  resolve: (entry: WorklistEntry, resolution: Resolution, nowMs: number) => Promise<Resolved | null>,
): AsyncGenerator<FoundByFile> {
  let resolved = 0
  for (const entry of entries) {
    const answer = await resolve(entry, resolutionBy(entry, app), app.clock.nowMs()).catch((error) => {
      throw brokenOff(error, resolved)
    })
    if (answer === null) continue
    if (answer.kind === 'resolved') resolved += 1
    yield { entry, answer }
  }
}

function brokenOff(error: unknown, resolved: number): unknown {
  if (!(error instanceof Fault) || resolved === 0) return error
  const rows = resolved === 1 ? '1 row was' : `${resolved} rows were`
  return new Fault(
    error.code,
    words`${rows} resolved before this: ${error.text} Lines that were recorded are known then.`,
    { cause: error },
  )
}
