// The row that a request was about, as it is now.

import { assert } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { ReconciliationRow } from '../domain/reconciliation.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Subject } from './once.ts'

export async function rowNow({ ledger }: Asked, { batch, row }: Subject): Promise<ReconciliationRow> {
  const [found] = await ledger.rowsAfter(batch as BatchId, Number(row) - 1, 1)
  assert(found !== undefined && found.rowNo === row, `row ${row} of batch ${batch} was recorded`)
  return found
}

interface Asked {
  readonly ledger: Pick<Ledger, 'rowsAfter'>
}
