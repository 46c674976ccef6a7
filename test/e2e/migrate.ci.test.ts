// A ledger in a file, moved to a server: whatever breaks off, it sends from one place.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nextEpoch } from '../../src/ledger/sqlite/copies/epoch-file.ts'
import { TABLES } from '../../src/ledger/texts/tables.ts'
import { openSharedRegister } from '../../src/queues/shared-register.ts'
import { booksOf, compareBooks, readCsv } from '../fixtures/books.ts'
import { standsStill } from '../fixtures/children.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { type FileRow, mixedFile, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { newSchemaName, query, sharedCluster } from '../fixtures/postgres.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

let office: Office
let url: string
let there: NodeJS.ProcessEnv

beforeEach(async () => {
  url = (await sharedCluster()).url
  there = { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: newSchemaName() }
  office = await openOffice({ env: { TRANCHE_LEDGER_SCHEMA: there.TRANCHE_LEDGER_SCHEMA } })
})
afterEach(() => office.close())

const CHILD = fileURLToPath(new URL('../fixtures/child-migrate.ts', import.meta.url))
const move = () => office.tranche('migrate', '--to', url)
const receivedRows = () => office.sandbox.received()

async function put(name: string, rows: ReturnType<typeof refunds>): Promise<string> {
  office.sandbox.prepare(preparationFor(rows))
  return office.put(name, toCsv(rows))
}

test('nothing is moved where the address past the pooler leads to another database', async () => {
  await put('in.csv', refunds(2))
  await office.tranche('submit', office.path('in.csv'))
  const elsewhere = url.replace('/postgres?', '/template1?')
  const moved = await office.trancheWith({ ...there, TRANCHE_POSTGRES_DIRECT_URL: elsewhere }, 'migrate')
  expect([moved.code, moved.stderr]).toEqual([
    2,
    expect.stringContaining('TRANCHE_POSTGRES_DIRECT_URL reaches another server or database'),
  ])
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(receivedRows()).toBe(2)
})

test('a ledger that is partly worked off moves with all its values, and the server goes on where it stopped', async () => {
  const file = mixedFile(60)
  office.sandbox.prepare(file.preparation)
  const [first, out] = [await office.put('first.csv', toCsv(file.rows)), office.path('first.results.csv')]
  await office.tranche('run', first, '--out', out)
  const rows = refunds(30, 1_000)
  const second = await put('second.csv', rows)
  const { stdout: batchId } = await office.tranche('submit', second)
  const head = (await office.tranche('log', '--json')).last.head as string

  const checked = await office.tranche('migrate', '--to', url, '--check')
  expect([checked.code, checked.stderr]).toEqual([0, expect.stringContaining('106 rows in 2 batches')])
  expect((await office.trancheWith(there, 'status')).code).toBe(2) // nothing is there yet
  const moved = await move()
  expect([moved.code, moved.stderr]).toEqual([0, expect.stringContaining('each value compared with the file')])

  const results = (env: NodeJS.ProcessEnv, to: string) =>
    office.trancheWith(env, 'results', batchId.trim(), '--out', office.path(to))
  expect((await office.trancheWith(there, 'worker', '--until-idle')).code).toBe(0)
  expect((await results(there, 'second.results.csv')).code).toBe(0)
  expect(readCsv(office.path('second.results.csv')).map((line) => line.result_status)).toEqual(
    rows.map(() => 'APPROVED'),
  )
  const deep = await office.trancheWith(there, 'doctor', '--deep', '--head', head)
  expect(deep.stdout).toContain('ok   record: sums, rows, what was submitted, moves and acts agree')
  const ledgerPath = office.path('books.db')
  expect((await office.trancheWith(there, 'backup', ledgerPath)).code).toBe(0)
  const reports = [
    { input: first, out },
    { input: second, out: office.path('second.results.csv') },
  ]
  expect(compareBooks(await booksOf({ ledgerPath, sandbox: office.sandbox }, ...reports))).toEqual([])
  // What was handed in before is known there.
  const received = receivedRows()
  expect((await office.trancheWith(there, 'run', second)).stderr).toContain('no row of it is left to send')
  expect(receivedRows()).toBe(received)
})

