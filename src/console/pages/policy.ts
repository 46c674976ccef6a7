// What needs an approval here, and what the latest batches needed.

import { atTerminal, words } from '../../domain/words.ts'
import { policyLines } from '../../present/approval-policy.ts'
import { html } from '../../present/html.ts'
import type { ConsoleDoor, Pages } from '../door.ts'
import { showScreen } from '../frame.ts'
import { linked } from '../ways.ts'

export function addPolicyPage(pages: Pages, door: ConsoleDoor): void {
  pages.get('/policy', { config: { page: 'policy' } }, async (request, reply) => {
    const lines = policyLines(await door.ledger.approvalPolicy())
    const main = html`<pre>${lines.map((line) => html`${line}\n`)}</pre><p>Nothing changes the policy here. For another one, ${linked(words`${atTerminal`write it into the configuration and adopt it: ${{ act: 'adopt-policy' }}`}`)}</p>`
    return showScreen(door, request, reply, { title: 'Approval policy', section: 'Policy', main })
  })
}
