// tranche policy: the approval policy that is in force, and putting the configured one in its place.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { isAwaiting } from '../domain/approval.ts'
import { Fault } from '../domain/fault.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { policyLines, toJsonPolicy } from '../present/approval-policy.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export async function showPolicy(app: App, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const policy = await ledger.approvalPolicy()
    terminal.object({ policy: policy === null ? null : toJsonPolicy(policy) })
    terminal.data(...policyLines(policy))
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** What was on its way may stand still now. */
async function waitingLines(ledger: Ledger): Promise<string[]> {
  const waiting = (await ledger.batches()).filter(
    ({ approval, counts }) => isAwaiting(approval) && (counts.READY ?? 0) > 0,
  )
  return waiting.map(({ batchId, rows }) => `Batch ${batchId} (${plural(rows, 'row', 'rows')}) waits for approval.`)
}

export async function adoptPolicy(app: App, { reason }: { reason: string }, terminal: Terminal): Promise<number> {
  if (reason.trim() === '')
    throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
  const ledger = await openLedger(app)
  try {
    const { approvals } = app.config
    await ledger.adoptPolicy(approvals, reason, app.actor, app.clock.nowMs())
    terminal.object({ policy: approvals === null ? null : toJsonPolicy(approvals) })
    terminal.say(
      approvals === null
        ? 'No approval is needed from now on: TRANCHE_CONFIG has no approvals. Batches that wait for one still wait.'
        : 'From now on the approvals of TRANCHE_CONFIG are in force. Batches that have rows to send were judged by them.',
      ...(await waitingLines(ledger)),
    )
    terminal.data(...policyLines(approvals))
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
