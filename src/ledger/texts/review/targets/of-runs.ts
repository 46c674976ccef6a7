// What other runs have of the row of a roster.

import type { TargetFact } from '../../../rules/judge-target.ts'
import { IS_VISIBLE } from '../../conditions.ts'
import { COUNTING, EARLIER_ATTEMPT } from '../lookalikes.ts'
import { AT, atOf, type FoundAt, type FoundRow, IS_NEW, type Kind, OF_VAULT_ID, ROW } from './facts.ts'

/** Those of messages too, whose batches have none. */
const RUNS = 'run_key k WHERE k.account_id = :account'
const ANY_RUN = `SELECT 1 FROM ${RUNS} LIMIT 1`

/** The reference of row `d`, in its first attempt, in the run of row `i`. */
const AS_BEFORE = '(i.run_key || substr(coalesce(d.reattempt_of, d.reference), length(d.run_key) + 1))'
/** The reference of row `i`, in its first attempt. */
const FIRST_OF = 'coalesce(i.reattempt_of, i.reference)'

const LAST_OF_OTHER_RUN = `i.id = (
        SELECT c.id FROM instruction c WHERE ${OF_VAULT_ID('c')} AND c.run_key <> d.run_key AND c.holds_reference = 1 AND c.made = 0
          AND c.operation IN ('CAPTURE', 'AUTH') ORDER BY c.id DESC LIMIT 1)`

type FoundRun = FoundRow & FoundAt & { readonly ownKey: string; readonly otherKey: string }
const RUN_KEYS = 'd.run_key AS "ownKey", i.run_key AS "otherKey"'
const IN_A_RUN = `d.operation IN ('CAPTURE', 'AUTH') AND d.run_key IS NOT NULL AND d.vault_id IS NOT NULL AND ${IS_NEW}`

/** Only of a run that has no rows yet. */
export const OF_FAR_RUN: Kind<FoundRun> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IN_A_RUN,
  gate: `SELECT 1 WHERE CAST(:isFar AS BIGINT) = 1 AND NOT EXISTS (
      SELECT 1 FROM instruction k WHERE k.account_id = :account AND k.holds_reference = 1 AND k.reference >= (:runKey || '/') AND k.reference < (:runKey || '0'))`,
  text: `SELECT ${ROW}, ${AT}, ${RUN_KEYS} FROM @rows d JOIN instruction i ON ${LAST_OF_OTHER_RUN} WHERE ${IS_VISIBLE}`,
  toFact: ([found]) => ({ of: 'far-run', at: atOf(found), ownKey: found.ownKey, otherKey: found.otherKey }),
}

const OF_RELATED = `SELECT k.spelling FROM run_key k WHERE k.account_id = :account AND k.form <> :runForm
      AND (@position(k.form, :runForm) > 0 OR @position(:runForm, k.form) > 0)`

/** The same row of a run whose key has this one's in it, or is in it. */
export const OF_SAME_MONTH: Kind<FoundRun> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IN_A_RUN,
  gate: OF_RELATED,
  text: `
    SELECT ${ROW}, ${AT}, ${RUN_KEYS}
    FROM @rows d JOIN instruction i ON i.account_id = :account AND i.lookalike = d.lookalike AND i.lookalike IS NOT NULL AND i.run_key IN (${OF_RELATED})
    WHERE ${AS_BEFORE} = i.reference AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE} ORDER BY 1, i.id DESC`,
  toFact: ([found]) => ({ of: 'same-month', at: atOf(found), ownKey: found.ownKey, otherKey: found.otherKey }),
}

/** Whether row `d` is new, or runs again with another card. */
const HAS_NEW_CARD = `d.operation IN ('CAPTURE', 'AUTH') AND d.vault_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM instruction l WHERE l.id = ${EARLIER_ATTEMPT} AND ltrim(l.vault_id, '0') = ltrim(d.vault_id, '0'))`

/** The last row of another run that has the vault id, and what that run has under the reference of the row. */
export const OF_LAST_RUN: Kind<FoundRow & FoundAt & { readonly ownVaultId: string }> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: `d.run_key IS NOT NULL AND d.made = 0 AND ${HAS_NEW_CARD}`,
  gate: ANY_RUN,
  text: `
    SELECT ${ROW}, ${AT}, o.vault_id AS "ownVaultId"
    FROM @rows d JOIN instruction i ON ${LAST_OF_OTHER_RUN} AND ${FIRST_OF} <> ${AS_BEFORE}
      JOIN instruction o ON o.account_id = :account AND o.reference = ${AS_BEFORE} AND o.holds_reference = 1
    WHERE ${IS_VISIBLE} AND ltrim(o.vault_id, '0') <> ltrim(d.vault_id, '0')`,
  toFact: ([found]) => ({ of: 'other-reference', at: atOf(found), ownVaultId: found.ownVaultId }),
}

