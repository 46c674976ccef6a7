// An inbox killed before every single step of its work: one batch per file, every row executed at most once, nothing lost.

import { readdirSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { type FileRow, preparationFor, refunds, toCsv } from '../fixtures/files.ts'

const DYING = pathToFileURL(join(import.meta.dirname, '../fixtures/child-dying.ts')).href
/** More steps than one file takes; a run that has fewer ends by itself, and then all have been tried. */
const STEPS_AT_MOST = 80
/** More than the results of one batch take. */
const STEPS_OF_RESULTS = 18
const ROWS = 3

let office: Office
let dir: string
beforeEach(async () => {
  office = await openOffice()
  dir = office.path('in')
  await mkdir(dir)
})
afterEach(() => office.close())

const dieAt = (step: number) => ({ NODE_OPTIONS: `--import ${DYING}`, DIE_AT: String(step), DIE_IN: dir })
const inbox = () => office.tranche('inbox', dir, '--once', '--stable-for', '0', '--json')
const inboxDyingAt = (step: number) =>
  office.spawnedWith(dieAt(step), 'inbox', dir, '--once', '--stable-for', '0', '--json')

/** Every second file names no references, so that they are derived from its bytes; every third is marked as complete. */
async function putFiles(n: number): Promise<void> {
  const rows = refunds(ROWS, n * 10)
  office.sandbox.prepare(preparationFor(rows))
  await office.put(`in/left-${n}.xls`, 'x')
  await rm(join(dir, `left-${n - 1}.xls`), { force: true })
  await office.put(`in/bad-${n}.csv`, `this,is\nno,${n}\n`)
  await office.put(`in/file-${n}.csv`, n % 2 === 0 ? toCsv(rows) : withoutReferences(rows))
  if (n % 3 === 0) await office.put(`in/file-${n}.csv.done`, '')
}

function withoutReferences(rows: readonly FileRow[]): string {
  return toCsv(rows)
    .split('\n')
    .map((line) => line.replace(/^[^,]*,/, ''))
    .join('\n')
}

const namesIn = (folder: string) => readdirSync(join(dir, folder)).filter((name) => !name.startsWith('.'))
const batches = () =>
  query<{ id: string; file_name: string }>(
    office,
    "SELECT id, file_name FROM batch WHERE stage = 'open' ORDER BY file_name",
  )

test('killed before any step, it records each file as one batch, and each row is executed once', async () => {
  expect((await inbox()).code).toBe(0) // its folders are there
  let files = 0
  for (let step = 1; ; step++) {
    expect(step).toBeLessThan(STEPS_AT_MOST)
    files += 1
    await putFiles(files)
    const killed = await inboxDyingAt(step)
    if (killed.code === 7) break // for the bad one and the one that is left; nobody was killed
    expect(killed.code, killed.stderr).toBeNull()
    const again = await inbox()
    expect([0, 7], again.stderr).toContain(again.code) // 7 for the one that is left, unless that was told before
  }
  expect(files).toBeGreaterThan(25)
  expect(namesIn('claimed')).toEqual([])
  const isOfNth = (n: number, ending: string) => (name: string) => name.startsWith(`bad-${n}.`) && name.endsWith(ending)
  for (let n = 1; n <= files; n++)
    for (const ending of ['.csv', '.report.txt']) expect(namesIn('rejected').filter(isOfNth(n, ending))).toHaveLength(1)
  expect(namesIn('rejected').filter((name) => name.startsWith('left-'))).toEqual([`left-${files}.xls.not-taken.txt`])
  await rm(join(dir, `left-${files}.xls`))
  expect(namesIn('.').toSorted()).toEqual(['archive', 'claimed', 'rejected', 'results'])
  const names = Array.from({ length: files }, (_, i) => `file-${i + 1}.csv`)
  expect(batches()).toHaveLength(files)
  expect(new Set(batches().map((batch) => batch.file_name))).toEqual(new Set(names))
  const archived = batches().map(({ id, file_name }) => file_name.replace('.csv', `.${id}.csv`))
  expect(new Set(namesIn('archive').filter((name) => name.endsWith('.csv')))).toEqual(new Set(archived))

  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  // Results as well: each run dies a step later than the one before, in the next batch that is due.
  for (let step = 1; step <= STEPS_OF_RESULTS; step++) {
    const killed = await inboxDyingAt(step)
    expect(killed.code, killed.stderr).toBeNull()
  }
  expect((await inbox()).code).toBe(0)
  const reports = batches().map(({ id, file_name }) => ({
    input: join(dir, 'archive', file_name.replace('.csv', `.${id}.csv`)),
    out: join(dir, 'results', file_name.replace('.csv', `.${id}.results.csv`)),
  }))
  for (const { out } of reports) expect(countsIn(out)).toEqual({ APPROVED: ROWS })
  expect(compareBooks(booksOf(office, ...reports))).toEqual([])
  expect(office.sandbox.log()).toHaveLength(files * ROWS)
  expect((await inbox()).objects.map(({ event }) => event)).toEqual(['watching', 'result'])
})
