// From the bytes of a body to what it is: a transaction's answer, plainly none, or neither.

import { isUtf8 } from 'node:buffer'
import { brotliDecompressSync, constants, inflateRawSync, unzipSync } from 'node:zlib'
import type { Body } from '../domain/outcome.ts'
import { unescaped } from '../domain/unescaped.ts'
import { type Contract, TRANSACTIONS } from './answer.ts'

export type Header = string | string[] | undefined

/**
 * A body is no transaction's answer only if it is text that can be read to its end and that names neither a field nor a
 * status of one, in whatever spelling. What is cut, packed or wrapped may hide the answer of a gateway that executed.
 * The words are the gateway's own: `answered.ts` makes them fit to be kept.
 */
export function parseBody(bytes: Buffer, contentEncoding: Header, contract: Contract = TRANSACTIONS): Body {
  const text = bytes.toString('utf8')
  const fields = contract.parse(text)
  const status = fields?.[contract.status]
  if (fields !== null && status !== undefined) return { kind: 'answer', status, fields }
  const reading = { ...MOST_DECODED, names: contract.names }
  const isPlain = isUnpacked(bytes, contentEncoding) && isText(bytes) && isPlainText(text, reading)
  return isPlain ? { kind: 'none', message: fields?.[contract.message] ?? null } : { kind: 'unclear' }
}

/** For people: bytes that are no text would fill histories and results with signs that mean nothing. */
export function textOf(bytes: Buffer): string {
  return isBinary(bytes) ? `${bytes.length} bytes that are no text` : bytes.toString('utf8')
}

/** Nothing is unpacked here: what is packed has not been read. */
function isUnpacked(bytes: Buffer, contentEncoding: Header): boolean {
  const encodings = [contentEncoding ?? ''].flat().join(',').split(',')
  return bytes.length === 0 || encodings.every((one) => NO_PACKING.has(one.trim().toLowerCase()))
}

/** A character set is put there by mistake, and packs nothing. */
const NO_PACKING: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'utf8'])

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !isBinary(bytes)
}

function isPlainText(text: string, reading: Reading): boolean {
  return isWhole(text, reading) && !speaksOfAnswer(text, reading.names)
}

/** What of a body may be decoded, runs within runs included. What has more is not read, for others wait meanwhile. */
const MOST_DECODED = { runs: 100, signs: 16_384 }

/** What is left of that, and what an answer names. */
interface Reading {
  runs: number
  signs: number
  readonly names: RegExp
}

/** Compressed bytes, UTF-16 and the like have control characters in them. */
function isBinary(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d)) return true
  return false
}

/** A web page by its beginning; or one JSON value, whole markup, or words, and no run of signs that may be packed. */
function isWhole(text: string, reading: Reading): boolean {
  const body = text.replace(/^\uFEFF/, '').trim()
  return WEB_PAGE.test(body) || ((isWords(body) || isJson(body) || isMarkup(body)) && !hidesInRun(body, reading))
}

const WEB_PAGE =
  /^(?:<!--(?:[^-]|-(?!->))*-->\s*|<\?xml[^>]*>\s*)*<(?:!doctype\s+html|html|head|title|body|center|h1)\b/i

/** Without braces and tags, and with quotation marks only where words have them: a part of JSON or markup is none. */
function isWords(body: string): boolean {
  return /^(?:[^{}[\]<>"][^{}[\]"]*|)$/.test(body.replace(QUOTED, '')) && !/<(?![^a-z/!?])/i.test(body)
}

const QUOTED = /(?<=[\s(])"[^"{}[\]]*"(?=[\s).,;!?]|$)/g

/** Elements that are all closed, from the first sign to the last. */
function isMarkup(body: string): boolean {
  if (!body.startsWith('<') || !body.endsWith('>')) return false
  const open: string[] = []
  let end = 0
  let elements = 0
  for (const [token, closes, name, rest] of body.matchAll(MARKUP)) {
    end += token.length
    if (name !== undefined) elements++
    if (name === undefined || VOID.test(name) || rest?.endsWith('/')) continue
    if (closes === '') open.push(name)
    else if (open.pop() !== name) return false
  }
  return elements > 0 && end === body.length && open.length === 0
}

/** Each begins where the one before ended: what is none of them ends the reading. */
const MARKUP =
  /[^<]+|<!--(?:[^-]|-(?!->))*-->|<!\[CDATA\[(?:[^\]]|\](?!\]>))*\]\]>|<[?!][^<>[]*>|<(\/?)([a-z][\w:.-]*)([^<>]*)>/giy
const VOID = /^(?:br|hr|img|input|link|meta)$/i

/**
 * Request ids, hashes and tokens are runs of letters and digits, and so is an answer in base64 or hexadecimal. What can be
 * made text of is read; what cannot is an id only where it is shorter than any packed answer.
 */
function hidesInRun(body: string, reading: Reading): boolean {
  let opaque = 0
  const runs = (unescaped(body) ?? body).replaceAll('\\/', '/').replace(WRAPPED, '').matchAll(RUN)
  for (const [run] of runs) {
    reading.runs -= 1
    reading.signs -= run.length
    if (reading.runs < 0 || reading.signs < 0) return true
    const decoded = decodings(run)
    if (!decoded.filter(isText).every((bytes) => isPlainText(bytes.toString(), reading))) return true
    const isOpaque = OPAQUE.test(run)
    const isShort = run.length <= MOST_OPAQUE || !isOpaque
    if (isShort && decoded.some((bytes) => unpacksToAnswer(bytes, reading.names))) return true
    if (isOpaque && !decoded.some(isText)) opaque += run.length
  }
  return opaque > MOST_OPAQUE
}

const RUN = /[\w+/=-]{40,}/g
/** The line ends, also as JSON has them, that base64 is wrapped with at 64 or 76 signs: its lines are one run. */
const WRAPPED = /(?<=[\w+/=-]{64})(?:\\[rn]|[\r\n])+(?=[\w+/=-])/g
/** Longer than a UUID. Addresses and trace ids are divided by dots, hyphens, slashes. */
const OPAQUE = /[\w+=]{40}/
/** In all of a body. An answer has more, however it is packed, unless it has a status and nothing else. */
const MOST_OPAQUE = 100

/** From every place at which it may begin: a word may stand before it. */
function decodings(run: string): Buffer[] {
  const base64 = [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64'))
  const digits = /[\da-f]{40,}/i.exec(run)?.[0] ?? ''
  return [...base64, ...[0, 1].map((from) => Buffer.from(digits.slice(from), 'hex'))].filter(({ length }) => length > 0)
}

function unpacksToAnswer(bytes: Buffer, names: RegExp): boolean {
  return UNPACKERS.some((unpack) => {
    try {
      return speaksOfAnswer(unpack(bytes).toString(), names)
    } catch {
      return false
    }
  })
}

/** As far as it goes: what is packed may be cut. */
const CUT = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 65_536 }
const UNPACKERS: ReadonlyArray<(bytes: Buffer) => Buffer> = [
  (bytes) => unzipSync(bytes, CUT),
  (bytes) => inflateRawSync(bytes, CUT),
  (bytes) => brotliDecompressSync(bytes, { ...CUT, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
]

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function speaksOfAnswer(text: string, names: RegExp): boolean {
  const plain = unescaped(text)
  if (plain === null) return true
  const letters = plain
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
  return names.test(letters.replace(/[^a-z]+/g, '_'))
}
