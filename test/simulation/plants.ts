// Bugs, planted on the way between the program and its ports, to see that the simulation finds them.

import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { AccountLane } from '../../src/processors/execute-slice.ts'
import type { RecordPlant, SimulatedRecord } from './record.ts'

export interface Plant extends RecordPlant {
  readonly lane?: (lane: AccountLane) => AccountLane
  /** Texts that no statement had so far, so that nothing was planted there. */
  readonly unused?: () => readonly string[]
}

/** Other texts in the statements of the ledger. */
function swapping(...swaps: readonly (readonly [text: string, instead: string])[]): Plant {
  const unused = new Set(swaps.map(([text]) => text))
  return {
    sql: (sql) =>
      swaps.reduce((left, [text, instead]) => {
        if (left.includes(text)) unused.delete(text)
        return left.replaceAll(text, instead)
      }, sql),
    unused: () => [...unused],
  }
}

function withOutcome(change: (outcome: Awaited<ReturnType<AccountLane['gateway']['send']>>) => typeof outcome): Plant {
  return {
    lane: (lane) => ({
      ...lane,
      gateway: {
        ...lane.gateway,
        send: async (instruction, fence, abandon, card) =>
          change(await lane.gateway.send(instruction, fence, abandon, card)),
      },
    }),
  }
}

function withLedger(change: (ledger: Ledger, record: SimulatedRecord) => Partial<Ledger>): Plant {
  return { ledger: (ledger, record) => ({ ...ledger, ...change(ledger, record) }) }
}

const NONE = { kind: 'none', message: null } as const

const attemptOf = (record: SimulatedRecord, rowId: number) =>
  record.all<{ attempt: number }>('SELECT attempt FROM instruction WHERE id = ?', rowId)[0]?.attempt ?? 0

