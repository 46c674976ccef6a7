// Plain settlements, many in two statements: a claimed row was answered, and nothing but the row changes. Whatever else a settlement may do
// (come late, bring a doubt, warn of money, end a canary, tip a limit, meet a transaction that is taken) is for the script, alone.

import { formatCardMask } from '../../../domain/card.ts'
import type { Settled, Settlement } from '../../../ports/ledger/work.ts'
import { type MakeMove, type RowToSettle, settlingStep } from '../../rules/settling.ts'
import { byOf } from '../../texts/record/acts.ts'
import { answeredBy, answeredText } from '../../texts/record/recorded.ts'
import type { Counted } from '../../texts/record/tally.ts'
import type { Session } from '../session.ts'

export interface NumberedSettlement extends Settlement {
  /** Of the claim that it settles. */
  readonly claimNo: number
}

interface Found extends RowToSettle, Counted {
  readonly claimNo: number
}

interface Plain {
  readonly row: Found
  readonly settlement: NumberedSettlement
  readonly step: MakeMove
}

/** Whether it may be settled beside others, as far as it says itself. */
export function mayBePlain({ to, warning, forbidden, askedToWaitUntilMs }: Settlement): boolean {
  return (
    (to === 'APPROVED' || to === 'DECLINED' || to === 'FAILED') &&
    warning === null &&
    !forbidden &&
    askedToWaitUntilMs === null
  )
}

/** Those of own claims that are SENDING, and have nothing about them that asks for more than a move. */
const FIND = `
  SELECT u.claim_no AS "claimNo", i.state, i.attempt, b.hold, i.warning, i.transaction_id AS "transactionId", 0 AS "wasFound",
    i.batch_id, i.operation, i.currency, i.amount_minor
  FROM unnest($1::bigint[], $2::bigint[]) AS u (row_id, claim_no)
  JOIN claim c ON c.row_id = u.row_id AND c.claim_no = u.claim_no AND c.worker = $3
  CROSS JOIN LATERAL (SELECT * FROM instruction r WHERE r.id = u.row_id OFFSET 0) AS i JOIN batch b ON b.id = i.batch_id
  WHERE i.state = 'SENDING' AND i.warning IS NULL AND i.operation <> 'VAULT_CREATE' AND b.canary_rows IS NULL AND b.max_declined IS NULL`

/** Every effect hangs on the claim that goes. */
const SETTLE = `
  WITH say AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::text[], $19::text[], $20::text[])
      AS s (row_id, claim_no, state, due_at, sent_at, completed_at, reason, transaction_id, order_id,
        record_id, amount, currency, vault_id, xtl_order_id, customer_id, card, http_status, answer, answered, cause)),
  gone AS (
    DELETE FROM claim c USING say s WHERE c.row_id = s.row_id AND c.row_id = ANY ($1) AND c.claim_no = s.claim_no AND c.worker = $21
    RETURNING s.*),
  settled AS (
    UPDATE instruction i SET state = s.state, due_at = s.due_at, sent_at = coalesce(s.sent_at, i.sent_at), completed_at = s.completed_at,
      reason = s.reason, transaction_id = s.transaction_id, answered_order_id = s.order_id, answered_record_id = s.record_id,
      answered_amount = s.amount, answered_currency = s.currency, answered_vault_id = s.vault_id, answered_xtl_order_id = s.xtl_order_id,
      answered_customer_id = s.customer_id, answered_card = s.card
    FROM gone s WHERE i.id = s.row_id AND i.id = ANY ($1) AND i.state = 'SENDING'
    RETURNING i.attempt, s.*),
  history AS (
    INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, http_status, answer, reason, answered)
    SELECT s.row_id, s.attempt, 'SENDING', s.state, s.cause, s.completed_at, '${byOf(null)}', s.http_status, s.answer, s.reason, s.answered
    FROM settled s)
  SELECT claim_no AS "claimNo" FROM settled`

/**
 * In a transaction. Answers by the number of the claim; one that is missing is not plain, and nothing was written of it. A transaction that
 * another row has breaks it, by the key of all transactions.
 */
export async function settleMany(
  session: Session,
  worker: number,
  settlements: readonly NumberedSettlement[],
  moved: (row: Counted, to: MakeMove['to']) => void,
): Promise<ReadonlyMap<number, Settled>> {
  const done = new Map<number, Settled>()
  if (settlements.length === 0) return done
  const plain = plainAmong(settlements, await find(session, worker, settlements))
  for (const { claimNo } of await write(session, worker, plain)) {
    const { row, step } = plain.find((one) => one.row.claimNo === claimNo) as Plain
    moved(row, step.to)
    done.set(claimNo, { state: step.to, paused: null })
  }
  return done
}

function find(session: Session, worker: number, settlements: readonly NumberedSettlement[]): Promise<readonly Found[]> {
  return session.ask<Found>(FIND, [
    settlements.map(({ rowId }) => rowId),
    settlements.map(({ claimNo }) => claimNo),
    worker,
  ])
}

function plainAmong(settlements: readonly NumberedSettlement[], found: readonly Found[]): readonly Plain[] {
  const rows = new Map(found.map((row) => [row.claimNo, row]))
  return settlements.flatMap((settlement) => {
    const row = rows.get(settlement.claimNo)
    if (row === undefined) return []
    const step = settlingStep(row, settlement, null)
    return step.kind !== 'move' || step.newDoubt || step.moneyWarning || step.waitsAgain
      ? []
      : [{ row, settlement, step }]
  })
}

async function write(
  session: Session,
  worker: number,
  plain: readonly Plain[],
): Promise<readonly { claimNo: number }[]> {
  if (plain.length === 0) return []
  const of = <T>(value: (one: Plain) => T) => plain.map(value)
  return session.ask(SETTLE, [
    of(({ settlement }) => settlement.rowId),
    of(({ settlement }) => settlement.claimNo),
    of(({ step }) => step.to),
    of(({ settlement }) => settlement.dueAtMs),
    of(({ settlement }) => settlement.sentAtMs),
    of(({ settlement }) => settlement.atMs),
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
    of(({ settlement }) => settlement.httpStatus),
    of(({ settlement }) => settlement.answerText),
    of(({ step }) => answeredText(answeredBy(step.facts))),
    of(({ step }) => step.cause),
    worker,
  ])
}
