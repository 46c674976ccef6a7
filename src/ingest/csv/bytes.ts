// The bytes of an open file, read by position so that one descriptor can be read any number of times, and their text.

import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { errorCodeOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

const CHUNK_BYTES = 64 * 1024

/** The text is not of the encoding it was taken for. */
export class NotText extends Error {}

/** The first bytes of the file, enough for the encoding, a `sep=` line and the header. */
export async function readHead(file: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(CHUNK_BYTES)
  let length = 0
  while (length < CHUNK_BYTES) {
    const bytesRead = await readAt(file, head, length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return head.subarray(0, length)
}

/** Every byte of the file; null where there are more than `most`. */
export async function readAll(file: FileHandle, most: number): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  for (let length = 0; ; ) {
    const piece = Buffer.alloc(CHUNK_BYTES)
    const bytesRead = await readAt(file, piece, 0, length)
    if (bytesRead === 0) return Buffer.concat(pieces)
    length += bytesRead
    if (length > most) return null
    pieces.push(piece.subarray(0, bytesRead))
  }
}

/**
 * The whole text, decoded strictly, without its byte order mark. Every byte goes into the hash; it is complete once the
 * text has been read to its end. Throws NotText at the first chunk that is not of the encoding.
 */
export async function* readText(file: FileHandle, encoding: Encoding, hash: Hash): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; ; ) {
    const bytesRead = await readAt(file, chunk, 0, position)
    if (bytesRead === 0) break
    position += bytesRead
    const bytes = chunk.subarray(0, bytesRead)
    hash.update(bytes)
    const text = decode(decoder, bytes, encoding)
    if (text !== '') yield text
  }
  const rest = decode(decoder, undefined, encoding)
  if (rest !== '') yield rest
}

async function readAt(file: FileHandle, into: Buffer, offset: number, position: number): Promise<number> {
  try {
    return (await file.read(into, offset, into.length - offset, position)).bytesRead
  } catch (error) {
    const code = errorCodeOf(error) ?? 'unknown error'
    throw new Fault('refused', `The file cannot be read (${code}); nothing was recorded, nothing was sent.`, {
      cause: error,
    })
  }
}

// Code points that Windows-1252 leaves undefined, and NUL, which no text has: the file is something else.
const NOT_1252 = /[\0\x81\x8d\x8f\x90\x9d]/

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array | undefined, encoding: Encoding): string {
  let text: string
  try {
    text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch (error) {
    throw new NotText(encoding, { cause: error })
  }
  if (encoding === 'windows-1252' ? NOT_1252.test(text) : text.includes('\0')) throw new NotText(encoding)
  return text
}

/** What the first bytes say. `certain` is a byte order mark or a NUL pattern; without one, UTF-8 is only the first try. */
export function sniffEncoding(head: Uint8Array): { encoding: Encoding; certain: boolean } {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', certain: true }
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', certain: true }
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', certain: true }
  return sniffNuls(head.subarray(0, 256)) ?? { encoding: 'utf-8', certain: false }
}

/** UTF-16 without a mark: column names are mostly ASCII, so that about every other byte of the header is NUL. */
function sniffNuls(head: Uint8Array): { encoding: Encoding; certain: true } | undefined {
  let even = 0
  let odd = 0
  head.forEach((byte, i) => {
    if (byte === 0 && i % 2 === 0) even++
    if (byte === 0 && i % 2 === 1) odd++
  })
  const many = head.length / 6
  if (odd > many && odd > 4 * even) return { encoding: 'utf-16le', certain: true }
  if (even > many && even > 4 * odd) return { encoding: 'utf-16be', certain: true }
  return undefined
}

/** What a file that is not UTF-8 holds of it. */
export interface Weighed {
  /** Characters beyond ASCII that are right in UTF-8. In a text of another encoding there are next to none. */
  readonly right: number
  readonly wrong: number
  /** Line of the first wrong one. */
  readonly firstWrongLine: number
  /** The only wrong one is the last of the file: a character that was cut through, or an accent in another encoding. */
  readonly onlyAtEnd: boolean
}

/** So many, with a wrong one among them, are weight enough: the rest of a large file need not be weighed. */
const WEIGHED_ENOUGH = 10_000

/** Reads the file once more: whether it is another encoding or damaged UTF-8 decides what its names and ids are. */
export async function weighUtf8(file: FileHandle): Promise<Weighed> {
  const decoder = new TextDecoder('utf-8')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let [right, wrong, line, firstWrongLine, last] = [0, 0, 1, 0, '']
  const weigh = (text: string) => {
    right += text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
    const wrongHere = text.match(/\ufffd/g)?.length ?? 0
    if (wrong === 0 && wrongHere > 0) firstWrongLine = line + linesIn(text.slice(0, text.indexOf('\ufffd')), last)
    wrong += wrongHere
    line += linesIn(text, last)
    last = text.at(-1) ?? last
  }
  for (let position = 0; ; ) {
    const bytesRead = await readAt(file, chunk, 0, position)
    if (bytesRead === 0) break
    position += bytesRead
    weigh(decoder.decode(chunk.subarray(0, bytesRead), { stream: true }))
    if (wrong > 0 && right + wrong > WEIGHED_ENOUGH) break
  }
  weigh(decoder.decode())
  return { right, wrong, firstWrongLine, onlyAtEnd: wrong === 1 && last === '\ufffd' }
}

/** A CRLF that was read in two pieces is one line end. */
function linesIn(text: string, before: string): number {
  const count = text.match(/\r\n|\r|\n/g)?.length ?? 0
  return before === '\r' && text.startsWith('\n') ? count - 1 : count
}

const BINARY_STARTS: ReadonlyArray<readonly [string, string]> = [
  ['504b0304', 'an Excel workbook or a zip archive'],
  ['d0cf11e0', 'an old Excel workbook (.xls), or one with a password'],
  ['25504446', 'a PDF'],
  ['1f8b', 'a gzip archive'],
]

/** The stream of an encrypted workbook, as its container names it. */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le')

/** Files that people send by mistake under the name of a CSV; null: none of them. */
export function sniffBinary(head: Uint8Array): string | null {
  const start = Buffer.from(head.subarray(0, 4)).toString('hex')
  if (start === 'd0cf11e0' && Buffer.from(head).includes(ENCRYPTED)) return 'an Excel workbook with a password'
  const found = BINARY_STARTS.find(([magic]) => start.startsWith(magic))?.[1]
  if (found !== undefined) return found
  // Old systems export a page with a table in it, under the name of a sheet.
  const text = Buffer.from(head.subarray(0, 200)).toString('latin1').replace(/^ï»¿/, '')
  return /^\s*<(?:!doctype html|html|table|\?xml)/i.test(text) ? 'an HTML or XML page' : null
}
