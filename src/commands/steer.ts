// tranche pause, resume and cancel: what a person decides about a batch or an account, with the reason kept.

import { openLedger } from '../app/ledger.ts'
import { workerNow } from '../app/locks.ts'
import { assertSteerable, type Steering, waitingUnder } from '../app/steering.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, isClockOff, isPaused, leftOpenIn, waitsForApproval } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { spell } from '../domain/words.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { approvalsText } from '../present/approval.ts'
import { commandLine } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { foundLines } from '../present/found.ts'
import { leftOutLines, leftOutObject } from '../present/left-out.ts'
import { clockWords, leftOpenLines } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { confirm } from './confirm.ts'
import { findBatch } from './status.ts'
import type { Terminal } from './terminal.ts'

export interface SteerArguments {
  readonly reason: string
  readonly merchant?: string
  readonly yes?: boolean
  /** The account's rows with an `execute_at` need not wait until the gateway's clock agrees. */
  readonly clockIsRight?: boolean
  /** In place of a batch: one instruction. */
  readonly reference?: string
}

export async function steer(
  app: App,
  what: Steering,
  id: string | undefined,
  given: SteerArguments,
  terminal: Terminal,
): Promise<number> {
  if (given.reason.trim() === '')
    throw new Fault('usage', '--reason: write why; it is kept in the history. Nothing was changed.')
  if (id !== undefined && given.merchant !== undefined && what === 'resume')
    throw new Fault(
      'usage',
      `Name a batch or a merchant, not both: tranche resume ${id} --reason TEXT lets the batch go on, tranche resume --merchant ${given.merchant} --reason TEXT a merchant that was stopped. Nothing was changed.`,
    )
  if (given.clockIsRight === true && given.merchant === undefined)
    throw new Fault('usage', '--clock-is-right is said of a merchant: add --merchant NAME. Nothing was changed.')
  const ledger = await openLedger(app)
  try {
    if (what === 'resume' && given.merchant !== undefined)
      return await resumeMerchant(app, ledger, given.merchant, given, terminal)
    if (given.reference !== undefined) return await cancelOne(app, ledger, given.reference, { id, ...given }, terminal)
    if (id === undefined)
      throw new Fault('usage', `Name the batch: tranche ${what} BATCH --reason TEXT. Nothing was changed.`)
    const before = await findBatch(ledger, id)
    assertSteerable(what, before)
    if (what === 'cancel') await lookBeforeCancel(before, given.yes === true, terminal)
    await ledger[what](before.batchId, given.reason, app.actor, app.clock.nowMs())
    const after = await findBatch(ledger, before.batchId)
    const leftOut = what === 'cancel' ? await ledger.leftOutFor(before.batchId) : []
    terminal.object({
      batch: after.batchId,
      hold: after.hold,
      cancelled: countIn(after, 'CANCELLED') - countIn(before, 'CANCELLED'),
      ...leftOutObject(leftOut),
    })
    sayWhat(
      what,
      before,
      after,
      openText(countIn(after, 'SENDING'), (await workerNow(app, ledger)) !== null),
      countIn(after, 'CANCELLED') - countIn(before, 'CANCELLED'),
      terminal,
    )
    for (const line of leftOutLines(leftOut)) terminal.say(line)
    const { clockHold, merchant } = after
    if (what === 'resume' && clockHold !== null && isClockOff(clockHold, app.clock.nowMs()))
      terminal.say(spell(clockWords({ merchant, ...clockHold }), commandLine))
    if (what === 'resume' && before.accountHeld !== null) terminal.say(await releasedText(ledger, after))
    if (what === 'resume' && after.accountStopped !== null) {
      terminal.say(
        `The account of merchant ${after.merchant} is stopped as well (${after.accountStopped}): tranche resume --merchant ${after.merchant} --reason TEXT`,
      )
    }
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

async function cancelOne(
  app: App,
  ledger: Ledger,
  reference: string,
  { id, merchant, reason, yes = false }: SteerArguments & { readonly id: string | undefined },
  terminal: Terminal,
): Promise<number> {
  if (id !== undefined)
    throw new Fault('usage', 'Name a batch, or one instruction by --reference, not both. Nothing was changed.')
  const row = await waitingUnder(ledger, reference, (name) => merchant === undefined || name === merchant)
  if (row === null)
    throw new Fault(
      'usage',
      `There is no instruction "${reference}" in this ledger. Nothing was changed. See: tranche find`,
    )
  const { batchId, rowNo, state } = row
  if (state === 'READY')
    await confirm(terminal, {
      question: `${foundLines(row).slice(0, 2).join('; ')}: it will not be sent, and that cannot be undone. Cancel it?`,
      otherwise: 'Nothing was changed.',
      yes,
    })
  await ledger.cancelRow({ batchId, rowNo }, reason, app.actor, app.clock.nowMs())
  terminal.object({ reference: row.reference, batch: batchId, row: rowNo, status: 'CANCELLED' })
  const already = state === 'CANCELLED' ? ' already' : ''
  terminal.say(
    `${row.reference} (row ${rowNo} of batch ${batchId}) is cancelled${already}. The others of its batch go on.`,
  )
  return EXIT.approved
}

function lookBeforeCancel(batch: BatchView, yes: boolean, terminal: Terminal): Promise<void> {
  const ready = countIn(batch, 'READY')
  return confirm(terminal, {
    question: `${plural(ready, 'row')} of batch ${batch.batchId} (${batch.fileName ?? 'messages'}) will not be sent, and that cannot be undone. Cancel it?`,
    otherwise: 'Nothing was changed.',
    yes,
  })
}

/** What becomes of the requests that are open. */
function openText(sending: number, workerRuns: boolean): string {
  const left = leftOpenIn(sending, workerRuns)
  if (left !== null) return ` ${leftOpenLines(left)}`
  return sending === 0
    ? ''
    : ` ${plural(sending, 'request is', 'requests are')} open and will be answered and recorded.`
}

/** A batch of messages is that of a day or an hour: who stops a service by it would be wrong. */
function laterMessagesText(source: BatchView['source']): string {
  return source === 'file'
    ? ''
    : ' Messages that come into another batch (tomorrow’s, the next hour’s, or one of another name) are still sent.'
}

function sayWhat(
  what: Steering,
  before: BatchView,
  batch: BatchView,
  open: string,
  cancelled: number,
  terminal: Terminal,
): void {
  const { batchId, source } = batch
  switch (what) {
    case 'pause':
      terminal.say(`Batch ${batchId} is paused: nothing more of it is sent.${open}${laterMessagesText(source)}`)
      break
    case 'resume':
      terminal.say(resumedText(batch, isPaused(before)))
      break
    case 'cancel':
      terminal.say(
        `Batch ${batchId} is cancelled: ${plural(cancelled, 'row', 'rows')} will not be sent.${open} What was executed stays executed.${afterAllText(batchId, source)}`,
      )
  }
}

/** A resume is no approval. */
function resumedText(batch: BatchView, wasPaused: boolean): string {
  const { batchId, hold, approval } = batch
  if (hold === 'cancelled') return `Batch ${batchId} stays cancelled; its late answers count as looked at.`
  const looked = `Batch ${batchId} was not paused; what it left open counts as looked at`
  if (approval !== null && waitsForApproval(batch))
    return `${wasPaused ? `Batch ${batchId} is not paused any more` : looked}, and nothing of it is sent before it has ${approvalsText(approval)}: tranche approve ${batchId}`
  if (countIn(batch, 'READY') === 0)
    return `Batch ${batchId} has nothing left to send; what it left open counts as looked at.`
  if (!wasPaused) return `${looked}.`
  return `Batch ${batchId} goes on where it stopped; a running worker takes it up within a second; so does the same tranche run, run again.`
}

/** A cancelled batch was a wrong one, or a right one with a wrong cell. */
function afterAllText(batchId: string, source: BatchView['source']): string {
  const mended = source === 'file' ? ' If a cell was wrong: correct the file and run it again.' : ''
  return `${mended} To send rows after all as they are: tranche results ${batchId} --out FILE, then hand that file in with --retry cancelled.`
}

async function resumeMerchant(
  app: App,
  ledger: Ledger,
  name: string,
  { reason, clockIsRight = false }: SteerArguments,
  terminal: Terminal,
): Promise<number> {
  const account = (await ledger.accounts()).find((known) => known.name === name)
  if (account === undefined) throw new Fault('usage', `This ledger knows no merchant "${name}". Nothing was changed.`)
  const nowMs = app.clock.nowMs()
  await ledger.resumeAccount(account.accountId, reason, app.actor, nowMs, clockIsRight)
  const { stopped, held, clockAheadMs, clockAheadAtMs } = account
  if (stopped !== null) terminal.say(`Merchant ${name} goes on. It was stopped because: ${stopped}`)
  if (held !== null) terminal.say(await releasedText(ledger, { accountId: account.accountId, merchant: name }))
  if (stopped === null && held === null && !clockIsRight)
    terminal.say(`Merchant ${name} was not stopped; any back-off is over now.`)
  if (clockAheadMs !== null && isClockOff({ atMs: clockAheadAtMs ?? 0 }, nowMs))
    terminal.say(
      clockIsRight
        ? `Rows of merchant ${name} with an execute_at go on by the clock of this machine.`
        : spell(clockWords({ merchant: name, aheadMs: clockAheadMs }), commandLine),
    )
  terminal.object({ merchant: name, stopped: false })
  return EXIT.approved
}

/** What goes on with the account, and what was paused with it and does not. */
async function releasedText(
  ledger: Ledger,
  { accountId, merchant }: Pick<BatchView, 'accountId' | 'merchant'>,
): Promise<string> {
  const open = (await ledger.batches('open')).filter((batch) => batch.accountId === accountId)
  const paused = open.filter(({ hold }) => hold === 'paused').map(({ batchId }) => batchId)
  const others =
    paused.length === 0
      ? ''
      : ` ${plural(paused.length, 'batch stays', 'batches stay')} paused (${paused.join(', ')}): tranche resume BATCH --reason TEXT`
  return `Merchant ${merchant} is no longer held for its doubts: batches that were handed in since go on.${others}`
}
