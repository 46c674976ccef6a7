// A ledger that was put back as it was before its rows were sent: whoever looks there is told so, before a row that is PENDING passes for unsent.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
let input: string
let batch: string
const [row] = refunds(1)

beforeEach(async () => {
  office = await openOffice()
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  input = await office.put('in.csv', toCsv(rows))
  batch = (await office.tranche('submit', input, '--json')).last.batch as string
  execFileSync('cp', ['-a', office.dataDir, office.path('before')])
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  execFileSync('rm', ['-r', office.dataDir])
  execFileSync('mv', [office.path('before'), office.dataDir])
})
afterEach(() => office.close())

test('every command that reads it says so on stderr', async () => {
  const commands = [
    ['find', row!.reference],
    ['history', row!.reference],
    ['in-doubt', 'list'],
    ['log'],
    ['backup', office.path('backup.db')],
    ['check', input],
    ['rate'],
    ['audit', 'verify'],
    ['messages', 'failed'],
    ['policy', 'show'],
    ['people', 'list'],
    ['keys', 'list'],
    ['events'],
    ['results', batch, '--out', office.path('out.csv')],
  ]
  for (const args of commands) {
    const { code, stderr } = await office.tranche(...args)
    expect([code, stderr], args.join(' ')).toEqual([0, expect.stringContaining('may not be the one that sent last')])
  }
})

test('results mark their summary, and what is PENDING there', async () => {
  const out = office.path('out.csv')
  const { stderr } = await office.tranche('results', batch, '--out', out)
  expect(stderr).toContain('2 rows have no outcome yet and are listed as PENDING. This ledger may be an older state')
  expect(readFileSync(office.path('out.summary.csv'), 'utf8')).toMatch(/,LEDGER,,may be an older state: PENDING rows/)
})

test('nobody is told to start what would send nothing', async () => {
  const status = await office.tranche('status', batch)
  expect(status.stdout).toContain('waiting (nothing is sent from this ledger until it is adopted)')
  const ran = await office.tranche('run', input, '--out', office.path('out.csv'))
  expect([ran.code, ran.stderr]).toEqual([6, expect.stringContaining('2 wait to be sent.')])
  expect(status.stdout + status.stderr + ran.stderr).not.toMatch(/Start one|Run the same command again/)
})
