// From the JSON body of a tokenization request to a well-formed request, or every field at fault. Card numbers and
// security codes end here.

import type { CardExpiry, CardMask } from '../domain/card.ts'
import { CUSTOMER_FIELDS, type VaultOperation } from '../domain/instruction.ts'
import type { Holder } from './book.ts'
import { isCardNumber, isExpired, isSecurityCode, toCardMask } from './card-fields.ts'
import { isId, named, plainDigits, TEXT_MAX_LENGTH } from './form.ts'
import type { VaultRequest } from './vault.ts'

type Json = Readonly<Record<string, unknown>>

export interface Body {
  readonly fields: Json
  readonly username: string | null
  readonly password: string | null
}

export type ParsedVaultRequest =
  | { readonly kind: 'request'; readonly request: VaultRequest }
  /** One line that names every field at fault, and no value; beside it what could be read all the same. */
  | {
      readonly kind: 'wrong'
      readonly message: string
      readonly vaultId: string | null
      readonly card: CardMask | null
    }

/** null: the body is not JSON, or no object. */
export function parseBody(json: string): Body | null {
  const fields = objectOf(parseJson(json))
  if (fields === null) return null
  return { fields, username: textOf(fields.req_username), password: textOf(fields.req_password) }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json, withIdAsWritten)
  } catch {
    return null
  }
}

/** The vault id may be a number with more digits than a JavaScript number keeps, so its source text is taken. */
function withIdAsWritten(name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return name === 'customer_vault_id' && typeof value === 'number' ? context?.source : value
}

function objectOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The credentials that are missing; null: both are there. */
export function missingCredentials({ username, password }: Body): string | null {
  const faults = [
    ...(username === null ? ['req_username is missing'] : []),
    ...(password === null ? ['req_password is missing'] : []),
  ]
  return faults.length === 0 ? null : faults.join('; ')
}

const CREDENTIALS = ['req_username', 'req_password']
const RECORD = [...CREDENTIALS, 'customer_details', 'card_details']
const CARD_FIELDS = ['card_number', 'card_exp_mm', 'card_exp_yy', 'card_cvv'] as const

/** The fields each operation takes. Any other is a fault: a field that is ignored is a client that is misunderstood. */
const TAKES: Readonly<Record<VaultOperation, readonly string[]>> = {
  VAULT_CREATE: RECORD,
  VAULT_UPDATE: [...RECORD, 'customer_vault_id'],
  VAULT_DELETE: [...CREDENTIALS, 'customer_vault_id'],
}

export function parseVaultRequest(operation: VaultOperation, { fields }: Body, nowMs: number): ParsedVaultRequest {
  const faults: string[] = []
  noteUnknown(fields, TAKES[operation], operation, faults)
  const vaultId = operation === 'VAULT_CREATE' ? null : parseVaultId(fields.customer_vault_id, faults)
  if (operation === 'VAULT_DELETE') {
    if (vaultId !== null && faults.length === 0) return { kind: 'request', request: { operation, vaultId } }
    return { kind: 'wrong', message: faults.join('; '), vaultId, card: null }
  }
  const holder = parseHolder(fields.customer_details, faults)
  const card = parseCard(fields.card_details, nowMs, faults)
  if (faults.length > 0 || card === null) return { kind: 'wrong', message: faults.join('; '), vaultId, card }
  const request =
    vaultId === null
      ? ({ operation: 'VAULT_CREATE', holder, card } as const)
      : ({ operation: 'VAULT_UPDATE', vaultId, holder, card } as const)
  return { kind: 'request', request }
}

function noteUnknown(object: Json, known: readonly string[], where: string, faults: string[]): void {
  for (const name of Object.keys(object)) {
    if (!known.includes(name)) faults.push(`${named(name)} is not a field of ${where}`)
  }
}

function parseVaultId(value: unknown, faults: string[]): string | null {
  if (typeof value === 'string' && isId(value)) return plainDigits(value)
  faults.push(value === undefined ? 'customer_vault_id is missing' : 'customer_vault_id must be 1 to 20 digits')
  return null
}

function parseHolder(value: unknown, faults: string[]): Holder {
  const texts = parseTexts(value, 'customer_details', CUSTOMER_FIELDS, faults)
  for (const name of ['first_name', 'last_name'] as const) {
    if (texts[name]?.trim() === '') faults.push(`${name} must not be empty`)
  }
  return { firstName: texts.first_name ?? '', lastName: texts.last_name ?? '' }
}

/** null where nothing tells which card it is; then at least one fault was noted. */
function parseCard(value: unknown, nowMs: number, faults: string[]): CardMask | null {
  const { card_number, card_exp_mm, card_exp_yy, card_cvv } = parseTexts(value, 'card_details', CARD_FIELDS, faults)
  const note = (text: string | null, isGood: (text: string) => boolean, fault: string) => {
    if (text !== null && !isGood(text)) faults.push(fault)
  }
  note(card_number, isCardNumber, 'card_number must be a card number')
  note(card_exp_mm, isMonth, 'card_exp_mm must be 01 to 12')
  note(card_exp_yy, isYear, 'card_exp_yy must be two digits')
  note(card_cvv, isSecurityCode, 'card_cvv must be 3 or 4 digits')
  if (card_exp_mm === null || card_exp_yy === null || !isMonth(card_exp_mm) || !isYear(card_exp_yy)) return null
  const expiry: CardExpiry = { month: card_exp_mm, year: `20${card_exp_yy}` }
  if (isExpired(expiry, nowMs)) faults.push('the card is expired: card_exp_mm and card_exp_yy are past')
  return card_number === null ? null : toCardMask(card_number, expiry)
}

function isMonth(text: string): boolean {
  return /^(0[1-9]|1[0-2])$/.test(text)
}

function isYear(text: string): boolean {
  return /^\d\d$/.test(text)
}

type Texts<Name extends string> = Readonly<Record<Name, string | null>>

/** Every key must be there, and its value text; null where it is not, and that is noted. */
function parseTexts<Name extends string>(
  value: unknown,
  where: string,
  names: readonly Name[],
  faults: string[],
): Texts<Name> {
  const object = objectOf(value)
  if (object === null) faults.push(value === undefined ? `${where} is missing` : `${where} must be an object`)
  else noteUnknown(object, names, where, faults)
  const texts = names.map((name) => [name, object === null ? null : parseText(object, name, faults)])
  return Object.fromEntries(texts) as Texts<Name>
}

function parseText(object: Json, name: string, faults: string[]): string | null {
  const value = object[name]
  if (typeof value === 'string' && value.length <= TEXT_MAX_LENGTH) return value
  if (typeof value === 'string') faults.push(`${name} is longer than ${TEXT_MAX_LENGTH} characters`)
  else faults.push(value === undefined ? `${name} is missing` : `${name} must be a string`)
  return null
}
