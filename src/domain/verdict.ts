// From an outcome to what it means for the money. Pure, complete, tried from the top; whatever is not understood is in doubt.

import { cut, declineReasonOf, present } from './answer-text.ts'
import type { CardMask } from './card.ts'
import { type Instruction, isVaultOperation, plainId, type TransactionType } from './instruction.ts'
import { toUpperAscii } from './keyword.ts'
import { formatAmount, sameAmount } from './money.ts'
import { type Answer, type Outcome, WITHHELD } from './outcome.ts'
import { isPlainSuccess, mayBeStored, namesRecord, verdictOnVaultStatus } from './vault-verdict.ts'

/** What an answer says, as the digits and text received. */
export interface AnswerFacts {
  readonly transactionId: string | null
  readonly orderId: string | null
  readonly recordId: string | null
  readonly amount: string | null
  readonly currency: string | null
  readonly vaultId: string | null
  readonly xtlOrderId: string | null
  /** The vault's id of the card holder. */
  readonly customerId: string | null
  /** The card that the vault says it holds. */
  readonly card: CardMask | null
}

export interface Warning {
  readonly text: string
  /** The money may not be what was asked: it counts in the exit code. */
  readonly aboutMoney: boolean
}

/** What the attempt tells about the road to the gateway; see `window.ts`. */
export type Signal = 'true-answer' | 'failure' | 'throttled' | 'none'

export type Verdict =
  | { readonly kind: 'approved'; readonly facts: AnswerFacts; readonly warnings: readonly Warning[] }
  | {
      readonly kind: 'declined'
      readonly facts: AnswerFacts
      readonly reason: string
      readonly warnings: readonly Warning[]
    }
  /** Certainly not executed; the connection alone is at fault: it is sent again later. */
  | { readonly kind: 'unsent'; readonly reason: string; readonly signal: Signal; readonly retryAfterMs: number | null }
  /** 403: certainly not executed; this row waits, and counts towards stopping the account or giving the row up. */
  | { readonly kind: 'forbidden'; readonly reason: string }
  /** Credentials or address are wrong: nothing of this account can be executed until a person has looked. */
  | { readonly kind: 'stop-account'; readonly reason: string }
  /** Certainly not executed: refused as wrong. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'in-doubt'; readonly reason: string }

/** What the verdict depends on besides the outcome. */
export interface Judging {
  readonly instruction: Pick<
    Instruction,
    'operation' | 'money' | 'orderId' | 'vaultId' | 'card' | 'saveCardOnFile' | 'xtlOrderId' | 'details'
  >
  /** An earlier attempt of this row was in doubt at some time. */
  readonly everInDoubt: boolean
  /** HTTP codes that the gateway's operator has said, in writing, to mean "not executed". */
  readonly notExecutedStatus: readonly number[]
  /** `any-2xx`: the gateway's operator has said so of the answers to a deletion, which the contract does not describe. */
  readonly deleteAnswer: 'status' | 'any-2xx'
}

const REFUSED_AS_WRONG = [400, 411, 413, 414, 415, 422, 431]
const WRONG_CREDENTIALS_OR_ADDRESS = [401, 404, 405]

export function verdictOn(outcome: Outcome, judging: Judging): Verdict {
  switch (outcome.kind) {
    case 'unsent':
      return {
        kind: 'unsent',
        reason: outcome.detail,
        signal: outcome.why === 'connect' ? 'failure' : 'none',
        retryAfterMs: null,
      }
    case 'lost':
      return { kind: 'in-doubt', reason: `${outcome.detail}; ${mayHaveBeen(judging)}` }
    case 'answered':
      return verdictOnAnswer(outcome, judging)
  }
}

type Answered = Extract<Outcome, { kind: 'answered' }>

