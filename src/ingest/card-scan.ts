// Looks through a file that cannot be read as instructions: a file is not moved before it is known to hold no card data.

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { CardFinding } from '../domain/inbox.ts'
import { holdsPan } from '../domain/pan.ts'
import { type Encoding, NotText, readHead, readText, sniffBinary, sniffEncoding } from './bytes.ts'
import { isCardColumn } from './columns.ts'

/** `unseen`: it is no text, so that nobody can say. */
export async function findCards(file: FileHandle): Promise<CardFinding> {
  const head = await readHead(file)
  const binary = sniffBinary(head)
  if (binary !== null) return unseen(`it is ${binary}`)
  const { encoding, certain } = sniffEncoding(head)
  for (const tried of certain ? [encoding] : [encoding, 'windows-1252' as const]) {
    const found = await findCardsAs(file, tried)
    if (found !== 'not-text') return found
  }
  return unseen('it is not text')
}

function unseen(problem: string): CardFinding {
  return { kind: 'unseen', problem, remedy: 'save the sheet as "CSV UTF-8" and put that file here' }
}

/** What may still belong to a number whose other half comes with the next piece of text. */
const UNFINISHED_NUMBER = /\d[\d -]{0,200}$/
const NO_CARDS: CardFinding = { kind: 'none' }

async function findCardsAs(file: FileHandle, encoding: Encoding): Promise<CardFinding | 'not-text'> {
  let isHead = true
  let rest = ''
  try {
    for await (const text of readText(file, encoding, createHash('sha256'))) {
      const column = isHead ? findCardColumn(text) : null
      if (column !== null) return { kind: 'cards', line: null, column }
      isHead = false
      const whole = rest + text
      rest = UNFINISHED_NUMBER.exec(whole)?.[0] ?? ''
      if (holdsPan(whole.slice(0, whole.length - rest.length))) return { kind: 'cards', line: null, column: null }
    }
  } catch (error) {
    if (error instanceof NotText) return 'not-text'
    throw error
  }
  return holdsPan(rest) ? { kind: 'cards', line: null, column: null } : NO_CARDS
}

/** The names of the columns may stand below a title. */
const LINES_THAT_MAY_BE_THE_HEADER = 50

/** Such a column may be empty in all rows; whoever cannot read the rows cannot say. */
function findCardColumn(head: string): string | null {
  const lines = head.split(/\r\n|\r|\n/, LINES_THAT_MAY_BE_THE_HEADER)
  const cells = lines.flatMap((line) => line.split(/[,;\t|]/)).map((cell) => cell.trim().replace(/^["']+|["']+$/g, ''))
  return cells.find((cell) => isCardColumn(cell)) ?? null
}
