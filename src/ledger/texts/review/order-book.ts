// The order book of a draft and of a message: what is recorded of each order is fetched here, and `rules/order-book.ts` says what it means.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { AccountId } from '../../../domain/ids.ts'
import type { State } from '../../../domain/states.ts'
import {
  amountText,
  judgeOrder,
  NOTHING_DONE,
  OF_AN_ORDER,
  type OfOrder,
  ORDER_COUNTS_IN,
  ORDER_MOVED_IN,
  type Order,
  type OrderFault,
  type OrderQuestion,
  type OrderRules,
  type OrderVerdict,
  type Place,
  SALES,
  type Sum,
  withRow,
} from '../../rules/order-book.ts'
import { isAnyRecorded, listOf } from '../conditions.ts'
import { all, allExact, change, oneExact, type Script } from '../script.ts'
import { DRAFT_FAULT } from './draft-rows.ts'

/** Exact up to 2^53. */
export const ROUGH_SUM = roughSum('')

function roughSum(filter: string): string {
  return `coalesce(sum(CAST(amount_minor AS DOUBLE PRECISION))${filter}, 0)`
}

const LARGEST = '9223372036854775807'

/** A sum of whole numbers fails beyond 64 bits, and then an order with thousands of enormous rows would fail every query for it. Exact up to 2^53. */
function sumOf(filter: string): string {
  const rough = roughSum(filter)
  return `CASE WHEN ${rough} < ${LARGEST}.0 THEN CAST(${rough} AS BIGINT) ELSE ${LARGEST} END`
}

/** Amount, currency and row of all such rows together. NULL as currency: of several; as row: there is none. */
function sumOfThose(done: 'captured' | 'open' | 'refunded' | 'voided', condition: string): string {
  const filter = ` FILTER (WHERE ${condition})`
  const currency = `CASE WHEN min(currency)${filter} = max(currency)${filter} THEN min(currency)${filter} END`
  return `${sumOf(filter)} AS ${done}_minor, ${currency} AS ${done}_currency, max(id)${filter} AS ${done}_row`
}

/** Rows that name the order and count. Those of a draft do not. `key`: an expression. */
const NAMED = (key: string, states: readonly State[], but: string) => `(
  SELECT r.id, r.operation, r.state, r.amount_minor, r.currency, r.money_warning FROM instruction r JOIN batch b ON b.id = r.batch_id
  WHERE r.account_id = :account AND r.order_key = ${key} AND r.order_key IS NOT NULL AND r.operation IN (${listOf(OF_AN_ORDER)})
    AND (r.state IN (${listOf(states)}) OR r.money_warning = 1) AND b.stage = 'open'${but}) AS named`

/** How much it moved, if anything, is not known. */
const IS_UNSURE = "(state = 'IN_DOUBT' OR money_warning = 1)"

/** What of the order was captured, refunded and voided. */
const DONE = (key: string, states = ORDER_COUNTS_IN, but = '') => `
  SELECT ${sumOfThose('captured', "operation = 'CAUTH'")}, ${sumOfThose('open', "operation = 'CAUTH' AND state <> 'APPROVED'")},
    ${sumOfThose('refunded', "operation = 'REFUND'")}, ${sumOfThose('voided', "operation = 'CANCEL'")},
    max(id) FILTER (WHERE operation = 'CANCEL' AND (amount_minor IS NULL OR money_warning = 1)) AS whole_void,
    max(id) FILTER (WHERE operation = 'CAUTH' AND ${IS_UNSURE}) AS unsure_capture,
    max(id) FILTER (WHERE operation = 'REFUND' AND ${IS_UNSURE}) AS unsure_refund FROM ${NAMED(key, states, but)}`

/** `key`: an expression; the affinity of a bare column would keep SQLite from its index. */
const ANSWERED = (key: string, operations: string) => `
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = :account AND ltrim(answered_order_id, '0') = ${key} AND answered_order_id IS NOT NULL
    AND operation ${operations} AND state = 'APPROVED'`

/** As the record knows it: approved, with the amount and currency asked for. Where an answer differed about money, it is not known after all. */
const IS_EXACT = `max(money_warning) = 0 AND min(currency) = max(currency) AND ${ROUGH_SUM} <= ${Number.MAX_SAFE_INTEGER}`

const KNOWN = (done: 'authorized' | 'sold', rows: string) => `
  SELECT CASE WHEN ${IS_EXACT} THEN ${sumOf('')} END AS ${done}_minor, CASE WHEN ${IS_EXACT} THEN min(currency) END AS ${done}_currency,
    CASE WHEN ${IS_EXACT} THEN min(id) END AS ${done}_row, CASE WHEN count(*) > 0 AND NOT (${IS_EXACT}) THEN coalesce(max(CASE money_warning WHEN 1 THEN id END), 0) END AS ${done}_unsure
  FROM (${rows}) AS known`

