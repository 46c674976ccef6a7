// Rows that look like others, in words: one by one, and why a file with them is refused.

import { isoOf } from '../domain/batch-status.ts'
import type { Lookalike } from '../domain/draft.ts'
import type { Operation } from '../domain/instruction.ts'
import type { Money } from '../domain/money.ts'
import { statusOf, statusWord } from '../domain/states.ts'
import { type LookalikesRefused, pairOf } from '../domain/submission.ts'
import { amountText, plural } from './text.ts'

export function lookalikeLine(lookalike: Lookalike): string {
  const { line, reference, like, changedFrom } = lookalike
  const { batchId, rowNo, reference: other, state } = like
  const moneyWarning = lookalike.moneyWarning === null ? '' : `; ${lookalike.moneyWarning}`
  const where =
    batchId === null
      ? `row ${rowNo} of this file`
      : `row ${rowNo} of batch ${batchId}, ${statusWord(state ?? '')}${moneyWarning}`
  const changed =
    changedFrom === null
      ? null
      : `has the target of ${other} (${where}), which asked for ${amountText(changedFrom.amountMinor, changedFrom.currency)} ${changedFrom.currency} and`
  const text = lookalike.lost ? lostText(lookalike, where, changed) : likeText(lookalike, where, changed)
  return `line ${line}: ${reference} ${text}`
}

/** What rows of that operation have in common where they look alike. */
export function commonIn(operation: Operation): string {
  switch (operation) {
    case 'CAPTURE':
    case 'AUTH':
      return 'operation, amount and card'
    case 'CAUTH':
    case 'REFUND':
      return 'operation, amount and order'
    case 'CANCEL':
      return 'operation and order'
    case 'VAULT_CREATE':
      return 'card and name'
    case 'VAULT_UPDATE':
    case 'VAULT_DELETE':
      return 'operation and vault id'
  }
}

function lostText({ reference, like }: Lookalike, where: string, changed: string | null): string {
  const asksForSame =
    reference === like.reference ? `(${where})` : `asks for the same as ${like.reference} (${where}), which`
  return `${changed ?? asksForSame} may have run again in the record that was lost when an older state of the ledger was put back`
}

function likeText(lookalike: Lookalike, where: string, changed: string | null): string {
  const { like, refundedBefore, question } = lookalike
  if (question !== null) return `${question.text} (${like.reference}, ${where})`
  if (changed !== null)
    return `${changed} is not in this file; sent, it would move money beside that row, not in its place`
  if (lookalike.besideVoid)
    return lookalike.operation === 'CANCEL'
      ? `voids an order that ${like.reference} (${where}) captures or refunds`
      : `${lookalike.operation === 'CAUTH' ? 'captures' : 'refunds'} an order that ${like.reference} (${where}) voids`
  if (refundedBefore === null && like.state === 'IN_DOUBT' && lookalike.money?.amountMinor !== like.money?.amountMinor)
    return `is of an order with ${like.reference} (${where}), which may have been executed`
  if (refundedBefore === null) {
    return `has the same ${commonIn(lookalike.operation)} as ${like.reference} (${where})`
  }
  const { amountMinor, currency } = refundedBefore
  const refunded = like.batchId === null ? 'already refunded' : 'refunded before'
  const before =
    currency === null
      ? `${refunded} in more than one currency`
      : `with ${amountText(amountMinor, currency)} ${currency} ${refunded}`
  return `refunds an order ${before}, last by ${like.reference} (${where}); its sale is not recorded here`
}

export function lookalikesRefusal(refusal: LookalikesRefused): string {
  return `${lookalikesText(refusal)} ${stillToSendText(refusal)}${lookalikesRemedy(refusal)}${changedAdvice(refusal)}`
}

function lookalikesText({ found: all, lost, questions }: LookalikesRefused): string {
  const found = all - questions
  const odd =
    questions === 0
      ? ''
      : `${plural(questions, 'row does', 'rows do')} not fit what is known of ${questions === 1 ? 'its' : 'their'} order or customer: look at ${questions === 1 ? 'it' : 'each'}.`
  if (found === 0) return odd
  return [likeOrLostText(found, lost), odd].filter(Boolean).join(' ')
}

function likeOrLostText(found: number, lost: number): string {
  const like = `${plural(found - lost, 'row looks', 'rows look')} like one that is in this file or recorded already.`
  if (lost === 0) return like
  const again = `${plural(lost, 'row', 'rows')} may have run already, in the record that was lost when an older state of the ledger was put back. Look ${lost === 1 ? 'it' : 'them'} up at the gateway.`
  return lost === found ? again : `${like} ${again}`
}

