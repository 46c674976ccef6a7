// The folder of an inbox: what is complete, how a file is taken, and where it is put; on real directories.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { link, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { InboxEntry } from '../../src/domain/inbox.ts'
import { type OpenedInbox, openInbox } from '../../src/inbox/folder.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { deepFolder, takenIn } from '../fixtures/inboxes.ts'

const NOW = Date.UTC(2026, 10, 21, 9)
const STABLE_MS = 10_000
const BATCH = '261121-k7q2m' as BatchId

let dir: string
let clock: ManualClock
let folder: OpenedInbox
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-inbox-'))
  clock = new ManualClock(NOW)
  folder = await openInbox({ path: dir, stableMs: STABLE_MS, clock })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const put = (name: string, text = 'a,b\n1,2\n') => writeFile(join(dir, name), text)
const kinds = async () => Object.fromEntries((await folder.look()).map(({ name, kind }) => [name, kind]))
const report = ['why']
const within = (sub: string) => readdirSync(join(dir, sub)).toSorted()

async function lookTwice(): Promise<readonly InboxEntry[]> {
  await folder.look()
  clock.jump(STABLE_MS)
  return folder.look()
}

async function takeOne(name: string) {
  const entry = (await lookTwice()).find((one) => one.name === name)
  const file = entry?.kind === 'complete' ? await folder.take(name, entry.fingerprint) : null
  if (file === null) throw new Error(`${name} was not taken`)
  return file
}

describe('a look', () => {
  test('calls a file complete once it has not changed for the whole time', async () => {
    await put('x.csv')
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
    clock.jump(STABLE_MS - 1)
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
    await writeFile(join(dir, 'x.csv'), 'more\n', { flag: 'a' })
    clock.jump(STABLE_MS - 1)
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
    clock.jump(STABLE_MS - 1)
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
    clock.jump(1)
    expect(await kinds()).toEqual({ 'x.csv': 'complete' })
  })

  test('sees a change that leaves size and time of modification as they were', async () => {
    await put('x.csv', 'aaaa')
    await utimes(join(dir, 'x.csv'), 1_000, 1_000)
    await kinds()
    clock.jump(STABLE_MS - 1)
    await writeFile(join(dir, 'x.csv'), 'bbbb')
    await utimes(join(dir, 'x.csv'), 1_000, 1_000)
    await kinds()
    clock.jump(1)
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
  })

  test('sees another file under the same name', async () => {
    await put('x.csv')
    await kinds()
    clock.jump(STABLE_MS - 1)
    await put('y.tmp')
    await rename(join(dir, 'y.tmp'), join(dir, 'x.csv'))
    await kinds()
    clock.jump(1)
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
  })

  test('takes the word of a file NAME.done, unless the file changed after it', async () => {
    await put('x.csv')
    await put('x.csv.done', '')
    await put('old.csv.done', '')
    await put('old.csv')
    // On a coarse clock both would be of one instant.
    while ((await changedAt('old.csv')) <= (await changedAt('old.csv.done'))) await put('old.csv')
    expect(await kinds()).toEqual({ 'x.csv': 'complete', 'old.csv': 'growing' })
  })

  test('never takes links, folders, other endings, empty files and passing names', async () => {
    for (const name of ['a.csv.tmp', 'b.part', 'c.csv.filepart', 'd.crdownload', '~$e.xlsx', '.hidden.csv'])
      await put(name)
    await put('notes.pdf')
    await put('empty.csv', '')
    await mkdir(join(dir, 'folder.csv'))
    await symlink(join(dir, 'notes.pdf'), join(dir, 'link.csv'))
    await put('good.TSV')
    await put('-rf.csv')
    await put('two\nlines.csv')
    await put('sheet.ods')
    await lookTwice()
    expect((await folder.look()).find(({ name }) => name === 'sheet.ods')).toMatchObject({
      remedy: expect.stringContaining('save the sheet as .xlsx'),
    })
    expect(await kinds()).toEqual({
      ...{ 'sheet.ods': 'unfit' },
      ...{ 'notes.pdf': 'unfit', 'empty.csv': 'unfit', 'folder.csv': 'unfit', 'link.csv': 'unfit' },
      ...{ 'good.TSV': 'complete', '-rf.csv': 'complete', 'two\nlines.csv': 'complete' },
    })
  })

  test('says nothing of passing names and of what systems and editors put there', async () => {
    for (const name of ['x.csv~', '#x.csv#', 'x.csv.swp', 'Thumbs.db', 'desktop.ini', 'x.csv.uploading'])
      await put(name)
    await mkdir(join(dir, 'lost+found'))
    await put('upload')
    await mkdir(join(dir, 'folder'))
    expect(await kinds()).toEqual({ folder: 'growing', upload: 'growing' })
    clock.jump(STABLE_MS)
    await put('folder/inside.csv')
    expect(await kinds()).toEqual({ folder: 'unfit', upload: 'unfit' })
  })

  test('tells names that are not UTF-8 apart from ones with the replacement character', async () => {
    for (const byte of [0xfc, 0xf6]) await writeFile(rawPath(byte), 'a,b\n1,2\n')
    await put('R\ufffd.csv')
    expect((await lookTwice()).map(({ kind, name }) => [kind, name])).toEqual([
      ...[
        ['unfit', 'R\\xF6.csv'],
        ['unfit', 'R\\xFC.csv'],
      ],
      ['complete', 'R\ufffd.csv'],
    ])
  })

  test('takes a name of 255 bytes, to which nothing can be added', async () => {
    const long = `${'n'.repeat(251)}.csv`
    await put(long)
    await put('other.csv')
    const file = await takeOne(long)
    expect(await takenIn(folder)).toEqual([file])
    await folder.reject(file, report)
    expect(within('rejected')).toHaveLength(2)
    expect(await kinds()).toEqual({ 'other.csv': 'complete' })
  })

  test('reports an entry that cannot even be looked at, and sees the others', async () => {
    const deep = await deepFolder(dir, 3_850)
    const opened = await openInbox({ path: deep, stableMs: 0, clock })
    execFileSync('touch', [`${'n'.repeat(246)}.csv`], { cwd: deep }) // its whole path is longer than a path may be
    await writeFile(join(deep, 'a.csv'), 'a,b\n1,2\n')
    const seen = (await opened.look()).map(({ kind, name }) => [kind, name.slice(0, 3)])
    execFileSync('rm', [`${'n'.repeat(246)}.csv`], { cwd: deep })
    expect(seen).toEqual([
      ['complete', 'a.c'],
      ['unfit', 'nnn'],
    ])
  })

  const rawPath = (byte: number) => Buffer.concat([Buffer.from(`${dir}/R`), Buffer.from([byte]), Buffer.from('.csv')])

  async function changedAt(name: string): Promise<bigint> {
    const { lstat } = await import('node:fs/promises')
    return (await lstat(join(dir, name), { bigint: true })).ctimeNs
  }
})

