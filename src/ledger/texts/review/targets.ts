// What is recorded of the targets of a draft, or of a message, is fetched here, and `rules/judge-target.ts` says what it means. One text
// serves both: of a draft it reads some of its rows at a time, of a message its only one.

import type { DraftHeader } from '../../../domain/draft.ts'
import type { AccountId } from '../../../domain/ids.ts'
import { type Beside, type Operation, plainId } from '../../../domain/instruction.ts'
import { MERCHANT_DEFAULTS } from '../../../domain/merchant.ts'
import { isMonthFar, runSpokenOf } from '../../../domain/run-key.ts'
import { LONG_AGO_MS } from '../../../domain/submission.ts'
import {
  type At,
  isMostlyElsewhere,
  judgeTarget,
  type KnownSale,
  LARGE_TIMES,
  type TargetFact,
  type TargetFault,
  type TargetQuestion,
  type TargetRow,
  type TargetRules,
  type TargetVerdict,
} from '../../rules/judge-target.ts'
import type { OddNeighbour } from '../../rules/neighbours.ts'
import { OF_AN_ORDER, ORDER_COUNTS_IN, SALES } from '../../rules/order-book.ts'
import { IS_VISIBLE, isAnyRecorded, listOf } from '../conditions.ts'
import type { InstructionColumns } from '../instruction-columns.ts'
import { all, change, count, exists, one, type Script, type Values } from '../script.ts'
import { targetOf } from './corrections.ts'
import { DRAFT_FAULT, IS_LIKE, RUNS_AGAIN } from './draft-rows.ts'
import { besideText, holderText } from './draft-values.ts'
import { COUNTING, EARLIER_ATTEMPT, lookalikeSince, OTHER_RUN_KEY, STILL_COUNTS } from './lookalikes.ts'
import { keepsCard, STORED_UNDER } from './reattempts.ts'

