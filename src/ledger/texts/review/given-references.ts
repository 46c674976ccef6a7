// References that a file gave to instructions which are recorded under another one: a row that was known by what it asks for, or that
// runs in the place of a cancelled one. From then on such a reference always names that instruction, whatever else is asked for.

import type { AccountId } from '../../../domain/ids.ts'
import { change, exists, one, type Script } from '../script.ts'

/** Of row `g`, whose file is recorded: which row its given reference names. Fed-back lines keep what they were written with. */
const NAMED = 'coalesce(g.duplicate_of, g.id)'
const IS_RECORDED = "EXISTS (SELECT 1 FROM batch v WHERE v.id = g.batch_id AND v.stage = 'open')"

const isHeld = (reference: string) =>
  `EXISTS (SELECT 1 FROM instruction h WHERE h.account_id = :account AND h.reference = ${reference} AND h.holds_reference = 1)`

/** Before references are compared with anything. */
export function* nameAsGiven(account: AccountId): Script<void> {
  const isAny = yield* exists('SELECT 1 FROM instruction WHERE account_id = :account AND given IS NOT NULL LIMIT 1', {
    account,
  })
  if (!isAny) return
  yield* change(
    `
    UPDATE draft_row AS d SET given = d.reference, reference = t.reference, xtl_order_id = t.xtl_order_id
    FROM (
      SELECT r.row_no, min(${NAMED}) AS id FROM draft_row r JOIN instruction g ON g.given = r.reference
      WHERE g.account_id = :account AND r.state = 'READY' AND ${IS_RECORDED} AND NOT ${isHeld('r.reference')}
      GROUP BY r.row_no) AS n
    JOIN instruction t ON t.id = n.id
    WHERE d.row_no = n.row_no`,
    { account },
  )
}

/** The reference that this one names; itself where it names no other. */
export function* namedBy(account: AccountId, reference: string): Script<string> {
  const named = yield* one<{ reference: string }>(
    `
    SELECT t.reference FROM instruction t WHERE t.id = (
      SELECT min(${NAMED}) FROM instruction g WHERE g.account_id = :account AND g.given = :reference AND ${IS_RECORDED})`,
    { account, reference },
  )
  return named?.reference ?? reference
}
