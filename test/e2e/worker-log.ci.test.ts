// What a service leaves on stderr: one line of JSON for each thing that happened, as log shippers take it.

import { chmod, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ triggers: true })
})
afterEach(() => office.close())

const HEADER = 'reference,amount,request_currency,customer_vault_id\n'
const logOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line))
const toldBy = (worker: Running, msg: string) => logOf(worker.saidAside()).filter((line) => line.msg.includes(msg))

async function submit(name: string, rows: string): Promise<string> {
  const { last } = await office.tranche(
    'submit',
    await office.put(name, HEADER + rows),
    '--operation',
    'CAPTURE',
    '--json',
  )
  return last.batch
}

test('a batch that begins, its doubt and its end with counts and sums, all as JSON with named levels', async () => {
  const worker = await office.worker()
  const batch = await submit('a.csv', 'lost,5.03,EUR,40001\nB,7.00,EUR,40002\n')
  await until('it has ended', () => toldBy(worker, 'batch ended').length === 1, worker)
  expect(toldBy(worker, 'batch begins')).toMatchObject([
    { level: 'info', batch, merchant: 'default', file: 'a.csv', rows: 2 },
  ])
  expect(toldBy(worker, 'in doubt')).toMatchObject([
    { level: 'warn', batch, row: 1, reference: 'lost', reason: expect.stringMatching(/./) },
  ])
  const [ended] = toldBy(worker, 'batch ended')
  expect(ended).toMatchObject({ batch, state: 'needs_attention', rows: 2, counts: { IN_DOUBT: 1 } })
  expect(ended.totals).toContainEqual(expect.objectContaining({ status: 'IN_DOUBT', count: 1, amount: '5.03' }))
  worker.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  expect(code).toBe(0)
  for (const line of logOf(stderr.trimEnd().split('\n')))
    expect(line).toMatchObject({
      level: expect.stringMatching(/^(info|warn|error)$/),
      time: expect.stringMatching(/^\d{4}-.*Z$/),
    })
  expect(stderr).toContain('Every answer that came is recorded')
})

test('a password that others can read is told at the start, by worker and run and serve', async () => {
  const password = await office.put('password', 's3cret-pass\n')
  await chmod(password, 0o644)
  const env = { TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: password }
  const exposed = `other users of this machine can read ${password}, which holds a secret (chmod 600 ${password})`
  const worker = await office.worker(env)
  expect(toldBy(worker, 'other users')).toMatchObject([{ level: 'warn', msg: exposed }])
  worker.kill('SIGTERM')
  await worker.ended
  const file = await office.put('a.csv', `${HEADER}A,7.00,EUR,40001\n`)
  const ran = await office.trancheWith(env, 'run', file, '--operation', 'CAPTURE', '--yes')
  expect(ran.stderr).toContain(`WARNING: ${exposed}`)
  // The server opens no password of a gateway: of what it reads, the address of Redis holds one.
  await writeFile(password, 'redis://127.0.0.1:1')
  const serving = office.startWith({ TRANCHE_REDIS_URL_FILE: password }, 'serve', '--port', '0', '--json')
  await until('it is told', () => toldBy(serving, 'other users').length > 0, serving)
  expect(toldBy(serving, 'other users')).toMatchObject([{ level: 'warn', msg: exposed }])
})

test('a stop, and trouble at the gateway', async () => {
  const worker = await office.worker({ TRANCHE_GATEWAY_PASSWORD: 'wrong-pass' })
  await submit('a.csv', 'A,7.00,EUR,40001\n')
  await until('it is told', () => toldBy(worker, 'the merchant is stopped').length === 1, worker)
  expect(toldBy(worker, 'the merchant is stopped')).toMatchObject([
    { level: 'error', merchant: 'default', reason: expect.stringContaining('401') },
  ])
  worker.kill('SIGTERM')
  await worker.ended
  await office.tranche('resume', '--merchant', 'default', '--reason', 'corrected')
  await office.sandbox.close()
  const alone = await office.worker()
  await until('the trouble is told', () => toldBy(alone, 'trouble at the gateway').length === 1, alone)
  expect(toldBy(alone, 'trouble at the gateway')).toMatchObject([
    { level: 'warn', reason: expect.stringContaining('refused') },
  ])
})

test('a worker that cannot start says why in a line of its log', async () => {
  const first = await office.worker()
  const second = await office.tranche('worker')
  expect([second.code, logOf(second.stderr.trimEnd().split('\n'))]).toMatchObject([
    6,
    [{ level: 'error', code: 'stopped', msg: expect.stringContaining(`Process ${first.pid} on `) }],
  ])
  const wrong = await office.trancheWith({ TRANCHE_RATE: 'fast' }, 'worker')
  expect(logOf(wrong.stderr.trimEnd().split('\n'))).toMatchObject([{ level: 'error', code: 'config', exit: 2 }])
})