interface FoundRow {
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

interface FoundAt {
  readonly id: number
  readonly batchId: string
  readonly atRowNo: number
  readonly reference: string
}

const ROW = `d.row_no AS "rowNo", d.line, d.operation, d.amount_minor AS "amountMinor", d.currency, d.order_key AS "orderKey",
      d.vault_id AS "vaultId", d.beside, coalesce(d.holder, d.details) AS details`
const AT = 'i.id, i.batch_id AS "batchId", i.row_no AS "atRowNo", i.reference'

/** One kind of fact. `rows`: which rows `d` are looked at; they have one of the `operations`, or any. */
interface Kind<Found extends FoundRow = never> {
  readonly operations?: readonly Operation[]
  readonly rows: string
  /** Without this nothing is found, and no row is looked at. */
  readonly gate?: string
  /** Where what is looked through does not depend on the row: once for all of them. */
  readonly atOnce?: true
  readonly text: string
  readonly toFact: (found: readonly [Found, ...Found[]]) => TargetFact
}

const IN_ACCOUNT = (row: string, account = ':account') => `${row}.account_id = ${account}`

/** The affinity of a bare column would keep SQLite from its index. */
const ANSWERED = (row: string, operations: string, account?: string) =>
  `${IN_ACCOUNT(row, account)} AND ltrim(${row}.answered_order_id, '0') = (d.order_key || '') AND ${row}.answered_order_id IS NOT NULL
        AND ${row}.operation ${operations} AND ${row}.state = 'APPROVED'`
const OF_SALES = `IN (${listOf(SALES)})`
const OF_ORDER = `d.order_key IS NOT NULL AND d.operation IN (${listOf(OF_AN_ORDER)})`
const IS_NEW = `NOT (${RUNS_AGAIN})`

interface FoundSale extends FoundRow, FoundAt {
  readonly saleOperation: Operation
  readonly saleVaultId: string | null
  readonly storedVaultId: string | null
  readonly saleCard: string | null
  readonly saleXtl: string | null
  readonly saleMinor: number | null
  readonly saleCurrency: string
}

/** As `besideText` writes it, where nothing but these is said. */
const SAID = (vaultId: string, xtlOrderId: string) => `'[' || ${vaultId} || ',null,' || ${xtlOrderId} || ']'`
const OWN_VAULT = `'"' || ltrim(s.vault_id, '0') || '"'`
const OWN_XTL = `'"' || ltrim(s.xtl_order_id, '0') || '"'`
const NULL = "'null'"

/** Most rows say what is recorded: they are told from the others here, because reading them would take longer than all else. */
const SAYS_SAME = (operations: string) => `EXISTS (
      SELECT 1 FROM instruction s WHERE ${ANSWERED('s', operations)}
        AND d.beside IN (${SAID(OWN_VAULT, NULL)}, ${SAID(NULL, OWN_XTL)}, ${SAID(OWN_VAULT, OWN_XTL)}))`

const KNOWN = (isOfOrder: string, besides: string) => `
    SELECT ${ROW}, ${AT}, i.operation AS "saleOperation", i.vault_id AS "saleVaultId", i.answered_vault_id AS "storedVaultId", i.card AS "saleCard",
      i.xtl_order_id AS "saleXtl", CASE WHEN i.money_warning = 0 THEN i.amount_minor END AS "saleMinor", i.currency AS "saleCurrency"
    FROM @rows d JOIN instruction i ON ${isOfOrder}
    WHERE d.operation = 'CANCEL'${besides}`
const SALE = (operations: string) => KNOWN(ANSWERED('i', operations), ` OR NOT ${SAYS_SAME(operations)}`)
const VOID = KNOWN(
  `${IN_ACCOUNT('i')} AND i.order_key = d.order_key AND i.order_key IS NOT NULL AND i.operation = 'CANCEL' AND i.state = 'APPROVED'
        AND i.amount_minor IS NOT NULL`,
  '',
)

const OF_SALE: Kind<FoundSale> = {
  operations: OF_AN_ORDER,
  rows: `${OF_ORDER} AND (d.beside IS NOT NULL OR (d.operation = 'CANCEL' AND ${IS_NEW}))`,
  text: `${SALE(OF_SALES)} UNION ALL ${SALE("= 'AUTH'")} UNION ALL ${VOID} ORDER BY 1, id`,
  toFact: (found) => ({ of: 'sales', sales: found.map(toSale) }),
}

/** What this program made of a reference is nothing that anybody said. */
const MADE_XTL = /^T[A-Z2-7]{19}$/

function toSale(found: FoundSale): KnownSale {
  const { saleOperation, saleVaultId, storedVaultId, saleCard, saleXtl, saleMinor, saleCurrency } = found
  return {
    ...{ operation: saleOperation, at: atOf(found), currency: saleCurrency },
    known: {
      vaultId: [saleVaultId, storedVaultId].flatMap((id) => (id === null ? [] : [plainId(id)])),
      card: saleCard?.split('-').slice(1, 2) ?? [],
      xtlOrderId: saleXtl === null || MADE_XTL.test(saleXtl) ? [] : [plainId(saleXtl)],
    },
    amountMinor: saleMinor === null ? null : BigInt(saleMinor),
  }
}

type FoundOrder = FoundRow & FoundAt & { readonly otherOrder: string }

/** Rows of an order that is known here only as something else. */
const known = (as: string): Pick<Kind<FoundOrder>, 'rows' | 'text'> => ({
  rows: OF_ORDER,
  text: `
    SELECT ${ROW}, ${AT}, ltrim(i.answered_order_id, '0') AS "otherOrder"
    FROM @rows d JOIN instruction i ON i.account_id = :account AND ${as}
    WHERE i.answered_order_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', OF_SALES)})
      AND NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', "= 'AUTH'")})
      AND NOT EXISTS (SELECT 1 FROM instruction n WHERE n.account_id = :account AND n.order_key = d.order_key AND n.order_key IS NOT NULL AND n.state = 'APPROVED')`,
})

const OF_TRANSACTION: Kind<FoundOrder> = {
  operations: OF_AN_ORDER,
  ...known(`ltrim(i.transaction_id, '0') = (d.order_key || '') AND i.transaction_id IS NOT NULL
      AND ltrim(i.answered_order_id, '0') <> d.order_key AND ltrim(coalesce(i.answered_record_id, ''), '0') <> d.order_key`),
  toFact: ([found]) => ({ of: 'transaction', orderId: found.otherOrder, at: atOf(found) }),
}

const OF_OWN_NUMBER: Kind<FoundOrder> = {
  operations: OF_AN_ORDER,
  ...known(`ltrim(i.xtl_order_id, '0') = (d.order_key || '') AND i.xtl_order_id IS NOT NULL AND i.state = 'APPROVED'
      AND i.operation IN ('AUTH', ${listOf(SALES)}) AND ltrim(i.answered_order_id, '0') <> d.order_key`),
  toFact: ([found]) => ({ of: 'own-number', orderId: found.otherOrder, at: atOf(found) }),
}

/**
 * What was in doubt may have been sold, whatever was said of it since. The order of a declined capture (CAUTH) was authorized, and may have
 * been captured elsewhere.
 */
const OF_DECLINED: Kind<FoundOrder> = {
  operations: ['REFUND'],
  ...known(`ltrim(i.answered_order_id, '0') = (d.order_key || '') AND i.state = 'DECLINED'
      AND i.operation IN ('AUTH', 'CAPTURE') AND i.ever_in_doubt = 0 AND i.money_warning = 0
      AND NOT EXISTS (
        SELECT 1 FROM instruction n JOIN batch p ON p.id = n.batch_id
        WHERE n.account_id = :account AND n.order_key = d.order_key AND n.order_key IS NOT NULL AND p.stage = 'open'
          AND (n.state IN (${listOf(ORDER_COUNTS_IN)}) OR n.money_warning = 1))`),
  toFact: ([found]) => ({ of: 'declined', at: atOf(found) }),
}

const ANY_AUTHORIZED = `SELECT 1 FROM instruction WHERE account_id = :account AND operation = 'AUTH' LIMIT 1`

const SAME_XTL = (row: string) =>
  `${row}.account_id = :account AND ltrim(${row}.xtl_order_id, '0') = (ltrim(d.xtl_order_id, '0') || '') AND ${row}.xtl_order_id IS NOT NULL`

const OF_XTL: Kind<FoundRow & FoundAt & { readonly otherOrder: string; readonly xtl: string }> = {
  operations: ['CAUTH'],
  rows: "d.operation = 'CAUTH' AND d.order_key IS NOT NULL AND d.xtl_order_id IS NOT NULL",
  gate: ANY_AUTHORIZED,
  text: `
    SELECT ${ROW}, ${AT}, ltrim(i.answered_order_id, '0') AS "otherOrder", i.xtl_order_id AS xtl
    FROM @rows d JOIN instruction i ON ${SAME_XTL('i')}
    WHERE i.operation = 'AUTH' AND i.state = 'APPROVED' AND ltrim(i.answered_order_id, '0') <> d.order_key`,
  toFact: ([found]) => ({ of: 'other-order', orderId: found.otherOrder, xtlOrderId: found.xtl, at: atOf(found) }),
}

/** Whether a row of that operation names the order of authorization `i`, and counts. */
const DONE_TO = (operation: 'CAUTH' | 'CANCEL') => `CASE WHEN EXISTS (
        SELECT 1 FROM instruction o JOIN batch p ON p.id = o.batch_id
        WHERE o.account_id = :account AND o.order_key = ltrim(i.answered_order_id, '0') AND o.order_key IS NOT NULL AND p.stage = 'open'
          AND o.operation = '${operation}' AND (o.state IN (${listOf(ORDER_COUNTS_IN)}) OR o.money_warning = 1)) THEN 1 ELSE 0 END`

interface FoundAuthorization extends FoundRow, FoundAt {
  readonly orderId: string | null
  readonly sentAtMs: number | null
  readonly isEqual: number
  readonly heldMinor: number
  readonly heldCurrency: string
  readonly isVoided: number
  readonly isCaptured: number
  readonly isOfOtherRun: number
}

/** An authorization looks like a sale of the same, but for the word in front. */
const KEPT = `instruction c WHERE c.account_id = :account AND ${keepsCard('c.')} AND c.state = 'APPROVED'`

/** As what a row looks that sells what the row authorizes, or the other way round; or that names its card as it was stored, or by its number. */
export const likesOf = (row: 'd' | 'i') => `
        SELECT CASE ${row}.operation WHEN 'AUTH' THEN 'CAPTURE' || substr(${row}.lookalike, 5) ELSE 'AUTH' || substr(${row}.lookalike, 8) END AS lookalike
        UNION ALL
        SELECT p.operation || '|' || ${row}.amount_minor || ' ' || ${row}.currency || '|' || n.name
        FROM (
          SELECT c.card AS name FROM ${KEPT} AND ${STORED_UNDER} = (ltrim(${row}.vault_id, '0') || '') AND ${row}.card IS NULL
          UNION
          SELECT ${STORED_UNDER} FROM ${KEPT} AND c.card = (${row}.card || '') AND ${row}.vault_id IS NULL) AS n
          CROSS JOIN (SELECT 'CAPTURE' AS operation UNION ALL SELECT 'AUTH') AS p`
const LIKES = likesOf('d')

interface FoundLike extends FoundRow, FoundAt {
  readonly otherOperation: Operation
  readonly otherVaultId: string | null
}

const like = (at: string, found: string): Kind<FoundLike> => ({
  operations: ['CAPTURE', 'AUTH'],
  rows: "d.operation IN ('CAPTURE', 'AUTH') AND d.lookalike IS NOT NULL",
  text: `SELECT ${ROW}, ${at}, i.operation AS "otherOperation", i.vault_id AS "otherVaultId" FROM @rows d JOIN ${found}`,
  toFact: ([found]) => ({ of: 'like', at: atOf(found), operation: found.otherOperation, vaultId: found.otherVaultId }),
})

/** A sale of what is authorized counts by rules of its own. */
const OF_LIKE = like(
  AT,
  `instruction i ON i.id = (
      SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE i.account_id = :account AND i.lookalike IN (${LIKES}) AND i.lookalike IS NOT NULL AND (i.operation <> 'AUTH' OR d.operation = 'AUTH')
        AND ${STILL_COUNTS})`,
)

const LIKE_ABOVE = like(
  'CAST(NULL AS BIGINT) AS id, CAST(NULL AS TEXT) AS "batchId", i.row_no AS "atRowNo", i.reference',
  `draft_row i ON i.row_no = (
      SELECT min(f.row_no) FROM (
        SELECT (SELECT a.row_no FROM draft_row a WHERE a.lookalike = l.lookalike AND a.row_no < d.row_no AND a.state = 'READY' ORDER BY a.row_no LIMIT 1) AS row_no
        FROM (${LIKES}) AS l) AS f)`,
)

const OF_VAULT_ID = (row: 'c' | 'r') =>
  `${row}.account_id = :account AND ${targetOf(row)} = (' ' || ltrim(d.vault_id, '0') || ' ') AND ${row}.order_key IS NULL AND ${row}.lookalike IS NOT NULL`

const HOLDS = "c.account_id = :account AND c.lookalike IS NOT NULL AND c.operation = 'AUTH'"
const LARGER = `${OF_VAULT_ID('c')} AND c.operation = 'AUTH' AND c.currency = d.currency AND c.amount_minor > d.amount_minor`
const WAITS = "c.state <> 'APPROVED' AND c.answered_order_id IS NULL"

/** Each that waits counts, so that one is enough: there may be as many as the draft has rows. */
const FIRST_WAITING = (holds: string) => `(
          SELECT c.id FROM instruction c JOIN batch b ON b.id = c.batch_id
          WHERE ${holds} AND ${WAITS} AND c.state IN (${COUNTING}) AND b.stage = 'open' ORDER BY c.id LIMIT 1)`

const OF_AUTHORIZATION: Kind<FoundAuthorization> = {
  operations: ['CAPTURE'],
  rows: "d.operation = 'CAPTURE' AND d.lookalike IS NOT NULL",
  gate: ANY_AUTHORIZED,
  text: `
    SELECT ${ROW}, ${AT}, i.answered_order_id AS "orderId", CASE i.state WHEN 'APPROVED' THEN coalesce(i.sent_at, i.completed_at, 0) END AS "sentAtMs",
      i.amount_minor AS "heldMinor", i.currency AS "heldCurrency",
      CASE WHEN i.amount_minor = d.amount_minor OR ltrim(i.xtl_order_id, '0') = ltrim(d.xtl_order_id, '0') THEN 1 ELSE 0 END AS "isEqual",
      ${DONE_TO('CANCEL')} AS "isVoided", ${DONE_TO('CAUTH')} AS "isCaptured", CASE WHEN ${OTHER_RUN_KEY} THEN 1 ELSE 0 END AS "isOfOtherRun"
    FROM @rows d JOIN instruction i ON i.id IN (
        SELECT c.id FROM instruction c WHERE ${HOLDS} AND c.lookalike IN (${LIKES}) AND NOT (${WAITS})
        UNION ALL
        SELECT ${FIRST_WAITING(`${HOLDS} AND c.lookalike = l.lookalike`)} FROM (${LIKES}) AS l
        UNION ALL
        SELECT x.id FROM instruction x WHERE ${SAME_XTL('x')}
        UNION ALL
        SELECT c.id FROM instruction c WHERE ${LARGER} AND NOT (${WAITS})
        UNION ALL
        SELECT ${FIRST_WAITING(LARGER)})
    WHERE i.operation = 'AUTH' AND i.state IN (${COUNTING}) AND ${IS_VISIBLE} ORDER BY 1, "isEqual" DESC, i.id`,
  toFact: (found) => ({
    of: 'authorizations',
    authorizations: found.map((row) => ({
      ...{ at: atOf(row), orderId: row.orderId, sentAtMs: row.sentAtMs, isEqual: row.isEqual === 1 },
      ...{ amountMinor: BigInt(row.heldMinor), currency: row.heldCurrency },
      ...{ isVoided: row.isVoided === 1, isCaptured: row.isCaptured === 1, isOfOtherRun: row.isOfOtherRun === 1 },
    })),
  }),
}

const ANY_OTHER_RUN = `SELECT 1 FROM batch WHERE account_id = :account AND stage = 'open' AND run_key IS NOT NULL LIMIT 1`

/** The reference of row `d` in the run of row `i`. */
const AS_BEFORE = '(i.run_key || substr(d.reference, length(d.run_key) + 1))'

const LAST_OF_OTHER_RUN = `i.id = (
        SELECT c.id FROM instruction c WHERE ${OF_VAULT_ID('c')} AND c.run_key <> d.run_key AND c.holds_reference = 1 AND c.made = 0
          AND c.operation IN ('CAPTURE', 'AUTH') ORDER BY c.id DESC LIMIT 1)`

type FoundRun = FoundRow & FoundAt & { readonly ownKey: string; readonly otherKey: string }
const RUN_KEYS = 'd.run_key AS "ownKey", i.run_key AS "otherKey"'
const IN_A_RUN = `d.operation IN ('CAPTURE', 'AUTH') AND d.run_key IS NOT NULL AND d.vault_id IS NOT NULL AND ${IS_NEW}`

/** Only of a run that has no rows yet. */
const OF_FAR_RUN: Kind<FoundRun> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IN_A_RUN,
  gate: `SELECT 1 WHERE CAST(:isFar AS BIGINT) = 1 AND NOT EXISTS (
      SELECT 1 FROM instruction k WHERE k.account_id = :account AND k.holds_reference = 1 AND k.reference >= (:runKey || '/') AND k.reference < (:runKey || '0'))`,
  text: `SELECT ${ROW}, ${AT}, ${RUN_KEYS} FROM @rows d JOIN instruction i ON ${LAST_OF_OTHER_RUN} WHERE ${IS_VISIBLE}`,
  toFact: ([found]) => ({ of: 'far-run', at: atOf(found), ownKey: found.ownKey }),
}

