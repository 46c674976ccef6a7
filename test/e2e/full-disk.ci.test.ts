// A data directory whose disk fills up in mid-batch: nothing is sent while it is full, and it goes on by itself.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks } from '../fixtures/books.ts'
import { type Child, canMountSmallDisk, startChildOnSmallDisk } from '../fixtures/children.ts'
import { type Office, openOffice, type Said, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office | null = null
let child: Child | null = null
afterEach(async () => {
  await child?.kill()
  await office?.close()
})

test('a run sends nothing while the disk of its ledger is full, and goes on when there is room', async ({ skip }) => {
  office = await openOffice({ apart: true })
  const disk = office.path('s')
  await mkdir(disk)
  if (!canMountSmallDisk(disk)) skip('a process may not mount a disk of its own here (unshare -Urm)')
  const rows = refunds(150)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const there = openThere(office, disk)

  expect((await there('run', 'init')).code).toBe(0)
  const submitted = await there('run', 'submit', input, '--json')
  expect(submitted.code, submitted.stderr).toBe(0)
  const { batch } = JSON.parse(submitted.stdout as string) as { batch: string }
  await there('start', 'run', input, '--out', out)
  const { sandbox } = office
  await until('the batch is under way', () => sandbox.received() >= 10)
  await there('fill')

  const standing = async () => {
    const before = sandbox.received()
    const status = await there('run', 'status', batch, '--json') // as long as 20 rows and more would take
    expect([status.code, status.stderr]).toEqual([0, expect.stringMatching(/ATTENTION \d+ MiB are free in the data/)])
    return sandbox.received() === before
  }
  await until('nothing is sent any more', standing)
  const sent = sandbox.received()
  expect(sent).toBeLessThan(rows.length)
  for (let looks = 0; looks < 4; looks++) expect(await standing()).toBe(true)
  const refused = await there('run', 'submit', await office.put('more.csv', toCsv(refunds(200, 500))))
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/disk .*full/)])
  expect(sandbox.received()).toBe(sent)

  await there('free')
  await until('the rest is sent', () => sandbox.log().length === rows.length)
  const ended = await there('wait')
  expect(ended.code, ended.stderr).toBe(0)
  const written = await there('run', 'results', batch, '--out', out)
  expect(written.code, written.stderr).toBe(0)
  // The small disk is the child's alone: its ledger comes out of it as a copy.
  const ledgerPath = office.path('copy.db')
  expect((await there('run', 'backup', ledgerPath)).code).toBe(0)
  expect(compareBooks(booksOf({ ...office, ledgerPath }, { input, out }))).toEqual([])
})

/** Room for the log of the ledger, which grows to 33 MB before it is used again. */
const DISK_MB = 64

/** Has a child do things where the small disk is, one after the other. */
function openThere({ sandbox, dir }: Office, disk: string): (word: string, ...args: string[]) => Promise<Said> {
  const running = startChildOnSmallDisk(disk, DISK_MB, 'child-office.ts', [disk], {
    ...{ TMPDIR: dir, TRANCHE_DATA_DIR: join(disk, 'd'), TRANCHE_RATE: '40', NO_COLOR: '1' },
    ...{ TRANCHE_GATEWAY_URL: sandbox.url, TRANCHE_GATEWAY_USERNAME: 'shop', TRANCHE_GATEWAY_PASSWORD: 's3cret-pass' },
  })
  child = running
  return async (word, ...args) => {
    const heard = running.lines.length
    running.tell(`${word} ${JSON.stringify(args)}`)
    await until(`an answer to ${word} ${args[0] ?? ''}`, () => running.lines.length > heard || running.over)
    return JSON.parse(running.lines[heard] ?? '{}') as Said
  }
}
