// Passes over a real folder into a real ledger: trouble rejects nobody, and whatever happens between two steps, a file is one batch.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { appendFile, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findCardsIn } from '../../src/app/inbox.ts'
import { openInstructionFile } from '../../src/app/instruction-file.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { InboxEvent } from '../../src/domain/inbox.ts'
import { fingerprintOf } from '../../src/domain/interpretation.ts'
import { NO_MERCHANT } from '../../src/domain/merchant.ts'
import type { SubmitRequest } from '../../src/domain/submission.ts'
import { type OpenedInbox, openInbox } from '../../src/inbox/folder.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { commandLine } from '../../src/present/command-line.ts'
import { exitCodeOfEvents } from '../../src/present/inbox.ts'
import type { InboxParts } from '../../src/processors/inbox-parts.ts'
import { holdAgainst, submitFile } from '../../src/processors/submit-file.ts'
import { createInboxWork, type InboxWork } from '../../src/processors/work-inbox.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { refunds, toCsv } from '../fixtures/files.ts'
import { deepFolder, takenIn } from '../fixtures/inboxes.ts'
import { CLERK, listOf, NOW, purgeAll, work } from '../fixtures/ledgers.ts'
import { accountId, ledger, place, useSqliteLedger } from '../fixtures/use-ledger.ts'

const PAN = '4111111111111111'
const OPTIONS = {
  ...{
    operation: undefined,
    cards: 'refused' as const,
    nowMs: 0,
    currency: undefined,
    decimal: undefined,
    runKey: undefined,
    sheet: undefined,
  },
  spelling: commandLine,
}
const REQUEST: Omit<SubmitRequest, 'accountId'> = {
  ...{
    runKey: null,
    fingerprint: '',
    sandbox: false,
    retry: [],
    lookalikeDays: 20,
    captureTolerance: 0,
    dailyLimits: null,
    allowAboveLimit: 0,
    allowLookalikes: 0,
    skipInvalid: false,
  },
  ...{ expectCount: null, expectTotals: [], canaryRows: null, maxDeclinedPercent: null, nowMs: NOW },
}

let clock: ManualClock
let dir: string
let folder: OpenedInbox
let told: InboxEvent[]

