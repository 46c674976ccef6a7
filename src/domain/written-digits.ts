// The digits of a text as they read, whatever script, escape or invisible sign they are written with, and what is between them.

/** The digits of a text in a row. `from` and `to` are places in the text: an escape such as `%34` is one digit. */
export interface WrittenDigits {
  readonly count: number
  readonly values: Uint8Array
  readonly from: Int32Array
  readonly to: Int32Array
  /** What is before the digit: `JOINED`, `PARTED`, or a number that is the same for the same separators. */
  readonly gaps: Int32Array
}

/** Nothing between two digits, or nothing that shows. */
export const JOINED = 0
/** A letter, or too many separators: the digits do not belong together. */
export const PARTED = -1
/** One space of any kind, one dash of any kind. */
export const SPACE = 1
export const DASH = 2
/** More separators than that part numbers: columns of a table, fields of a record. */
const SEPARATORS_MOST = 3

/** Kinds of characters; 0 to 9 are digits of that value. */
const INVISIBLE = 10
const LETTER = 11
/** Separators count from here by their code; all spaces are one, all dashes too. */
const SEPARATOR = 16

/**
 * `decoded`: percent-escapes, character references and the escapes of JSON are read as what they stand for. A text that
 * has any must be read both ways: `%B4111…` is the first track of a card, and no byte B4.
 */
export function readDigits(text: string, decoded: boolean): WrittenDigits {
  const { length } = text
  const values = new Uint8Array(length)
  const from = new Int32Array(length)
  const to = new Int32Array(length)
  const gaps = new Int32Array(length)
  let count = 0
  let gap = PARTED
  let separators = 0
  for (let at = 0; at < length; ) {
    let code = text.charCodeAt(at)
    let end = at + 1
    if (code > 0xd7ff && code < 0xdc00) {
      code = text.codePointAt(at) as number
      end = at + (code > 0xffff ? 2 : 1)
    } else if (decoded && (code === PERCENT || code === AMPERSAND || code === BACKSLASH)) {
      const escaped = escapeAt(text, at)
      if (escaped !== null) [code, end] = escaped
    }
    const kind = kindOf(code)
    if (kind < INVISIBLE) {
      values[count] = kind
      from[count] = at
      to[count] = end
      gaps[count] = gap
      count += 1
      gap = JOINED
      separators = 0
    } else if (kind === LETTER) gap = PARTED
    else if (kind >= SEPARATOR && gap !== PARTED) {
      separators += 1
      gap = separators > SEPARATORS_MOST ? PARTED : gapWith(gap, kind)
    }
    at = end
  }
  return { count, values, from, to, gaps }
}

const PERCENT = 0x25
const AMPERSAND = 0x26
const BACKSLASH = 0x5c

/** What is between two digits with this one separator between them. */
export function gapOf(separator: string): number {
  return gapWith(JOINED, kindOf(codeOf(separator)))
}

/** Different separators may come out the same, which is of no harm. Three of them stay above the two single ones. */
function gapWith(gap: number, kind: number): number {
  const sign = kind - SEPARATOR
  if (gap === JOINED) return sign === 0x20 ? SPACE : sign === 0x2d ? DASH : sign + 3
  return ((Math.imul(gap, 69_069) + sign) & 0x3fffffff) + 0x200000
}

/** Kinds of the characters below U+10000, filled as they are met; 0 is unknown, others are one more than the kind. */
const KINDS = new Int32Array(0x10000)

function kindOf(code: number): number {
  if (code > 0xffff) return kindOfNew(code)
  const known = KINDS[code] as number
  if (known !== 0) return known - 1
  const kind = kindOfNew(code)
  KINDS[code] = kind + 1
  return kind
}

function kindOfNew(code: number): number {
  const character = String.fromCodePoint(code)
  const digit = digitOf(character, code)
  if (digit !== null) return digit
  // A letter's accents and a digit's key cap hide nothing, and neither does NUL in what was UTF-16.
  if (/[\p{Cf}\p{M}\0]/u.test(character)) return INVISIBLE
  if (/\p{Zs}/u.test(character)) return SEPARATOR + 0x20
  if (/[\p{Pd}\u2212]/u.test(character)) return SEPARATOR + 0x2d
  if (/[\p{Z}\p{P}\p{S}\p{Cc}]/u.test(character)) return SEPARATOR + code
  return LETTER
}

/** Digits of any script, also raised, wide, framed and mathematical ones. */
function digitOf(character: string, code: number): number | null {
  const plain = character.normalize('NFKC')
  if (/^[0-9]$/.test(plain)) return Number(plain)
  if (!/^\p{Nd}$/u.test(character)) return null
  // Unicode has them in blocks of ten, from zero to nine.
  let zero = code
  while (code - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return code - zero
}

const BYTES = /(?:%[0-9a-f]{2})+/iy
const REFERENCE = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/iy
const JSON_ESCAPE = /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|([ntrf/]))/iy
const NAMED: Readonly<Record<string, string>> = {
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  ndash: '-',
  mdash: '-',
  hyphen: '-',
  minus: '-',
  shy: '\u00ad',
  zwj: '\u200d',
  zwnj: '\u200c',
  lrm: '\u200e',
  rlm: '\u200f',
  middot: '\u00b7',
  bull: '\u2022',
  plus: '+',
  comma: ',',
  period: '.',
  colon: ':',
  lowbar: '_',
  sol: '/',
  amp: '&',
  quot: '"',
  apos: "'",
}
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', '/': '/' }

/** What the escape at this place stands for, and where it ends; null: there is none. */
function escapeAt(text: string, at: number): [code: number, end: number] | null {
  const sign = text.charCodeAt(at)
  if (sign === PERCENT) return percentAt(text, at)
  const pattern = sign === AMPERSAND ? REFERENCE : JSON_ESCAPE
  pattern.lastIndex = at
  const found = pattern.exec(text)
  if (found === null) return null
  const [whole, one, two, three] = found
  const end = at + whole.length
  if (sign === AMPERSAND) {
    if (three !== undefined) return [codeOf(NAMED[three.toLowerCase()]), end]
    const code = one === undefined ? Number.parseInt(two as string, 16) : Number(one)
    return [code > 0x10ffff ? 0x41 : code, end]
  }
  const hex = one ?? two
  return [hex === undefined ? codeOf(CONTROLS[three as string]) : Number.parseInt(hex, 16), end]
}

/** A name that is not known stands for a letter. */
function codeOf(character: string | undefined): number {
  return (character ?? 'A').codePointAt(0) as number
}

/** One character of UTF-8 has one to four bytes, and the first says how many. */
function percentAt(text: string, at: number): [code: number, end: number] | null {
  const first = Number.parseInt(text.slice(at + 1, at + 3), 16)
  const bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  const escaped = text.slice(at, at + 3 * bytes)
  BYTES.lastIndex = 0
  if (bytes === 0 || BYTES.exec(escaped)?.[0].length !== 3 * bytes) return null
  try {
    return [codeOf(decodeURIComponent(escaped)), at + 3 * bytes]
  } catch {
    return null
  }
}
