// Makes text that came from outside fit to be kept and shown: one visible line of bounded length, no card data, none of our
// credentials.

import type { CardDetails } from '../domain/card.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { codeBehindName } from '../domain/card-words.ts'
import { createReplacer, spellingsOf } from '../domain/secrets.ts'
import { unescaped, withBlanks } from '../domain/unescaped.ts'
import { mayStandInApproval } from './plain-answer.ts'

export interface Scrub {
  /**
   * The text as one line of at most so many characters. What cannot be cleaned is withheld as a whole. Only the part that
   * may be kept is looked at, so that the cost does not grow with the text.
   */
  line(text: string, most?: number): string
  /** Whether a secret stands anywhere in the text, in whatever writing. */
  repeats(text: string): boolean
  /** Whether the number of the card that was sent stands anywhere in the text, also between other digits. */
  repeatsCard(text: string): boolean
  /** Nothing hidden can stand in an approval exactly as the contract writes it, outside the order id of the merchant. */
  readonly isClearOfApprovals: boolean
}

export interface Hidden {
  /** Who we are to the gateway: masked, and no cause for alarm. */
  readonly username: string
  /** What must never be seen again. */
  readonly secrets: readonly string[]
  /** The details that the request had; absent or null: it had none. */
  readonly card?: Pick<CardDetails, 'number' | 'code'> | null
}

export const REPEATED = 'the answer repeated our credentials; withheld'
export const CARD_REPEATED = 'the answer repeated the card number; withheld'
export const DISGUISED = 'the answer held what may be card data, in disguise; withheld'

const LONGEST_LINE = 2_000
/** Longer than a card number or a security code with its name: what is cut off may have been the rest of one. */
const MARGIN = 200

export function createScrub({ username, secrets, card = null }: Hidden): Scrub {
  const writings = writingsOf(secrets)
  const isRepeated = searchFor(writings)
  const repeatsCard = card === null ? () => false : searchForNumber(card.number)
  const maskOwnCode = card === null ? (text: string) => text : maskerOf(card.code)
  const hideUsername = createReplacer([{ word: username, instead: '***' }])
  return {
    repeats: isRepeated,
    repeatsCard,
    isClearOfApprovals: card === null && !mayShow(writings, username),
    line(text, most = LONGEST_LINE) {
      if (text === '') return ''
      // Twice: what is masked becomes shorter.
      const cut = text.slice(0, most + 2 * MARGIN)
      if (isRepeated(cut)) return REPEATED
      if (repeatsCard(cut)) return CARD_REPEATED
      const plain = visible(cut)
      const masked = maskOwnCode(maskCodes(maskCardData(hideUsername(plain))))
      const whole = cut === text ? masked : masked.slice(0, -MARGIN)
      const line = whole.slice(0, most).toWellFormed()
      return hidesCard(line) ? DISGUISED : line
    },
  }
}

/** One line without anything that moves a terminal or turns what is read on it round. */
export function visible(text: string): string {
  if (PLAIN_LINE.test(text)) return text
  return text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
}

/** Most answers are one already. */
const PLAIN_LINE = /^(?:[!-~]+(?: [!-~]+)*)?$/

// ───────────────────────────────────────────────────────────── Credentials

interface Writings {
  readonly plain: readonly string[]
  readonly base64: readonly string[]
  readonly hex: readonly string[]
}

function writingsOf(secrets: readonly string[]): Writings {
  const told = secrets.filter((secret) => secret !== '')
  return {
    plain: [...new Set(told.flatMap((secret) => [folded(secret), folded(unescaped(secret) ?? secret)]))],
    base64: told.flatMap(base64Of),
    hex: told.map((secret) => Buffer.from(secret).toString('hex')),
  }
}

/** An approval has capital letters only. Letter case matters in base64 alone, in which `_` is the same as `/`. */
function mayShow({ plain, base64, hex }: Writings, username: string): boolean {
  const inAnyCase = [...plain, ...hex, ...spellingsOf(username)].map((writing) => writing.toUpperCase())
  return [...inAnyCase, ...base64.map((packed) => packed.replaceAll('/', '_'))].some(mayStandInApproval)
}

/**
 * Looks for the secrets in text as it stands and as it reads, without regard to case; in base64 at any offset, so that
 * `user:password` is found as well; and in hexadecimal. Not found: parts of a secret, and writings that need a key.
 */