export const PLANTS: Readonly<Record<string, Plant>> = {
  'the fence always lets go': {
    lane: (lane) => ({
      ...lane,
      gateway: {
        ...lane.gateway,
        send: (instruction, _fence, abandon, card) => lane.gateway.send(instruction, () => null, abandon, card),
      },
    }),
  },
  'the fence lets go what is late': {
    lane: (lane) => ({
      ...lane,
      gateway: {
        ...lane.gateway,
        send: (instruction, fence, abandon, card) => {
          const late = () => {
            const why = fence()
            return why === 'fence' ? null : why
          }
          return lane.gateway.send(instruction, late, abandon, card)
        },
      },
    }),
  },
  'the last look at the rate always lets go': {
    lane: (lane) => {
      const reserve = async (signal: AbortSignal) => {
        const given = await lane.limiter.reserve(signal)
        return given === null ? null : { ...given, commit: () => null }
      }
      return {
        ...lane,
        limiter: Object.create(lane.limiter, { reserve: { value: reserve } }) as AccountLane['limiter'],
      }
    },
  },
  'no day is limited': { lane: (lane) => ({ ...lane, dailyLimits: null }) },
  'a claim counts for nothing on its day': swapping([
    'SET amount_minor = amount_minor + ?',
    'SET amount_minor = amount_minor + 0 * ?',
  ]),
  'what was accepted above one limit is accepted for every other': swapping([
    'SELECT accepted_limit AS "acceptedMinor"',
    'SELECT 0 AS "acceptedMinor"',
  ]),
  'rows of one order are claimed together': swapping(
    ["e.state IN ('SENDING', 'IN_DOUBT')", '0'],
    ["e.state = 'READY' AND e.id < i.id", '0'],
  ),
  // Runs are short: here the fourth doubt counts as the tenth.
  'an account that is held for its doubts goes on': swapping(
    ['new_doubts + 1', 'new_doubts + 3'],
    ['hold_reason = ?1 WHERE account_id', 'hold_reason = ?1 WHERE 0 AND account_id'],
    ['a.held_reason IS NULL', '1'],
  ),
  'a claim is told before its commit': withLedger((ledger) => ({
    claim: async (claim) => {
      void ledger.claim(claim)
      return { kind: 'claimed', attempt: claim.attempt + 1 }
    },
  })),
  'a claim does not ask whether the row is still READY': swapping([
    "WHERE id = ?4 AND state = 'READY' AND attempt = ?5 AND",
    'WHERE id = ?4 AND ?5 >= 0 AND',
  ]),
  'a settlement does not ask for its attempt': withLedger((ledger, record) => ({
    settle: (settlement) => ledger.settle({ ...settlement, attempt: attemptOf(record, settlement.rowId) }),
  })),
  'a sweep makes rows READY': swapping([
    "SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = ?1, sent_at",
    "SET state = 'READY', completed_at = ?1, sent_at",
  ]),
  'nothing is swept': withLedger(() => ({ sweep: async () => 0, sweepForgotten: async () => 0 })),
  'a clock that is set back makes rows rest until it has caught up': withLedger(() => ({
    endOverlongRests: async () => 0,
  })),
  'an answer of 5xx counts as not executed': withOutcome((outcome) =>
    outcome.kind === 'answered' && outcome.httpStatus >= 500 ? { ...outcome, httpStatus: 429, body: NONE } : outcome,
  ),
  'an answer that cannot be understood counts as none': withOutcome((outcome) =>
    outcome.kind === 'answered' && outcome.body.kind === 'unclear' ? { ...outcome, body: NONE } : outcome,
  ),
  'a lost answer counts as not sent': withOutcome((outcome) =>
    outcome.kind === 'lost' ? { kind: 'unsent', why: 'connect', detail: outcome.detail } : outcome,
  ),
  'an earlier doubt is forgotten': withLedger((ledger) => ({
    dueRows: async (...args) => (await ledger.dueRows(...args)).map((row) => ({ ...row, everInDoubt: false })),
  })),
  'a refusal that says it was done already is believed': withLedger((ledger) => ({
    settle: (settlement) => ledger.settle({ ...settlement, category: null }),
  })),
  'rows in doubt may be retried': {
    ...withLedger((ledger) => ({
      openDraft: (header) =>
        ledger.openDraft({
          ...header,
          retry: header.retry.length === 0 ? [] : [...header.retry, 'IN_DOUBT' as 'FAILED'],
        }),
    })),
    // What is looked at once more when the batch becomes visible would hold them back.
    ...swapping(["i.state NOT IN ('FAILED', 'CANCELLED') OR EXISTS", 'EXISTS']),
  },
  'a transaction id settles any number of rows': swapping([
    "ltrim(transaction_id, '0') = ltrim(?2, '0')",
    "ltrim(transaction_id, '0') = ltrim(?2, '0') AND 0",
  ]),
  'a row that is left when a batch is cancelled stays': swapping([
    "i.state = 'READY' AND b.hold = 'cancelled' LIMIT",
    '0 LIMIT',
  ]),
  'an earlier row stands for any number of rows': swapping([' AND p.nth = r.nth', '']),
  'a row that the file has already stands for another one': {
    sql: (sql) =>
      sql.includes('SET earlier = m.earlier') ? sql.replace('WHERE t.duplicate_of = i.id)', 'WHERE 0)') : sql,
  },
  'rows of earlier files are not recognised': swapping(['p.nth = r.nth', '0']),
  'a claim does not ask for approvals': swapping([' AND b.approvals_needed <= b.approvals_given', '']),
  'the first approval counts as all that are needed': swapping([
    '(SELECT count(*) FROM approval a WHERE a.batch_id = batch.id)',
    'approvals_needed',
  ]),
  'whoever proposed to send a row again is not known any more': swapping([
    'a.parts FROM proposal p JOIN actor a ON a.id = p.actor_id',
    `'{"name":"nobody","uid":null,"host":"desk","terminal":null,"login":null,"sudo":null,"as":null}' AS parts FROM proposal p`,
  ]),
  'no order is judged where rows are handed in': swapping(
    [`(r.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED') OR r.money_warning = 1)`, '0'],
    [
      'SET (authorized_minor, authorized_currency, authorized_row, authorized_unsure)',
      'SET (captures, captures, captures, captures)',
    ],
    ['WHERE rows > captures', 'WHERE 0'],
  ),
  'no order is judged in a claim': swapping([
    "WHERE i.id = ?1 AND i.state = 'READY' AND i.attempt",
    'WHERE 0 AND i.attempt',
  ]),
  'what is in doubt of an order does not count': swapping(
    [`r.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')`, `r.state IN ('READY', 'SENDING', 'APPROVED')`],
    [`r.state IN ('SENDING', 'IN_DOUBT', 'APPROVED')`, `r.state IN ('SENDING', 'APPROVED')`],
  ),
  'what waits of an order does not count': swapping([
    `r.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED')`,
    `r.state IN ('SENDING', 'IN_DOUBT', 'APPROVED')`,
  ]),
  'a void does not count': swapping([
    `max(id) FILTER (WHERE operation = 'CANCEL') AS voided_row`,
    'NULL AS voided_row',
  ]),
  'a void of a part of an order takes nothing': swapping([
    `max(id) FILTER (WHERE operation = 'CANCEL') AS voided_row`,
    `max(id) FILTER (WHERE operation = 'CANCEL' AND amount_minor IS NULL) AS voided_row`,
  ]),
  'what names an order is a look-alike for 30 days': swapping([
    `WHEN i.state = 'IN_DOUBT' OR i.order_key IS NOT NULL THEN TRUE`,
    `WHEN i.state = 'IN_DOUBT' THEN TRUE`,
  ]),
  'a changed amount is sent beside the first': swapping(['SET changed_row = m.id', 'SET changed_row = NULL']),
  'what a row says of its order is not read': swapping(['d.beside IS NOT NULL OR (', '0 OR (']),
  'a transaction id passes for an order id': swapping([
    "ltrim(i.transaction_id, '0') = (d.order_key || '')",
    "ltrim(i.transaction_id, '0') = (d.order_key || 'x')",
  ]),
  'a void of less than its order is not asked about': swapping([
    "(d.operation = 'CANCEL' AND d.amount_minor IS NOT NULL AND",
    "(0 AND d.operation = 'CANCEL' AND",
  ]),
  'a roster that has slipped is not asked about': swapping(["ltrim(o.vault_id, '0') <> ltrim(d.vault_id, '0')", '0']),
  'a month is known by one spelling only': swapping([
    'FROM run_key WHERE account_id',
    'FROM run_key WHERE 0 AND account_id',
  ]),
  'other accounts are not looked at': swapping(
    ['FROM account WHERE id <> ', 'FROM account WHERE 0 AND id <> '],
    ["AND b.stage = 'open' AND b.source = 'file' AND b.sandbox", 'AND 0 AND b.sandbox'],
  ),
}
