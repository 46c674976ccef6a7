// What is said of recorded rows in more than one text.

import type { AccountId } from '../../domain/ids.ts'
import { exists, type Script } from './script.ts'

/** Inside `IN (…)`. Of words of the program only: nothing is escaped. */
export function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}

/** Rows `e` under the reference of row `i` that an answer said were executed, beside what their state tells. */
export const EXECUTED = 'e.account_id = i.account_id AND e.reference = i.reference AND e.money_warning = 1'

/** A look at a file takes no lock, so that another submit may be under way: what it has not finished is not there yet. */
export const IS_VISIBLE = isVisible('i')

function isVisible(row: 'i' | 'a'): string {
  return `EXISTS (SELECT 1 FROM batch v WHERE v.id = ${row}.batch_id AND v.stage = 'open')`
}

/** Where an account has nothing recorded yet, no row of a draft needs to be held against it. */
export function* isAnyRecorded(account: AccountId): Script<boolean> {
  return yield* exists("SELECT 1 FROM batch WHERE account_id = :account AND stage = 'open' LIMIT 1", { account })
}

/** Of a charge that was declined: the last attempt that asked for it once more; NULL: none did. */
export function laterAttempt(row: 's' | 'h' | 'i'): string {
  return `(SELECT max(a.id) FROM instruction a WHERE a.account_id = ${row}.account_id AND a.id > ${row}.id
    AND a.reattempt_of = coalesce(${row}.reattempt_of, ${row}.reference) AND a.holds_reference = 1 AND ${isVisible('a')})`
}

/** Whether act `act` is the adoption of an older state. */
export function isRestore(act: string): string {
  return `(${act}.what = 'adopt' AND ${act}.reason LIKE '--restored: %')`
}

/** When an older state was put back last; NULL: never. What was recorded between its last record and then is lost. */
export const LAST_RESTORED_AT = `(SELECT max(r.at) FROM act r WHERE ${isRestore('r')})`

/** Whether nobody has resumed the batch since row `i` came to its end. */
export const IS_UNSEEN = `NOT EXISTS (
      SELECT 1 FROM act x WHERE x.batch_id = i.batch_id AND x.what = 'resume' AND x.at >= i.completed_at)`

/** Whether row `i` was approved otherwise than asked, and nobody has looked. */
export const IS_MONEY_UNSEEN = `i.money_warning = 1 AND i.state = 'APPROVED' AND ${IS_UNSEEN}`
