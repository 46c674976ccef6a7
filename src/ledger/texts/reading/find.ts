// Finding instructions by any id that a person or the gateway has for them: each kind has an index.

import { FOUND_MOST, type FoundInstruction, type IdKind } from '../../../domain/found.ts'
import { keepsCard, STORED_UNDER } from '../review/reattempts.ts'
import { allExact, type Script } from '../script.ts'

const ANY_ACCOUNT = 'i.account_id IN (SELECT id FROM account)'
const SAME = (column: string) => `${ANY_ACCOUNT} AND ltrim(i.${column}, '0') = ltrim(:id, '0')`

/** Ids of the gateway are told without the zeros in front of them. */
const CONDITIONS: readonly (readonly [IdKind, string])[] = [
  ['reference', 'i.reference = :id'],
  ['keyed-reference', "i.reference IN (SELECT k.spelling || '/' || :id FROM run_key k)"],
  ['order', `${ANY_ACCOUNT} AND i.order_key = ltrim(:id, '0') AND i.order_key IS NOT NULL`],
  [
    'order',
    `${SAME('answered_order_id')} AND i.answered_order_id IS NOT NULL AND i.operation IN ('CAPTURE', 'CAUTH') AND i.state = 'APPROVED'`,
  ],
  ['order', `${SAME('answered_order_id')} AND i.answered_order_id IS NOT NULL AND i.operation = 'AUTH'`],
  ['order', `${SAME('answered_order_id')} AND i.answered_order_id IS NOT NULL AND i.state = 'DECLINED'`],
  ['transaction', `${SAME('transaction_id')} AND i.transaction_id IS NOT NULL`],
  ['merchant-order', `${SAME('xtl_order_id')} AND i.xtl_order_id IS NOT NULL`],
  [
    'vault',
    `${ANY_ACCOUNT} AND coalesce(ltrim(i.order_id, '0'), '') || ' ' || coalesce(ltrim(i.vault_id, '0'), '') || ' ' || coalesce(substr(i.card, 1, 11), '')
      = ' ' || ltrim(:id, '0') || ' ' AND i.order_key IS NULL AND i.lookalike IS NOT NULL`,
  ],
  [
    'vault',
    `${ANY_ACCOUNT} AND ${STORED_UNDER} = ltrim(:id, '0') AND ${keepsCard('i.')} AND i.operation = 'VAULT_CREATE'`,
  ],
]

/** Of what a vault id is compared with, an empty one would be every row without one. */
const NEEDS_DIGITS: readonly IdKind[] = ['vault']

const select = (by: IdKind, condition: string) => `
    SELECT i.id AS "rowId", i.reference, i.batch_id AS "batchId", i.row_no AS "rowNo", i.line, a.name AS merchant, i.state, '${by}' AS by,
      i.operation, i.amount_minor AS "amountMinor", i.currency, coalesce(i.answered_order_id, i.order_id) AS "orderId",
      i.order_id AS "askedOrderId", i.vault_id AS "askedVaultId", i.answered_amount AS "answeredAmount",
      i.answered_currency AS "answeredCurrency", i.answered_order_id AS "answeredOrderId", i.answered_vault_id AS "answeredVaultId",
      i.answered_xtl_order_id AS "answeredXtlOrderId", i.transaction_id AS "transactionId", i.answered_record_id AS "recordId", i.xtl_order_id AS "xtlOrderId",
      coalesce(i.answered_vault_id, i.vault_id) AS "vaultId", i.reason, i.warning, i.attempt AS attempts,
      i.sent_at AS "sentAtMs", i.completed_at AS "completedAtMs"
    FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN account a ON a.id = i.account_id
    WHERE ${condition} AND b.stage = 'open' ORDER BY i.id LIMIT ${FOUND_MOST}`

const SELECTS = CONDITIONS.map(([by, condition]) => ({ by, text: select(by, condition) }))

type Counted = 'rowNo' | 'line' | 'attempts' | 'sentAtMs' | 'completedAtMs'
type Found = Omit<FoundInstruction, Counted | 'asked' | 'answered'> & {
  readonly [Column in Exclude<Counted, 'sentAtMs' | 'completedAtMs'> | 'rowId']: bigint
} & { readonly [Column in 'sentAtMs' | 'completedAtMs']: bigint | null } & {
  readonly [Id in 'askedOrderId' | 'askedVaultId' | 'answeredOrderId' | 'answeredVaultId']: string | null
} & { readonly [Told in 'answeredAmount' | 'answeredCurrency' | 'answeredXtlOrderId']: string | null }

/** Each once, in the order of their arrival. */
export function* findById(id: string): Script<FoundInstruction[]> {
  const found = new Map<bigint, FoundInstruction>()
  for (const { by, text } of SELECTS) {
    if (NEEDS_DIGITS.includes(by) && !/^\d*[1-9]\d*$/.test(id)) continue
    for (const { rowId, ...row } of yield* allExact<Found>(text, { id }))
      if (!found.has(rowId)) found.set(rowId, toFound(row))
  }
  const inOrder = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return inOrder.slice(0, FOUND_MOST).map(([, row]) => row)
}

function toFound(found: Omit<Found, 'rowId'>): FoundInstruction {
  const { rowNo, line, attempts, sentAtMs, completedAtMs, askedOrderId, askedVaultId, ...others } = found
  const { answeredAmount, answeredCurrency, answeredOrderId, answeredVaultId, answeredXtlOrderId, ...row } = others
  const numberOf = (value: bigint | null) => (value === null ? null : Number(value))
  return {
    ...row,
    ...{ rowNo: Number(rowNo), line: Number(line), attempts: Number(attempts) },
    sentAtMs: numberOf(sentAtMs),
    completedAtMs: numberOf(completedAtMs),
    asked: { orderId: askedOrderId, vaultId: askedVaultId },
    answered: {
      ...{ amount: answeredAmount, currency: answeredCurrency, orderId: answeredOrderId },
      ...{ vaultId: answeredVaultId, xtlOrderId: answeredXtlOrderId },
    },
  }
}
