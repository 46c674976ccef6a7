// Between an instruction and its row in the table.

import type { DatabaseSync } from 'node:sqlite'
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
import type { GatewayHealth } from '../../domain/window.ts'

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

export const TRANSACTION_INDEX = `
  CREATE INDEX instruction_plain_transaction ON instruction (account_id, ltrim(transaction_id, '0')) WHERE transaction_id IS NOT NULL;
`

/** Finds the row that a transaction id has settled: it can settle one only. Zeros in front, which a person may add, make no other. */
export function sameTransactionIn(
  db: DatabaseSync,
): (
  accountId: number,
  transactionId: string,
) => { id: number; batchId: string; rowNo: number; reference: string } | undefined {
  // Left to itself SQLite takes the index of the ids as text, and reads every one of the account.
  const find = db.prepare(`
    SELECT id, batch_id AS batchId, row_no AS rowNo, reference FROM instruction INDEXED BY instruction_plain_transaction
    WHERE account_id = ? AND ltrim(transaction_id, '0') = ltrim(?, '0') AND transaction_id IS NOT NULL`)
  return (accountId, transactionId) =>
    find.get(accountId, transactionId) as ReturnType<ReturnType<typeof sameTransactionIn>>
}

/** Of cards that were stored: few rows of most ledgers, and each is asked about once. */
export const STORED_INDEX = `
  CREATE INDEX instruction_stored ON instruction (account_id, ltrim(answered_vault_id, '0'))
    WHERE operation = 'VAULT_CREATE' AND answered_vault_id IS NOT NULL;
`

/** Whether a card of another mask was stored under that vault id. The same card may get the same id again. */
export function otherCardIn(db: DatabaseSync): (accountId: number, vaultId: string, rowId: number) => boolean {
  const find = db.prepare(`
    SELECT 1 FROM instruction i INDEXED BY instruction_stored
    WHERE account_id = ?1 AND ltrim(answered_vault_id, '0') = ltrim(?2, '0') AND operation = 'VAULT_CREATE'
      AND answered_vault_id IS NOT NULL AND state = 'APPROVED' AND id <> ?3
      AND card IS NOT (SELECT card FROM instruction WHERE id = ?3) LIMIT 1`)
  return (accountId, vaultId, rowId) => find.get(accountId, vaultId, rowId) !== undefined
}

/** Rows `e` of the order of row `i`, by the index of open orders. */
const OF_ITS_ORDER = `FROM instruction e WHERE e.account_id = i.account_id AND e.order_key = i.order_key AND e.id <> i.id
    AND e.order_key IS NOT NULL AND e.state IN ('READY', 'SENDING', 'IN_DOUBT')`

/**
 * Whether the order of row `i` is free; the one parameter is now. An earlier row that waits stands in the way, unless it
 * waits for its own `execute_at`, is of a draft and not there yet, or waits itself for the canary that row `i` belongs to.
 * A row that is under way or in doubt always does: a later one may have started before the earlier one became due or
 * visible.
 */
export const ORDER_IS_FREE = `(i.order_key IS NULL OR (
  NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state IN ('SENDING', 'IN_DOUBT'))
  AND NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND coalesce(e.execute_at, 0) <= ?
    AND EXISTS (SELECT 1 FROM batch eb WHERE eb.id = e.batch_id AND eb.stage = 'open'
      AND (e.batch_id <> i.batch_id OR ${withinCanary('e', 'eb')})))))`

/** Whether row `i` of batch `b` may be claimed before a person has looked at the first few. */
export const WITHIN_CANARY = withinCanary('i', 'b')

/**
 * Whether row `i` stands behind a row of its order that no machine will move: one in doubt, one of another batch that is
 * paused or needs its file, or one that a canary keeps back until a person has looked.
 */
export const IS_BLOCKED = `(i.order_key IS NOT NULL AND (
  EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'IN_DOUBT')
  OR EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND e.batch_id <> i.batch_id
    AND coalesce(e.execute_at, 0) <= unixepoch('subsec') * 1000
    AND EXISTS (SELECT 1 FROM batch eb WHERE eb.id = e.batch_id AND eb.stage = 'open'
      AND (eb.hold = 'paused' OR eb.needs_file = 1 OR NOT ${withinCanary('e', 'eb')})))))`

function withinCanary(row: 'i' | 'e', batch: 'b' | 'eb'): string {
  return `(${batch}.canary_rows IS NULL
    OR (${row}.row_no <= ${batch}.canary_row_no AND coalesce(${row}.execute_at, 0) <= ${batch}.canary_execute_at))`
}

/** What row `i` waits for because it is in doubt and names the same order, in words; NULL: nothing. */
export const DOUBT_BEFORE = `CASE WHEN i.state = 'READY' AND i.order_key IS NOT NULL THEN (
  SELECT 'waits for ' || e.reference || ' (row ' || e.row_no || ' of batch ' || e.batch_id || '), which names the same order and is in doubt'
  ${OF_ITS_ORDER} AND e.state = 'IN_DOUBT' LIMIT 1) END`

/** Whether the row ended and a retry has taken its reference over. */
export const isSubmittedAgain = (row: 'd' | 'i') => `(${isLetGo(`${row}.`)})`

const isLetGo = (row: string) => `${row}holds_reference = 0 AND ${row}state IN ('FAILED', 'CANCELLED')`

export const SUBMITTED_AGAIN_INDEX = `
  CREATE INDEX instruction_submitted_again ON instruction (batch_id) WHERE ${isLetGo('')};
`

/**
 * To a duplicate row: row `p`, which it repeated when it came, and row `o`, which stands for that instruction now. They differ
 * where a retry has taken the reference over. An INVALID row never held its reference. To a row that was submitted again: `p` is
 * that row itself.
 */
export function originalOf(row: 'd' | 'i', join: 'JOIN' | 'LEFT JOIN'): string {
  return `${join} instruction p ON p.id = CASE WHEN ${isSubmittedAgain(row)} THEN ${row}.id ELSE ${row}.duplicate_of END ${join} instruction o ON o.id = CASE
    WHEN p.holds_reference = 1 OR p.state = 'INVALID' THEN p.id
    ELSE coalesce((SELECT h.id FROM instruction h
      WHERE h.account_id = p.account_id AND h.reference = p.reference AND h.holds_reference = 1), p.id) END`
}

/** The keys are those of the version that stored health first. */
interface StoredHealth {
  readonly sinceMs: number
  readonly why: string
  readonly troubles: number
  readonly openMost: number
  readonly restUntilMs: number | null
}

export function formatHealth({ failures, backoffUntilMs, ...rest }: GatewayHealth): string {
  return JSON.stringify({ ...rest, troubles: failures, restUntilMs: backoffUntilMs } satisfies StoredHealth)
}

export function parseHealth(text: string): GatewayHealth {
  const { troubles, restUntilMs, ...rest } = JSON.parse(text) as StoredHealth
  return { ...rest, failures: troubles, backoffUntilMs: restUntilMs }
}
