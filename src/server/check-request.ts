// How a file is to be read and what may be in it, as the API has it, and as the options that the command line has for the same.

import * as z from 'zod'

const text = (most = 200) => z.string().min(1).max(most)
const ID = z.string().regex(/^[0-9a-f]{32}$/)

/** Of the whole file as it is read: every row counts, also one that is left out. */
export const EXPECTED = z
  .strictObject({
    count: z.int().min(0).max(999_999_999),
    totals: z.record(z.string().regex(/^[A-Z]{3}$/), z.string().max(30)).describe('By currency: {"EUR": "41280.55"}.'),
  })
  .meta({ id: 'Expected', description: 'How many rows the file must have, and what it must add up to.' })

export const CHECK_REQUEST = z.strictObject({
  file: ID.describe('The id of the upload.'),
  merchant: text(100).optional().describe('May be left out where there is one merchant.'),
  operation: z.enum(['CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CANCEL']).optional(),
  vault: z.literal('delete').optional().describe('The file is of the customer vault.'),
  map: z
    .record(text(1_000), z.string().regex(/^[\w-]{0,60}$/))
    .optional()
    .describe('Column of the file → field, or "ignore".'),
  decimal: z.enum(['.', ',']).optional(),
  currency: text(3).optional(),
  sign: z.literal('minus').optional(),
  scale: z.literal('minor').optional(),
  header_row: z.int().min(1).max(1_000_000).optional(),
  timezone: text(100).optional(),
  sheet: text(200).optional(),
  allow_hidden: z
    .int()
    .min(0)
    .max(999_999_999)
    .optional()
    .describe('So many rows are hidden in the sheet, and are meant.'),
  not_a_card: z.array(text(1_000)).max(50).optional(),
  format: z
    .string()
    .regex(/^\w[\w.-]{0,62}$/)
    .optional()
    .describe('Saved under this name; what is said here comes first.'),
  run_key: text(100).optional(),
  skip_invalid: z.boolean().optional(),
  only_new: z.boolean().optional(),
  retry: z
    .array(z.enum(['failed', 'cancelled', 'invalid', 'declined']))
    .max(4)
    .optional(),
  category: z
    .array(z.enum(['funds', 'technical', 'other']))
    .max(3)
    .optional(),
  lookalike_days: z.int().min(0).max(9_999).optional(),
})
type CheckRequest = z.output<typeof CHECK_REQUEST>

/** `merchant`: by its whole name. */
export function givenBy(asked: CheckRequest, merchant: string): Record<string, unknown> {
  const { operation, vault, currency, decimal, sign, scale, timezone, sheet, format } = asked
  const given = {
    ...{ merchant, operation, vault, currency, decimal, sign, scale, timezone, sheet, format },
    allowHidden: asked.allow_hidden === undefined ? undefined : String(asked.allow_hidden),
    headerRow: asked.header_row === undefined ? undefined : String(asked.header_row),
    map: Object.entries(asked.map ?? {}).map(([column, field]) => `${column}=${field === '' ? 'ignore' : field}`),
    notACard: asked.not_a_card ?? [],
    runKey: asked.run_key,
    skipInvalid: asked.skip_invalid ?? false,
    onlyNew: asked.only_new ?? false,
    retry: asked.retry?.join(','),
    category: asked.category?.join(','),
    lookalikeDays: asked.lookalike_days === undefined ? undefined : String(asked.lookalike_days),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

export function expectedBy({ count, totals }: z.output<typeof EXPECTED>): Record<string, unknown> {
  return {
    expectCount: String(count),
    expectTotal: Object.entries(totals).map(([currency, amount]) => `${currency}=${amount}`),
  }
}