const AUTHORIZED = (key: string) => KNOWN('authorized', ANSWERED(key, "= 'AUTH'"))

/** A capture names the order of its authorization, and may be answered with another one. */
const SOLD = (key: string) =>
  KNOWN(
    'sold',
    `${ANSWERED(key, `IN (${listOf(SALES)})`)}
  UNION
  SELECT id, amount_minor, currency, money_warning FROM instruction
  WHERE account_id = :account AND order_key = ${key} AND order_key IS NOT NULL AND operation = 'CAUTH' AND state = 'APPROVED'`,
  )

const COLUMNS = {
  authorized: 'authorized_minor, authorized_currency, authorized_row, authorized_unsure',
  sold: 'sold_minor, sold_currency, sold_row, sold_unsure',
  done: 'captured_minor, captured_currency, captured_row, open_minor, open_currency, open_row, refunded_minor, refunded_currency, refunded_row, voided_minor, voided_currency, voided_row, whole_void, unsure_capture, unsure_refund',
} as const

type Sums = 'authorized' | 'sold' | 'captured' | 'open' | 'refunded' | 'voided'

/** What is recorded of an order, in columns. */
type Recorded = { readonly order_key: string } & Readonly<
  Record<`${Sums}_minor` | `${Sums}_row` | 'whole_void' | 'unsure_capture' | 'unsure_refund', bigint | null> &
    Record<`${Sums}_currency`, string | null> &
    /** The row whose answer differed about money; 0: what is recorded is no exact sum all the same. */
    Record<'authorized_unsure' | 'sold_unsure', bigint | null>
>

type PlaceOf = (row: bigint) => Place

function orderFrom(recorded: Recorded, placeOf: PlaceOf): Order {
  const placed = (...rows: (bigint | null)[]) => rows.flatMap((row) => (row ? [placeOf(row)] : []))[0] ?? null
  const sum = (amountMinor: bigint | null, currency: string | null, row: bigint | null): Sum | null =>
    row === null ? null : { amountMinor: amountMinor ?? 0n, currency, at: placeOf(row) }
  const voided = sum(recorded.voided_minor, recorded.voided_currency, recorded.voided_row)
  return {
    orderId: recorded.order_key,
    authorized: sum(recorded.authorized_minor, recorded.authorized_currency, recorded.authorized_row),
    isAuthorizationUnsure: recorded.authorized_unsure !== null,
    sold: sum(recorded.sold_minor, recorded.sold_currency, recorded.sold_row),
    isSaleUnsure: recorded.sold_unsure !== null,
    recorded: {
      captured: sum(recorded.captured_minor, recorded.captured_currency, recorded.captured_row),
      open: sum(recorded.open_minor, recorded.open_currency, recorded.open_row),
      refunded: sum(recorded.refunded_minor, recorded.refunded_currency, recorded.refunded_row),
      voided: voided === null ? null : { ...voided, isWhole: recorded.whole_void !== null },
    },
    unsure: {
      CAUTH: placed(recorded.unsure_capture, recorded.authorized_unsure),
      REFUND: placed(recorded.unsure_refund, recorded.sold_unsure),
    },
    inFile: NOTHING_DONE,
  }
}

/** Where rows are recorded is read for those alone that are wrong, and say it: most rows fit. Until then their ids stand for it. */
const UNREAD: PlaceOf = (row) => ({ batchId: '', rowNo: Number(row) })

function* placesOf(recorded: Recorded): Script<PlaceOf> {
  const columns = Object.entries(recorded).filter(([column]) => /_row$|_unsure$|^unsure_/.test(column))
  const ids = columns.flatMap(([, id]) => (id === null ? [] : [Number(id)]))
  const found = yield* all<{ id: number } & Place>(
    `
    SELECT id, batch_id AS "batchId", row_no AS "rowNo" FROM instruction
    WHERE id IN (SELECT CAST(e.value AS BIGINT) FROM json_each(:ids) e)`,
    { ids: JSON.stringify(ids) },
  )
  const places = new Map(found.map(({ id, batchId, rowNo }) => [id, { batchId, rowNo }]))
  return (row) => places.get(Number(row))!
}

function* judge(recorded: Recorded, inFile: Order['inFile'], row: OfOrder, rules: OrderRules): Script<OrderVerdict> {
  const verdict = judgeOrder({ ...orderFrom(recorded, UNREAD), inFile }, row, rules)
  if (verdict === 'fits' || verdict.kind === 'asked') return verdict
  return judgeOrder({ ...orderFrom(recorded, yield* placesOf(recorded)), inFile }, row, rules)
}

// A draft

type Drafted = Recorded &
  OfOrder & {
    readonly rowNo: bigint
    readonly line: bigint
    /** A person is asked about it already: 0 or 1. */
    readonly isAsked: bigint | number
  }

