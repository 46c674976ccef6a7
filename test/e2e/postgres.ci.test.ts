// The commands on a ledger that a PostgreSQL server keeps, as real processes.

import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { mixedFile, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { makeDirectory, newSchemaName, openCluster, query, sharedCluster } from '../fixtures/postgres.ts'
import { openRedisServer } from '../fixtures/redis.ts'

let office: Office
let url: string
let schema: string
afterEach(() => office.close())

async function openOn({ made = true, env = {} }: { made?: boolean; env?: NodeJS.ProcessEnv } = {}): Promise<void> {
  url = (await sharedCluster()).url
  schema = newSchemaName()
  office = await openOffice({ made: false, env: { TRANCHE_LEDGER_URL: url, TRANCHE_LEDGER_SCHEMA: schema, ...env } })
  if (made) expect((await office.tranche('init')).code).toBe(0)
}

async function books(...reports: readonly { input: string; out: string }[]) {
  const ledgerPath = office.path('books.db')
  rmSync(ledgerPath, { force: true })
  expect((await office.tranche('backup', ledgerPath)).code).toBe(0)
  return booksOf({ ledgerPath, sandbox: office.sandbox }, ...reports)
}

async function putRefunds(count: number, name = 'in.csv'): Promise<{ input: string; out: string }> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put(name, toCsv(rows)), out: office.path(`${name}.out.csv`) }
}

test('mixed rows: gateway, ledger and reconciliation agree row by row; the same file again sends nothing', async () => {
  await openOn()
  const file = mixedFile(120)
  office.sandbox.prepare(file.preparation)
  const input = await office.put('mixed.csv', toCsv(file.rows))
  const out = office.path('mixed.results.csv')
  const ran = await office.tranche('run', input, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  expect(readCsv(out).map((line) => line.result_status)).toEqual(file.statuses)
  expect(compareBooks(await books({ input, out }))).toEqual([])
  const received = office.sandbox.received()
  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(3)
  expect(office.sandbox.received()).toBe(received)
})

test('where there is no ledger yet, nothing is recorded or sent, and init makes one', async () => {
  await openOn({ made: false })
  const { input } = await putRefunds(2)
  const refused = await office.tranche('run', input)
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('There is no ledger at postgres://')
  expect(refused.stderr).toContain('tranche init')
  const made = await office.tranche('init')
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('back up its database')])
  expect((await office.tranche('init')).stdout).toContain('There is a ledger already')
  expect(office.sandbox.received()).toBe(0)
})

test('a server that is away is said, with what it means', async () => {
  await openOn({ made: false, env: { TRANCHE_LEDGER_URL: 'postgres://clerk:s3cret-word@127.0.0.1:1/books' } })
  const { input } = await putRefunds(2)
  for (const command of [['run', input], ['status'], ['doctor'], ['init']]) {
    const ended = await office.tranche(...command)
    expect(ended.code, command.join(' ')).toBe(75)
    expect(ended.stdout + ended.stderr).toContain('The PostgreSQL server of the ledger cannot be reached')
    expect(ended.stdout + ended.stderr).not.toContain('s3cret-word')
  }
})

test('a run works beside a worker, and doctor, status and log tell of both', async () => {
  const redis = await openRedisServer(`/tmp/te-r-${process.pid}.sock`)
  onTestFinished(() => redis[Symbol.asyncDispose]())
  await openOn({ env: { TRANCHE_REDIS_URL: redis.path } })
  const worker = await office.worker()
  const { input, out } = await putRefunds(40)
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 40 })
  expect(compareBooks(await books({ input, out }))).toEqual([])
  const doctor = await office.tranche('doctor')
  expect(doctor.stdout).toMatch(/ok +ledger: 1 batch in postgres:.*; PostgreSQL \d+/)
  expect(doctor.stdout).toContain('when another server takes over, nothing is sent until a person adopts the ledger')
  expect(doctor.stdout).toContain(`process ${worker.pid}`)
  expect((await office.tranche('status')).stderr).toMatch(
    new RegExp(`Worker: process ${worker.pid} on .+ since .+, \\w+ now`),
  )
  const history = await office.tranche('history', refunds(1)[0]!.reference)
  expect(history.stdout).toContain('APPROVED')
  expect((await office.tranche('log')).stdout).toContain('init')
  worker.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
  expect((await office.tranche('doctor', '--live')).stdout).toContain('no worker is running')
})