describe('taking', () => {
  test('moves the file under its own name into a folder of its own, with its mark gone', async () => {
    await put('x.csv', 'text')
    await put('x.csv.done', '')
    const file = await takeOne('x.csv')
    expect(basename(file.path)).toBe('x.csv')
    expect(file.takenAtMs).toBe(clock.nowMs())
    expect(await readFile(file.path, 'utf8')).toBe('text')
    expect(within('.').filter((name) => name.startsWith('x'))).toEqual([])
    expect(await takenIn(folder)).toEqual([file])
  })

  test('gives back what is not the file that was looked at, and what was written to since', async () => {
    await put('x.csv')
    const [seen] = await lookTwice()
    await put('x.csv', 'a,b\n1,2\n3,4\n')
    expect(await folder.take('x.csv', (seen as { fingerprint: string }).fingerprint)).toBeNull()
    expect(await readFile(join(dir, 'x.csv'), 'utf8')).toBe('a,b\n1,2\n3,4\n')
    expect(await takenIn(folder)).toEqual([])
  })

  test('does no harm where another was faster', async () => {
    await put('x.csv')
    const [seen] = await lookTwice()
    const { fingerprint } = seen as { fingerprint: string }
    const taken = await Promise.all([1, 2, 3].map(() => folder.take('x.csv', fingerprint)))
    expect(taken.filter((file) => file !== null)).toHaveLength(1)
    expect(await takenIn(folder)).toHaveLength(1)
  })

  test('keeps two files of one name apart, oldest first', async () => {
    await put('x.csv', 'first')
    const first = await takeOne('x.csv')
    await put('x.csv', 'second')
    const second = await takeOne('x.csv')
    expect(await takenIn(folder)).toEqual([first, second])
    expect(await readFile(first.path, 'utf8')).toBe('first')
  })

  test('giving back never writes over a file that came meanwhile', async () => {
    await put('x.csv', 'first')
    const file = await takeOne('x.csv')
    await put('x.csv', 'second')
    const name = await folder.giveBack(file)
    expect(name).toBe(`x.returned-${file.id}.csv`)
    expect(await readFile(join(dir, name), 'utf8')).toBe('first')
    expect(await readFile(join(dir, 'x.csv'), 'utf8')).toBe('second')
  })

  test('giving back that was cut off between its two steps leaves one file, under its name', async () => {
    await put('x.csv', 'text')
    const file = await takeOne('x.csv')
    await link(file.path, join(dir, 'x.csv'))
    expect(await folder.giveBack(file)).toBe('x.csv')
    expect(await takenIn(folder)).toEqual([])
    expect(within('claimed')).toEqual([])
    expect(await readFile(join(dir, 'x.csv'), 'utf8')).toBe('text')
  })

  test('that was cut off before the file was compared is undone', async () => {
    await put('x.csv', 'text')
    const file = await takeOne('x.csv')
    await rename(join(dir, 'claimed', file.id), join(dir, 'claimed', `.${file.id}`))
    expect(await takenIn(folder)).toEqual([])
    expect(await readFile(join(dir, 'x.csv'), 'utf8')).toBe('text')
    expect(within('claimed')).toEqual([])
    expect(await kinds()).toEqual({ 'x.csv': 'growing' })
  })

  test('forgets a folder that was made for a file and never got it', async () => {
    await put('x.csv')
    const file = await takeOne('x.csv')
    await rm(file.path)
    expect(await takenIn(folder)).toEqual([])
    expect(within('claimed')).toEqual([])
  })
})

