// What comes in by an option, an argument or the name of a file: no card number is kept or repeated, and nothing that a
// terminal would obey reaches one.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ended, type Office, openOffice } from '../fixtures/cli.ts'

const PAN = '4111111111111111'
const FILE = 'reference,transaction_type,amount,request_currency,request_ref_po_id\nR-1,REFUND,1.00,EUR,1000001\n'
/** Red, a title for the window, the clipboard, the other way round, a line that is none. */
const ESCAPES = '\x1b[31m\x1b]0;title\x07\x9b32m\u202eback\u2066\u2028'

let office: Office
let batch: string
beforeAll(async () => {
  office = await openOffice()
  const submitted = await office.tranche('submit', await office.put('refunds.csv', FILE), '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  batch = submitted.last.batch
})
afterAll(() => office.close())

async function keptIn(dir: string, what: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const found = await Promise.all(
    files.map(async (path) => ((await readFile(path, 'latin1')).includes(what) ? path : null)),
  )
  return found.filter((path) => path !== null)
}

function expectNothingTold({ stdout, stderr }: Ended): void {
  expect(stdout).not.toContain(PAN)
  expect(stderr).not.toContain(PAN)
}

describe('card data in an option or argument ends the command with 2 and is kept nowhere', () => {
  test.each<[string, (file: string, batch: string) => string[]]>([
    ['--reason', (_, id) => ['pause', id, '--reason', `card ${PAN} called`]],
    ['--reason of a doubt', () => ['in-doubt', 'resolve', 'R-1', '--found', 'approved', '--reason', `found ${PAN}`]],
    ['--reason with a security code', (_, id) => ['pause', id, '--reason', 'card of Ann, cvv: 123']],
    ['--as, in front', (_, id) => ['--as', `Ann ${PAN}`, 'pause', id, '--reason', 'x']],
    ['--as, behind', (_, id) => ['pause', id, '--reason', 'x', '--as', `Ann ${PAN}`]],
    ['--run-key', (file) => ['submit', file, '--run-key', PAN]],
    ['--sheet', (file) => ['submit', file, '--sheet', PAN]],
    ['--map', (file) => ['submit', file, '--map', `${PAN}=amount`]],
    ['--merchant', (file) => ['submit', file, '--merchant', PAN]],
    ['--format', (file) => ['check', file, '--format', PAN]],
    ['--save-format', (file) => ['check', file, '--save-format', PAN]],
    ['--operation', (file) => ['check', file, '--operation', PAN]],
    ['--expect-total', (file) => ['check', file, '--expect-total', `EUR=1.00 ${PAN}`]],
    ['--rejects', (file) => ['check', file, '--rejects', `${PAN}.csv`]],
    ['--out', (_, id) => ['results', id, '--out', `${PAN}.csv`]],
    ['--exceptions', (_, id) => ['results', id, '--out', 'out.csv', '--exceptions', `${PAN}.csv`]],
    ['a batch', () => ['status', PAN]],
    ['a reference', () => ['history', PAN]],
    ['a merchant of the rate', () => ['rate', PAN, '5/s']],
    ['a backup', () => ['backup', office.path(`${PAN}.db`)]],
  ])('%s', async (name, argsOf) => {
    const ended = await office.tranche(...argsOf(office.path('refunds.csv'), batch), '--json')
    expect(ended.code, ended.stderr).toBe(2)
    expect(ended.stderr).toContain('card number or security code')
    if (name.startsWith('--')) expect(ended.stderr).toContain(name.split(/[ ,]/)[0])
    expectNothingTold(ended)
    expect(await keptIn(office.dir, PAN)).toEqual([])
  })

  test('in what is no option and no command', async () => {
    for (const args of [[PAN], ['status', '--json', `--${PAN}`], ['pause', batch, 'more', PAN, '--reason', 'x']]) {
      const ended = await office.tranche(...args)
      expect(ended.code).toBe(2)
      expectNothingTold(ended)
    }
  })

  test('a transaction id is the digits of the gateway, and is taken whatever they are', async () => {
    const id = ['--transaction', '4111111111111111']
    const ended = await office.tranche('in-doubt', 'resolve', 'R-1', '--found', 'approved', ...id, '--reason', 'found')
    expect(ended.stderr).not.toContain('security code')
  })
})

test('a setting that holds our password is refused without repeating it', async () => {
  const password = office.settings.TRANCHE_GATEWAY_PASSWORD
  const { code, stdout, stderr } = await office.trancheWith({ TRANCHE_RATE: `${password}/s` }, 'worker', '--json')
  expect([code, stderr]).toEqual([2, expect.stringContaining('TRANCHE_RATE')])
  expect(stdout + stderr).not.toContain(password)
})

test('the name of a file is recorded and shown with its card number masked', async () => {
  const path = await office.put(`cards ${PAN}.csv`, FILE.replace('R-1', 'R-masked').replace('1000001', '1000002'))
  const shown = 'cards 4111110000001111.csv'
  const submitted = await office.tranche('submit', path, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  expectNothingTold(submitted)
  const status = await office.tranche('status', submitted.last.batch, '--json')
  expect(status.last.file).toBe(shown)
  const bad = await office.put(`bad ${PAN}.csv`, 'reference\nR-1\n')
  for (const command of ['check', 'submit', 'run']) {
    const out = command === 'run' ? ['--out', office.path('out.csv')] : []
    for (const file of [path, bad, office.path(`none ${PAN}.csv`)]) {
      for (const json of [[], ['--json']]) expectNothingTold(await office.tranche(command, file, ...out, ...json))
    }
  }
  expect(await keptIn(office.dataDir, PAN)).toEqual([])
})

describe('line breaks and control characters are refused in what stands in the history', () => {
  test.each([
    [
      'a line break that would forge a line',
      'looked\n  2026-11-21T10:00:00Z  FAILED → APPROVED (resolve, by auditor@hq)',
    ],
    ['a carriage return', 'a\rb'],
    ['an escape', 'a\x1b[2Kb'],
    ['a control character of eight bits', 'a\x9b2Kb'],
    ['the separator of lines', 'a\u2028b'],
  ])('%s', async (_, text) => {
    const file = office.path('refunds.csv')
    for (const args of [
      ['pause', batch, '--reason', text],
      ['pause', batch, '--reason', 'x', '--as', text],
      ['submit', file, '--run-key', text],
    ]) {
      const ended = await office.tranche(...args)
      expect(ended.code).toBe(2)
      expect(ended.stderr).toMatch(/line break or control character/)
    }
  })
})

/** Anything of it but a line end would be obeyed, or would show another text than there is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OBEYED = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

test('nothing that a terminal obeys is printed, wherever it comes from', async () => {
  const odd = `odd${ESCAPES.replace('/', '')}.csv`
  const path = await office.put(
    odd,
    FILE.replace('R-1', 'R-odd')
      .replace('1000001', '1000003')
      .replace('\n', `,"note${ESCAPES}"\n`)
      .replace(/\n$/, ',x\n'),
  )
  const submitted = await office.tranche('submit', path, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  const id = submitted.last.batch
  const bad = await office.put(`bad${odd}`, `reference,amount${ESCAPES}\nR-1\n`)
  const commands = [
    ...[['status'], ['status', id], ['check', path], ['check', bad], ['check', office.path(`none${odd}`)]],
    ...[
      ['check', path, '--map', `no${ESCAPES}=amount`],
      ['check', path, '--merchant', ESCAPES],
    ],
    ...[
      ['check', path, '--format', ESCAPES],
      ['check', path, '--expect-total', ESCAPES],
      ['status', ESCAPES],
    ],
    ...[['history', ESCAPES], ['results', id, '--out', `/none/${ESCAPES}.csv`], [ESCAPES], ['status', `--${ESCAPES}`]],
    ...[
      ['check', path, '--decimal', ESCAPES],
      ['rate', ESCAPES, '5/s'],
      ['history', 'R-odd'],
    ],
  ]
  for (const args of commands) {
    for (const json of [[], ['--json']]) {
      const { stdout, stderr } = await office.tranche(...args, ...json)
      expect(stdout + stderr, args.join(' ')).not.toMatch(OBEYED)
    }
  }
})

describe('what is said together and cannot hold together is refused, and nothing is done', () => {
  test.each<[string, (batch: string) => string[]]>([
    ['a batch and a merchant to resume', (id) => ['resume', id, '--merchant', 'default', '--reason', 'looked']],
    ['one batch and a merchant to show', (id) => ['status', id, '--merchant', 'default']],
    ['a look for a script that never ends', () => ['status', '--check', '--watch']],
    [
      'a rehearsal and a merchant that is not configured',
      () => ['run', 'in.csv', '--out', 'o.csv', '--sandbox', '--merchant', 'hotel'],
    ],
  ])('%s', async (_, argsOf) => {
    const before = await office.tranche('log', '--json')
    const ended = await office.tranche(...argsOf(batch), '--json')
    expect(ended.code, ended.stderr).toBe(2)
    expect(ended.stderr).toMatch(/merchant|--watch/)
    expect((await office.tranche('log', '--json')).stdout).toBe(before.stdout)
  })

  test('a rehearsal reads the file as the merchant that is named does', async () => {
    await office.put('pw', 's3cret-pass\n')
    const merchant = (name: string, currency: string) =>
      `  ${name}: {url: "https://${name}.example", username: ${name}, password_file: pw, currency: ${currency}}\n`
    const config = await office.put('t.yaml', `merchants:\n${merchant('cafe', 'EUR')}${merchant('hotel', 'USD')}`)
    const file = await office.put('no-currency.csv', FILE.replace(',request_currency', '').replace(',EUR', ''))
    const out = office.path('rehearsed.csv')
    const ran = await office.trancheWith(
      { TRANCHE_CONFIG: config },
      ...['run', file, '--sandbox', '--merchant', 'hotel', '--out', out, '--json'],
    )
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.last.totals).toMatchObject([{ currency: 'USD' }])
  })
})
