// The ledger of the data directory. Only `makeLedger` makes one.

import type { App } from '../app.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { visible } from '../domain/visible.ts'
import type { LedgerOptions } from '../ledger/sqlite/ledger.ts'
import type { WorkThread } from '../ledger/sqlite/thread/work-thread.ts'
import type { FileLedger } from '../ports/ledger/file.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { assertClock } from './clock.ts'
import { assertOwnDirectory, ledgerExists, makeDataDir } from './data-directory.ts'
import { witnessDirsOf } from './witness.ts'

/** Makes the record of the data directory, which nothing else does. `made`: there was none. */
export async function makeLedger(app: App): Promise<{ ledgerId: string; made: boolean }> {
  makeDataDir(app)
  assertOwnDirectory(app.config.dataDir)
  const sqlite = await import('../ledger/sqlite/open-file.ts')
  return sqlite.makeLedger({ path: app.paths.ledger, witnessDirs: await witnessDirsOf(app, true) })
}

/** The ledger of the data directory. Faults where there is none. */
export async function openLedger(app: App): Promise<FileLedger> {
  assertOwnDirectory(app.config.dataDir)
  assertClock(app)
  const sqlite = await import('../ledger/sqlite/ledger.ts')
  return sqlite.openLedger(await optionsOf(app))
}

async function optionsOf(app: App): Promise<LedgerOptions> {
  const { ledger: path, submitLock: submitLockPath } = app.paths
  return { path, submitLockPath, witnessDirs: await witnessDirsOf(app), die: dieOf(app) }
}

/** The same ledger for whoever works off what is in it, and takes messages: in a thread of its own. */
export async function openWorkThread(app: App): Promise<WorkThread> {
  const { openWorkThread: open } = await import('../ledger/sqlite/thread/work-thread.ts')
  return open(await optionsOf(app))
}

/** Faults where there is no ledger: before a large file is read for it. */
export async function assertLedger(app: App): Promise<void> {
  if (ledgerExists(app)) return
  const { noLedgerFault } = await import('../ledger/sqlite/open-file.ts')
  throw noLedgerFault(app.paths.ledger, await witnessDirsOf(app))
}

/** The ledger if there is one, else an empty one in memory: a file can be checked before there is a record. */
export async function openLedgerOrNone(app: App): Promise<Ledger> {
  if (ledgerExists(app)) return openLedger(app)
  const sqlite = await import('../ledger/sqlite/ledger.ts')
  return sqlite.openLedger({ path: null, submitLockPath: null, die: dieOf(app) })
}

function dieOf(app: App): (error: unknown) => never {
  return (error) => {
    const message =
      error instanceof Fault
        ? app.scrub(error.linesIn(app.spelling).join('\n'))
        : `The ledger failed (${app.scrub(messageOf(error))}). Everything stopped at once; open requests are in doubt at the next start. Check the disk of ${app.config.dataDir}, then run it again.`
    app.log.error({ err: error }, app.logsOnly ? message : 'the ledger cannot be trusted any more')
    if (!app.logsOnly) process.stderr.write(`${visible(message)}\n`)
    process.exit(1)
  }
}

/** The same error; of a damaged ledger, in words. Whatever reads row by row meets the damage far from where it was opened. */
export async function explainDamage(app: App, error: unknown): Promise<unknown> {
  return (await import('../ledger/sqlite/copies/damage.ts')).explainDamage(app.paths.ledger, error)
}
