// What a page says of the act before it: what was done, and what it means for the money. Each sentence is held against the ledger when
// it is said, and says less where things have moved on.

import { merchantsIn } from '../app/merchants.ts'
import { standingNow } from '../app/standing.ts'
import type { Approval, ApprovalPolicy } from '../domain/approval.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn, isPaused, type Standing, waitsForApproval } from '../domain/batch-status.ts'
import { standingProposal } from '../domain/doubt.ts'
import type { FoundInstruction } from '../domain/found.ts'
import { statusOf } from '../domain/states.ts'
import type { WorkerView } from '../domain/worker.ts'
import { approvalsText } from '../present/approval.ts'
import { askedText } from '../present/asked.ts'
import { secondPersonText } from '../present/people.ts'
import { rateText } from '../present/rates.ts'
import { amountText, plural } from '../present/text.ts'
import type { Done, OfBatch, OfKey, OfMerchant, OfPerson, OfRow, OfWebhook, OfWorklist, Told } from './done.ts'
import type { ConsoleDoor } from './door.ts'
import { batchOf } from './pages/find-batch.ts'

const AGAIN = 'You sent this form before. It took effect once, not twice.'

/** `workers`: who works now. null: of what was done nothing is known any more. */
export async function doneText(
  door: ConsoleDoor,
  { done, isAgain }: Told,
  workers: readonly WorkerView[],
): Promise<string | null> {
  // What came of its lines is known of the press that recorded them alone.
  if (isAgain && done.act === 'worklist') return `${AGAIN} What became of each line is below.`
  const said = await saidOf(door, done, workers)
  return said === null || !isAgain ? said : `${AGAIN} ${said}`
}

async function saidOf(door: ConsoleDoor, done: Done, workers: readonly WorkerView[]): Promise<string | null> {
  switch (done.act) {
    case 'hand-in':
    case 'known':
    case 'approve':
    case 'reject':
    case 'pause':
    case 'resume':
    case 'cancel': {
      const batch = await batchOf(door.ledger, done.batch)
      return batch === null ? null : ofBatch(door, done, batch, workers)
    }
    case 'approved':
    case 'declined':
    case 'not-executed':
    case 'send-again':
    case 'already':
    case 'propose':
    case 'confirm':
    case 'refuse':
    case 'withdraw':
      return ofRow(door, done)
    case 'worklist':
      return ofWorklist(done)
    case 'rate':
    case 'resume-merchant':
      return ofMerchant(door, done)
    case 'roles':
    case 'confirm-person':
    case 'revoke-person':
      return ofPerson(door, done)
    case 'revoke-key':
      return ofKey(door, done)
    case 'enable-webhook':
    case 'remove-webhook':
    case 'ping-webhook':
    case 'replay':
      return ofWebhook(door, done)
    case 'end-session':
      return 'That session has ended and can no longer be used.'
    case 'change-password':
      return 'Your password was changed. All your other sessions have ended.'
  }
}

// ───────────────────────────────────────────────────────────── A batch

async function ofBatch(
  { app, ledger }: ConsoleDoor,
  { act }: OfBatch,
  batch: BatchView,
  workers: readonly WorkerView[],
): Promise<string> {
  const isCancelled = batch.hold === 'cancelled'
  const left = leftOf(batch)
  const policy = await ledger.approvalPolicy()
  const money = () => moneyText(batch, standingNow(app, batch, workers), policy)
  switch (act) {
    case 'hand-in':
      return withoutTwice(`Handed in: ${askedText(sendable(batch))}.`, money(), left)
    case 'known':
      return `This file was handed in before as this batch: nothing was recorded a second time. ${money()}`
    case 'approve': {
      const { approval } = batch
      const waits = approval !== null && approval.given < approval.needed
      return waits && !isCancelled ? `Your approval was recorded. ${money()}` : `Approved. ${money()}`
    }
    case 'reject':
      return isCancelled
        ? `Rejected. Nothing of it will be sent: ${cancelledOf(batch)}.`
        : 'Your rejection was recorded.'
    case 'pause':
      if (!isPaused(batch)) return `Your pause was recorded, but the batch has been resumed since. ${money()}`
      return `Paused. No more rows of this batch are sent until somebody resumes it. ${left === '' ? 'No rows are waiting' : `Waiting: ${left}`}.${openText(batch)}`
    case 'resume':
      return `Resumed. ${money()}`
    case 'cancel':
      return isCancelled
        ? `Cancelled. These will not be sent: ${cancelledOf(batch)}.${openText(batch)}`
        : 'Your cancellation was recorded.'
  }
}