useSqliteLedger()
beforeEach(async () => {
  clock = new ManualClock(NOW)
  dir = await mkdtemp(join(tmpdir(), 'tranche-inbox-'))
  folder = await openInbox({ path: dir, stableMs: 0, clock })
  told = []
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const line = (text: string) => [text]

function partsWith(over: Partial<InboxParts<object>> = {}): InboxParts<object> {
  return {
    ...{ folder, ledger, ledgerPath: 'ledger.db', accountId, fingerprint: '', clock, lookalikeDays: 30 },
    refusals: {
      otherwise: ({ kind, batchId }) => new Fault('usage', `${kind} ${batchId}`),
      recordedOtherwise: ({ batchId }) => new Fault('usage', `recorded otherwise ${batchId}`),
      recordedForAnother: ({ merchant }) => new Fault('usage', `recorded for ${merchant}`),
    },
    findCards: (path) => findCardsIn(path, NO_MERCHANT, OPTIONS),
    open: async (path) => openInstructionFile(path, NO_MERCHANT, OPTIONS),
    submit: (file) => submitFile(file, { ...REQUEST, accountId, nowMs: clock.nowMs() }, CLERK, ledger),
    holdAgainst: (batchId, file) => holdAgainst(batchId, file, { ...REQUEST, accountId }, ledger),
    writeRejects: async (_opened, { draft }, path) => writeFile(path, JSON.stringify(await listOf(draft.rejects()))),
    cardsFound: async () => {},
    writeResults: async (batchId, out) => {
      await writeFile(out, batchId)
      const reading = await ledger.openReading(batchId, clock.nowMs())
      await ledger.resultsWritten(batchId, out, reading.edition)
      await reading.close()
      return { path: out, summaryPath: out }
    },
    reports: {
      recorded: (name) => line(`recorded ${name}`),
      refused: (name) => line(`refused ${name}`),
      unreadable: (name) => line(`unreadable ${name}`),
      failed: (name, fault) => line(`failed ${name}: ${fault.message}`),
      left: (name) => line(`left ${name}`),
      changed: (name) => line(`changed ${name}`),
    },
    tell: (event) => void told.push(event),
    ...over,
  }
}

const open = (over: Partial<InboxParts<object>> = {}) => createInboxWork(partsWith(over))
const pass = (work: InboxWork) => work.pass(new AbortController().signal)
const put = (name: string, text = toCsv(refunds(3))) => writeFile(join(dir, name), text)
const namesIn = (sub: string) => readdirSync(join(dir, sub)).filter((name) => !name.startsWith('.'))
const csvIn = (sub: string) => namesIn(sub).filter((name) => name.endsWith('.csv'))
const kindsTold = () => told.map(({ kind }) => kind)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('trouble that is not the fault of a file', () => {
  test.each([
    ['a full disk', () => new Fault('full', 'The disk is full.')],
    ['a stopped ledger', () => new Fault('stopped', 'The ledger is stopped.')],
    ['anything unexpected', () => new Error('EIO')],
  ])('%s leaves it taken, is told once, and the file is recorded when it is over', async (_, error) => {
    let trouble = true as boolean
    const { submit } = partsWith()
    const work = open({ submit: (...file) => (trouble ? Promise.reject(error()) : submit(...file)) })
    await put('a.csv')
    await put('b.csv', toCsv(refunds(2, 50)))
    for (let i = 0; i < 4; i++) await pass(work)
    expect(kindsTold()).toEqual(['claimed', 'trouble'])
    expect(await takenIn(folder)).toHaveLength(1)
    expect(csvIn('.')).toEqual(['b.csv']) // whoever comes next would meet the same
    expect(namesIn('rejected')).toEqual([])
    trouble = false
    await pass(work)
    expect(kindsTold().slice(2)).toEqual(['recorded', 'over', 'claimed', 'recorded'])
    expect(csvIn('archive')).toHaveLength(2)
  })

  test('a ledger that may not be the newest takes no file at all', async () => {
    const alarm = async () => ({ kind: 'older', noticed: 'somebody has worked since' }) as const
    const work = open({ ledger: Object.assign(Object.create(ledger) as Ledger, { alarm }) })
    await put('a.csv')
    await pass(work)
    await pass(work)
    expect(kindsTold()).toEqual(['trouble'])
    expect(csvIn('.')).toEqual(['a.csv'])
  })

  test('trouble with one file keeps no other waiting', async () => {
    const { submit } = partsWith()
    const otherwise = () => Promise.reject(new Fault('usage', 'This file is another batch already, read otherwise.'))
    const work = open({ submit: (file, path) => (file.name === 'a.csv' ? otherwise() : submit(file, path)) })
    await put('a.csv')
    await put('b.csv', toCsv(refunds(2, 50)))
    await pass(work)
    expect(csvIn('archive')).toHaveLength(1)
    expect((await takenIn(folder)).map(({ name }) => name)).toEqual(['a.csv'])
  })

  test('a refusal that the next reading may not repeat is believed at the third', async () => {
    const { submit } = partsWith()
    for (const refusals of [2, 3]) {
      let left = refusals
      const work = open({
        submit: (...file) => (left-- > 0 ? Promise.reject(new Fault('refused', 'The file changed.')) : submit(...file)),
      })
      await put('a.csv', toCsv(refunds(3, 10 * refusals)))
      for (let i = 0; i < 3; i++) await pass(work)
      expect(csvIn('archive')).toHaveLength(1)
      expect(csvIn('rejected')).toHaveLength(refusals === 2 ? 0 : 1)
      expect(await takenIn(folder)).toEqual([])
    }
  })

  test('a file that the disk does not give is not refused', async () => {
    const eio = Object.assign(new Error('i/o error'), { code: 'EIO' })
    const work = open({ open: () => Promise.reject(new Fault('refused', 'cannot be read (EIO)', { cause: eio })) })
    await put('a.csv')
    for (let i = 0; i < 5; i++) await pass(work)
    expect(await takenIn(folder)).toHaveLength(1)
    expect(namesIn('rejected')).toEqual([])
  })

  test('a file that may not be moved is reported once, whatever path the error names', async () => {
    const eperm = () =>
      Object.assign(new Error(`EPERM, rename to ${Math.random()}`), { code: 'EPERM', syscall: 'rename' })
    let blocked = true as boolean
    const take: OpenedInbox['take'] = (name, fingerprint) =>
      blocked && name === 'a.csv' ? Promise.reject(eperm()) : folder.take(name, fingerprint)
    const work = open({ folder: { ...folder, take } })
    await put('a.csv')
    await put('b.csv', toCsv(refunds(2, 50)))
    for (let i = 0; i < 3; i++) await pass(work)
    expect(kindsTold()).toEqual(['left', 'claimed', 'recorded'])
    expect(csvIn('.')).toEqual(['a.csv'])
    expect(namesIn('rejected')).toEqual(['a.csv.not-taken.txt'])
    blocked = false
    await pass(work)
    expect(csvIn('archive')).toHaveLength(2)
    expect(namesIn('rejected')).toEqual([])
  })

  test('a file that cannot be put away once it is taken keeps no other waiting', async () => {
    const eacces = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'rename' })
    const archive: OpenedInbox['archive'] = (file, ...rest) =>
      file.name === 'a.csv' ? Promise.reject(eacces) : folder.archive(file, ...rest)
    const work = open({ folder: { ...folder, archive } })
    await put('a.csv')
    await put('b.csv', toCsv(refunds(2, 50)))
    await pass(work)
    expect(csvIn('archive')).toHaveLength(1)
    await pass(open())
    expect(csvIn('archive')).toHaveLength(2)
    expect(await ledger.batches()).toHaveLength(2)
  })

  test('something odd among what was taken keeps no file waiting', async () => {
    await writeFile(join(dir, 'claimed', '20261121T090000000Z-aaaaaa'), 'no folder')
    await put('a.csv')
    const work = open()
    for (let i = 0; i < 2; i++) await pass(work)
    expect(kindsTold()).toEqual(['trouble', 'claimed', 'recorded'])
  })

  test('a name that is too long to be moved stays, is reported, and holds up no other', async () => {
    const inside = await openInbox({ path: await deepFolder(dir, 3_850), stableMs: 0, clock })
    await writeFile(join(inside.path, `${'n'.repeat(236)}.csv`), toCsv(refunds(3)))
    await writeFile(join(inside.path, 'z.csv'), toCsv(refunds(2, 50)))
    await pass(open({ folder: inside }))
    expect(kindsTold()).toEqual(['left', 'claimed', 'recorded'])
    expect(told[0]).toMatchObject({ finding: { problem: expect.stringContaining('ENAMETOOLONG') } })
  })

  test('a folder that cannot be reached is told once, and work goes on when it is back', async () => {
    let gone = true as boolean
    const look = () => (gone ? Promise.reject(new Error('ESTALE')) : folder.look())
    const work = open({ folder: { ...folder, look } })
    await put('a.csv')
    for (let i = 0; i < 3; i++) await pass(work)
    expect(kindsTold()).toEqual(['trouble'])
    gone = false
    await pass(work)
    expect(kindsTold()).toEqual(['trouble', 'over', 'claimed', 'recorded'])
  })
})

