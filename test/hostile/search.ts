// Everything that is at rest, as bytes, and one pass through it for card numbers, security codes and passwords in every
// writing. Shares no code with the program.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { unzipSync } from 'fflate'
import { Redis } from 'ioredis'
import { WRITINGS, writtenAs } from './canaries.ts'
import { openMatcher } from './matcher.ts'

export interface Place {
  readonly name: string
  readonly bytes: Uint8Array
}

export interface Sought {
  /** What the card numbers begin with: one search finds all that share it. */
  readonly numbers: readonly string[]
  /** Of four digits, found wherever they stand alone. */
  readonly longCodes: readonly string[]
  /** Of three digits, found beside what names them and beside their neighbours in a file. */
  readonly shortCodes: readonly string[]
  readonly passwords: readonly string[]
}

interface Needle {
  readonly name: string
  readonly bytes: Uint8Array
  /** It is found only where no letter or digit stands beside it, as it is written there. */
  readonly alone: 'as it is' | 'hexadecimal' | undefined
}

/** The search for these, to be done in any number of places: one line for each of them in each place. */
export function openSearch(sought: Sought): (places: readonly Place[]) => string[] {
  const needles = needlesOf(sought)
  const matcher = openMatcher(needles.map(({ bytes }) => bytes))
  return (places) =>
    places.flatMap(({ name, bytes }) => {
      const found = new Map<string, number>()
      matcher(bytes, (which, at) => {
        const needle = needles[which] as Needle
        if (needle.alone === undefined || STANDS_ALONE[needle.alone](bytes, at, at + needle.bytes.length))
          if (!found.has(needle.name)) found.set(needle.name, at)
      })
      return [...found].map(([what, at]) => `${name}: ${what} at ${at}: ${around(bytes, at)}`)
    })
}

function around(bytes: Uint8Array, at: number): string {
  const text = Buffer.from(bytes.subarray(Math.max(0, at - 60), at + 60)).toString('latin1')
  return text.replace(/[^\x20-\x7e]+/g, '·')
}

