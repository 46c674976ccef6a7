// The published form of an event, as `docs/schemas/event.schema.json` has it. What is sent is held against it in tests.

import * as z from 'zod'
import { ADVICE, EVENT_SCHEMA, EVENT_TYPES } from '../domain/event.ts'
import { REASON_CATEGORIES } from '../domain/reason-categories.ts'

const text = (description: string) => z.string().describe(description)

const DATA = z
  .looseObject({
    version: z.int().describe('Grows: tells a late event from an early one, of one batch or of all.'),
    batch: z.string().optional(),
    merchant: z.string().optional(),
    final: z
      .boolean()
      .describe('false: it may change, and what it tells of may have been executed. A person finds out.')
      .optional(),
    advice: z.literal(ADVICE).optional(),
    reference: text('Yours.').optional(),
    batch_name: text('Of a refused batch: yours.').optional(),
    code: text('Of a refusal: what its first reason is about, as in the answer to the request.').optional(),
    looks_like: z
      .looseObject({
        reference: z.string(),
        batch: z.string(),
        row: z.int().min(1),
        state: z.string(),
        final: z.boolean(),
      })
      .optional()
      .describe('Of a refusal: the recorded row that has this reference or that it may repeat, as it was then.'),
    row: z.int().min(1).optional(),
    operation: z.string().nullable().optional(),
    amount: text('As asked, a plain decimal.').nullable().optional(),
    currency: z.string().nullable().optional(),
    state: z.enum(['PENDING', 'SENDING', 'APPROVED', 'DECLINED', 'FAILED', 'CANCELLED', 'IN_DOUBT']).optional(),
    attempt: z.int().min(0).optional(),
    order_id: z.string().nullable().optional(),
    transaction_id: z.string().nullable().optional(),
    xtl_order_id: z.string().nullable().optional(),
    reason: z.string().nullable().optional(),
    category: z.enum(REASON_CATEGORIES).nullable().optional(),
    warning: z.string().nullable().optional(),
    rows: z.int().min(0).optional(),
    counts: z.record(z.string(), z.int()).optional(),
    totals: z
      .array(
        z.strictObject({
          operation: z.string(),
          currency: z.string(),
          status: z.string(),
          count: z.int(),
          amount: z.string(),
        }),
      )
      .optional(),
    by: z.enum(['person', 'machine']).optional(),
    held: z.strictObject({ by: text('The event that began it.'), reason: z.string().nullable() }).optional(),
    approvals_needed: z.int().optional(),
    accounts: text(
      'Of people who handed in and approved: by whom each account was made, when, and from where it signs in.',
    ).optional(),
    audit_head: text(
      'Where the chain over the record ended: kept elsewhere, it proves later what was recorded.',
    ).optional(),
    endpoint: z.string().optional(),
    person: text('The name that a person signs in with.').optional(),
    roles: text('The roles given. Those that move money may wait for a second person.').optional(),
    address: text('The address that they signed in from.').optional(),
    key: text('The id of a key of the HTTP API.').optional(),
    name: text('Of the key.').optional(),
    scopes: z.string().optional(),
  })
  .describe('Fields may be added: ignore those that you do not know.')

const SCHEMA = z
  .strictObject({
    specversion: z.literal('1.0'),
    id: text('The same whenever it comes, and the cursor for reading on.').max(64),
    source: text('/ledger/ID'),
    type: z.enum(EVENT_TYPES),
    time: text('ISO 8601 in UTC.'),
    timestamp: text('The same.'),
    subject: text('batch/ID, batch/ID/row/NUMBER, account/NAME, endpoint/ID, person/NAME, key/ID or ledger.'),
    datacontenttype: z.literal('application/json'),
    dataschema: z.literal(EVENT_SCHEMA),
    data: DATA,
  })
  .meta({
    title: 'Tranche event',
    description:
      'CloudEvents 1.0, structured, which is a body of Standard Webhooks at the same time. It may come twice, with the same id. No card data and no names of customers are in it.',
  })

export function eventJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(SCHEMA, { io: 'input' }) as Record<string, unknown>
}

/** What is wrong with it; empty: nothing. */
export function eventFaults(body: unknown): readonly string[] {
  const checked = SCHEMA.safeParse(body)
  return checked.success ? [] : checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}
