// Ledgers that were put back or removed, where an integration test shows the same of the ledger alone.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { booksOf, compareBooks } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { approved, copy, statesOf, submitted, useOffices } from './copying.ts'

const open = useOffices()

test('a restored state retries no row that was retried in what was lost until a person looks', async () => {
  const office = await open()
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  office.sandbox.addFault({ kind: '400', match: { any: true }, times: 2 })
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  expect((await office.tranche('run', input, '--out', out)).code).toBe(3)
  const kept = office.path('kept.db')
  expect((await office.tranche('backup', kept)).code).toBe(0)
  const retry = (name: string, ...more: readonly string[]) =>
    office.tranche('run', out, '--retry', 'failed', '--out', office.path(name), ...more)
  expect((await retry('first.csv')).code).toBe(0)
  expect(office.sandbox.log()).toHaveLength(2)
  for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
  copy(kept, office.ledgerPath)

  const adopted = await office.tranche('adopt', '--restored', '--reason', 'disk failed', '--json')
  expect(adopted.last).toMatchObject({ in_doubt: 0 })
  expect(adopted.stderr).toContain('Rows that were FAILED, CANCELLED or INVALID in it may have run again since')
  expect(adopted.stderr).toContain(`from then until ${adopted.last.lost_until}`)
  const asked = await retry('second.csv')
  expect([asked.code, office.sandbox.log().length]).toEqual([7, 2])
  expect(asked.stderr).toContain('may have run again in the record that was lost')
  expect(asked.stderr).toContain('Look them up at the gateway')
  expect((await retry('second.csv', '--allow-lookalikes', '2')).code).toBe(0)
})

test('no command opens a backup over the log of a killed worker, and both stay as they are', async () => {
  const office = await open({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input } = await submitted(office, 60)
  const backup = office.path('backup.db')
  expect((await office.tranche('backup', backup)).code).toBe(0)
  const first = await office.worker()
  await until('the batch is under way', () => approved(office) >= 10, first)
  first.kill('SIGKILL')
  await first.ended
  const sent = office.sandbox.log().length
  const lost = office.path('lost.db')
  copy(office.ledgerPath, lost)
  copy(backup, office.ledgerPath)
  const log = `${office.ledgerPath}-wal`
  const bytes = [office.ledgerPath, log].map((path) => readFileSync(path))

  for (const args of [
    ['status'],
    ['run', input, '--out', office.path('out.csv')],
    ['adopt', '--moved', '--reason', 'x'],
  ]) {
    const refused = await office.tranche(...args)
    expect([refused.code, refused.stderr], args[0]).toEqual([6, expect.stringContaining('they would be mixed')])
  }
  expect([office.ledgerPath, log].map((path) => readFileSync(path))).toEqual(bytes)

  copy(lost, office.ledgerPath) // the other way out: the ledger with its log is whole again
  const last = await office.tranche('worker', '--until-idle')
  expect(last.code, last.stderr).toBe(statesOf(office).includes('IN_DOUBT') ? 5 : 0) // the kill may fall between two rows
  expect(office.sandbox.log().length).toBeGreaterThan(sent)
  expect(compareBooks(booksOf(office))).toEqual([])
})

test('a ledger that is removed under an idle worker ends it, and no new one is made', async () => {
  const office = await open()
  const { input } = await submitted(office, 2)
  const working = await office.worker()
  await until('all is settled', () => approved(office) === 2, working)
  rmSync(office.ledgerPath)
  const ended = await working.ended
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('No request was open.')])

  for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
  const ran = await office.tranche('run', input, '--out', office.path('out.csv'))
  expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('but there was one')])
  const made = await office.tranche('init')
  expect([made.code, made.stderr]).toEqual([2, expect.stringContaining('No new one was made')])
  expect(existsSync(office.ledgerPath)).toBe(false)
  expect(office.sandbox.received()).toBe(2)
})
