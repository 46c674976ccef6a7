// What is recorded of the order that a row names.

import { type Operation, plainId } from '../../../../domain/instruction.ts'
import type { KnownSale } from '../../../rules/judge-target.ts'
import { OF_AN_ORDER, ORDER_COUNTS_IN, SALES } from '../../../rules/order-book.ts'
import { IS_VISIBLE, listOf } from '../../conditions.ts'
import { isInFile } from '../corrections.ts'
import { COUNTING } from '../lookalikes.ts'
import {
  ANSWERED,
  ANY_AUTHORIZED,
  AT,
  atOf,
  type FoundAt,
  type FoundRow,
  IN_ACCOUNT,
  IS_NEW,
  type Kind,
  OF_ORDER,
  OF_SALES,
  OF_VAULT_ID,
  ROW,
  SAME_XTL,
} from './facts.ts'

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
  operations: ['CAUTH', 'REFUND'],
  ...known(`ltrim(i.answered_order_id, '0') = (d.order_key || '') AND i.state = 'DECLINED'
      AND i.operation IN ('AUTH', 'CAPTURE') AND i.ever_in_doubt = 0 AND i.money_warning = 0
      AND NOT EXISTS (
        SELECT 1 FROM instruction n JOIN batch p ON p.id = n.batch_id
        WHERE n.account_id = :account AND n.order_key = d.order_key AND n.order_key IS NOT NULL AND p.stage = 'open'
          AND (n.state IN (${listOf(ORDER_COUNTS_IN)}) OR n.money_warning = 1))`),
  toFact: ([found]) => ({ of: 'declined', at: atOf(found) }),
}

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

/** Without its run key and what tells no reference from another: so that one with a word more has the other in it. */
const BARE = (row: 'd' | 'i') =>
  [...' -_./~()0'].reduce(
    (text, sign) => `replace(${text}, '${sign}', '')`,
    `lower(substr(${row}.reference, length(coalesce(${row}.run_key || '/', '')) + 1))`,
  )
const HAS = (one: 'd' | 'i', other: 'd' | 'i') => `@position(${BARE(one)}, ${BARE(other)}) > 0`

type FoundReference = FoundRow & FoundAt & { readonly ownReference: string }

const ofReference = (operations: readonly Operation[], isOfTarget: string): Kind<FoundReference> => ({
  operations,
  rows: `d.operation IN (${listOf(operations)}) AND d.made = 0 AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, d.reference AS "ownReference" FROM @rows d JOIN instruction i ON ${isOfTarget}
    WHERE i.operation = d.operation AND i.reference <> d.reference AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE}
      AND CASE WHEN length(i.reference) < length(d.reference) THEN ${HAS('d', 'i')} ELSE ${HAS('i', 'd')} END
    ORDER BY 1, i.id DESC`,
  toFact: (found) => ({ of: 'reference', own: found[0].ownReference, others: found.map(atOf) }),
})

const KNOWN_RUN = 'SELECT 1 FROM run_key k WHERE k.account_id = :account AND k.spelling = :runKey'

/** Refunds or captures of the same order, and the last sale of the same vault id if it is of the same run, under a reference that differs little. */
export const OF_REFERENCE = [
  ofReference(['CAUTH', 'REFUND'], `${IN_ACCOUNT('i')} AND i.order_key = d.order_key AND i.order_key IS NOT NULL`),
  {
    ...ofReference(
      ['CAPTURE'],
      `d.vault_id IS NOT NULL AND i.run_key IS NOT DISTINCT FROM d.run_key AND i.id = (SELECT c.id FROM instruction c
        WHERE ${OF_VAULT_ID('c')} AND c.operation = d.operation AND c.state IN (${COUNTING}) ORDER BY c.id DESC LIMIT 1)`,
    ),
    gate: `SELECT 1 WHERE CAST(:runKey AS TEXT) IS NULL OR EXISTS (${KNOWN_RUN})`,
  },
] as readonly Kind[]

/** Of a vault id that this run has charged already, by a row that is not in the file. A file may have a second charge beside the first. */
export const OF_RUN: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: `d.operation IN ('CAPTURE', 'AUTH') AND d.run_key IS NOT NULL AND d.vault_id IS NOT NULL AND d.made = 0 AND ${IS_NEW}`,
  gate: KNOWN_RUN,
  text: `
    SELECT ${ROW}, ${AT} FROM @rows d JOIN instruction i ON i.id = (SELECT c.id FROM instruction c
        WHERE ${OF_VAULT_ID('c')} AND c.run_key = d.run_key AND c.operation = d.operation AND c.state IN (${COUNTING}) ORDER BY c.id DESC LIMIT 1)
    WHERE i.reference <> d.reference AND ${IS_VISIBLE} AND NOT ${isInFile('i')}`,
  toFact: ([found]) => ({ of: 'reference', own: null, others: [atOf(found)] }),
}

export const OF_ORDERS = [OF_TRANSACTION, OF_OWN_NUMBER, OF_DECLINED, OF_SALE, OF_XTL] as readonly Kind[]