function verdictOnAnswer(outcome: Answered, judging: Judging): Verdict {
  const { body } = outcome
  switch (body.kind) {
    case 'answer': {
      const { operation } = judging.instruction
      if (!isVaultOperation(operation)) return verdictOnStatus(body.status, body.fields, outcome, operation, judging)
      const { httpStatus, connection } = outcome
      const { instruction: sent, everInDoubt } = judging
      return verdictOnVaultStatus(body.status, body.fields, { operation, sent, everInDoubt, httpStatus, connection })
    }
    case 'none': {
      const words = present(body.message ?? undefined) ?? outcome.text
      if (isTrustedDeletion(outcome, words, judging)) return trustedDeletion(outcome)
      return verdictOnCode(outcome, words, judging)
    }
    // Whatever the code: a code of refusal in front of an answer that says APPROVED would be no certainty either.
    case 'unclear':
      if (isTrustedDeletion(outcome, '', judging)) return trustedDeletion(outcome)
      return unproven('an answer that cannot be understood', outcome, outcome.text, judging)
  }
}

/** Over a connection that carried another request it may be the second answer to that one. */
function isTrustedDeletion(outcome: Answered, words: string, { instruction, deleteAnswer }: Judging): boolean {
  const { httpStatus, connection, text } = outcome
  const is2xx = httpStatus >= 200 && httpStatus <= 299
  const isMeant =
    instruction.operation === 'VAULT_DELETE' && deleteAnswer === 'any-2xx' && is2xx && connection === 'fresh'
  return isMeant && isPlainSuccess(`${words} ${text}`)
}

function trustedDeletion({ text }: Answered): Verdict {
  const warnings =
    text === '' ? [] : [{ text: `the vault answered the deletion with: ${cut(text)}`, aboutMoney: false }]
  return { kind: 'approved', facts: factsOf({}), warnings }
}

function mayHaveBeen({ instruction: { operation } }: Judging): string {
  return `it may have been executed${isVaultOperation(operation) ? mayBeStored(operation) : ''}`
}

function verdictOnStatus(
  status: string,
  answer: Answer,
  outcome: Answered,
  operation: TransactionType,
  judging: Judging,
): Verdict {
  const { httpStatus } = outcome
  const facts = factsOf(answer)
  const doubt = (reason: string): Verdict => ({ kind: 'in-doubt', reason })
  const is2xx = httpStatus >= 200 && httpStatus <= 299
  const is4xx = httpStatus >= 400 && httpStatus <= 499

  if (status !== 'APPROVED' && status !== 'DECLINED')
    return doubt(`the gateway answered with the unknown status "${status}"`)
  if (!(is2xx || (is4xx && status === 'DECLINED')))
    return doubt(`the gateway answered ${status} with HTTP ${httpStatus}`)

  const { orderId, xtlOrderId } = judging.instruction
  const echo = echoOf(answer, { operation, orderId, xtlOrderId })
  if (echo.kind === 'wrong') return doubt(`the answer belongs to another request: ${echo.what}`)
  // A kept-alive connection can deliver the late answer of another request: here the echo is all that ties them.
  if (echo.kind === 'absent' && outcome.connection === 'warm') {
    return doubt(`${status} over a kept-alive connection, without anything that ties the answer to this request`)
  }
  // An order may be refunded more than once: its id ties the answer to the order, and the transaction id to the request.
  if (outcome.connection === 'warm' && echoesOrder(operation) && !hasTransaction(facts)) {
    return doubt(
      `${status} over a kept-alive connection, without a transaction id: it may answer an earlier request of this order`,
    )
  }
  const warnings = [echo.what, oddIdIn(answer)].flatMap((text) => (text === null ? [] : [{ text, aboutMoney: false }]))

  if (status === 'DECLINED') {
    const reason = declineReasonOf(answer)
    if (judging.everInDoubt)
      return doubt(`DECLINED (${reason}), but an earlier attempt was in doubt and may be what was executed`)
    return { kind: 'declined', facts, reason, warnings }
  }
  const { instruction } = judging
  return {
    kind: 'approved',
    facts,
    warnings: [...warnings, ...moneyWarnings(facts, instruction), ...cardWarnings(facts, instruction)],
  }
}

