// Looks through what is not read as instructions, of a file or all of it: a file is not moved before it is known to hold no
// card data.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { isRoundedPan } from '../../domain/card-number.ts'
import type { CardFinding } from '../../domain/inbox.ts'
import { holdsPan } from '../../domain/pan.ts'
import { isCardColumn } from '../columns.ts'
import { type Encoding, NotText, readHead, readText, sniffBinary, sniffEncoding } from '../csv/bytes.ts'
import type { Cell } from '../workbook/sheet-rows.ts'
import { openWhole, startsAsZip, type WholeWorkbook } from '../workbook/workbook.ts'
import { type Entry, Unreadable } from '../workbook/zip.ts'
import { holdsOtherPan } from './evidence.ts'

const NO_FORMS: ReadonlySet<string> = new Set()
const NO_CARDS: CardFinding = { kind: 'none' }
const A_NUMBER: CardFinding = { kind: 'cards', line: null, column: null }

/** `unseen`: it is no text, so it cannot be said. */
export async function findCards(file: FileHandle): Promise<CardFinding> {
  const head = await readHead(file)
  const binary = sniffBinary(head)
  if (binary !== null) return unseen(`it is ${binary}`)
  if (await holdsNumber(file)) return A_NUMBER
  const { encoding, certain } = sniffEncoding(head)
  for (const tried of certain ? [encoding] : [encoding, 'windows-1252' as const]) {
    const found = await findAs(file, tried)
    if (found !== 'not-text') return found
  }
  return unseen('it is not text')
}

/**
 * Card data in a workbook whose rows were read without finding any: in its other sheets, in texts that no cell names, in
 * comments, text boxes, headers, formulas. Archiving the file copies all of it. `passed` are forms of numbers that the
 * rows have shown to be ids: the parts of the file hold those rows too.
 */
export async function findCardsBeside(
  file: FileHandle,
  sheet: string,
  passed: ReadonlySet<string> = NO_FORMS,
): Promise<CardFinding> {
  try {
    const whole = await openWhole(file)
    if (whole === null) return unseen('it was replaced by a larger one')
    for await (const { line, cells } of whole.rowsBeside(sheet))
      if (cells.some(isCardCell) || (line <= LINES_THAT_MAY_BE_THE_HEADER && namesCards(cells))) return BESIDE
    if (whole.shared.some((text) => holdsOtherPan(text, passed))) return BESIDE
    for (const entry of whole.entries) {
      const found = await findInPart(entry, whole, passed)
      if (found.kind !== 'none') return found
    }
    return NO_CARDS
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'unseen', problem: error.problem, remedy: error.remedy }
    throw error
  }
}

const BESIDE: CardFinding = {
  kind: 'cards',
  line: null,
  column: 'outside the rows that were read: in another sheet, a comment, a header or a formula',
}

function isCardCell({ text, kind }: Cell): boolean {
  return holdsPan(text) || (kind !== 'text' && isRoundedPan(text))
}

/** What is below such a column cannot be known: a security code looks like any number. In a list "Credit card" is a word. */
function namesCards(cells: readonly Cell[]): boolean {
  const filled = cells.filter(({ text }) => text.trim() !== '')
  return (
    filled.length > 1 &&
    filled.every(({ text }) => /\p{L}/u.test(text)) &&
    cells.some((cell) => isCardColumn(cell.text))
  )
}

/** Notes and text boxes are held whole, because a number may stand in several pieces of different fonts. */
const HELD_BYTES_MOST = 16 * 1024 * 1024

async function findInPart(entry: Entry, whole: WholeWorkbook, passed: ReadonlySet<string>): Promise<CardFinding> {
  const pieces = textOf(whole.inflate(entry))
  if (!mayBeParted(entry.name)) return (await holdsNumberIn(pieces, passed)) ? BESIDE : NO_CARDS
  if (entry.inflatedBytes > HELD_BYTES_MOST) return unseen('its comments or drawings are too large')
  let text = ''
  for await (const piece of pieces) text += piece
  const bare = text.replace(/<\/(?:\w+:)?(?:comment|threadedComment|p|text|div)>/g, '\n').replace(/<[^<>]*>/g, '')
  return holdsPan(bare) || (await holdsNumberIn([text], passed)) ? BESIDE : NO_CARDS
}

