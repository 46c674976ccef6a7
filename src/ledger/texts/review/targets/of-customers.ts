// Whom what is recorded of the target belongs to.

import { VAULT_OPERATIONS } from '../../../../domain/instruction.ts'
import { OF_AN_ORDER } from '../../../rules/order-book.ts'
import { IS_VISIBLE, listOf } from '../../conditions.ts'
import { RUNS_AGAIN } from '../draft-rows.ts'
import { COUNTING, EARLIER_ATTEMPT, OTHER_RUN_KEY } from '../lookalikes.ts'
import { STORED_UNDER } from '../reattempts.ts'
import {
  ANSWERED,
  AT,
  AT_ABOVE,
  atOf,
  type FoundAt,
  type FoundRow,
  IS_NEW,
  KEPT,
  type Kind,
  OF_ORDER,
  OF_SALES,
  OF_VAULT_ID,
  ROW,
} from './facts.ts'

type FoundCustomer = FoundRow & FoundAt & { readonly stored: string }

/** What the row says of its customer, whether it sends that or not. */
const SAID = 'coalesce(d.holder, d.details)'

const LAST_STORED = (isOfCard: string) => `(SELECT max(c.id) FROM ${KEPT} AND ${isOfCard} AND c.details IS NOT NULL)`
const LAST_RECORD = LAST_STORED(`${STORED_UNDER} = (ltrim(d.vault_id, '0') || '')`)
const LAST_SALE = `(SELECT max(c.id) FROM instruction c
        WHERE ${OF_VAULT_ID('c')} AND c.operation IN ('CAPTURE', 'AUTH') AND c.state = 'APPROVED' AND c.details IS NOT NULL)`

const LAST_OF_BOTH = `@greatest(coalesce(${LAST_RECORD}, 0), coalesce(${LAST_SALE}, 0))`

/**
 * A sale is held against the last that is recorded of its vault id, a sale or the vault record; unless its customer paid with that card before:
 * two people may. A new record is held against that of the same card, as far as that can be told.
 */
export const OF_CUSTOMER: Kind<FoundCustomer> = {
  operations: ['CAPTURE', 'AUTH', ...VAULT_OPERATIONS],
  rows: `d.order_id IS NULL AND ${SAID} IS NOT NULL AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, i.details AS stored
    FROM @rows d JOIN instruction i ON i.id = CASE d.operation WHEN 'VAULT_CREATE' THEN ${LAST_STORED("c.card = (d.card || '')")}
        WHEN 'CAPTURE' THEN ${LAST_OF_BOTH} WHEN 'AUTH' THEN ${LAST_OF_BOTH} ELSE coalesce(${LAST_RECORD}, ${LAST_SALE}) END
    WHERE i.details <> ${SAID} AND (i.operation IN (${listOf(VAULT_OPERATIONS)}) OR NOT EXISTS (
      SELECT 1 FROM instruction r WHERE ${OF_VAULT_ID('r')} AND r.details = d.details AND r.state = 'APPROVED'))`,
  toFact: ([found]) => ({ of: 'customer', at: atOf(found), details: JSON.parse(found.stored) }),
}

export const OF_HOLDER: Kind<FoundCustomer> = {
  operations: OF_AN_ORDER,
  rows: `${OF_ORDER} AND d.holder IS NOT NULL AND ${IS_NEW}`,
  text: [OF_SALES, "= 'AUTH'"]
    .map(
      (sales) => `
    SELECT ${ROW}, ${AT}, i.details AS stored FROM @rows d CROSS JOIN instruction i
    WHERE ${ANSWERED('i', sales)} AND i.details IS NOT NULL AND i.details <> d.holder`,
    )
    .join(' UNION ALL '),
  toFact: OF_CUSTOMER.toFact,
}

const E_MAIL = '\'"cust_email":"\''
const FROM_E_MAIL = (row: 'd' | 'i') => `substr(${row}.details, @position(${row}.details, ${E_MAIL}) + 14)`
const E_MAIL_OF = (row: 'd' | 'i') => `lower(substr(${FROM_E_MAIL(row)}, 1, @position(${FROM_E_MAIL(row)}, '"') - 1))`
const HAS_E_MAIL = (row: 'd' | 'i') => `${row}.operation = 'CAPTURE' AND @position(${row}.details, ${E_MAIL}) > 0`

const UP_TO = (text: string, mark: string) => `substr(${text}, 1, @position(${text} || '${mark}', '${mark}') - 1)`

/** Names and e-mail, which come first, without what follows. */
export const customerIn = (row: 'd' | 'o' | 'i'): string =>
  `rtrim(lower(${UP_TO(UP_TO(`${row}.details`, ',"cust_phone":'), ',"bill_')}), '}')`

const WAS_CHARGED = (row: 'd' | 'o') =>
  `EXISTS (SELECT 1 FROM instruction r WHERE ${OF_VAULT_ID('r', row)} AND r.operation = 'CAPTURE' AND r.state = 'APPROVED')`

/** A customer who stands twice in a roster: with a card that was charged before, and with one that was not, which may have replaced it. */
export const OF_REPLACED: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE'],
  rows: `${HAS_E_MAIL('d')} AND d.run_key IS NOT NULL AND d.vault_id IS NOT NULL AND ${IS_NEW}`,
  atOnce: true,
  gate: 'SELECT 1 WHERE CAST(:runKey AS TEXT) IS NOT NULL',
  text: `
    SELECT ${ROW}, ${AT_ABOVE}
    FROM (SELECT d.row_no, min(d.row_no) OVER (PARTITION BY ${customerIn('d')}, d.amount_minor, d.currency) AS first_row FROM @rows d) AS w
      JOIN draft_row d ON d.row_no = w.row_no JOIN draft_row o ON o.row_no = w.first_row
    WHERE w.first_row < w.row_no AND ltrim(o.vault_id, '0') <> ltrim(d.vault_id, '0') AND ${WAS_CHARGED('d')} <> ${WAS_CHARGED('o')}`,
  toFact: ([found]) => ({ of: 'paid', at: atOf(found) }),
}

/**
 * What was recorded after a row that is to run again, by another file or a message. Not the next attempt of a row beside it: several of
 * a family may have one e-mail.
 */
export const OF_PAID: Kind<FoundRow & FoundAt> = {
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
