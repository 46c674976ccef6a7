// Workbooks in, workbooks and JSON lines out: the same batch, whatever the form, and nothing sent for what does not fit.

import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { readSheet } from 'read-excel-file/node'
import { afterEach, expect, test } from 'vitest'
import writeXlsxFile from 'write-excel-file/node'
import { countsIn, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { partsOf, rowOf, zip } from '../ingest/sheets.ts'

let office: Office
afterEach(() => office.close())

test('a workbook of refunds runs into a workbook of results, which fed back sends nothing', async () => {
  office = await openOffice()
  const rows = [...refunds(4), refundRow(5, { amount: '5.02' })]
  office.sandbox.prepare(preparationFor(rows))
  const names = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id'] as const
  const sheet = [[...names], ...rows.map((row) => names.map((name) => row[name] ?? ''))]
  const cells = sheet.map((list, i) =>
    list.map((value, column) =>
      i > 0 && column === 2 ? { value: Number(value), type: Number } : { value, type: String },
    ),
  )
  const input = office.path('in.xlsx')
  await writeFile(input, await writeXlsxFile(cells, { sheet: 'Refunds' }).toBuffer())
  const [out, look] = [office.path('out.xlsx'), office.path('look.csv')]
  const ran = await office.tranche('run', input, '--out', out, '--exceptions', look, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  expect(ran.last).toMatchObject({ results: out, summary: `${out}.summary.csv`, exceptions: look, exception_rows: 1 })
  const [header = [], ...lines] = await readSheet(out, 'Results')
  const status = header.indexOf('result_status')
  expect(lines.map((line) => line[status])).toEqual([...Array(4).fill('APPROVED'), 'DECLINED'])
  expect(countsIn(look)).toEqual({ DECLINED: 1 })

  const onceMore = await office.tranche('run', input, '--out', out, '--exceptions', look, '--json') // cron fired twice
  expect(onceMore.code, onceMore.stderr).toBe(3)
  expect(onceMore.last.batch).toBe(ran.last.batch)
  for (const fedBack of [out, look]) {
    const checked = await office.tranche('check', fedBack, '--json')
    expect(checked.code, checked.stderr).toBe(0)
    expect(checked.last).toMatchObject({ accepted: 0, duplicate: fedBack === out ? 5 : 1, invalid: 0 })
  }
  expect(office.sandbox.received()).toBe(5)
})

test('rows that a filter hides are sent only where their number is said, on the command line and through an inbox', async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(refunds(3)))
  const names = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id'] as const
  const [first = '', ...others] = refunds(3).map((row, i) =>
    rowOf(
      i + 2,
      names.map((name) => row[name] ?? ''),
      i === 1 ? ' hidden="1"' : '',
    ),
  )
  const book = zip(partsOf({ Refunds: rowOf(1, names) + first + others.join('') }))
  const input = office.path('in.xlsx')
  await writeFile(input, book)
  const checked = await office.tranche('check', input)
  expect([checked.code, checked.stderr + checked.stdout]).toEqual([7, expect.stringContaining('--allow-hidden 1')])
  expect((await office.tranche('run', input)).code).toBe(7)

  await mkdir(office.path('inbox'))
  await writeFile(office.path('inbox/in.xlsx'), book)
  const inbox = (...args: readonly string[]) => office.tranche('inbox', office.path('inbox'), '--once', ...args)
  expect((await inbox('--allow-hidden', '1')).stderr).toContain('is meant for one file')
  expect((await inbox()).code).toBe(7)
  expect(await readdir(office.path('inbox/rejected'))).toContainEqual(expect.stringContaining('in.xlsx'))
  expect(office.sandbox.received()).toBe(0)

  expect((await office.tranche('run', input, '--allow-hidden', '1')).code).toBe(0)
  expect(office.sandbox.received()).toBe(3)
})

