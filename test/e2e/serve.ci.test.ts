// The HTTP API as processes: serve, its worker, and keys.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Instruction, TrancheClient } from '../../src/client/client.ts'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice, type Running, type Said, until } from '../fixtures/cli.ts'
import { orderOf, refundRow, toCsv } from '../fixtures/files.ts'
import { serveOffice } from '../fixtures/http-office.ts'
import { openReceiver } from '../fixtures/receivers.ts'
import { figuresAt } from '../fixtures/watching.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
  office.sandbox.prepare({
    orders: [1, 2].map((n) => ({ orderId: orderOf(n), state: 'settled', amount: '50.00', currency: 'EUR' })),
  })
})
afterEach(() => office.close())

const refund = (n: number): Instruction => ({
  transaction_type: 'REFUND',
  ...{ reference: `R-${n}`, amount: '1.50', request_currency: 'EUR', request_ref_po_id: orderOf(n) },
})

const serve = (...options: string[]) => serveWith({}, ...options)
async function serveWith(
  env: NodeJS.ProcessEnv,
  ...options: string[]
): Promise<{ running: Running; url: string; key?: string }> {
  const running = office.startWith(env, 'serve', '--port', '0', '--json', ...options)
  await until('it listens', () => running.said().length > 0, running)
  const { event, url, key } = JSON.parse(running.said()[0] as string) as Said
  expect(event).toBe('listening')
  return { running, url, key }
}
async function keyFor(scope: string): Promise<{ id: string; key: string }> {
  const { code, last } = await office.tranche('keys', 'add', 'billing', '--scope', scope, '--expires', '90d', '--json')
  expect([code, Object.keys(last)]).toEqual([0, ['id', 'key']])
  return last as { id: string; key: string }
}
const isWorking = async () => (await office.tranche('status', '--json')).last.workers.length > 0

test('serve needs no Redis, answers with a key until it is revoked, and ends with 0', async () => {
  const { running, url } = await serve()
  const { id, key } = await keyFor('batches:read')
  const ask = async () => (await fetch(`${url}/v1/batches`, { headers: { authorization: `Bearer ${key}` } })).status
  expect(await ask()).toBe(200)
  expect((await office.tranche('keys', 'list', '--json')).last.keys).toMatchObject([
    { id, name: 'billing', state: 'valid', scopes: ['batches:read'] },
  ])
  expect((await office.tranche('keys', 'revoke', id, '--reason', 'lost', '--json')).last).toMatchObject({
    revoked: true,
  })
  expect(await ask()).toBe(401)
  running.kill('SIGTERM')
  const { code, last, stdout } = await running.ended
  expect([code, last.exit]).toEqual([0, 0])
  expect(stdout).not.toContain(key)
})

test('without a worker, serve tells webhooks what was decided, and shows what it was asked and how long that took', async () => {
  const hooks = await openReceiver()
  const { running, url } = await serveWith({ TRANCHE_METRICS: '127.0.0.1:0', TRANCHE_LOG_LEVEL: 'info' })
  const saying = running.saidAside().find((line) => line.includes('figures and health are shown'))
  const { last } = await office.tranche('webhooks', 'add', hooks.url, '--allow-private', '--json')
  expect((await office.tranche('webhooks', 'ping', last.id)).code).toBe(0)
  await until('it is told', () => hooks.received.length > 0, running)
  expect(JSON.parse(hooks.received[0]?.body as string).type).toBe('ping')
  await fetch(`${url}/v1/batches/B-1?token=secret`)
  const figures = await figuresAt(JSON.parse(saying as string).url)
  const asked = 'method="GET",route="/v1/batches/:batch",code="401"'
  expect(figures.get(`tranche_http_request_duration_seconds_count{${asked}}`)).toBe(1)
  expect(figures.get(`tranche_webhook_deliveries_total{endpoint="${last.id}",result="delivered"}`)).toBe(1)
  expect([...figures.keys()].join()).not.toContain('secret')
  running.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
  await hooks.close()
})

