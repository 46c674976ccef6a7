// tranche archive: a batch leaves the ledger once all that the ledger holds of it is in a file, and nothing that keeps money from moving
// twice leaves with it.

import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { query, readCsv } from '../fixtures/books.ts'
import { type Ended, type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

const peopleOf = (count: number): FileRow[] =>
  refunds(count).map((row, i) => ({ ...row, note: `ann.${i}@example.test` }))

async function ran(rows: readonly FileRow[], name = 'in'): Promise<{ input: string; out: string; batch: string }> {
  office.sandbox.prepare(preparationFor(rows))
  const [input, out] = [await office.put(`${name}.csv`, toCsv(rows)), office.path(`${name}.results.csv`)]
  const said = await office.tranche('run', input, '--out', out, '--json')
  expect([0, 3], said.stderr).toContain(said.code)
  return { input, out, batch: said.last.batch }
}

const archive = (...args: readonly string[]): Promise<Ended> =>
  office.tranche('archive', '--older-than', '0', '--out', office.path('archive'), '--json', ...args)

type Line = Readonly<Record<'batch' | 'row' | 'move' | 'act', Record<string, unknown> | undefined>>

function linesOf(name: string): readonly Line[] {
  const text = gunzipSync(readFileSync(office.path(`archive/${name}`))).toString('utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
}

test('what the ledger held of a batch is in its file, row by row and move by move; the ledger keeps what prevents a second sending', async () => {
  office = await openOffice()
  const rows = peopleOf(1_200)
  const { input, batch } = await ran(rows)
  const before = {
    rows: query(office, 'SELECT * FROM instruction ORDER BY id'),
    moves: query(office, 'SELECT * FROM move ORDER BY id'),
  }
  const said = await archive()
  expect(said.code, said.stderr).toBe(0)
  const name = `${batch}.jsonl.gz`
  expect(said.last).toMatchObject({ batches: [{ batch, file: office.path(`archive/${name}`), rows: 1_200 }], left: [] })

  const lines = linesOf(name)
  expect(lines[0]?.batch).toMatchObject({ id: batch, file_name: 'in.csv', merchant: 'default' })
  const of = (what: keyof Line) => lines.flatMap((line) => (line[what] === undefined ? [] : [line[what]]))
  expect(of('row')).toEqual(JSON.parse(JSON.stringify(before.rows)))
  expect(of('move').toSorted((one, other) => Number(one?.id) - Number(other?.id))).toEqual(
    JSON.parse(JSON.stringify(before.moves)),
  )
  const digest = hash('sha256', readFileSync(office.path(`archive/${name}`)), 'hex')
  expect(readFileSync(office.path(`archive/${name}.sha256`), 'utf8')).toBe(`${digest}  ${name}\n`)

  expect((await archive()).last).toMatchObject({ batches: [] })
  expect(query(office, "SELECT count(*) AS n FROM instruction WHERE cells <> '[]' OR details IS NOT NULL")).toEqual([
    { n: 0 },
  ])
  const sent = office.sandbox.received()
  const again = await office.tranche('run', input, '--out', office.path('again.csv'), '--json')
  expect(again.last.counts).toEqual({ DUPLICATE: 1_200 })
  expect(office.sandbox.received()).toBe(sent)
  expect((await office.tranche('doctor', '--deep')).stdout).toContain('ok   record')
  const results = await office.tranche('results', batch, '--out', office.path('later.csv'))
  expect(results.stderr).toContain(`were archived in ${name}`)
  expect(readCsv(office.path('later.csv'))[0]).toMatchObject({ note: '', result_status: 'APPROVED' })
  expect((await office.tranche('log', '--json')).objects.find(({ what }) => what === 'purge')).toMatchObject({
    batch,
    details: { archive: name, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
}, 60_000)

test('an archive that is killed goes on when it is run again, and loses nothing', async () => {
  office = await openOffice()
  const { batch } = await ran(peopleOf(1_500))
  const before = JSON.parse(JSON.stringify(query(office, 'SELECT * FROM instruction ORDER BY id')))
  const running = office.start('archive', '--older-than', '0', '--out', office.path('archive'), '--json')
  const purgedTo = () => Number(query<{ n: number }>(office, 'SELECT max(purged_to) AS n FROM batch')[0]?.n)
  await expect.poll(purgedTo, { timeout: 20_000, interval: 1 }).toBeGreaterThan(0)
  running.kill('SIGKILL')
  await running.ended
  expect(purgedTo()).toBeLessThan(1_500)
  const said = await archive()
  expect(said.code, said.stderr).toBe(0)
  expect(purgedTo()).toBe(1_500)
  const name = `${batch}.jsonl.gz`
  expect(linesOf(name).flatMap(({ row }) => (row === undefined ? [] : [row]))).toEqual(before)
  expect(readdirSync(office.path('archive'))).toEqual([name, `${name}.sha256`])
}, 60_000)

test('a file that is there already is never written over', async () => {
  office = await openOffice()
  const { batch } = await ran(peopleOf(2))
  mkdirSync(office.path('archive'))
  writeFileSync(office.path(`archive/${batch}.jsonl.gz`), 'of somebody else')
  const said = await archive()
  expect(said.last.batches).toEqual([{ batch, file: office.path(`archive/${batch}-2.jsonl.gz`), rows: 2 }])
  expect(readFileSync(office.path(`archive/${batch}.jsonl.gz`), 'utf8')).toBe('of somebody else')
})

test('nothing is taken out where the files cannot be written, or of what is younger or open', async () => {
  office = await openOffice()
  await ran(peopleOf(2))
  const young = await office.tranche('archive', '--older-than', '1', '--out', office.path('archive'), '--json')
  expect(young.last).toMatchObject({ batches: [], left: [] })
  await office.put('taken', '')
  expect((await office.tranche('archive', '--older-than', '0', '--out', office.path('taken'))).code).not.toBe(0)
  expect((await office.tranche('archive', '--older-than', 'soon', '--out', office.path('archive'))).code).toBe(2)
  const open = await office.tranche('submit', await office.put('open.csv', toCsv(refunds(2, 50))), '--json')
  expect((await archive()).last.left).toEqual([{ batch: open.last.batch, why: 'open' }])
  expect(query(office, "SELECT count(*) AS n FROM instruction WHERE cells <> '[]'")).toEqual([{ n: 2 }])
})
