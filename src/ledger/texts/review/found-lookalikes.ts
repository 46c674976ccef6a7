// The look-alikes of a reviewed draft, each beside the row that it looks like.

import type { Lookalike } from '../../../domain/draft.ts'
import type { Currency, Money } from '../../../domain/money.ts'
import type { State } from '../../../domain/states.ts'
import type { TargetWhy } from '../../rules/judge-target.ts'
import { all, type Script } from '../script.ts'
import { IS_LIKE } from './draft-rows.ts'

const LOOKALIKES = `
    SELECT d.row_no AS "rowNo", d.line, d.reference, i.batch_id AS "batchId", coalesce(o.row_no, i.row_no) AS "likeRowNo",
      d.operation, CAST(d.amount_minor AS TEXT) AS "amountMinor", d.currency AS "ownCurrency", coalesce(d.order_id, d.vault_id) AS "orderId",
      o.line AS "likeLine", coalesce(o.reference, i.reference) AS "likeReference",
      CAST(CASE WHEN o.row_no IS NULL THEN i.amount_minor ELSE o.amount_minor END AS TEXT) AS "likeMinor",
      CASE WHEN o.row_no IS NULL THEN i.currency ELSE o.currency END AS "likeCurrency",
      CASE WHEN o.row_no IS NULL THEN coalesce(i.order_id, i.vault_id) ELSE coalesce(o.order_id, o.vault_id) END AS "likeOrderId",
      (SELECT b.created_at FROM batch b WHERE b.id = i.batch_id) AS "likeAtMs", CASE WHEN o.row_no IS NULL THEN i.state END AS "likeState",
      CASE WHEN d.lost_row IS NULL THEN 0 ELSE 1 END AS lost, CASE WHEN (t.why IS NULL AND o.operation <> d.operation) OR q.why = 'beside-void' THEN 1 ELSE 0 END AS "besideVoid",
      CASE WHEN coalesce(d.lost_row, d.changed_row) IS NULL AND coalesce(o.lookalike, i.lookalike) <> d.lookalike THEN CAST(q.before_minor AS TEXT) END AS "refundedMinor",
      CASE WHEN coalesce(d.lost_row, d.changed_row) IS NOT NULL AND i.lookalike IS DISTINCT FROM d.lookalike THEN CAST(i.amount_minor AS TEXT) END AS "changedMinor",
      CASE WHEN coalesce(d.lost_row, d.changed_row) IS NULL THEN q.before_currency ELSE i.currency END AS currency, CASE i.money_warning WHEN 1 THEN i.warning END AS "moneyWarning",
      t.why, t.problem
    FROM draft_row d
    LEFT JOIN draft_row o ON o.row_no = d.like_row AND d.lost_row IS NULL
    LEFT JOIN instruction i ON i.id = coalesce(d.lost_row, d.like_recorded, d.changed_row) AND o.row_no IS NULL
    LEFT JOIN draft_question q ON q.row_no = d.row_no
    LEFT JOIN draft_target t ON t.row_no = d.row_no AND d.lost_row IS NULL
    WHERE d.row_no > :last AND (${IS_LIKE})
    ORDER BY d.row_no LIMIT :most`

/** Those after row `last`. */
export function* lookalikesAfter(last: number, most: number): Script<Lookalike[]> {
  return (yield* all<FoundLookalike>(LOOKALIKES, { last, most })).map(toLookalike)
}

interface FoundLookalike
  extends Pick<Lookalike, 'rowNo' | 'line' | 'reference' | 'operation' | 'orderId' | 'moneyWarning'> {
  readonly amountMinor: string | null
  readonly ownCurrency: Currency | null
  readonly likeLine: number | null
  readonly likeMinor: string | null
  readonly likeCurrency: Currency | null
  readonly likeOrderId: string | null
  readonly likeAtMs: number | null
  readonly batchId: string | null
  readonly likeRowNo: number
  readonly likeReference: string
  readonly likeState: State | null
  readonly lost: number
  readonly besideVoid: number
  readonly refundedMinor: string | null
  readonly changedMinor: string | null
  readonly currency: Currency | null
  readonly why: TargetWhy | null
  readonly problem: string | null
}

function toLookalike(found: FoundLookalike): Lookalike {
  const { rowNo, line, reference, operation, orderId, batchId, currency, refundedMinor, changedMinor } = found
  return {
    ...{ rowNo, line, reference, operation, orderId, money: moneyOf(found.amountMinor, found.ownCurrency) },
    like: {
      ...{
        batchId,
        rowNo: found.likeRowNo,
        line: found.likeLine,
        reference: found.likeReference,
        state: found.likeState,
      },
      ...{ money: moneyOf(found.likeMinor, found.likeCurrency), orderId: found.likeOrderId, atMs: found.likeAtMs },
    },
    lost: found.lost === 1,
    besideVoid: found.besideVoid === 1,
    changedFrom: changedMinor === null ? null : { amountMinor: BigInt(changedMinor), currency: currency as Currency },
    refundedBefore: refundedMinor === null ? null : { amountMinor: BigInt(refundedMinor), currency },
    question: found.why === null || found.problem === null ? null : { code: found.why, text: found.problem },
    moneyWarning: found.moneyWarning,
  }
}

function moneyOf(minor: string | null, currency: Currency | null): Money | null {
  return minor === null || currency === null ? null : { amountMinor: BigInt(minor), currency }
}
