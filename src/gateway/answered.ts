// The one place where an answer becomes what is kept and shown of it: fields of the contract in their form, words scrubbed.

import { type Instruction, isVaultOperation, plainId } from '../domain/instruction.ts'
import { sameAmount } from '../domain/money.ts'
import { type Answer, type Body, WITHHELD } from '../domain/outcome.ts'
import { holdsPan } from '../domain/pan.ts'
import { nameKey } from '../domain/person-name.ts'
import { TOKENIZATION, TRANSACTIONS } from './answer.ts'
import { type Header, parseBody, textOf } from './body.ts'
import { parsePlainApproval } from './plain-answer.ts'
import { CARD_REPEATED, DISGUISED, REPEATED, type Scrub, visible } from './scrub.ts'

/** What an answer may repeat of its request: our own words, kept exactly. */
export type Sent = Pick<Instruction, 'operation' | 'orderId' | 'xtlOrderId' | 'money'> &
  Partial<Pick<Instruction, 'details'>>

/** Nothing of an answer leaves this room but this. */
export interface Kept {
  readonly body: Body
  /** The body as one line. */
  readonly text: string
  /** The password was in it. It must be changed: logs of others may hold it as well. */
  readonly repeatsCredentials: boolean
}

export function readAnswer(bytes: Buffer, contentEncoding: Header, scrub: Scrub, sent: Sent): Kept {
  return readPlainAnswer(bytes, scrub, sent) ?? readWithCare(bytes, contentEncoding, scrub, sent)
}

/** Exactly what `readWithCare` makes of the answer, in a tenth of its time or less; null where that is not certain. */
export function readPlainAnswer(bytes: Buffer, scrub: Scrub, sent: Sent): Kept | null {
  if (!scrub.isClearOfApprovals || isVaultOperation(sent.operation)) return null
  const text = bytes.toString('utf8')
  const fields = parsePlainApproval(text)
  if (fields === null || !isPlainXtl(fields.XTL_ORDER_ID, scrub, sent)) return null
  return { body: { kind: 'answer', status: 'APPROVED', fields }, text, repeatsCredentials: false }
}

/** Any word may stand in it: also a credential, or what looks like card data. */
function isPlainXtl(xtl: string | undefined, scrub: Scrub, { xtlOrderId }: Sent): boolean {
  return xtl === undefined || (xtl === xtlOrderId && scrub.line(xtl) === xtl)
}

/**
 * What the body is, is judged by the bytes received; no masking may turn a verdict round. What stands in it is kept
 * scrubbed. Where the credentials are in it anywhere, only the fields of the contract are.
 */
export function readWithCare(bytes: Buffer, contentEncoding: Header, scrub: Scrub, sent: Sent): Kept {
  const contract = isVaultOperation(sent.operation) ? TOKENIZATION : TRANSACTIONS
  const body = parseBody(bytes, contentEncoding, contract)
  const repeatsCredentials = scrub.repeats(bytes.toString('utf8'))
  const clean = keepBody(body, scrub, sent, repeatsCredentials)
  if (!repeatsCredentials) return { body: clean, text: scrub.line(inPlainStrings(textOf(bytes))), repeatsCredentials }
  return { body: clean, text: clean.kind === 'answer' ? withFields(clean.fields, scrub) : REPEATED, repeatsCredentials }
}

function withFields({ ERROR_MESSAGE: _said, errorMessage: _told, ...fields }: Answer, scrub: Scrub): string {
  return `${REPEATED}, but for ${scrub.line(JSON.stringify(fields))}`
}

function keepBody(body: Body, scrub: Scrub, sent: Sent, repeatsCredentials: boolean): Body {
  switch (body.kind) {
    case 'answer': {
      const fields = keepFields(body.fields, scrub, sent)
      const { status: statusName, message } = isVaultOperation(sent.operation) ? TOKENIZATION : TRANSACTIONS
      const status = fields[statusName] as string
      if (!repeatsCredentials) return { kind: 'answer', status, fields }
      const known = Object.entries(fields).filter(([name]) => !WORDS_OF_THE_CONTRACT.includes(name))
      return { kind: 'answer', status, fields: { ...Object.fromEntries(known), [message]: REPEATED } }
    }
    case 'none':
      if (repeatsCredentials) return { kind: 'none', message: REPEATED }
      return { kind: 'none', message: body.message === null ? null : scrub.line(body.message) }
    case 'unclear':
      return body
  }
}

const ID = /^\d{1,40}$/
const WORDS = /^[A-Z_ ]{1,32}$/