/** Whole numbers are read as objects here, and many of them at once stay in memory. */
const ROWS_PER_PAGE = 200

const PAGE = `
    SELECT d.row_no AS "rowNo", d.line, d.operation, d.amount_minor AS "amountMinor", d.currency, o.*,
      CASE WHEN coalesce(d.like_row, d.like_recorded, d.changed_row) IS NULL THEN 0 ELSE 1 END AS "isAsked"
    FROM (SELECT order_key, row_no FROM draft_of_order WHERE (order_key, row_no) > (:key, :rowNo) ORDER BY order_key, row_no LIMIT ${ROWS_PER_PAGE}) AS q
      JOIN draft_order o ON o.order_key = q.order_key JOIN draft_row d ON d.row_no = q.row_no
    ORDER BY q.order_key, q.row_no`

interface Misfit {
  readonly row: Drafted
  readonly verdict: OrderFault | OrderQuestion
}

/** The row that was judged last, and what the file has done to its order until then. */
interface Judged {
  readonly key: string
  readonly rowNo: bigint
  readonly inFile: Order['inFile']
}

const NONE_YET: Judged = { key: '', rowNo: 0n, inFile: NOTHING_DONE }

/** The next rows that do not fit what is recorded and what the file has before them. A row that is wrong is not sent, and counts for none. */
function* nextMisfits(last: Judged, rules: OrderRules): Script<{ misfits: readonly Misfit[]; last: Judged | null }> {
  const misfits: Misfit[] = []
  const { key, rowNo } = last
  const rows = yield* allExact<Drafted>(PAGE, { key, rowNo })
  let judged = last
  for (const row of rows) {
    const inFile = row.order_key === judged.key ? judged.inFile : NOTHING_DONE
    const order = { ...orderFrom(row, UNREAD), inFile }
    const verdict = yield* judge(row, inFile, row, rules)
    if (verdict !== 'fits') misfits.push({ row, verdict })
    const counts = verdict === 'fits' || verdict.kind !== 'wrong'
    const { order_key, rowNo } = row
    judged = { key: order_key, rowNo, inFile: counts ? withRow(order, row, Number(rowNo)).inFile : inFile }
  }
  return { misfits, last: rows.length < ROWS_PER_PAGE ? null : judged }
}

/** Makes every row of the draft that contradicts what is recorded of its order a fault, and notes those that must be asked about. */
export function* meetOrders({ accountId, captureTolerance }: DraftHeader): Script<void> {
  yield* eachMisfit(accountId, { captureTolerance }, ({ row, verdict }) =>
    verdict.kind === 'wrong' ? noteFault(row, verdict) : noteQuestion(row, verdict),
  )
}

/** What `act` gives is done. Resolves to false as soon as it says so. */
function* eachMisfit(
  accountId: AccountId,
  rules: OrderRules,
  act: (misfit: Misfit) => Script<void> | boolean,
): Script<boolean> {
  yield* gatherOrders(accountId)
  for (let last: Judged | null = NONE_YET; last !== null; ) {
    const next: { misfits: readonly Misfit[]; last: Judged | null } = yield* nextMisfits(last, rules)
    for (const misfit of next.misfits) {
      const acting = act(misfit)
      if (acting === false) return false
      if (acting !== true) yield* acting
    }
    last = next.last
  }
  return true
}

function* noteFault(row: Drafted, { column, problem, remedy }: OrderFault): Script<void> {
  const { rowNo, line } = row
  yield* change(`INSERT INTO ${DRAFT_FAULT} VALUES (:rowNo, :line, :column, :value, :problem, :remedy)`, {
    ...{ rowNo, line, column, value: valueIn(row, column), problem, remedy },
  })
}

function valueIn({ amountMinor, currency, order_key: orderKey }: Drafted, column: OrderFault['column']): string | null {
  if (column === 'request_ref_po_id') return orderKey
  return column === 'request_currency' || amountMinor === null || currency === null
    ? currency
    : amountText(amountMinor, currency)
}

/** As much as a column holds. */
function atMost(amountMinor: bigint): bigint {
  return amountMinor < BigInt(LARGEST) ? amountMinor : BigInt(LARGEST)
}

function* noteQuestion({ rowNo }: Drafted, { why, before, at }: OrderQuestion): Script<void> {
  yield* change(
    `INSERT INTO draft_question (row_no, why, before_minor, before_currency, before_row, recorded_row)
    VALUES (:rowNo, :why, :beforeMinor, :currency, :beforeRow, :recordedRow)`,
    {
      ...{ rowNo, why, currency: before?.currency ?? null },
      beforeMinor: before === null ? null : atMost(before.amountMinor),
      ...(at.batchId === null
        ? { beforeRow: at.rowNo, recordedRow: null }
        : { beforeRow: null, recordedRow: at.rowNo }),
    },
  )
}

