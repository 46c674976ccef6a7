// The replies, as they are published: what a schema does not name does not leave. Ids and amounts are strings.

import * as z from 'zod'
import { BATCH_STATES } from '../domain/batch-status.ts'
import { PROBLEMS } from './problems.ts'

const when = z.string().describe('RFC 3339, UTC')
const whole = z.number().int()
export const AMOUNT = z.string().describe('In units of the currency, with as many decimals as it has.')

export const PROBLEM = z
  .object({
    type: z.string(),
    title: z.string(),
    status: whole,
    detail: z.string().describe('What happened, what it means for the money, what to do.'),
    code: z.enum(Object.keys(PROBLEMS) as [keyof typeof PROBLEMS, ...(keyof typeof PROBLEMS)[]]),
    request_id: z.string(),
    errors: z
      .array(z.object({ pointer: z.string().optional(), field: z.string().optional(), detail: z.string() }))
      .optional(),
  })
  .meta({ description: 'A problem, as RFC 9457 has it.' })

export const BATCH_PARAMS = z.strictObject({ batch: z.string().regex(/^[0-9a-z-]{1,32}$/) })

export const BATCH = z.object({
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
  source: z.enum(['file', 'queue']),
  file: z.string().nullable(),
  file_sha256: z.string().nullable(),
  run_key: z.string().nullable(),
  merchant: z.string(),
  recorded_at: when,
  recorded_by: z.string(),
  blocked: whole,
  late_answers: whole,
  trouble: z.looseObject({ since: when, why: z.string() }).nullable(),
  next_due_at: when.nullable(),
  results_stale: z.boolean(),
})
