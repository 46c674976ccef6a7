// A file with bad rows: what is said of them, the file to mend, and the mended file handed in again.

import { readFile, writeFile } from 'node:fs/promises'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

async function fileOf(rows: readonly FileRow[], name = 'in.csv'): Promise<string> {
  return office.put(name, toCsv(rows))
}

const recordsOf = async (path: string): Promise<Record<string, string>[]> =>
  parse(await readFile(path), { bom: true, columns: true })

const batches = async () => (await office.tranche('status', '--json')).last.batches as unknown[]

test('bad rows are left out, mended in the file of rejects, and handed in like any other', async () => {
  const rows = [
    ...refunds(3),
    refundRow(4, { amount: '4.001', note: '=1+1' }),
    refundRow(5, { request_ref_po_id: '', amount: '5..1', note: "'tis" }),
  ]
  office.sandbox.prepare(preparationFor(refunds(5)))
  const input = await fileOf(rows)
  const bad = office.path('bad.csv')
  const out = office.path('out.csv')
  const ran = await office.tranche('run', input, '--out', out, '--skip-invalid', '--rejects', bad)
  expect(ran.code, ran.stderr).toBe(3)
  expect(ran.stderr).toContain(`Rejects: ${bad}: 2 rows`)
  expect(ran.stderr).toContain(`tranche check ${bad} --decimal .`)
  expect(countsIn(out)).toEqual({ APPROVED: 3, INVALID: 2 })

  const rejects = await recordsOf(bad)
  expect(rejects).toMatchObject([
    { reference: 'R-4', amount: '4.001', note: "'=1+1", reject_line: '5', reject_row: '4', reject_column: 'amount' },
    { reference: 'R-5', note: "'tis", reject_column: 'amount; request_ref_po_id' },
  ])
  const mended = rejects.map((row, i) => ({ ...row, ...refundRow(4 + i), note: row.note }))
  await writeFile(bad, `\uFEFF${stringify(mended, { header: true })}`)

  const again = office.path('again.csv')
  const mendedRun = await office.tranche('run', bad, '--out', again)
  expect(mendedRun.code, mendedRun.stderr).toBe(0)
  const results = await recordsOf(again)
  expect(results).toMatchObject([
    { reference: 'R-4', note: "'=1+1", result_status: 'APPROVED', result_reference: 'R-4' },
    { reference: 'R-5', note: "'tis", result_status: 'APPROVED', result_reference: 'R-5' },
  ])
  expect(Object.keys(results[0] as object).filter((name) => name.startsWith('reject_'))).toEqual([])
  expect(office.sandbox.received()).toBe(5)
})

test('rows without references keep theirs through the file of rejects and are sent once', async () => {
  const rows = [refundRow(1, { amount: 'x' }), refundRow(2, { amount: 'y' }), refundRow(3)]
  office.sandbox.prepare(preparationFor(refunds(3)))
  const input = await fileOf(rows.map((row) => ({ ...row, reference: '' })))
  const bad = office.path('bad.csv')
  const options = ['--skip-invalid', '--run-key', '2026-12']
  const ran = await office.tranche('run', input, '--out', office.path('out.csv'), ...options, '--rejects', bad)
  expect(ran.code, ran.stderr).toBe(3)
  const rejects = await recordsOf(bad)
  const half = rejects.map((row, i) => (i === 0 ? { ...row, amount: '1.01' } : row))
  await writeFile(bad, stringify(half, { header: true }))
  const once = await office.tranche('run', bad, '--out', office.path('once.csv'), ...options)
  expect(once.code, once.stderr).toBe(3)
  await writeFile(
    bad,
    stringify(
      half.map((row, i) => (i === 1 ? { ...row, amount: '2.01' } : row)),
      { header: true },
    ),
  )
  const twice = await office.tranche('run', bad, '--out', office.path('twice.csv'), ...options)
  expect(twice.code, twice.stderr).toBe(0)
  expect(countsIn(office.path('twice.csv'))).toEqual({ DUPLICATE: 1, APPROVED: 1 })
  expect(office.sandbox.received()).toBe(3)
  const [first] = await recordsOf(office.path('twice.csv'))
  expect(first?.result_reference).toBe(`2026-12/${rejects[0]?.reference}`)
})

