// The ledger: a file of the data directory, or on a server. Only `makeLedger` makes one.

import type { App } from '../app.ts'
import { stoppedBy } from '../domain/alarm.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { visible } from '../domain/visible.ts'
import type { Place } from '../ledger/postgres/ledger.ts'
import type { LedgerOptions } from '../ledger/sqlite/ledger.ts'
import type { WorkingPart } from '../ledger/sqlite/thread/work-thread.ts'
import type { FileLedger } from '../ports/ledger/file.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { assertClock } from './clock.ts'
import { assertOwnDirectory, ledgerExists, makeDataDir } from './data-directory.ts'
import { existsOnServer, makeOnServer, openOnServer } from './server-ledger.ts'
import { witnessDirsOf } from './witness.ts'

/** Makes the record, which nothing else does. `made`: there was none. */
export async function makeLedger(app: App): Promise<{ ledgerId: string; made: boolean }> {
  const { ledgerServer: server } = app.config
  if (server !== null) return makeOnServer(app, server)
  makeDataDir(app)
  assertOwnDirectory(app.config.dataDir)
  const sqlite = await import('../ledger/sqlite/open-file.ts')
  return sqlite.makeLedger({ path: app.paths.ledger, witnessDirs: await witnessDirsOf(app, true) })
}

/** Faults where there is none, and where it was moved away: what would be done there, nobody would know. `looks`: nothing is done. */
export async function openLedger(app: App, looks: 'looks' | 'acts' = 'acts'): Promise<Ledger> {
  assertSafe(app)
  const { ledgerServer: server } = app.config
  if (server !== null) return openOnServer(app, server, { place: null, die: dieOf(app) })
  const ledger = await openFile(app)
  const alarm = looks === 'looks' ? null : await ledger.alarm()
  if (alarm?.kind !== 'moved-away') return ledger
  await ledger.close()
  throw stoppedBy(alarm, app.paths.ledger)
}

/** The ledger as a file, for what only a file has. */
export async function openFileLedger(app: App): Promise<FileLedger> {
  if (app.config.ledgerServer !== null) throw new Error('bug: a server keeps the ledger')
  assertSafe(app)
  return openFile(app)
}

function assertSafe(app: App): void {
  assertOwnDirectory(app.config.dataDir)
  assertClock(app)
}

async function openFile(app: App): Promise<FileLedger> {
  const sqlite = await import('../ledger/sqlite/ledger.ts')
  return sqlite.openLedger(await optionsOf(app))
}

async function optionsOf(app: App): Promise<LedgerOptions> {
  const { ledger: path, submitLock: submitLockPath } = app.paths
  return { path, submitLockPath, witnessDirs: await witnessDirsOf(app), die: dieOf(app) }
}

/** What is called while rows are worked off and messages are taken. */
export interface WorkingLedger extends WorkingPart, Pick<Ledger, 'renewEpoch'> {
  /** Resolves when all that was handed in is written. */
  close(): Promise<void>
}

/**
 * The same ledger for whoever works off what is in it, and takes messages. A file: in a thread of its own, because SQLite answers while
 * its caller stands still. On a server: from its place.
 */
export async function openWorkingLedger(
  app: App,
  { renewEpoch }: Pick<Ledger, 'renewEpoch'>,
  place: Place | null,
): Promise<WorkingLedger> {
  const { ledgerServer: server } = app.config
  if (server !== null) return openOnServer(app, server, { place, die: dieOf(app) })
  const { openWorkThread } = await import('../ledger/sqlite/thread/work-thread.ts')
  return { ...openWorkThread(await optionsOf(app)), renewEpoch }
}

export async function hasLedger(app: App): Promise<boolean> {
  const { ledgerServer: server } = app.config
  return server === null ? ledgerExists(app) : existsOnServer(server)
}

/** Faults where there is no ledger: before a large file is read for it. */
export async function assertLedger(app: App): Promise<void> {
  if (app.config.ledgerServer !== null) return (await openLedger(app)).close()
  if (ledgerExists(app)) return
  const { noLedgerFault } = await import('../ledger/sqlite/open-file.ts')
  throw noLedgerFault(app.paths.ledger, await witnessDirsOf(app))
}

/** The ledger if there is one, else an empty one in memory: a file can be checked before there is a record. */
export async function openLedgerOrNone(app: App): Promise<Ledger> {
  if (await hasLedger(app)) return openLedger(app)
  const sqlite = await import('../ledger/sqlite/ledger.ts')
  return sqlite.openLedger({ path: null, submitLockPath: null, die: dieOf(app) })
}

function dieOf(app: App): (error: unknown) => never {
  return (error) => {
    const message =
      error instanceof Fault
        ? app.scrub(error.linesIn(app.spelling).join('\n'))
        : `The ledger failed (${app.scrub(messageOf(error))}). Everything stopped at once; open requests are in doubt at the next start. Check ${app.config.ledgerServer === null ? `the disk of ${app.config.dataDir}` : 'its PostgreSQL server'}, then run it again.`
    app.log.error({ err: error }, app.logsOnly ? message : 'the ledger cannot be trusted any more')
    if (!app.logsOnly) app.io.stderr.write(`${visible(message)}\n`)
    return app.io.exit(1)
  }
}

/** The same error; of a damaged ledger, in words. Whatever reads row by row meets the damage far from where it was opened. */
export async function explainDamage(app: App, error: unknown): Promise<unknown> {
  if (app.config.ledgerServer !== null) return error
  return (await import('../ledger/sqlite/copies/damage.ts')).explainDamage(app.paths.ledger, error)
}
