// From the bytes of a body to what it is: a transaction's answer, plainly none, or neither.

import { isUtf8 } from 'node:buffer'
import type { Body } from '../domain/outcome.ts'
import { parseAnswer } from './answer.ts'

type Header = string | string[] | undefined

/**
 * A body is no transaction's answer only if it is text that can be read to its end and that names neither a field nor a
 * status of one, in whatever spelling. What is cut, packed or wrapped may hide the answer of a gateway that executed.
 */
export function parseBody(bytes: Buffer, contentEncoding: Header, scrub: (text: string) => string): Body {
  const text = bytes.toString('utf8')
  const fields = parseAnswer(text, scrub)
  const status = fields?.TRANS_STATUS_NAME
  if (fields !== null && status !== undefined) return { kind: 'answer', status, fields }
  const isPlain = isPlainText(bytes, contentEncoding) && isWhole(text) && !speaksOfTransaction(text)
  return isPlain ? { kind: 'none', message: fields?.ERROR_MESSAGE ?? null } : { kind: 'unclear' }
}

/** For people: bytes that are no text would fill histories and results with signs that mean nothing. */
export function textOf(bytes: Buffer): string {
  return isBinary(bytes) ? `${bytes.length} bytes that are no text` : bytes.toString('utf8')
}

function isPlainText(bytes: Buffer, contentEncoding: Header): boolean {
  if (bytes.length === 0) return true
  // Nothing is unpacked here: what is packed has not been read.
  const isPacked = contentEncoding !== undefined && contentEncoding !== 'identity'
  return !isPacked && isUtf8(bytes) && !isBinary(bytes)
}

/** Compressed bytes, UTF-16 and the like have control characters in them. */
function isBinary(bytes: Buffer): boolean {
  return bytes.some((byte) => byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d))
}

/** A web page by its beginning; or one JSON value, or words without the signs that JSON and markup are made of. */
function isWhole(text: string): boolean {
  const body = text.replace(/^\uFEFF/, '').trim()
  return WEB_PAGE.test(body) || (!OPAQUE.test(body) && (WORDS.test(body) || isJson(body)))
}

const WEB_PAGE = /^(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|title|body|center|h1)\b/i
const WORDS = /^(?:[^{}[\]<>"][^{}[\]<>]*)?$/
/** Shorter than any answer in base64, longer than a UUID. Addresses and trace ids are divided by dots, hyphens, slashes. */
const OPAQUE = /[\w+=]{40}/

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The fields, with their parts put together in whatever way, and the statuses. */
const NAMES =
  /trans_?(?:status_?name|value|request_?id|record_?id|order_?id)|trans_cur(?![a-z])|request_?action|approved|declined/

function speaksOfTransaction(text: string): boolean {
  const plain = unescaped(text)
  if (plain === null) return true
  const letters = plain
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
  return NAMES.test(letters.replace(/[^a-z]+/g, '_'))
}

/** What stands for one character in JSON and scripts, in web pages, in forms. */
const ESCAPE = /\\u\{?0*([\da-f]{2,4})\}?|\\x([\da-f]{2})|&#x0*([\da-f]{2,4});?|&#0*(\d{2,5});?|%([\da-f]{2})/gi
/** JSON in JSON in a form. What is escaped more often than that hides something. */
const MOST_PASSES = 4

/** The text with its escapes resolved, also those of escapes; null where there is no end to them. */
function unescaped(text: string): string | null {
  let before = text
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const after = before
      // JSON in JSON has as many backslashes as it is deep.
      .replace(/\\+/g, '\\')
      .replace(ESCAPE, (_all, u, x, entity, decimal, percent) =>
        String.fromCharCode(decimal === undefined ? Number.parseInt(u ?? x ?? entity ?? percent, 16) : Number(decimal)),
      )
    if (after === before) return after
    before = after
  }
  return null
}