test('extracts by status say that they are, are no reconciliation, and do not take its place', async () => {
  office = await openOffice()
  const rows = [...refunds(3), refundRow(4, { amount: '5.02' })]
  office.sandbox.prepare(preparationFor(rows))
  const [input, out] = [await office.put('in.csv', toCsv(rows)), office.path('out.csv')]
  const { last } = await office.tranche('run', input, '--out', out, '--json')
  const extract = async (...args: readonly string[]) => office.tranche('results', last.batch, ...args)

  const declined = await extract('--only', 'declined,failed', '--out', office.path('declined.jsonl'))
  expect(declined.code, declined.stderr).toBe(0)
  expect(declined.stderr).toContain('1 row of 4 with status DECLINED, FAILED. An extract')
  const [line] = (await readFile(office.path('declined.jsonl'), 'utf8')).trim().split('\n')
  expect(JSON.parse(line ?? '')).toMatchObject({ input: { reference: 'R-4' }, result: { result_status: 'DECLINED' } })
  expect(readFileSync(office.path('declined.jsonl.summary.csv'), 'utf8')).toContain('EXTRACT,,DECLINED FAILED,4')

  const asWritten = await extract('--only', 'DECLINED', '--out', office.path('as-written.csv'))
  expect(asWritten.code, asWritten.stderr).toBe(0)
  const sheet = await extract('--out', office.path('out.ods'))
  expect([sheet.code, sheet.stderr]).toEqual([2, expect.stringContaining('no .ods file can be written')])

  const over = await extract('--only', 'declined', '--out', out)
  expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('the whole reconciliation')])
  expect(readCsv(out)).toHaveLength(4)
  const swapped = await extract('--out', office.path('look.csv'), '--exceptions', out)
  expect([swapped.code, swapped.stderr]).toEqual([2, expect.stringContaining('the whole reconciliation')])
  const swappedRun = await office.tranche('run', input, '--out', office.path('look.csv'), '--exceptions', out)
  expect([swappedRun.code, swappedRun.stderr]).toEqual([2, expect.stringContaining('will not be written over')])
  expect(readCsv(out)).toHaveLength(4)
  const unknown = await extract('--only', 'DECLINED,lost', '--out', office.path('x.csv'))
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('approved,declined,failed,in_doubt')])
  const both = await extract('--only', 'declined', '--out', office.path('x.csv'), '--exceptions', office.path('y.csv'))
  expect(both.code).toBe(2)

  const status = await office.tranche('status', last.batch, '--json')
  expect(status.last.results).toBe(out)

  const none = await extract('--out', office.path('again.csv'), '--exceptions', office.path('look.csv'))
  expect(none.stdout).toContain('look.csv (1 row needs a look)')
})

test('results that would not fit, or a foreign exceptions file, stop a run before it records', async () => {
  office = await openOffice()
  const many = `operation,currency,order_id,amount\n${'CANCEL,,1,\n'.repeat(200_001)}`
  const input = await office.put('many.csv', many)
  const tooMany = await office.tranche('run', input, '--out', office.path('out.xlsx'))
  expect([tooMany.code, tooMany.stderr]).toEqual([2, expect.stringContaining('write CSV')])

  const few = await office.put('few.csv', toCsv(refunds(2)))
  const mine = await office.put('mine.csv', 'mine')
  const foreign = await office.tranche('run', few, '--out', office.path('out.csv'), '--exceptions', mine)
  expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining('not a result of this program')])
  const status = await office.tranche('status', '--json')
  expect(status.stdout).not.toContain('"batch":"')
  expect(office.sandbox.received()).toBe(0)
})

test('the sheet that is named is part of what a file means', async () => {
  office = await openOffice()
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  const names = ['reference', 'transaction_type', 'amount', 'request_currency', 'request_ref_po_id'] as const
  const sheetOf = (row: (typeof rows)[number]) => [[...names], names.map((name) => row[name] ?? '')]
  const input = office.path('in.xlsx')
  const sheets = rows.map((row, i) => ({
    data: sheetOf(row).map((cells) => cells.map((value) => ({ value, type: String }))),
    sheet: `S${i + 1}`,
  }))
  await writeFile(input, await writeXlsxFile(sheets).toBuffer())
  const unnamed = await office.tranche('check', input)
  expect([unnamed.code, unnamed.stderr]).toEqual([7, expect.stringContaining('"S1", "S2"')])
  const submitted = await office.tranche('submit', input, '--sheet', 'S2', '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  const other = await office.tranche('submit', input, '--sheet', 'S1')
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('--sheet S2')])
  // The results of one sheet do not say that the other was executed.
  const out = office.path('out.csv')
  const run = (sheet: string, to = out) => office.tranche('run', input, '--sheet', sheet, '--out', to)
  expect((await run('S2')).code).toBe(0)
  expect((await run('S2')).code).toBe(0)
  const same = await run('S1')
  expect([same.code, same.stderr]).toEqual([2, expect.stringContaining('holds the results of batch')])
  expect((await run('S1', office.path('other.csv'))).code).toBe(0)
  expect(office.sandbox.received()).toBe(2)
})
