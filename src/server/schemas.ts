// The replies, as they are published: what a schema does not name does not leave. Ids and amounts are strings.

import * as z from 'zod'
import { BATCH_STATES } from '../domain/batch-status.ts'
import { holdsCardData } from '../domain/card-secrets.ts'
import { EVENT_TYPES } from '../domain/event.ts'
import { ENVIRONMENTS } from '../domain/merchant.ts'
import { STATES } from '../domain/states.ts'
import { holdsControls } from '../domain/visible.ts'
import { PART_CODES, PROBLEMS } from './problems.ts'

/** Of `max`: what is longer than it may be is looked at no further. */
export const LENGTH_FIRST = { abort: true } as const

export const when = z.string().describe('RFC 3339, UTC')
export const whole = z.int()
const AMOUNT = z.string().describe('In units of the currency, with as many decimals as it has.')

export const PROBLEM = z
  .object({
    type: z.string(),
    title: z.string(),
    status: whole,
    detail: z.string().describe('What happened, what it means for the money, what to do.'),
    code: z.enum(Object.keys(PROBLEMS) as [keyof typeof PROBLEMS, ...(keyof typeof PROBLEMS)[]]),
    request_id: z.string(),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional(),
          field: z.string().optional(),
          code: z
            .enum(PART_CODES)
            .describe(
              'missing, unknown, invalid: of a field. more: how many are left out. The others say why a row or a file is refused.',
            ),
          detail: z.string(),
        }),
      )
      .optional(),
    state: z.string().optional().describe('Of the instruction that cannot be cancelled, as it is.'),
    final: z.boolean().optional(),
    looks_like: z
      .object({ reference: z.string(), batch: z.string(), row: whole, state: z.string(), final: z.boolean() })
      .optional()
      .describe('The recorded instruction that a refused one may repeat: what it asks for may be done already.'),
  })
  .meta({ id: 'Problem', description: 'A problem, as RFC 9457 has it.' })

/** What is kept in the history beside the machine's own lines, and is kept for ever. */
export const REASON = z
  .string()
  .max(500, LENGTH_FIRST)
  .trim()
  .min(1)
  .refine((text) => !holdsControls(text), 'must be one line')
  .refine((text) => !holdsCardData(text), 'holds a card number or security code, which is never kept')
  .describe('Why; kept in the history.')

export const REASONED = z.strictObject({ reason: REASON })

export const BATCH_PARAMS = z.strictObject({ batch: z.string().regex(/^[0-9a-z-]{1,32}$/) })

export const BATCH = z
  .object({
    batch: z.string(),
    state: z.enum(BATCH_STATES),
    reason: z.string().optional().describe('Why nothing moves.'),
    approval: z
      .looseObject({ needed: whole, given: whole })
      .optional()
      .describe('Of a batch that people must approve. No key can approve.'),
    counts: z.record(z.string(), whole).describe('Rows by status.'),
    totals: z.array(
      z.object({ operation: z.string(), currency: z.string(), status: z.string(), count: whole, amount: AMOUNT }),
    ),
    rows: whole,
    source: z.enum(['file', 'messages']),
    file: z.string().nullable(),
    file_sha256: z.string().nullable(),
    run_key: z.string().nullable(),
    merchant: z.string(),
    environment: z.enum(ENVIRONMENTS).optional().describe('Of the account. Absent: nobody has said.'),
    recorded_at: when,
    recorded_by: z.string(),
    blocked: whole,
    late_answers: whole,
    trouble: z.looseObject({ since: when, why: z.string() }).nullable(),
    next_due_at: when.nullable(),
    results_stale: z.boolean(),
    left_out: z
      .array(z.object({ batch: z.string(), rows: whole }))
      .optional()
      .describe(
        'Of a cancelled batch: others that left out rows because this one was to send them. Nothing is sent for those now.',
      ),
  })
  .meta({ id: 'Batch' })

const STATUS = z.enum([...STATES.filter((state) => state !== 'READY'), 'PENDING']).describe('PENDING: not sent yet.')
const STANDING = {
  status: STATUS,
  final: z.boolean().describe('It does not change any more, except by a correction of a person.'),
  advice: z.string().optional().describe('Of a row in doubt.'),
}
const ASKED = { operation: z.string().nullable(), amount: AMOUNT.nullable(), currency: z.string().nullable() }
const ANSWERED = {
  transaction_id: z.string().nullable(),
  order_id: z.string().nullable(),
  record_id: z.string().nullable(),
  vault_id: z.string().nullable(),
  xtl_order_id: z.string().nullable(),
}
const WHAT_BECAME = {
  reason: z.string().nullable(),
  warning: z.string().nullable(),
  attempts: whole,
  sent_at: when.nullable(),
  completed_at: when.nullable(),
}

export const ROW = z
  .object({
    row: whole,
    line: whole,
    reference: z.string().nullable(),
    ...{ ...STANDING, ...ASKED, ...WHAT_BECAME, ...ANSWERED },
  })
  .meta({ id: 'Row' })

export const INSTRUCTION = z
  .object({
    reference: z.string(),
    batch: z.string(),
    row: whole,
    merchant: z.string(),
    found_by: z.string(),
    ...{ ...STANDING, ...ASKED, ...WHAT_BECAME, ...ANSWERED },
  })
  .meta({ id: 'Instruction' })

export const TAKEN = z
  .object({
    status: z.enum(['accepted', 'duplicate']).describe('duplicate: the ledger had it before; nothing was recorded.'),
    reference: z.string(),
    batch: z.string(),
    row: whole,
    state: STATUS,
    final: z.boolean(),
    advice: z.string().optional(),
    first_at: when.optional().describe('Of a duplicate: when it was recorded first.'),
    held: z
      .object({ by: z.string(), reason: z.string().nullable() })
      .optional()
      .describe('What holds it, as the event that began it is called. Absent: nothing does.'),
    warning: z.string().optional().describe('How it was answered otherwise than asked. Absent: it was not.'),
  })
  .meta({ id: 'Taken' })

