// Who did what: recorded beside what a person claims, and told by tranche log.

import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test } from 'vitest'
import { query, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice, type Said } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

/** As sudo sets it for what it starts. */
const BY_SUDO = { SUDO_USER: 'alice', SUDO_UID: '4001' }

async function submitted(count = 3): Promise<string> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  const said = await office.tranche('submit', await office.put('in.csv', toCsv(rows)), '--json')
  expect(said.code, said.stderr).toBe(0)
  return said.last.batch as string
}

test('an act under sudo names the person behind it, beside the name that was claimed', async () => {
  office = await openOffice()
  const batch = await submitted()
  const paused = await office.trancheWith(BY_SUDO, '--as', 'Carol', 'pause', batch, '--reason', 'look first')
  expect(paused.code, paused.stderr).toBe(0)

  const [act] = query(office, "SELECT by FROM act WHERE what = 'pause'")
  expect((act as { by: string }).by).toMatch(/^alice@\S+ \(sudo, as \S+\), says "Carol"$/)
})

test('rows that a person cancelled have the parts of who did it in their history', async () => {
  office = await openOffice()
  const batch = await submitted()
  const corrected = await office.tranche('submit', await office.put('more.csv', toCsv(refunds(4))), '--json')
  expect(corrected.last.batch, corrected.stderr).toBeDefined()
  const cancelled = await office.trancheWith(
    BY_SUDO,
    '--as',
    'Carol',
    'cancel',
    batch,
    '--reason',
    'the wrong file',
    '--json',
  )
  expect(cancelled.last).toMatchObject({ cancelled: 3, left_out: [{ batch: corrected.last.batch, rows: 3 }] })
  expect(cancelled.stderr).toContain('left out 3 rows because this one was to send them')
  expect((await office.tranche('status', '--check')).stdout).toContain('left out 3 rows because batch')
  const said = await office.trancheWith(BY_SUDO, 'history', 'R-1', '--json')
  expect(said.last.moves[0]).toMatchObject({ cause: 'recorded', actor: { sudo_user: null, as: null } })
  expect(said.last.moves.at(-2)).toMatchObject({
    cause: 'cancel',
    by: expect.stringMatching(/^alice@/),
    actor: { sudo_user: 'alice', sudo_uid: 4001, as: 'Carol' },
  })
})

test('one row is cancelled by its reference, and a second time changes nothing', async () => {
  office = await openOffice()
  const batch = await submitted()
  const cancel = (...args: readonly string[]) => office.tranche('cancel', ...args, '--reason', 'the customer left')
  expect((await cancel('--reference', 'R-2', '--merchant', 'other')).code).toBe(2)
  expect((await cancel(batch, '--reference', 'R-2')).code).toBe(2)
  const cancelled = await cancel('--reference', 'R-2', '--json')
  expect(cancelled.last).toMatchObject({ reference: 'R-2', batch, row: 2, status: 'CANCELLED' })
  const again = await cancel('--reference', 'R-2')
  expect([again.code, again.stderr]).toEqual([
    0,
    expect.stringContaining(`R-2 (row 2 of batch ${batch}) is cancelled already`),
  ])
  expect(query(office, 'SELECT state FROM instruction ORDER BY row_no')).toMatchObject([
    { state: 'READY' },
    { state: 'CANCELLED' },
    { state: 'READY' },
  ])
  const [act] = query(office, "SELECT reason, batch_id FROM act WHERE what = 'cancel-row'")
  expect(act).toMatchObject({ reason: 'the customer left', batch_id: batch })
})

/** What `tranche log` tells, without what every line has. */
async function logged(...args: readonly string[]): Promise<readonly Said[]> {
  const said = await office.tranche('log', ...args, '--json')
  expect(said.code, said.stderr).toBe(0)
  expect(said.last).toMatchObject({ event: 'result', entries: said.objects.length - 1, exit: 0 })
  return said.objects.slice(0, -1)
}

const whatOf = (entries: readonly Said[]) => entries.map(({ what }) => what)