describe('putting away', () => {
  test('names the archived file and its report after the batch, and remembers due results', async () => {
    await put('refunds.csv')
    const path = await folder.archive(await takeOne('refunds.csv'), BATCH, report)
    expect(within('archive')).toEqual([`refunds.${BATCH}.csv`, `refunds.${BATCH}.report.txt`])
    const resultsPath = join(folder.path, 'results', `refunds.${BATCH}.results.csv`)
    expect(await folder.archived()).toEqual([{ batchId: BATCH, path, resultsPath }])
    expect(within('claimed')).toEqual([])
  })

  test('puts a second file of the same batch beside the first; the results are due once', async () => {
    for (const name of ['b.csv', 'b.csv', 'a.csv']) {
      await put(name)
      await folder.archive(await takeOne(name), BATCH, report)
    }
    const files = within('archive').filter((name) => name.endsWith('.csv'))
    expect(files).toHaveLength(3)
    expect(files.filter((name) => name.includes('.again-'))).toHaveLength(2)
    expect((await folder.archived()).map(({ resultsPath }) => basename(resultsPath))).toEqual([
      `b.${BATCH}.results.csv`,
    ])
  })

  test('keeps two refused files of one name, each with its report', async () => {
    for (const text of ['first', 'second']) {
      await put('x.csv', text)
      const rejected = await folder.reject(await takeOne('x.csv'), report)
      expect(readFileSync(rejected.path, 'utf8')).toBe(text)
      expect(readFileSync(rejected.report, 'utf8')).toBe('why\n')
    }
    expect(within('rejected')).toHaveLength(4)
  })

  test('the report of a file that stayed goes when a file of that name is taken', async () => {
    await folder.reportLeft('x.csv', report)
    expect(within('rejected')).toEqual(['x.csv.not-taken.txt'])
    await put('x.csv')
    await takeOne('x.csv')
    expect(within('rejected')).toEqual([])
  })

  test('the report of a file that stayed is written once and goes with the file', async () => {
    for (const name of ['x.xls', 'y.xls']) {
      await put(name)
      await folder.reportLeft(name, report)
    }
    await put('rejected/z.report.txt')
    const written = await stat(join(dir, 'rejected/x.xls.not-taken.txt'), { bigint: true })
    const later = await openInbox({ path: dir, stableMs: 0, clock })
    await later.reportLeft('x.xls', report)
    await rm(join(dir, 'y.xls'))
    await later.forgetGone(await later.look())
    expect(within('rejected')).toEqual(['x.xls.not-taken.txt', 'z.report.txt'])
    const now = await stat(join(dir, 'rejected/x.xls.not-taken.txt'), { bigint: true })
    expect([now.ino, now.mtimeNs]).toEqual([written.ino, written.mtimeNs])
    await rename(join(dir, 'x.xls'), join(dir, 'x.csv'))
    await later.forgetGone(await later.look())
    expect(within('rejected')).toEqual(['z.report.txt'])
  })

  test('no name of its own holds a card number', async () => {
    const { path } = await folder.reportLeft('4111111111111111.csv', report)
    expect(basename(path)).toBe('4111110000001111.csv.not-taken.txt')
    expect(basename((await folder.reportLeft('cvv 123.csv', report)).path)).toBe('cvv 000.csv.not-taken.txt')
  })

  test('a report has nothing in it that a terminal obeys', async () => {
    const { path } = await folder.reportLeft('x.xls', ['column \u001b[2J\u202e\u009b: a\nb'])
    expect(await readFile(path, 'utf8')).toBe('column ␛[2J<U+202E><U+009B>: a␊b\n')
  })

  test('two files that stay have two reports, however alike or long their names are', async () => {
    const names = ['a\nb.xls', 'a_b.xls', 'a\tb.xls', `${'n'.repeat(251)}.xls`, `${'n'.repeat(250)}m.xls`]
    for (const name of names) await folder.reportLeft(name, [name])
    expect(within('rejected')).toHaveLength(names.length)
  })

  test('any name that a file can have leads to names that can be made', async () => {
    const character = fc.oneof(
      fc.constantFrom('ß', '漢', '💶', ' ', '\n', '\u0007', '-', '.', "'", '"', '$', '*'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    )
    const name = fc
      .tuple(fc.array(character, { minLength: 1, maxLength: 200 }), fc.constantFrom('.csv', '.CSV', '.txt', '.xlsx'))
      .map(
        ([stem, ending]) =>
          cutTo(255 - ending.length, stem.join('').replace(/[/\0\ud800-\udfff\ufffd]/gu, '')) + ending,
      )
      .filter((made) => !/^\.|^~\$|^\.\.?$/.test(made) && !/^\.(csv|txt|xlsx)$/i.test(made))
    await fc.assert(
      fc.asyncProperty(name, fc.boolean(), async (made, good) => {
        await put(made)
        const file = await takeOne(made)
        await folder.reportLeft(made, report)
        const path = good ? await folder.archive(file, BATCH, report) : (await folder.reject(file, report)).path
        expect(existsSync(path)).toBe(true)
        expect(/\p{Cc}/u.test(basename(path))).toBe(false)
        for (const { resultsPath } of await folder.archived())
          expect(Buffer.byteLength(`.${basename(resultsPath)}.summary.tmp-0123456789ab`)).toBeLessThan(256)
        for (const sub of ['archive', 'rejected']) await rm(join(dir, sub), { recursive: true })
        for (const sub of ['archive', 'rejected']) await mkdir(join(dir, sub))
      }),
      { numRuns: 60 },
    )
  })

  function cutTo(bytes: number, text: string): string {
    let kept = ''
    for (const one of text) if (Buffer.byteLength(kept + one) <= bytes) kept += one
    return kept
  }
})

describe('whose it is', () => {
  test('the first ledger keeps it; another is refused before it takes anything', async () => {
    const id = await folder.bind('aaaa')
    const again = await openInbox({ path: dir, stableMs: STABLE_MS, clock })
    expect(again.made).toEqual([])
    expect(await again.bind('aaaa')).toBe(id)
    await expect(again.bind('bbbb')).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('belongs to another ledger'),
    })
  })

  test('of ledgers that come at the same moment one has it', async () => {
    const bound = await Promise.allSettled(['aaaa', 'bbbb', 'cccc', 'dddd'].map((ledger) => folder.bind(ledger)))
    expect(bound.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(within('.').filter((name) => name.startsWith('.'))).toEqual(['.tranche-inbox.json'])
  })

  test.each([
    ['nowhere', 'does not exist'],
    ['file.csv', 'is not a folder'],
    ['half', 'has results in it, which is not a folder'],
    ['linked', 'has results in it, which is not a folder'],
  ])('%s is no inbox', async (name, why) => {
    await put('file.csv')
    await mkdir(join(dir, 'half'))
    await put('half/results')
    await mkdir(join(dir, 'linked'))
    await symlink(join(dir, 'results'), join(dir, 'linked', 'results'))
    const opening = openInbox({ path: join(dir, name), stableMs: STABLE_MS, clock })
    await expect(opening).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(why) })
  })
})
