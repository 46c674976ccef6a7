// The numbers of a text that are written as card numbers are, each with how it is written and whether its check digit fits.

import { isInRange, isIssued, LONGEST_PAN, passesLuhn, SHORTEST_PAN } from './card-number.ts'
import { isArticleNumber, type Place, placesOfOtherNumbers } from './numbers-of-other-kinds.ts'
import { DASH, gapOf, JOINED, PARTED, readDigits, SPACE, type WrittenDigits } from './written-digits.ts'

/**
 * How a number is written. `piece`, `groups`, `digits` (each by itself), `expiry` (with its expiry date behind it) and
 * `exponent` (`4.1E+15`) are how cards are written; `odd` groups and `short` numbers (12 or 13 digits) only may be cards.
 */
export type Writing = 'piece' | 'groups' | 'digits' | 'expiry' | 'exponent' | 'odd' | 'short'

/** A number in the range of an issuer. */
export interface Candidate extends Place {
  readonly writing: Writing
  readonly digits: string
  /** Its check digit fits: else it is no card number, but tells what its neighbours are. */
  readonly fits: boolean
}

/** Cards of 12 and 13 digits are hardly issued any more; article and phone numbers of 13 digits are everywhere. */
const SHORTEST_CERTAIN = 14

export function isCertain({ writing, fits }: Candidate): boolean {
  return fits && writing !== 'odd' && writing !== 'short'
}

/** Every number of the text that is in the range of an issuer, whether its check digit fits or not. */
export function candidatesIn(text: string): Candidate[] {
  return lookAt(text, 'all')
}

/** What is looked for: what is certain; what is certain or doubtful and fits; all that is in a range. */
type Sought = 'certain' | 'fitting' | 'all'

/** The work grows with the length of the text and with nothing else. Numbers may overlap. */
export function lookAt(text: string, sought: Sought, meter: Meter = { steps: 0 }): Candidate[] {
  if (!mayHoldNumber(text)) return []
  let others: readonly Place[] | null = null
  const lookAs = (decoded: boolean) => {
    const written = readDigits(text, decoded)
    if (!hasLongRun(written)) return []
    others ??= placesOfOtherNumbers(text).sort((a, b) => a.from - b.from)
    return new Look(text, withoutOthers(written, others), sought, meter).candidates()
  }
  const found = lookAs(false)
  if (!/[%&\\]/.test(text)) return found
  const seen = new Set(found.map(({ from, to }) => `${from} ${to}`))
  return [...found, ...lookAs(true).filter(({ from, to }) => !seen.has(`${from} ${to}`))]
}

/** Whether so many digits belong together anywhere: those of dates, amounts and addresses do not. */
function hasLongRun({ count, gaps }: WrittenDigits): boolean {
  let run = 0
  for (let i = 0; i < count && run < SHORTEST_PAN; i++) run = gaps[i] === PARTED ? 1 : run + 1
  return run >= SHORTEST_PAN
}

/** The digits that belong to no number of another kind; what is before and behind one is parted by it. */
function withoutOthers(written: WrittenDigits, others: readonly Place[]): WrittenDigits {
  if (others.length === 0) return written
  const { values, from, to, gaps } = written
  let count = 0
  let isParted = false
  let next = 0
  let end = 0
  for (let i = 0; i < written.count; i++) {
    const at = from[i] as number
    for (; next < others.length && (others[next] as Place).from <= at; next++)
      end = Math.max(end, (others[next] as Place).to)
    if (at < end) {
      isParted = true
      continue
    }
    values[count] = values[i] as number
    from[count] = at
    to[count] = to[i] as number
    gaps[count] = isParted ? PARTED : (gaps[i] as number)
    isParted = false
    count += 1
  }
  return { ...written, count }
}

/** Counts what is done, so that a test can say that it grows with the text and not faster. */
export interface Meter {
  steps: number
}

/** Whether the text has as many digits as a card number, or signs that may be digits. Most cells fall out here. */
function mayHoldNumber(text: string): boolean {
  let digits = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if ((code > 0x2f && code < 0x3a) || code > 0xb1) digits += 1
    if (digits === SHORTEST_PAN) return true
  }
  return false
}

/** One look at the digits of a text. */
class Look {
  readonly #text: string
  readonly #written: WrittenDigits
  readonly #meter: Meter
  /** Sums of the digits before each place: where those at even places count twice, and those at odd places. */
  readonly #evenTwice: Int32Array
  readonly #oddTwice: Int32Array
  /** Where pieces, digits with nothing between them, begin; one more marks the end. */
  readonly #pieces: Int32Array
  #pieceCount = 0
  /** Of digits that begin a number in groups, where it ends. */
  readonly #groups = new Map<number, number>()
  /** Digits of numbers in groups that fit. */
  readonly #taken: Uint8Array
  readonly #sought: Sought
  readonly #found: Candidate[] = []

