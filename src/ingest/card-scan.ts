// Looks through what is not read as instructions, of a file or all of it: a file is not moved before it is known to hold no
// card data.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { CardFinding } from '../domain/inbox.ts'
import { holdsPan, isRoundedPan } from '../domain/pan.ts'
import { type Encoding, NotText, readHead, readText, sniffBinary, sniffEncoding } from './bytes.ts'
import { isCardColumn } from './columns.ts'
import type { Cell } from './sheet.ts'
import { openWhole, startsAsZip, type WholeWorkbook } from './workbook.ts'
import { type Entry, Unreadable } from './zip.ts'

const NO_CARDS: CardFinding = { kind: 'none' }
const A_NUMBER: CardFinding = { kind: 'cards', line: null, column: null }

/** `unseen`: it is no text, so that nobody can say. */
export async function findCards(file: FileHandle): Promise<CardFinding> {
  const head = await readHead(file)
  const binary = sniffBinary(head)
  if (binary !== null) return unseen(`it is ${binary}`)
  if (await holdsNumber(file)) return A_NUMBER
  const { encoding, certain } = sniffEncoding(head)
  for (const tried of certain ? [encoding] : [encoding, 'windows-1252' as const]) {
    const found = await findColumnAs(file, tried)
    if (found !== 'not-text') return found
  }
  return unseen('it is not text')
}

/**
 * Card data in a workbook whose rows were read without finding any: in its other sheets, in texts that no cell names, in
 * comments, text boxes, headers, formulas. Whoever puts the file away copies all of it.
 */
export async function findCardsBeside(file: FileHandle, sheet: string): Promise<CardFinding> {
  try {
    const whole = await openWhole(file)
    if (whole === null) return unseen('it was replaced by a larger one')
    for await (const { line, cells } of whole.rowsBeside(sheet))
      if (cells.some(isCardCell) || (line <= LINES_THAT_MAY_BE_THE_HEADER && namesCards(cells))) return BESIDE
    if (whole.shared.some(holdsPan)) return BESIDE
    for (const entry of whole.entries) {
      const found = await findInPart(entry, whole)
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

/** Nobody knows what stands below such a column: a security code looks like any number. In a list "Credit card" is a word. */
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

async function findInPart(entry: Entry, whole: WholeWorkbook): Promise<CardFinding> {
  const pieces = textOf(whole.inflate(entry))
  const mayBeParted = /\/[^/]*(?:comment|drawing)[^/]*\.(?:xml|vml)$/i.test(entry.name)
  if (!mayBeParted) return (await holdsNumberIn(withoutIds(pieces))) ? BESIDE : NO_CARDS
  if (entry.inflatedBytes > HELD_BYTES_MOST) return unseen('its comments or drawings are too large')
  let text = ''
  for await (const piece of pieces) text += piece
  const bare = text.replace(/<\/(?:\w+:)?(?:comment|threadedComment|p|text|div)>/g, '\n').replace(/<[^<>]*>/g, '')
  return holdsPan(bare) || (await holdsNumberIn(withoutIds([text]))) ? BESIDE : NO_CARDS
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

/** Spreadsheet programs give ids to all kinds of things, and one in a few thousand looks like a card number in groups. */
async function* withoutIds(pieces: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
  for await (const piece of pieces) yield piece.replace(/[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}/gi, '')
}

function unseen(problem: string): CardFinding {
  return { kind: 'unseen', problem, remedy: 'save the sheet as "CSV UTF-8" and put that file here' }
}

/** What may still belong to a number whose other half comes with the next piece. */
const UNFINISHED_NUMBER = /\d[\d -]{0,200}$/

/** Digits are the same bytes in every encoding that is read here, but for the NULs of UTF-16: whichever it is, they show. */
async function holdsNumber(file: FileHandle): Promise<boolean> {
  return holdsNumberIn(file.createReadStream({ start: 0, autoClose: false, encoding: 'latin1' }))
}

async function holdsNumberIn(pieces: AsyncIterable<string | Buffer>): Promise<boolean> {
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + String(piece).replaceAll('\0', '')
    rest = UNFINISHED_NUMBER.exec(text)?.[0] ?? ''
    if (holdsPan(text.slice(0, text.length - rest.length))) return true
  }
  return holdsPan(rest)
}

async function findColumnAs(file: FileHandle, encoding: Encoding): Promise<CardFinding | 'not-text'> {
  let column: string | null = null
  let isHead = true
  try {
    for await (const text of readText(file, encoding, createHash('sha256'))) {
      if (isHead) column = findCardColumn(text)
      isHead = false
    }
  } catch (error) {
    if (error instanceof NotText) return 'not-text'
    throw error
  }
  return column === null ? NO_CARDS : { kind: 'cards', line: null, column }
}

/** The names of the columns may stand below a title. */
const LINES_THAT_MAY_BE_THE_HEADER = 50

/** Such a column may be empty in all rows; whoever cannot read the rows cannot say. */
function findCardColumn(head: string): string | null {
  const lines = head.split(/\r\n|\r|\n/, LINES_THAT_MAY_BE_THE_HEADER)
  const cells = lines.flatMap((line) => line.split(/[,;\t|]/)).map((cell) => cell.trim().replace(/^["']+|["']+$/g, ''))
  return cells.find((cell) => isCardColumn(cell)) ?? null
}
