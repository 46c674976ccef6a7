// tranche purge: personal data of finished batches goes, byte by byte, and nothing that keeps money from moving twice.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, test } from 'vitest'
import { booksOf, compareBooks, query, readCsv } from '../fixtures/books.ts'
import { type Ended, type Office, openOffice, until } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

const CANARY = 'canary-7f3a'
const mailOf = (n: number) => `${CANARY}.${n}@example.test`

/** Rows of very different length: some take a page of their own, and grow and shrink while they are sent. */
function people(count: number, first = 1): FileRow[] {
  return refunds(count, first).map((row, i) => ({
    ...row,
    note: `${mailOf(first + i)} `.repeat(1 + ((i * 37) % 190)).trim(),
  }))
}

async function ran(
  rows: readonly FileRow[],
  name = 'in',
  ...args: readonly string[]
): Promise<{ input: string; out: string; batch: string }> {
  office.sandbox.prepare(preparationFor(rows))
  const [input, out] = [await office.put(`${name}.csv`, toCsv(rows)), office.path(`${name}.results.csv`)]
  const said = await office.tranche('run', input, '--out', out, '--json', ...args)
  expect([0, 3], said.stderr).toContain(said.code)
  return { input, out, batch: said.last.batch }
}

const inAMinute = () => new Date(Date.now()).toISOString()

function purge(...args: readonly string[]): Promise<Ended> {
  return office.tranche('purge', '--before', inAMinute(), '--reason', 'retention', '--json', ...args)
}

/** Files of the ledger in which the e-mail of anyone can be found. */
function filesWithCanary(): readonly string[] {
  return readdirSync(office.dataDir).filter(
    (name) => name.startsWith('ledger.') && readFileSync(join(office.dataDir, name)).includes(CANARY),
  )
}