test('a service hands in over HTTP, and the worker beside the server sends it, once', async () => {
  const { running, url } = await serve('--with-worker')
  const { key } = await keyFor('instructions:write,instructions:read')
  const client = new TrancheClient({ url, key })
  expect(await client.submit(refund(1))).toMatchObject({ status: 'accepted', row: 1 })
  expect(await client.submit(refund(1))).toMatchObject({ status: 'duplicate', row: 1 })
  await until('it is executed', () => recordedIn(office)[0]?.state === 'APPROVED', running)
  expect(await client.submit(refund(1))).toMatchObject({ state: 'APPROVED' })
  expect(office.sandbox.log()).toHaveLength(1)
  await client.close()
  running.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
  expect(await isWorking()).toBe(false)
})

test('the worker lives no longer than the server, however that died', async () => {
  const { running } = await serve('--with-worker')
  await until('the worker works', isWorking, running)
  running.kill('SIGKILL')
  await running.ended
  await until('the worker has ended', async () => !(await isWorking()))
})

test('without a worker in it, serve and what reads its files open no password of a gateway', async () => {
  const pipe = office.path('pipe') // whoever reads it waits for ever: nobody writes
  await promisify(execFile)('mkfifo', [pipe])
  const config = await office.put(
    'tranche.yaml',
    `merchants:\n  club:\n    url: https://club.example\n    username: shop\n    own_account: true\n    password_file: nowhere\n    client_cert_file: nowhere\n    client_key_file: nowhere\n`,
  )
  const unread = { TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: pipe, TRANCHE_CONFIG: config }
  const http = await serveOffice(office, { env: unread })
  for (const merchant of ['default', 'club']) {
    const file = await http.upload(toCsv([refundRow(1, { reference: merchant })]))
    expect(await http.check(file, { merchant })).toMatchObject({ state: 'done', review: { accepted: 1 } })
  }
  expect(await office.trancheWith({ TRANCHE_CONFIG: config }, 'worker', '--until-idle')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('merchants.club.password_file: names'),
  })
  http.server.kill('SIGTERM')
  expect((await http.server.ended).code).toBe(0)
})

test('where its worker cannot work, the server ends too, and says so', async () => {
  const worker = await office.worker()
  const running = office.start('serve', '--port', '0', '--with-worker', '--json')
  const { code, stderr } = await running.ended
  expect(code).toBe(6)
  expect(stderr).toMatch(/works off this ledger already/)
  expect(stderr).toMatch(/The worker ended by itself \(exit 6\)/)
  worker.kill('SIGTERM')
})

test.each([
  [['--host', '0.0.0.0'], /plain text\. Nothing was started\./],
  [['--port', '70000'], /--port 70000: write a port/],
  [['--tls-cert', 'x.pem'], /go together/],
  [['--tls-cert', 'x.pem', '--tls-key', 'y.pem'], /x\.pem cannot be read/],
])('serve %j is refused with 2', async (options, why) => {
  const { code, stderr } = await office.tranche('serve', ...options)
  expect(code).toBe(2)
  expect(stderr).toMatch(why)
})

test('a port that is taken is told in words', async () => {
  const { url } = await serve()
  const { code, stderr } = await office.tranche('serve', '--port', new URL(url).port)
  expect(code).toBe(2)
  expect(stderr).toMatch(/another process has it\. Nothing was started\./)
})

test.each([
  [['add', 'x', '--scope', 'batches:approve'], /there is no such scope/],
  [['add', 'x'], /name what the key may do/],
  [['add', 'x', '--scope', 'batches:read', '--merchant', 'none'], /no such merchant/],
  [['add', 'x', '--scope', 'batches:read', '--network', '10.0.0.0/40'], /write a network/],
  [['add', 'x', '--scope', 'batches:read', '--expires', '400d'], /a year is the most/],
  [['revoke', 'nobody12', '--reason', 'x'], /There is no key "nobody12"/],
])('keys %j is refused with 2, and no key is made', async (words, why) => {
  const { code, stderr } = await office.tranche('keys', ...words)
  expect(code).toBe(2)
  expect(stderr).toMatch(why)
  expect((await office.tranche('keys', 'list', '--json')).last.keys).toEqual([])
})

