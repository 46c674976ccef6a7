// What a report says beside the results, from the same ledger.

import type { App } from '../app.ts'
import type { DoubtRow } from '../domain/doubt.ts'
import type { ReportFacts } from '../domain/report.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { topReasonsOf } from './top-reasons.ts'

/** `lookUp`: by row, what a person looks a doubt up by. */
export async function besideResults(app: App, ledger: Ledger, { batch, doubts }: ReportFacts) {
  const tops = await topReasonsOf(app, ledger, batch)
  const account = (await ledger.accounts()).find((one) => one.accountId === batch.accountId) ?? null
  const open = doubts.count === 0 ? [] : await ledger.doubts()
  const lookUp = new Map<number, DoubtRow['instruction']>()
  for (const { batchId, rowNo, instruction } of open) if (batchId === batch.batchId) lookUp.set(rowNo, instruction)
  return { tops, account, lookUp }
}