describe('a folder that is another than was opened', () => {
  test.each(['claimed', 'archive', 'rejected', 'results'])(
    'a link in the place of %s: nothing is taken or written there until the folder is back',
    async (sub) => {
      const work = open()
      const elsewhere = await mkdtemp(join(tmpdir(), 'tranche-elsewhere-'))
      await rename(join(dir, sub), join(dir, `.${sub}-aside`))
      await symlink(elsewhere, join(dir, sub))
      await put('a.csv')
      await put('bad.csv', 'reference,amount\nR-9,four\n')
      for (let i = 0; i < 2; i++) await pass(work)
      expect(kindsTold()).toEqual(['trouble'])
      expect(readdirSync(elsewhere)).toEqual([])
      await rm(join(dir, sub))
      await rename(join(dir, `.${sub}-aside`), join(dir, sub))
      await pass(work)
      expect(kindsTold()).toEqual(['trouble', 'over', 'claimed', 'recorded', 'claimed', 'rejected'])
      expect(readdirSync(elsewhere)).toEqual([])
      await rm(elsewhere, { recursive: true })
    },
  )
})

describe('one batch for one file', () => {
  test('interrupted after it was recorded, it is that batch, also with results written by hand', async () => {
    await put('first.csv')
    await pass(open())
    await put('second.csv', `${toCsv(refunds(3))}\n`) // other bytes, the same rows: all recorded already, none open
    await pass(open({ folder: { ...folder, archive: () => Promise.reject(new Error('killed')) } }))
    const [second] = await ledger.batches()
    expect(second).toMatchObject({ fileName: 'second.csv', counts: { DUPLICATE: 3 } })
    const reading = await ledger.openReading(second?.batchId as BatchId, NOW)
    await ledger.resultsWritten(second?.batchId as BatchId, '/elsewhere.csv', reading.edition)
    await reading.close()
    await pass(open())
    expect(await ledger.batches()).toHaveLength(2)
    expect(csvIn('archive')).toContain(`second.${second?.batchId}.csv`)
  })

  test('whose rows were all done a month ago says so, whether its bytes are known or not', async () => {
    await put('november.csv', toCsv(refunds(1)))
    await pass(open())
    const [first] = await ledger.batches()
    await work(ledger, first!.batchId, 'R-1', 'APPROVED')
    clock.jump(40 * 86_400_000)
    for (const text of [toCsv(refunds(1)), `${toCsv(refunds(1))}\n`]) {
      await put('december.csv', text)
      told = []
      await pass(open())
      const recorded = told.find(({ kind }) => kind === 'recorded')
      expect(recorded).toMatchObject({ batch: { doneLongAgo: { batchId: first!.batchId } } })
      expect(exitCodeOfEvents(told)).toBe(3)
    }
  })

  test('interrupted after it was recorded, it does not go to another merchant', async () => {
    await put('a.csv')
    await pass(open({ folder: { ...folder, archive: () => Promise.reject(new Error('killed')) } }))
    const other = await ledger.account('other', 'https://other.example', 'other', NOW)
    const request = { ...REQUEST, accountId: other, nowMs: clock.nowMs() }
    await pass(open({ accountId: other, submit: (file) => submitFile(file, request, CLERK, ledger) }))
    expect(told.at(-1)).toMatchObject({ kind: 'trouble', error: { message: expect.stringContaining('recorded for ') } })
    expect(await ledger.batches()).toHaveLength(1)
    await pass(open())
    expect(csvIn('archive')).toHaveLength(1)
  })

  test('interrupted after it was recorded, it is not archived as a batch that was read otherwise', async () => {
    await put('a.csv')
    await pass(open({ folder: { ...folder, archive: () => Promise.reject(new Error('killed')) } }))
    await pass(open({ fingerprint: fingerprintOf({ operation: 'CANCEL' }) }))
    expect(told.at(-1)).toMatchObject({
      kind: 'trouble',
      error: { message: expect.stringContaining('recorded otherwise ') },
    })
    expect([await ledger.batches(), csvIn('archive')]).toMatchObject([{ length: 1 }, []])
    await pass(open())
    expect(csvIn('archive')).toHaveLength(1)
  })

  test('interrupted after it was recorded, it does not go on without brakes asked for now', async () => {
    await put('a.csv')
    await pass(open({ folder: { ...folder, archive: () => Promise.reject(new Error('killed')) } }))
    const request = { ...REQUEST, accountId, canaryRows: 1 }
    await pass(open({ holdAgainst: (batchId, file) => holdAgainst(batchId, file, request, ledger) }))
    expect(told.at(-1)).toMatchObject({
      kind: 'trouble',
      error: { message: expect.stringContaining('braked-otherwise ') },
    })
    expect([await ledger.batches(), csvIn('archive')]).toMatchObject([{ length: 1 }, []])
    await pass(open())
    expect(csvIn('archive')).toHaveLength(1)
  })

  test('the same bytes again are the same batch while it is not finished', async () => {
    for (const name of ['a.csv', 'b.csv', 'a.csv']) {
      await put(name)
      await pass(open())
    }
    expect(await ledger.batches()).toHaveLength(1)
    expect(told.filter((event) => event.kind === 'recorded').map(({ known }) => known)).toEqual([false, true, true])
    expect(csvIn('archive')).toHaveLength(3)
  })

  test('the same name with other rows is another batch', async () => {
    await put('a.csv')
    await pass(open())
    await put('a.csv', toCsv(refunds(2, 50)))
    await pass(open())
    expect(await ledger.batches()).toHaveLength(2)
    expect(csvIn('archive')).toHaveLength(2)
  })

  test('two without a lock on one folder make one batch of each file', async () => {
    const files = 20
    for (let n = 0; n < files; n++) await put(`f-${n}.csv`, toCsv(refunds(2, 10 * (n + 1))))
    const other = place.open()
    const mine = open()
    const theirs = open({
      ledger: other,
      submit: (file) => submitFile(file, { ...REQUEST, accountId, nowMs: clock.nowMs() }, CLERK, other),
    })
    for (let i = 0; i < 6; i++) await Promise.all([pass(mine), pass(theirs)])
    const batches = await ledger.batches()
    expect(batches.map(({ counts }) => counts)).toEqual(Array.from({ length: files }, () => ({ READY: 2 })))
    expect(csvIn('archive').filter((name) => !name.includes('.again-'))).toHaveLength(files)
    expect(csvIn('.')).toEqual([])
    expect(namesIn('rejected')).toEqual([])
  })
})

