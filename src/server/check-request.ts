// How a file is to be read and what may be in it, as the API has it, and as the options that the command line has for the same.

import * as z from 'zod'
import { parseCurrency } from '../domain/money.ts'
import type { Setting } from '../domain/words.ts'
import { parseNamedTotal } from '../domain/written-amount.ts'

const text = (most = 200) => z.string().min(1).max(most)
const ID = z.string().regex(/^[0-9a-f]{32}$/)

/** Of the whole file as it is read: every row counts, also one that is left out. */
export const EXPECTED = z
  .strictObject({
    count: z.int().min(0).max(999_999_999),
    totals: z
      .record(z.string().regex(/^[A-Z]{3}$/), z.string().max(30))
      .superRefine((totals, { addIssue }) => {
        for (const [code, amount] of Object.entries(totals))
          if (parseNamedTotal(`${code}=${amount}`) === null)
            addIssue({ code: 'custom', path: [code], message: 'is not an amount of a currency of ISO 4217' })
      })
      .describe('By currency: {"EUR": "41280.55"}.'),
  })
  .meta({ id: 'Expected', description: 'How many rows the file must have, and what it must add up to.' })

/** Also where other fields are wrong, so that all is told at once. */
const ALWAYS = { when: () => true } as const
type Reading = { readonly [name: string]: unknown; readonly retry?: unknown; readonly category?: unknown }

const asksAgain = ({ retry }: Reading) => Array.isArray(retry) && retry.includes('declined')
const namesReasons = ({ category }: Reading) => Array.isArray(category) && category.length > 0

export const CHECK_REQUEST = z
  .strictObject({
    file: ID.describe('The id of the upload.'),
    merchant: text(100).optional().describe('May be left out where there is one merchant.'),
    operation: z.enum(['CAPTURE', 'AUTH', 'CAUTH', 'REFUND', 'CANCEL']).optional(),
    vault: z.literal('delete').optional().describe('The file is of the customer vault.'),
    map: z
      .record(text(1_000).regex(/\S/), z.string().regex(/^[\w-]{0,60}$/))
      .optional()
      .describe('Column of the file → field, or "ignore".'),
    decimal: z.enum(['.', ',']).optional(),
    currency: text(3)
      .refine((code) => parseCurrency(code) !== undefined, 'is not a currency of ISO 4217')
      .optional(),
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
  .refine((asked: Reading) => Object(asked).operation === undefined || asked.vault === undefined, {
    ...{ ...ALWAYS, path: ['vault'], error: 'is of the customer vault, and operation is of payments: name one' },
  })
  .refine((asked: Reading) => !asksAgain(Object(asked)) || namesReasons(asked), {
    ...{ ...ALWAYS, path: ['category'], error: 'names the reasons for which declined rows are asked for once more' },
  })
  .refine((asked: Reading) => !namesReasons(Object(asked)) || asksAgain(asked), {
    ...{ ...ALWAYS, path: ['retry'], error: 'must have "declined" where category says for which reasons' },
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
    retry: asked.retry?.join(',') || undefined,
    category: asked.category?.join(',') || undefined,
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

/** As a member of the request; null: a check has no such setting. */
export function settingMember(setting: Setting): string | null {
  const field = setting.set.replaceAll('-', '_')
  if (!Object.hasOwn(CHECK_REQUEST.shape, field)) return null
  if ('column' in setting) return `"map": ${JSON.stringify({ [setting.column]: setting.field })}`
  return setting.to === null ? `"${field}"` : `"${field}": ${JSON.stringify(memberOf(field, setting.to))}`
}

function memberOf(field: string, text: string): unknown {
  if (field === 'allow_hidden' || field === 'header_row') return Number(text)
  return field === 'retry' || field === 'not_a_card' ? [text] : text
}
