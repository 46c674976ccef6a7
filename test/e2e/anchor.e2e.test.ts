// The end of the record leaves the machine with results and backups: a record that was made again later does not have it.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { readCsv } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

async function runOnce(at: Office): Promise<string> {
  const rows = refunds(2)
  at.sandbox.prepare(preparationFor(rows))
  const ran = await at.tranche('run', await at.put('in.csv', toCsv(rows)), '--out', at.path('out.csv'))
  expect(ran.code, ran.stderr).toBe(0)
  const heads = new Set(readCsv(at.path('out.summary.csv')).map((line) => line.audit_head))
  expect(heads.size).toBe(1)
  return [...heads][0] ?? ''
}

test('the summary of results has a head that the record proves, and that no record made again has', async () => {
  const head = await runOnce(office)
  expect((await office.tranche('audit', 'verify', '--anchor', head)).code).toBe(0)

  const elsewhere = await openOffice()
  try {
    await runOnce(elsewhere)
    expect((await elsewhere.tranche('audit', 'verify')).code).toBe(0)
    const verified = await elsewhere.tranche('audit', 'verify', '--anchor', head, '--json')
    expect(verified.code, verified.stderr).toBe(1)
    expect(verified.last).toMatchObject({ ok: false, anchor: head })
  } finally {
    await elsewhere.close()
  }
})

test('a backup tells a head that it holds itself', async () => {
  await runOnce(office)
  const copy = office.path('copy.db')
  const { head } = (await office.tranche('backup', copy, '--json')).last
  const { id, hash } = await lastLinkOf(copy)
  expect(head).toBe(`${id}:${hash}`)
  expect((await office.tranche('audit', 'verify', '--anchor', head)).code).toBe(0)
})

async function lastLinkOf(path: string): Promise<{ id: number; hash: string }> {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('SELECT id, hash FROM chain ORDER BY id DESC LIMIT 1').get() as { id: number; hash: string }
  } finally {
    db.close()
  }
}
