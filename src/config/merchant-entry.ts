// One merchant of TRANCHE_CONFIG: what its fields may be, and the merchant that they make.

import { resolve } from 'node:path'
import type { z } from 'zod'
import { EXPONENTS } from '../domain/currencies.ts'
import { isTimeZone } from '../domain/instant.ts'
import { ENVIRONMENTS, MERCHANT_DEFAULTS, type Merchant, type Traffic } from '../domain/merchant.ts'
import { type Currency, formatAmount, type Money, parseAmount, parseCurrency } from '../domain/money.ts'
import { folded, REASON_CATEGORIES } from '../domain/reason-categories.ts'
import { Secret } from '../domain/secret.ts'
import { didYouMean } from '../domain/similar.ts'
import { parseAddress } from './address.ts'
import { CONNECTIONS, ELLIPSIS, IN_FLIGHT, isEllipsis, passwordProblem, type Range, TIMEOUT_MS } from './limits.ts'
import { readSecretFile } from './secret-files.ts'
import type { Settings } from './setting-readers.ts'

const REFUND_PARAMETERS = [
  'transaction_type',
  'request_action',
] as const satisfies readonly Merchant['refundParameter'][]
const DELETE_ANSWERS = ['status', 'any-2xx'] as const satisfies readonly Merchant['deleteAnswer'][]
const MESSAGE_BATCHES = ['daily', 'hourly'] as const satisfies readonly Merchant['messageBatches'][]
const DECIMALS = ['.', ','] as const satisfies readonly Merchant['decimal'][]
const OUTCOMES = /^[A-Za-z0-9._-]{1,64}$/
/** Also several, as they stand in the documents of gateways: `iso-8859-1,*, utf-8`. */
const CHARSET = /^[A-Za-z0-9*][A-Za-z0-9*_:., -]{0,98}$/
const LOOKALIKE_DAYS: Range = { min: 0, max: 366 }
/** Per cent. */
const CAPTURE_TOLERANCE: Range = { min: 0, max: 100 }
const ORDER_DAYS: Range = { min: 1, max: 3_650 }
const REASON_RULES_MAX = 1000

/** Each field checks itself, so that all mistakes of an entry are found in one go. `zod` is loaded here, as needed. */
export async function entrySchema(
  directory: string,
  { exposed, credentials }: Pick<Settings, 'exposed' | 'credentials'>,
) {
  const { z } = await import('zod')
  const read = <T>(parse: (text: string, complain: (problem: string) => void) => T | undefined) =>
    z.string().transform((text, context): T => {
      const parsed = parse(text, (problem) => context.addIssue({ code: 'custom', message: problem }))
      return parsed === undefined ? z.NEVER : parsed
    })
  const whole = ({ min, max }: Range) => z.int().min(min).max(max).optional()
  const secretFile = read((path, complain) => readSecretFile(resolve(directory, path), complain, exposed))
  const limits = z
    .record(z.string(), z.string('is no text: write it in quotes, such as "50000.00"'))
    .transform((said, context) => {
      const amounts = new Map<Currency, bigint>()
      for (const [code, text] of Object.entries(said)) {
        const money = parseLimit(code, text)
        if (typeof money === 'string') context.addIssue({ code: 'custom', path: [code], message: money })
        else amounts.set(money.currency, money.amountMinor)
      }
      return amounts
    })
  // Read beside the schema, because two of them belong together.
  const file = z.string().regex(/\S/, 'is empty').optional()
  return z.strictObject({
    url: read(parseAddress),
    username: z
      .string()
      .regex(/\S/)
      .refine((text) => !isEllipsis(text), ELLIPSIS)
      .optional(),
    username_file: secretFile.optional(),
    password_file: read((path, complain) => {
      const passwordFile = resolve(directory, path)
      if (!credentials) return { passwordFile, password: null }
      const password = readSecretFile(passwordFile, complain, exposed)
      if (password === undefined) return undefined
      const problem = passwordProblem(password)
      if (problem !== null) complain(problem)
      return problem === null ? { passwordFile, password: new Secret(password) } : undefined
    }),
    ca_file: file,
    client_cert_file: file,
    client_key_file: file,
    environment: z.enum(ENVIRONMENTS).optional(),
    own_account: z.boolean().optional(),
    rate: z.number().positive().max(999_999).optional(),
    in_flight: whole(IN_FLIGHT),
    timeout_ms: whole(TIMEOUT_MS),
    connections: z.enum(CONNECTIONS).optional(),
    // No merchant can vouch that a success or a redirection was not executed.
    not_executed_status: z.array(z.int().min(400).max(599)).optional(),
    delete_answer: z.enum(DELETE_ANSWERS).optional(),
    refund_parameter: z.enum(REFUND_PARAMETERS).optional(),
    charset: z.string().regex(CHARSET, 'is neither none nor names of charsets such as utf-8').optional(),
    currency: read(parseListedCurrency).optional(),
    decimal: z.enum(DECIMALS).optional(),
    lookalike_days: whole(LOOKALIKE_DAYS),
    capture_tolerance: whole(CAPTURE_TOLERANCE),
    authorization_days: whole(ORDER_DAYS),
    refund_days: whole(ORDER_DAYS),
    daily_limit: limits.optional(),
    timezone: z.string().refine(isTimeZone, 'is not an IANA time zone, such as Europe/Berlin').optional(),
    message_batches: z.enum(MESSAGE_BATCHES).optional(),
    outcomes: z.string().regex(OUTCOMES, 'is not 1 to 64 letters, digits, ".", "_" or "-"').optional(),
    reason_categories: z
      .array(z.strictObject({ match: z.string().regex(/\S/, 'is empty'), category: z.enum(REASON_CATEGORIES) }))
      .max(REASON_RULES_MAX)
      .superRefine((rules, context) => {
        for (const [i, { match }] of rules.entries()) {
          const first = rules.findIndex((rule) => folded(match).includes(folded(rule.match)))
          if (first < i)
            context.addIssue({
              code: 'custom',
              path: [i, 'match'],
              message: `is never reached: reason_categories.${first} fits first`,
            })
        }
      })
      .optional(),
  })
}

