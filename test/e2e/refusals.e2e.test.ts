// What cannot be done is said in one clear sentence, with the right exit code, before anything is recorded or sent.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function fileOf(count: number): Promise<string> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return office.put('in.csv', toCsv(rows))
}

async function batches(): Promise<unknown[]> {
  return (await office.tranche('status', '--json')).last.batches as unknown[]
}

test('an unexpected failure shows no card number and no password', async () => {
  office = await openOffice()
  const input = await fileOf(1)
  const env = { TMPDIR: '/nowhere/4111111111111111/s3cret-pass' }
  const failed = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'), '--sandbox', '--json')
  expect(failed.code, failed.stderr).toBe(1)
  expect(failed.stderr).toContain('Unexpected failure: ')
  expect(failed.stdout + failed.stderr).toContain('/nowhere/4111110000001111/[secret]')
  expect(failed.stdout + failed.stderr).not.toMatch(/4111111111111111|s3cret-pass/)
})

test('each mistake of the configuration stands on a line of its own, whatever is in it', async () => {
  office = await openOffice()
  const env = { TRANCHE_IN_FLIGHT: 'x\ny', TRANCHE_RATE: 'fast' }
  const refused = await office.trancheWith(env, 'rate', '--json')
  expect([refused.code, refused.stderr.trimEnd().split('\n')]).toEqual([
    2,
    [
      'The configuration is wrong; nothing was started and nothing was sent:',
      expect.stringMatching(/^ {2}TRANCHE_RATE .*fast/),
      expect.stringMatching(/^ {2}TRANCHE_IN_FLIGHT .*x␊y/),
    ],
  ])
  expect(refused.last.error.message).toContain('sent:\n  TRANCHE_RATE')
})

test('a wrong password stops the account; another one is tried with one request, and the right one goes on where it stood', async () => {
  office = await openOffice()
  const input = await fileOf(20)
  const out = office.path('out.csv')
  const wrong = await office.trancheWith({ TRANCHE_GATEWAY_PASSWORD: 'old-one' }, 'run', input, '--out', out)
  expect(wrong.code, wrong.stderr).toBe(6)
  expect(wrong.stderr).toMatch(/20 rows are not sent: the gateway refuses the username or password \(HTTP 401/)
  expect(wrong.stderr).toContain('tranche resume --merchant default --reason TEXT')
  expect(wrong.stdout + wrong.stderr).not.toMatch(/old-one|s3cret-pass/)
  expect(countsIn(out)).toEqual({ PENDING: 20 })
  const { batch } = (await batches())[0] as { batch: string }
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({ state: 'stopped' })

  expect(office.sandbox.received()).toBe(1)
  for (const [password, received] of [
    ['old-one', 1],
    ['another', 2],
    ['old-one', 2],
    ['another', 2],
  ] as const) {
    const again = await office.trancheWith({ TRANCHE_GATEWAY_PASSWORD: password }, 'run', input, '--out', out)
    expect([again.code, office.sandbox.received()], again.stderr).toEqual([6, received])
  }
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 20 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a worker goes on by itself when the file with the password was corrected', async () => {
  office = await openOffice()
  const passwordFile = await office.put('password', 'old-one\n')
  const env = { TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: passwordFile }
  const { batch } = (await office.tranche('submit', await fileOf(20), '--json')).last
  const worker = office.startWith(env, 'worker')
  const state = async () => (await office.tranche('status', batch, '--json')).last.state
  await until('the stop', async () => (await state()) === 'stopped', worker)
  expect(office.sandbox.received()).toBe(1)
  await office.put('password', 's3cret-pass\n')
  await until('the end', async () => (await state()) === 'done', worker)
  expect(office.sandbox.received()).toBe(21)
  worker.kill('SIGTERM')
  const { stdout, stderr } = await worker.ended
  expect(stdout + stderr).not.toMatch(/old-one|s3cret-pass/)
})

test('without any Redis a run ends with 2, and nothing was recorded or sent', async () => {
  office = await openOffice()
  const input = await fileOf(3)
  const bare = office.path('bin')
  await mkdir(bare)
  const ran = await office.trancheWith({ PATH: bare }, 'run', input, '--out', office.path('out.csv'))
  expect(ran.code, ran.stderr).toBe(2)
  expect(ran.stderr).toContain('neither redis-server nor valkey-server is on PATH')
  expect(await batches()).toEqual([])
  expect(office.sandbox.received()).toBe(0)
  const doctor = await office.trancheWith({ PATH: bare }, 'doctor')
  expect(doctor.code).toBe(2)
  expect(doctor.stdout).toMatch(/FIX +redis/)
})

test('a Redis that is not there ends a run with 75, and nothing was recorded or sent', async () => {
  office = await openOffice()
  const input = await fileOf(3)
  const env = { TRANCHE_REDIS_URL: 'redis://127.0.0.1:1' }
  const ran = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'))
  expect(ran.code, ran.stderr).toBe(75)
  expect(ran.stderr).toContain('TRANCHE_REDIS_URL')
  expect(await batches()).toEqual([])
  expect(office.sandbox.received()).toBe(0)
})

test('an unreadable file or unwritable results end a run with 2 before anything is recorded', async () => {
  office = await openOffice()
  const input = await fileOf(3)
  const out = office.path('out.csv')
  const notResults = await office.put('letter.csv', 'dear,sir\n1,2\n')
  const attempts: [string, string, RegExp][] = [
    [office.path('missing.csv'), out, /does not exist/],
    [office.dir, out, /is a folder, not a file/],
    [input, office.path(join('nowhere', 'out.csv')), /the directory does not exist/],
    [input, input, /is the input file/],
    [input, notResults, /is not a result of this program/],
  ]
  for (const [from, to, says] of attempts) {
    const ran = await office.tranche('run', from, '--out', to)
    expect(ran.code, ran.stderr).toBe(2)
    expect(ran.stderr).toMatch(says)
    expect(ran.stderr).not.toMatch(/Unexpected|at .*\.ts:\d/)
  }
  expect(await batches()).toEqual([])
  expect(office.sandbox.received()).toBe(0)
})

test('a sandbox on a port in use, an unknown option and a broken setting end with 2', async () => {
  office = await openOffice()
  const port = await office.tranche('sandbox', '--port', String(office.sandbox.port))
  expect(port.code, port.stderr).toBe(2)
  expect(port.stderr).toContain('is in use')
  expect((await office.tranche('run', 'a.csv', '--outt', 'b.csv')).code).toBe(2)
  const broken = await office.trancheWith({ TRANCHE_RATE: 'fast', TRANCHE_TIMEOUT_MS: '5' }, 'worker')
  expect(broken.code).toBe(2)
  expect(broken.stderr).toContain('TRANCHE_RATE')
  expect(broken.stderr).toContain('TRANCHE_TIMEOUT_MS')
})

test('a directory that vanishes in mid-batch costs the results, not the record', async () => {
  office = await openOffice({ latencyMs: 30, env: { TRANCHE_IN_FLIGHT: '4' } })
  const input = await fileOf(40)
  await mkdir(office.path('gone'))
  const running = office.start('run', input, '--out', office.path(join('gone', 'out.csv')), '--json')
  await until('the batch is under way', () => office.sandbox.log().length >= 5, running)
  await rm(office.path('gone'), { recursive: true })
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(2)
  expect(ran.stderr).toContain('the directory does not exist')
  expect(ran.stderr).toMatch(/Batch \S+ was worked off all the same.* tranche results \S+ --out FILE/)
  expect(office.sandbox.received()).toBe(40)
  const out = office.path('out.csv')
  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 40 })
  expect(office.sandbox.received()).toBe(40)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})
