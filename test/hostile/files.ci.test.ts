// Files that are none, that change while they are read, and names that no one would give them.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'vitest'
import { query, recordedIn } from '../fixtures/books.ts'
import type { Office } from '../fixtures/cli.ts'
import { type FileRow, refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { openPlace } from './place.ts'

test.concurrent.for(['check', 'submit', 'run'])(
  '%s of a pipe ends, with or without anyone who writes into it, and nothing is recorded',
  async (command, { expect }) => {
    await using place = await openPlace()
    const { office, gateway } = place
    const pipe = office.path('pipe.csv')
    execFileSync('mkfifo', [pipe])
    const { input } = await place.file('in', refunds(3))
    const started = office.start(command, pipe, ...(command === 'run' ? ['--out', office.path('out.csv')] : []))
    const alone = await started.ended
    expect([2, 7], alone.stderr).toContain(alone.code)

    const writer = office.start(command, pipe, ...(command === 'run' ? ['--out', office.path('out.csv')] : []))
    const writing = execFileSync('sh', ['-c', 'timeout 3 cat "$1" > "$2" || true', 'sh', input, pipe])
    expect(writing.length).toBe(0)
    expect([2, 7]).toContain((await writer.ended).code)
    expect(recordedIn(office)).toEqual([])
    expect(gateway.received()).toEqual([])
  },
)

/** How a file is another one while it is read. */
const CHANGES: Readonly<Record<string, (path: string, office: Office, now: string) => void>> = {
  'a link that is turned to another file': (path, office, now) => {
    symlinkSync(office.path(now), `${path}.new`)
    renameSync(`${path}.new`, path)
  },
  'a file that another is renamed over': (path, office, now) => {
    writeFileSync(`${path}.new`, readFileSync(office.path(now)))
    renameSync(`${path}.new`, path)
  },
  'a file that is written again and again': (path, office, now) => {
    writeFileSync(path, readFileSync(office.path(now)))
  },
}

test.concurrent.for(Object.keys(CHANGES))(
  '%s while it is read is refused, or is one of them as a whole',
  async (how, { expect }) => {
    await using place = await openPlace()
    const { office, gateway } = place
    const contents = [refunds(2_000), refunds(2_000, 5_001)].map(toCsv)
    for (const [i, text] of contents.entries()) await office.put(`of-${i}.csv`, text)
    const path = office.path('in.csv')
    let now = 0
    const change = () => CHANGES[how]?.(path, office, `of-${now++ % 2}.csv`)
    change()
    const codes: (number | null)[] = []
    for (let round = 0; round < 6; round += 1) {
      const submitting = office.start('submit', path)
      const changing = setInterval(change, 3)
      codes.push((await submitting.ended).code)
      clearInterval(changing)
    }
    expect(codes.filter((code) => code !== 0 && code !== 7)).toEqual([])
    const whole = contents.map((text) => createHash('sha256').update(text).digest('hex'))
    const batches = query<{ sha: string; rows: number }>(
      office,
      "SELECT file_sha256 AS sha, count(*) AS rows FROM batch b JOIN instruction i ON i.batch_id = b.id WHERE stage = 'open' GROUP BY b.id",
    )
    expect(batches.filter(({ sha, rows }) => !whole.includes(sha) || rows !== 2_000)).toEqual([])
    const mixed = Map.groupBy(recordedIn(office), (row) => row.batch_id)
    for (const rows of mixed.values())
      expect(new Set(rows.map(({ order_key: order }) => Number(order) > 70_005_000)).size).toBe(1)
    expect(gateway.received()).toEqual([])
  },
)

const LONG = (bytes: number) => `${'n'.repeat(bytes - 4)}.csv`
const GOOD_NAMES = [
  ...['two\nlines.csv', '-rf.csv', '--help.csv', 'a\u202etxt.csv', 'e\u0301te\u0301.csv', '\u00e9t\u00e9.csv', ' .csv'],
  ...['$(reboot).csv', "';drop.csv", '\u0007bell.csv', 'con.csv', '💶.csv', 'x.CSV'],
  ...[LONG(200), LONG(244), LONG(250), LONG(251), LONG(255)],
]

test.concurrent('an inbox takes a file of any name, and none keeps another waiting', async ({ expect }) => {
  await using place = await openPlace()
  const { office, gateway } = place
  const dir = office.path('in')
  mkdirSync(dir)
  const put = (name: string | Buffer, rows: readonly FileRow[]) =>
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(name)]), toCsv(rows))
  for (const [n, name] of GOOD_NAMES.entries()) put(name, [refundRow(n + 1)])
  const latin1 = Buffer.concat([Buffer.from('R'), Buffer.from([0xfc]), Buffer.from('.csv')])
  put(latin1, [refundRow(901)])
  execFileSync('mkfifo', [join(dir, 'pipe.csv')])
  symlinkSync(office.path('nowhere'), join(dir, 'dangling.csv'))
  symlinkSync(join(dir, 'con.csv'), join(dir, 'link.csv'))
  mkdirSync(join(dir, 'folder.csv'))
  writeFileSync(join(dir, 'empty.csv'), '')
  symlinkSync('/dev/zero', join(dir, 'zero.csv'))

  const once = () => office.tranche('inbox', dir, '--once', '--stable-for', '0', '--json')
  const taken = await once()
  expect([0, 7], taken.stderr).toContain(taken.code)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  const written = await once()
  expect([0, 7], written.stderr).toContain(written.code)
  const recorded = new Set(recordedIn(office).map(({ reference, state }) => `${reference} ${state}`))
  expect(recorded).toEqual(new Set(GOOD_NAMES.map((_, n) => `R-${n + 1} APPROVED`)))
  const left = readdirSync(dir, { encoding: 'buffer' }).map((name) => name.toString('latin1'))
  const none = ['R\u00fc.csv', 'dangling.csv', 'empty.csv', 'folder.csv', 'link.csv', 'pipe.csv', 'zero.csv']
  expect(none.filter((name) => !left.includes(name))).toEqual([])
  expect(lstatSync(join(dir, 'link.csv')).isSymbolicLink()).toBe(true)
  const results = readdirSync(join(dir, 'results')).filter((name) => /(?<!\.summary)\.csv$/i.test(name))
  expect(results).toHaveLength(GOOD_NAMES.length)
  expect(place.lies(...results.map((name) => ({ input: null, out: join(dir, 'results', name) })))).toEqual([])
  expect(gateway.received()).toHaveLength(GOOD_NAMES.length)
})
