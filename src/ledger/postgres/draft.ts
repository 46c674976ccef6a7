// A draft in PostgreSQL: temporary tables of a connection of its own, which ends with it. Rows are copied in, many at a time.

import type { DraftHeader, DraftRow } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { DraftEngine } from '../texts/intake/draft.ts'
import { indexDraftTables, makeDraftTables } from '../texts/review/draft-tables.ts'
import { FAULTS_OF_DRAFT, faultValues, ROWS_OF_DRAFT, rowValues } from '../texts/review/draft-values.ts'
import type { Value } from '../texts/script.ts'
import { lineOf } from '../texts/tables.ts'
import type { Turns } from '../write-queue.ts'
import { copyIn } from './copy-in.ts'
import { engineOn, FULL_TEXT } from './engine.ts'
import { LostConnection, throwAsFault, whyNotWritten } from './errors.ts'
import { inSnapshot, type Reads, type WhenQuiet } from './reads.ts'
import { type Session, toParameter } from './session.ts'
import { createTransactor, type TransactorParts } from './transactor.ts'

/** `session`: of its own, and to no pooler that gives a transaction another connection. */
export async function draftEngineOn(
  session: Session,
  header: DraftHeader,
  parts: Omit<TransactorParts, 'connect'> & { readonly settled: WhenQuiet; readonly turns: Turns },
): Promise<DraftEngine> {
  const connect = async () => {
    if (session.isOver) throw lostFault()
    return session
  }
  const transactor = createTransactor({ ...parts, connect })
  /** Over whole files: a statement may take as long as it takes. */
  const asDraft = <T>(run: () => Promise<T>) => session.patiently(run).catch(throwAsDraftFault)
  await asDraft(() => inSnapshot(session, () => session.run(makeDraftTables())))
  const reads: Pick<Reads, 'read'> = {
    read: async (script, moment) => {
      await connect()
      return asDraft(() => session.read(script(), moment === 'settled' ? { begin: parts.settled } : {}))
    },
  }
  const engine = engineOn(transactor, reads, parts.turns)
  return {
    ...engine,
    add: (rows) => asDraft(() => inSnapshot(session, () => copyRows(session, header, rows))),
    index: () =>
      asDraft(() =>
        inSnapshot(session, async () => {
          await session.run(indexDraftTables())
          await session.exec('ANALYZE draft_row, draft_fault') // nothing else ever tells the planner of temporary tables
        }),
      ),
    close: () => void engine.drained().then(() => session.close()),
  }
}

function throwAsDraftFault(error: unknown): never {
  if (error instanceof LostConnection) throw lostFault(error)
  if (whyNotWritten(error) !== 'full') throwAsFault(error)
  throw new Fault('full', FULL_TEXT, { cause: error })
}

function lostFault(cause?: unknown): Fault {
  return new Fault(
    'storage',
    'The connection to the PostgreSQL server was lost while the file was read. Nothing was recorded and nothing was sent. Try again.',
    { cause },
  )
}

async function copyRows(session: Session, header: DraftHeader, rows: readonly DraftRow[]): Promise<void> {
  if (rows.length === 0) return
  const linesOf = (all: readonly (readonly Value[])[]) => all.map((values) => lineOf(values.map(toParameter))).join('')
  await copyIn(session, ROWS_OF_DRAFT, [linesOf(rows.map((row) => rowValues(row, header)))])
  const faults = linesOf(rows.flatMap(faultValues))
  if (faults !== '') await copyIn(session, FAULTS_OF_DRAFT, [faults])
}
