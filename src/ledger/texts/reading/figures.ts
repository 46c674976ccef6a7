// The ledger in figures, by its tallies and the indexes of open rows: however many rows there are, only open ones are looked at.

import {
  type AccountFigures,
  type LedgerFigures,
  OPEN_BATCHES,
  type OpenBatch,
  type OutcomeFigures,
} from '../../../domain/figures.ts'
import type { State } from '../../../domain/states.ts'
import { clockAgrees, IS_BLOCKED, MAY_SEND, WITHIN_CANARY } from '../orders.ts'
import { all, one, type Script } from '../script.ts'

interface Account {
  readonly id: number
  readonly merchant: string
  readonly stopped: number
  readonly held: number
  readonly waitsUntilMs: number | null
}

const ACCOUNTS = `
    SELECT id, name AS merchant, CASE WHEN stopped_reason IS NULL THEN 0 ELSE 1 END AS stopped,
      CASE WHEN held_reason IS NULL THEN 0 ELSE 1 END AS held, wait_until AS "waitsUntilMs"
    FROM account ORDER BY id`

const PENDING = `
    SELECT b.account_id AS id, CAST(sum(t.count) AS BIGINT) AS n FROM tally t JOIN batch b ON b.id = t.batch_id
    WHERE t.state = 'READY' AND t.count > 0 AND b.stage = 'open' GROUP BY 1`

const SENDING = "SELECT account_id AS id, count(*) AS n FROM instruction WHERE state = 'SENDING' GROUP BY 1"

const DOUBTS = `
    SELECT account_id AS id, count(*) AS n, min(coalesce(sent_at, completed_at)) AS "sinceMs"
    FROM instruction WHERE state = 'IN_DOUBT' GROUP BY 1`

/** Those of a batch that fell due first. More of them are not looked at, or thousands behind one doubt would make each look slow. */
const LOOKED_AT = 100

const DUE = `
    SELECT f.id, min(f.due) AS "sinceMs" FROM (
      SELECT b.account_id AS id, (
        SELECT min(i.due_at) FROM (
          SELECT r.* FROM instruction r WHERE r.batch_id = b.id AND r.state = 'READY' ORDER BY r.due_at LIMIT ${LOOKED_AT}) AS i
        WHERE NOT ${IS_BLOCKED} AND ${WITHIN_CANARY} AND ${clockAgrees('@clock_ms')}) AS due
      FROM batch b JOIN account a ON a.id = b.account_id
      WHERE b.id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0) AND ${MAY_SEND} AND b.needs_file = 0) AS f
    WHERE f.due IS NOT NULL GROUP BY 1`

const RECORDED = `
    SELECT account_id AS id, CAST(sum(late_answers) AS BIGINT) AS "lateAnswers",
      count(CASE WHEN results_path IS NOT NULL AND version <> results_version THEN 1 END) AS "staleResults"
    FROM batch WHERE stage = 'open' GROUP BY 1`

const BATCHES = `
    SELECT f.state, count(*) AS n FROM (
      SELECT CASE
        WHEN o.is_open = 0 THEN 'in_doubt'
        WHEN b.hold = 'cancelled' THEN 'running'
        WHEN b.hold = 'paused' OR a.held_reason IS NOT NULL THEN 'paused'
        WHEN a.stopped_reason IS NOT NULL THEN 'stopped'
        WHEN o.ready = 1 AND b.approvals_needed > b.approvals_given THEN 'awaiting_approval'
        ELSE 'running' END AS state
      FROM (
        SELECT u.id, max(u.is_open) AS is_open, max(u.ready) AS ready FROM (
          SELECT batch_id AS id, 1 AS is_open, 1 AS ready FROM tally WHERE state = 'READY' AND count > 0
          UNION SELECT batch_id, 1, 0 FROM instruction WHERE state = 'SENDING'
          UNION SELECT batch_id, 0, 0 FROM instruction WHERE state = 'IN_DOUBT') AS u GROUP BY u.id) AS o
      JOIN batch b ON b.id = o.id JOIN account a ON a.id = b.account_id WHERE b.stage = 'open') AS f
    GROUP BY 1`

const AWAITING = `
    SELECT min(created_at) AS "sinceMs" FROM batch
    WHERE stage = 'open' AND hold <> 'cancelled' AND approvals_needed > approvals_given
      AND id IN (SELECT batch_id FROM tally WHERE state = 'READY' AND count > 0)`

const OUTCOMES = `
    SELECT b.account_id AS id, t.state, CAST(sum(t.count) AS BIGINT) AS n FROM tally t JOIN batch b ON b.id = t.batch_id
    WHERE t.state IN ('APPROVED', 'DECLINED', 'FAILED') AND t.count > 0 AND b.stage = 'open' GROUP BY 1, 2`

interface Counted {
  readonly id: number
  readonly n: number
}

interface Since {
  readonly id: number
  readonly sinceMs: number
}

interface Recorded {
  readonly id: number
  readonly lateAnswers: number
  readonly staleResults: number
}

export function* figuresOf(): Script<LedgerFigures> {
  const accounts = yield* all<Account>(ACCOUNTS)
  const pending = byId(yield* all<Counted>(PENDING))
  const sending = byId(yield* all<Counted>(SENDING))
  const doubts = byId(yield* all<Counted & Since>(DOUBTS))
  const due = byId(yield* all<Since>(DUE))
  const recorded = byId(yield* all<Recorded>(RECORDED))
  const found = yield* all<{ state: OpenBatch; n: number }>(BATCHES)
  const awaiting = yield* one<{ sinceMs: number | null }>(AWAITING)
  const numberOf = (state: OpenBatch) => found.find((one) => one.state === state)?.n ?? 0
  return {
    accounts: accounts.map(
      ({ id, merchant, stopped, held, waitsUntilMs }): AccountFigures => ({
        ...{ merchant, waitsUntilMs, stopped: stopped === 1, held: held === 1 },
        pending: pending.get(id)?.n ?? 0,
        sending: sending.get(id)?.n ?? 0,
        inDoubt: doubts.get(id)?.n ?? 0,
        dueSinceMs: due.get(id)?.sinceMs ?? null,
        doubtSinceMs: doubts.get(id)?.sinceMs ?? null,
        lateAnswers: recorded.get(id)?.lateAnswers ?? 0,
        staleResults: recorded.get(id)?.staleResults ?? 0,
      }),
    ),
    batches: Object.fromEntries(OPEN_BATCHES.map((state) => [state, numberOf(state)])) as LedgerFigures['batches'],
    approvalSinceMs: awaiting?.sinceMs ?? null,
  }
}

export function* outcomesOf(): Script<readonly OutcomeFigures[]> {
  const accounts = yield* all<Account>(ACCOUNTS)
  const found = yield* all<Counted & { readonly state: State }>(OUTCOMES)
  const count = (id: number, state: State) => found.find((one) => one.id === id && one.state === state)?.n ?? 0
  return accounts.map(({ id, merchant }) => ({
    merchant,
    ...{ approved: count(id, 'APPROVED'), declined: count(id, 'DECLINED'), failed: count(id, 'FAILED') },
  }))
}

function byId<T extends { readonly id: number }>(found: readonly T[]): ReadonlyMap<number, T> {
  return new Map(found.map((one) => [one.id, one]))
}