function verdictOnCode(outcome: Answered, words: string, judging: Judging): Verdict {
  const { httpStatus, retryAfterMs } = outcome
  const said = words === '' ? '' : `: ${words}`
  // A code repeats no id: behind another request it may be the second answer to that one.
  if (outcome.connection === 'warm')
    return unproven('a code over a connection that carried another request', outcome, words, judging)
  if (httpStatus === 429 || judging.notExecutedStatus.includes(httpStatus)) {
    return {
      kind: 'unsent',
      reason: `the gateway asked to wait (HTTP ${httpStatus})`,
      signal: 'throttled',
      retryAfterMs,
    }
  }
  if (WRONG_CREDENTIALS_OR_ADDRESS.includes(httpStatus) && !isOfRecord(words, judging)) {
    const cause = httpStatus === 401 ? 'the gateway refuses the username or password' : 'the gateway address is wrong'
    return { kind: 'stop-account', reason: `${cause} (HTTP ${httpStatus}${said})` }
  }
  if (httpStatus === 403) return { kind: 'forbidden', reason: `the gateway refused this request (HTTP 403${said})` }
  if (REFUSED_AS_WRONG.includes(httpStatus) || (httpStatus === 404 && isOfRecord(words, judging))) {
    const reason = `refused as wrong (HTTP ${httpStatus}${said})`
    // Certain of this attempt only: the earlier one may be what was executed.
    if (judging.everInDoubt) return { kind: 'in-doubt', reason: `${reason}, but an earlier attempt was in doubt` }
    return { kind: 'failed', reason }
  }
  const is2xx = httpStatus >= 200 && httpStatus <= 299
  return unproven(is2xx ? 'not the answer promised' : 'an answer that proves nothing', outcome, words, judging)
}

/** A vault may say 404 of the one record that was named, and mean no wrong address. */
function isOfRecord(words: string, { instruction: { operation } }: Judging): boolean {
  return (operation === 'VAULT_UPDATE' || operation === 'VAULT_DELETE') && namesRecord(words)
}

function unproven(what: string, { httpStatus }: Answered, words: string, judging: Judging): Verdict {
  const said = words === '' ? '' : `: ${words}`
  return { kind: 'in-doubt', reason: `${what} (HTTP ${httpStatus}${said}); ${mayHaveBeen(judging)}` }
}

/** How an attempt with this verdict moves the window of its account. */
export function signalOf(verdict: Verdict): Signal {
  switch (verdict.kind) {
    case 'unsent':
      return verdict.signal
    case 'in-doubt':
      return 'failure'
    case 'approved':
    case 'declined':
    case 'failed':
    case 'forbidden':
    case 'stop-account':
      return 'true-answer'
  }
}

/** `what` says what is missing or wrong; an echo can be true and still lack something. */
export type Echo =
  | { readonly kind: 'true'; readonly what: string | null }
  | { readonly kind: 'absent' | 'wrong'; readonly what: string }

/** Which REQUEST_ACTION answers the operation. CCCREDIT is the refund of the earlier interface variant. */
const ACTIONS: Readonly<Record<TransactionType, readonly string[]>> = {
  CAPTURE: ['CAPTURE'],
  AUTH: ['AUTH'],
  CAUTH: ['CAPTURE'],
  REFUND: ['REFUND', 'CCCREDIT'],
  CANCEL: ['CANCEL'],
}

/**
 * Whether the answer speaks of the request that was sent. The id is what ties them: the order id for REFUND and CANCEL
 * (the gateway puts it in either of two fields), our own XTL_ORDER_ID for the rest.
 */