test('the file is read, sends nothing and records nothing any more, and is taken over as an older state only', async () => {
  const [a, b, c] = refunds(3) as [FileRow, FileRow, FileRow]
  const input = await put('in.csv', [a, b, { ...c, execute_at: '2099-01-01T00:00:00Z' }])
  const { stdout } = await office.tranche('submit', input, '--allow-execute-at', '1')
  const batchId = stdout.trim()
  expect((await move()).code).toBe(0)
  for (const refused of [
    ['run', input],
    ['submit', input],
    ['worker', '--until-idle'],
    ['pause', batchId, '--reason', 'x'],
    ['cancel', batchId, '--reason', 'x', '--yes'],
    ['purge', '--before', '2026-01-01T00:00:00Z', '--reason', 'x', '--yes'],
  ]) {
    const ended = await office.tranche(...refused)
    expect([refused[0], ended.code, ended.stderr]).toEqual([
      refused[0],
      6,
      expect.stringContaining('it was moved to postgres://'),
    ])
  }
  expect(receivedRows()).toBe(0)
  expect((await office.tranche('status')).stdout).toContain(batchId)
  for (const how of ['--moved', '--restored']) {
    const refused = await office.tranche('adopt', how, '--reason', 'x', '--yes')
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('--restored --server-is-lost --reason')])
  }
  const restored = (...more: string[]) =>
    office.tranche('adopt', '--restored', '--server-is-lost', '--reason', 'the server burnt down', ...more)
  const past = await restored('--due-before', new Date(Date.now() - 1).toISOString())
  expect([past.code, past.stderr]).toEqual([2, expect.stringContaining('may have been sent by what is lost')])
  const adopted = await restored('--due-before', '2098-01-01T00:00:00Z')
  expect([adopted.code, adopted.stderr]).toEqual([0, expect.stringContaining('stay PENDING and will be sent')])
  expect((await office.tranche('in-doubt', 'list')).stdout.match(/R-\d/g)).toEqual(['R-1', 'R-2'])
})

test('broken off at any step and run again, all of it arrives; in between nothing is sent from two places', async () => {
  const rows = refunds(12)
  const input = await put('in.csv', rows)
  await office.tranche('submit', input)
  const diesAt = (step: string) => {
    return spawnSync(process.execPath, [CHILD, url, step], { env: office.settings, encoding: 'utf8' }).signal
  }
  for (const { name } of TABLES) {
    expect([name, diesAt(name)]).toEqual([name, 'SIGKILL'])
    expect((await office.tranche('status')).stderr).not.toContain('moved')
    expect((await office.trancheWith(there, 'status')).code).not.toBe(0)
  }
  // Work goes on in the file meanwhile.
  const more = await put('more.csv', refunds(5, 100))
  expect((await office.tranche('run', more)).code).toBe(0)
  expect(diesAt('retired')).toBe('SIGKILL')
  const [here, asleep] = [await office.tranche('worker', '--until-idle'), await office.trancheWith(there, 'worker')]
  expect([here.code, asleep.code]).toEqual([6, 6])
  expect(asleep.stderr).toContain('has not arrived yet')
  const finished = await move()
  expect([finished.code, finished.stderr]).toEqual([0, expect.stringContaining('17 rows in 2 batches')])
  expect((await move()).stderr).toContain('already')
  expect((await office.trancheWith(there, 'worker', '--until-idle')).code).toBe(0)
  expect(receivedRows()).toBe(17)
})

