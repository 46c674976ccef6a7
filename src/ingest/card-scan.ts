// Looks through a file that cannot be read as instructions: a file is not moved before it is known to hold no card data.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { CardFinding } from '../domain/inbox.ts'
import { holdsPan } from '../domain/pan.ts'
import { type Encoding, NotText, readHead, readText, sniffBinary, sniffEncoding } from './bytes.ts'
import { isCardColumn } from './columns.ts'

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

function unseen(problem: string): CardFinding {
  return { kind: 'unseen', problem, remedy: 'save the sheet as "CSV UTF-8" and put that file here' }
}

/** What may still belong to a number whose other half comes with the next piece. */
const UNFINISHED_NUMBER = /\d[\d -]{0,200}$/

/** Digits are the same bytes in every encoding that is read here, but for the NULs of UTF-16: whichever it is, they show. */
async function holdsNumber(file: FileHandle): Promise<boolean> {
  let rest = ''
  for await (const piece of file.createReadStream({ start: 0, autoClose: false, encoding: 'latin1' })) {
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