describe('a file that is written to after it was taken', () => {
  test('is not called archived if it changed, and its batch has its results all the same', async () => {
    const first = toCsv(refunds(3))
    const { submit } = partsWith()
    await put('a.csv', first)
    const work = open({
      submit: async (...file) => {
        const submitted = await submit(...file)
        const [taken] = await takenIn(folder)
        await appendFile(taken?.path as string, 'R-99,REFUND,9.00,EUR,70000099,,,,\n')
        return submitted
      },
    })
    await pass(work)
    expect(kindsTold()).toEqual(['claimed', 'recorded', 'changed'])
    expect(csvIn('archive')).toEqual([])
    expect(csvIn('rejected')).toHaveLength(1)
    const [batch] = await ledger.batches()
    expect(batch).toMatchObject({ rows: 3, fileSha256: sha256(first) })
    expect(await folder.archived()).toMatchObject([{ batchId: batch?.batchId, path: null }])
    await ledger.cancel(batch?.batchId as BatchId, 'test', CLERK, NOW)
    await ledger.finishCancelling(NOW)
    await pass(work)
    expect(namesIn('results')).toHaveLength(1)
  })

  test('is told of when it grew in the archive before its results were written', async () => {
    const work = open()
    await put('a.csv')
    await pass(work)
    const [archived] = await folder.archived()
    await appendFile(archived?.path as string, 'late\n')
    await ledger.cancel(archived?.batchId as BatchId, 'test', CLERK, NOW)
    await ledger.finishCancelling(NOW)
    await pass(work)
    expect(kindsTold()).toEqual(['claimed', 'recorded', 'changed', 'results'])
    expect(namesIn('rejected')).toEqual([`${archived?.batchId}.changed.report.txt`])
  })

  test('goes back where it was when card data came into it, and no trace stays elsewhere', async () => {
    await put('a.csv')
    const real = partsWith()
    const work = open({
      open: async (path, name) => {
        await appendFile(path, `R-99,REFUND,9.00,EUR,70000099,,,,${PAN}\n`)
        return real.open(path, name)
      },
    })
    await pass(work)
    expect(kindsTold()).toEqual(['claimed', 'left'])
    expect(csvIn('.')).toEqual(['a.csv'])
    expect(namesIn('claimed')).toEqual([])
    expect(namesIn('rejected')).toEqual(['a.csv.not-taken.txt'])
    expect(await ledger.batches()).toEqual([])
  })
})