/** What becomes of the rows that wait. */
function moneyText(batch: BatchView, { state, why, goesOn }: Standing, policy: ApprovalPolicy | null): string {
  const left = leftOf(batch)
  if (batch.hold === 'cancelled') return 'It was cancelled: nothing more of it is sent.'
  if (left === '') return `No rows are left to send; the results are below.${openText(batch)}`
  switch (state) {
    case 'running':
      return why.length === 0
        ? `Sending has begun. Still to be sent: ${left}.`
        : `Whether rows are being sent is shown below. Still to be sent: ${left}.`
    case 'awaiting_approval':
      return batch.approval === null
        ? `Nothing is sent before somebody approves it: ${left}.`
        : `Nothing is sent until ${approversText(batch.approval, policy)} this batch. Waiting: ${left}.`
    default:
      return goesOn === true
        ? `Whether rows are being sent is shown below. Still to be sent: ${left}.`
        : `Nothing is being sent yet; the reason is below. Waiting: ${left}.`
  }
}

/** `somebody else approves`, `2 others approve`; where one person may hand in and approve, not of others. */
function approversText({ needed, given }: Approval, policy: ApprovalPolicy | null): string {
  const left = needed - given
  const isByOthers = policy === null || policy.rules.every(({ fourEyes }) => fourEyes)
  if (left === 1) return isByOthers ? 'somebody else approves' : 'somebody approves'
  return isByOthers ? `${left} others approve` : `${left} people approve`
}

/** What waits is all that was handed in: one of the two says it. */
function withoutTwice(handedIn: string, money: string, left: string): string {
  const waits = ` this batch. Waiting: ${left}.`
  return `${handedIn} ${money.endsWith(waits) ? `${money.slice(0, -waits.length)} this batch.` : money}`
}

function leftOf({ totals }: BatchView): string {
  return askedText(totals.filter(({ state }) => state === 'READY'))
}

/** The rows follow the batch. */
function cancelledOf({ totals }: BatchView): string {
  return askedText(totals.filter(({ state }) => state === 'CANCELLED' || state === 'READY')) || 'no row'
}

function sendable({ totals }: BatchView): BatchView['totals'] {
  return totals.filter(({ state }) => state !== 'INVALID' && state !== 'DUPLICATE')
}

/** What was sent before is answered whatever is decided. */
function openText(batch: BatchView): string {
  const open = countIn(batch, 'SENDING')
  return open === 0 ? '' : ` ${plural(open, 'request is', 'requests are')} open and may still be executed.`
}

// ───────────────────────────────────────────────────────────── A row

async function ofRow(door: ConsoleDoor, done: OfRow): Promise<string | null> {
  const row = (await door.ledger.find(done.reference)).find(
    ({ by, batchId, rowNo }) => by === 'reference' && batchId === done.batch && rowNo === done.row,
  )
  if (row === undefined) return null
  const { paused = 0 } = done
  const others =
    paused === 0
      ? ''
      : ` ${plural(paused, 'other batch was', 'other batches were')} paused, because a row there asks for the same.`
  return `${await rowText(door, done, row)}${others}`
}

async function rowText(door: ConsoleDoor, { act }: OfRow, row: FoundInstruction): Promise<string> {
  const status = statusOf(row.state)
  const it = itself(row)
  const asFound = `Recorded as you found it: ${it}`
  const since = `Recorded. It has moved on since: ${it} is ${status} now.`
  switch (act) {
    case 'approved':
      return status === 'APPROVED' ? `${asFound} was executed and is now APPROVED. It will not be sent again.` : since
    case 'declined':
      return status === 'DECLINED'
        ? `${asFound} was declined and is now DECLINED. No money moved, and it will not be sent again.`
        : since
    case 'not-executed':
      return status === 'FAILED'
        ? `${asFound} was not executed and is now FAILED. No money moved, and it will not be sent again.`
        : since
    case 'send-again':
    case 'confirm': {
      const begins = act === 'confirm' ? 'Confirmed' : 'Recorded'
      return status === 'PENDING'
        ? `${begins}: ${it} waits to be sent once more.${await heldText(door, row)}`
        : `${begins}: ${it} was to be sent once more, and is ${status} now.`
    }
    case 'already':
      return `Nothing was recorded: ${it} was ${status} already.`
    case 'propose':
      return (await isProposed(door, row))
        ? `Proposed: ${it} is sent once more only if another person confirms it. Until then nothing is sent.`
        : since
    case 'refuse':
    case 'withdraw': {
      if (status !== 'IN_DOUBT') return since
      const begins = act === 'refuse' ? 'The proposal was refused' : 'The proposal was taken back'
      return `${begins}: ${it} will not be sent again. It is still in doubt.`
    }
  }
}

/** That it waits is half of it where nobody sends anything of its batch. */
async function heldText({ ledger }: ConsoleDoor, { batchId }: FoundInstruction): Promise<string> {
  const batch = await ledger.batch(batchId)
  if (batch === null) return ''
  const paused = isPaused(batch) ? ' Its batch is paused: nothing of it is sent until somebody resumes it.' : ''
  const { approval } = batch
  if (approval === null || !waitsForApproval(batch)) return paused
  return `${paused} Nothing of its batch is sent before it has ${approvalsText(approval)}.`
}

async function isProposed({ ledger, app }: ConsoleDoor, { batchId, rowNo }: FoundInstruction): Promise<boolean> {
  const doubt = (await ledger.doubts()).find((one) => one.batchId === batchId && one.rowNo === rowNo)
  return doubt !== undefined && standingProposal(doubt, app.clock.nowMs()) !== null
}

