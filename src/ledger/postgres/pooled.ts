// Whether a connection is one: a pooler that gives each transaction another one takes statements that were prepared, and locks, from under us.

import { Fault } from '../../domain/fault.ts'
import { codeOf } from './errors.ts'
import type { Session } from './session.ts'

const SETTINGS = { ledger: 'TRANCHE_LEDGER_URL', direct: 'TRANCHE_POSTGRES_DIRECT_URL' } as const

/** Two transactions of one session, with the connection of the first in use by another one meanwhile. Faults where they had two. */
export async function assertOwnConnection(
  connect: () => Promise<Session>,
  which: keyof typeof SETTINGS,
): Promise<void> {
  const session = await connect()
  const other = await connect().catch(async (error: unknown) => {
    await session.close()
    throw error
  })
  try {
    const first = await backendOf(session)
    await other.exec('BEGIN; SELECT 1')
    const second = await backendOf(session)
    if (first !== second) throw pooledFault(which)
  } finally {
    await Promise.all([session.close(), other.close()])
  }
}

async function backendOf(session: Session): Promise<unknown> {
  const [found] = await session.exec('SELECT pg_backend_pid() AS pid')
  return (found as { readonly pid: unknown }).pid
}

/** What such a pooler makes of prepared statements. */
export function isPooled(error: unknown): boolean {
  return /^(42P05|26000)$/.test(codeOf(error))
}

export function pooledFault(which: keyof typeof SETTINGS, cause?: unknown): Fault {
  const leads = `${SETTINGS[which]} leads to a pooler that gives each transaction another connection (such as PgBouncer with pool_mode = transaction)`
  const remedy =
    which === 'direct'
      ? 'Set it to the address of the server itself.'
      : 'Set TRANCHE_POSTGRES_DIRECT_URL to the address of the server itself as well, or TRANCHE_LEDGER_URL to it.'
  return new Fault('config', `${leads}. Nothing was recorded and nothing was sent. ${remedy}`, { cause })
}
