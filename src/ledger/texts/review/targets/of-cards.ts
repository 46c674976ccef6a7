// What is recorded of the card of a sale or an authorization: what looks like it, what is held on it, and what it was charged.

import type { Operation } from '../../../../domain/instruction.ts'
import { LARGE_TIMES } from '../../../rules/judge-target.ts'
import { ORDER_COUNTS_IN } from '../../../rules/order-book.ts'
import { IS_VISIBLE, listOf } from '../../conditions.ts'
import { COUNTING, OTHER_RUN_KEY, STILL_COUNTS } from '../lookalikes.ts'
import { STORED_UNDER } from '../reattempts.ts'
import {
  ANSWERED,
  ANY_AUTHORIZED,
  AT,
  AT_ABOVE,
  atOf,
  type FoundAt,
  type FoundRow,
  IS_NEW,
  KEPT,
  type Kind,
  OF_SALES,
  OF_VAULT_ID,
  ROW,
  SAME_XTL,
} from './facts.ts'

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

const like = (of: 'i' | 'o', at: string, found: string): Kind<FoundLike> => ({
  operations: ['CAPTURE', 'AUTH'],
  rows: "d.operation IN ('CAPTURE', 'AUTH') AND d.lookalike IS NOT NULL",
  text: `SELECT ${ROW}, ${at}, ${of}.operation AS "otherOperation", ${of}.vault_id AS "otherVaultId" FROM @rows d JOIN ${found}`,
  toFact: ([found]) => ({ of: 'like', at: atOf(found), operation: found.otherOperation, vaultId: found.otherVaultId }),
})

/** A sale of what is authorized counts by rules of its own. */
export const OF_LIKE = like(
  'i',
  AT,
  `instruction i ON i.id = (
      SELECT max(i.id) FROM instruction i JOIN batch b ON b.id = i.batch_id
      WHERE i.account_id = :account AND i.lookalike IN (${LIKES}) AND i.lookalike IS NOT NULL AND (i.operation <> 'AUTH' OR d.operation = 'AUTH')
        AND ${STILL_COUNTS})`,
)

export const LIKE_ABOVE = like(
  'o',
  AT_ABOVE,
  `draft_row o ON o.row_no = (
      SELECT min(f.row_no) FROM (
        SELECT (SELECT a.row_no FROM draft_row a WHERE a.lookalike = l.lookalike AND a.row_no < d.row_no AND a.state = 'READY' ORDER BY a.row_no LIMIT 1) AS row_no
        FROM (${LIKES}) AS l) AS f)`,
)

/** After the authorization of a capture, outside of any other run. */
export const OF_CHARGE: Kind<FoundLike> = {
  operations: ['CAUTH'],
  rows: `d.operation = 'CAUTH' AND d.order_key IS NOT NULL AND ${IS_NEW}`,
  gate: ANY_AUTHORIZED,
  text: `
    SELECT ${ROW}, ${AT}, i.operation AS "otherOperation", i.vault_id AS "otherVaultId" FROM @rows d CROSS JOIN instruction a CROSS JOIN instruction i
    WHERE ${ANSWERED('a', "= 'AUTH'")} AND ${OF_VAULT_ID('i', 'a')} AND i.id > a.id AND i.operation = 'CAPTURE' AND i.currency = d.currency
      AND i.amount_minor >= d.amount_minor AND i.run_key IS NOT DISTINCT FROM d.run_key AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE}
    ORDER BY 1, i.id`,
  toFact: OF_LIKE.toFact,
}

const HOLDS = "c.account_id = :account AND c.lookalike IS NOT NULL AND c.operation = 'AUTH'"
const HELD = `${OF_VAULT_ID('c')} AND c.operation = 'AUTH' AND c.currency = d.currency AND c.amount_minor <> d.amount_minor`
const WAITS = "c.state <> 'APPROVED' AND c.answered_order_id IS NULL"