type Entry = z.infer<Awaited<ReturnType<typeof entrySchema>>>

function parseListedCurrency(text: string, complain: (problem: string) => void): Currency | undefined {
  const currency = parseCurrency(text)
  if (currency === undefined) complain('is not a currency of ISO 4217')
  return currency
}

/** An amount of which no row is smaller would stop everything: that is what pausing is for. */
function parseLimit(code: string, text: string): Money | string {
  const currency = Object.hasOwn(EXPONENTS, code) ? parseCurrency(code) : undefined
  if (currency === undefined) return 'is not a currency of ISO 4217'
  const money = parseAmount(text, currency)
  if (typeof money !== 'string' && money.amountMinor > 0n) return money
  return `is not an amount above zero, such as "${formatAmount({ amountMinor: 5_000_000n, currency })}"`
}

export function fromEntry(name: string, entry: Entry, traffic: Traffic, trust: Merchant['trust']): Merchant {
  return Object.freeze({
    name,
    url: entry.url,
    // One of the two is there, or `usernameProblems` has said so.
    username: entry.username ?? entry.username_file ?? '',
    ...entry.password_file,
    environment: entry.environment ?? MERCHANT_DEFAULTS.environment,
    trust,
    ratePerSecond: entry.rate ?? traffic.ratePerSecond,
    inFlightMax: entry.in_flight ?? traffic.inFlightMax,
    timeoutMs: entry.timeout_ms ?? traffic.timeoutMs,
    connections: entry.connections ?? traffic.connections,
    ownAccount: entry.own_account ?? MERCHANT_DEFAULTS.ownAccount,
    notExecutedStatus: Object.freeze(entry.not_executed_status ?? MERCHANT_DEFAULTS.notExecutedStatus),
    deleteAnswer: entry.delete_answer ?? MERCHANT_DEFAULTS.deleteAnswer,
    refundParameter: entry.refund_parameter ?? MERCHANT_DEFAULTS.refundParameter,
    charset: entry.charset === 'none' ? null : (entry.charset ?? MERCHANT_DEFAULTS.charset),
    currency: entry.currency ?? MERCHANT_DEFAULTS.currency,
    decimal: entry.decimal ?? MERCHANT_DEFAULTS.decimal,
    lookalikeDays: entry.lookalike_days ?? MERCHANT_DEFAULTS.lookalikeDays,
    captureTolerance: entry.capture_tolerance ?? MERCHANT_DEFAULTS.captureTolerance,
    authorizationDays: entry.authorization_days ?? MERCHANT_DEFAULTS.authorizationDays,
    refundDays: entry.refund_days ?? MERCHANT_DEFAULTS.refundDays,
    dailyLimits:
      entry.daily_limit === undefined ? null : { amounts: entry.daily_limit, timeZone: entry.timezone ?? 'UTC' },
    messageBatches: entry.message_batches ?? MERCHANT_DEFAULTS.messageBatches,
    outcomes: entry.outcomes ?? MERCHANT_DEFAULTS.outcomes,
    reasonRules: Object.freeze(entry.reason_categories ?? MERCHANT_DEFAULTS.reasonRules),
  })
}

/** No value is repeated: it may be a password in the wrong place. */
export function issueProblems(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  const path = issue.path.map((part) => `.${String(part)}`).join('')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) =>
      key === 'password'
        ? '.password: this file must hold no password; write password_file: with the path of a file that holds it'
        : `${path}.${key}: is not a known setting${path === '' ? didYouMean(key, known) : ''}`,
    )
  }
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return [`${path}: is missing`]
  return [`${path}: ${issue.message}`]
}

/** Apart from the schema, which never comes to a rule over two fields where another field is wrong. */
export function usernameProblems(content: unknown): string[] {
  if (!isRecord(content)) return []
  const given = ['username', 'username_file'].filter((name) => content[name] !== undefined)
  if (given.length === 0) return ['.username: is missing (or username_file)']
  return given.length === 2 ? ['.username: and username_file are both set: keep one'] : []
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