function itself({ reference, amountMinor, currency }: FoundInstruction): string {
  return amountMinor === null || currency === null
    ? reference
    : `${reference} (${currency} ${amountText(amountMinor, currency)})`
}

/** As the ledger answered to each line: what became of the rows since is on the page. */
function ofWorklist({ found, again, proposed, unchanged }: OfWorklist): string {
  const lines = [
    ...(found === 0
      ? []
      : [`${plural(found, 'row was', 'rows were')} recorded as you found them: nothing of that is sent again.`]),
    ...(again === 0 ? [] : [`${plural(again, 'row is', 'rows are')} to be sent once more.`]),
    ...(proposed === 0
      ? []
      : [`${plural(proposed, 'row is', 'rows are')} proposed: nothing is sent before another person confirms it.`]),
    ...(unchanged === 0 ? [] : [`${plural(unchanged, 'line')} changed nothing.`]),
  ]
  return lines.length === 0 ? 'Nothing was recorded.' : lines.join(' ')
}

// ───────────────────────────────────────────────────────────── Whatever is no row

async function ofMerchant({ app, ledger }: ConsoleDoor, { act, merchant }: OfMerchant): Promise<string | null> {
  const one = (await merchantsIn(app, ledger)).find((known) => known.merchant === merchant)
  if (one === undefined) return null
  if (act === 'rate')
    return one.perSecond === null
      ? `Merchant ${merchant} has its configured rate again. This changes how fast rows are sent, not which.`
      : `The rate of merchant ${merchant} is ${rateText(one.perSecond)} from now on. This changes how fast rows are sent, not which.`
  if (one.stopped !== null || one.held !== null)
    return `Resumed, and held again since: nothing is sent for ${merchant}.`
  const figures = (await ledger.figures()).accounts.find((account) => account.merchant === merchant)
  return `Resumed: merchant ${merchant} is not held any more. ${plural(figures?.pending ?? 0, 'row waits', 'rows wait')} to be sent.`
}

const EVERY_BATCH_WAITS = ' From now on every batch waits for an approval before anything of it is sent.'

/** What a change of people does for the first time. */
export async function policyText({ ledger }: ConsoleDoor, hadPolicy: boolean): Promise<string> {
  return !hadPolicy && (await ledger.approvalPolicy()) !== null ? EVERY_BATCH_WAITS : ''
}

const IN_A_ROW = new Intl.ListFormat('en-GB', { type: 'conjunction' })

async function ofPerson(door: ConsoleDoor, { act, name, hadPolicy, wasRevoked }: OfPerson): Promise<string | null> {
  const found = await door.ledger.personNamed(name)
  if (found === null) return null
  const { person } = found
  if (wasRevoked === true) return `${name} had been revoked already; your reason was not recorded.`
  if (person.revokedAtMs !== null)
    return `${name} was revoked and can no longer sign in. What ${name} handed in or approved stands.`
  if (act === 'revoke-person') return null
  if (act === 'confirm-person') return `You confirmed ${name}: the roles hold from now on. This moves no money.`
  const roles = person.grants.map((grant) => grant.name)
  const has = roles.length === 0 ? 'no role' : `the ${roles.length === 1 ? 'role' : 'roles'} ${IN_A_ROW.format(roles)}`
  const second = person.waiting.length === 0 ? null : secondPersonText(person)
  return `The roles were set: ${name} now has ${has}.${second === null ? '' : ` ${second}`} Open sessions of ${name} have ended.${await policyText(door, hadPolicy)}`
}

async function ofKey({ ledger }: ConsoleDoor, { id, wasRevoked }: OfKey): Promise<string | null> {
  const key = (await ledger.keys()).find((one) => one.id === id)
  if (key === undefined || key.revokedAtMs === null) return null
  if (wasRevoked) return `Key ${key.name} had been revoked already; your reason was not recorded.`
  return `Key ${key.name} was revoked: its next request is refused. What was handed in with it stays as it is.`
}

async function ofWebhook({ ledger }: ConsoleDoor, { act, id }: OfWebhook): Promise<string | null> {
  const endpoint = (await ledger.endpoints()).find((one) => one.id === id)
  if (act === 'remove-webhook')
    return endpoint === undefined ? `Webhook ${id} was removed: nothing more is sent there. No money moved.` : null
  if (endpoint === undefined) return null
  const waits = endpoint.disabledAtMs === null ? '' : ' The webhook is disabled: it waits until somebody enables it.'
  switch (act) {
    case 'enable-webhook':
      return endpoint.disabledAtMs === null
        ? 'The webhook is enabled: everything that it missed is delivered. No money moves.'
        : null
    case 'ping-webhook':
      return `A test event is on its way. Its delivery is shown below. No money moves.${waits}`
    case 'replay':
      return `What you asked for is sent again; this page shows what becomes of it. No money moves.${waits}`
  }
}
