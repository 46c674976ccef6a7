// How the row stands now that a request was about.

import { assert } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { State } from '../domain/states.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Subject } from './once.ts'

export async function stateNow({ ledger }: Asked, { batch, row }: Subject): Promise<State> {
  const [found] = await ledger.rowsAfter(batch as BatchId, Number(row) - 1, 1)
  assert(found !== undefined && found.rowNo === row, `row ${row} of batch ${batch} was recorded`)
  return found.state
}

interface Asked {
  readonly ledger: Pick<Ledger, 'rowsAfter'>
}