function* gatherOrders(account: AccountId): Script<void> {
  for (const table of ['draft_question', 'draft_of_order', 'draft_order']) yield* change(`DELETE FROM ${table}`)
  yield* change(`
    INSERT INTO draft_order (order_key, rows, captures)
    SELECT order_key, count(*), count(*) FILTER (WHERE operation = 'CAUTH') FROM draft_row
    WHERE state = 'READY' AND operation IN (${listOf(OF_AN_ORDER)}) AND order_key IS NOT NULL
    GROUP BY order_key`)
  if (yield* isAnyRecorded(account)) yield* gatherRecorded(account)
  yield* change(`
    INSERT INTO draft_of_order (order_key, row_no)
    SELECT d.order_key, d.row_no FROM draft_row d JOIN draft_order o ON o.order_key = d.order_key
    WHERE d.state = 'READY' AND d.operation IN (${listOf(OF_AN_ORDER)})
      AND (o.rows > 1 OR coalesce(o.authorized_row, o.authorized_unsure, o.sold_row, o.sold_unsure, o.captured_row, o.refunded_row, o.voided_row) IS NOT NULL)
    ORDER BY d.order_key, d.row_no`)
}

function* gatherRecorded(account: AccountId): Script<void> {
  const KEY = "(o.order_key || '')"
  yield* change(`UPDATE draft_order AS o SET (${COLUMNS.done}) = (${DONE('o.order_key')})`, { account })
  yield* change(`UPDATE draft_order AS o SET (${COLUMNS.authorized}) = (${AUTHORIZED(KEY)})`, { account })
  yield* change(
    `UPDATE draft_order AS o SET (${COLUMNS.sold}) = (${SOLD(KEY)}) WHERE rows > captures OR voided_row IS NOT NULL`,
    { account },
  )
}

/** For look-alikes: the row of their order that they are asked about with, of the file or recorded. A void goes before all else. */
export function* markQuestions(): Script<void> {
  yield* change(`
    UPDATE draft_row AS d SET like_row = q.before_row, like_recorded = q.recorded_row, changed_row = NULL
    FROM draft_question q WHERE EXISTS (SELECT 1 FROM draft_question) AND q.row_no = d.row_no AND d.state = 'READY'
      AND (q.why = 'beside-void' OR (d.like_row IS NULL AND d.like_recorded IS NULL AND d.changed_row IS NULL))`)
}

/** Once more, after rows of these orders have arrived that the review did not see: whether it would still say the same. */
export function* stillFits({ accountId, captureTolerance }: DraftHeader): Script<boolean> {
  return yield* eachMisfit(
    accountId,
    { captureTolerance },
    ({ row, verdict }) => verdict.kind === 'asked' && Number(row.isAsked) === 1,
  )
}

// One row

const OF_ONE = (states: readonly State[], but = '') => `
    SELECT :key AS order_key, a.*, s.*, n.*
    FROM (SELECT 1 AS one) AS x
      CROSS JOIN (${AUTHORIZED(':key')}) AS a
      CROSS JOIN (${SOLD(':key')}) AS s
      CROSS JOIN (${DONE(':key', states, but)}) AS n`

const [HANDED_IN, EXECUTED] = [OF_ONE(ORDER_COUNTS_IN), OF_ONE(ORDER_MOVED_IN)]
const OTHERS = OF_ONE(ORDER_MOVED_IN, ' AND r.id <> :rowId')

type SingleRow = OfOrder & { readonly orderKey: string }

/** What the record says of a message that names an order. */
export function orderVerdictOn(account: AccountId, row: SingleRow, rules: OrderRules): Script<OrderVerdict> {
  return verdictBy(HANDED_IN, account, row, rules)
}

/** What it says of a row that is recorded already and waits, of what was executed or may have been. */
export function executedVerdictOn(account: AccountId, row: SingleRow, rules: OrderRules): Script<OrderVerdict> {
  return verdictBy(EXECUTED, account, row, rules)
}

/** What was executed of an order, or may have been, but for one row. */
export function* orderWithout(account: AccountId, key: string, rowId: number): Script<Order> {
  return orderFrom((yield* oneExact<Recorded>(OTHERS, { account, key, rowId }))!, UNREAD)
}

function* verdictBy(
  text: string,
  account: AccountId,
  { orderKey: key, ...row }: SingleRow,
  rules: OrderRules,
): Script<OrderVerdict> {
  const recorded = (yield* oneExact<Recorded>(text, { account, key }))!
  const verdict = judgeOrder(orderFrom(recorded, UNREAD), row, rules)
  return verdict === 'fits' ? verdict : judgeOrder(orderFrom(recorded, yield* placesOf(recorded)), row, rules)
}