const ACTOR = z.record(z.string(), z.union([z.string(), z.number(), z.null()])).nullable()

export const MOVE = z
  .object({
    batch: z.string(),
    row: whole,
    at: when,
    attempt: whole,
    from: z.string().nullable(),
    to: z.string(),
    cause: z.string(),
    by: z.string(),
    actor: ACTOR,
    http_status: whole.nullable(),
    answer: z.string().nullable().describe("The gateway's, as it came, masked."),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Move' })

export const DOUBT = z
  .object({
    id: z.string().describe('Of the row; by it the doubt is resolved.'),
    state: z.literal('IN_DOUBT'),
    final: z.literal(false),
    advice: z.string(),
    reference: z.string(),
    attempt: whole.describe('Which was looked up: another one is not judged.'),
    operation: z.string(),
    amount: z.string(),
    currency: z.string(),
    order_id: z.string(),
    vault_id: z.string(),
    card: z.string(),
    holder: z.string(),
    xtl_order_id: z.string(),
    sent_at: z.string(),
    reason: z.string(),
    merchant: z.string(),
    batch: z.string(),
    row: whole,
    rest_until: when.describe('Before, it cannot be resolved as not executed.'),
    holds_up: whole.describe('How many rows wait for it.'),
    proposal: z
      .object({ by: z.string(), reason: z.string(), at: when, until: when.describe('It falls then.') })
      .nullable()
      .describe('That it be sent again, until another person confirms or refuses it; null: nobody proposes it.'),
  })
  .meta({ id: 'Doubt' })

export const MERCHANT = z
  .object({
    merchant: z.string(),
    stopped: z.string().nullable().describe('Why nothing is sent for it; null: it is not stopped.'),
    held: z.string().nullable().describe('Too many doubts, in words; null: it is not held.'),
    dial_per_second: z.number().nullable().describe('As set by a person; null: as configured.'),
    configured_here: z.boolean(),
    configured_per_second: z.number().nullable(),
  })
  .meta({ id: 'Merchant' })

export const AUDIT_ENTRY = z
  .object({
    at: when,
    what: z.string(),
    by: z.string(),
    actor: ACTOR,
    batch: z.string().nullable(),
    merchant: z.string().nullable(),
    reference: z.string().nullable(),
    row: whole.nullable(),
    attempt: whole.nullable(),
    from: z.string().nullable(),
    to: z.string().nullable(),
    reason: z.string().nullable(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.null()])).nullable(),
  })
  .meta({ id: 'AuditEntry' })

/** docs/schemas/event.schema.json says more. */
export const EVENT = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().describe('The same whenever it comes, and the cursor for reading on.'),
    source: z.string(),
    type: z.enum(EVENT_TYPES),
    time: when,
    timestamp: when,
    subject: z.string(),
    datacontenttype: z.literal('application/json'),
    dataschema: z.string(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event', description: 'CloudEvents 1.0, structured. It may come twice, with the same id.' })

export const ENDPOINT = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.string()).nullable().describe('null: all but `row.*` and `access.*`.'),
    merchant: z.string().nullable(),
    allow_private: z.boolean(),
    created_at: when,
    pending: whole.describe('Events that it has still to take.'),
    disabled_at: when.nullable(),
    disabled_why: z.string().nullable(),
    failing_since: when.nullable(),
  })
  .meta({ id: 'Endpoint' })

export const DELIVERY = z
  .object({
    event: z.string(),
    endpoint: z.string(),
    type: z.string(),
    state: z.enum(['pending', 'delivered', 'dead']),
    attempts: whole,
    created_at: when,
    last_at: when.nullable(),
    next_at: when.nullable(),
    http_status: whole.nullable(),
    answer: z.string().nullable().describe('The first of it, masked; or why there was none.'),
    replay: z.boolean(),
  })
  .meta({ id: 'Delivery' })
export const CHECK_PARAMS = z.strictObject({ check: z.string().regex(/^[0-9a-f]{32}$/) })

export const CHECK = z
  .object({
    check: z.string(),
    state: z
      .enum(['queued', 'reading', 'done', 'refused', 'failed'])
      .describe(
        'done: read to its end. refused: the file as a whole, so that it has no rows. failed: it was not read.',
      ),
    waits_for: whole.optional().describe('Files that are read before this one.'),
    merchant: z.string(),
    file: z.object({ id: z.string(), name: z.string(), sha256: z.string(), bytes: whole }),
    started_at: when,
    expires_at: when,
    ok: z.boolean().optional().describe('It would be taken as it is.'),
    review: z
      .looseObject({ rows: whole, accepted: whole, duplicate: whole, invalid: whole, lookalikes: whole })
      .optional()
      .describe('Counts and sums: `totals` of what would be sent, `totals_read` of the whole file.'),
    refusals: z.array(z.object({ kind: z.string(), detail: z.string() })).optional(),
    mapping: z.looseObject({}).optional().describe('Which column was understood as what, and which are only carried.'),
    columns: z.array(z.string()).optional().describe('Of the cells of its rows.'),
    causes: z.array(z.looseObject({ rows: whole, problem: z.string(), remedy: z.string() })).optional(),
    numbers_passed: z.array(z.looseObject({})).optional(),
    refused: z
      .looseObject({ code: z.string(), problem: z.string(), remedy: z.string() })
      .optional()
      .describe('Of a file that is no table of instructions, or that holds card data: that one was removed at once.'),
    problem: z.string().optional().describe('Why it failed.'),
  })
  .meta({ id: 'Check' })