const BEGINS = (one: string, other: string) => `substr(${one}, 1, length(${other})) = ${other}`
const RELATED = (one: string, other: string) =>
  `${one} <> ${other} AND (${BEGINS(one, other)} OR ${BEGINS(other, one)})`

/** A refund or capture of the same order, under a reference that begins the same. */
const OF_REFERENCE: Kind<FoundRow & FoundAt & { readonly ownReference: string }> = {
  operations: ['CAUTH', 'REFUND'],
  rows: `d.order_key IS NOT NULL AND d.made = 0 AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, d.reference AS "ownReference"
    FROM @rows d JOIN instruction i ON i.account_id = :account AND i.order_key = d.order_key AND i.order_key IS NOT NULL AND i.operation = d.operation
    WHERE ${RELATED('i.reference', 'd.reference')} AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE} ORDER BY 1, i.id DESC`,
  toFact: (found) => ({ of: 'reference', own: found[0].ownReference, others: found.map(atOf) }),
}

/** The same row of a run whose key begins as this one's does. */
const OF_SAME_MONTH: Kind<FoundRun> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IN_A_RUN,
  gate: `SELECT 1 FROM batch b WHERE b.account_id = :account AND b.stage = 'open' AND ${RELATED('b.run_key', '(:runKey)')} LIMIT 1`,
  text: `
    SELECT ${ROW}, ${AT}, ${RUN_KEYS}
    FROM @rows d JOIN instruction i ON i.account_id = :account AND i.lookalike = d.lookalike AND i.lookalike IS NOT NULL AND ${RELATED('i.run_key', 'd.run_key')}
    WHERE ${AS_BEFORE} = i.reference AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE} ORDER BY 1, i.id DESC`,
  toFact: ([found]) => ({ of: 'same-month', at: atOf(found), ownKey: found.ownKey, otherKey: found.otherKey }),
}

