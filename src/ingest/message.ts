// Messages of other services: the job `instruction` of the queue tranche-intake, its published schema and its reading.

import * as z from 'zod'
import { holdsCardSecret, maskCardData } from '../domain/card-secrets.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { DETAIL_FIELDS, TRANSACTION_TYPES } from '../domain/instruction.ts'
import { DEFAULT_MERCHANT, ENVIRONMENTS, type Environment } from '../domain/merchant.ts'
import { type Addressees, OUTCOME_QUEUE, type ParsedMessage, type RefusedMessage } from '../domain/message.ts'
import { exponentOf, formatAmount, type Money, parseAmount, parseCurrency } from '../domain/money.ts'
import { holdsPan, mayHoldPan } from '../domain/pan.ts'
import { isProblem, spelled } from '../domain/problem.ts'
import { ACCEPTABLE } from '../domain/refusal-code.ts'
import {
  bounded,
  type Judged,
  judgedIn,
  reasonOf,
  reasonsBeside,
  rightFieldsOf,
  type WrongField,
  wrongFieldsIn,
} from '../domain/wrong-field.ts'
import { cardMeaningOf, looksAs, speaksOfCards } from './cards/columns.ts'
import { isCardColumn } from './columns.ts'
import type { Field } from './field-names.ts'
import { NO_MINUSES } from './fields/minus.ts'
import { MAX_REFERENCE_CHARACTERS, parseReference, parseRunKey, withRunKey } from './fields/reference.ts'
import { instruct } from './instruction.ts'
import { LIMITS } from './limits.ts'
import type { FieldFault } from './row-reading.ts'
import { NO_CURRENCY_SAID } from './statements/currency.ts'

const text = (description: string, most: number = LIMITS.messageTextCharacters) =>
  z.string().max(most, { abort: true }).describe(description)
const details = Object.fromEntries(DETAIL_FIELDS.map((field) => [field, z.string().max(255).optional()])) as Record<
  (typeof DETAIL_FIELDS)[number],
  z.ZodOptional<z.ZodString>
>

/** Of messages and of batches alike. */
export const OF_BOTH = {
  schema_version: z.literal(1),
  merchant: text('Name of the merchant in the configuration. Needed where several are configured.').min(1).optional(),
  environment: z
    .enum(ENVIRONMENTS)
    .optional()
    .describe(
      'For which world it is meant. Needed where the merchant has an environment, and refused by the other one.',
    ),
  run_key: text('Put before the reference with a "/", for what recurs under the same references.')
    .regex(/^[^/]+$/, 'is empty or holds a "/"')
    .optional(),
}

export const REPLY_TO = text('The queue that is told what becomes of it, and of a refusal.')
  .regex(OUTCOME_QUEUE, 'is not tranche-outcome- and 1 to 64 letters, digits, ".", "_" or "-"')
  .optional()

export const BATCH_NAME = /^[A-Za-z0-9._-]{1,64}$/
export const BATCH_NAME_TEXT = 'is not 1 to 64 letters, digits, ".", "_" or "-"'
const DIGITS = 'is no id of the gateway: write its digits'

/** What one instruction asks for, alone or in a batch. */
export const OF_INSTRUCTION = {
  reference: text('Yours: unique for the account for ever. The same reference again is never executed again.')
    .min(1)
    .max(MAX_REFERENCE_CHARACTERS),
  transaction_type: z
    .enum(TRANSACTION_TYPES)
    .describe('CAPTURE is a sale, CAUTH captures an authorization; REFUND, CANCEL and CAUTH name an order.'),
  amount: text(
    'In units of the currency, with exactly its decimals and no zero in front: "12.30" of EUR, "1230" of JPY. Never a JSON number.',
  )
    .regex(/^\d+(\.\d+)?$/, 'is no plain amount: write digits with a point before the decimals, such as "12.30"')
    .optional(),
  request_currency: text('ISO 4217; needed with every amount. For REFUND and CANCEL it is declared, not sent.')
    .regex(/^[A-Z]{3}$/, 'is no currency: write three capital letters, such as "EUR"')
    .optional(),
  request_ref_po_id: text('The order id (TRANS_ORDER_ID) of the earlier transaction, as text.')
    .regex(/^\d+$/, DIGITS)
    .optional(),
  customer_vault_id: text('The stored card, as text.').regex(/^\d+$/, DIGITS).optional(),
  save_card_on_file: z.literal('Y').optional(),
  xtl_order_id: text('Your order id at the gateway; derived from the reference where absent.')
    .regex(/^[A-Za-z0-9]{1,32}$/, 'is not 1 to 32 letters and digits')
    .optional(),
  ...details,
  execute_at: text('ISO 8601 with an offset: the earliest moment to send.').optional(),
  expires_at: text('ISO 8601 with an offset: from this moment on it is not sent any more but CANCELLED.').optional(),
}

