// What is recorded of the sales and refunds of an order, and the refunds of a draft or a message held against it. What is too
// much, and what is asked about, stands in `rules/refunding.ts`; the statements over a whole draft say the same as sets.

import type { DatabaseSync } from 'node:sqlite'
import type { DraftHeader } from '../../domain/draft.ts'
import type { AccountId } from '../../domain/ids.ts'
import {
  amountText,
  faultBeyondSale,
  isBeyondSale,
  REFUND_COUNTS_IN,
  type Refund,
  type Refunded,
  type RefundOfSale,
  refundedBefore,
  SALE_OF_ITS_ORDER,
  SALES,
  type Sale,
  type SalePlace,
} from '../rules/refunding.ts'
import { findRow, findRows, listOf } from './found.ts'

/**
 * Sales of an order, as the record knows them: approved, with the amount and currency asked for. Where an answer differed about
 * money, the sale is not known after all.
 */
const SALES_OF = (account: string, key: string) => `
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = ${account} AND ltrim(answered_order_id, '0') = ${key} AND answered_order_id IS NOT NULL
    AND operation IN (${listOf(SALES)}) AND state = 'APPROVED'
  UNION
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = ${account} AND order_key = ${key} AND order_key IS NOT NULL AND operation = '${SALE_OF_ITS_ORDER}' AND state = 'APPROVED'`

/**
 * `sum` throws beyond 64 bits, and then an order with thousands of enormous rows would fail every query for it. This is
 * exact up to 2^53. Beyond that a sale counts as not known, so that no known one is compared with a sum that is rounded.
 */
const SUM = 'CAST(total(amount_minor) AS INTEGER)'

const IS_ONE_SALE = `max(money_warning) = 0 AND min(currency) = max(currency) AND ${SUM} <= ${Number.MAX_SAFE_INTEGER}`

/** Refunds of the order that count. Those of a draft are none. */
const REFUNDS = (account: string, key: string) => `
  SELECT r.id, r.amount_minor, r.currency FROM instruction r JOIN batch b ON b.id = r.batch_id
  WHERE r.account_id = ${account} AND r.order_key = ${key} AND r.order_key IS NOT NULL AND r.operation = 'REFUND'
    AND (r.state IN (${listOf(REFUND_COUNTS_IN)}) OR r.money_warning = 1) AND b.stage = 'open'`

/** What was declared; null where refunds of one order were declared in several. The gateway uses the order's for all. */
const ONE_CURRENCY = 'CASE WHEN min(currency) = max(currency) THEN min(currency) END'

const TABLES = `
  DROP TABLE IF EXISTS temp.draft_order;
  DROP TABLE IF EXISTS temp.draft_repeat;
  CREATE TEMP TABLE draft_order (
    order_key TEXT PRIMARY KEY, refunds INTEGER, sold_minor INTEGER, sold_currency TEXT, sale_row INTEGER,
    refunded_minor INTEGER, refunded_currency TEXT, refund_row INTEGER) WITHOUT ROWID;
  CREATE TEMP TABLE draft_repeat (
    row_no INTEGER PRIMARY KEY, before_minor INTEGER, before_currency TEXT, before_row INTEGER, recorded_row INTEGER);`

const BEYOND = `
    SELECT * FROM (
      SELECT d.row_no AS rowNo, d.line, d.amount_minor AS askedMinor, d.currency, o.order_key AS orderId,
        CAST(coalesce(o.refunded_minor, 0) + sum(d.amount_minor) OVER (PARTITION BY d.order_key ORDER BY d.row_no) AS INTEGER) AS refundedMinor,
        o.sold_minor AS soldMinor, o.sold_currency AS soldCurrency, i.batch_id AS batchId, i.row_no AS saleRowNo
      FROM temp.draft_row d JOIN temp.draft_order o ON o.order_key = d.order_key JOIN instruction i ON i.id = o.sale_row
      WHERE d.state = 'READY' AND d.operation = 'REFUND')
    WHERE currency <> soldCurrency OR refundedMinor > soldMinor ORDER BY rowNo`

/** Gathers what is recorded of the orders that the draft refunds, and makes every refund beyond a known sale a fault. */
export function meetRefunds(db: DatabaseSync, { accountId }: DraftHeader): void {
  gatherOrders(db, accountId)
  const beyond = db.prepare(BEYOND)
  beyond.setReadBigInts(true)
  const fault = db.prepare('INSERT INTO temp.draft_fault VALUES (?, ?, ?, ?, ?, ?)')
  for (const row of findRows<RefundOfSale & { rowNo: bigint; line: bigint; askedMinor: bigint }>(beyond)) {
    const { column, problem, remedy } = faultBeyondSale(row)
    const value = column === 'amount' ? amountText(row.askedMinor, row.currency) : row.currency
    fault.run(row.rowNo, row.line, column, value, problem, remedy)
  }
}

