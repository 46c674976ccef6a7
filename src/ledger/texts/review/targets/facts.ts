// What all kinds of facts about a target have in common. Rows `d` are those of a draft, or the only one of a message.

import type { Operation } from '../../../../domain/instruction.ts'
import type { At, TargetFact } from '../../../rules/judge-target.ts'
import { OF_AN_ORDER, SALES } from '../../../rules/order-book.ts'
import { listOf } from '../../conditions.ts'
import { targetOf } from '../corrections.ts'
import { RUNS_AGAIN } from '../draft-rows.ts'
import { keepsCard } from '../reattempts.ts'

export interface FoundRow {
  readonly rowNo: number
  readonly line: number
  readonly operation: Operation
  readonly amountMinor: number | null
  readonly currency: string | null
  readonly orderKey: string | null
  readonly vaultId: string | null
  readonly beside: string | null
  readonly details: string | null
}

export interface FoundAt {
  readonly id: number | null
  readonly batchId: string | null
  readonly atRowNo: number
  readonly reference: string
}

export const ROW = `d.row_no AS "rowNo", d.line, d.operation, d.amount_minor AS "amountMinor", d.currency, d.order_key AS "orderKey",
      d.vault_id AS "vaultId", d.beside, coalesce(d.holder, d.details) AS details`
export const AT = 'i.id, i.batch_id AS "batchId", i.row_no AS "atRowNo", i.reference'

/** Of row `o` of the same file. */
export const AT_ABOVE =
  'CAST(NULL AS BIGINT) AS id, CAST(NULL AS TEXT) AS "batchId", o.row_no AS "atRowNo", o.reference'

/** One kind of fact. `rows`: which rows `d` are looked at; they have one of the `operations`, or any. */
export interface Kind<Found extends FoundRow = never> {
  readonly operations?: readonly Operation[]
  readonly rows: string
  /** Without this nothing is found, and no row is looked at. */
  readonly gate?: string
  /** Where what is looked through does not depend on the row: once for all of them. */
  readonly atOnce?: true
  readonly text: string
  readonly toFact: (found: readonly [Found, ...Found[]]) => TargetFact
}

export const IN_ACCOUNT = (row: string, account = ':account') => `${row}.account_id = ${account}`

/** The affinity of a bare column would keep SQLite from its index. */
export const ANSWERED = (row: string, operations: string, account?: string) =>
  `${IN_ACCOUNT(row, account)} AND ltrim(${row}.answered_order_id, '0') = (d.order_key || '') AND ${row}.answered_order_id IS NOT NULL
        AND ${row}.operation ${operations} AND ${row}.state = 'APPROVED'`
export const OF_SALES = `IN (${listOf(SALES)})`
export const OF_ORDER = `d.order_key IS NOT NULL AND d.operation IN (${listOf(OF_AN_ORDER)})`
export const IS_NEW = `NOT (${RUNS_AGAIN})`

export const ANY_AUTHORIZED = `SELECT 1 FROM instruction WHERE account_id = :account AND operation = 'AUTH' LIMIT 1`

export const SAME_XTL = (row: string) =>
  `${row}.account_id = :account AND ltrim(${row}.xtl_order_id, '0') = (ltrim(d.xtl_order_id, '0') || '') AND ${row}.xtl_order_id IS NOT NULL`

/** An authorization looks like a sale of the same, but for the word in front. */
export const KEPT = `instruction c WHERE c.account_id = :account AND ${keepsCard('c.')} AND c.state = 'APPROVED'`

export const OF_VAULT_ID = (row: 'c' | 'r' | 'i', other: 'd' | 'o' | 'a' = 'd') =>
  `${row}.account_id = :account AND ${targetOf(row)} = (' ' || ltrim(${other}.vault_id, '0') || ' ') AND ${row}.order_key IS NULL AND ${row}.lookalike IS NOT NULL`

export function atOf({ id, batchId, atRowNo: rowNo, reference }: FoundAt): At {
  return { id, batchId, rowNo, reference }
}