/** Of a recorded reference: `2026-12/` before it, and `~2` behind it. */
const RUN_KEY_AND_ATTEMPT_CHARACTERS = 69

const SCHEMA = z
  .strictObject({
    ...OF_BOTH,
    ...OF_INSTRUCTION,
    batch: text(
      'The batch that takes it, by a name of yours; absent: that of the day, or of the hour. One name is one batch of the account for ever.',
    )
      .regex(BATCH_NAME, BATCH_NAME_TEXT)
      .optional(),
    reply_to: REPLY_TO,
    allow_lookalike_of: text(
      'The reference of the instruction that it was refused for looking like: the same content under another reference, or a refund that repeats or exceeds what was refunded of its order. Both are meant.',
    )
      .min(1)
      .max(MAX_REFERENCE_CHARACTERS + RUN_KEY_AND_ATTEMPT_CHARACTERS)
      .optional(),
    accept: z
      .array(z.enum(ACCEPTABLE))
      .max(ACCEPTABLE.length)
      .default([])
      .describe(
        'Codes of questions that it was refused with: what they ask about is meant. A code that asks nothing here is refused.',
      ),
    complete_with: z
      .enum(['record', 'outcome'])
      .default('record')
      .describe(
        'Of a job: `record` completes it when the ledger has the message; `outcome` when it is approved as asked, and fails it when it ends otherwise: with another amount, too. A job with a parent needs `outcome`.',
      ),
  })
  .meta({
    title: 'Tranche instruction',
    description: 'The data of a job `instruction` in the queue tranche-intake. Card data is never part of it.',
  })

export function parseMessage(value: unknown, addressees: Addressees): ParsedMessage {
  const searched = searchForCards(value)
  if (searched !== null) return refused([searched.reason], searched.withheld)
  const { message, wrong } = checkedBy(SCHEMA, value)
  if (isWhole(wrong)) return refused(wrong.map(reasonOf))
  const judged = judgedIn(wrong)
  const account = accountOf(message, addressees, judged)
  const read = readInstruction(message, account)
  const faults = reasonsBeside(judged, faultsOf(message, read))
  if (read.kind === 'faults' || wrong.length + faults.length + account.reasons.length > 0)
    return refusedFor(account, [...wrong.map(reasonOf), ...faults])
  return {
    kind: 'message',
    merchant: account.merchant,
    instruction: read.instruction,
    runKey: account.runKey,
    allowLookalikeOf: message.allow_lookalike_of === undefined ? null : toIdentifier(message.allow_lookalike_of),
    accept: message.accept,
    batchName: message.batch ?? null,
    replyTo: message.reply_to ?? null,
    completesWithOutcome: message.complete_with === 'outcome',
    cells: Object.fromEntries(Object.entries(value as object).map(([name, cell]) => [name, String(cell)])),
  }
}

/** With what is wrong, the fields that are right: whatever is wrong with them is told in the same answer. */
export function checkedBy<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { readonly message: z.output<S>; readonly wrong: readonly WrongField[] } {
  const checked = schema.safeParse(value)
  if (checked.success) return { message: checked.data, wrong: [] }
  const wrong = wrongFieldsIn(checked.error.issues, value)
  return { message: rightFieldsOf(value, judgedIn(wrong)) as z.output<S>, wrong }
}

/** It is not what has fields. */
export function isWhole(wrong: readonly WrongField[]): boolean {
  return wrong.some(({ path }) => path.length === 0)
}

/** Whose a message or a batch is. */
export interface MessageAccount {
  readonly merchant: string
  readonly accountKey: string
  readonly runKey: string | null
  /** What is wrong with any of it. */
  readonly reasons: readonly string[]
  /** The merchant is named, and is not configured here. */
  readonly isUnknown: boolean
}

interface Addressed {
  readonly merchant?: string | undefined
  readonly environment?: Environment | undefined
  readonly run_key?: string | undefined
}

export function accountOf(message: Addressed, addressees: Addressees, judged: Judged): MessageAccount {
  const { merchant: named, run_key } = message
  const merchant = named ?? DEFAULT_MERCHANT
  const account = addressees.accountOf(merchant)
  const isMissing = named === undefined && (addressees.areSeveral || account === null)
  const reasons: string[] = []
  if (isMissing) reasons.push(`merchant_missing: name the merchant that it is for: ${addressees.names.join(', ')}`)
  else if (account === null) reasons.push('merchant: is not in the configuration')
  else reasons.push(...worldOf(message, { merchant, ...account }, addressees))
  const runKey = run_key === undefined ? null : parseRunKey(run_key)
  if (isProblem(runKey)) reasons.push(`run_key: ${runKey.problem}; ${runKey.remedy}`)
  return {
    merchant,
    accountKey: account?.accountKey ?? '',
    runKey: isProblem(runKey) ? null : runKey,
    reasons: reasonsBeside(judged, reasons),
    isUnknown: !isMissing && account === null,
  }
}

