// Connections that bypass a pooler. They must reach the ledger that the pooler reaches: otherwise a file would be recorded in another one,
// where no worker of this ledger takes it up.

import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'
import { whereabouts } from './copies/identity.ts'
import { isMissingTable } from './errors.ts'
import { assertOwnConnection } from './pooled.ts'
import type { Reads } from './reads.ts'
import type { Session } from './session.ts'

/** `reads`: through the pooler. Faults where the two lead to different ledgers. */
export async function connectDirectly(connect: () => Promise<Session>, reads: Pick<Reads, 'read'>): Promise<Session> {
  const session = await connect().catch((error: unknown) => {
    throw unusableFault(error)
  })
  try {
    await assertOwnConnection(connect, 'direct')
    // In this order: a server that restarts meanwhile has cut this connection, and is not taken for another server.
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
    'TRANCHE_POSTGRES_DIRECT_URL reaches another server or database than TRANCHE_LEDGER_URL, or its user cannot see the ledger there. Nothing was recorded through it. Set it to the address of the same database, past the pooler.',
  )
}

function unusableFault(error: unknown): Fault {
  return new Fault(
    'unavailable',
    `TRANCHE_POSTGRES_DIRECT_URL cannot be used (${messageOf(error)}). Nothing was recorded through it. Check that it is right and that the server runs, then try again.`,
    { cause: error },
  )
}