/** Each that waits counts, so that one is enough: there may be as many as the draft has rows. */
const FIRST_WAITING = (holds: string) => `(
          SELECT c.id FROM instruction c JOIN batch b ON b.id = c.batch_id
          WHERE ${holds} AND ${WAITS} AND c.state IN (${COUNTING}) AND b.stage = 'open' ORDER BY c.id LIMIT 1)`

export const OF_AUTHORIZATION: Kind<FoundAuthorization> = {
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
        SELECT c.id FROM instruction c WHERE ${HELD} AND NOT (${WAITS})
        UNION ALL
        SELECT ${FIRST_WAITING(HELD)})
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

const WAS_APPROVED = (row: 'c' | 'r') =>
  `${OF_VAULT_ID(row)} AND ${row}.operation IN ('CAPTURE', 'AUTH') AND ${row}.state = 'APPROVED'`

const HUNDREDTH = (row: 'i' | 'r') => `(${row}.amount_minor + 50) / 100 = d.amount_minor`
const SIZED = `SELECT ${ROW}, ${AT}, i.amount_minor AS "largestMinor", i.currency AS "largestCurrency" FROM @rows d CROSS JOIN instruction i`
const OF_ITS_ORDER = (operation: Operation, sales: string) => `
    UNION ALL ${SIZED} WHERE ${ANSWERED('i', sales)} AND d.operation = '${operation}' AND i.currency = d.currency AND ${HUNDREDTH('i')}`

/** An amount that was asked of the vault id before is told from the others at once. */
export const OF_LARGEST: Kind<
  FoundRow & FoundAt & { readonly largestMinor: number; readonly largestCurrency: string }
> = {
  operations: ['CAPTURE', 'AUTH', 'CAUTH', 'REFUND'],
  rows: `d.operation IN ('CAPTURE', 'AUTH', 'CAUTH', 'REFUND') AND ${IS_NEW}`,
  text: `
    ${SIZED} WHERE d.vault_id IS NOT NULL AND i.id = (CASE
        WHEN EXISTS (SELECT 1 FROM instruction l WHERE l.account_id = :account AND l.lookalike = d.lookalike AND l.lookalike IS NOT NULL) THEN NULL
        WHEN EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.currency = d.currency AND r.amount_minor * ${LARGE_TIMES} > d.amount_minor AND NOT ${HUNDREDTH('r')}) THEN NULL
        ELSE (SELECT c.id FROM instruction c WHERE ${WAS_APPROVED('c')} ORDER BY CASE c.currency WHEN d.currency THEN 0 ELSE 1 END, c.amount_minor DESC, c.id LIMIT 1) END)
      AND (i.currency = d.currency OR NOT EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.currency <> i.currency))
    ${OF_ITS_ORDER('CAUTH', "= 'AUTH'")}${OF_ITS_ORDER('REFUND', OF_SALES)}`,
  toFact: ([found]) => ({
    ...{ of: 'largest', amountMinor: BigInt(found.largestMinor), currency: found.largestCurrency, at: atOf(found) },
  }),
}

/** Not, where the vault id was stored again since, or charged after all. */
export const OF_DELETED: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: "d.operation IN ('CAPTURE', 'AUTH') AND d.vault_id IS NOT NULL",
  text: `
    SELECT ${ROW}, ${AT} FROM @rows d JOIN instruction i ON i.account_id = :account AND i.order_key = ('vault ' || ltrim(d.vault_id, '0')) AND i.order_key IS NOT NULL
    WHERE i.operation = 'VAULT_DELETE' AND i.state = 'APPROVED'
      AND NOT EXISTS (SELECT 1 FROM ${KEPT} AND ${STORED_UNDER} = (ltrim(d.vault_id, '0') || '') AND c.id > i.id)
      AND NOT EXISTS (SELECT 1 FROM instruction r WHERE ${WAS_APPROVED('r')} AND r.id > i.id)`,
  toFact: ([found]) => ({ of: 'deleted', at: atOf(found) }),
}