/** What a test sends must not move money, and a sandbox's approval must not ship goods. */
function worldOf(
  { environment: said }: Addressed,
  { merchant, environment }: { readonly merchant: string; readonly environment: Environment | null },
  { keyEnvironment }: Addressees,
): string[] {
  if (said !== undefined && keyEnvironment !== null && said !== keyEnvironment)
    return [`other_environment: says ${said}, and the API key is for ${keyEnvironment}; use a key of the ${said} one`]
  const meant = said ?? keyEnvironment
  if (meant === environment) return []
  if (meant === null)
    return [
      `environment_missing: merchant ${merchant} has an environment here; say for which one it is meant: live or test`,
    ]
  if (environment !== null)
    return [
      `other_environment: is meant for ${meant}, and merchant ${merchant} is ${environment} here; hand it in at the ${meant} installation`,
    ]
  return [
    `other_environment: is meant for ${meant}, and nobody has said here what merchant ${merchant} is; have its environment configured (TRANCHE_ENVIRONMENT, or environment in TRANCHE_CONFIG)`,
  ]
}

/** Known elsewhere, an unknown merchant is no reason to refuse: it must be the only one. */
export function refusedFor({ merchant, isUnknown, reasons }: MessageAccount, wrong: readonly string[]): RefusedMessage {
  const isOnly = isUnknown && reasons.length + wrong.length === 1
  return { ...refused([...reasons, ...wrong]), ...(isOnly && { unknownMerchant: merchant }) }
}

type Read = ReturnType<typeof readInstruction>

type Fields = Parameters<typeof readInstruction>[0] & { readonly amount?: string | undefined }

export function faultsOf(fields: Fields, read: Read): string[] {
  const faults = read.kind === 'faults' ? read.faults : []
  return [...faults.map((fault) => faultReason(fault, fields)), ...spellingOf(fields, read)]
}

/** A person's "12.3" is clear; a program that writes it may mean cents, or print numbers as they come. */
function spellingOf({ amount }: { readonly amount?: string | undefined }, read: Read): string[] {
  const money = read.kind === 'instruction' ? read.instruction.money : read.money
  if (amount === undefined || money === null || money === 'unread' || formatAmount(money) === amount) return []
  return [`amount_decimals: ${amount} is not written as ${money.currency} is; ${rightForm(amount, money)}`]
}

function rightForm(amount: string, money: Money): string {
  const inCents = !amount.includes('.') && exponentOf(money.currency) > 0
  const minor = { ...money, amountMinor: BigInt(amount.split('.')[0] ?? '') }
  return `write "${formatAmount(money)}"${inCents ? `, or "${formatAmount(minor)}" if it is in minor units` : ''}`
}

export function readInstruction(
  fields: Readonly<Record<string, unknown>> & { readonly reference?: string },
  { accountKey, runKey }: MessageAccount,
) {
  const given = parseReference(fields.reference ?? '')
  const own = given === '' ? { problem: 'is empty', remedy: 'write the reference' } : given
  const reference = isProblem(own) ? own : withRunKey(own, runKey)
  const cellOf = (field: Field) => String(fields[field] ?? '')
  return instruct(cellOf, reference, {
    ...{
      operation: null,
      currency: NO_CURRENCY_SAID,
      decimal: '.',
      isDecimalMixed: false,
      oddFrom: null,
      minuses: NO_MINUSES,
    },
    ...{ accountKey, timeZone: null, card: null },
  } as const)
}

/** The published form of the schema, as `docs/schemas/instruction.schema.json` has it. */
export function instructionMessageJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(SCHEMA, { io: 'input' }) as Record<string, unknown>
}

export function refused(reasons: readonly string[], withheld: string | null = null): RefusedMessage {
  return { kind: 'refused', reasons: bounded(reasons, maskCardData, (more) => more), withheld }
}

/** A message has fields and nothing beside them: what could be said beside a file is left out. */
function faultReason({ field, ...fault }: FieldFault, fields: Fields): string {
  const { problem, remedy } = spelled(fault, () => null)
  return `${field === 'amount' && hasMoreDecimals(fields) ? 'amount_decimals' : field}: ${problem}; ${remedy}`
}

/** More than its currency has. */
function hasMoreDecimals({ amount = '', request_currency }: Fields): boolean {
  const currency = parseCurrency(String(request_currency ?? ''))
  return currency !== undefined && parseAmount(amount, currency) === 'too-many-decimals'
}

export interface Withheld {
  readonly reason: string
  readonly withheld: string
}

const HOLDS_CARDS: Withheld = {
  reason:
    'holds card data, which is not taken in messages: use customer_vault_id, or write the rows into a file and run it in the foreground',
  withheld: 'it held card data',
}