test('after a purge no byte of the ledger has the data, and the same file is still known', async () => {
  office = await openOffice()
  const rows = people(1_500)
  const { input, out, batch } = await ran(rows)
  expect(filesWithCanary()).not.toEqual([])
  const before = query(
    office,
    'SELECT id, state, reference, content, lookalike, amount_minor, currency, order_key, transaction_id, attempt FROM instruction',
  )
  const moves = query(office, 'SELECT id, row_id, attempt, from_state, to_state, cause, at, by, http_status FROM move')

  const said = await purge('--yes')
  expect(said.code, said.stderr).toBe(0)
  expect(said.last).toMatchObject({ batches: [batch], rows: 1_500, refusals: 0, left: [], log_cleared: true })
  expect(said.stderr).toContain('Backups')
  expect(filesWithCanary()).toEqual([])
  expect(
    query(
      office,
      'SELECT id, state, reference, content, lookalike, amount_minor, currency, order_key, transaction_id, attempt FROM instruction',
    ),
  ).toEqual(before)
  expect(
    query(office, 'SELECT id, row_id, attempt, from_state, to_state, cause, at, by, http_status FROM move'),
  ).toEqual(moves)
  expect((await office.tranche('doctor', '--deep')).stdout).toContain('ok   record')
  expect((await office.tranche('log', '--json')).objects.at(-2)).toMatchObject({
    what: 'purge',
    batch,
    reason: 'retention',
    details: { rows: 1_500 },
  })
  expect((await purge('--yes')).last).toMatchObject({ batches: [], rows: 0 })

  const sent = office.sandbox.received()
  const same = await office.tranche('run', input, '--out', office.path('again.csv'), '--json')
  expect(same.code, same.stderr).toBe(0)
  expect(same.last.counts).toEqual({ DUPLICATE: 1_500 })
  expect((await office.tranche('run', input, '--out', out)).code).toBe(2) // the full results of before are not written over
  expect(readCsv(out)[0]?.note).toContain(CANARY)
  expect(office.sandbox.received()).toBe(sent)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('results of a purged batch say so and are never written over those of before', async () => {
  office = await openOffice()
  const { batch, out } = await ran(people(3))
  await purge('--yes')
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(2)
  const later = office.path('later.csv')
  const said = await office.tranche('results', batch, '--out', later, '--json')
  expect(said.stderr).toMatch(/cells of batch .* were purged .*note.*are empty/)
  expect(said.last).toMatchObject({ purged_columns: expect.arrayContaining(['reference', 'note']) })
  for (const [i, line] of readCsv(later).entries()) {
    expect(line).toMatchObject({
      ...{ reference: '', note: '', result_status: 'APPROVED', result_reference: `R-${i + 1}` },
      result_reason: 'its cells and texts were purged from the record',
      result_transaction_id: expect.stringMatching(/^\d+$/),
    })
  }
})

describe('stays as it is:', () => {
  test('what is younger, open, in doubt, or has no results as it is now', async () => {
    office = await openOffice()
    const early = new Date().toISOString()
    const written = await ran(people(2))
    const open = (await office.tranche('submit', await office.put('open.csv', toCsv(people(2, 10))), '--json')).last
      .batch
    const unwritten = await ran(people(2, 20), 'unwritten')
    const db = new DatabaseSync(office.ledgerPath)
    db.exec(`UPDATE batch SET results_path = NULL WHERE id = '${unwritten.batch}'`)
    db.close()
    const tooEarly = await office.tranche('purge', '--before', early, '--reason', 'x', '--yes', '--json')
    expect(tooEarly.last).toMatchObject({ batches: [], left: [], rows: 0 })
    const said = await purge('--yes')
    expect(said.last).toMatchObject({ batches: [written.batch], rows: 2 })
    expect(said.last.left).toEqual([
      { batch: open, why: 'open' },
      { batch: unwritten.batch, why: 'results' },
    ])
    expect(
      query(office, "SELECT batch_id, count(*) AS n FROM instruction WHERE cells <> '[]' GROUP BY 1 ORDER BY 1").length,
    ).toBe(2)
  })

  test('everything without a yes or a reason, or where the moment is still to come', async () => {
    office = await openOffice()
    await ran(people(2))
    const ask = (...args: readonly string[]) => office.tranche('purge', ...args)
    expect((await purge()).stderr).toContain('confirm with --yes')
    expect((await ask('--before', inAMinute(), '--reason', ' ', '--yes')).code).toBe(2)
    expect((await ask('--before', '2099-01-01T00:00:00Z', '--reason', 'x', '--yes')).code).toBe(2)
    expect((await ask('--before', 'yesterday', '--reason', 'x', '--yes')).code).toBe(2)
    expect(filesWithCanary()).not.toEqual([])
  })
})

/** On a terminal of its own, as `script` of util-linux gives one. */
function onTerminal(typed: string): { code: number | null; text: string } {
  const { dataDir, witnessDir, sandbox } = office
  const env = {
    ...{ ...process.env, TRANCHE_DATA_DIR: dataDir, TRANCHE_WITNESS_DIR: witnessDir, TRANCHE_GATEWAY_URL: sandbox.url },
    ...{ TRANCHE_GATEWAY_USERNAME: 'shop', TRANCHE_GATEWAY_PASSWORD: 's3cret-pass' },
  }
  const command = `'${process.execPath}' src/cli.ts purge --before ${inAMinute()} --reason retention`
  const ended = spawnSync(SCRIPT, ['-qec', command, '/dev/null'], {
    env,
    input: typed,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: ended.status, text: ended.stdout }
}

const SCRIPT = '/usr/bin/script'

test.skipIf(!existsSync(SCRIPT))('on a terminal a person is asked, and the act names the terminal', async () => {
  office = await openOffice()
  await ran(people(2))
  const no = onTerminal('n\n')
  expect(no.code, no.text).toBe(130)
  expect(no.text).toContain('This removes the personal data of 2 rows of 1 batch')
  expect(filesWithCanary()).not.toEqual([])
  const yes = onTerminal('y\n')
  expect(yes.code, yes.text).toBe(0)
  expect(filesWithCanary()).toEqual([])
  const { last, objects } = await office.tranche('log', '--json')
  expect(last.entries).toBeGreaterThan(1)
  expect(objects.at(-2)).toMatchObject({ what: 'purge', actor: { terminal: expect.stringMatching(/^pts\/\d+$/) } })
})

test('a purge that is killed goes on when it is run again, beside a worker', async () => {
  office = await openOffice()
  const { batch } = await ran(people(3_000))
  const more = people(300, 4_000)
  office.sandbox.prepare(preparationFor(more))
  await office.tranche('submit', await office.put('more.csv', toCsv(more)))
  const worker = await office.worker()
  const running = office.start('purge', '--before', inAMinute(), '--reason', 'retention', '--yes')
  const purgedTo = () =>
    Number((query(office, `SELECT purged_to AS n FROM batch WHERE id = '${batch}'`)[0] as { n: number }).n)
  await until('some of it is purged', () => purgedTo() > 0, running)
  running.kill('SIGKILL')
  await running.ended
  const reached = purgedTo()
  await until('the worker has sent all', () => office.sandbox.received() === 3_300, worker)
  const said = await purge('--yes')
  expect(said.code, said.stderr).toBe(0)
  expect(said.last).toMatchObject({ rows: 3_000 - reached })
  expect(query(office, `SELECT count(*) AS n FROM instruction WHERE batch_id = '${batch}' AND cells <> '[]'`)).toEqual([
    { n: 0 },
  ])
  worker.kill('SIGTERM')
  await worker.ended
  expect((await office.tranche('doctor', '--deep')).stdout).toContain('ok   record')
})