function searchFor({ plain, base64, hex }: Writings): (text: string) => boolean {
  const pattern = plain.length === 0 ? null : new RegExp(plain.map(onItsOwn).join('|'))
  if (pattern === null) return () => false
  const isIn = (one: string) => {
    if (pattern.test(folded(one))) return true
    const run = one.replace(/[\s\\]+/g, '')
    const letters = run.replaceAll('-', '+').replaceAll('_', '/')
    if (base64.some((packed) => letters.includes(packed))) return true
    const small = run.toLowerCase()
    return hex.some((packed) => small.includes(packed))
  }
  return (text) => {
    const read = unescaped(text)
    return isIn(text) || (read !== null && read !== text && isIn(read))
  }
}

/** The same for texts that people and servers take for the same. */
function folded(text: string): string {
  const plain = ASCII.test(text) ? text.replaceAll('\\', '') : text.normalize('NFKC').replace(/\p{Cf}|\\/gu, '')
  return plain.replace(/[\s+]+/g, ' ').toLowerCase()
}

const ASCII = /^[\0-\x7f]*$/

/** Ids are long runs of digits, and a short one of digits is somewhere in many of them. */
function onItsOwn(secret: string): string {
  return /^\d+$/.test(secret) ? `(?<!\\d)${secret}(?!\\d)` : RegExp.escape(secret)
}

/** Fewer letters stand in many words by chance. */
const SHORTEST_BASE64 = 5

/** What of it is the same whatever stands before and behind it. */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].flatMap((before) => {
    const packed = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const sure = packed.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return sure.length < SHORTEST_BASE64 ? [] : [sure]
  })
}

// ───────────────────────────────────────────────────────────── Card data

/** Padded, between an expiry and a code, in groups: wherever its digits follow on one another. */
function searchForNumber(number: string): (text: string) => boolean {
  const isWritten = searchFor(writingsOf([number]))
  const holds = (text: string) => text.replace(/[^\p{Nd}]+/gu, '').includes(number)
  return (text) => isWritten(text) || [text.normalize('NFKC'), unescaped(text) ?? ''].some(holds)
}

/** Three or four digits stand in many texts; of this card they may be its code. */
function maskerOf(code: string): (text: string) => string {
  const own = new RegExp(`(?<!\\d)${code}(?!\\d)`, 'g')
  return (text) => text.replace(own, '***')
}

/** An answer names its fields: what is a course or a customer in a file is a security code there. */
const ONLY_ANSWERS = ['csc2?', 'cav2?', 'cid2?', 'pins?', 'pmt key', 'card (?:code|value)', 'security value']
const VERIFICATIONS = [
  '(?:verification|validation) (?:code|value|number|no)',
  'code (?:de )?verification',
  'codigo (?:de )?verificacion',
  'codice (?:di )?verifica',
]
const CODE = codeBehindName(String.raw`\p{Nd}{3,4}(?!\p{Nd})`, [...ONLY_ANSWERS, ...VERIFICATIONS])

function maskCodes(text: string): string {
  return text.replace(CODE(), (match) => match.replace(/\p{Nd}{3,4}$/u, '***'))
}

function showsCard(text: string): boolean {
  return maskCodes(maskCardData(text)) !== text
}

/** Whether what is masked where it stands plainly reads out of escapes, base64 or hexadecimal all the same. */
function hidesCard(line: string): boolean {
  const read = unescaped(line)
  if (read === null) return true
  const spaced = visible(withBlanks(read))
  if (spaced !== line && showsCard(spaced)) return true
  const runs = read.replaceAll('\\/', '/').match(/[\w+/=-]{8,}/g) ?? []
  const decoded = runs.filter(mayHideDigits).flatMap(decodings).filter(hasDigits)
  return decoded.length > 0 && showsCard(decoded.join('\n'))
}

/** One of any three digits in a row becomes one of these in base64; in hexadecimal each begins with a 3. */
function mayHideDigits(run: string): boolean {
  return /[w-z0-5]/.test(run)
}

function hasDigits(text: string): boolean {
  return /\d{3}/.test(text)
}

function decodings(run: string): string[] {
  const base64 = [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString('latin1'))
  const digits = /[\da-f]{8,}/i.exec(run)?.[0] ?? ''
  return [...base64, ...[0, 1].map((from) => Buffer.from(digits.slice(from), 'hex').toString('latin1'))]
}