test('a run right after a start of the server says why nothing is sent yet, and then sends', async () => {
  const cluster = openCluster()
  onTestFinished(() => cluster.remove())
  await openOn({ env: { TRANCHE_LEDGER_URL: cluster.url } })
  const { input, out } = await putRefunds(3)
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toMatch(
    /No work can be handed out \(The PostgreSQL server of the ledger was started a moment ago: for \d+ s more .+\)\. What was sent is recorded.+Work is handed out again/s,
  )
  expect(countsIn(out)).toEqual({ APPROVED: 3 })
})

test('a run beside a worker with a private Redis follows its batch to the end', async () => {
  await openOn()
  const worker = await office.worker()
  const { input, out } = await putRefunds(40)
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toContain('Following batch')
  expect(ran.stderr).toContain(`Worker: process ${worker.pid} on `)
  expect(countsIn(out)).toEqual({ APPROVED: 40 })
  expect(compareBooks(await books({ input, out }))).toEqual([])
  worker.kill('SIGTERM')
  expect((await worker.ended).code).toBe(0)
})

test('a worker that starts again at its place puts in doubt at once what the killed one was sending', async () => {
  await openOn({ env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input, out } = await putRefunds(6)
  office.sandbox.addFault({ kind: 'hang-after', match: { any: true }, times: 100 })
  await office.tranche('submit', input, '--yes')
  const worker = await office.worker()
  const sending = async () =>
    Number((await query<{ n: string }>(url, `SELECT count(*) AS n FROM ${schema}.claim`))[0]!.n)
  await until('requests are open', async () => (await sending()) > 0)
  worker.kill('SIGKILL')
  await worker.ended
  const caught = await sending()
  office.sandbox.clearFaults()
  const idle = await office.tranche('worker', '--until-idle')
  expect(idle.code, idle.stderr).toBe(5)
  await office.tranche('results', (await onlyBatch()).id, '--out', out)
  expect(countsIn(out)).toEqual({ IN_DOUBT: caught, APPROVED: 6 - caught })
  expect(compareBooks(await books({ input, out }))).toEqual([])
})

async function onlyBatch(): Promise<{ id: string }> {
  const [batch] = await query<{ id: string }>(url, `SELECT id FROM ${schema}.batch`)
  return batch!
}

test('down stops no Redis that a worker uses', async () => {
  await openOn()
  const worker = await office.worker()
  const refused = await office.tranche('down')
  expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining(`Process ${worker.pid} (tranche worker)`)])
  const { input, out } = await putRefunds(3)
  expect((await office.tranche('run', input, '--out', out)).code).toBe(0)
  worker.kill('SIGTERM')
  await worker.ended
  expect((await office.tranche('down')).code).toBe(0)
})

test('a worker says who shares its work, and rate says who takes it up', async () => {
  const redis = await openRedisServer(`/tmp/te-w-${process.pid}.sock`)
  onTestFinished(() => redis[Symbol.asyncDispose]())
  await openOn({ env: { TRANCHE_REDIS_URL: redis.path } })
  const first = await office.worker()
  const idle = await office.tranche('worker', '--until-idle')
  expect([idle.code, idle.stderr]).toEqual([0, expect.stringContaining('1 other worker shares the work:')])
  expect(idle.stderr).toContain(`Worker: process ${first.pid} on `)
  const one = await office.tranche('rate', '5/s')
  expect(one.stderr).toContain('The running worker takes it up at once')
  expect(one.stderr).toContain(`Worker: process ${first.pid} on `)
  const second = await office.worker()
  const two = await office.tranche('rate', '7/s')
  expect(two.stderr).toContain('2 running workers take it up within seconds')
  for (const { pid } of [first, second]) expect(two.stderr).toContain(`Worker: process ${pid} on `)
})

