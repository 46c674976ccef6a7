// The commonest reasons of a batch, read from the record.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { type TopReason, topReasons } from '../domain/top-reasons.ts'
import type { QueryLedger } from '../ports/ledger/queries.ts'

export async function topReasonsOf(
  { config }: Pick<App, 'config'>,
  ledger: Pick<QueryLedger, 'reasons'>,
  batch: BatchView,
): Promise<TopReason[]> {
  if (countIn(batch, 'DECLINED') + countIn(batch, 'FAILED') + countIn(batch, 'IN_DOUBT') === 0) return []
  return topReasons(await ledger.reasons(batch.batchId), config.merchants.get(batch.merchant)?.reasonRules ?? [])
}
