// From the body of an answer to its fields, each as the digits or text received: no id and no amount is ever a number here.

import type { Answer } from '../domain/outcome.ts'

/** How the answers of an endpoint read. */
export interface Contract {
  /** The fields of an answer, as received; null for anything else. Absent and null values are left out. */
  readonly parse: (body: string) => Answer | null
  readonly status: string
  /** What an answer without a status says to people. */
  readonly message: string
  /** What only an answer names, in small letters, with `_` between. */
  readonly names: RegExp
}

export const TRANSACTIONS: Contract = {
  parse: parseAnswer,
  status: 'TRANS_STATUS_NAME',
  message: 'ERROR_MESSAGE',
  /** The fields, with their parts put together in whatever way, and the statuses. */
  names:
    /trans_?(?:status_?name|value|request_?id|record_?id|order_?id)|trans_cur(?![a-z])|request_?action|approved|declined/,
}

export const TOKENIZATION: Contract = {
  parse: parseVaultAnswer,
  status: 'status',
  message: 'errorMessage',
  // Not the vault id, which refusals name. What hides the answer to a request that was executed names these.
  names: /cc_?(?:bin|last|expiry)|(?<![a-z])success(?![a-z])/,
}

/** What ties an answer to its request or settles it. */
const OF_A_TRANSACTION = namesOf([
  'REQUEST_ACTION',
  'TRANS_STATUS_NAME',
  'TRANS_VALUE',
  'TRANS_REQUEST_ID',
  'TRANS_RECORD_ID',
  'TRANS_ORDER_ID',
  'XTL_ORDER_ID',
  'TRANS_CUR',
  'CUSTOMER_VAULT_ID',
])

/**
 * The top-level fields of a JSON object. Nested values are left out. An object that names a field twice says two things at
 * once and JSON.parse would silently take the last: it is not an answer. Nor is one with a field of the contract in other
 * letters.
 */
export function parseAnswer(body: string): Answer | null {
  const json = withoutMark(body)
  const parsed = parseObject(json)
  if (parsed === null) return null
  const names = Object.keys(parsed)
  if (countNames(json, 1) !== names.length || names.some((name) => isMisspelt(name, OF_A_TRANSACTION))) return null
  return fieldsIn(parsed)
}

const OF_THE_VAULT = namesOf(['status', 'ts', 'errorMessage', 'data'])
const OF_A_RECORD = namesOf([
  'customer_vault_id',
  'first_name',
  'last_name',
  'cc_bin',
  'cc_last_4_digit',
  'customer_id',
  'cc_expiry_mm',
  'cc_expiry_yy',
])

/** `status`, `ts` and `errorMessage`, and beside them the fields of `data`. No name may stand anywhere twice. */
function parseVaultAnswer(body: string): Answer | null {
  const json = withoutMark(body)
  const parsed = parseObject(json)
  if (parsed === null || countNames(json) !== namesWithin(parsed)) return null
  const data = isObject(parsed.data) ? parsed.data : {}
  const isOdd =
    Object.keys(parsed).some((name) => isMisspelt(name, OF_THE_VAULT)) ||
    Object.keys(data).some((name) => isMisspelt(name, OF_A_RECORD))
  if (isOdd) return null
  const only = (fields: Answer, { exact }: Names) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => exact.has(name)))
  return { ...only(fieldsIn(data), OF_A_RECORD), ...only(fieldsIn(parsed), OF_THE_VAULT) }
}

function withoutMark(body: string): string {
  return body.startsWith('\uFEFF') ? body.slice(1) : body
}

function parseObject(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(json, asWritten)
    return isObject(parsed) ? parsed : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldsIn(object: Readonly<Record<string, unknown>>): Answer {
  const fields = Object.entries(object).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[name, value]]
    return typeof value === 'boolean' ? [[name, String(value)]] : []
  })
  // Not by assignment: a field named __proto__ must stay a field.
  return Object.fromEntries(fields)
}

function namesWithin(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((all: number, inner) => all + namesWithin(inner), own)
}

interface Names {
  readonly exact: ReadonlySet<string>
  readonly anyCase: ReadonlySet<string>
}

function namesOf(names: readonly string[]): Names {
  return { exact: new Set(names), anyCase: new Set(names.map((name) => name.toLowerCase())) }
}

function isMisspelt(name: string, { exact, anyCase }: Names): boolean {
  return !exact.has(name) && anyCase.has(name.normalize('NFKC').toLowerCase())
}

/** JSON.parse hands the source text of primitives to its reviver; TypeScript's declaration does not know it yet. */
function asWritten(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value
}

/** How many names the text has, repeated ones included, in objects down to that depth. The text is valid JSON. */
function countNames(json: string, deepest = Number.POSITIVE_INFINITY): number {
  let members = 0
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const char = json[i]
    if (inString) {
      if (char === '\\') i++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    else if (char === ':' && depth <= deepest) members++
  }
  return members
}