test('a user without the right to make a ledger is told what to grant, and needs it no more once there is one', async () => {
  const cluster = await sharedCluster()
  const role = `maker_${newSchemaName()}`
  await query(cluster.url, `CREATE ROLE ${role} LOGIN`)
  await query(cluster.url, `CREATE DATABASE ${role} ENCODING 'UTF8' TEMPLATE template0`)
  const owned = cluster.url.replace('/postgres?', `/${role}?`)
  onTestFinished(async () => {
    await query(cluster.url, `DROP DATABASE ${role} WITH (FORCE)`)
    await query(cluster.url, `DROP ROLE ${role}`)
  })
  await openOn({ made: false, env: { TRANCHE_LEDGER_URL: owned.replace('tranche@', `${role}@`) } })
  const grant = `GRANT CREATE ON DATABASE "${role}" TO "${role}"`
  const refused = await office.tranche('init')
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(grant)])
  expect((await office.tranche('doctor')).stdout).toMatch(/FIX +ledger: There is no ledger at .*GRANT CREATE/)
  await query(owned, grant)
  expect((await office.tranche('init')).code).toBe(0)
  await query(owned, `REVOKE CREATE ON DATABASE "${role}" FROM "${role}"`)
  const doctor = await office.tranche('doctor')
  expect(doctor.stdout).toContain('ok   ledger: 0 batches in postgres:')
  expect(doctor.stdout).toMatch(
    new RegExp(`WARN server: the PostgreSQL user ${role} cannot see standbys, nor .*GRANT pg_monitor TO "${role}"`),
  )
  await query(owned, `GRANT pg_monitor TO ${role}`)
  expect((await office.tranche('doctor')).stdout).not.toContain('pg_monitor')
  await query(owned, `REVOKE ALL ON SCHEMA ${schema} FROM ${role}; ALTER SCHEMA ${schema} OWNER TO tranche`)
  const without = await office.tranche('status')
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('must own the schema of the ledger')])
})

test('doctor tells of an address past the pooler that leads elsewhere, or nowhere', async () => {
  await openOn()
  const directly = (address: string) => office.trancheWith({ TRANCHE_POSTGRES_DIRECT_URL: address }, 'doctor')
  expect((await directly(url)).stdout).toContain('ok   ledger: 0 batches')
  const elsewhere = await directly(url.replace('/postgres?', '/template1?'))
  expect(elsewhere.stdout).toMatch(/FIX +ledger: TRANCHE_POSTGRES_DIRECT_URL reaches another server or database/)
  const nowhere = await directly('postgres://clerk:s3cret-word@127.0.0.1:1/books')
  expect(nowhere.stdout).toMatch(/FIX +ledger: TRANCHE_POSTGRES_DIRECT_URL cannot be used: .*cannot be reached/)
  expect(nowhere.stdout).not.toContain('s3cret-word')
})

test('a file is recorded in no other ledger that the address past the pooler leads to', async () => {
  await openOn()
  const other = `other_${schema}`
  await query(url, `CREATE DATABASE ${other} ENCODING 'UTF8' TEMPLATE template0`)
  onTestFinished(() => query(url, `DROP DATABASE ${other} WITH (FORCE)`).then(() => {}))
  const elsewhere = url.replace('/postgres?', `/${other}?`)
  const { input } = await putRefunds(2)
  const submittedPast = (address: string) =>
    office.trancheWith({ TRANCHE_POSTGRES_DIRECT_URL: address }, 'submit', input, '--yes')
  const without = await submittedPast(elsewhere)
  expect((await office.trancheWith({ TRANCHE_LEDGER_URL: elsewhere }, 'init')).code).toBe(0)
  for (const { code, stderr } of [without, await submittedPast(elsewhere)])
    expect([code, stderr]).toEqual([2, expect.stringContaining(ELSEWHERE)])
  for (const one of [url, elsewhere])
    expect(await query(one, `SELECT count(*)::int AS rows FROM ${schema}.instruction`)).toEqual([{ rows: 0 }])
  const nowhere = await submittedPast('postgres://tranche@127.0.0.1:1/books')
  expect([nowhere.code, nowhere.stderr]).toEqual([
    75,
    expect.stringContaining('TRANCHE_POSTGRES_DIRECT_URL cannot be used'),
  ])
  expect(await submittedPast(url)).toMatchObject({ code: 0 })
})

const ELSEWHERE = 'TRANCHE_POSTGRES_DIRECT_URL reaches another server or database'

