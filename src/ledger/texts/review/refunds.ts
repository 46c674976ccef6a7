// What is recorded of the sales and refunds of an order, and the refunds of a draft or a message held against it. What is too
// much, and what is asked about, is in `rules/refunding.ts`; the texts over a whole draft apply the same rules to sets.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { AccountId } from '../../../domain/ids.ts'
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
} from '../../rules/refunding.ts'
import { isAnyRecorded, listOf } from '../conditions.ts'
import { allExact, change, exists, one, oneExact, type Script } from '../script.ts'
import { DRAFT_FAULT } from './draft-rows.ts'

/**
 * Sales of an order, as the record knows them: approved, with the amount and currency asked for. Where an answer differed about
 * money, the sale is not known after all. `key`: an expression; the affinity of a bare column would keep SQLite from its index.
 */
const SALES_OF = (key: string) => `(
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = :account AND ltrim(answered_order_id, '0') = ${key} AND answered_order_id IS NOT NULL
    AND operation IN (${listOf(SALES)}) AND state = 'APPROVED'
  UNION
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = :account AND order_key = ${key} AND order_key IS NOT NULL AND operation = '${SALE_OF_ITS_ORDER}' AND state = 'APPROVED') AS sales`

/** Exact up to 2^53. */
export const ROUGH_SUM = 'coalesce(sum(CAST(amount_minor AS DOUBLE PRECISION)), 0)'

const LARGEST = '9223372036854775807'

/**
 * A sum of whole numbers fails beyond 64 bits, and then an order with thousands of enormous rows would fail every query for it.
 * This is exact up to 2^53. Beyond that a sale counts as not known, so that no known one is compared with a sum that is rounded.
 */
const SUM = `CASE WHEN ${ROUGH_SUM} < ${LARGEST}.0 THEN CAST(${ROUGH_SUM} AS BIGINT) ELSE ${LARGEST} END`

const IS_ONE_SALE = `max(money_warning) = 0 AND min(currency) = max(currency) AND ${SUM} <= ${Number.MAX_SAFE_INTEGER}`

/** What is refunded of the order of a row with `addend` of this file; not beyond 64 bits either. */
const REFUNDED_WITH = (addend: string) => `CAST(CASE
        WHEN coalesce(o.refunded_minor, 0) > ${LARGEST} - ${addend} THEN ${LARGEST}
        ELSE coalesce(o.refunded_minor, 0) + ${addend} END AS BIGINT)`

/** Refunds of the order that count. Those of a draft are none. */
const REFUNDS = (key: string) => `(
  SELECT r.id, r.amount_minor, r.currency FROM instruction r JOIN batch b ON b.id = r.batch_id
  WHERE r.account_id = :account AND r.order_key = ${key} AND r.order_key IS NOT NULL AND r.operation = 'REFUND'
    AND (r.state IN (${listOf(REFUND_COUNTS_IN)}) OR r.money_warning = 1) AND b.stage = 'open') AS refunds`

/** What was declared; null where refunds of one order were declared in several. The gateway uses the order's for all. */
const ONE_CURRENCY = 'CASE WHEN min(currency) = max(currency) THEN min(currency) END'

const BEYOND = `
    SELECT * FROM (
      SELECT d.row_no AS "rowNo", d.line, d.amount_minor AS "askedMinor", d.currency, o.order_key AS "orderId",
        ${REFUNDED_WITH('sum(d.amount_minor) OVER (PARTITION BY d.order_key ORDER BY d.row_no)')} AS "refundedMinor",
        o.sold_minor AS "soldMinor", o.sold_currency AS "soldCurrency", i.batch_id AS "batchId", i.row_no AS "saleRowNo"
      FROM draft_row d JOIN draft_order o ON o.order_key = d.order_key JOIN instruction i ON i.id = o.sale_row
      WHERE d.state = 'READY' AND d.operation = 'REFUND') AS refunds
    WHERE currency <> "soldCurrency" OR "refundedMinor" > "soldMinor" ORDER BY "rowNo"`

type Beyond = RefundOfSale & { readonly rowNo: bigint; readonly line: bigint; readonly askedMinor: bigint }

/** Gathers what is recorded of the orders that the draft refunds, and makes every refund beyond a known sale a fault. */
export function* meetRefunds({ accountId }: DraftHeader): Script<void> {
  yield* gatherOrders(accountId)
  for (const row of yield* allExact<Beyond>(BEYOND)) {
    const { column, problem, remedy } = faultBeyondSale(row)
    const value = column === 'amount' ? amountText(row.askedMinor, row.currency) : row.currency
    const { rowNo, line } = row
    yield* change(`INSERT INTO ${DRAFT_FAULT} VALUES (:rowNo, :line, :column, :value, :problem, :remedy)`, {
      ...{ rowNo, line, column, value, problem, remedy },
    })
  }
}