describe('tranche log', () => {
  test('tells what people did, in order of time, in lines with the same keys', async () => {
    office = await openOffice({ made: false })
    await office.tranche('init')
    const batch = await submitted()
    await office.trancheWith(BY_SUDO, '--as', 'Carol', 'pause', batch, '--reason', 'look first')
    await office.tranche('rate', '25/s')
    await office.tranche('resume', batch, '--reason', 'looked')
    await office.tranche('backup', office.path('copy.db'))
    const entries = await logged()
    expect(whatOf(entries)).toEqual(['init', 'submit', 'pause', 'rate', 'resume', 'backup'])
    const [, submit, pause] = entries
    expect(submit).toMatchObject({ batch, merchant: 'default', details: { file: 'in.csv', rows: 3 } })
    expect(pause).toEqual({
      event: 'act',
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      what: 'pause',
      by: expect.stringMatching(/^alice@\S+ \(sudo, as \S+\), says "Carol"$/),
      actor: expect.objectContaining({ sudo_user: 'alice', sudo_uid: 4001, terminal: null, as: 'Carol' }),
      ...{ batch, merchant: 'default', reference: null, row: null, attempt: null, from: null, to: null },
      reason: 'look first',
      details: null,
    })
    for (const entry of entries) expect(Object.keys(entry)).toEqual(Object.keys(pause as Said))
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted())
    const later = await logged('--since', entries[3]?.at as string)
    expect(whatOf(later)).toEqual(['rate', 'resume', 'backup'])
    const text = await office.tranche('log')
    expect(text.stdout).toMatch(new RegExp(`pause +batch ${batch} +by alice@\\S+ .*says "Carol": look first`))
  })

  test('tells what left the record: results, extracts, exceptions, worklists and rejects', async () => {
    office = await openOffice()
    const good = refunds(2)
    office.sandbox.prepare(preparationFor(good))
    const text = toCsv([...good, refundRow(3, { amount: 'ten' })])
    const input = await office.put('in.csv', text)
    const [out, rejects] = [office.path('out.csv'), office.path('bad.csv')]
    const ran = await office.tranche('run', input, '--out', out, '--skip-invalid', '--rejects', rejects, '--json')
    expect(ran.code, ran.stderr).toBe(3)
    const { batch } = ran.last
    await office.tranche('results', batch, '--only', 'invalid', '--out', office.path('some.csv'))
    await office.tranche('results', batch, '--out', office.path('all.csv'), '--exceptions', office.path('ex.csv'))
    await office.tranche('in-doubt', 'list', '--out', office.path('doubts.csv'))
    const exports = (await logged()).filter(({ what }) => what === 'export')
    expect(exports.map(({ batch, details }) => ({ batch, ...details }))).toEqual([
      { batch: null, kind: 'rejects', file: rejects, rows: 1, of: 'in.csv' },
      { batch, kind: 'results', file: out, rows: 3 },
      { batch, kind: 'extract', file: office.path('some.csv'), rows: 1 },
      { batch, kind: 'results', file: office.path('all.csv'), rows: 3 },
      { batch, kind: 'exceptions', file: office.path('ex.csv'), rows: 1 },
      { batch: null, kind: 'worklist', file: office.path('doubts.csv'), rows: 0 },
    ])
  })

  test('tells a refusal for card data by file and column, and nowhere is the number', async () => {
    office = await openOffice()
    const pan = '4111111111111111'
    const text = toCsv([refundRow(1, { note: pan })])
    const input = await office.put(`cards ${pan}.csv`, text)
    expect((await office.tranche('check', input)).code).toBe(7)
    expect((await office.tranche('submit', input)).code).toBe(7)
    expect((await office.tranche('run', input, '--out', office.path('out.csv'))).code).toBe(7)
    expect((await office.tranche('run', input, '--out', office.path('out.csv'), '--sandbox')).code).toBe(7)
    const inbox = office.path('inbox')
    await mkdir(inbox)
    await writeFile(join(inbox, 'in.csv'), text)
    const once = ['inbox', inbox, '--once', '--stable-for', '0s'] as const
    for (const code of [7, 0]) expect((await office.tranche(...once)).code).toBe(code)
    const entries = (await logged()).filter(({ what }) => what === 'card-refused')
    const place = { line: 2, column: 'note' }
    expect(entries.map(({ details }) => details)).toEqual([
      { source: 'submit', file: expect.stringMatching(/^cards .*\.csv$/), ...place },
      { source: 'run', file: expect.stringMatching(/^cards .*\.csv$/), ...place },
      { source: 'inbox', file: 'in.csv', ...place, inbox, bytes: expect.any(Number), modified: expect.any(String) },
    ])
    expect(JSON.stringify(entries)).not.toContain(pan)
    for (const file of readdirSync(office.dataDir))
      expect(readFileSync(join(office.dataDir, file)).includes(pan)).toBe(false)
  })

  test('tells what a person found about a row in doubt', async () => {
    office = await openOffice()
    const rows = refunds(1)
    const input = await office.put('in.csv', toCsv(rows))
    await office.trancheWith({ TRANCHE_GATEWAY_URL: office.sandbox.url }, 'submit', input)
    doubt(office)
    const asked = ['in-doubt', 'resolve', 'R-1', '--found', 'approved', '--transaction', '7001', '--reason', 'portal']
    expect((await office.trancheWith(BY_SUDO, '--as', 'Carol', ...asked)).code).toBe(0)
    const entries = await logged()
    expect(entries.at(-1)).toMatchObject({
      ...{ what: 'resolve', reference: 'R-1', row: 1, from: 'IN_DOUBT', to: 'APPROVED', reason: 'portal' },
      actor: { sudo_user: 'alice', as: 'Carol' },
    })
  })
})

describe('an export', () => {
  test('is written while another program holds the ledger, and says that it could not be recorded', async () => {
    office = await openOffice()
    const batch = await submitted()
    const db = new DatabaseSync(office.ledgerPath)
    db.exec('BEGIN IMMEDIATE')
    const out = office.path('some.csv')
    const said = await office.tranche('results', batch, '--only', 'pending', '--out', out)
    db.exec('ROLLBACK')
    db.close()
    expect(said.code, said.stderr).toBe(0)
    expect(readCsv(out)).toHaveLength(3)
    expect(said.stderr).toContain('could not record')
    expect(whatOf(await logged())).toEqual(['submit'])
  })
})

/** A request that left, and whose answer nobody recorded. */
function doubt({ ledgerPath }: Office): void {
  const db = new DatabaseSync(ledgerPath)
  db.exec("UPDATE instruction SET state = 'IN_DOUBT', attempt = 1, completed_at = 1, sent_at = 1")
  db.exec("UPDATE tally SET state = 'IN_DOUBT'")
  db.close()
}
