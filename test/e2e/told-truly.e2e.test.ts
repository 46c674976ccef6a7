// What a command says of a batch that is over, held twice, or worked off by another run.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '2' } })
})
afterEach(() => office.close())

test('a batch that is done cannot be paused, and says that it is done', async () => {
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  const ran = await office.tranche(
    'run',
    await office.put('a.csv', toCsv(rows)),
    '--out',
    office.path('out.csv'),
    '--json',
  )
  const paused = await office.tranche('pause', ran.last.batch, '--reason', 'look')
  expect([paused.code, paused.stderr]).toEqual([
    2,
    expect.stringContaining(`Batch ${ran.last.batch} is done: every row is settled`),
  ])
})

test('a paused batch with a doubt tells of both', async () => {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  office.sandbox.addFault({ kind: 'reset-after', match: { any: true }, times: 1 })
  const input = await office.put('a.csv', toCsv(rows))
  const ran = await office.tranche('run', input, '--out', office.path('out.csv'), '--canary', '1', '--json')
  const { stdout } = await office.tranche('status', ran.last.batch)
  expect(stdout).toMatch(/: paused \(the first row was run as a canary/)
  expect(stdout).toContain('1 row is in doubt as well: look it up at the gateway (tranche in-doubt list)')
})

test('a second run of the same file says that another run is working on its batch', async () => {
  const rows = refunds(150)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('a.csv', toCsv(rows))
  const first = office.start('run', input, '--out', office.path('out.csv'), '--json')
  const workers = async () => (await office.tranche('status', '--json')).last.workers
  await until('the first works on it', async () => (await workers())[0]?.batch !== undefined, first)
  const second = await office.tranche('run', input, '--out', office.path('out.csv'))
  expect([second.code, second.stderr]).toEqual([
    0,
    expect.stringContaining('Another run is working on this batch already.'),
  ])
  expect((await first.ended).code).toBe(0)
})