/** By name: the form of what an answer is judged by. A number of 13 digits and more in an amount is a card's. */
const FORMS: Readonly<Record<string, (value: string, sent: Sent) => boolean>> = {
  TRANS_STATUS_NAME: (value) => WORDS.test(value),
  REQUEST_ACTION: (value) => WORDS.test(value),
  TRANS_VALUE: (value, { money }) =>
    (/^-?\d{1,15}(?:\.\d{1,6})?$/.test(value) && !holdsPan(value)) || (money !== null && sameAmount(value, money)),
  TRANS_CUR: (value) => /^[A-Z]{3}$/i.test(value),
  // Ids are never altered, not even where they look like a card number: one in ten of 16 digits does.
  TRANS_REQUEST_ID: (value) => ID.test(value),
  TRANS_RECORD_ID: (value, { orderId }) => ID.test(value) || isSame(value, orderId),
  TRANS_ORDER_ID: (value, { orderId }) => ID.test(value) || isSame(value, orderId),
  XTL_ORDER_ID: (value, { xtlOrderId }) =>
    (/^[A-Za-z0-9]{1,32}$/.test(value) && !holdsPan(value)) || isSame(value, xtlOrderId),
  CUSTOMER_VAULT_ID: (value) => ID.test(value),
  status: (value) => /^[A-Za-z_ ]{1,32}$/.test(value),
  customer_vault_id: (value) => ID.test(value),
  customer_id: (value) => ID.test(value),
  cc_bin: (value) => /^\d{6}$/.test(value),
  cc_last_4_digit: (value) => /^\d{4}$/.test(value),
  cc_expiry_mm: (value) => /^\d{1,2}$/.test(value),
  cc_expiry_yy: (value) => /^(?:\d\d){1,2}$/.test(value),
}

const WORDS_OF_THE_CONTRACT = [
  ...['API_ADVICE', 'SERVICE_ADVICE', 'PROCESSOR_ADVICE', 'ERROR_MESSAGE'],
  ...['errorMessage', 'first_name', 'last_name'],
]
const LONGEST_ODD = 60

function isSame(value: string, own: string | null): boolean {
  return own !== null && plainId(value) === plainId(own)
}

/** The fields that are read, in the order received; what the contract does not name is in the text, if anywhere. */
function keepFields(answer: Answer, scrub: Scrub, sent: Sent): Answer {
  const kept = Object.entries(answer).flatMap(([name, value]): [string, string][] => {
    const hasForm = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined
    if (hasForm !== undefined) return [[name, keepField(name, value, hasForm, scrub, sent)]]
    const own = ownName(name, value, sent)
    if (own !== null) return [[name, own]]
    return WORDS_OF_THE_CONTRACT.includes(name) ? [[name, scrub.line(value)]] : []
  })
  return Object.fromEntries(kept)
}

/**
 * In form: as it is. Else a part of it in brackets, which stand in no form: it cannot be taken for what it is not, be it
 * an id, a status or a formula.
 */
function keepField(
  name: string,
  raw: string,
  hasForm: (value: string, sent: Sent) => boolean,
  scrub: Scrub,
  sent: Sent,
): string {
  // Blanks around any other field are none of it; around a status they are.
  const value = name === 'TRANS_STATUS_NAME' || name === 'status' ? raw : raw.replace(/\s+/g, ' ').trim()
  if (value === '') return value
  if (scrub.repeatsCard(value)) return WITHHELD
  if (hasForm(value, sent) && (isOwn(value, sent) || !scrub.repeats(value))) return value
  const line = scrub.line(value, LONGEST_ODD - 3)
  if (line === REPEATED || line === DISGUISED || line === CARD_REPEATED) return WITHHELD
  return `[${line}${value.length > LONGEST_ODD - 3 ? '…' : ''}]`
}

const OWN_WORDS = ['Success', 'Failed', 'APPROVED', 'DECLINED', 'CAPTURE', 'AUTH', 'REFUND', 'CCCREDIT', 'CANCEL']

/** The holder's name as it was sent, where the answer repeats it: masked for a word that is in it, it would be another's. */
function ownName(name: string, value: string, { details = {} }: Sent): string | null {
  const own = name === 'first_name' || name === 'last_name' ? details[name] : undefined
  return own !== undefined && nameKey(own) === nameKey(value) ? own : null
}

/** Digits, the words of the contract and what we sent are what they are, though a password be the same. */
function isOwn(value: string, { xtlOrderId }: Sent): boolean {
  return /^[\d.-]+$/.test(value) || OWN_WORDS.includes(value) || isSame(value, xtlOrderId)
}

/** As much as may be kept, escapes and all. */
const MOST_REWRITTEN = 16_384
/** Or the rest, where one has no end: else it would be looked for again from every quotation mark in it. */
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)/g

/** Most are in it already. */
const PLAIN = /^"[ !#-[\]-~]*"$/

/** Every string of JSON in its plainest form: a card number in escapes is one that can be seen. What is none stays as it is. */
function inPlainStrings(text: string): string {
  return text.slice(0, MOST_REWRITTEN).replace(STRING, (token) => {
    if (PLAIN.test(token)) return token
    try {
      return JSON.stringify(visible(JSON.parse(token)))
    } catch {
      return token
    }
  })
}