describe('card data', () => {
  const files: ReadonlyArray<readonly [string, string]> = [
    ['a column for it', `reference,transaction_type,pmt_numb\nR-1,CAPTURE,${PAN}\n`],
    [
      'a note',
      `reference,transaction_type,amount,request_currency,request_ref_po_id,note\nR-1,REFUND,1.00,EUR,7,${PAN}\n`,
    ],
    ['a file without the columns it needs', `a,b\n1,${PAN}\n`],
    ['a row behind one that is broken', `reference,transaction_type\nR-1,REFUND,3\n"R-2,${PAN}`],
    ['a security code in a file that cannot be read', 'a,cvv\n1,123\n'],
  ]
  test.each(files)('in %s leaves the file as it is, where it is, told once until it changes', async (_, text) => {
    await put('cards.csv', text)
    const before = statSync(join(dir, 'cards.csv'))
    const work = open()
    for (let i = 0; i < 3; i++) await pass(work)
    expect(kindsTold()).toEqual(['left'])
    expect(statSync(join(dir, 'cards.csv'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
    expect(everythingUnder(dir).filter((path) => readFileSync(path, 'utf8').includes(PAN)).length).toBeLessThan(2)
    expect(namesIn('claimed').concat(namesIn('archive'))).toEqual([])
    expect(namesIn('rejected')).toEqual(['cards.csv.not-taken.txt'])
    await appendFile(join(dir, 'cards.csv'), '\n')
    await pass(work)
    expect(kindsTold()).toEqual(['left', 'left'])
    await put('cards.csv')
    await pass(work)
    expect(kindsTold()).toEqual(['left', 'left', 'claimed', 'recorded'])
    expect(namesIn('rejected')).toEqual([])
  })

  test('in the name of a file leaves it as well', async () => {
    await put(`refunds ${PAN}.csv`)
    await pass(open())
    expect(kindsTold()).toEqual(['left'])
    expect(namesIn('rejected').join()).not.toContain(PAN)
  })

  test('that cannot be looked for, in a workbook, leaves the file as well', async () => {
    await writeFile(join(dir, 'sheet.xlsx'), Buffer.from('504b030414000600', 'hex'))
    await pass(open())
    expect(told).toMatchObject([{ kind: 'left', finding: { kind: 'unseen' } }])
    expect(existsSync(join(dir, 'sheet.xlsx'))).toBe(true)
  })

  function everythingUnder(path: string): string[] {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  }
})

describe('results', () => {
  async function finished(): Promise<{ work: InboxWork; batchId: BatchId; path: string }> {
    const work = open()
    await put('a.csv')
    await pass(work)
    const [archived] = await folder.archived()
    if (archived === undefined) throw new Error('nothing was archived')
    await ledger.cancel(archived.batchId, 'test', CLERK, NOW)
    await ledger.finishCancelling(NOW)
    return { work, batchId: archived.batchId, path: archived.resultsPath }
  }

  test('are written once when no row is open, even if they are taken away', async () => {
    const { work, path } = await finished()
    expect(existsSync(path)).toBe(false)
    await pass(work)
    expect(existsSync(path)).toBe(true)
    await rm(path)
    for (const again of [work, open()]) {
      clock.jump(120_000)
      await pass(again)
    }
    expect(existsSync(path)).toBe(false)
  })

  test('are written again when they were written elsewhere, as these would grow old unseen', async () => {
    const { work, batchId, path } = await finished()
    await pass(work)
    const reading = await ledger.openReading(batchId, NOW)
    await ledger.resultsWritten(batchId, '/elsewhere.csv', reading.edition)
    await reading.close()
    clock.jump(120_000)
    await pass(work)
    expect((await ledger.batch(batchId))?.resultsPath).toBe(path)
  })

  test('of a batch that was purged are not written again: they would lose columns', async () => {
    const { work, path } = await finished()
    await pass(work)
    await writeFile(path, 'as they were')
    expect(await purgeAll(ledger)).toBe(3) // which writes them elsewhere first
    for (const again of [work, open()]) {
      clock.jump(120_000)
      await pass(again)
    }
    expect(readFileSync(path, 'utf8')).toBe('as they were')
  })

  test('that cannot be written are told once and do not stop the taking of files', async () => {
    const { path } = await finished()
    const work = open({
      writeResults: () => Promise.reject(new Fault('usage', `${path} is not a result of this program`)),
    })
    for (let i = 0; i < 3; i++) await pass(work)
    await put('b.csv', toCsv(refunds(2, 50)))
    await pass(work)
    expect(kindsTold()).toEqual(['claimed', 'recorded', 'trouble', 'claimed', 'recorded'])
  })

  test('of a batch that this ledger does not know are told of', async () => {
    await writeFile(join(dir, 'archive', 'x.261121-zzzzz.report.txt'), '')
    const work = open()
    await pass(work)
    await pass(work)
    expect(told).toMatchObject([{ kind: 'trouble', error: { code: 'stopped' } }])
  })
})

test('asked to end, it takes no further file', async () => {
  const stop = new AbortController()
  await put('a.csv')
  await put('b.csv', toCsv(refunds(2, 50)))
  const work = open({ tell: (event) => event.kind === 'recorded' && stop.abort() })
  await work.pass(stop.signal)
  expect(csvIn('archive')).toHaveLength(1)
  expect(csvIn('.')).toEqual(['b.csv'])
})