/** An entry's name is whatever its maker wrote, up to 64 KiB. */
function mayBeParted(name: string): boolean {
  const file = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  return (
    file.length < name.length &&
    (file.includes('comment') || file.includes('drawing')) &&
    (file.endsWith('.xml') || file.endsWith('.vml'))
  )
}

async function* textOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let isStart = true
  for await (const piece of pieces) {
    if (isStart && startsAsZip(piece)) throw new Unreadable(NESTED)
    isStart = false
    yield piece.toString('latin1').replaceAll('\0', '')
  }
}

const NESTED = {
  problem: 'another archive or document is embedded in it',
  remedy: 'save the sheet with the instructions as "CSV UTF-8" and put that file here',
}

function unseen(problem: string): CardFinding {
  return { kind: 'unseen', problem, remedy: 'save the sheet as "CSV UTF-8" and put that file here' }
}

/** Digits are the same bytes in every encoding that is read here, but for the NULs of UTF-16: whichever it is, they show. */
async function holdsNumber(file: FileHandle): Promise<boolean> {
  return holdsNumberIn(file.createReadStream({ start: 0, autoClose: false, encoding: 'latin1' }))
}

async function holdsNumberIn(
  pieces: AsyncIterable<string | Buffer> | Iterable<string>,
  passed: ReadonlySet<string> = NO_FORMS,
): Promise<boolean> {
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + String(piece).replaceAll('\0', '')
    const { seen, kept } = whereToPart(text)
    if (holdsOtherPan(text.slice(0, seen), passed)) return true
    rest = text.slice(kept)
  }
  return holdsOtherPan(rest, passed)
}

/** Back from the end of a piece, so far a place is looked for that is in no number. */
const LOOKED_BACK = 4_096
/** No number that a person writes, with all between its digits, is longer. */
const LONGEST_WRITTEN = 512

/**
 * The last number of a piece may be half a number, and the other half, or what shows that it is an IBAN, comes with the
 * next piece. The piece is parted at a word where it has one; else, in a table of numbers, what is kept is seen twice.
 */
function whereToPart(text: string): { readonly seen: number; readonly kept: number } {
  let letters = 0
  for (let at = text.length - 1; at >= Math.max(0, text.length - LOOKED_BACK); at--) {
    letters = /[g-z]/i.test(text.charAt(at)) ? letters + 1 : 0
    if (letters === 3) return { seen: at, kept: at }
  }
  const wholeTo = (from: number) => {
    let at = from
    while (at > 0 && at > from - LOOKED_BACK && /\w/.test(text.charAt(at - 1))) at -= 1
    return at
  }
  return { seen: wholeTo(text.length), kept: wholeTo(Math.max(0, text.length - LONGEST_WRITTEN)) }
}

/** Once more as it reads: NBSP and digits of other scripts are several bytes, which show nothing by themselves. */
async function findAs(file: FileHandle, encoding: Encoding): Promise<CardFinding | 'not-text'> {
  const found: { column: string | null } = { column: null }
  async function* texts() {
    let isHead = true
    for await (const text of readText(file, encoding, createHash('sha256'))) {
      if (isHead) found.column = findCardColumn(text)
      isHead = false
      yield text
    }
  }
  try {
    if (await holdsNumberIn(texts())) return A_NUMBER
  } catch (error) {
    if (error instanceof NotText) return 'not-text'
    throw error
  }
  return found.column === null ? NO_CARDS : { kind: 'cards', line: null, column: found.column }
}

/** The names of the columns may stand below a title. */
const LINES_THAT_MAY_BE_THE_HEADER = 50

/** Such a column may be empty in all rows; a reader that cannot read the rows cannot say. */
function findCardColumn(head: string): string | null {
  const lines = head.split(/\r\n|\r|\n/, LINES_THAT_MAY_BE_THE_HEADER)
  const cells = lines.flatMap((line) => line.split(/[,;\t|]/)).map((cell) => bare(cell.trim()))
  return cells.find((cell) => isCardColumn(cell)) ?? null
}

/** Without the quotation marks around it, however many. */
function bare(cell: string): string {
  let from = 0
  let to = cell.length
  while (from < to && isQuote(cell[from])) from += 1
  while (to > from && isQuote(cell[to - 1])) to -= 1
  return cell.slice(from, to)
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'"
}
