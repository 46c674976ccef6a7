// check --details: what the files hold is what the check says, and they are there whole or not at all.

import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { cardSales } from '../fixtures/cards.ts'
import { type Office, openOffice, type Said } from '../fixtures/cli.ts'
import { refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

async function linesIn(...path: readonly string[]): Promise<Said[]> {
  const text = await readFile(join(...path), 'utf8')
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Said)
}

test('rows, faults and look-alikes tie out with the review', async () => {
  const known = await office.put('known.csv', toCsv(refunds(2)))
  await office.tranche('submit', known)
  const twice = { request_ref_po_id: '5', amount: '3.00' }
  const rows = [
    ...refunds(4),
    refundRow(5, twice),
    refundRow(6, twice),
    refundRow(7, { amount: '4.001', request_ref_po_id: '' }),
    refundRow(8, { note: '\u202e=1+1' }),
  ]
  const input = await office.put('in.csv', toCsv(rows))
  const details = office.path('details')
  const { last, code, stderr } = await office.tranche('check', input, '--json', '--details', details)
  expect(code, stderr).toBe(7)
  expect((await readdir(details)).toSorted()).toEqual(['faults.jsonl', 'lookalikes.jsonl', 'rows.jsonl'])

  const [all, faults, lookalikes] = await Promise.all(
    ['rows', 'faults', 'lookalikes'].map((name) => linesIn(details, `${name}.jsonl`)),
  )
  const withStatus = (status: string) => all?.filter((row) => row.status === status) ?? []
  expect(all).toHaveLength(last.rows)
  expect(withStatus('accepted')).toHaveLength(last.accepted)
  expect(withStatus('invalid')).toHaveLength(last.invalid)
  expect(withStatus('duplicate')).toHaveLength(2)
  expect(last.duplicate).toBe(2)
  const cents = withStatus('accepted').reduce((sum, row) => sum + Math.round(Number(row.amount) * 100), 0)
  expect((cents / 100).toFixed(2)).toBe(last.totals[0].amount)
  expect(faults).toEqual(last.faults)
  expect(faults).toHaveLength(last.faults_total)
  expect(lookalikes).toEqual(last.lookalike_rows)
  expect(lookalikes).toHaveLength(last.lookalikes)
  expect(last).toMatchObject({ details, lookalikes: 1, invalid: 1 })
  expect(all?.at(-1)?.cells).toHaveLength(last.details_columns.length)
  expect(await readFile(join(details, 'rows.jsonl'), 'utf8')).not.toContain('\u202e')
})

test('a folder that is there is left alone, and said before the file is read', async () => {
  const input = await office.put('in.csv', toCsv(refunds(1)))
  const details = office.path('details')
  await mkdir(details)
  const { code, stderr } = await office.tranche('check', input, '--details', details)
  expect([code, await readdir(details)]).toEqual([2, []])
  expect(stderr).toContain('this is there already')
})

test('a file that is no table leaves no folder', async () => {
  const input = await office.put('in.csv', 'just\n"one')
  const details = office.path('details')
  const { code, stderr } = await office.tranche('check', input, '--details', details)
  expect(code).toBe(7)
  expect(stderr).toContain('No row was read')
  expect(await readdir(office.dir)).not.toContain('details')
})

test('a card number is masked in every file', async () => {
  const input = await office.put('cards.csv', cardSales(3))
  const details = office.path('details')
  const { stderr } = await office.tranche('check', input, '--details', details)
  const text = (await Promise.all((await readdir(details)).map((name) => readFile(join(details, name), 'utf8')))).join()
  expect(text, stderr).toContain('411111')
  expect(text).not.toMatch(/\d{13}/)
})
