// A ledger whose pages were overwritten, as by a failing disk: every command that meets one says so and ends with 1.

import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { type Ended, type Office, openOffice } from '../fixtures/cli.ts'
import { refunds, toCsv } from '../fixtures/files.ts'

const PAGE = 4_096

let office: Office
afterEach(() => office.close())

function overwriteFrom(page: number): void {
  const { size } = statSync(office.ledgerPath)
  const file = openSync(office.ledgerPath, 'r+')
  for (let at = page; at < size / PAGE; at += 1) writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, at * PAGE)
  closeSync(file)
}

function told({ code, stderr }: Ended): void {
  expect([code, stderr]).toEqual([1, expect.stringMatching(/is damaged \(.*tranche adopt --restored --reason TEXT/)])
  expect(stderr).not.toMatch(/^ {4}at |Unexpected failure/m)
}

test('damage that only some rows show is told when they are met, by whatever meets them', async () => {
  office = await openOffice()
  const file = await office.put('refunds.csv', toCsv(refunds(2_000)))
  const batch = (await office.tranche('submit', file)).stdout.trim()
  overwriteFrom(60)
  expect((await office.tranche('doctor')).code).toBe(1)
  told(await office.tranche('results', batch, '--out', office.path('results.csv')))
  told(await office.tranche('history', '2000'))
  told(await office.tranche('run', file, '--out', office.path('out.csv')))
  told(await office.tranche('worker'))
})

test('every command that meets a damaged ledger says so and sends nothing', async () => {
  office = await openOffice()
  const file = await office.put('refunds.csv', toCsv(refunds(300)))
  const { stdout } = await office.tranche('submit', file)
  const batch = stdout.trim()
  const sound = await office.tranche('doctor')
  expect([sound.code, sound.stdout]).toEqual([0, expect.stringMatching(/ok {3}ledger: .*every page can be read/)])
  const received = office.sandbox.received()

  overwriteFrom(4)
  const doctor = await office.tranche('doctor', '--json')
  expect(doctor.code).toBe(1)
  const ledger = doctor.last.findings.find(({ what }: { what: string }) => what === 'ledger')
  expect(ledger).toMatchObject({ ok: false, says: expect.stringMatching(/is damaged .*adopt --restored/) })
  expect(doctor.last.findings.length).toBeGreaterThan(4)

  for (const args of [
    ['status'],
    ['status', batch],
    ['results', batch, '--out', office.path('results.csv')],
    ['history', 'R-1'],
    ['in-doubt', 'list'],
    ['run', file, '--out', office.path('out.csv')],
    ['submit', file],
    ['worker', '--until-idle'],
    ['inbox', office.path('.'), '--once', '--operation', 'REFUND'],
    ['backup', office.path('copy.db')],
  ]) {
    const ended = await office.tranche(...args)
    expect([args[0], ended.code]).toEqual([args[0], 1])
    expect(ended.stderr).toMatch(/damaged/)
    expect(ended.stderr).not.toMatch(/^ {4}at |Unexpected failure/m)
  }
  expect(office.sandbox.received()).toBe(received)
})
