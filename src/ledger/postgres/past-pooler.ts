// Connections past a pooler. They must lead to where the pooler leads: else a file would be recorded in another ledger, where nobody works
// it off, or somebody else does.

import { Fault } from '../../domain/fault.ts'
import { one, type Script } from '../texts/script.ts'
import { type Failover, serverIdentity } from './copies/identity.ts'
import { isUndefined } from './errors.ts'
import type { Reads } from './reads.ts'
import type { Session } from './session.ts'

/** `reads`: through the pooler. Faults where the two lead to different ledgers. */
export async function connectPast(
  connect: () => Promise<Session>,
  reads: Pick<Reads, 'read'>,
  failover: Failover,
): Promise<Session> {
  const session = await connect()
  try {
    const there = await session.read(whereabouts(failover)).catch(nowhere)
    if (there !== (await reads.read(() => whereabouts(failover)))) throw elsewhereFault()
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

/** Which ledger a connection reaches: a copy of it in another database, or on another server, is another one. */
function* whereabouts(failover: Failover): Script<string> {
  const ledger = yield* one<{ id: string }>("SELECT value AS id FROM meta WHERE key = 'ledger_id'")
  const { systemId, database } = yield* serverIdentity(failover)
  return [ledger?.id, systemId, database].join(' ')
}

function nowhere(error: unknown): null {
  if (isUndefined(error)) return null
  throw error
}

export function elsewhereFault(): Fault {
  return new Fault(
    'config',
    'TRANCHE_POSTGRES_DIRECT_URL reaches another server or database than TRANCHE_LEDGER_URL. Nothing was done there. Set it to the same one, past the pooler.',
  )
}
