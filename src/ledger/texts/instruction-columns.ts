// Between an instruction and its row in the table.

import { formatCardMask, parseCardMask } from '../../domain/card.ts'
import {
  type CustomerField,
  contentOf,
  type DetailField,
  type Instruction,
  lookalikeOf,
  type Operation,
  orderKeyOf,
} from '../../domain/instruction.ts'
import type { Currency } from '../../domain/money.ts'
import type { AnswerFacts } from '../../domain/verdict.ts'

/** The columns of an instruction, as the table holds them. Amounts fit a double exactly: they have at most 15 digits. */
export interface InstructionColumns {
  reference: string
  operation: string
  amount_minor: number | null
  currency: string | null
  order_id: string | null
  order_key: string | null
  vault_id: string | null
  card: string | null
  xtl_order_id: string | null
  save_card: number
  details: string | null
  execute_at: number | null
  expires_at: number | null
  content: string
  lookalike: string | null
}

type Unread = Omit<{ readonly [Column in keyof InstructionColumns]: InstructionColumns[Column] | null }, 'reference'>

/** Of a row that could not be read as an instruction. */
export const NO_COLUMNS: Unread = {
  operation: null,
  amount_minor: null,
  currency: null,
  order_id: null,
  order_key: null,
  vault_id: null,
  card: null,
  xtl_order_id: null,
  save_card: 0,
  details: null,
  execute_at: null,
  expires_at: null,
  content: null,
  lookalike: null,
}

const COLUMNS = [
  'reference',
  'operation',
  'amount_minor',
  'currency',
  'order_id',
  'order_key',
  'vault_id',
  'card',
  'xtl_order_id',
  'save_card',
  'details',
  'execute_at',
  'expires_at',
  'content',
  'lookalike',
] as const satisfies readonly (keyof InstructionColumns)[]

/** For statements that write or read an instruction: its columns, and their parameters in the same order. */
export const INSTRUCTION_COLUMNS = COLUMNS.join(', ')
export const INSTRUCTION_PARAMETERS = COLUMNS.map((column) => `:${column}`).join(', ')

export function toColumns(instruction: Instruction): InstructionColumns {
  const { money, orderId, card, details } = instruction
  return {
    reference: instruction.reference,
    operation: instruction.operation,
    amount_minor: money === null ? null : Number(money.amountMinor),
    currency: money === null ? null : money.currency,
    order_id: orderId,
    order_key: orderKeyOf(instruction),
    vault_id: instruction.vaultId,
    card: card === null ? null : formatCardMask(card),
    xtl_order_id: instruction.xtlOrderId,
    save_card: instruction.saveCardOnFile ? 1 : 0,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
    execute_at: instruction.executeAtMs,
    expires_at: instruction.expiresAtMs,
    content: contentOf(instruction),
    lookalike: lookalikeOf(instruction),
  }
}

export function fromColumns(row: InstructionColumns): Instruction {
  return {
    reference: row.reference,
    operation: row.operation as Operation,
    money:
      row.amount_minor === null ? null : { amountMinor: BigInt(row.amount_minor), currency: row.currency as Currency },
    orderId: row.order_id,
    vaultId: row.vault_id,
    card: row.card === null ? null : parseCardMask(row.card),
    saveCardOnFile: row.save_card === 1,
    xtlOrderId: row.xtl_order_id,
    details:
      row.details === null ? {} : (JSON.parse(row.details) as Partial<Record<DetailField | CustomerField, string>>),
    executeAtMs: row.execute_at,
    expiresAtMs: row.expires_at,
  }
}

export interface FactColumns {
  transaction_id: string | null
  answered_order_id: string | null
  answered_record_id: string | null
  answered_amount: string | null
  answered_currency: string | null
  answered_vault_id: string | null
  answered_xtl_order_id: string | null
  answered_customer_id: string | null
  answered_card: string | null
}

export function toFacts(row: FactColumns): AnswerFacts {
  return {
    transactionId: row.transaction_id,
    orderId: row.answered_order_id,
    recordId: row.answered_record_id,
    amount: row.answered_amount,
    currency: row.answered_currency,
    vaultId: row.answered_vault_id,
    xtlOrderId: row.answered_xtl_order_id,
    customerId: row.answered_customer_id,
    card: row.answered_card === null ? null : parseCardMask(row.answered_card),
  }
}

/** As they came, but for halves of characters and for the character that ends a text: not every engine holds them. */
export function cellsText(cells: readonly string[]): string {
  return JSON.stringify(cells.map((cell) => cell.toWellFormed().replaceAll('\0', '\uFFFD')))
}