test('a file is recorded in no copy of the ledger on another server', async () => {
  const cluster = openCluster()
  onTestFinished(() => cluster.remove())
  await openOn({ env: { TRANCHE_LEDGER_URL: cluster.url } })
  cluster.kill()
  const dir = makeDirectory()
  execFileSync('cp', ['-a', join(cluster.dir, 'data'), dir])
  const copy = openCluster({ dir })
  onTestFinished(() => copy.remove())
  cluster.start()
  const past = { TRANCHE_POSTGRES_DIRECT_URL: copy.url }
  const { input } = await putRefunds(2)
  for (const command of [['submit', input, '--yes'], ['doctor']]) {
    const { stdout, stderr } = await office.trancheWith(past, ...command)
    expect(stdout + stderr).toContain(ELSEWHERE)
  }
  expect(await query(copy.url, `SELECT count(*)::int AS rows FROM ${schema}.instruction`)).toEqual([{ rows: 0 }])
})

test('a second worker on a machine with a private Redis is refused in words', async () => {
  await openOn()
  const worker = await office.worker()
  const second = await office.tranche('worker')
  expect(second.code).toBe(2)
  expect(second.stderr).toContain('Set TRANCHE_REDIS_URL to a Redis that all of them reach')
  worker.kill('SIGTERM')
  await worker.ended
})

test('a backup is a ledger in a file, which sends nothing until it is adopted; the record agrees with itself', async () => {
  await openOn()
  const { input } = await putRefunds(3)
  await office.tranche('run', input)
  await office.tranche('submit', (await putRefunds(2, 'more.csv')).input, '--allow-lookalikes')
  const dir = office.path('elsewhere')
  mkdirSync(dir, { mode: 0o700 })
  const made = await office.tranche('backup', join(dir, 'ledger.db'))
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('checked. The copy sends nothing')])
  const deep = await office.tranche('doctor', '--deep')
  expect(deep.stdout).toContain('ok   record: sums, rows, what was submitted, moves and acts agree, up to')
  const inFile: NodeJS.ProcessEnv = { ...office.settings, TRANCHE_DATA_DIR: dir }
  delete inFile.TRANCHE_LEDGER_URL
  const apart = await openOffice({ made: false, env: inFile })
  try {
    const refused = await apart.tranche('run', input)
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('it is a backup')])
    expect((await apart.tranche('adopt', '--restored', '--reason', 'the server burnt down', '--yes')).code).toBe(0)
    expect((await apart.tranche('doctor', '--deep')).stdout).toContain('ok   record: sums, rows')
  } finally {
    await apart.close()
  }
})

test('a finished batch is purged, and the server keeps what prevents a second sending', async () => {
  await openOn()
  const { input } = await putRefunds(5)
  expect((await office.tranche('run', input)).code).toBe(0)
  const { id } = await onlyBatch()
  const before = new Date().toISOString()
  const purged = await office.tranche('purge', '--before', before, '--reason', 'retention', '--yes', '--json')
  expect(purged.last).toMatchObject({ batches: [id], rows: 5, left: [] })
  expect(await query(url, `SELECT count(*) AS n FROM ${schema}.instruction WHERE cells <> '[]'`)).toEqual([{ n: '0' }])
  const received = office.sandbox.received()
  const again = await office.tranche('run', input, '--out', office.path('again.csv'), '--json')
  expect(again.last.counts).toEqual({ DUPLICATE: 5 })
  expect(office.sandbox.received()).toBe(received)
  expect((await office.tranche('doctor', '--deep')).stdout).toContain('ok   record')
})

test('doctor tells of answers to requests that the ledger does not know, and ends with 5', async () => {
  await openOn()
  const path = join(office.settings.TRANCHE_DATA_DIR as string, 'worker-1.answers.abc.unknown')
  writeFileSync(path, '{}\n')
  const doctor = await office.tranche('doctor')
  expect(doctor.code).toBe(5)
  expect(doctor.stdout).toContain(
    `ATTENTION answers: ${path} holds what came of requests that the ledger does not know`,
  )
})

test('another data directory is another machine: it finds the same ledger', async () => {
  await openOn()
  const { input, out } = await putRefunds(3)
  await office.tranche('submit', input, '--yes')
  const dir = office.path('second')
  mkdirSync(dir, { mode: 0o700 })
  const there = { TRANCHE_DATA_DIR: dir }
  const idle = await office.trancheWith(there, 'worker', '--until-idle')
  expect(idle.code, idle.stderr).toBe(0)
  await office.tranche('results', (await onlyBatch()).id, '--out', out)
  expect(countsIn(out)).toEqual({ APPROVED: 3 })
})
