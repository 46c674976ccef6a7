// One XML part of a workbook, as a stream of elements. No entity but the five of XML is known, and no DTD is read.

import { Parser } from 'saxen'
import { type Budget, damaged, type Entry, inflate, Unreadable } from './zip.ts'

export interface Elements {
  /** Names come without their prefix. */
  open(name: string, attribute: (name: string) => string | undefined): void
  close(name: string): void
  text(text: string): void
}

/** No part of a workbook has a longer text or tag: a cell holds 32,767 characters. Longer ones would be put together for ever. */
const TOKEN_CHARACTERS_MOST = 1024 * 1024
/** A text may come in many pieces, with tags between them. */
export function joined(text: string, piece: string): string {
  if (text.length + piece.length > TOKEN_CHARACTERS_MOST) throw damaged()
  return text + piece
}
/** A text in a cell in a row stands seven deep. */
const DEPTH_MOST = 100

/**
 * Hands the elements over as they come; yields after every piece, so that what was gathered can be taken away. Throws
 * Unreadable for what is not XML, and for a DTD.
 */
export async function* readXml(
  bytes: Buffer,
  entry: Entry,
  budget: Budget,
  elements: Elements,
): AsyncGenerator<undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const progress = { sinceToken: 0, depth: 0 }
  const parser = openParser(elements, progress)
  const write = (text: string) => {
    progress.sinceToken += text.length
    if (progress.sinceToken > TOKEN_CHARACTERS_MOST) throw damaged()
    parser.write(text)
  }
  for await (const piece of inflate(bytes, entry, budget)) {
    write(decoded(() => decoder.decode(piece, { stream: true })))
    yield
  }
  write(decoded(() => decoder.decode()))
  parser.end()
  yield
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch (error) {
    throw damaged(error)
  }
}

function openParser(elements: Elements, progress: { sinceToken: number; depth: number }): Parser {
  const parser = new Parser()
  // saxen goes on after an error unless its listener throws; what it only warns of is no XML either.
  const fail = (error: Error) => {
    throw damaged(error)
  }
  parser.on('error', fail)
  parser.on('warn', fail)
  parser.on('attention', () => {
    throw new Unreadable({
      problem: 'the workbook holds a DTD, which no spreadsheet program writes',
      remedy: 'open it in the spreadsheet program, save it again as .xlsx, and use that file',
    })
  })
  parser.on('openTag', (name, attributes, decode) => {
    progress.sinceToken = 0
    progress.depth += 1
    if (progress.depth > DEPTH_MOST) throw damaged()
    elements.open(localName(name), (wanted) => attributeOf(attributes(), wanted, decode))
  })
  parser.on('closeTag', (name) => {
    progress.sinceToken = 0
    progress.depth -= 1
    elements.close(localName(name))
  })
  parser.on('text', (text, decode) => elements.text(decodeText(text, decode)))
  parser.on('cdata', (text) => elements.text(text))
  return parser
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function attributeOf(
  attributes: Readonly<Record<string, string>>,
  wanted: string,
  decode: (text: string) => string,
): string | undefined {
  const plain = attributes[wanted]
  if (plain !== undefined) return decodeText(plain, decode)
  const prefixed = Object.keys(attributes).find((name) => !name.startsWith('xmlns:') && localName(name) === wanted)
  return prefixed === undefined ? undefined : decodeText(attributes[prefixed] as string, decode)
}

/** saxen cuts characters beyond U+FFFF down to another one; and a character that is none is no XML. */
function decodeText(text: string, decode: (text: string) => string): string {
  if (!text.includes('&')) return text
  const wide = text.replace(/&#(?:x([0-9a-f]{5,})|(\d{5,}));/gi, (_, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    if (!(code <= 0x10ffff)) throw damaged()
    return String.fromCodePoint(code)
  })
  return decode(wide)
}

/** `_x000D_` is how a workbook writes a character that XML cannot hold, and `_x005F_` the underscore before such a form. */
export function unescapeText(text: string): string {
  if (!text.includes('_x')) return text
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