/** Where most of the file was sent before, the way to send it all once more is not for copying. */
function lookalikesRemedy(refusal: LookalikesRefused): string {
  const { found, questions, recorded, accepted, longAgo } = refusal
  const takeOut =
    questions === found
      ? 'Correct what is wrong, or take it out of the file.'
      : 'What was entered twice or has run already would be executed twice: take it out of the file.'
  if (recorded < 2 || recorded * 2 < accepted)
    return `${takeOut} Only if ${found === 1 ? 'it is' : 'every one of them is'} meant, add --allow-lookalikes ${found}.`
  const ofLongAgo = [...longAgo.values()].reduce((sum, { rows }) => sum + rows, 0)
  if (ofLongAgo * 2 >= accepted) return `${takeOut} ${longAgoText(refusal)}`
  return `${takeOut} ${recorded} of the ${plural(accepted, 'row')} to be sent are recorded under other references, or with other amounts: this may be an earlier file again, or one with changes. If it is not, add --allow-lookalikes N, where N is the number of look-alikes.`
}

/** The batch that most rows are like, and the three ways on. */
function longAgoText({ longAgo, accepted, found, isOnlyNew, hasRunKey }: LookalikesRefused): string {
  const [first, ...others] = [...longAgo].toSorted(([, one], [, other]) => other.rows - one.rows)
  const [batchId, { rows, handedInMs }] = first as [string, { rows: number; handedInMs: number }]
  const more = others.length === 0 ? '' : ` (others what ${plural(others.length, 'other batch', 'other batches')} did)`
  const day = isoOf(handedInMs).slice(0, 10)
  return [
    `${rows} of the ${plural(accepted, 'row')} to be sent ask for what batch ${batchId} of ${day} asked for${more}: this may be that file again.`,
    ...(isOnlyNew ? [] : ['To send only what no earlier file holds, add --only-new.']),
    ...(hasRunKey ? [] : ["If it is another month's, give it a run key, such as its month: --run-key YYYY-MM."]),
    `Only if all of it is to be executed once more, add --allow-lookalikes ${found}.`,
  ].join(' ')
}

/** For next time: it saves the question, and not the look at these rows. */
function changedAdvice({ changed }: LookalikesRefused): string {
  if (changed === 0) return ''
  return ' Where that row and this one have references of their own, another amount is not asked about: give the rows of future files a column "reference".'
}

/** A batch that was paused or has not run yet is the likelier reason than rows that were entered twice. */
function stillToSendText({ stillToSend }: LookalikesRefused): string {
  const [first, ...others] = stillToSend
  if (first === undefined) return ''
  const [batchId, rows] = first
  const more =
    others.length === 0
      ? ''
      : `, and so ${others.length === 1 ? 'does' : 'do'} ${plural(others.length, 'other batch', 'other batches')}`
  return `Batch ${batchId} still has ${rows} of them to send${more}: resume or cancel that batch first, and check this file again. `
}

export function toJsonLookalike(lookalike: Lookalike): object {
  const { rowNo, line, reference, like, lost, changedFrom, refundedBefore, besideVoid, question, moneyWarning } =
    lookalike
  return {
    ...{ pair: pairOf(lookalike), row: rowNo, line, reference },
    ...{ operation: lookalike.operation, ...moneyJson(lookalike.money), order_id: lookalike.orderId },
    like: {
      ...{ batch: like.batchId, row: like.rowNo, line: like.line, reference: like.reference },
      ...{ ...moneyJson(like.money), order_id: like.orderId, handed_in: like.atMs === null ? null : isoOf(like.atMs) },
      status: like.state === null ? null : statusOf(like.state),
    },
    changed_from:
      changedFrom === null
        ? null
        : { amount: amountText(changedFrom.amountMinor, changedFrom.currency), currency: changedFrom.currency },
    may_have_run_again: lost,
    beside_void: besideVoid,
    question: question === null ? null : { code: question.code, text: question.text },
    money_warning: moneyWarning,
    refunded_before:
      refundedBefore === null
        ? null
        : {
            amount:
              refundedBefore.currency === null ? null : amountText(refundedBefore.amountMinor, refundedBefore.currency),
            currency: refundedBefore.currency,
          },
  }
}

function moneyJson(money: Money | null): object {
  return {
    amount: money === null ? null : amountText(money.amountMinor, money.currency),
    currency: money?.currency ?? null,
  }
}