test('what a dead worker left open comes into doubt before it is moved', async () => {
  office.sandbox.prepare(preparationFor(refunds(2)))
  const slow = await openOffice({ env: office.settings, latencyMs: 60_000 })
  try {
    const input = await slow.put('in.csv', toCsv(refunds(2)))
    const running = slow.startWith(
      {
        TRANCHE_DATA_DIR: slow.dataDir,
        TRANCHE_WITNESS_DIR: slow.witnessDir,
        TRANCHE_GATEWAY_URL: slow.sandbox.url,
        TRANCHE_IN_FLIGHT: '1',
      },
      'run',
      input,
    )
    await until('a request is open', () => slow.sandbox.received() > 0, running)
    const own = { TRANCHE_DATA_DIR: slow.dataDir, TRANCHE_WITNESS_DIR: slow.witnessDir }
    const held = await slow.trancheWith(own, 'migrate', '--to', url)
    expect([held.code, held.stderr]).toEqual([
      6,
      expect.stringContaining('is at work in this ledger. Nothing was moved'),
    ])
    running.kill('SIGKILL')
    await running.ended
    const moved = await slow.trancheWith(own, 'migrate', '--to', url)
    expect([moved.code, moved.stderr]).toEqual([
      0,
      expect.stringContaining('1 request was open when the worker ended, and is in doubt now'),
    ])
    expect((await slow.trancheWith({ ...own, ...there }, 'status', '--json')).stdout).toContain('IN_DOUBT')
  } finally {
    await slow.close()
  }
})

test('a place that is taken is left alone', async () => {
  expect((await office.trancheWith({ ...there, TRANCHE_DATA_DIR: office.path('other') }, 'init')).code).toBe(0)
  const refused = await move()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('There is a ledger at')])
  expect(await query(url, `SELECT count(*) AS n FROM ${there.TRANCHE_LEDGER_SCHEMA}.instruction`)).toEqual([{ n: '0' }])
  expect((await office.tranche('status')).stderr).not.toContain('moved')
})

test('a server that is set before the move gets no ledger beside the one in the file, and every command names the move', async () => {
  const input = await put('in.csv', refunds(3))
  expect((await office.tranche('run', input)).code).toBe(0)
  for (const args of [['init'], ['init', '--yes'], ['run', input], ['doctor']]) {
    const ended = await office.trancheWith(there, ...args)
    expect(ended.code, args.join(' ')).toBe(2)
    expect(ended.stdout + ended.stderr).toMatch(/ledger\.db.* tranche migrate --to URL/)
    expect(ended.stdout + ended.stderr).not.toContain('tranche init')
  }
  expect(receivedRows()).toBe(3)
  expect((await office.trancheWith({ ...there, TRANCHE_DATA_DIR: office.path('other') }, 'init')).code).toBe(0)
})

/** Makes the copy at a moment at which the server has half of it. */
async function moveAndCopyMeanwhile(env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = spawn(process.execPath, [CHILD, url, 'move', 'SIGSTOP'], { env: { ...office.settings, ...env } })
  const ended = once(child, 'close')
  await until('the move stands still', () => standsStill(child.pid as number))
  shell('cp -a d d.bak')
  child.kill('SIGCONT')
  expect((await ended)[0]).toBe(0)
  const finished = await office.trancheWith(env, 'migrate', '--to', url)
  expect(finished.code, finished.stderr).toBe(0)
}

const shell = (script: string) => execFileSync('sh', ['-ec', script], { cwd: office.dir })

describe.each([
  ['with a witness outside the folder', {}],
  ['where no witness can be kept', { TRANCHE_WITNESS_DIR: 'none' }],
])('a copy of the folder that is put back over the retired file, %s,', (_where, env) => {
  beforeEach(async () => {
    await office.close()
    office = await openOffice({ env: { ...env, TRANCHE_LEDGER_SCHEMA: there.TRANCHE_LEDGER_SCHEMA } })
  })

  const staysStill = async () => {
    const woken = await office.tranche('worker', '--until-idle')
    expect([woken.code, woken.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
  }

  test('sends nothing, made before the move', async () => {
    const input = await put('in.csv', refunds(6))
    expect((await office.tranche('submit', input)).code).toBe(0)
    expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
    const more = await put('more.csv', refunds(5, 100))
    expect((await office.tranche('submit', more)).code).toBe(0)
    shell('cp -a d d.bak')
    expect((await move()).code).toBe(0)
    shell('cp -a d.bak/. d/')
    await staysStill()
    expect(receivedRows()).toBe(6)
    expect((await office.trancheWith(there, 'worker', '--until-idle')).code).toBe(0)
    await staysStill()
    expect(receivedRows()).toBe(11)
  })

  test('sends nothing, made while it was moved', async () => {
    const input = await put('in.csv', refunds(6))
    expect((await office.tranche('submit', input)).code).toBe(0)
    await moveAndCopyMeanwhile()
    shell('cp -a d.bak/. d/')
    await staysStill()
    expect(receivedRows()).toBe(0)
  })
})

test('a copy from before the move is taken over as an older state only', async () => {
  const input = await put('in.csv', refunds(2))
  expect((await office.tranche('submit', input)).code).toBe(0)
  shell('cp -a d d.bak')
  expect((await move()).code).toBe(0)
  shell('cp -a d.bak/. d/')
  const moved = await office.tranche('adopt', '--moved', '--reason', 'x')
  expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining('It cannot be the newest state')])
  const restored = await office.tranche('adopt', '--restored', '--reason', 'the server burnt down', '--json')
  expect([restored.code, restored.last.in_doubt]).toEqual([0, 2])
})