const STANDS_ALONE = {
  /** The fraction of a number is no code. */
  'as it is': (bytes: Uint8Array, from: number, to: number) =>
    !/[\dA-Za-z.]/.test(charAt(bytes, from - 1)) && !/[\dA-Za-z]/.test(charAt(bytes, to)),
  /** Eight digits of a long number are no code: what stands beside them would be no text. */
  hexadecimal: (bytes: Uint8Array, from: number, to: number) =>
    [from - 2, to].every((at) => {
      const beside = charAt(bytes, at) + charAt(bytes, at + 1)
      return !/^[\da-f]{2}$/i.test(beside) || /[\s!-/:-@[-`{-~]/.test(fromHex(beside))
    }),
}

const fromHex = (digits: string) => String.fromCharCode(Number.parseInt(digits, 16))

function charAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(bytes[at] ?? 0)
}

function needlesOf({ numbers, longCodes, shortCodes, passwords }: Sought): Needle[] {
  const plain = (text: string) => [text]
  const all = (texts: readonly string[], what: string, forms: (text: string) => readonly string[], areAlone = false) =>
    texts.flatMap((text) => forms(text).flatMap((form) => writingsOf(form, what, areAlone)))
  return [
    ...all(numbers, 'a card number', groupings),
    ...all(longCodes, 'a security code', plain, true),
    ...all(shortCodes, 'a security code', besideItsName),
    ...all(passwords, 'a password', plain),
  ]
}

/** In groups of four, as on the card; the groups of American Express are 4, 6 and 5. */
function groupings(number: string): string[] {
  const fours = number.match(/\d{1,4}/g) ?? []
  const ofAmex = number.startsWith('3') ? [[number.slice(0, 4), number.slice(4, 10), number.slice(10)]] : []
  return [number, ...[fours, ...ofAmex].flatMap((groups) => [groups.join(' '), groups.join('-')])]
}

const NAMES_OF_CODES = ['cvv', 'CVV', 'cvv2', 'CVV2', 'cvc', 'CVC', 'cvc2', 'CVC2', 'pmt_key', 'code', 'Code']
const SEPARATORS = ['=', ' ', ':', ': ', ',', '":', '": ', '":"', '": "', '","', '\\":\\"', "': '"]

function besideItsName(code: string): string[] {
  const named = NAMES_OF_CODES.flatMap((name) => SEPARATORS.map((separator) => `${name}${separator}${code}`))
  const inFile = [',', ';', '\t', '","', '\n'].flatMap((between) => [
    `12${between}30${between}${code}`, // card_exp_mm, card_exp_yy, card_cvv
    `${code}${between}12/2030`, // pmt_key, pmt_expiry
  ])
  return [...named, ...inFile]
}

function writingsOf(text: string, what: string, areAlone: boolean): Needle[] {
  const bytes = Buffer.from(text)
  const utf16 = Buffer.from(text, 'utf16le')
  const named: [string, Uint8Array][] = [
    ['as it is', bytes],
    ...WRITINGS.filter((writing) => writing !== 'base64').map((writing): [string, Uint8Array] => [
      writing,
      Buffer.from(writtenAs(writing, text)),
    ]),
    ['JSON', Buffer.from(JSON.stringify(text).slice(1, -1))],
    ['for a URL', Buffer.from(encodeURIComponent(text))],
    ['percent of all, lower case', Buffer.from(bytes.toString('hex').replace(/../g, '%$&'))],
    ['hexadecimal, upper case', Buffer.from(bytes.toString('hex').toUpperCase())],
    ['UTF-16LE', utf16],
    ['UTF-16BE', Buffer.from(utf16).swap16()],
    ...[0, 1, 2].flatMap((shift): [string, Uint8Array][] => {
      const digits = base64After(shift, bytes)
      const ofUrls = digits.replaceAll('+', '-').replaceAll('/', '_')
      return [digits, ofUrls].map((written) => [`base64 after ${shift}`, Buffer.from(written)])
    }),
  ]
  const seen = new Set<string>()
  return named.flatMap(([writing, written]) => {
    const key = Buffer.from(written).toString('latin1')
    if (seen.has(key)) return []
    seen.add(key)
    const alone = key === text ? 'as it is' : writing.startsWith('hexadecimal') ? 'hexadecimal' : undefined
    return [{ name: `${what}, ${writing}`, bytes: written, alone: areAlone ? alone : undefined }]
  })
}

/** Those digits of base64 that tell nothing but these bytes, when so many others precede them in their group of three. */
export function base64After(shift: number, bytes: Uint8Array): string {
  const digits = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
  return digits.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
}

export interface Resting {
  /** Every file in them is looked through. */
  readonly folders: readonly string[]
  /** Files that hold what is sought rightly: the inputs. */
  readonly except: readonly string[]
  readonly redisPath: string
  /** What was written to screens and logs, by its name. */
  readonly shown: ReadonlyMap<string, string>
}

export async function placesOf({ folders, except, redisPath, shown }: Resting): Promise<Place[]> {
  const files = folders.flatMap((folder) =>
    filesIn(folder)
      .filter((path) => !except.includes(path))
      .flatMap((path) => placesInFile(path, relative(folder, path))),
  )
  const shownPlaces = [...shown].map(([name, text]) => placeOf(name, text))
  return [...files, ...(await placesInRedis(redisPath)), ...shownPlaces]
}

function placeOf(name: string, text: string): Place {
  return { name, bytes: Buffer.from(text) }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
}

/** Its name, its bytes as they are, and what only a reader of its format sees. */
function placesInFile(path: string, name: string): Place[] {
  const bytes = readFileSync(path)
  const raw = [placeOf(`the name of ${name}`, name), { name, bytes }]
  if (path.endsWith('.xlsx'))
    return [
      ...raw,
      ...Object.entries(unzipSync(bytes)).map(([part, held]) => ({ name: `${name}/${part}`, bytes: held })),
    ]
  const isDatabase = bytes.subarray(0, 15).toString() === 'SQLite format 3' && path.endsWith('.db')
  return isDatabase ? [...raw, placeOf(`the cells of ${name}`, cellsOf(path))] : raw
}

/** SQLite stores numbers in binary, and texts without anything between them. */
function cellsOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
    const rows = tables.flatMap(({ name }) => {
      const read = db.prepare(`SELECT * FROM "${name}"`)
      read.setReadBigInts(true)
      return read.all()
    })
    return rows.map((row) => Object.values(row).map(inText).join('\n')).join('\n')
  } finally {
    db.close()
  }
}

function inText(cell: unknown): string {
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('latin1') : String(cell)
}

/** Every key and value as a client reads them: Redis stores numbers in binary. Its file, once saved, lies beside its socket. */
async function placesInRedis(path: string): Promise<Place[]> {
  const redis = new Redis({ path })
  try {
    const keys = await redis.keys('*')
    const values = keys.map(async (key) => placeOf(`redis ${key}`, JSON.stringify(await heldAt(redis, key))))
    return [placeOf('redis keys', keys.join('\n')), ...(await Promise.all(values))]
  } finally {
    redis.disconnect()
  }
}

async function heldAt(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key)
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES')
    case 'stream':
      return redis.xrange(key, '-', '+')
    default:
      return redis.dump(key)
  }
}
