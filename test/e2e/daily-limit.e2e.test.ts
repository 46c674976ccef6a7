// The limit of a day, as a clerk meets it: asked about when a file is handed in, kept while it is sent, raised by whoever may.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refundRow, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
  await office.put('pw', 's3cret-pass\n')
})
afterEach(() => office.close())

/** In which it is about noon, whenever the test runs. */
function noonZone(): string {
  const ahead = 12 - new Date().getUTCHours()
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

async function limitedTo(amount: string): Promise<NodeJS.ProcessEnv> {
  const config = await office.put(
    `limit-${amount}.yaml`,
    `merchants:
  shop: {url: "${office.sandbox.url}", username: shop, password_file: pw, daily_limit: {EUR: "${amount}"}, timezone: ${noonZone()}}
`,
  )
  const none = { TRANCHE_GATEWAY_URL: undefined, TRANCHE_GATEWAY_USERNAME: undefined }
  return { ...none, TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_CONFIG: config }
}

async function fileOf(name: string, amounts: readonly string[], first = 1): Promise<string> {
  const rows: FileRow[] = amounts.map((amount, i) => refundRow(first + i, { amount }))
  office.sandbox.prepare(preparationFor(rows))
  return office.put(name, toCsv(rows))
}

test('a run sends what the limit leaves room for and ends with 6; a raised limit lets the rest go', async () => {
  const input = await fileOf('in.csv', ['60.00', '50.00', '40.00', '30.00'])
  const out = office.path('out.csv')
  const run = ['run', input, '--out', out]
  const ran = await office.trancheWith(await limitedTo('100.00'), ...run)
  expect([ran.code, countsIn(out)], ran.stderr).toEqual([6, { APPROVED: 2, PENDING: 2 }])
  expect(ran.stderr).toMatch(
    /2 rows are not sent: the limit of 100\.00 EUR a day for refunds is reached\. It goes on at /,
  )
  const checked = await office.trancheWith(await limitedTo('100.00'), 'status', '--check')
  expect([checked.code, checked.stdout]).toEqual([6, expect.stringContaining('the limit of 100.00 EUR a day')])
  const again = await office.trancheWith(await limitedTo('100.00'), ...run)
  expect([again.code, countsIn(out)]).toEqual([6, { APPROVED: 2, PENDING: 2 }])
  const worked = await office.trancheWith(await limitedTo('149.99'), 'worker', '--until-idle')
  expect(worked.code, worked.stderr).toBe(6)
  expect(office.sandbox.received()).toBe(3)
  const raised = await office.trancheWith(await limitedTo('180.00'), ...run)
  expect([raised.code, countsIn(out)], raised.stderr).toEqual([0, { APPROVED: 4 }])
})

test('a row above the whole limit is a question with a number; accepted, it is sent alone', async () => {
  const input = await fileOf('in.csv', ['10.00', '100.01'])
  const env = await limitedTo('100.00')
  for (const command of ['check', 'submit', 'run']) {
    const asked = await office.trancheWith(env, command, input)
    expect([command, asked.code]).toEqual([command, 7])
    expect(asked.stdout + asked.stderr).toContain(
      '1 row is above the limit of 100.00 EUR a day for refunds (line 3, the largest 100.01 EUR)',
    )
    expect(asked.stdout + asked.stderr).toContain('--allow-above-limit 1')
  }
  expect((await office.trancheWith(env, 'submit', input, '--allow-above-limit', '2')).code).toBe(7)
  const out = office.path('out.csv')
  const ran = await office.trancheWith(env, 'run', input, '--allow-above-limit', '1', '--out', out)
  expect([ran.code, countsIn(out)], ran.stderr).toEqual([6, { APPROVED: 1, PENDING: 1 }])
  const alone = await fileOf('alone.csv', ['250.00'], 9)
  const other = office.path('other.csv')
  const waits = await office.trancheWith(env, 'run', alone, '--allow-above-limit', '1', '--out', other)
  expect([waits.code, office.sandbox.received()], waits.stderr).toEqual([6, 1])
})

test('one that was accepted leaves at once on a day on which nothing else did', async () => {
  const input = await fileOf('in.csv', ['100.01', '10.00'])
  const out = office.path('out.csv')
  const ran = await office.trancheWith(
    await limitedTo('100.00'),
    'run',
    input,
    '--allow-above-limit',
    '1',
    '--out',
    out,
  )
  expect([ran.code, countsIn(out)], ran.stderr).toEqual([6, { APPROVED: 1, PENDING: 1 }])
})