/** What is not looked through may hold card data. */
export function unsearched(reason: string): Withheld {
  return { reason: `${reason}: it is not an instruction`, withheld: 'it could not be looked through for card data' }
}

/** Ids in odd groups are everyday ids; a message has no column that says so. */
const IDS: ReadonlySet<string> = new Set<Field>(['reference', 'request_ref_po_id', 'customer_vault_id', 'xtl_order_id'])

/**
 * A card number anywhere, as text or as a number, or any value under a name that is meant for card data; null: there is
 * none. Whatever passes is small enough, and shallow enough, for all that is done with it later.
 */
export function searchForCards(message: unknown): Withheld | null {
  const left: Part[] = [{ value: message, level: 0, holds: mayHoldPan, under: '' }]
  let charactersLeft: number = LIMITS.messageCharacters
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, level, holds, under } = next
    const isObject = typeof value === 'object' && value !== null
    const listed = Array.isArray(value) ? value.length : 0
    const names = isObject && !Array.isArray(value) ? Object.keys(value) : []
    const text = isObject ? names.join('\n') : String(value)
    charactersLeft -= text.length + (Array.isArray(value) ? listed : 1)
    if (charactersLeft < 0)
      return unsearched(`has more than ${LIMITS.messageCharacters.toLocaleString('en')} characters`)
    if (level > LIMITS.messageLevels) return unsearched(`is nested deeper than ${LIMITS.messageLevels} levels`)
    if (Math.max(names.length, listed) > LIMITS.messageMembers)
      return unsearched(`has an object or list of more than ${LIMITS.messageMembers} members`)
    if ((isObject ? names : [text]).some(({ length }) => length > LIMITS.messageTextCharacters))
      return unsearched(`${placeOf(under)}has a name or text of more than ${LIMITS.messageTextCharacters} characters`)
    if (names.some((name) => mayHoldPan(name) || holdsCardSecret(name))) return HOLDS_CARDS
    if (!isObject && (holds(text) || holdsCardSecret(text))) return HOLDS_CARDS
    if (!isObject) continue
    const members = Object.entries(value)
    if (holdsParted(members)) return HOLDS_CARDS
    if (nameCards(value as Readonly<Record<string, unknown>>, names, under)) return HOLDS_CARDS
    for (const [name, inner] of members)
      left.push({
        value: inner,
        level: level + 1,
        holds: IDS.has(name) ? holdsPan : mayHoldPan,
        under: Array.isArray(value) ? under : name,
      })
  }
  return null
}

/** A name that is not ours may itself be anything. */
function placeOf(name: string): string {
  return Object.hasOwn(SCHEMA.shape, name) ? `${name}: ` : ''
}

interface Part {
  readonly value: unknown
  readonly level: number
  readonly holds: (text: string) => boolean
  /** The name that it stands under. */
  readonly under: string
}

/** Shorter numbers vouch for nothing once they are put together. */
const PARTED_LEAST = 14
const PARTED_MOST = 19

/** A card number in neighbours of digits alone. A field of an instruction is no part of one. */
function holdsParted(members: readonly (readonly [string, unknown])[]): boolean {
  const pieces = members.map(([name, value]) => {
    const isPiece = (typeof value === 'string' || typeof value === 'number') && !Object.hasOwn(SCHEMA.shape, name)
    const digits = isPiece ? String(value).trim() : ''
    return /^\d{1,13}$/.test(digits) ? digits : null
  })
  return pieces.some((first, from) => {
    let digits = first ?? ''
    for (let place = from + 1; first !== null && digits.length < PARTED_MOST; place++) {
      const next = pieces[place] ?? null
      if (next === null) return false
      digits += next
      if (digits.length >= PARTED_LEAST && digits.length <= PARTED_MOST && holdsPan(digits)) return true
    }
    return false
  })
}

/** By their names, or by them and the name above: `card: { number }`. A field of an instruction is what it is called. */
function nameCards(object: Readonly<Record<string, unknown>>, names: readonly string[], under: string): boolean {
  const expiries: string[] = []
  for (const name of names) {
    const value = object[name]
    if (value === null || value === '' || Object.hasOwn(SCHEMA.shape, name)) continue
    const meaning = isCardColumn(name) ? 'certain' : cardMeaningOf(under === '' ? name : `${under} ${name}`)
    if (meaning === 'certain') return true
    if (meaning === null || typeof value === 'object' || !looksAs(meaning, String(value))) continue
    if (meaning !== 'expiry') return true
    expiries.push(name)
  }
  // Once for all of them: each name costs, and a message may have many.
  const speaking = expiries.length === 0 ? [] : names.filter(speaksOfCards)
  return expiries.some((name) => speaking.some((other) => other !== name))
}
