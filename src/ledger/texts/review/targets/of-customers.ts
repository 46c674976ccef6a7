// Whom what is recorded of the target belongs to.

import { OF_AN_ORDER } from '../../../rules/order-book.ts'
import { IS_VISIBLE } from '../../conditions.ts'
import { RUNS_AGAIN } from '../draft-rows.ts'
import { COUNTING, EARLIER_ATTEMPT, OTHER_RUN_KEY } from '../lookalikes.ts'
import { STORED_UNDER } from '../reattempts.ts'
import {
  ANSWERED,
  AT,
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

export const OF_RECORD: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
  operations: ['VAULT_UPDATE'],
  rows: `d.operation = 'VAULT_UPDATE' AND d.vault_id IS NOT NULL AND ${IS_NEW}`,
  text: `
    SELECT ${ROW}, ${AT}, i.details AS stored
    FROM @rows d JOIN instruction i ON i.id = (
        SELECT max(c.id) FROM ${KEPT} AND ${STORED_UNDER} = (ltrim(d.vault_id, '0') || '') AND c.operation IN ('VAULT_CREATE', 'VAULT_UPDATE'))
    WHERE i.details IS NOT NULL`,
  toFact: ([found]) => ({ of: 'customer', at: atOf(found), details: JSON.parse(found.stored) }),
}

export const OF_HOLDER: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
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
export const OF_PAYER: Kind<FoundRow & FoundAt & { readonly stored: string }> = {
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