/** The last row of another run that has the vault id, and what that run has under the reference of the row. */
const OF_LAST_RUN: Kind<FoundRow & FoundAt & { readonly ownVaultId: string }> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: `d.operation IN ('CAPTURE', 'AUTH') AND d.run_key IS NOT NULL AND d.made = 0 AND d.vault_id IS NOT NULL AND ${IS_NEW}`,
  gate: ANY_OTHER_RUN,
  text: `
    SELECT ${ROW}, ${AT}, o.vault_id AS "ownVaultId"
    FROM @rows d JOIN instruction i ON ${LAST_OF_OTHER_RUN} AND i.reference <> ${AS_BEFORE}
      JOIN instruction o ON o.account_id = :account AND o.reference = ${AS_BEFORE} AND o.holds_reference = 1
    WHERE ${IS_VISIBLE} AND ltrim(o.vault_id, '0') <> ltrim(d.vault_id, '0')`,
  toFact: ([found]) => ({ of: 'last-run', at: atOf(found), ownVaultId: found.ownVaultId }),
}

const WAS_APPROVED = (row: 'c' | 'r') =>
  `${OF_VAULT_ID(row)} AND ${row}.operation IN ('CAPTURE', 'AUTH') AND ${row}.state = 'APPROVED'`

/** An amount that was asked of the vault id before is told from the others at once. */
const OF_LARGEST: Kind<FoundRow & FoundAt & { readonly largestMinor: number; readonly largestCurrency: string }> = {
  operations: ['CAPTURE'],
  rows: `d.operation = 'CAPTURE' AND d.vault_id IS NOT NULL AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, i.amount_minor AS "largestMinor", i.currency AS "largestCurrency"
    FROM @rows d JOIN instruction i ON i.id = (CASE
        WHEN EXISTS (SELECT 1 FROM instruction l WHERE l.account_id = :account AND l.lookalike = d.lookalike AND l.lookalike IS NOT NULL) THEN NULL
        WHEN EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.currency = d.currency AND r.amount_minor * ${LARGE_TIMES} > d.amount_minor) THEN NULL
        ELSE (SELECT c.id FROM instruction c WHERE ${WAS_APPROVED('c')} ORDER BY CASE c.currency WHEN d.currency THEN 0 ELSE 1 END, c.amount_minor DESC, c.id LIMIT 1) END)
    WHERE i.currency = d.currency OR NOT EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.currency <> i.currency)`,
  toFact: ([found]) => ({
    ...{ of: 'largest', amountMinor: BigInt(found.largestMinor), currency: found.largestCurrency, at: atOf(found) },
  }),
}