test('4000 rows with one trouble are one line, and JSON has the first 1000 of them', async () => {
  const input = await fileOf(refunds(4000).map((row) => ({ ...row, request_currency: '' })))
  const checked = await office.tranche('check', input)
  expect(checked.code).toBe(7)
  expect(checked.stdout).toContain('4000 rows (lines 2–4001), request_currency: is empty')
  expect(checked.stdout.split('\n').length).toBeLessThan(6)
  const { last } = await office.tranche('check', input, '--json')
  expect(last.faults).toHaveLength(1000)
  expect(last.faults_total).toBe(4000)
})

test('different troubles fill a screen; the rest is counted, with the command that shows them', async () => {
  const troubles: readonly Partial<FileRow>[] = [
    ...['x', '+1', '1.001', '', '0.00', '1e5', '9'.repeat(20)].map((amount) => ({ amount })),
    ...['EURO', ''].map((currency) => ({ request_currency: currency })),
    ...['x', '', '=1', '7.23457E+12'].map((id) => ({ request_ref_po_id: id })),
    ...['soon', '2026-01-31T09:00:00'].map((executeAt) => ({ execute_at: executeAt })),
  ]
  const rows = refunds(5 * troubles.length).map((row, i) => ({ ...row, ...troubles[i % troubles.length] }))
  const input = await fileOf(rows)
  const checked = await office.tranche('check', input)
  expect(checked.code).toBe(7)
  const lines = checked.stdout.split('\n')
  expect(lines.filter((line) => /^(line \d|\d+ rows \()/.test(line))).toHaveLength(50)
  const more = lines.find((line) => line.startsWith('… and '))
  const { last } = await office.tranche('check', input, '--json')
  expect(more).toBe(
    `… and ${last.faults_total - 50} more errors; all of them, with the same options: tranche check ${input} --rejects ${office.path('in.rejects.csv')}`,
  )
})

test('a refused file leaves its rejects; a right one empties them; neither records anything', async () => {
  const bad = office.path('bad.csv')
  const wrong = await fileOf([...refunds(2), refundRow(3, { amount: 'x' })], 'wrong.csv')
  for (const command of [
    ['check', wrong],
    ['submit', wrong],
    ['run', wrong, '--out', office.path('out.csv')],
  ]) {
    const ended = await office.tranche(...command, '--rejects', bad)
    expect(ended.code, ended.stderr).toBe(7)
    expect(ended.stderr).toMatch(/Rejects: .*bad\.csv.*: 1 row/)
    expect(ended.stderr).toContain('The other 2 rows of the file are not sent either')
    expect(await recordsOf(bad)).toMatchObject([{ reference: 'R-3' }])
  }
  expect(await batches()).toEqual([])
  const right = await fileOf(refunds(2), 'right.csv')
  const submitted = await office.tranche('submit', right, '--rejects', bad, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  expect(submitted.stderr).toContain('has only its column names now')
  expect(submitted.stderr).not.toContain('not sent')
  expect(submitted.last).toMatchObject({ rejects: bad, rejects_rows: 0 })
  expect(await recordsOf(bad)).toEqual([])
  const known = await office.tranche('submit', right, '--rejects', bad)
  expect(known.stderr).toContain('its rejects were not written again')
})

test('of a file without bad rows nothing is said to be held back, at any door', async () => {
  office.sandbox.prepare(preparationFor(refunds(4)))
  const bad = office.path('bad.csv')
  const right = await fileOf(refunds(2), 'right.csv')
  const out = office.path('out.csv')
  for (const command of [
    ['run', right, '--sandbox', '--out', office.path('out.SANDBOX.csv')],
    ['check', right],
    ['run', right, '--out', out],
  ]) {
    const ended = await office.tranche(...command, '--rejects', bad)
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stderr).toContain('No row is bad')
    expect(ended.stderr).not.toContain('not sent either')
  }
  const mixed = await fileOf([...refunds(3), refundRow(4, { amount: 'x' })], 'mixed.csv')
  const checked = await office.tranche('check', mixed, '--rejects', bad)
  expect(checked.stderr, 'two of the rows were sent before').toContain('The other 1 row of the file is not sent either')
})

test('a file that is no table leaves the one line that says why', async () => {
  const input = await office.put('broken.csv', 'reference,amount\nR-1\n')
  const bad = office.path('bad.csv')
  const ended = await office.tranche(
    'run',
    input,
    '--operation',
    'CANCEL',
    '--out',
    office.path('o.csv'),
    '--rejects',
    bad,
  )
  expect(ended.code, ended.stderr).toBe(7)
  const broken = await office.put('cells.csv', `${toCsv(refunds(1))}R-2,REFUND\n`)
  expect((await office.tranche('check', broken, '--rejects', bad, '--json')).last).toMatchObject({ rejects_rows: 1 })
  expect(await recordsOf(bad)).toMatchObject([
    { reject_line: '3', reject_error: 'the row has 2 cells and the header 9' },
  ])
})

test('where the rejects must not go, nothing else happens', async () => {
  const input = await fileOf([refundRow(1, { amount: 'x' })])
  const letter = await office.put('letter.csv', 'dear,sir\n')
  const out = office.path('out.csv')
  for (const rejects of [input, letter, out, office.path('nowhere/bad.csv')]) {
    const ended = await office.tranche('run', input, '--out', out, '--skip-invalid', '--rejects', rejects)
    expect(ended.code, ended.stderr).toBe(2)
    expect(ended.stderr).toContain('othing was')
  }
  expect(await readFile(letter, 'utf8')).toBe('dear,sir\n')
  expect(await batches()).toEqual([])
})

test('a check shows what is held against a list: sums, extremes, and the whole file', async () => {
  const rows = [...refunds(3), refundRow(4, { request_currency: 'USD', execute_at: 'soon' })]
  const input = await fileOf(rows)
  const declared = ['--skip-invalid', '--expect-count', '4', '--expect-total', 'EUR=6.03']
  const checked = await office.tranche('check', input, ...declared)
  expect(checked.code, checked.stdout).toBe(7)
  expect(checked.stdout).toContain('REFUND  3 rows  6.03  EUR  smallest 1.01 (line 2)  largest 3.01 (line 4)')
  expect(checked.stdout).toContain('The whole file as read: 4 rows, 6.03 EUR in 3 rows, 4.01 USD in 1 row')
  expect(checked.stdout).toContain('The file also asks for USD=4.01, in 1 row')
  const whole = await office.tranche('check', input, ...declared, '--expect-total', 'USD=4.01', '--json')
  expect(whole.code).toBe(0)
  expect(whole.last).toMatchObject({
    ok: true,
    amounts_unread: 0,
    extents: [
      {
        ...{ operation: 'REFUND', currency: 'EUR' },
        ...{ smallest: { line: 2, amount: '1.01' }, largest: { line: 4, amount: '3.01' } },
      },
    ],
  })
  const twice = await office.tranche('check', input, '--expect-total', 'EUR=1', '--expect-total', 'eur=2')
  expect(twice.code).toBe(2)
  expect(twice.stderr).toContain('given twice for EUR')
})

test('a total that cannot be known is not met, and nothing is recorded', async () => {
  const input = await fileOf([...refunds(2), refundRow(3, { amount: '' })])
  const submitted = await office.tranche('submit', input, '--skip-invalid', '--expect-total', 'EUR=3.02')
  expect(submitted.code, submitted.stderr).toBe(7)
  expect(submitted.stderr).toContain(
    'What the file adds up to is not known: 1 row has an amount that cannot be read. The others add up to EUR=3.02',
  )
  expect(await batches()).toEqual([])
})
