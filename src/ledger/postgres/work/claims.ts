// Claims, many in one statement: each asks what `texts/work/claim.ts` asks. Two workers that want one row, or two rows of one order, meet at
// the row lock or at the keys of `claim`, and one of them is refused.

import type { Claim, ClaimAnswer } from '../../../ports/ledger/work.ts'
import { clockAgrees, MAY_SEND, ORDER_IS_FREE, WITHIN_CANARY } from '../../texts/orders.ts'
import { byOf } from '../../texts/record/acts.ts'
import { IS_IN_TIME } from '../../texts/work/expiring.ts'
import { IS_JUDGED_FIRST } from '../../texts/work/misfits.ts'
import { type Failover, restedFor, sameHistory } from '../copies/identity.ts'
import type { Asked } from '../session.ts'
import type { Held } from './senders.ts'
import { ALL_SETTLED } from './settlements.ts'
import { type Alike, alike, claimNosOf } from './tally.ts'

export interface NumberedClaim extends Claim {
  /** Never given twice by one worker: with its id, the token of this claim. */
  readonly claimNo: number
  /** What the server's clock and this machine's have both reached. */
  readonly reachedMs: number
  /** What either of them has reached. */
  readonly passedMs: number
  /** A person has accepted that its amount is above the limit of a whole day. */
  readonly mayExceed: boolean
}

// The first look finds rows by their ids alone, whatever the planner believes of the table. The second locks them, and asks again for what
// another claim may have changed since. `IS TRUE` keeps the planner from asking a part of a condition twice. The order in which keys are taken is the same in every transaction, so that two do not deadlock.
/**
 * `mine`: of the accounts that this worker holds, those of which it is the sender still. Their key is locked, and who takes one changes it: so
 * no claim of a term is committed after that term. `same`: what must hold of the server.
 */
const claimText = (same: string) => `
  WITH ask AS MATERIALIZED (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $8::bigint[], $10::boolean[], $11::bigint[])
      AS a (row_id, attempt, claim_no, now_ms, send_by, answer_by, reached, judged, passed)),
  mine AS MATERIALIZED (
    SELECT s.account_id FROM unnest($12::bigint[], $13::bigint[]) AS h (account_id, term)
      JOIN sender s ON s.account_id = h.account_id AND s.term = h.term AND s.owner = $7
    WHERE s.account_id IN (SELECT r.account_id FROM ask JOIN instruction r ON r.id = ask.row_id) ORDER BY 1 FOR KEY SHARE OF s),
  fit AS MATERIALIZED (
    SELECT i.id, i.account_id, i.order_key, c.attempt, c.claim_no, c.answer_by - c.now_ms AS answer_within
    FROM ask c CROSS JOIN LATERAL (SELECT * FROM instruction r WHERE r.id = c.row_id OFFSET 0) AS i
      JOIN batch b ON b.id = i.batch_id JOIN account a ON a.id = i.account_id JOIN mine m ON m.account_id = i.account_id
    WHERE i.due_at <= c.reached AND ${IS_IN_TIME.replaceAll(':nowMs', 'c.passed')}
      AND ${MAY_SEND} AND ${WITHIN_CANARY} AND ${clockAgrees('c.reached')} AND ${ORDER_IS_FREE.replaceAll(':nowMs', 'c.reached')} IS TRUE
      AND (c.judged OR ${IS_JUDGED_FIRST} IS NOT TRUE)
      AND EXISTS (SELECT 1 FROM worker w WHERE w.id = $7 AND w.ended_at IS NULL AND w.fenced_at IS NULL)
      AND ($9::bigint = 0 OR ${ALL_SETTLED})
      AND ${same}),
  free AS MATERIALIZED (
    SELECT i.id, f.account_id, f.order_key, f.claim_no, f.answer_within FROM fit f JOIN instruction i ON i.id = f.id
    WHERE i.id = ANY ($1) AND i.state = 'READY' AND i.attempt = f.attempt
    ORDER BY f.account_id, f.order_key, i.id FOR NO KEY UPDATE OF i SKIP LOCKED),
  won AS (
    INSERT INTO claim (row_id, account_id, order_key, worker, claim_no, answer_by)
    SELECT f.id, f.account_id, f.order_key, $7, f.claim_no, clock_timestamp() + f.answer_within * interval '1 millisecond' FROM free f
    ON CONFLICT DO NOTHING RETURNING row_id, claim_no),
  sending AS (
    UPDATE instruction i SET state = 'SENDING', attempt = i.attempt + 1,
      claimed_at = ($4::bigint[])[w.n], send_by = ($5::bigint[])[w.n], answer_by = ($6::bigint[])[w.n]
    FROM (SELECT row_id, claim_no, array_position($3::bigint[], claim_no) AS n FROM won) AS w WHERE i.id = w.row_id AND i.id = ANY ($1)
    RETURNING i.id, i.batch_id, i.operation, i.currency, i.amount_minor, i.attempt, i.claimed_at, w.claim_no),
  history AS (
    INSERT INTO move (row_id, attempt, from_state, to_state, cause, at, by, worker, claim_no)
    SELECT s.id, s.attempt, 'READY', 'SENDING', 'claim', s.claimed_at, '${byOf(null)}', $7, s.claim_no FROM sending s)
  SELECT ${alike('s', 's.currency')} FROM sending s GROUP BY s.batch_id, s.operation, s.currency`

export interface Claiming {
  /** `settlements`: so many go before these claims in their transaction, and where one of them is not plain, nothing is claimed. */
  ask(worker: number, claims: readonly NumberedClaim[], settlements: number): Asked
  /** Answers in the order asked; `moved` is told of the rows that are SENDING now. */
  answers(
    claims: readonly NumberedClaim[],
    found: readonly object[],
    moved: (rows: Alike) => void,
  ): readonly ClaimAnswer[]
}

/** `restMs`: see `restedFor`. `held`: the accounts of this worker. */
export function createClaiming(failover: Failover, restMs: number, held: () => Held): Claiming {
  const text = claimText(`${sameHistory(failover)} AND ${restedFor(restMs)}`)
  return {
    ask: (worker, claims, settlements) => ({ text, values: valuesOf(worker, claims, settlements, held()) }),
    answers,
  }
}

function valuesOf(
  worker: number,
  claims: readonly NumberedClaim[],
  settlements: number,
  { accounts, terms }: Held,
): readonly unknown[] {
  return [
    claims.map(({ rowId }) => rowId),
    claims.map(({ attempt }) => attempt),
    claims.map(({ claimNo }) => claimNo),
    claims.map(({ nowMs }) => nowMs),
    claims.map(({ sendByMs }) => sendByMs),
    claims.map(({ answerByMs }) => answerByMs),
    worker,
    claims.map(({ reachedMs }) => reachedMs),
    settlements,
    claims.map(({ sharesOrder }) => sharesOrder),
    claims.map(({ passedMs }) => passedMs),
    accounts,
    terms,
  ]
}

function answers(...[claims, found, moved]: Parameters<Claiming['answers']>): readonly ClaimAnswer[] {
  const won = new Set<number>()
  for (const rows of found as readonly Alike[]) {
    moved(rows)
    for (const claimNo of claimNosOf(rows)) won.add(claimNo)
  }
  return claims.map(({ claimNo, attempt }) =>
    won.has(claimNo) ? { kind: 'claimed', attempt: attempt + 1 } : { kind: 'not-free' },
  )
}