describe('where hosts share a Redis', () => {
  let redis: RedisServer
  let shared: NodeJS.ProcessEnv
  beforeEach(async () => {
    redis = await openRedisServer(office.path('s'))
    shared = { TRANCHE_REDIS_URL: redis.path }
  })
  afterEach(() => redis.kill())

  /** Another host renews the epoch of its copy once, with the whole machine as it was. */
  async function renewElsewhere(): Promise<void> {
    const [ledgerId = '', epoch = ''] = readFileSync(office.path('d/ledger.epoch'), 'utf8').trim().split(' ')
    const register = openSharedRegister({ path: redis.path }, 'bull', ledgerId)
    const newest = await register.newest()
    expect(await register.replace(newest, nextEpoch([epoch]))).toBe(true)
    register.close()
  }

  test('an older state by one epoch, of a machine that was rolled back, is not moved', async () => {
    const input = await put('in.csv', refunds(2))
    expect((await office.trancheWith(shared, 'submit', input)).code).toBe(0)
    expect((await office.trancheWith(shared, 'worker', '--until-idle')).code).toBe(0)
    await renewElsewhere()
    const moved = await office.trancheWith(shared, 'migrate', '--to', url)
    expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining('Redis records later work')])
    expect((await office.trancheWith({ ...shared, ...there }, 'status')).code).toBe(2)
    expect((await office.tranche('status')).stderr).not.toContain('moved')
  })

  test('the server does not wake where a copy has worked since the file was retired', async () => {
    const input = await put('in.csv', refunds(2))
    expect((await office.trancheWith(shared, 'submit', input)).code).toBe(0)
    const env = { ...office.settings, ...shared }
    expect(spawnSync(process.execPath, [CHILD, url, 'retired'], { env }).signal).toBe('SIGKILL')
    await renewElsewhere()
    const moved = await office.trancheWith(shared, 'migrate', '--to', url)
    expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining('Redis records later work')])
    expect((await office.trancheWith({ ...shared, ...there }, 'worker', '--until-idle')).stderr).toContain(
      'has not arrived yet',
    )
    await redis.flush() // that copy was none
    expect((await office.trancheWith(shared, 'migrate', '--to', url)).code).toBe(0)
    expect((await office.trancheWith({ ...shared, ...there }, 'worker', '--until-idle')).code).toBe(0)
    expect(receivedRows()).toBe(2)
  })

  test('once the server is awake, no copy that was made meanwhile works on another host', async () => {
    const input = await put('in.csv', refunds(2))
    expect((await office.trancheWith(shared, 'submit', input)).code).toBe(0)
    await moveAndCopyMeanwhile(shared)
    const host = { ...shared, TRANCHE_DATA_DIR: office.path('d.bak'), TRANCHE_WITNESS_DIR: office.path('w.bak') }
    shell('mv w w.gone') // it is on the other host
    expect((await office.trancheWith(host, 'adopt', '--moved', '--reason', 'x')).code).toBe(0)
    const woken = await office.trancheWith(host, 'worker', '--until-idle')
    expect([woken.code, woken.stderr]).toEqual([6, expect.stringContaining('Redis records later work')])
    expect(receivedRows()).toBe(0)
    expect((await office.trancheWith({ ...shared, ...there }, 'worker', '--until-idle')).code).toBe(0)
    expect(receivedRows()).toBe(2)
  })
})
