// --report FILE.html: the page for people, with what the record says beside the results.

import { topReasonsOf } from '../app/top-reasons.ts'
import type { App } from '../app.ts'
import { actorText } from '../domain/actor.ts'
import type { ReportRequest } from '../domain/report.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { reportPage } from '../present/report.ts'

/** null: none was asked for. */
export function reportRequest(app: App, ledger: Ledger, path: string | null): ReportRequest | null {
  if (path === null) return null
  return {
    path,
    async page(facts) {
      const { accountId } = facts.batch
      const tops = await topReasonsOf(app, ledger, facts.batch)
      const account = (await ledger.accounts()).find((one) => one.accountId === accountId) ?? null
      return reportPage({ ...facts, tops, account, by: actorText(app.actor) })
    },
  }
}
