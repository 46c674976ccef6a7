// What needs an approval here, and what the latest batches needed.

import type { BatchView } from '../../domain/batch.ts'
import { atTerminal, words } from '../../domain/words.ts'
import { policyLines } from '../../present/approval-policy.ts'
import { type Html, html } from '../../present/html.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { moment, NOTHING, table } from '../parts.ts'
import { batchPath } from '../paths.ts'
import { visitorOf } from '../visit.ts'
import { linked } from '../ways.ts'

const LATEST = 30

export function addPolicyPage(pages: Pages, door: ConsoleDoor): void {
  pages.get('/policy', { config: { page: 'policy' } }, async (request, reply) => {
    const lines = policyLines(await door.ledger.approvalPolicy())
    const main = html`<pre>${lines.map((line) => html`${line}\n`)}</pre><p>Nothing changes the policy here. For another one, ${linked(words`${atTerminal`write it into the configuration and adopt it: ${{ act: 'adopt-policy' }}`}`)}</p>${visitorOf(request).may('view') ? neededBy(await door.ledger.batchesAfter(null, LATEST, null)) : NOTHING}`
    return showScreen(door, request, reply, { title: 'Approval policy', section: 'Policy', main })
  })
}

/** As it is kept: by the policy of their time, and by any that asked for more while they waited. */
function neededBy(batches: readonly BatchView[]): Html {
  const begins = html`<h2>What the latest batches needed</h2>`
  if (batches.length === 0) return html`${begins}<p>No batch is recorded.</p>`
  const columns = [
    { name: 'Batch' },
    { name: 'Merchant', kind: 'text' },
    { name: 'Recorded' },
    { name: 'Handed in by', kind: 'text' },
    { name: 'Approvals needed', kind: 'number' },
    { name: 'Given', kind: 'number' },
  ] as const
  const rows = batches.map(({ batchId, merchant, createdAtMs, createdBy, approval }) => [
    html`<a href="${batchPath(batchId)}">${batchId}</a>`,
    html`${merchant}`,
    moment(createdAtMs),
    html`${createdBy}`,
    html`${approval?.needed ?? 0}`,
    html`${approval?.given ?? 0}`,
  ])
  return html`${begins}<p>By the policy that was in force when each was handed in. One that still waits may need more by a later policy, never fewer.</p>${table(`The latest ${LATEST} batches, or as many as there are`, columns, rows)}`
}
