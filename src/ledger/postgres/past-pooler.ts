// Connections past a pooler. They must lead to where the pooler leads: otherwise a file would be recorded in another ledger, where nobody
// works it off, or somebody else does.

import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'
import { whereabouts } from './copies/identity.ts'
import { isMissingTable } from './errors.ts'
import type { Reads } from './reads.ts'
import type { Session } from './session.ts'

/** `reads`: through the pooler. Faults where the two lead to different ledgers. */
export async function connectPast(connect: () => Promise<Session>, reads: Pick<Reads, 'read'>): Promise<Session> {
  const session = await connect().catch((error: unknown) => {
    throw unusableFault(error)
  })
  try {
    // In this order: a server that is started again meanwhile has cut the connection, and is not taken for another one.
    const here = await reads.read(whereabouts)
    const there = await session.read(whereabouts()).catch(nowhere)
    if (there !== here) throw elsewhereFault()
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

function nowhere(error: unknown): null {
  if (isMissingTable(error)) return null
  throw error
}

export function elsewhereFault(): Fault {
  return new Fault(
    'config',
    'TRANCHE_POSTGRES_DIRECT_URL reaches another server or database than TRANCHE_LEDGER_URL, or no ledger there. Nothing was done by way of it. Point it at the same database, past the pooler.',
  )
}

function unusableFault(error: unknown): Fault {
  return new Fault(
    'unavailable',
    `TRANCHE_POSTGRES_DIRECT_URL cannot be used (${messageOf(error)}). Nothing was done by way of it. Check that it is right and that the server runs, then try again.`,
    { cause: error },
  )
}
