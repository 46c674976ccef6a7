// What a person did beside the rows, kept in the log of acts. What was done stands, whether it could be recorded or not.

import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import type { PersonAct } from '../domain/acts.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import type { BatchId } from '../domain/ids.ts'
import type { WrittenResults } from '../domain/written-results.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { errorText } from '../present/command-line.ts'
import type { Rejects } from './rejects.ts'
import type { Terminal } from './terminal.ts'

export async function note(
  app: App,
  ledger: Ledger,
  act: Omit<PersonAct, 'actor'>,
  terminal: Pick<Terminal, 'say'>,
): Promise<void> {
  const kept = await ledger.recordAct({ ...act, actor: app.actor }, app.clock.nowMs())
  if (kept !== 'recorded')
    sayUnrecorded(act.what, kept === 'full' ? 'its disk is full' : 'another program held it', terminal)
}

function sayUnrecorded(what: string, why: string, terminal: Pick<Terminal, 'say'>): void {
  terminal.say(
    `The ledger could not record this (${what}: ${why}), so tranche log does not tell of it. What was done stands, and no money depends on it: write it down elsewhere if your log must be complete.`,
  )
}

type Kind = 'results' | 'extract' | 'exceptions' | 'report' | 'rejects' | 'worklist'

/** The names of files are a person's: they may hold anything. */
export async function noteExport(
  app: App,
  ledger: Ledger,
  written: { kind: Kind; file: string; rows: number; batchId?: BatchId | null; of?: string },
  terminal: Pick<Terminal, 'say'>,
): Promise<void> {
  const { kind, file, rows, batchId = null, of } = written
  const details = { kind, file: maskCardData(resolve(file)), rows, ...(of === undefined ? {} : { of: nameOf(of) }) }
  await note(app, ledger, { what: 'export', batchId, details }, terminal)
}

export async function noteResults(
  app: App,
  ledger: Ledger,
  batchId: BatchId,
  {
    path,
    rows,
    exceptions,
    report,
    isExtract = false,
    isPassedOn = false,
  }: Pick<WrittenResults, 'path' | 'rows' | 'exceptions' | 'report'> & { isExtract?: boolean; isPassedOn?: boolean },
  terminal: Pick<Terminal, 'say'>,
): Promise<void> {
  const file = isPassedOn ? '/dev/stdout' : path
  await noteExport(app, ledger, { kind: isExtract ? 'extract' : 'results', file, rows, batchId }, terminal)
  if (report !== undefined) await noteExport(app, ledger, { kind: 'report', file: report, rows, batchId }, terminal)
  if (exceptions === null) return
  await noteExport(app, ledger, { kind: 'exceptions', file: exceptions.path, rows: exceptions.rows, batchId }, terminal)
}

/** Nothing where no file of rejects was written. */
export async function noteRejects(
  app: App,
  ledger: Ledger,
  rejects: Rejects,
  inputPath: string,
  terminal: Terminal,
): Promise<void> {
  const written = rejects.written()
  if (written === null || written.rows === 0) return
  const { path: file, rows } = written
  await noteExport(app, ledger, { kind: 'rejects', file, rows, of: inputPath }, terminal)
}

interface CardPlace {
  readonly line: number | null
  readonly column: string | null
}

/** Of a file that was refused before the ledger was opened. The refusal stands, whatever becomes of this. */
export async function noteRefusedCards(
  app: App,
  source: 'submit' | 'run',
  path: string,
  { code, ...place }: CardPlace & { readonly code: 'card-data' | 'structure' },
  terminal: Terminal,
): Promise<void> {
  if (code !== 'card-data') return
  try {
    const ledger = await openLedger(app)
    const details = { source, file: nameOf(path), ...placeOf(place) }
    await note(app, ledger, { what: 'card-refused', details }, terminal).finally(() => ledger.close())
  } catch (error) {
    sayUnrecorded('card-refused', errorText(error), terminal)
  }
}

/** Once for a file that stays in an inbox as it is, however often the folder is looked at. */
export async function noteCardsInInbox(
  app: App,
  ledger: Ledger,
  { inbox, path, ...place }: CardPlace & { readonly inbox: string; readonly path: string },
  terminal: Terminal,
): Promise<void> {
  const stat = statSync(path, { throwIfNoEntry: false })
  const what = { bytes: stat?.size ?? null, modified: stat?.mtime.toISOString() ?? null }
  const details = { source: 'inbox', file: nameOf(path), ...placeOf(place), inbox: maskCardData(inbox), ...what }
  await note(app, ledger, { what: 'card-refused', details, once: true }, terminal)
}

function placeOf({ line, column }: CardPlace): CardPlace {
  return { line, column: column === null ? null : maskCardData(column) }
}

function nameOf(path: string): string {
  return maskCardData(basename(path))
}