/** Not, where the vault id was stored again since, or charged after all. */
const OF_DELETED: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: "d.operation IN ('CAPTURE', 'AUTH') AND d.vault_id IS NOT NULL",
  text: `
    SELECT ${ROW}, ${AT} FROM @rows d JOIN instruction i ON i.account_id = :account AND i.order_key = ('vault ' || ltrim(d.vault_id, '0')) AND i.order_key IS NOT NULL
    WHERE i.operation = 'VAULT_DELETE' AND i.state = 'APPROVED'
      AND NOT EXISTS (SELECT 1 FROM ${KEPT} AND ${STORED_UNDER} = (ltrim(d.vault_id, '0') || '') AND c.id > i.id)
      AND NOT EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.id > i.id)`,
  toFact: ([found]) => ({ of: 'deleted', at: atOf(found) }),
}

const OF_RECORD: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
  operations: ['VAULT_UPDATE'],
  rows: `d.operation = 'VAULT_UPDATE' AND d.vault_id IS NOT NULL AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, i.details AS stored
    FROM @rows d JOIN instruction i ON i.id = (
        SELECT max(c.id) FROM ${KEPT} AND ${STORED_UNDER} = (ltrim(d.vault_id, '0') || '') AND c.operation IN ('VAULT_CREATE', 'VAULT_UPDATE'))
    WHERE i.details IS NOT NULL`,
  toFact: ([found]) => ({ of: 'customer', at: atOf(found), details: JSON.parse(found.stored) }),
}

const OF_HOLDER: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
  operations: OF_AN_ORDER,
  rows: `${OF_ORDER} AND d.holder IS NOT NULL AND ${IS_NEW}`,
  text: [OF_SALES, "= 'AUTH'"]
    .map(
      (sales) => `
    SELECT ${ROW}, ${AT}, i.details AS stored FROM @rows d CROSS JOIN instruction i
    WHERE ${ANSWERED('i', sales)} AND i.details IS NOT NULL AND i.details <> d.holder`,
    )
    .join(' UNION ALL '),
  toFact: OF_RECORD.toFact,
}

/**
 * The customers of a file that has slipped by a row are others in one row after the other; one alone may have another address. Two people
 * may pay with one card.
 */
const OF_PAYER: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: `d.operation IN ('CAPTURE', 'AUTH') AND d.vault_id IS NOT NULL AND d.details IS NOT NULL AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, i.details AS stored
    FROM @rows d JOIN instruction i ON i.id = (
        SELECT max(c.id) FROM instruction c
        WHERE ${OF_VAULT_ID('c')} AND c.operation IN ('CAPTURE', 'AUTH') AND c.state = 'APPROVED' AND c.details IS NOT NULL)
    WHERE i.details <> d.details AND NOT EXISTS (SELECT 1 FROM instruction r WHERE ${OF_VAULT_ID('r')} AND r.details = d.details AND r.state = 'APPROVED')`,
  toFact: OF_RECORD.toFact,
}

const E_MAIL = '\'"cust_email":"\''
const FROM_E_MAIL = (row: 'd' | 'i') => `substr(${row}.details, @position(${row}.details, ${E_MAIL}) + 14)`
const E_MAIL_OF = (row: 'd' | 'i') => `lower(substr(${FROM_E_MAIL(row)}, 1, @position(${FROM_E_MAIL(row)}, '"') - 1))`
const HAS_E_MAIL = (row: 'd' | 'i') => `${row}.operation = 'CAPTURE' AND @position(${row}.details, ${E_MAIL}) > 0`

/**
 * What was recorded after a row that is to run again, by another file or a message. Not the next attempt of a row beside it: several of
 * a family may have one e-mail.
 */
const OF_PAID: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE'],
  rows: `(${RUNS_AGAIN}) AND ${HAS_E_MAIL('d')}`,
  atOnce: true,
  gate: `SELECT 1 FROM draft_row d WHERE ${RUNS_AGAIN} LIMIT 1`,
  text: `
    WITH newcomer AS MATERIALIZED (
      SELECT i.id, i.batch_id, i.row_no, i.reference, i.amount_minor, i.currency, i.run_key, i.lookalike, i.reattempt_of, ${E_MAIL_OF('i')} AS email FROM instruction i
      WHERE i.id > (SELECT min(${EARLIER_ATTEMPT}) FROM draft_row d WHERE ${RUNS_AGAIN}) AND i.account_id = :account
        AND ${HAS_E_MAIL('i')} AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE})
    SELECT ${ROW}, ${AT}
    FROM @rows d JOIN instruction f ON f.id = ${EARLIER_ATTEMPT} JOIN newcomer i ON i.email = ${E_MAIL_OF('d')} AND i.currency = d.currency AND i.amount_minor = d.amount_minor
    WHERE i.id > f.id AND i.batch_id <> f.batch_id AND i.lookalike <> d.lookalike AND NOT (${OTHER_RUN_KEY})
      AND NOT EXISTS (
        SELECT 1 FROM instruction e WHERE e.account_id = :account AND e.reference IN (i.reference, i.reattempt_of) AND e.id < i.id
          AND (e.id < f.id OR e.batch_id = f.batch_id))
    ORDER BY 1, i.id DESC`,
  toFact: ([found]) => ({ of: 'paid', at: atOf(found) }),
}

/** What the run before had under the reference of row `d`, if it failed and was not asked for once more. */
const FAILED_BEFORE = `i.account_id = :account AND i.reference = ((
        SELECT b.run_key FROM batch b WHERE b.account_id = :account AND b.stage = 'open' AND b.run_key <> d.run_key ORDER BY b.created_at DESC LIMIT 1
      ) || substr(d.reference, length(d.run_key) + 1)) AND i.holds_reference = 1 AND i.made = 0 AND i.state IN ('DECLINED', 'FAILED') AND i.money_warning = 0
      AND NOT EXISTS (SELECT 1 FROM instruction n WHERE n.account_id = :account AND n.reference = (i.reference || '~2') AND n.holds_reference = 1)`