/** In the order of the file, what each vault id is charged, was in the last of the other runs, and the next one above or below then. */
const CHARGES = `
      SELECT d.row_no, d.amount_minor AS now, i.amount_minor AS own, lag(i.id) OVER w AS above, lag(i.amount_minor) OVER w AS amount_above,
        lead(i.id) OVER w AS below, lead(i.amount_minor) OVER w AS amount_below
      FROM @rows d JOIN instruction i ON ${LAST_OF_OTHER_RUN} WINDOW w AS (ORDER BY d.row_no)`

/** The first row that is charged otherwise than before and as that one was; and how many from there on are, and are charged so. */
const MOVED_FROM = (side: 'above' | 'below') => `
      SELECT f.row_no, f.${side} AS of_row, count(*) AS "rows", count(*) FILTER (WHERE now = amount_${side}) AS "alike",
        count(*) FILTER (WHERE now = amount_${side} AND now <> own) AS "moved",
        count(DISTINCT now) FILTER (WHERE now = amount_${side} AND now <> own) AS "amounts"
      FROM charge JOIN (SELECT row_no, ${side} FROM charge WHERE now = amount_${side} AND now <> own ORDER BY row_no LIMIT 1) AS f
        ON charge.row_no >= f.row_no
      GROUP BY f.row_no, f.${side}`

type Counts = Extract<TargetFact, { readonly of: 'amounts' }>['counts']

export const OF_AMOUNTS: Kind<FoundRow & FoundAt & Counts> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IN_A_RUN,
  atOnce: true,
  gate: ANY_RUN,
  text: `
    WITH charge AS MATERIALIZED (${CHARGES})
    SELECT ${ROW}, ${AT}, s.rows, s.alike, s.moved, s.amounts
    FROM (${MOVED_FROM('above')} UNION ALL ${MOVED_FROM('below')}) AS s JOIN draft_row d ON d.row_no = s.row_no JOIN instruction i ON i.id = s.of_row
    ORDER BY s.moved DESC`,
  toFact: ([found]) => ({ of: 'amounts', at: atOf(found), counts: found }),
}

/** Of a row that runs again with another card: the last row of its run that has that one. Without a run key, its first batch is its run. */
export const OF_OWN_RUN: typeof OF_LAST_RUN = {
  operations: ['CAPTURE', 'AUTH'],
  rows: `d.declined_row IS NOT NULL AND ${HAS_NEW_CARD}`,
  text: `
    SELECT ${ROW}, ${AT}, o.vault_id AS "ownVaultId"
    FROM @rows d JOIN instruction o ON o.id = d.declined_row
      JOIN instruction f ON f.account_id = :account AND f.reference = d.reattempt_of AND f.holds_reference = 1
      JOIN instruction i ON ${OF_VAULT_ID('i')} AND (i.run_key = d.run_key OR i.batch_id = f.batch_id) AND i.holds_reference = 1
    WHERE ${FIRST_OF} <> d.reattempt_of AND ${IS_VISIBLE} ORDER BY 1, i.id DESC`,
  toFact: OF_LAST_RUN.toFact,
}

/** Of those with rows, the one whose first reference was recorded last. It is the same for all rows. */
const RUN_BEFORE = `SELECT k.spelling FROM ${RUNS} AND k.spelling <> :runKey ORDER BY coalesce((
          SELECT c.id FROM instruction c WHERE c.account_id = k.account_id AND c.holds_reference = 1
            AND c.reference >= (k.spelling || '/') AND c.reference < (k.spelling || '0') ORDER BY c.reference LIMIT 1), 0) DESC LIMIT 1`

/** What the run before had under the reference of row `d`, if it failed and was not asked for once more. */
const FAILED_BEFORE = `i.account_id = :account AND i.reference = ((${RUN_BEFORE}) || substr(d.reference, length(d.run_key) + 1)) AND i.holds_reference = 1 AND i.made = 0 AND i.state IN ('DECLINED', 'FAILED') AND i.money_warning = 0
      AND NOT EXISTS (SELECT 1 FROM instruction n WHERE n.account_id = :account AND n.reference = (i.reference || '~2') AND n.holds_reference = 1)`

/** A list of nothing but that is the rest of the run before, mended: the new month has rows that were approved as well. */
export const OF_FAILED_RUN: Kind<FoundRow & FoundAt> = {
  operations: ['CAPTURE', 'AUTH'],
  rows: IS_NEW,
  gate: `SELECT 1 FROM (${ANY_RUN}) AS other WHERE NOT EXISTS (
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
export const RENUMBERED = `why = 'other-reference' AND EXISTS (
      SELECT 1 FROM draft_row d JOIN instruction i ON i.id = draft_target.recorded_row
      WHERE d.row_no = draft_target.row_no AND i.lookalike = d.lookalike AND i.details IS NOT DISTINCT FROM d.details
        AND (d.details IS NOT NULL OR ${IS_NUMBERED})
        AND ltrim(d.vault_id, '0') NOT IN (
          SELECT ltrim(t.vault_id, '0') FROM draft_row t WHERE t.vault_id IS NOT NULL AND t.state = 'READY' GROUP BY 1 HAVING count(*) > 1))`
