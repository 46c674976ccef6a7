// How the row stands now that a request was about.

import { assert } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { State } from '../domain/states.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Subject } from './once.ts'

export async function stateNow({ app: { clock }, ledger }: Asked, { batch, row }: Subject): Promise<State> {
  const reading = await ledger.openReading(batch as BatchId, clock.nowMs())
  try {
    for await (const [found] of reading.rows(undefined, Number(row) - 1)) {
      assert(found !== undefined && found.rowNo === row, `row ${row} of batch ${batch} was recorded`)
      return found.state
    }
    throw new Error(`bug: row ${row} of batch ${batch} was recorded and is not there`)
  } finally {
    await reading.close()
  }
}

interface Asked {
  readonly app: { readonly clock: { nowMs(): number } }
  readonly ledger: Pick<Ledger, 'openReading'>
}
