// A zip archive in memory, by its central directory as spreadsheet programs read it. Declared sizes are not believed:
// what is inflated is counted and checked.

import { Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { Problem } from '../../domain/problem.ts'
import { LIMITS } from '../limits.ts'

/** Why an archive or what is in it cannot be read. Its words may be shown. */
export class Unreadable extends Error implements Problem {
  readonly problem: string
  readonly remedy: string

  constructor({ problem, remedy }: Problem, options?: { cause?: unknown }) {
    super(problem, options)
    this.problem = problem
    this.remedy = remedy
  }
}

export interface Entry {
  readonly name: string
  readonly stored: boolean
  readonly encrypted: boolean
  readonly crc: number
  readonly inflatedBytes: number
  readonly deflatedBytes: number
  /** Where its local header begins. */
  readonly offset: number
}

/** What may still be inflated, and how many elements may be opened in it, over all entries of one reading. */
export interface Budget {
  leftBytes: number
  leftElements: number
}

/** What a small file may become is no more than what a large one that is honest becomes. */
export function inflationBudget(fileBytes: number): Budget {
  const { inflatedBytes, inflatedBytesOfAny, inflatedTimes, elementsOfAny, elementsTimes } = LIMITS
  return {
    leftBytes: Math.min(inflatedBytes, Math.max(inflatedBytesOfAny, fileBytes * inflatedTimes)),
    leftElements: Math.max(elementsOfAny, fileBytes * elementsTimes),
  }
}

const END = 0x06054b50
const END_BYTES = 22
const CENTRAL = 0x02014b50
const CENTRAL_BYTES = 46
const LOCAL = 0x04034b50
const LOCAL_BYTES = 30
const COMMENT_MOST = 0xffff
/** In a field of 16 or 32 bits: the number is elsewhere, in the zip64 form. */
const ELSEWHERE_16 = 0xffff
const ELSEWHERE_32 = 0xffffffff

const ENCRYPTED = 0x0001
const STORED = 0
const DEFLATED = 8

const SAVE_AGAIN = 'open it in the spreadsheet program, save it again as .xlsx, and use that file'
const DAMAGED: Problem = {
  problem: 'the file begins as an Excel workbook (a zip archive) and is damaged or cut off',
  remedy: 'fetch or save it again; if it opens in a spreadsheet program, save it there again as .xlsx',
}

export function damaged(cause?: unknown): Unreadable {
  return new Unreadable(DAMAGED, { cause })
}

/** Every entry by its name in lower case, as spreadsheet programs compare them. Throws Unreadable. */
export function readDirectory(bytes: Buffer): ReadonlyMap<string, Entry> {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  const length = bytes.readUInt32LE(end + 12)
  let at = bytes.readUInt32LE(end + 16)
  if (count === ELSEWHERE_16 || length === ELSEWHERE_32 || at === ELSEWHERE_32) throw zip64()
  if (at + length > end) throw damaged()
  const entries = new Map<string, Entry>()
  for (let i = 0; i < count; i++) {
    const { entry, next } = readEntry(bytes, at, end)
    const key = entry.name.toLowerCase()
    // Two entries of one name: a person would be shown the one and this program could read the other.
    if (entries.has(key)) throw damaged()
    entries.set(key, entry)
    at = next
  }
  return entries
}

function findEnd(bytes: Buffer): number {
  for (let at = bytes.length - END_BYTES; at >= Math.max(0, bytes.length - END_BYTES - COMMENT_MOST); at--) {
    if (bytes.readUInt32LE(at) === END && at + END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return at
  }
  throw damaged()
}

function readEntry(bytes: Buffer, at: number, end: number): { entry: Entry; next: number } {
  if (at + CENTRAL_BYTES > end || bytes.readUInt32LE(at) !== CENTRAL) throw damaged()
  const method = bytes.readUInt16LE(at + 10)
  const nameEnd = at + CENTRAL_BYTES + bytes.readUInt16LE(at + 28)
  const next = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  if (next > end) throw damaged()
  if (nameEnd - at - CENTRAL_BYTES > LIMITS.partNameBytes) throw nameTooLong()
  const entry = {
    // Old programs for Windows part folders by a backslash.
    name: bytes.toString('utf8', at + CENTRAL_BYTES, nameEnd).replaceAll('\\', '/'),
    stored: method === STORED,
    encrypted: (bytes.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
    crc: bytes.readUInt32LE(at + 16),
    deflatedBytes: bytes.readUInt32LE(at + 20),
    inflatedBytes: bytes.readUInt32LE(at + 24),
    offset: bytes.readUInt32LE(at + 42),
  }
  if ([entry.deflatedBytes, entry.inflatedBytes, entry.offset].includes(ELSEWHERE_32)) throw zip64()
  if (method !== STORED && method !== DEFLATED) throw damaged()
  return { entry, next }
}

function nameTooLong(): Unreadable {
  return new Unreadable({
    problem: `the workbook has a part with a name longer than ${LIMITS.partNameBytes / 1024} KiB`,
    remedy: SAVE_AGAIN,
  })
}

function zip64(): Unreadable {
  return new Unreadable({ problem: 'the workbook is a zip64 archive, which is not read here', remedy: SAVE_AGAIN })
}

/** The bytes of an entry, piece by piece. Throws Unreadable where they are not what the directory says, or too many. */
export async function* inflate(bytes: Buffer, entry: Entry, budget: Pick<Budget, 'leftBytes'>): AsyncGenerator<Buffer> {
  if (entry.encrypted)
    throw new Unreadable({
      problem: 'the workbook is protected by a password',
      remedy: 'save it without a password and use that file',
    })
  const packed = packedBytes(bytes, entry)
  let length = 0
  let crc = 0
  try {
    for await (const piece of entry.stored ? [packed] : Readable.from(slices(packed)).pipe(createInflater())) {
      length += piece.length
      budget.leftBytes -= piece.length
      if (budget.leftBytes < 0) throw tooLarge()
      crc = crc32(piece, crc)
      yield piece
    }
  } catch (error) {
    throw error instanceof Unreadable ? error : damaged(error)
  }
  if (length !== entry.inflatedBytes || crc !== entry.crc) throw damaged()
}

const PIECE_BYTES = 64 * 1024

function createInflater() {
  return createInflateRaw({ chunkSize: PIECE_BYTES })
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

function packedBytes(bytes: Buffer, entry: Entry): Buffer {
  const at = entry.offset
  if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw damaged()
  const start = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
  if (start + entry.deflatedBytes > bytes.length) throw damaged()
  return bytes.subarray(start, start + entry.deflatedBytes)
}

function tooLarge(): Unreadable {
  return new Unreadable({
    problem: 'the workbook is larger inside than is read here',
    remedy: 'split it, or save the sheet as "CSV UTF-8": CSV may have any size',
  })
}