function* gatherOrders(account: AccountId): Script<void> {
  yield* change('DELETE FROM draft_repeat')
  yield* change('DELETE FROM draft_order')
  yield* change(`
    INSERT INTO draft_order (order_key, refunds)
    SELECT order_key, count(*) FROM draft_row WHERE state = 'READY' AND operation = 'REFUND' AND order_key IS NOT NULL
    GROUP BY order_key`)
  if (!(yield* isAnyRecorded(account))) return
  yield* change(
    `
    UPDATE draft_order AS o SET (sold_minor, sold_currency, sale_row) = (
      SELECT ${SUM}, min(currency), min(id) FROM ${SALES_OF("(o.order_key || '')")} HAVING ${IS_ONE_SALE})`,
    { account },
  )
  yield* change(
    `
    UPDATE draft_order AS o SET (refunded_minor, refunded_currency, refund_row) = (
      SELECT ${SUM}, ${ONE_CURRENCY}, max(id) FROM ${REFUNDS('o.order_key')})`,
    { account },
  )
}

/**
 * Rows that repeat or exceed all refunds so far of an order whose sale is unknown, or name another currency: an order has
 * one, in which the gateway refunds whatever was declared. Earlier rows of the file count like recorded ones.
 */
const REPEATS = `
  INSERT INTO draft_repeat (row_no, before_minor, before_currency, before_row, recorded_row)
  SELECT row_no, before_minor, before_currency, before_row, refund_row FROM (
    SELECT d.row_no, d.amount_minor, d.currency, o.refund_row, lag(d.row_no) OVER of_order AS before_row,
      ${REFUNDED_WITH('coalesce(sum(d.amount_minor) OVER earlier, 0)')} AS before_minor,
      CASE
        WHEN min(d.currency) OVER earlier IS NULL THEN o.refunded_currency
        WHEN min(d.currency) OVER earlier = max(d.currency) OVER earlier
          AND (o.refund_row IS NULL OR o.refunded_currency = min(d.currency) OVER earlier) THEN min(d.currency) OVER earlier
      END AS before_currency
    FROM draft_row d JOIN draft_order o ON o.order_key = d.order_key
    WHERE EXISTS (SELECT 1 FROM draft_order WHERE refunds > 1 OR refund_row IS NOT NULL) AND d.state = 'READY' AND d.operation = 'REFUND' AND o.sold_minor IS NULL AND (o.refunds > 1 OR o.refund_row IS NOT NULL)
    WINDOW of_order AS (PARTITION BY d.order_key ORDER BY d.row_no),
      earlier AS (of_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS refunds
  WHERE (before_row IS NOT NULL OR refund_row IS NOT NULL)
    AND (currency IS DISTINCT FROM before_currency OR amount_minor >= before_minor)`

/** For look-alikes, of rows that are like no single one: the refund before it, of the file or recorded. */
export function* markRepeats(): Script<void> {
  yield* change(REPEATS)
  yield* change(`
    UPDATE draft_row AS d SET like_row = r.before_row, like_recorded = r.recorded_row
    FROM draft_repeat r WHERE EXISTS (SELECT 1 FROM draft_repeat) AND r.row_no = d.row_no AND d.like_row IS NULL AND d.like_recorded IS NULL AND d.changed_row IS NULL`)
}

/** Once more, after refunds have arrived that the review did not see: whether it would still say the same. */
export function* stillFits({ accountId }: DraftHeader): Script<boolean> {
  yield* gatherOrders(accountId)
  yield* change(REPEATS)
  if (yield* exists(`${BEYOND} LIMIT 1`)) return false
  const isAsked = yield* exists(`
    SELECT 1 FROM draft_repeat r JOIN draft_row d ON d.row_no = r.row_no
    WHERE d.like_row IS NULL AND d.like_recorded IS NULL AND d.changed_row IS NULL LIMIT 1`)
  return !isAsked
}

const SALE = `
  SELECT ${SUM} AS "soldMinor", min(currency) AS "soldCurrency", min(id) AS "saleRow" FROM ${SALES_OF(':key')}
  HAVING ${IS_ONE_SALE}`

const REFUNDED = `SELECT ${SUM} AS "refundedMinor", ${ONE_CURRENCY} AS currency FROM ${REFUNDS(':key')}`

function* soldOf(account: AccountId, key: string): Script<(Sale & { readonly saleRow: bigint }) | undefined> {
  return yield* oneExact(SALE, { account, key })
}

function* refundedOf(account: AccountId, key: string): Script<Refunded> {
  return (yield* oneExact<Refunded>(REFUNDED, { account, key }))!
}

/** The same for a single message: why it is beyond the sale of its order. null: nothing speaks against it. */
export function* refundBeyondSale(accountId: AccountId, refund: Refund): Script<string | null> {
  const { orderKey, amountMinor, currency } = refund
  const sale = yield* soldOf(accountId, orderKey)
  if (sale === undefined) return null
  const refundedMinor = (yield* refundedOf(accountId, orderKey)).refundedMinor + amountMinor
  const asked = { ...sale, orderId: orderKey, refundedMinor, currency }
  if (!isBeyondSale(asked)) return null
  const { saleRow } = sale
  const place = yield* one<SalePlace>(
    'SELECT batch_id AS "batchId", row_no AS "saleRowNo" FROM instruction WHERE id = :saleRow',
    { saleRow },
  )
  return faultBeyondSale({ ...asked, ...place! }).problem
}

/** And why it must be asked about, where the sale of its order is not recorded. */
export function* refundsBefore(accountId: AccountId, refund: Refund): Script<string | null> {
  const isSold = (yield* soldOf(accountId, refund.orderKey)) !== undefined
  return isSold ? null : refundedBefore(refund, yield* refundedOf(accountId, refund.orderKey))
}
