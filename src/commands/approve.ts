// tranche approve and reject: a person decides on a batch that waits for approval. Without a digest, approve shows what it would be of;
// on a terminal the total is typed first.

import { openLedger } from '../app/ledger.ts'
import { workersNow } from '../app/locks.ts'
import { standingNow } from '../app/standing.ts'
import type { App } from '../app.ts'
import { stoppedBy } from '../domain/alarm.ts'
import { type ApprovalSheet, isAwaiting } from '../domain/approval.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, type Standing } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import {
  approvalsText,
  approveCommand,
  faultOfTyped,
  meaningText,
  sheetLines,
  toJsonSheet,
  totalsToType,
} from '../present/approval.ts'
import { EXIT } from '../present/exit-codes.ts'
import { interpretationText } from '../present/interpretation.ts'
import { leftOutLines, leftOutObject } from '../present/left-out.ts'
import { whyText } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { askFor, mayAsk } from './confirm.ts'
import { findBatch } from './status.ts'
import type { Terminal } from './terminal.ts'

export interface ApproveArguments {
  readonly digest?: string
  readonly reason?: string
}

export interface RejectArguments {
  readonly reason: string
}

export async function approve(app: App, id: string, given: ApproveArguments, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(app)
  try {
    await assertNoAlarm(app, ledger)
    const batch = await findBatch(ledger, id)
    const sheet = await sheetOf(ledger, batch)
    if (given.digest === undefined)
      return await show(sheet, standingNow(app, batch, await workersNow(app, ledger)), terminal)
    const decision = { digest: parseDigest(given.digest), reason: parseReason(given.reason) }
    await ledger.approve({ batchId: batch.batchId, ...decision, actor: app.actor, nowMs: app.clock.nowMs() })
    const after = await findBatch(ledger, batch.batchId)
    await sayApproved(app, ledger, after, countIn(batch, 'READY'), terminal)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** Of an older state that was put back nobody knows what was sent since. */
async function assertNoAlarm(app: App, ledger: Ledger): Promise<void> {
  const alarm = await ledger.alarm()
  if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
}

async function sheetOf(ledger: Ledger, { batchId }: BatchView): Promise<ApprovalSheet> {
  const sheet = await ledger.approvalSheet(batchId)
  if (sheet === null) throw new Fault('usage', `Batch ${batchId} needs no approval. Nothing was changed.`)
  return sheet
}

async function show(sheet: ApprovalSheet, { state, why }: Standing, terminal: Terminal): Promise<number> {
  // Of what was cancelled, or has no row left, there is nothing to approve, however many approvals are missing.
  const waits = isAwaiting(sheet) && sheet.totals.some((total) => total.state === 'READY') && state !== 'running'
  if (waits && mayAsk(terminal)) await typeTotals(sheet, terminal)
  const reason = whyText(why)
  const ended = `${state.replaceAll('_', ' ')}${reason === null ? '' : ` (${reason})`}`
  terminal.object({ ...toJsonSheet(sheet), awaiting: waits })
  terminal.title(
    `Batch ${sheet.batchId}: ${waits ? `waits for ${approvalsText(sheet)}` : isAwaiting(sheet) ? ended : 'approved'}`,
    '',
  )
  terminal.data(...sheetLines(sheet, interpretationText))
  if (!waits) return EXIT.approved
  terminal.say(
    meaningText(sheet),
    `Approve it: ${approveCommand(sheet)}`,
    `Or: tranche reject ${sheet.batchId} --reason TEXT`,
  )
  return EXIT.awaitingApproval
}

/** As at the page of the console: a total that is read off the sheet would show nothing. */
async function typeTotals(sheet: ApprovalSheet, terminal: Terminal): Promise<void> {
  terminal.say(
    `Batch ${sheet.batchId} waits for ${approvalsText(sheet)}. Its sheet is shown once you have typed its total. Take the total from your own list: that is how a wrong batch is noticed.`,
  )
  for (const asked of totalsToType(sheet)) {
    const typed = await askFor(terminal, `Type ${asked.label}: `, 'Nothing was approved.')
    const fault = faultOfTyped(typed, asked)
    if (fault !== null)
      throw new Fault('usage', `${fault} Nothing was approved. If your list says so, it is a list of another batch.`)
  }
}

function parseDigest(text: string): string {
  const digest = text.replaceAll(/\s/g, '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digest)) return digest
  throw new Fault(
    'usage',
    '--digest: write all 64 characters of the digest that tranche approve BATCH shows. Nothing was approved.',
  )
}

function parseReason(text: string | undefined): string {
  if (text !== undefined && text.trim() !== '') return text
  throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
}

async function sayApproved(
  app: App,
  ledger: Ledger,
  batch: BatchView,
  /** When it was approved: a worker may have sent some since. */
  waiting: number,
  terminal: Terminal,
): Promise<void> {
  const { batchId, approval } = batch
  const open = approval !== null && isAwaiting(approval)
  terminal.object({ batch: batchId, approved: true, needed: approval?.needed ?? 0, given: approval?.given ?? 0 })
  if (open) {
    terminal.say(`You approved batch ${batchId}. It waits for ${approvalsText(approval)}; nothing is sent before.`)
    return
  }
  // A pause, a stop or a missing file holds it still: an approval is no resume.
  const why = whyText(standingNow(app, batch, await workersNow(app, ledger)).why)
  const next = why === null ? 'The running worker sends it now.' : `It is not sent yet: ${why}.`
  terminal.say(`You approved batch ${batchId}: ${plural(waiting, 'row')} may be sent. ${next}`)
}

export async function reject(app: App, id: string, { reason }: RejectArguments, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(app)
  try {
    const { batchId } = await findBatch(ledger, id)
    await ledger.reject({ batchId, reason: parseReason(reason), actor: app.actor, nowMs: app.clock.nowMs() })
    const after = await findBatch(ledger, batchId)
    const cancelled = countIn(after, 'CANCELLED')
    const leftOut = await ledger.leftOutFor(batchId)
    terminal.object({ batch: batchId, rejected: true, cancelled, ...leftOutObject(leftOut) })
    terminal.say(
      `Batch ${batchId} is rejected: ${plural(cancelled, 'row', 'rows')} will not be sent. To send rows after all as they are: tranche results ${batchId} --out FILE, then hand that file in with --retry cancelled. A row that asked for the wrong thing takes a new reference in a corrected file.`,
    )
    for (const line of leftOutLines(leftOut)) terminal.say(line)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}