/** A list of nothing but that is the rest of the run before, mended: the new month has rows that were approved as well. */
const OF_FAILED_RUN: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IS_NEW,
  gate: `SELECT 1 FROM (${ANY_OTHER_RUN}) AS other WHERE NOT EXISTS (
      SELECT 1 FROM draft_row d
      WHERE d.state = 'READY' AND (d.run_key IS NULL OR d.made = 1 OR NOT EXISTS (SELECT 1 FROM instruction i WHERE ${FAILED_BEFORE})))`,
  text: `
    SELECT ${ROW}, ${AT} FROM @rows d JOIN instruction i ON ${FAILED_BEFORE}
    WHERE EXISTS (SELECT 1 FROM instruction o WHERE o.batch_id = i.batch_id AND o.state = 'APPROVED')`,
  toFact: ([found]) => ({ of: 'failed-run', at: atOf(found) }),
}

/** Whether the references of the file are 1, 2, 3 … behind one word, or 2, 3 … below a header: those name a line, and no customer. */
const IS_NUMBERED = `(SELECT count(DISTINCT n.word) = 1 AND min(n.number) BETWEEN 1 AND 2 AND max(n.number) - min(n.number) + 1 = count(*) FROM (
        SELECT w.word, CASE WHEN length(w.reference) - length(w.word) BETWEEN 1 AND 9
          THEN CAST(substr(w.reference, length(w.word) + 1) AS INTEGER) ELSE 0 END AS number
        FROM (SELECT t.reference, rtrim(t.reference, '0123456789') AS word FROM draft_row t) AS w) AS n)`

/** Where such numbers moved, as when a customer left, or the customer is named: each vault id is charged what it was, once, for the same one. */
const RENUMBERED = `why = 'other-reference' AND EXISTS (
      SELECT 1 FROM draft_row d JOIN instruction i ON i.id = draft_target.recorded_row
      WHERE d.row_no = draft_target.row_no AND i.lookalike = d.lookalike AND i.details IS NOT DISTINCT FROM d.details
        AND (d.details IS NOT NULL OR ${IS_NUMBERED})
        AND ltrim(d.vault_id, '0') NOT IN (
          SELECT ltrim(t.vault_id, '0') FROM draft_row t WHERE t.vault_id IS NOT NULL AND t.state = 'READY' GROUP BY 1 HAVING count(*) > 1))`

const SLIPPED_LEAST = 3
const ALONE = `why = 'other-payer' AND (SELECT count(*) FROM draft_target n
      WHERE n.why = 'other-payer' AND abs(n.row_no - draft_target.row_no) < ${SLIPPED_LEAST}) < ${SLIPPED_LEAST}`

/** Two rows, each with the customer that the vault id of the other had: those are no new addresses, even of two rows alone. */
const EXCHANGED = `
    WITH payer AS MATERIALIZED (
      SELECT t.row_no, d.details AS present, i.details AS former
      FROM draft_target t JOIN draft_row d ON d.row_no = t.row_no JOIN instruction i ON i.id = t.recorded_row WHERE t.why = 'other-payer')
    SELECT one.row_no FROM payer one JOIN payer other ON other.present = one.former AND other.former = one.present`

const ANY_OTHER_ACCOUNT = 'SELECT 1 FROM account WHERE id <> :account LIMIT 1'

type FoundElsewhere = FoundRow & FoundAt & { readonly what: (TargetFact & { readonly of: 'elsewhere' })['what'] }

const ELSEWHERE = (what: FoundElsewhere['what']) => `
    SELECT ${ROW}, ${AT}, '${what}' AS what FROM @rows d CROSS JOIN account a`

const inAccount = (operations: string) =>
  `${ELSEWHERE('order')} CROSS JOIN instruction i WHERE ${ANSWERED('i', operations, 'a.id')} AND a.id <> :account AND ${UNKNOWN_HERE}`

const UNKNOWN_HERE = `NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', OF_SALES)})
      AND NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', "= 'AUTH'")})
      AND NOT EXISTS (SELECT 1 FROM instruction n WHERE n.account_id = :account AND n.order_key = d.order_key AND n.order_key IS NOT NULL)`

const elsewhereOf = ([found]: readonly [FoundElsewhere, ...FoundElsewhere[]]): TargetFact => ({
  ...{ of: 'elsewhere', at: atOf(found), what: found.what },
})

const OF_OTHER_ACCOUNTS: Kind<FoundElsewhere> = {
  operations: OF_AN_ORDER,
  rows: `${OF_ORDER} AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${inAccount(OF_SALES)} UNION ALL ${inAccount("= 'AUTH'")}`,
  toFact: elsewhereOf,
}

/** Tried in a test account first, and then in the live one: that is no mistake. */
const SAME_WORLD = `EXISTS (SELECT 1 FROM account own WHERE own.id = :account AND coalesce(own.environment, 'live') = coalesce(a.environment, 'live'))`

const REPEATED_ELSEWHERE: Kind<FoundElsewhere> = {
  rows: `d.made = 0 AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${ELSEWHERE('row')} CROSS JOIN instruction i
    WHERE i.account_id = a.id AND i.reference = d.reference AND i.holds_reference = 1 AND a.id <> :account AND i.operation = d.operation AND i.amount_minor IS NOT DISTINCT FROM d.amount_minor AND ${targetOf('i')} = ${targetOf('d')}
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE} AND ${SAME_WORLD}`,
  toFact: elsewhereOf,
}

const OF_ORDERS = [OF_TRANSACTION, OF_OWN_NUMBER, OF_DECLINED, OF_SALE, OF_XTL] as readonly Kind[]
const IN_SAME_FILE =
  "b.file_sha256 = :sha256 AND b.account_id <> :account AND b.stage = 'open' AND b.source = 'file' AND b.sandbox = :sandbox"

const SAME_FILE: Kind<FoundElsewhere> = {
  rows: IS_NEW,
  gate: `SELECT 1 FROM batch b WHERE ${IN_SAME_FILE} LIMIT 1`,
  text: `${ELSEWHERE('file')} CROSS JOIN batch b CROSS JOIN instruction i
    WHERE ${IN_SAME_FILE} AND a.id = b.account_id AND i.batch_id = b.id AND i.row_no = d.row_no AND i.operation = d.operation
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${SAME_WORLD}`,
  toFact: elsewhereOf,
}

