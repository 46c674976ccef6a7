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
  const ofTests = toCsv(ROWS)
    .replaceAll(/\r?\n(?=.)/g, ',test\n')
    .replace(',test\n', ',environment\n')
  const labelled = await office.put('labelled.csv', `${ofTests.trimEnd()},test\n`)
  expect((await office.tranche('check', labelled)).code).toBe(0)
  expect(await as('live', 'check', labelled)).toMatchObject({
    ...{ code: 7, stderr: expect.stringContaining('rows are for tests, and the account is live') },
  })
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

test('one account under another name and address is refused by every command that leads to sending, until it is adopted', async () => {
  expect((await office.tranche('run', input)).code).toBe(0)
  const merchant = {
    ...{ url: office.sandbox.url.replace('127.0.0.1', 'localhost'), username: 'shop' },
    password_file: await office.put('pw', 's3cret-pass'),
  }
  const configured = async (name: string, more = {}) => ({
    ...{ TRANCHE_GATEWAY_URL: undefined, TRANCHE_GATEWAY_USERNAME: undefined, TRANCHE_GATEWAY_PASSWORD: undefined },
    TRANCHE_CONFIG: await office.put('c.yaml', JSON.stringify({ merchants: { [name]: { ...merchant, ...more } } })),
  })
  const shop = await configured('shop')
  for (const args of [
    ['check', input],
    ['run', input],
    ['worker', '--until-idle'],
  ]) {
    const refused = await office.trancheWith(shop, ...args, ...(args[0] === 'worker' ? [] : ['--merchant', 'shop']))
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /knows that user name as merchant .*default.*tranche adopt --merchant default .*own_account/,
      ),
    ])
  }
  expect(office.sandbox.received()).toBe(2)
  const own = await configured('shop', { own_account: true })
  expect((await office.trancheWith(own, 'check', input, '--merchant', 'shop')).code).toBe(0)
  const adopted = await configured('default')
  const adopt = ['adopt', '--merchant', 'default', '--reason', 'a new address', '--yes']
  expect((await office.trancheWith(adopted, ...adopt)).code).toBe(0)
  expect((await office.trancheWith(adopted, 'run', input)).stderr).toMatch(/recorded before|already/)
  expect(office.sandbox.received()).toBe(2)
})

test('doctor asks for a label that is missing', async () => {
  expect((await office.tranche('doctor')).stdout).toContain('WARN environment: default: nothing says whether')
  expect((await as('live', 'doctor')).stdout).not.toContain('nothing says whether')
})

test('a rehearsal is SANDBOX, whatever the label', async () => {
  const ran = await as('live', 'run', input, '--sandbox')
  expect([ran.code, ran.stdout.includes('LIVE')]).toEqual([0, false])
})

test('a variable that nothing reads is warned of by whatever is to send', async () => {
  for (const args of [
    ['run', input],
    ['worker', '--until-idle'],
  ]) {
    const { code, stderr } = await office.trancheWith({ TRANCHE_RTE: '5' }, ...args)
    expect([code, stderr.match(/TRANCHE_RTE .* is no setting/g)?.length], args[0]).toEqual([0, 1])
  }
})

test('doctor finds the account that every start would refuse', async () => {
  expect((await office.tranche('run', input)).code).toBe(0)
  expect((await office.tranche('doctor')).stdout).not.toMatch(/^FIX/m)
  const other = { TRANCHE_GATEWAY_USERNAME: 'another' }
  expect((await office.trancheWith(other, 'run', input)).code).toBe(2)
  const found = await office.trancheWith(other, 'doctor')
  expect([found.code, found.stdout]).toEqual([
    2,
    expect.stringMatching(/^FIX {2}account of default: .* was s… at .* now/m),
  ])
})
