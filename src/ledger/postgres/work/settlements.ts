// Plain settlements, many in one statement: a claimed row was answered, and nothing but the row changes. Whatever else a settlement may do
// (come late, bring a doubt, say that it was done already, give back to the limit of a day, warn of money, be of a batch with a canary or a limit, store a card, meet a transaction that is taken) is for the script.

import { formatCardMask } from '../../../domain/card.ts'
import type { State } from '../../../domain/states.ts'
import type { Settled, Settlement } from '../../../ports/ledger/work.ts'
import { type MakeMove, type RowToSettle, settlingStep } from '../../rules/settling.ts'
import { byOf } from '../../texts/record/acts.ts'
import { answeredBy, answeredText } from '../../texts/record/recorded.ts'
import type { Asked } from '../session.ts'
import { type Alike, alike, claimNosOf } from './tally.ts'

/** One that nothing but the row stands against. */
export interface PlainSettlement extends Settlement {
  /** Of the claim that it settles. */
  readonly claimNo: number
  readonly step: MakeMove
}

/** What a row is taken for. The statement asks whether it is so; `hold` and `wasFound` change nothing for a row that is SENDING. */
const AS_CLAIMED: Omit<RowToSettle, 'attempt'> = {
  ...{ state: 'SENDING', hold: 'none', warning: null, transactionId: null, wasFound: 0 },
}

/** null: by what it says itself, it is not plain. */
export function plainOf(settlement: Settlement, claimNo: number): PlainSettlement | null {
  if (!mayBePlain(settlement)) return null
  const step = settlingStep({ ...AS_CLAIMED, attempt: settlement.attempt }, settlement, null)
  return step.kind !== 'move' || step.newDoubt || step.moneyWarning || step.waitsAgain
    ? null
    : { ...settlement, claimNo, step }
}

function mayBePlain({ to, category, warning, forbidden, askedToWaitUntilMs, limited }: Settlement): boolean {
  return (
    category !== 'done' &&
    category !== 'balance' &&
    (to === 'APPROVED' || (!limited && (to === 'DECLINED' || to === 'FAILED'))) &&
    warning === null &&
    !forbidden &&
    askedToWaitUntilMs === null
  )
}

/**
 * Those of own claims that are SENDING, and have nothing about them that asks for more than a move. Every effect hangs on the claim that goes.
 * Each row and its claim are looked up one by one, whatever the planner believes of the tables (`= ANY` leaves it nothing else): all claims
 * against all settlements is quadratic, and by its `ctid` a claim takes eight times as long to find as by its id. CASE hides the state from it: by the index of what is SENDING, which looks small, it would read all rows of the group for each of them.
 */
const SETTLE = `
  WITH say AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::text[], $19::text[], $20::text[],
      $22::bigint[])
      AS s (row_id, claim_no, state, due_at, sent_at, completed_at, reason, transaction_id, order_id,
        record_id, amount, currency, vault_id, xtl_order_id, customer_id, card, http_status, answer, answered, cause, attempt)),
  fit AS MATERIALIZED (
    SELECT s.* FROM say s
      CROSS JOIN LATERAL (SELECT * FROM instruction r WHERE r.id = s.row_id OFFSET 0) AS i JOIN batch b ON b.id = i.batch_id
    WHERE i.state = 'SENDING' AND i.attempt = s.attempt AND i.transaction_id IS NULL AND i.warning IS NULL AND i.operation <> 'VAULT_CREATE'
      AND b.canary_rows IS NULL AND b.max_declined IS NULL),
  gone AS (
    DELETE FROM claim c USING fit s WHERE c.row_id = s.row_id AND c.row_id = ANY ($1) AND c.claim_no = s.claim_no AND c.worker = $21
    RETURNING s.*),
  settled AS (
    UPDATE instruction i SET state = s.state, due_at = s.due_at, sent_at = coalesce(s.sent_at, i.sent_at), completed_at = s.completed_at,
      reason = s.reason, transaction_id = s.transaction_id, answered_order_id = s.order_id, answered_record_id = s.record_id,
      answered_amount = s.amount, answered_currency = s.currency, answered_vault_id = s.vault_id, answered_xtl_order_id = s.xtl_order_id,
      answered_customer_id = s.customer_id, answered_card = s.card
    FROM gone s WHERE i.id = s.row_id AND i.id = ANY ($1) AND CASE i.state WHEN 'SENDING' THEN true END
    RETURNING i.batch_id, i.account_id, i.operation, i.currency AS of_currency, i.amount_minor, s.*),
  taken AS (
    INSERT INTO seen_transaction (account_id, transaction_id, row_id)
    SELECT s.account_id, ltrim(s.transaction_id, '0'), s.row_id FROM settled s WHERE s.transaction_id IS NOT NULL),
  history AS (
    INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, http_status, answer, reason, answered)
    SELECT s.row_id, s.attempt, 'SENDING', s.state, s.cause, s.completed_at, '${byOf(null)}', s.http_status, s.answer, s.reason, s.answered
    FROM settled s)
  SELECT s.state, ${alike('s', 's.of_currency')}
  FROM (SELECT set_config('tranche.settled', CAST(count(*) AS TEXT), true) FROM settled) AS told LEFT JOIN settled s ON true
  GROUP BY s.state, s.batch_id, s.operation, s.of_currency`

/** For what comes after it in the transaction: whether so many were settled as `$9` says. Once a transaction has ended, the setting is empty. */
export const ALL_SETTLED = "CAST(nullif(current_setting('tranche.settled', true), '') AS BIGINT) = $9"

export function askToSettle(worker: number, settlements: readonly PlainSettlement[]): Asked {
  const of = <T>(value: (one: PlainSettlement) => T) => settlements.map(value)
  const values = [
    of(({ rowId }) => rowId),
    of(({ claimNo }) => claimNo),
    of(({ step }) => step.to),
    of(({ dueAtMs }) => dueAtMs),
    of(({ sentAtMs }) => sentAtMs),
    of(({ atMs }) => atMs),
    of(({ step }) => step.reason),
    of(({ step }) => step.facts.transactionId),
    of(({ step }) => step.facts.orderId),
    of(({ step }) => step.facts.recordId),
    of(({ step }) => step.facts.amount),
    of(({ step }) => step.facts.currency),
    of(({ step }) => step.facts.vaultId),
    of(({ step }) => step.facts.xtlOrderId),
    of(({ step }) => step.facts.customerId),
    of(({ step }) => (step.facts.card === null ? null : formatCardMask(step.facts.card))),
    of(({ httpStatus }) => httpStatus),
    of(({ answerText }) => answerText),
    of(({ step }) => answeredText(answeredBy(step.facts))),
    of(({ step }) => step.cause),
    worker,
    of(({ attempt }) => attempt),
  ]
  return { text: SETTLE, values }
}

/** The one that there is where none was settled has no claims. */
type SettledRows = (Alike & { readonly state: State }) | { readonly claims: null }

/**
 * By the number of the claim; `moved` is told of all. One that is missing is not plain, and nothing was written of it. A transaction that
 * another row has breaks the statement, by the key of `seen_transaction`.
 */
export function settledIn(
  found: readonly object[],
  moved: (rows: Alike, to: State) => void,
): ReadonlyMap<number, Settled> {
  const settled = new Map<number, Settled>()
  for (const rows of found as readonly SettledRows[]) {
    if (rows.claims === null) continue
    moved(rows, rows.state)
    for (const claimNo of claimNosOf(rows)) settled.set(claimNo, { state: rows.state, paused: null })
  }
  return settled
}
