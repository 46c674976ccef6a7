// What other accounts of the ledger have of a row.

import type { TargetFact } from '../../../rules/judge-target.ts'
import { OF_AN_ORDER } from '../../../rules/order-book.ts'
import { IS_VISIBLE } from '../../conditions.ts'
import { targetOf } from '../corrections.ts'
import { COUNTING } from '../lookalikes.ts'
import { ANSWERED, AT, atOf, type FoundAt, type FoundRow, IS_NEW, type Kind, OF_ORDER, OF_SALES, ROW } from './facts.ts'

const ANY_OTHER_ACCOUNT = 'SELECT 1 FROM account WHERE id <> :account LIMIT 1'

type FoundElsewhere = FoundRow & FoundAt & { readonly what: Extract<TargetFact['of'], `${string}-elsewhere`> }

const ELSEWHERE = (what: 'order' | 'row' | 'waiting' | 'file') => `
    SELECT ${ROW}, ${AT}, '${what}-elsewhere' AS what FROM @rows d CROSS JOIN account a`

const inAccount = (operations: string) =>
  `${ELSEWHERE('order')} CROSS JOIN instruction i WHERE ${ANSWERED('i', operations, 'a.id')} AND a.id <> :account AND ${UNKNOWN_HERE}`

const UNKNOWN_HERE = `NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', OF_SALES)})
      AND NOT EXISTS (SELECT 1 FROM instruction s WHERE ${ANSWERED('s', "= 'AUTH'")})
      AND NOT EXISTS (SELECT 1 FROM instruction n WHERE n.account_id = :account AND n.order_key = d.order_key AND n.order_key IS NOT NULL)`

const elsewhereOf = ([found]: readonly [FoundElsewhere, ...FoundElsewhere[]]): TargetFact => ({
  ...{ of: found.what, at: atOf(found) },
})

export const OF_OTHER_ACCOUNTS: Kind<FoundElsewhere> = {
  operations: OF_AN_ORDER,
  rows: `${OF_ORDER} AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${inAccount(OF_SALES)} UNION ALL ${inAccount("= 'AUTH'")}`,
  toFact: elsewhereOf,
}

/** Tried in a test account first, and then in the live one: that is no mistake. */
const SAME_WORLD = `EXISTS (SELECT 1 FROM account own WHERE own.id = :account AND coalesce(own.environment, 'live') = coalesce(a.environment, 'live'))`

const IS_REPEATED = `i.account_id = a.id AND i.reference = d.reference AND i.holds_reference = 1 AND a.id <> :account AND i.operation = d.operation AND i.amount_minor IS NOT DISTINCT FROM d.amount_minor AND ${targetOf('i')} = ${targetOf('d')}
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${IS_VISIBLE} AND ${SAME_WORLD}`

export const REPEATED_ELSEWHERE: Kind<FoundElsewhere> = {
  rows: `d.made = 0 AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${ELSEWHERE('row')} CROSS JOIN instruction i WHERE ${IS_REPEATED}`,
  toFact: elsewhereOf,
}

const IN_SAME_FILE =
  "b.file_sha256 = :sha256 AND b.account_id <> :account AND b.stage = 'open' AND b.source = 'file' AND b.sandbox = :sandbox"
const IS_OF_SAME_FILE = `${IN_SAME_FILE} AND a.id = b.account_id AND i.batch_id = b.id AND i.row_no = d.row_no AND i.operation = d.operation
      AND (i.state IN (${COUNTING}) OR i.money_warning = 1) AND ${SAME_WORLD}`

const SAME_FILE: Kind<FoundElsewhere> = {
  rows: IS_NEW,
  gate: `SELECT 1 FROM batch b WHERE ${IN_SAME_FILE} LIMIT 1`,
  text: `${ELSEWHERE('file')} CROSS JOIN batch b CROSS JOIN instruction i WHERE ${IS_OF_SAME_FILE}`,
  toFact: elsewhereOf,
}

const IS_WAITING = `i.account_id = a.id AND i.lookalike = d.lookalike AND i.lookalike IS NOT NULL AND a.id <> :account AND i.state = 'READY' AND ${IS_VISIBLE} AND ${SAME_WORLD}`

/** Without a reference of its own: with one it is told by that. */
const WAITS_ELSEWHERE: Kind<FoundElsewhere> = {
  operations: OF_AN_ORDER,
  rows: `d.made = 1 AND d.order_key IS NOT NULL AND ${IS_NEW}`,
  gate: ANY_OTHER_ACCOUNT,
  text: `${ELSEWHERE('waiting')} CROSS JOIN instruction i WHERE ${IS_WAITING}`,
  toFact: elsewhereOf,
}

export const OF_ACCOUNTS = [SAME_FILE, REPEATED_ELSEWHERE, WAITS_ELSEWHERE, OF_OTHER_ACCOUNTS] as readonly Kind[]

/** The same of rows `newcomer`: each finds its row of the draft by an index. An order is answered before a file names it. */
export const NEW_ELSEWHERE = (
  [
    [SAME_FILE, IS_OF_SAME_FILE],
    [REPEATED_ELSEWHERE, IS_REPEATED],
    [WAITS_ELSEWHERE, IS_WAITING],
  ] as const
)
  .map(
    ([{ rows }, isAsked]) => `
    SELECT 1 FROM newcomer i CROSS JOIN batch b CROSS JOIN account a CROSS JOIN draft_row d
    WHERE b.id = i.batch_id AND a.id = i.account_id AND d.state = 'READY' AND ${rows} AND ${isAsked}`,
  )
  .join(' UNION ALL ')