export function echoOf(
  answer: Answer,
  sent: Pick<Instruction, 'orderId' | 'xtlOrderId'> & { readonly operation: TransactionType },
): Echo {
  const action = present(answer.REQUEST_ACTION)
  if (action !== null && !ACTIONS[sent.operation].includes(action)) {
    return { kind: 'wrong', what: `REQUEST_ACTION is ${action}, ${sent.operation} was sent` }
  }
  const byOrder = echoesOrder(sent.operation)
  const asked = byOrder ? sent.orderId : sent.xtlOrderId
  const names = byOrder ? ['TRANS_ORDER_ID', 'TRANS_RECORD_ID'] : ['XTL_ORDER_ID']
  const answered = names.map((name) => present(answer[name])).filter((id) => id !== null)
  if (answered.length === 0 || asked === null) {
    return { kind: 'absent', what: `the answer does not repeat ${byOrder ? 'the order id' : 'XTL_ORDER_ID'}` }
  }
  if (answered.some((id) => plainId(id) === plainId(asked))) {
    return { kind: 'true', what: action === null ? 'the answer does not repeat REQUEST_ACTION' : null }
  }
  return { kind: 'wrong', what: `${names.join('/')} is ${answered.join('/')}, ${asked} was sent` }
}

/** The other operations are answered with the XTL_ORDER_ID of the very request. */
function echoesOrder(operation: TransactionType): boolean {
  return operation === 'REFUND' || operation === 'CANCEL'
}

function hasTransaction({ transactionId }: AnswerFacts): boolean {
  return transactionId !== null && !/^0+$/.test(transactionId)
}

/**
 * Status and echo say what happened, whatever the id looks like. In its brackets it still settles one row only, and no
 * person looks it up for a number.
 */
function oddIdIn(answer: Answer): string | null {
  const id = present(answer.TRANS_REQUEST_ID)
  return id?.startsWith('[') === true ? `the transaction id of the answer is not a number: ${id}` : null
}

function moneyWarnings(facts: AnswerFacts, asked: Pick<Instruction, 'money'>): Warning[] {
  if (asked.money === null) return []
  const warnings: Warning[] = []
  if (facts.amount !== null && !sameAmount(facts.amount, asked.money)) {
    warnings.push({
      text: `the gateway answered the amount ${facts.amount} where ${formatAmount(asked.money)} was asked`,
      aboutMoney: true,
    })
  }
  if (facts.currency !== null && toUpperAscii(facts.currency) !== asked.money.currency) {
    warnings.push({
      text: `the gateway answered the currency ${facts.currency} where ${asked.money.currency} was asked`,
      aboutMoney: true,
    })
  }
  return warnings
}

/** The contract has CUSTOMER_VAULT_ID only where a card is saved, which may give an id of its own to a card that has one. */
function cardWarnings(facts: AnswerFacts, asked: Pick<Instruction, 'vaultId' | 'saveCardOnFile'>): Warning[] {
  const { vaultId, saveCardOnFile } = asked
  if (vaultId === null || facts.vaultId === null || plainId(facts.vaultId) === plainId(vaultId)) return []
  const answered = `the gateway answered the vault id ${facts.vaultId} where ${vaultId}`
  return saveCardOnFile
    ? [{ text: `${answered} was charged: the card may have been saved once more`, aboutMoney: false }]
    : [{ text: `${answered} was asked: another card may have been charged`, aboutMoney: true }]
}

export function factsOf(answer: Answer): AnswerFacts {
  const transaction = present(answer.TRANS_REQUEST_ID)
  return {
    transactionId: transaction === WITHHELD ? null : transaction,
    orderId: present(answer.TRANS_ORDER_ID),
    recordId: present(answer.TRANS_RECORD_ID),
    amount: present(answer.TRANS_VALUE),
    currency: present(answer.TRANS_CUR),
    vaultId: present(answer.CUSTOMER_VAULT_ID),
    xtlOrderId: present(answer.XTL_ORDER_ID),
    customerId: null,
    card: null,
  }
}
