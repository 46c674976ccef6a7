// What a settlement does to its row: which move it makes, or what a late answer leaves behind. Pure.

import type { Hold } from '../../domain/batch.ts'
import { isVaultOperation, type Operation, plainId } from '../../domain/instruction.ts'
import { type Cause, canMove, isFinal, type State } from '../../domain/states.ts'
import type { AnswerFacts } from '../../domain/verdict.ts'
import type { Settlement } from '../../ports/ledger/work.ts'
import { OF_AN_ORDER } from './order-book.ts'

/** A row as it stands when its settlement arrives. */
export interface RowToSettle {
  readonly state: State
  readonly attempt: number
  /** Of its batch. */
  readonly hold: Hold
  readonly warning: string | null
  readonly transactionId: string | null
  /** What moved it last was a finding of a person: 0 or 1. */
  readonly wasFound: number
  /** Its attempt is that of another claim: of one state of the ledger that was put back, and of the one that went on. */
  readonly isAnothers?: boolean
}

export type SettlingStep = MakeMove | KeepLateAnswer | ChangeNothing

/** The row moves, and holds these values from then on. */
export interface MakeMove {
  readonly kind: 'move'
  readonly to: State
  readonly cause: Cause
  /** Of the move, for the history. */
  readonly reason: string | null
  /** The row keeps that reason. One that waits again has none. */
  readonly keepsReason: boolean
  /** What the row takes from the answer. */
  readonly facts: AnswerFacts
  readonly warning: string | null
  readonly moneyWarning: boolean
  readonly newDoubt: boolean
  /** No move of the machine is expected any more: the row is completed now. */
  readonly completed: boolean
  /** It waits to be sent again, so it must be known that no earlier attempt was executed. */
  readonly waitsAgain: boolean
}

/** The row has moved on: the answer becomes a warning beside what the row says. */
export interface KeepLateAnswer {
  readonly kind: 'keep-late-answer'
  /** What is added, for the log of acts. */
  readonly text: string
  /** All that the row warns of from then on. */
  readonly warning: string
  /** Money moved that the row's own state does not tell of. Whatever waits under its reference must not be sent. */
  readonly moneyWarning: boolean
}

/** The row has moved on, and the settlement says nothing that must be kept. */
export interface ChangeNothing {
  readonly kind: 'change-nothing'
}

/** What a row has that took nothing from an answer. */
export const NO_FACTS: AnswerFacts = {
  transactionId: null,
  orderId: null,
  recordId: null,
  amount: null,
  currency: null,
  vaultId: null,
  customerId: null,
  card: null,
  xtlOrderId: null,
}

const NOTHING: ChangeNothing = { kind: 'change-nothing' }

/** The vault id under which the row would have its card stored. null: none. */
export function vaultIdIn({ to, facts }: { to: State; facts: AnswerFacts | null }): string | null {
  return to === 'APPROVED' ? (facts?.vaultId ?? null) : null
}

/** The transaction id that the row would take from this settlement. null: none; an id of zeros is none. */
export function transactionIn({ to, facts }: { to: State; facts: AnswerFacts | null }): string | null {
  if (to !== 'APPROVED' && to !== 'DECLINED') return null
  const id = facts?.transactionId ?? null
  return id === null || /^0*$/.test(id) ? null : id
}

/**
 * Why the answer does not end the row. `transaction`, `vault-id`: another row of the account has the transaction id that settled it, or
 * the vault id of another card. `done`, `balance`: it was refused because it was done already, or because the order has too little left
 * though nothing that is recorded took it. The gateway may have executed this very request, which came to it twice.
 */
export type Unproven = 'transaction' | 'vault-id' | 'done' | 'balance'

export function settlingStep(row: RowToSettle, settlement: Settlement, unproven: Unproven | null): SettlingStep {
  const to = targetOf(row, settlement)
  if (to === null) return lateAnswer(row, settlement)
  if (unproven === null) return move(row, to, settlement, settlement.reason)
  // A row that is to be sent again would be sent although its first request may have been executed.
  return row.state === 'SENDING' || row.state === 'READY'
    ? move(row, 'IN_DOUBT', settlement, unprovenReason(unproven, settlement))
    : lateAnswer(row, settlement)
}

