// The ledger on a PostgreSQL server: its address as configured, and the places of this machine from which workers of it send.

import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app.ts'
import type { LedgerServer } from '../config/ledger-server.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { Held, Holder, Lock } from '../files/lock.ts'
import type { Place } from '../ledger/postgres/ledger.ts'
import type { Address } from '../ledger/postgres/session.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { makeDataDir } from './data-directory.ts'
import { openTemporaryFolder } from './temporary-folder.ts'

export async function makeOnServer(app: App, server: LedgerServer): Promise<{ ledgerId: string; made: boolean }> {
  makeDataDir(app)
  const { makeServerLedger } = await import('../ledger/postgres/open.ts')
  return makeServerLedger(addressOf(server), server.failover)
}

/** `place`: where this process sends; null: it sends nothing. */
export async function openOnServer(
  app: App,
  server: LedgerServer,
  { place, die }: { readonly place: Place | null; readonly die: (error: unknown) => never },
): Promise<Ledger> {
  const { openServerLedger } = await import('../ledger/postgres/open.ts')
  return openServerLedger({
    ...{ address: addressOf(server), direct: directAddressOf(server), name: server.name, failover: server.failover },
    ...{ place, die, clock: clockOf(app), witnessFiles: () => witnessFilesOf(app) },
    ...{
      filePath: app.paths.ledgerFile,
      openTemporaryFolder: () => openTemporaryFolder('tranche-record-', app.io.env),
    },
    onKeepingFailed: (error) =>
      app.log.error({ err: error }, 'an answer could not be written down; it is lost if the server stays away'),
    onUnknownAnswer: ({ row, rowId, attempt, to, facts }, keptIn) =>
      app.log.error(
        {
          ...{ merchant: row.merchant, batch: row.batchId, row: row.rowNo, reference: row.reference, id: rowId },
          ...{ attempt, outcome: to, transaction: facts?.transactionId, file: keptIn },
        },
        UNKNOWN_ANSWER,
      ),
  })
}

const UNKNOWN_ANSWER =
  'a request was sent that this ledger does not know: its server was put back to before it was recorded. APPROVED: money moved. What came of it is kept in the file. Look the transaction up at the gateway before you hand the instruction in again'

export async function existsOnServer(server: LedgerServer): Promise<boolean> {
  const { serverLedgerExists } = await import('../ledger/postgres/open.ts')
  return serverLedgerExists(addressOf(server))
}

function clockOf({ sharedClock }: App) {
  if (sharedClock === null) throw new Error('bug: a server keeps the ledger, and nothing follows its clock')
  return sharedClock
}

/** A pooler gives each transaction another connection, on which nothing is prepared. */
export function addressOf({ url, directUrl, schema, tls }: LedgerServer): Address {
  return { url: url.reveal(), schema, tls, prepares: directUrl === null }
}

/** Past the pooler. null: there is none. */
export function directAddressOf({ directUrl, schema, tls }: LedgerServer): Address | null {
  return directUrl === null ? null : { url: directUrl.reveal(), schema, tls }
}

/** What needs a connection of its own must find one, and neither another ledger there nor none. */
export async function assertDirect(server: LedgerServer): Promise<void> {
  const direct = directAddressOf(server)
  const [{ assertOwnConnection }, { connected }] = await Promise.all([
    import('../ledger/postgres/pooled.ts'),
    import('../ledger/postgres/open.ts'),
  ])
  if (direct === null) return assertOwnConnection(() => connected(addressOf(server)), 'ledger')
  const { inspectServer } = await import('../ledger/postgres/inspect.ts')
  const { where } = await inspectServer(addressOf(server), server.failover)
  const seen = await inspectServer(direct, server.failover).catch((error: unknown) => {
    throw new Fault('config', `TRANCHE_POSTGRES_DIRECT_URL cannot be used: ${messageOf(error)}`, { cause: error })
  })
  if (seen.where !== where) throw (await import('../ledger/postgres/direct.ts')).elsewhereFault()
  await assertOwnConnection(() => connected(direct), 'direct')
}

// ───────────────────────────────────────────────────────────── Places

/** More workers than that on one machine are a mistake. */
const MOST_PLACES = 16

export interface PlaceTaken extends Lock {
  readonly place: Place
  /** Of this machine: what there is one of, such as a private Redis, is its own. */
  readonly isFirst: boolean
}

/**
 * The first that no other process of this machine has; before all, one where answers were left that nobody has handed in yet.
 * Held: `only-first`, and another process has that one.
 */
export async function takePlace(app: App, holder: Holder, which: 'any' | 'only-first'): Promise<PlaceTaken | Held> {
  const { takeLock } = await import('../files/lock.ts')
  makeDataDir(app)
  for (const n of which === 'any' ? placesInTurn(app) : [1]) {
    const lock = takeLock(fileOf(app, n, 'lock'), holder)
    if (lock.kind === 'taken') return { ...lock, place: placeAt(app, n), isFirst: n === 1 }
    if (which === 'only-first') return lock
  }
  throw new Fault(
    'stopped',
    `${MOST_PLACES} workers of this machine work off this ledger already. Nothing was started. Stop one, or give this one a data directory of its own.`,
  )
}

/** Whoever has the private Redis has the first place: without another Redis no other place is worked at. */
function placesInTurn({ config: { dataDir, redisUrl } }: App): readonly number[] {
  const all = Array.from({ length: MOST_PLACES }, (_, i) => i + 1)
  if (redisUrl === null) return all
  const names = readdirSync(dataDir)
  const hasLeft = (n: number) =>
    names.some((name) => name.startsWith(`worker-${n}.answers.`) && !name.endsWith('.unknown'))
  return [...all.filter(hasLeft), ...all.filter((n) => !hasLeft(n))]
}

function placeAt(app: App, n: number): Place {
  const path = fileOf(app, n, 'place')
  if (!existsSync(path)) writeFileSync(path, `${randomUUID()}\n`, { mode: 0o600 })
  // A copy of the directory is another place: whoever works there proves nothing about who works here.
  const { dev, ino } = statSync(path, { bigint: true })
  return {
    id: `${readFileSync(path, 'utf8').trim()} ${dev} ${ino}`,
    answersPath: fileOf(app, n, 'answers'),
    witnessPath: fileOf(app, n, 'witness'),
  }
}

type PlaceFile = 'lock' | 'place' | 'answers' | 'witness'

function fileOf({ config }: App, n: number, what: PlaceFile): string {
  return join(config.dataDir, `worker-${n}.${what}`)
}

/** Answers of workers of this machine to requests that the ledger did not know: see `onUnknownAnswer`. For a person. */
export function unknownAnswersOf({ config: { dataDir } }: App): readonly string[] {
  if (!existsSync(dataDir)) return []
  return readdirSync(dataDir).flatMap((name) =>
    /^worker-\d+\.answers\..+\.unknown$/.test(name) ? [join(dataDir, name)] : [],
  )
}

/** What the workers of this machine remember of the ledger. */
export function witnessFilesOf({ config: { dataDir } }: App): readonly string[] {
  if (!existsSync(dataDir)) return []
  return readdirSync(dataDir).flatMap((name) => (/^worker-\d+\.witness$/.test(name) ? [join(dataDir, name)] : []))
}
