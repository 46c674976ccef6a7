// The search finds what is planted: in every place, in every writing, and nothing where nothing is.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zipSync } from 'fflate'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'
import { PASSWORD } from './canaries.ts'
import { markedCard, SOUGHT } from './marked-cards.ts'
import { openMatcher } from './matcher.ts'
import { base64After, openSearch, type Place, placesOf } from './search.ts'

const search = openSearch(SOUGHT)
const VISA = markedCard(0).number
const AMEX = markedCard(1).number

const placeOf = (bytes: string | Uint8Array): Place => ({ name: 'there', bytes: Buffer.from(bytes as string) })
const found = (bytes: string | Uint8Array) => search([placeOf(bytes)])

describe('writings', () => {
  const grouped = [VISA, AMEX].flatMap((number) => {
    const fours = number.match(/\d{1,4}/g) ?? []
    return [number, fours.join(' '), fours.join('-')]
  })
  const secrets = [
    ...grouped,
    ...[`${AMEX.slice(0, 4)} ${AMEX.slice(4, 10)} ${AMEX.slice(10)}`, '9317', '8642', PASSWORD],
    ...['card_cvv=737', '"card_cvv":"737"', 'pmt_key=737', 'CVC2: 737', ',12,30,737', ',737,12/2030', '"30","737"'].map(
      (text) => (text.startsWith('"30') ? `"12",${text}` : text),
    ),
  ]
  const writings: Readonly<Record<string, (text: string) => Uint8Array>> = {
    plain: (text) => Buffer.from(text),
    'in JSON': (text) => Buffer.from(JSON.stringify({ any: text })),
    'in JSON in JSON': (text) => Buffer.from(JSON.stringify(JSON.stringify({ any: text }))),
    'for a URL': (text) => Buffer.from(encodeURIComponent(text)),
    'as a form': (text) => Buffer.from(new URLSearchParams({ any: text }).toString()),
    percent: (text) => Buffer.from([...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')),
    base64: (text) => Buffer.from(Buffer.from(text).toString('base64')),
    'base64, one later': (text) => Buffer.from(Buffer.from(`x${text}y`).toString('base64')),
    'base64, two later': (text) => Buffer.from(Buffer.from(`xy${text}z`).toString('base64')),
    base64url: (text) => Buffer.from(Buffer.from(`{${text}}`).toString('base64url')),
    hexadecimal: (text) => Buffer.from(Buffer.from(text).toString('hex')),
    'hexadecimal of a line': (text) => Buffer.from(Buffer.from(`id,${text}\n`).toString('hex')),
    'hexadecimal, upper case': (text) => Buffer.from(Buffer.from(text).toString('hex').toUpperCase()),
    'UTF-16LE': (text) => Buffer.from(text, 'utf16le'),
    'UTF-16BE': (text) => Buffer.from(text, 'utf16le').swap16(),
  }

  test.for(Object.entries(writings))('%s', ([, write]) => {
    expect(secrets.filter((secret) => found(write(secret)).length === 0)).toEqual([])
    expect(secrets.filter((secret) => found(Buffer.concat([Buffer.from('\0 '), write(secret)])).length === 0)).toEqual(
      [],
    )
  })

  test('all numbers of a brand are one search', () => {
    const missed = Array.from({ length: 1_200 }, (_, i) => markedCard(i).number).filter(
      (number) => found(number).length === 0,
    )
    expect(missed).toEqual([])
  })

  test('what may be kept is not found', () => {
    const kept = [VISA, AMEX].flatMap((number) => [
      `${number.slice(0, 6)}${'*'.repeat(number.length - 10)}${number.slice(-4)}`,
      `${number.slice(0, 6)}-${number.slice(-4)}-12/2030`,
    ])
    expect(kept.flatMap(found)).toEqual([])
    expect(found('X717956626393331378282-3340')).toEqual([]) // 9317 in hexadecimal is 39333137
    expect(['737', 'exit 7', 'b737', '193170', '0.9317', 'a9317f'].flatMap(found)).toEqual([])
  })
})

test('base64 is searched for by the digits that only the secret decides', () => {
  for (const shift of [0, 1, 2])
    for (const [before, after] of [
      ['ab', 'cd'],
      ['\xff\xff', '\xff\xff'],
    ] as const) {
      const whole = Buffer.from(`${before.slice(0, shift)}secret${after}`, 'latin1').toString('base64')
      expect(whole).toContain(base64After(shift, Buffer.from('secret')))
    }
})

test('one pass finds needles that overlap, that are the end of others, and that follow a false start', () => {
  const needles = ['abcd', 'bc', 'c', 'cde', 'aab'].map((text) => Buffer.from(text))
  const hits: string[] = []
  openMatcher(needles)(Buffer.from('aaabcde'), (needle, at) => hits.push(`${needles[needle]}@${at}`))
  expect(hits).toEqual(['aab@1', 'bc@3', 'c@4', 'abcd@2', 'cde@4'])
})

describe('places', () => {
  let dir: string
  let redis: RedisServer
  let client: Redis
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'ts-'))
    redis = await openRedisServer(join(dir, 'r.sock'))
    client = new Redis({ path: redis.path })
  })
  afterAll(async () => {
    client.disconnect()
    await redis[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  /** Plants it, says where it is found, and takes it away. */
  async function foundAfter(plant: () => Promise<unknown>, shown: Record<string, string> = {}): Promise<string[]> {
    await plant()
    await redis.save()
    const resting = { folders: [dir], except: [join(dir, 'in.csv')], redisPath: redis.path }
    const places = await placesOf({ ...resting, shown: new Map(Object.entries(shown)) })
    await rm(join(dir, 'planted'), { recursive: true, force: true })
    await redis.flush()
    return search(places).map((line) => line.split(': ')[0] as string)
  }

  const put = (name: string, bytes: string | Uint8Array) => async () => {
    await mkdir(dirname(join(dir, 'planted', name)), { recursive: true })
    await writeFile(join(dir, 'planted', name), bytes)
  }

  test('nothing is found where nothing is planted', async () => {
    await writeFile(join(dir, 'in.csv'), VISA) // the input
    const harmless = async () => {
      await put('d/ledger.db', 'SQLite')()
      await client.set('key', 'value')
    }
    expect(await foundAfter(harmless, { stdout: 'APPROVED' })).toEqual([])
  })

  const FILES = [
    ...['d/ledger.db', 'd/ledger.db-wal', 'd/ledger.db-shm', 'd/worker.lock', 'd/redis.log', 'w/1.witness', 'tmp/a/b'],
    ...[
      'out.csv',
      'out.summary.csv',
      'rejects.csv',
      'exceptions.csv',
      'worklist.csv',
      'backup.db',
      'out.csv.part',
      '.x',
    ],
  ]
  test.for(FILES)('the file %s', async (name) => {
    const places = await foundAfter(put(name, `${'x'.repeat(70_000)}\0${VISA}\0`))
    expect(places).toEqual([`planted/${name}`])
  })

  test('the name of a file', async () => {
    expect(await foundAfter(put(`${AMEX}.csv`, ''))).toEqual([`the name of planted/${AMEX}.csv`])
  })

  test('a workbook', async () => {
    const sheet = { 'xl/worksheets/sheet1.xml': Buffer.from(`<v>${'<c/>'.repeat(99)}${VISA}</v>`) }
    const places = await foundAfter(put('out.xlsx', zipSync(sheet)))
    expect(places).toContain('planted/out.xlsx/xl/worksheets/sheet1.xml')
  })

  test.for([
    ['a number in binary', BigInt(VISA)],
    ['a code beside other texts', '9317'],
    ['bytes', Buffer.from(VISA)],
  ] as const)('a cell of the ledger: %s', async ([, cell]) => {
    const plant = async () => {
      await put('d/x', '')()
      const db = new DatabaseSync(join(dir, 'planted/d/ledger.db'))
      db.exec('CREATE TABLE kept (a TEXT, b, c TEXT) STRICT'.replace(' STRICT', ''))
      db.prepare('INSERT INTO kept VALUES (?, ?, ?)').run('EUR', cell, 'APPROVED')
      db.close()
    }
    expect(await foundAfter(plant)).toContain('the cells of planted/d/ledger.db')
  })

  const KEYS: readonly (readonly [string, string, () => Promise<unknown>])[] = [
    ['the name of a key', 'redis keys', () => client.set(`a:${VISA}`, 'x')],
    ['a string', 'redis k', () => client.set('k', VISA)],
    ['a field of a hash', 'redis k', () => client.hset('k', VISA, 'x')],
    ['a value of a hash', 'redis k', () => client.hset('k', 'x', '9317')],
    ['a list', 'redis k', () => client.rpush('k', 'x', VISA)],
    ['a set', 'redis k', () => client.sadd('k', VISA)],
    ['a sorted set', 'redis k', () => client.zadd('k', 1, `{"a":"${VISA}"}`)],
    ['a score', 'redis k', () => client.zadd('k', VISA, 'x')],
    ['a stream', 'redis k', () => client.xadd('k', '*', 'event', VISA)],
  ]
  test.for(KEYS)('Redis: %s', async ([, place, plant]) => {
    expect(await foundAfter(plant)).toContain(place)
  })

  test('what Redis saves, with what was taken out of a stream', async () => {
    const plant = async () => {
      const id = await client.xadd('k', '*', 'event', `number ${VISA}`)
      await client.xadd('k', '*', 'event', 'another')
      await client.xdel('k', id as string)
    }
    expect(await foundAfter(plant)).toEqual(['r.sock.rdb'])
  })

  test.for(['stdout of run', 'stderr of worker'])('%s', async (name) => {
    expect(await foundAfter(async () => {}, { [name]: `{"cells":["Ada","${VISA}"]}` })).toEqual([name])
    expect(await foundAfter(async () => {}, { [name]: `it was ${PASSWORD}` })).toEqual([name])
  })
})