  constructor(text: string, written: WrittenDigits, sought: Sought, meter: Meter) {
    this.#text = text
    this.#written = written
    this.#sought = sought
    this.#meter = meter
    const { count, values, gaps } = written
    this.#taken = new Uint8Array(count)
    this.#evenTwice = new Int32Array(count + 1)
    this.#oddTwice = new Int32Array(count + 1)
    this.#pieces = new Int32Array(count + 1)
    for (let i = 0; i < count; i++) {
      const once = values[i] as number
      const twice = once > 4 ? 2 * once - 9 : 2 * once
      this.#evenTwice[i + 1] = (this.#evenTwice[i] as number) + (i % 2 === 0 ? twice : once)
      this.#oddTwice[i + 1] = (this.#oddTwice[i] as number) + (i % 2 === 0 ? once : twice)
      if (gaps[i] !== JOINED) this.#pieces[this.#pieceCount++] = i
    }
    this.#pieces[this.#pieceCount] = count
    meter.steps += text.length + count
  }

  candidates(): Candidate[] {
    for (let piece = 0; piece < this.#pieceCount; piece++) {
      this.#lookAtPiece(piece)
      if (this.#beginsRow(piece)) this.#lookAtRow(piece)
    }
    if (this.#sought === 'certain') return this.#found
    // Who looks for all weighs a column: so many of one cell tell enough, and a cell of single digits has one at each.
    const most = this.#sought === 'all' ? this.#found.length + ODD_MOST : Number.POSITIVE_INFINITY
    for (let piece = 0; piece < this.#pieceCount && this.#found.length < most; ) piece = this.#lookForOddGroups(piece)
    return this.#found
  }

  #start(piece: number): number {
    return this.#pieces[piece] as number
  }

  #length(piece: number): number {
    return this.#start(piece + 1) - this.#start(piece)
  }

  /** What is before a piece; behind the last one digits are parted from nothing. */
  #gap(piece: number): number {
    return piece < this.#pieceCount ? (this.#written.gaps[this.#start(piece)] as number) : PARTED
  }

  // ───────────────────────────────────────────────────────── In one piece

