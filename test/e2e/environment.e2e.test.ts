// Which world an account belongs to: said in the configuration, shown wherever money is, and never mixed.

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

const ROWS = refunds(2)

let office: Office
let input: string
beforeEach(async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(ROWS))
  input = await office.put('in.csv', toCsv(ROWS))
})
afterEach(() => office.close())

const as = (environment: string, ...args: readonly string[]) =>
  office.trancheWith({ TRANCHE_ENVIRONMENT: environment }, ...args)

test('a run says once which label the account has now, and shows it on the screen, in the summary and in the report', async () => {
  const [out, report] = [office.path('out.csv'), office.path('out.html')]
  const ran = await as('test', 'run', input, '--out', out, '--report', report)
  expect(ran.code, ran.stderr).toBe(0)
  expect(ran.stderr).toContain('From now on the account of merchant default is test')
  expect(ran.stdout).toContain('Merchant default: TEST (as configured)')
  expect(readFileSync(office.path('out.summary.csv'), 'utf8')).toContain(',ENVIRONMENT,,test,')
  expect(readFileSync(report, 'utf8')).toContain('<strong>TEST</strong>')
  const later = await office.put('later.csv', toCsv([refundRow(9)]))
  const again = await as('test', 'submit', later)
  expect([again.code, again.stderr.includes('From now on')]).toEqual([0, false])
  expect((await office.tranche('status', again.stdout.trim(), '--json')).last.environment).toBe('test')
  expect((await office.tranche('log')).stdout).toContain('environment')
})

test('an account that was used as live is refused as test by every command that leads to sending', async () => {
  expect((await as('live', 'submit', input)).code).toBe(0)
  for (const args of [
    ['check', input],
    ['submit', input],
    ['run', input],
    ['worker', '--until-idle'],
    ['serve', '--port', '0'],
  ]) {
    const refused = await as('test', ...args)
    expect([args[0], refused.code]).toEqual([args[0], 2])
    expect(refused.stderr).toMatch(/Merchant .+default.+ is live in this ledger and test in the configuration/)
  }
  expect(office.sandbox.received()).toBe(0)
})

test('a wrong label is put right with a reason, while nothing was sent', async () => {
  expect((await as('test', 'submit', input)).code).toBe(0)
  const adopt = ['adopt', '--environment', 'default', '--reason', 'a slip', '--yes']
  expect((await as('live', ...adopt)).stdout + (await office.tranche('log')).stdout).toContain('test → live: a slip')
  expect((await as('live', 'run', input)).code).toBe(0)
  const refused = await as('test', ...adopt)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Something was sent')])
})

test('doctor asks for a label that is missing', async () => {
  expect((await office.tranche('doctor')).stdout).toContain('WARN environment: default: nothing says whether')
  expect((await as('live', 'doctor')).stdout).not.toContain('nothing says whether')
})

test('a rehearsal is SANDBOX, whatever the label', async () => {
  const ran = await as('live', 'run', input, '--sandbox')
  expect([ran.code, ran.stdout.includes('LIVE')]).toEqual([0, false])
})