/** What a refusal says of the money. `balance`: only the order's own record can tell whether that explains it. null: that none moved. */
export function refusalOf(operation: Operation, { to, category }: Settlement): 'done' | 'balance' | null {
  if ((to !== 'DECLINED' && to !== 'FAILED') || isVaultOperation(operation)) return null
  if (category === 'done') return 'done'
  return category === 'balance' && OF_AN_ORDER.includes(operation) ? 'balance' : null
}

/** Where the settlement moves the row; null when the row has moved on. */
function targetOf(row: RowToSettle, settlement: Settlement): State | null {
  const { to, attempt } = settlement
  if (row.wasFound === 1 && agrees(row, settlement)) return to
  if (row.attempt !== attempt || row.isAnothers === true) return null
  if (row.state === 'SENDING') return to === 'READY' && row.hold === 'cancelled' ? 'CANCELLED' : to
  return row.state !== to && canMove(row.state, to, lateCause(to)) ? to : null
}

/** Whether it is the answer that a person found: it has that transaction, or none was named and the row was sent once. */
function agrees(row: RowToSettle, { to, attempt, facts }: Settlement): boolean {
  if (row.state !== to || !canMove(row.state, to, 'late-answer')) return false
  if (row.transactionId === null) return row.attempt === 1 && attempt === 1
  return isSameTransaction(row.transactionId, facts?.transactionId ?? null)
}

/** READY proves that nothing was sent. Any other state is a true answer that came late. */
function lateCause(to: State): Cause {
  return to === 'READY' ? 'proof' : 'late-answer'
}

function causeOf(row: RowToSettle, to: State, settlement: Settlement): Cause {
  if (to === 'IN_DOUBT') return row.state === 'READY' ? 'executed' : 'doubt'
  return row.state === 'SENDING' ? settlement.cause : lateCause(to)
}

function move(row: RowToSettle, to: State, settlement: Settlement, reason: string | null): MakeMove {
  const inDoubt = to === 'IN_DOUBT'
  return {
    kind: 'move',
    to,
    cause: causeOf(row, to, settlement),
    reason,
    keepsReason: to !== 'READY',
    facts: takenBy(to, settlement),
    warning: joined(row.warning, settlement.warning), // a late answer of an earlier attempt may have left one
    moneyWarning: settlement.warnsOfMoney && to === 'APPROVED',
    newDoubt: inDoubt,
    completed: inDoubt || isFinal(to),
    waitsAgain: to === 'READY',
  }
}

/** What an answer in doubt says stays in the history: its ids may be those of another request, and must stay free for the row they belong to. */
function takenBy(to: State, { facts }: Settlement): AnswerFacts {
  if (facts === null || to === 'IN_DOUBT') return NO_FACTS
  return { ...facts, transactionId: transactionIn({ to, facts }) }
}

/** Of two rows with one transaction id, the second to see it was given the answer of another. */
function unprovenReason(unproven: Unproven, { to, facts, reason }: Settlement): string {
  switch (unproven) {
    case 'vault-id':
      return `the answer carries vault id ${facts?.vaultId}, under which another card was stored; the card may be stored`
    case 'transaction':
      return `the answer carries transaction id ${facts?.transactionId}, which already settled another row; it may have been executed`
    case 'done':
      return `${to} (${reason}): the gateway says that it was done already; it may have been executed by this request or by someone else`
    case 'balance':
      return `${to} (${reason}): no refund, void or capture that is recorded here explains it; it may have been executed by this request or by someone else`
  }
}

/** A true answer after the row was settled otherwise is never thrown away: the row says so from now on. */
function lateAnswer(row: RowToSettle, settlement: Settlement): KeepLateAnswer | ChangeNothing {
  if (settlement.to !== 'APPROVED' && settlement.to !== 'DECLINED') return NOTHING
  const transactionId = settlement.facts?.transactionId ?? null
  // It settled the row already.
  if (row.wasFound === 0 && settlement.to === row.state && isSameTransaction(transactionId, row.transactionId))
    return NOTHING
  const id = transactionId ?? 'none'
  const text = `attempt ${settlement.attempt} was answered ${settlement.to} (transaction id ${id}) after the row had moved on`
  return {
    kind: 'keep-late-answer',
    text,
    warning: joined(row.warning, text),
    moneyWarning: settlement.to === 'APPROVED',
  }
}

/** Whether two transaction ids are one. Zeros in front make no other. */
export function isSameTransaction(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && plainId(one) === plainId(other)
}

function joined<Later extends string | null>(earlier: string | null, later: Later): string | Later {
  return earlier === null ? later : later === null ? earlier : `${earlier}; ${later}`
}