/** Without a reference of its own: with one it is told by that. */
const WAITS_ELSEWHERE: Kind<FoundElsewhere> = {
  operations: OF_AN_ORDER,
  rows: `d.made = 1 AND d.order_key IS NOT NULL AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${ELSEWHERE('waiting')} CROSS JOIN instruction i
    WHERE i.account_id = a.id AND i.lookalike = d.lookalike AND i.lookalike IS NOT NULL AND a.id <> :account AND i.state = 'READY' AND ${IS_VISIBLE} AND ${SAME_WORLD}`,
  toFact: elsewhereOf,
}

const OF_ACCOUNTS = [SAME_FILE, REPEATED_ELSEWHERE, WAITS_ELSEWHERE, OF_OTHER_ACCOUNTS] as readonly Kind[]
const OWN_KINDS = [
  ...OF_ORDERS,
  OF_AUTHORIZATION,
  OF_LIKE,
  OF_REFERENCE,
  OF_SAME_MONTH,
  OF_FAR_RUN,
  OF_DELETED,
  OF_LARGEST,
  OF_RECORD,
  OF_HOLDER,
] as readonly Kind[]

function atOf({ id, batchId, atRowNo: rowNo, reference }: FoundAt): At {
  return { id, batchId, rowNo, reference }
}

function besideIn(text: string | null): Beside | null {
  if (text === null) return null
  const [vaultId = null, card = null, xtlOrderId = null] = JSON.parse(text) as (string | null)[]
  return { vaultId, card, xtlOrderId }
}

function toRow({ amountMinor, beside, details, ...row }: FoundRow): TargetRow {
  return {
    ...row,
    amountMinor: amountMinor === null ? null : BigInt(amountMinor),
    beside: besideIn(beside),
    customer: details === null ? {} : JSON.parse(details),
  }
}

type Since = Pick<DraftHeader, 'nowMs' | 'lookalikeDays'> & { readonly authorizationDays?: number | null }

function rulesBy({ nowMs, lookalikeDays, authorizationDays = null }: Since): TargetRules {
  const saleDays = LONG_AGO_MS / 86_400_000
  return { nowMs, lookalikeDays, saleDays, authorizationDays: authorizationDays ?? MERCHANT_DEFAULTS.authorizationDays }
}

function runBy({ runKey, nowMs }: Pick<DraftHeader, 'runKey' | 'nowMs'>) {
  return { runKey, isFar: runKey !== null && isMonthFar(runKey, nowMs) ? 1 : 0 }
}

/** The rows of which something is found, in their order, each with what is found of it. */
function* factsOf(kind: Kind, rows: string, values: Values): Script<{ row: FoundRow; fact: TargetFact }[]> {
  const found = yield* all<FoundRow>(kind.text.replaceAll('@rows', rows), values)
  const toFact = kind.toFact as (found: readonly FoundRow[]) => TargetFact
  return [...Map.groupBy(found, ({ rowNo }) => rowNo).values()].map((of) => ({
    row: of[0] as FoundRow,
    fact: toFact(of),
  }))
}

// A draft

const ROWS_PER_PAGE = 2000

type Act = (row: FoundRow, verdict: TargetFault | TargetQuestion) => Script<void>

/** The operations of a draft, and its last row that may be sent. */
const SENT = "SELECT operation, max(row_no) AS last FROM draft_row WHERE state = 'READY' GROUP BY operation"

/** Of the rows that do not fit, in their order. */
function* eachOf(kinds: readonly Kind[], header: DraftHeader, act: Act): Script<void> {
  const sent = yield* all<{ operation: Operation; last: number }>(SENT)
  for (const kind of kinds) {
    const looked = sent.filter(({ operation }) => kind.operations?.includes(operation) !== false)
    yield* eachOfKind(kind, header, Math.max(0, ...looked.map(({ last }) => last)), act)
  }
}

function* eachOfKind(kind: Kind, header: DraftHeader, last: number, act: Act): Script<void> {
  const told = {
    ...lookalikeSince(header),
    ...runBy(header),
    sha256: header.fileSha256,
    sandbox: header.sandbox ? 1 : 0,
  }
  if (last === 0 || (kind.gate !== undefined && !(yield* exists(kind.gate, told)))) return
  const rules = rulesBy(header)
  const rows = `(SELECT d.* FROM draft_row d WHERE d.row_no > :after AND d.row_no <= :to AND d.state = 'READY' AND ${kind.rows})`
  const step = kind.atOnce === true ? last : ROWS_PER_PAGE
  for (let after = 0; after < last; after += step) {
    for (const { row, fact } of yield* factsOf(kind, rows, { ...told, after, to: after + step })) {
      const verdict = judgeTarget(toRow(row), fact, rules)
      if (verdict !== 'fits') yield* act(row, verdict)
    }
  }
}

/** Makes every row of the draft that contradicts what is recorded of its target a fault, and notes those that must be asked about. */
export function* meetTargets(header: DraftHeader, odd: readonly OddNeighbour[]): Script<void> {
  yield* change('DELETE FROM draft_target')
  if (yield* isAnyRecorded(header.accountId)) {
    yield* eachOf([OF_LAST_RUN] as readonly Kind[], header, note)
    yield* change(`DELETE FROM draft_target WHERE ${RENUMBERED}`) // what is found next would not be noted beside these
    yield* eachOf([...OWN_KINDS, OF_PAID, OF_PAYER, OF_FAILED_RUN] as readonly Kind[], header, note)
    yield* change(
      `DELETE FROM draft_target WHERE row_no IN (SELECT row_no FROM draft_target WHERE ${ALONE}) AND row_no NOT IN (${EXCHANGED})`,
    )
  }
  yield* eachOf([LIKE_ABOVE] as readonly Kind[], header, note)
  yield* meetOtherAccounts(header)
  yield* meetOtherMonth(header)
  for (const { rowNo, question } of odd) yield* noteTarget(rowNo, question)
}

const SAME_BYTES = "b.account_id = :account AND b.file_sha256 = :sha256 AND b.stage = 'open' AND b.run_key <> :runKey"

