// The short way: an approval exactly as the contract writes it, in which there is nothing to weigh, to mask or to bring into form.
// Whatever differs from that by one sign goes the careful way. Of what goes this way, the careful way says the same.

import type { Answer } from '../domain/outcome.ts'

/**
 * Shorter than any card number, or beginning with 7 as none does: the sandbox's have fifteen digits. JavaScript has all of them
 * exactly. Read as hexadecimal, none has three digits in a row, which the careful way might take for a part of a card number.
 */
const ID = String.raw`(?!\d*(?:3\d){3})(?:0|[1-9]\d{0,10}|7\d{11,15})`
const ACTIONS = ['CAPTURE', 'AUTH', 'REFUND', 'CANCEL']

/** What may stand under each name. The caller judges the order id of the merchant, in which any word may stand. */
const FORMS: Readonly<Record<string, string>> = {
  REQUEST_ACTION: `"(?:${ACTIONS.join('|')})"`,
  TRANS_STATUS_NAME: '"APPROVED"',
  // Eleven digits at most, and never eight in a row, which would be read as hexadecimal.
  TRANS_VALUE: String.raw`"\d{1,7}\.\d{4}"`,
  TRANS_REQUEST_ID: ID,
  TRANS_RECORD_ID: ID,
  TRANS_ORDER_ID: ID,
  XTL_ORDER_ID: String.raw`"[A-Za-z\d]{1,32}"`,
  TRANS_CUR: '"[A-Z]{3}"',
}

const MEMBER = `(?:${Object.entries(FORMS)
  .map(([name, form]) => `"${name}":${form}`)
  .join('|')})`
const APPROVAL = new RegExp(String.raw`^\{${MEMBER}(?:,${MEMBER})*\}$`)

/** The fields of such an approval, in the order received; null for anything else. */
export function parsePlainApproval(text: string): Answer | null {
  if (!APPROVAL.test(text)) return null
  const fields = Object.entries(JSON.parse(text) as Record<string, string | number>)
  // No value has a comma in it. Where a name stands twice, JSON.parse takes the last without a word.
  if (fields.length !== text.split(',').length) return null
  const answer: Answer = Object.fromEntries(fields.map(([name, value]) => [name, String(value)]))
  return 'TRANS_STATUS_NAME' in answer ? answer : null
}

const VOCABULARY = [...Object.keys(FORMS), ...ACTIONS, 'APPROVED'].join(' ')

/**
 * Whether these signs may stand in a row in such an approval, outside the order id of the merchant: in a name or word, a currency
 * or a number. What goes beyond one of these is not looked into: it may.
 */
export function mayStandInApproval(signs: string): boolean {
  if (!/^[A-Z\d_.{}":,]*$/.test(signs)) return false
  return /[{}":,]/.test(signs) || /^(?:[A-Z]{0,3}|[\d.]{0,16})$/.test(signs) || VOCABULARY.includes(signs)
}
