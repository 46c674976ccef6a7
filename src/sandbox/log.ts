// What was executed, whatever its sender was told: one line per request, written before any answer is attempted.

import { type CardMask, formatCardMask } from '../domain/card.ts'
import type { Operation } from '../domain/instruction.ts'
import type { Currency } from '../domain/money.ts'
import type { FaultKind } from './fault-kinds.ts'

/**
 * One request that was executed or declined. Of the vault, that is every request of the known merchant that the vault
 * answered, or would have: its Success is APPROVED and its Failed is DECLINED, as the client's ledger calls them.
 */
export interface Executed {
  readonly seq: number
  /** By the given clock, without the admin's advances. */
  readonly atMs: number
  /** Which of all requests received it was; counted from 1, like `seq`. */
  readonly requestSeq: number
  readonly operation: Operation
  /** null: of the vault, which knows no orders. */
  readonly orderId: string | null
  /** As a string, for JSON; null where the order, and with it the currency, is not known, and for the vault. */
  readonly amountMinor: string | null
  readonly currency: Currency | null
  /** The one that was named or, on success, made. */
  readonly vaultId: string | null
  /** As `formatCardMask` writes it; null: the request had no card details, or they tell no card. */
  readonly card: string | null
  readonly xtlOrderId: string | null
  /** null: of the vault, which gives no transaction ids. */
  readonly transactionId: string | null
  readonly status: 'APPROVED' | 'DECLINED'
  readonly fault: FaultKind | null
  /** Whether a gateway answer was handed to the connection whole; `fault` says whether it was a true one. */
  readonly answered: boolean
}

export type Entry = { -readonly [Field in keyof Executed]: Executed[Field] }

export interface Log {
  /** Since the sandbox was opened. */
  readonly entries: Entry[]
  /** Of all time, where the state is kept in a file. */
  executed: number
}

interface What extends Pick<Executed, 'operation' | 'vaultId' | 'status' | 'fault'> {
  readonly card: CardMask | null
  /** null: an operation of the vault. */
  readonly transaction: Pick<Executed, 'orderId' | 'amountMinor' | 'currency' | 'xtlOrderId' | 'transactionId'> | null
}

export function enter(log: Log, requestSeq: number, atMs: number, what: What): Entry {
  log.executed += 1
  const { operation, vaultId, card, transaction, status, fault } = what
  const entry: Entry = {
    seq: log.executed,
    atMs,
    requestSeq,
    operation,
    orderId: transaction?.orderId ?? null,
    amountMinor: transaction?.amountMinor ?? null,
    currency: transaction?.currency ?? null,
    vaultId,
    card: card === null ? null : formatCardMask(card),
    xtlOrderId: transaction?.xtlOrderId ?? null,
    transactionId: transaction?.transactionId ?? null,
    status,
    fault,
    answered: false,
  }
  log.entries.push(entry)
  return entry
}
