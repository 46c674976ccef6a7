// The ledger of this data directory, moved to a server: copied whole, then retired here, then woken there. At no moment do both send, and
// what a crash breaks off is finished, or begun anew, by the next call.

import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import type { App } from '../app.ts'
import { type LedgerServer, ledgerServerAt } from '../config/ledger-server.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { Held } from '../files/lock.ts'
import type { Target } from '../ledger/postgres/copies/arriving.ts'
import type { Session } from '../ledger/postgres/session.ts'
import type { MovedTo } from '../ledger/rules/alarming.ts'
import type { FileLedger } from '../ports/ledger/file.ts'
import { systemClock } from './clock.ts'
import { ledgerExists } from './data-directory.ts'
import { openFileLedger } from './ledger.ts'
import { takeLockToSend } from './locks.ts'
import { openRegister } from './redis.ts'
import { addressOf, assertDirect, directAddressOf } from './server-ledger.ts'
import { witnessDirsOf } from './witness.ts'

/** The same, of the ledger in the file, whatever the settings name. */
export function inItsFile(app: App): App {
  const { config, paths } = app
  return {
    ...app,
    ...{ config: { ...config, ledgerServer: null }, clock: systemClock, sharedClock: null },
    paths: { ...paths, ledger: paths.ledgerFile },
  }
}

/** As a person named it, or else as the settings do. */
export function serverOf({ config, io }: App, url: string | undefined): LedgerServer {
  if (url !== undefined) return ledgerServerAt(url, io.env)
  if (config.ledgerServer !== null) return config.ledgerServer
  throw new Fault(
    'usage',
    'The server is not named. Nothing was changed. Give its address, as postgres://user@host/database, or set TRANCHE_LEDGER_URL.',
  )
}

/** What would be moved, and where. */
export interface Ahead {
  /** Where it is already, asleep or awake; null: it is still in the file. */
  readonly moved: MovedTo | null
  readonly target: Target
  readonly rows: number
  readonly batches: number
  /** Open requests of a worker that is gone: they come into doubt. */
  readonly sending: number
  /** Of the file. */
  readonly bytes: number
}

/** Changes nothing. Faults where it cannot be moved. */
export async function lookAhead(app: App, server: LedgerServer): Promise<Ahead> {
  const { whereMoved } = await import('../ledger/sqlite/copies/moving.ts')
  const { lookAtTarget } = await import('../ledger/postgres/copies/arriving.ts')
  await assertFile(app)
  const moved = whereMoved(app.paths.ledger)
  const ledger = await openFileLedger(app)
  try {
    await assertDirect(server)
    const moving = { ledgerId: ledger.ledgerId, token: moved?.token ?? null }
    const target = await atServer(app, server, (session) => lookAtTarget(session, server.schema, moving))
    const batches = await ledger.batches()
    return {
      ...{ moved, target, batches: batches.length, bytes: statSync(app.paths.ledger).size },
      rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
      sending: batches.reduce((sum, batch) => sum + (batch.counts.SENDING ?? 0), 0),
    }
  } finally {
    await ledger.close()
  }
}

async function assertFile(app: App): Promise<void> {
  if (ledgerExists(app)) return
  const { noLedgerFault } = await import('../ledger/sqlite/open-file.ts')
  throw noLedgerFault(app.paths.ledger, await witnessDirsOf(app))
}

export interface Moved {
  /** Rows that came into doubt. */
  readonly inDoubt: number
}

/** `onStep` is called with the name of each table before it is copied, and with `retired` when nothing is sent from the file any more. */
export async function moveLedger(app: App, server: LedgerServer, onStep: (step: string) => void): Promise<Moved> {
  const ledger = await openFileLedger(app)
  try {
    const lock = await takeLockToSend(app, ledger, 'migrate')
    if (lock.kind === 'held') throw heldFault(lock)
    try {
      const submitting = await lockSubmit(app)
      try {
        await renewEpoch(app, ledger)
        const inDoubt = await ledger.sweep(app.clock.nowMs())
        await copyAndRetire(app, server, ledger.ledgerId, onStep)
        return { inDoubt }
      } finally {
        submitting.release()
      }
    } finally {
      lock.release()
    }
  } finally {
    await ledger.close()
  }
}

/** A copy made while no worker ran has the epoch that the last worker left. Without a new epoch it would pass for the ledger if it were put back. */
async function renewEpoch(app: App, ledger: FileLedger): Promise<void> {
  const register = await openRegister(app, ledger)
  try {
    await ledger.renewEpoch(register)
  } finally {
    register?.close()
  }
}

async function lockSubmit(app: App) {
  const { takeLock } = await import('../files/lock.ts')
  const startedAtMs = app.clock.nowMs()
  const lock = takeLock(app.paths.submitLock, { pid: process.pid, host: hostname(), command: 'migrate', startedAtMs })
  if (lock.kind === 'held') throw heldFault(lock)
  return lock
}

function heldFault({ heldBy }: Held): Fault {
  const who = heldBy === null ? 'Another process' : `Process ${heldBy.pid} on ${heldBy.host} (${heldBy.command})`
  return new Fault('stopped', `${who} is at work in this ledger. Nothing was moved. Let it end, or stop it (SIGTERM).`)
}

async function copyAndRetire(
  app: App,
  server: LedgerServer,
  ledgerId: string,
  onStep: (step: string) => void,
): Promise<void> {
  const { holdLedger } = await import('../ledger/sqlite/copies/moving.ts')
  const { fillServer } = await import('../ledger/postgres/copies/arriving.ts')
  const held = holdLedger(app.paths.ledger)
  try {
    await atServer(app, server, async (session) => {
      const token = randomBytes(16).toString('hex')
      const { epochNo, lastIds, tables: from } = held
      await fillServer(session, server.schema, {
        ...{ from, ledgerId, token, epochNo, lastIds, failover: server.failover, onTable: onStep },
      })
      held.retire({ name: server.name, atMs: app.clock.nowMs(), token })
      onStep('retired')
    })
  } finally {
    held.release()
  }
}

/** The ledger that was moved there sends from now on. */
export async function wakeMoved(app: App, server: LedgerServer): Promise<void> {
  const { disownCopies, whereMoved } = await import('../ledger/sqlite/copies/moving.ts')
  const { wake } = await import('../ledger/postgres/copies/arriving.ts')
  const moved = whereMoved(app.paths.ledger)
  if (moved === null) throw new Error('bug: it has not been moved')
  const { actor, clock, paths } = app
  const ledger = await openFileLedger(app)
  const register = await openRegister(app, ledger)
  try {
    const moving = { ledgerId: ledger.ledgerId, token: moved.token }
    await disownCopies(paths.ledger, { ...moving, witnessDirs: await witnessDirsOf(app), register })
    const waking = { ...moving, from: paths.ledger, actor, nowMs: clock.nowMs() }
    await atServer(app, server, (session) => wake(session, waking))
  } finally {
    register?.close()
    await ledger.close()
  }
}

async function atServer<T>(app: App, server: LedgerServer, run: (session: Session) => Promise<T>): Promise<T> {
  const { withFitSession } = await import('../ledger/postgres/open.ts')
  return withFitSession(directAddressOf(server) ?? addressOf(server), server.failover, run).catch((error: unknown) => {
    throw error instanceof Fault ? error : brokenFault(app, error)
  })
}

function brokenFault(app: App, error: unknown): Fault {
  return new Fault(
    'unavailable',
    `The move was broken off (${app.scrub(messageOf(error))}). No row is lost, and nothing is sent meanwhile from two places. Run it again when the server is well: it goes on, or begins anew.`,
    { cause: error },
  )
}
