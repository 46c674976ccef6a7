// What a person is told of a server that does not answer.

import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'

export function unreachableFault(error: unknown): Fault {
  return new Fault(
    'storage',
    `The PostgreSQL server of the ledger cannot be reached (${messageOf(error)}). Nothing was recorded and nothing was sent. Check that it runs and that TRANCHE_LEDGER_URL is right, then try again.`,
    { cause: error },
  )
}
