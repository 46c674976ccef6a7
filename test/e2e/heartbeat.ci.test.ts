// Whether the worker lives, as the record tells it to whoever asks.

import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, type Running, until } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ triggers: true })
})
afterEach(() => office.close())

const workersNow = async () => (await office.tranche('status', '--json')).last.workers

/** Stopped where it holds no lock of the ledger, and as if it had stood still for that long. */
async function freezeFor(ms: number, worker: Running): Promise<void> {
  const db = new DatabaseSync(office.ledgerPath, { timeout: 60_000 })
  db.exec('BEGIN IMMEDIATE')
  await worker.freeze()
  db.prepare('UPDATE heartbeat SET beat_at = beat_at - ?1, since = since - ?1').run(ms)
  db.exec('COMMIT')
  db.close()
  await ageLock(ms)
}

/** The lock says when its holder began: a worker is given some time until its first beat. */
async function ageLock(ms: number): Promise<void> {
  const { readFile, writeFile } = await import('node:fs/promises')
  const path = `${office.dataDir}/worker.lock.json`
  const holder = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ ...holder, startedAtMs: holder.startedAtMs - ms }))
}

test('status lists the worker with its host, since when and what it does; a frozen one is silent, a dead one is not listed', async () => {
  expect(await workersNow()).toEqual([])
  const beforeMs = Date.now()
  const worker = await office.worker()
  await until('its heart beats', async () => (await workersNow())[0]?.last_heartbeat !== null)
  const [alive] = await workersNow()
  expect(alive).toMatchObject({ id: expect.stringMatching(`:${worker.pid}$`), pid: worker.pid, state: 'idle' })
  expect(alive.host.length).toBeGreaterThan(0)
  expect(Date.parse(alive.since)).toBeGreaterThanOrEqual(beforeMs)
  expect(Date.parse(alive.since)).toBeLessThanOrEqual(Date.now())
  await freezeFor(31_000, worker)
  expect(await workersNow()).toMatchObject([{ pid: worker.pid, state: 'silent' }])
  worker.kill('SIGKILL')
  await worker.ended
  expect(await workersNow()).toEqual([])
})

test('doctor tells a frozen worker and open doubts apart from what is in order', async () => {
  expect(await office.tranche('doctor', '--live')).toMatchObject({ code: 6, stdout: 'no worker is running\n' })
  const input = await office.put(
    'captures.csv',
    'reference,amount,request_currency,customer_vault_id\nlost,5.03,EUR,40001\n',
  )
  const { last } = await office.tranche('submit', input, '--operation', 'CAPTURE', '--json')
  const worker = await office.worker()
  await until(
    'it is in doubt',
    async () => (await office.tranche('status', last.batch, '--json')).last.counts.IN_DOUBT === 1,
  )

  const alive = await office.tranche('doctor', '--live')
  expect([alive.code, alive.stdout]).toEqual([0, expect.stringMatching(new RegExp(`^process ${worker.pid} on `))])
  const doubts = await office.tranche('doctor')
  expect(doubts.code).toBe(5)
  expect(doubts.stdout).toMatch(/^ok {3}worker: process .* idle now$/m)
  expect(doubts.stdout).toMatch(/^ATTENTION doubts: 1 row in doubt/m)

  await freezeFor(31_000, worker)
  expect(await office.tranche('doctor', '--live', '--json')).toMatchObject({ code: 6, last: { live: false } })
  const frozen = await office.tranche('doctor')
  expect(frozen.code).toBe(6)
  expect(frozen.stdout).toMatch(/^ATTENTION worker: process \d+ .* is silent: its last sign of life was at /m)
  expect(frozen.stdout + frozen.stderr).not.toContain('Everything is in order')
})

test('a gateway that is away is to be looked at while a worker waits for it, and to be fixed where none does', async () => {
  const worker = await office.worker()
  await office.sandbox.close()
  const waiting = await office.tranche('doctor')
  expect(waiting.code).toBe(6)
  expect(waiting.stdout).toMatch(/^ATTENTION gateway of default: .*goes on by itself$/m)
  expect((await office.tranche('doctor', '--live')).code).toBe(0)
  worker.kill('SIGTERM')
  await worker.ended
  const alone = await office.tranche('doctor')
  expect([alone.code, alone.stdout]).toEqual([75, expect.stringMatching(/^FIX {2}gateway of default: /m)])
})

test('a stopped merchant and a paused batch are named with the command that lets them go on', async () => {
  const input = await office.put(
    'captures.csv',
    'reference,amount,request_currency,customer_vault_id\nA,5.00,EUR,40001\nB,6.00,EUR,40002\n',
  )
  const { last } = await office.tranche('submit', input, '--operation', 'CAPTURE', '--json')
  await office.tranche('pause', last.batch, '--reason', 'look first')
  const doctor = await office.tranche('doctor')
  expect(doctor.code).toBe(6)
  expect(doctor.stdout).toContain(`ATTENTION batch ${last.batch}: batch ${last.batch} is paused (look first)`)
  expect(doctor.stdout).toContain(`tranche resume ${last.batch} --reason TEXT`)
})

test('health is good while a worker lives, bad without one, and of the ledger alone where none should run', async () => {
  const worker = await office.worker()
  await until('its heart beats', async () => (await workersNow())[0]?.last_heartbeat !== null)
  const good = await office.tranche('health', '--json')
  expect(good).toMatchObject({ code: 0, last: { healthy: true } })
  expect(good.last.checks.map(({ name, ok }: { name: string; ok: boolean }) => [name, ok])).toEqual([
    ['ledger', true],
    ['disk', true],
    ['worker', true],
  ])
  await freezeFor(31_000, worker)
  const frozen = await office.tranche('health')
  expect([frozen.code, frozen.stdout]).toEqual([1, expect.stringMatching(/^FIX {2}worker: .* is silent/m)])
  worker.kill('SIGKILL')
  await worker.ended
  const none = await office.tranche('health')
  expect([none.code, none.stdout]).toEqual([1, expect.stringMatching(/^FIX {2}worker: no worker is running/m)])
  expect((await office.tranche('health', '--no-worker')).code).toBe(0)
  const absent = await office.trancheWith({ TRANCHE_DATA_DIR: office.path('nowhere') }, 'health', '--json')
  expect(absent).toMatchObject({ code: 1, last: { healthy: false, checks: [{ name: 'ledger', ok: false }] } })
})