test('a rehearsal has two people, whom anybody may be with one click, and needs an approval', async () => {
  const { running, url } = await serve('--sandbox', '--with-people')
  await until('it tells of the people', () => running.said().length > 1, running)
  expect(JSON.parse(running.said()[1] as string)).toEqual({ event: 'people', url: `${url}/sign-in` })
  const page = await (await fetch(`${url}/sign-in`)).text()
  const [form = ''] = page.split('<form method="post" action="/sign-in">').slice(1)
  const fields = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
    ([, name, value]) => [name, value] as [string, string],
  )
  const headers = { 'sec-fetch-site': 'same-origin' }
  const body = new URLSearchParams(fields)
  const entered = await fetch(`${url}/sign-in`, { method: 'POST', redirect: 'manual', headers, body })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const overview = await (await fetch(url, { headers: { cookie } })).text()
  expect(overview).toContain('SANDBOX')
  expect(overview).toContain('ana (operator, results, submitter)')
  expect(await (await fetch(`${url}/policy`, { headers: { cookie } })).text()).toContain('everything needs 1 approval')
})

test('a sandbox does not start where a queue is configured, whose jobs it would not take', async () => {
  const { code, stderr } = await office.trancheWith({ TRANCHE_REDIS_URL: office.path('r.sock') }, 'serve', '--sandbox')
  expect(code).toBe(2)
  expect(stderr).toContain('serve --sandbox takes nothing from the queue')
})

test('the owner of a rehearsal is told where it is, for commands of another shell', async () => {
  const running = office.start('serve', '--sandbox', '--port', '0')
  const told = () => /^.*: export TRANCHE_DATA_DIR=(\S+) TRANCHE_WITNESS_DIR=none$/m.exec(running.said().join('\n'))
  await until('it tells where it is', () => told() !== null, running)
  const env = { TRANCHE_DATA_DIR: told()?.[1], TRANCHE_WITNESS_DIR: 'none' }
  const { code, last } = await office.startWith(env, 'keys', 'list', '--json').ended
  expect([code, last.keys.length]).toEqual([0, 1])
})

test('people who sign in with one click are for a rehearsal alone', async () => {
  expect(await office.tranche('serve', '--with-people')).toMatchObject({ code: 2 })
})

test('results of a rehearsal say SANDBOX, of a file as of an instruction alone', async () => {
  const http = await serveOffice(office, { options: ['--sandbox'] })
  const checked = await http.check(await http.upload(toCsv([refundRow(1)])))
  const totals = { EUR: checked.review.totals_read[0].amount }
  const file = await http.post('/v1/batches', { check: checked.check, expect: { count: 1, totals } })
  const alone = await http.post('/v1/instructions', { schema_version: 1, ...refund(2) })
  for (const { said } of [file, alone])
    expect((await http.get(`/v1/batches/${said.batch}/results.csv`)).text).toContain(`SANDBOX-${said.batch}`)
})

test('examples/curl.sh goes through the life of a refund, in a sandbox of the server itself', async () => {
  const { running, url, key } = await serve('--sandbox', '--with-worker')
  const env = { ...process.env, TRANCHE_API: url, TRANCHE_KEY: key as string }
  const { stdout } = await promisify(execFile)('sh', ['examples/curl.sh', '70001'], { env })
  expect(stdout).toMatch(/"status":"accepted".*\n/)
  expect(stdout).toMatch(/^APPROVED$/m)
  expect(stdout).toMatch(/result_status/)
  // A second refund of the same is refused, and the refusal names the batch of the first.
  const refused = await promisify(execFile)('sh', ['examples/curl.sh', '70001'], { env }).catch((error) => error)
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('looks_like'),
    stderr: 'It was not taken.\n',
  })
  expect(office.sandbox.log()).toEqual([])
  running.kill('SIGTERM')
  expect((await running.ended).code).toBe(0)
})