/** The list of last month, handed in under the key of this one. */
function* meetOtherMonth({
  accountId: account,
  fileSha256: sha256,
  runKey,
  months,
  columns,
  nowMs,
}: DraftHeader): Script<void> {
  if (runKey === null || months === undefined) return
  const runs = yield* all<{ run: string }>(`SELECT DISTINCT b.run_key AS run FROM batch b WHERE ${SAME_BYTES}`, {
    account,
    sha256,
    runKey,
  })
  const first = yield* one<{ cells: string }>('SELECT cells FROM draft_row ORDER BY row_no LIMIT 1')
  const cells = JSON.parse(first?.cells ?? '[]') as readonly string[]
  const inColumns = months.columns.map((name) => cells[columns.indexOf(name)] ?? '')
  const spokenOf = (texts: readonly string[]) =>
    runSpokenOf(
      texts,
      runKey,
      runs.map(({ run }) => run),
      nowMs,
    )
  const run = spokenOf(inColumns) ?? spokenOf(months.names)
  if (run === null) return
  yield* change(
    `
    INSERT INTO draft_target (row_no, why, problem, before_row, recorded_row)
    SELECT d.row_no, 'other-month', 'is in a file that speaks of the month of the run ' || b.run_key || ', and was recorded for that run', NULL, max(i.id)
    FROM draft_row d CROSS JOIN batch b CROSS JOIN instruction i
    WHERE ${SAME_BYTES} AND b.run_key = :run AND i.batch_id = b.id AND i.row_no = d.row_no AND d.state = 'READY'
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1)
    GROUP BY d.row_no, b.run_key ON CONFLICT (row_no) DO NOTHING`,
    { account, sha256, runKey, run },
  )
}

const ELSEWHERE_FOUND = `SELECT count(DISTINCT d.order_key) AS n FROM draft_target t JOIN draft_row d ON d.row_no = t.row_no WHERE t.why = 'order-elsewhere'`
const ORDERS = 'SELECT count(*) AS n FROM draft_order'

function* meetOtherAccounts(header: DraftHeader): Script<void> {
  yield* eachOf(OF_ACCOUNTS, header, note)
  const found = yield* count(ELSEWHERE_FOUND)
  if (found > 0 && !isMostlyElsewhere(found, yield* count(ORDERS)))
    yield* change("DELETE FROM draft_target WHERE why = 'order-elsewhere'")
}

/** Once more, after rows of the orders that the draft names have moved: whether it would still say the same. */
export function* targetsStillFit(header: DraftHeader): Script<boolean> {
  let isAsTold = true
  yield* eachOf(OF_ORDERS, header, function* ({ rowNo }, { kind }) {
    isAsTold &&=
      kind === 'asked' &&
      (yield* exists(`SELECT 1 FROM draft_row d WHERE d.row_no = :rowNo AND (${IS_LIKE})`, { rowNo }))
  })
  return isAsTold
}

function* note({ rowNo, line }: FoundRow, verdict: TargetFault | TargetQuestion): Script<void> {
  if (verdict.kind === 'asked') {
    yield* noteTarget(rowNo, verdict)
    return
  }
  const { column, value, problem, remedy } = verdict
  yield* change(`INSERT INTO ${DRAFT_FAULT} VALUES (:rowNo, :line, :column, :value, :problem, :remedy)`, {
    ...{ rowNo, line, column, value, problem, remedy },
  })
}

function* noteTarget(rowNo: number, { why, problem, at }: TargetQuestion): Script<void> {
  yield* change(
    `INSERT INTO draft_target (row_no, why, problem, before_row, recorded_row) VALUES (:rowNo, :why, :problem, :beforeRow, :recordedRow)
    ON CONFLICT (row_no) DO NOTHING`,
    { ...{ rowNo, why, problem }, beforeRow: at.batchId === null ? at.rowNo : null, recordedRow: at.id },
  )
}

/** For look-alikes: the row that they are asked about with. What was found of a row before goes before this. */
export function* markTargets(): Script<void> {
  yield* change(`
    DELETE FROM draft_target WHERE EXISTS (
      SELECT 1 FROM draft_row d WHERE d.row_no = draft_target.row_no AND (d.state <> 'READY' OR ${IS_LIKE}))`)
  yield* change(`
    UPDATE draft_row AS d SET like_row = t.before_row, like_recorded = t.recorded_row
    FROM draft_target t WHERE EXISTS (SELECT 1 FROM draft_target) AND t.row_no = d.row_no`)
}

// One row

const ONE = `(
      SELECT 1 AS row_no, 1 AS line, :reference AS reference, :operation AS operation, CAST(:amountMinor AS BIGINT) AS amount_minor,
        :currency AS currency, :orderId AS order_id, :orderKey AS order_key, :vaultId AS vault_id, :card AS card, :xtl AS xtl_order_id,
        :details AS details, :lookalike AS lookalike, :runKey AS run_key, 0 AS made, :beside AS beside, :holder AS holder,
        CAST(NULL AS BIGINT) AS supersedes, CAST(NULL AS BIGINT) AS declined_row)`

export interface ArrivingTarget extends Since {
  readonly accountId: AccountId
  readonly runKey: string | null
}

/** What the record says of the target of a message. */
export function* targetVerdictOn(
  arriving: ArrivingTarget,
  row: InstructionColumns,
  beside: Beside | null,
): Script<TargetVerdict> {
  const { reference, operation, currency, vault_id: vaultId, card, xtl_order_id: xtl, details, lookalike } = row
  const values = {
    ...{
      ...lookalikeSince(arriving),
      ...runBy(arriving),
      reference,
      operation,
      currency,
      vaultId,
      card,
      xtl,
      details,
      lookalike,
    },
    ...{ amountMinor: row.amount_minor, orderId: row.order_id, orderKey: row.order_key },
    ...{ beside: besideText(beside), holder: holderText(beside) },
  }
  for (const kind of [...OWN_KINDS, OF_LAST_RUN, REPEATED_ELSEWHERE, OF_OTHER_ACCOUNTS] as readonly Kind[]) {
    if (kind.operations?.includes(operation as Operation) === false) continue
    if (kind.gate !== undefined && !(yield* exists(kind.gate, values))) continue
    const [found] = yield* factsOf(kind, `(SELECT d.* FROM ${ONE} d WHERE ${kind.rows})`, values)
    const verdict = found === undefined ? 'fits' : judgeTarget(toRow(found.row), found.fact, rulesBy(arriving))
    if (verdict !== 'fits') return verdict
  }
  return 'fits'
}