function gatherOrders(db: DatabaseSync, accountId: AccountId): void {
  db.exec(TABLES)
  const account = Number(accountId)
  db.exec(`
    INSERT INTO temp.draft_order (order_key, refunds)
    SELECT order_key, count(*) FROM temp.draft_row WHERE state = 'READY' AND operation = 'REFUND' AND order_key IS NOT NULL
    GROUP BY order_key`)
  db.prepare(`
    UPDATE temp.draft_order AS o SET (sold_minor, sold_currency, sale_row) = (
      SELECT ${SUM}, min(currency), min(id) FROM (${SALES_OF('?1', 'o.order_key')}) HAVING ${IS_ONE_SALE})`).run(
    account,
  )
  db.prepare(`
    UPDATE temp.draft_order AS o SET (refunded_minor, refunded_currency, refund_row) = (
      SELECT ${SUM}, ${ONE_CURRENCY}, max(id) FROM (${REFUNDS('?1', 'o.order_key')}))`).run(account)
}

/**
 * Rows that repeat or exceed all refunds so far of an order whose sale is unknown, or name another currency: an order has
 * one, in which the gateway refunds whatever was declared. Earlier rows of the file count like recorded ones.
 */
const REPEATS = `
  INSERT INTO temp.draft_repeat
  SELECT row_no, before_minor, before_currency, before_row, refund_row FROM (
    SELECT d.row_no, d.amount_minor, d.currency, o.refund_row, lag(d.row_no) OVER of_order AS before_row,
      CAST(coalesce(o.refunded_minor, 0) + coalesce(sum(d.amount_minor) OVER earlier, 0) AS INTEGER) AS before_minor,
      CASE
        WHEN min(d.currency) OVER earlier IS NULL THEN o.refunded_currency
        WHEN min(d.currency) OVER earlier = max(d.currency) OVER earlier
          AND (o.refund_row IS NULL OR o.refunded_currency = min(d.currency) OVER earlier) THEN min(d.currency) OVER earlier
      END AS before_currency
    FROM temp.draft_row d JOIN temp.draft_order o ON o.order_key = d.order_key
    WHERE d.state = 'READY' AND d.operation = 'REFUND' AND o.sold_minor IS NULL AND (o.refunds > 1 OR o.refund_row IS NOT NULL)
    WINDOW of_order AS (PARTITION BY d.order_key ORDER BY d.row_no),
      earlier AS (of_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
  WHERE (before_row IS NOT NULL OR refund_row IS NOT NULL)
    AND (currency IS NOT before_currency OR amount_minor >= before_minor)`

/** For look-alikes, of rows that are like no single one: the refund before it, of the file or recorded. */
export function markRepeats(db: DatabaseSync): void {
  db.exec(REPEATS)
  db.exec(`
    UPDATE temp.draft_row AS d SET like_row = r.before_row, like_recorded = r.recorded_row
    FROM temp.draft_repeat r WHERE r.row_no = d.row_no AND d.like_row IS NULL AND d.like_recorded IS NULL`)
}

/** Once more, after refunds have arrived that the review did not see: whether it would still say the same. */
export function stillFits(db: DatabaseSync, { accountId }: DraftHeader): boolean {
  gatherOrders(db, accountId)
  db.exec(REPEATS)
  const asked = db.prepare(`
    SELECT 1 FROM temp.draft_repeat r JOIN temp.draft_row d ON d.row_no = r.row_no
    WHERE d.like_row IS NULL AND d.like_recorded IS NULL LIMIT 1`)
  return db.prepare(BEYOND).get() === undefined && asked.get() === undefined
}

/** The same for refunds that come one by one. null: nothing speaks against it. */
export interface RefundCheck {
  beyondSale(accountId: AccountId, refund: Refund): string | null
  refundedBefore(accountId: AccountId, refund: Refund): string | null
}

export function openRefundCheck(db: DatabaseSync): RefundCheck {
  const sold = db.prepare(`
    SELECT ${SUM} AS soldMinor, min(currency) AS soldCurrency, min(id) AS saleRow FROM (${SALES_OF('?1', '?2')})
    HAVING ${IS_ONE_SALE}`)
  const refunded = db.prepare(`
    SELECT ${SUM} AS refundedMinor, ${ONE_CURRENCY} AS currency FROM (${REFUNDS('?1', '?2')})`)
  const rowOf = db.prepare('SELECT batch_id AS batchId, row_no AS saleRowNo FROM instruction WHERE id = ?')
  for (const statement of [sold, refunded]) statement.setReadBigInts(true)
  const soldOf = (accountId: AccountId, key: string) => findRow<Sale & { saleRow: bigint }>(sold, accountId, key)
  const refundedOf = (accountId: AccountId, key: string) => findRow<Refunded>(refunded, accountId, key)!

  return {
    beyondSale(accountId, { orderKey, amountMinor, currency }) {
      const sale = soldOf(accountId, orderKey)
      if (sale === undefined) return null
      const refundedMinor = refundedOf(accountId, orderKey).refundedMinor + amountMinor
      const refund = { ...sale, orderId: orderKey, refundedMinor, currency }
      if (!isBeyondSale(refund)) return null
      return faultBeyondSale({ ...refund, ...findRow<SalePlace>(rowOf, sale.saleRow)! }).problem
    },
    refundedBefore(accountId, refund) {
      const isSold = soldOf(accountId, refund.orderKey) !== undefined
      return isSold ? null : refundedBefore(refund, refundedOf(accountId, refund.orderKey))
    },
  }
}
