// Whether the worker lives, as the record tells it to whoever asks.

import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const workersNow = async () => (await office.tranche('status', '--json')).last.workers

/** As if the worker had stood still for that long. */
function age(ms: number): void {
  const db = new DatabaseSync(office.ledgerPath)
  db.prepare('UPDATE heartbeat SET beat_at = beat_at - ?').run(ms)
  db.close()
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
  const worker = await office.worker()
  await until('its heart beats', async () => (await workersNow())[0]?.last_heartbeat !== null)
  const [alive] = await workersNow()
  expect(alive).toMatchObject({ id: expect.stringMatching(`:${worker.pid}$`), pid: worker.pid, state: 'idle' })
  expect(alive.host.length).toBeGreaterThan(0)
  expect(Math.abs(Date.parse(alive.since) - Date.now())).toBeLessThan(60_000)
  await worker.freeze()
  age(31_000)
  await ageLock(31_000)
  expect(await workersNow()).toMatchObject([{ pid: worker.pid, state: 'silent' }])
  worker.kill('SIGKILL')
  await worker.ended
  expect(await workersNow()).toEqual([])
})