  #lookAtPiece(piece: number): void {
    this.#meter.steps += 1
    const from = this.#start(piece)
    const length = this.#length(piece)
    if (length === 1) this.#lookAtExponent(piece)
    if (length < SHORTEST_PAN || length > LONGEST_PAN + MOST_BEHIND || this.#isFraction(from)) return
    if (length >= SHORTEST_CERTAIN) this.#add('piece', from, from + length)
    else if (!isArticleNumber(this.#digits(from, from + length))) this.#add('short', from, from + length)
    for (const behind of [4, 6]) {
      const end = from + length - behind
      if (end - from >= SHORTEST_CERTAIN && isExpiry(this.#digits(end, end + behind))) this.#add('expiry', from, end)
    }
  }

  /** The decimals of a number such as `0.4111111111111111` are no card number. */
  #isFraction(from: number): boolean {
    const at = this.#written.from[from] as number
    return this.#text[at - 1] === '.' && /\d/.test(this.#text[at - 2] ?? '')
  }

  /** `4.111111111111111E+15`, or with a comma: zeros at the end are not written. */
  #lookAtExponent(piece: number): void {
    const from = this.#start(piece)
    const end = this.#start(piece + 2)
    if (piece + 1 >= this.#pieceCount || end - from > LONGEST_PAN) return
    const place = this.#written.to[end - 1] as number
    if (!'.,'.includes(this.#text[this.#written.to[from] as number] ?? ' ')) return
    const exponent = /^[eE]\+?0*(\d\d)(?!\d)/.exec(this.#text.slice(place, place + 8))
    const length = Number(exponent?.[1] ?? 0) + 1
    if (exponent === null || length < Math.max(end - from, SHORTEST_CERTAIN) || length > LONGEST_PAN) return
    const digits = this.#digits(from, end).padEnd(length, '0')
    if (!isInRange(digits)) return
    const [first, last] = [this.#written.from[from] as number, place + exponent[0].length]
    this.#found.push({ from: first, to: last, writing: 'exponent', digits, fits: passesLuhn(digits) })
  }

  // ───────────────────────────────────────────────────────── In groups

  /** A row is pieces with the same separators between them; one may end in the piece that begins the next. */
  #beginsRow(piece: number): boolean {
    const next = this.#gap(piece + 1)
    return next !== PARTED && (this.#gap(piece) !== next || this.#gap(piece) === PARTED)
  }

  /** A card number begins a row, or follows another one, and little follows it: it is no part of something longer. */
  #lookAtRow(first: number): void {
    const gap = this.#gap(first + 1)
    let end = first + 1
    while (end < this.#pieceCount && this.#gap(end) === gap) end += 1
    this.#meter.steps += end - first
    this.#lookAtSingles(first, end, gap)
    for (let piece = first; piece < end; ) {
      const next = this.#lookAtGroups(piece, end)
      if (next === null) return
      piece = next
    }
  }

  /** Where the card number in groups that begins here ends; null: none begins here. */
  #lookAtGroups(piece: number, end: number): number | null {
    for (const pieces of this.#shapesAt(piece, end)) {
      const next = piece + pieces
      if (end - next > FOLLOW_MOST && this.#shapesAt(next, end).length === 0) continue
      const [from, to] = [this.#start(piece), this.#start(next)]
      const found = this.#add(to - from < SHORTEST_CERTAIN ? 'short' : 'groups', from, to)
      if (found !== 'none') this.#groups.set(from, to)
      if (found !== 'fits') continue
      this.#taken.fill(1, from, to)
      return next
    }
    return null
  }

  /** Every digit by itself: the whole row, where it is not a table or a list. */
  #lookAtSingles(first: number, end: number, gap: number): void {
    const [from, to] = [this.#start(first), this.#start(end)]
    if (to - from !== end - first || to - from < SHORTEST_PAN || to - from > LONGEST_PAN || LISTING.has(gap)) return
    this.#add(to - from < SHORTEST_CERTAIN ? 'short' : 'digits', from, to)
  }

  /** How many pieces from this one on have the lengths of a card number in groups, the longest first. */
  #shapesAt(piece: number, end: number): readonly number[] {
    this.#meter.steps += 1
    const left = end - piece
    const fours = this.#countOf(4, piece, Math.min(end, piece + 4))
    if (fours >= 3) {
      // Fours, and what is left over in a last group; behind sixteen digits that may be something else.
      const last = fours < left ? this.#length(piece + fours) : 0
      const whole = fours === 4 || left === 3 ? [fours] : []
      return last > 0 && last < 4 ? [fours + 1, ...whole] : whole
    }
    if (left < 2) return []
    const [one, two, three] = [this.#length(piece), this.#length(piece + 1), left > 2 ? this.#length(piece + 2) : 0]
    if (one === 4 && two === 6 && (three === 4 || three === 5)) return [3]
    if (one === 6 && two === 13) return [2]
    // With the separators of thousands.
    const threes = one < 4 ? this.#countOf(3, piece + 1, Math.min(end, piece + 7)) : 0
    return threes > 3 && one + 3 * threes >= SHORTEST_CERTAIN && threes + 1 === left ? [left] : []
  }

  #countOf(length: number, from: number, to: number): number {
    let piece = from
    while (piece < to && this.#length(piece) === length) piece += 1
    return piece - from
  }

  /**
   * Any groups, with single spaces or dashes: too many numbers of other kinds have other separators. A piece as long as a
   * card number is looked at by itself only. Answers with the piece to go on with.
   */
  #lookForOddGroups(first: number): number {
    const from = this.#start(first)
    if (this.#isApart(first) || this.#isFraction(from)) return first + 1
    const grouped = this.#groups.get(from)
    let last = first
    for (let piece = first + 1; piece < this.#pieceCount; piece++) {
      const gap = this.#gap(piece)
      const to = this.#start(piece + 1)
      if ((gap !== SPACE && gap !== DASH) || this.#isApart(piece) || to - from > LONGEST_PAN) break
      this.#meter.steps += 1
      if (to - from >= SHORTEST_CERTAIN && to !== grouped && this.#add('odd', from, to) === 'fits') last = piece
    }
    // Who looks for all counts all; a mask goes on behind what it covers.
    return this.#sought === 'all' ? first + 1 : last + 1
  }

  #isApart(piece: number): boolean {
    return this.#length(piece) >= SHORTEST_CERTAIN || this.#taken[this.#start(piece)] === 1
  }

  // ───────────────────────────────────────────────────────── Any of them

  #add(writing: Writing, from: number, to: number): 'fits' | 'in range' | 'none' {
    const { values } = this.#written
    let iin = 0
    for (let i = from; i < from + 6; i++) iin = iin * 10 + (values[i] as number)
    if (!isIssued(iin, to - from)) return 'none'
    // The last digit counts once, the one before it twice.
    const sums = to % 2 === 1 ? this.#oddTwice : this.#evenTwice
    const fits = ((sums[to] as number) - (sums[from] as number)) % 10 === 0
    if (this.#sought === 'all' || (fits && (this.#sought === 'fitting' || writing !== 'short')))
      this.#found.push({
        from: this.#written.from[from] as number,
        to: this.#written.to[to - 1] as number,
        writing,
        digits: this.#digits(from, to),
        fits,
      })
    return fits ? 'fits' : 'in range'
  }

  #digits(from: number, to: number): string {
    return this.#written.values.subarray(from, to).join('')
  }
}

const ODD_MOST = 8

/** Expiry, security code: so many groups may stand behind a card number with the separators of its own groups. */
const FOLLOW_MOST = 3
/** Month and year, in either order, the year with two or four digits. */
const MOST_BEHIND = 6

function isExpiry(digits: string): boolean {
  return digits.length === 4
    ? /^(?:(?:0[1-9]|1[0-2])[2-4]\d|[2-4]\d(?:0[1-9]|1[0-2]))$/.test(digits)
    : /^(?:(?:0[1-9]|1[0-2])20[2-4]\d|20[2-4]\d(?:0[1-9]|1[0-2]))$/.test(digits)
}

/** Single digits with these between them are answers, scores, cells: `5,4,3,…`. */
const LISTING = new Set(Array.from(',;\t\n\r|"\'', (sign) => gapOf(sign)))
