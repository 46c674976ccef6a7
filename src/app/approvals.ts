// The approval policy of the configuration, held against the one of the ledger, which is in force.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { words } from '../domain/words.ts'
import type { ApprovalLedger } from '../ports/ledger/approvals.ts'

/** Before anything is taken in. The first policy that is configured is the ledger's from then on; another one is refused. */
export async function assertPolicyAgreed(app: App, ledger: Pick<ApprovalLedger, 'agreeOnPolicy'>): Promise<void> {
  const agreement = await ledger.agreeOnPolicy(app.config.approvals, app.actor, app.clock.nowMs())
  if (agreement !== 'differs') return
  throw new Fault(
    'config',
    words`The approvals in TRANCHE_CONFIG are not those that this ledger holds, and only one policy can be in force. Nothing was started and nothing was sent. If the configuration is right: ${{ act: 'adopt-policy' }}. If not, correct it, or leave "approvals:" out of it.`,
  )
}
