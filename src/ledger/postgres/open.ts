// A ledger on a PostgreSQL server: made once, and opened by whoever finds the server fit to keep it.

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { Fault } from '../../domain/fault.ts'
import { words } from '../../domain/words.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { one } from '../texts/script.ts'
import { beginEpoch, type Failover, keep, remember, remembered, serverIdentity } from './copies/identity.ts'
import { forbiddenFault, isForbidden, unreachableFault } from './errors.ts'
import { type LedgerParts, ledgerOn } from './ledger.ts'
import { assertOwnVersion, hasTables, makeTables, rightsToMake } from './make-tables.ts'
import { assertOwnConnection, isPooled, pooledFault } from './pooled.ts'
import { type Address, openSession, type Session } from './session.ts'

/** Nothing but a person makes one: an address with a mistake must not look like an empty ledger. */
export async function makeServerLedger(
  address: Address,
  failover: Failover,
): Promise<{ readonly ledgerId: string; readonly made: boolean }> {
  if (address.prepares !== false) await assertOwnConnection(() => connected(address), 'ledger')
  return withFitSession(address, failover, async (session) => {
    await makeTables(session, address.schema)
    await session.begin('READ COMMITTED', 'SET LOCAL synchronous_commit TO on; LOCK TABLE meta; SELECT 1')
    const made = randomBytes(8).toString('hex')
    const known = await ledgerIdIn(session)
    if (known === null) {
      await session.run(keep('ledger_id', made))
      await session.run(remember(await session.run(serverIdentity(failover))))
      await session.run(beginEpoch(1))
    }
    await session.commit()
    return { ledgerId: known ?? made, made: known === null }
  })
}

export type OpenOptions = Omit<LedgerParts, 'ledgerId'>

/** Faults where there is no ledger, or one of another version, or where the server is not fit. */
export async function openServerLedger(options: OpenOptions): Promise<Ledger> {
  const { address, name, failover, filePath } = options
  return withFitSession(address, failover, async (session) => {
    if (!(await hasTables(session, address.schema)))
      throw existsSync(filePath)
        ? notMovedFault(name, filePath)
        : noLedgerFault(name, (await rightsToMake(session, address.schema)).lacks?.remedy)
    await session.begin('READ COMMITTED')
    await session.run(assertOwnVersion(address.schema))
    if ((await session.run(remembered())).unfinished === 'arriving') throw arrivingFault(name)
    const ledgerId = await ledgerIdIn(session)
    if (ledgerId === null) throw noLedgerFault(name)
    await tellTime(session, options)
    return ledgerOn({ ...options, ledgerId })
  })
}

/** Faults where the server is not fit, or its user lacks a right. */
export async function withFitSession<T>(
  address: Address,
  failover: Failover,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openFitSession(address, failover)
  try {
    return await use(session)
  } catch (error) {
    if (isPooled(error)) throw pooledFault('ledger', error)
    throw isForbidden(error) ? forbiddenFault(error) : error
  } finally {
    await session.close()
  }
}

/** For the caller to close. Faults where the server is not fit to keep a ledger. */
export async function openFitSession(address: Address, failover: Failover): Promise<Session> {
  const session = await connected(address)
  try {
    await assertFit(session, failover)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Whether `init` has made one there. */
export async function serverLedgerExists(address: Address): Promise<boolean> {
  const session = await connected(address)
  try {
    return await hasTables(session, address.schema)
  } finally {
    await session.close()
  }
}

/** Faults where the server cannot be reached. */
export async function connected(address: Address): Promise<Session> {
  try {
    return await openSession(address)
  } catch (error) {
    throw unreachableFault(error)
  }
}

async function ledgerIdIn(session: Session): Promise<string | null> {
  const found = await session.run(one<{ value: string }>("SELECT value FROM meta WHERE key = 'ledger_id'"))
  return found?.value ?? null
}

/** So that nothing is dated by this machine's own clock. */
async function tellTime(session: Session, { clock }: OpenOptions): Promise<void> {
  const askedAtMs = clock.monotonicMs()
  const found = await session.run(
    one<{ ms: number }>('SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS ms'),
  )
  clock.follow(found!.ms, askedAtMs, clock.monotonicMs())
}

function arrivingFault(name: string): Fault {
  return new Fault(
    'stopped',
    words`The ledger that moves to ${name} has not arrived yet, or its move was broken off. Nothing was recorded and nothing was sent. Finish it where the ledger was before: ${{ act: 'migrate' }}`,
  )
}

/** What the file has sent, a new ledger would send again. */
function notMovedFault(name: string, filePath: string): Fault {
  return new Fault(
    'config',
    words`There is no ledger at ${name}, but there is one in ${filePath}. Nothing was recorded and nothing was sent. Check TRANCHE_LEDGER_URL (or the file of TRANCHE_LEDGER_URL_FILE) and TRANCHE_LEDGER_SCHEMA; to move that ledger there: ${{ act: 'migrate' }}`,
  )
}

/** `remedy`: what must be done before one can be made. */
function noLedgerFault(name: string, remedy?: string): Fault {
  const first = remedy === undefined ? '' : `${remedy}; then: `
  return new Fault(
    'config',
    words`There is no ledger at ${name}. Nothing was recorded and nothing was sent. If it should be there, check TRANCHE_LEDGER_URL (or the file of TRANCHE_LEDGER_URL_FILE) and TRANCHE_LEDGER_SCHEMA; if this is the first time: ${first}${{ act: 'init' }}`,
  )
}

// ───────────────────────────────────────────────────────────── Fit to keep it

const OLDEST = 15
const NEWEST = 18

interface Settings {
  readonly version: number
  readonly isStandby: boolean
  readonly fsync: string
  readonly standbys: string
}

async function assertFit(session: Session, failover: Failover): Promise<void> {
  const [found] = await session.exec(`
    SELECT CAST(current_setting('server_version_num') AS BIGINT) / 10000 AS version, pg_is_in_recovery() AS "isStandby",
      current_setting('fsync') AS fsync, current_setting('synchronous_standby_names') AS standbys`)
  const why = whyUnfit(found as unknown as Settings, failover)
  if (why !== null) throw new Fault('config', `${why} Nothing was recorded and nothing was sent.`)
}

export function whyUnfit({ version, isStandby, fsync, standbys }: Settings, failover: Failover): string | null {
  if (version < OLDEST || version > NEWEST)
    return `The ledger needs PostgreSQL ${OLDEST} to ${NEWEST}; this server is ${version}.`
  if (isStandby)
    return 'The server of the ledger is a standby: it takes no writes. Let TRANCHE_LEDGER_URL name the primary.'
  if (fsync !== 'on')
    return 'The server of the ledger has fsync off: a crash would lose what was sent, and send it again. Turn it on.'
  if (failover === 'synchronous' && standbys === '')
    return 'TRANCHE_POSTGRES_FAILOVER is synchronous, but the server waits for no standby (synchronous_standby_names is empty). Name one, or set it to none.'
  return null
}
