// --report FILE.html: the page for people, with what the record says beside the results.

import { besideResults } from '../app/report.ts'
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
      return reportPage({ ...facts, ...(await besideResults(app, ledger, facts)), by: actorText(app.actor) })
    },
  }
}
