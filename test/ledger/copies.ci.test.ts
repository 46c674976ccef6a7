// Copies of a ledger: which file is the one that may send, how one is made, and how one is taken over.

import { execFileSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import { makeLedger } from '../../src/ledger/sqlite/open-file.ts'
import type { FileLedger } from '../../src/ports/ledger/file.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { type Child, startChild } from '../fixtures/children.ts'
import { CLERK, NOW, openAccount, refund, type SqlitePlace, sqlitePlace, submit, work } from '../fixtures/ledgers.ts'

let place: SqlitePlace
let children: Child[]
let opened: FileLedger[]

beforeEach(async () => {
  children = []
  opened = []
  place = await sqlitePlace()
})
afterEach(async () => {
  for (const child of children) await child.kill()
  for (const ledger of opened) await ledger.close().catch(() => {})
  await place.remove()
})

const epochPath = () => join(place.dir, 'ledger.epoch')
const within = (name: string) => join(place.dir, name)

/** The ledger of another directory. */
function openIn(dir: string): FileLedger {
  const die = (error: unknown): never => {
    throw error
  }
  const ledger = openLedger({ path: join(dir, 'ledger.db'), submitLockPath: join(dir, 'submit.lock'), die })
  opened.push(ledger)
  return ledger
}

/** By another process: this one may have it open, and would drop its locks. */
function copyFile(from: string, to: string): void {
  execFileSync('cp', [from, to])
}

async function closed(use: (ledger: FileLedger) => Promise<unknown> = async () => {}): Promise<void> {
  const ledger = place.open()
  await use(ledger)
  await ledger.close()
}

async function alarmIn(dir = place.dir): Promise<string | null> {
  const ledger = openIn(dir)
  const alarm = await ledger.alarm()
  await ledger.close()
  return alarm?.kind ?? null
}

const recordTwo = async (ledger: Ledger) => submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])

describe('the ledger that it remembers to be', () => {
  test('it is from the first opening on, beside a file that only its owner reads', async () => {
    await closed()
    expect(await alarmIn()).toBeNull()
    expect(statSync(epochPath()).mode & 0o777).toBe(0o600)
  })

  test('it stays when its directory is given another name', async () => {
    await closed((ledger) => ledger.renewEpoch())
    const elsewhere = `${place.dir}-moved`
    renameSync(place.dir, elsewhere)
    try {
      expect(await alarmIn(elsewhere)).toBeNull()
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  test('a copy of the directory is not, even before the first work', async () => {
    await closed(recordTwo)
    const copy = within('copy')
    mkdirSync(copy)
    for (const name of readdirSync(place.dir)) if (name !== 'copy') cpSync(within(name), join(copy, name))
    expect(await alarmIn(copy)).toBe('elsewhere')
    expect(await alarmIn()).toBeNull()
  })

  test('a state put back into the same file is not, once the epoch was renewed', async () => {
    await closed((ledger) => ledger.renewEpoch())
    const inode = statSync(place.path).ino
    copyFile(place.path, within('kept.db'))
    await closed((ledger) => ledger.renewEpoch())
    copyFile(within('kept.db'), place.path)
    expect(statSync(place.path).ino).toBe(inode)
    expect(await alarmIn()).toBe('older')
  })

  test('an older state is known for one in another file, too', async () => {
    await closed((ledger) => ledger.renewEpoch())
    copyFile(place.path, within('kept.db'))
    await closed((ledger) => ledger.renewEpoch())
    renameSync(within('kept.db'), place.path)
    expect(await alarmIn()).toBe('older')
  })

  test('the state that is left when the log was thrown away after a crash is not', async () => {
    await closed((ledger) => ledger.renewEpoch())
    const renewer = startChild('child-adopter.ts', place.dir, 'renew')
    children.push(renewer)
    await renewer.said(/begins/)
    const before = readFileSync(epochPath(), 'utf8')
    while (readFileSync(epochPath(), 'utf8') === before) await turn()
    await renewer.kill()
    expect(existsSync(`${place.path}-wal`)).toBe(true)
    for (const part of ['-wal', '-shm']) rmSync(place.path + part)
    expect(await alarmIn()).toBe('older')
  })

  test('without its epoch it is not', async () => {
    await closed()
    rmSync(epochPath())
    expect(await alarmIn()).toBe('unmarked')
  })

  test('another file put in its place is not, and none is made there', async () => {
    await closed()
    rmSync(place.path)
    const make = () => makeLedger({ path: place.path })
    expect(make).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining(epochPath()) }))
    const other = await sqlitePlace()
    await other.open().close()
    copyFile(other.path, place.path)
    await other.remove()
    expect(await alarmIn()).toBe('other')
    expect(await alarmIn()).toBe('other')
  })

  test('a ledger of an earlier program, which remembers nothing, remembers this file from now on', async () => {
    await closed()
    rmSync(epochPath())
    const db = new DatabaseSync(place.path)
    db.exec("DELETE FROM meta WHERE key = 'identity'")
    db.close()
    expect(await alarmIn()).toBeNull()
    expect(existsSync(epochPath())).toBe(true)
  })

  test('a crash between the first epoch and the ledger’s memory of it is no alarm', async () => {
    await closed()
    const db = new DatabaseSync(place.path)
    db.exec("DELETE FROM meta WHERE key = 'identity'")
    db.close()
    const epoch = readFileSync(epochPath(), 'utf8')
    expect(await alarmIn()).toBeNull()
    expect(readFileSync(epochPath(), 'utf8')).toBe(epoch)
  })
})

describe('renewing the epoch', () => {
  test('changes it each time, and leaves nothing behind', async () => {
    const epochs = new Set<string>()
    await closed(async (ledger) => {
      for (let i = 0; i < 3; i++) {
        await ledger.renewEpoch()
        epochs.add(readFileSync(epochPath(), 'utf8'))
      }
    })
    expect(epochs.size).toBe(3)
    expect(readdirSync(place.dir).filter((name) => name.includes('.new'))).toEqual([])
    expect(await alarmIn()).toBeNull()
  })

  test('that ends between its commit and its file is no alarm, and the next one goes through', async () => {
    const ledger = place.open()
    await ledger.renewEpoch()
    const inTheWay = `${epochPath()}.${process.pid}.new`
    mkdirSync(join(inTheWay, 'full'), { recursive: true })
    await expect(ledger.renewEpoch()).rejects.toThrow()
    expect(await ledger.alarm()).toBeNull()
    rmSync(inTheWay, { recursive: true })
    await ledger.renewEpoch()
    expect(await ledger.alarm()).toBeNull()
  })

  test('killed at any moment is no alarm', async () => {
    await closed()
    for (let round = 0; round < 12; round++) {
      const renewer = startChild('child-adopter.ts', place.dir, 'renew')
      children.push(renewer)
      await renewer.said(/begins/)
      for (let i = 0; i < round * 40; i++) await turn()
      await renewer.kill()
      expect(await alarmIn()).toBeNull()
    }
  })

  test('under a look raises no alarm', async () => {
    await closed()
    const renewer = startChild('child-adopter.ts', place.dir, 'renew')
    children.push(renewer)
    await renewer.said(/begins/)
    const ledger = place.open()
    const noticed = new Set<string | null>()
    const epochs = new Set<string>()
    while (epochs.size < 200) {
      noticed.add((await ledger.alarm())?.noticed ?? null)
      epochs.add(readFileSync(epochPath(), 'utf8'))
    }
    expect([...noticed]).toEqual([null])
  })

  test('is refused for a ledger that is not the one it remembers, and changes nothing', async () => {
    await closed()
    rmSync(epochPath())
    const ledger = place.open()
    await expect(ledger.renewEpoch()).rejects.toMatchObject({ name: 'Fault', code: 'stopped' })
    expect(existsSync(epochPath())).toBe(false)
  })

  test('writes the file again that was removed under a worker', async () => {
    const ledger = place.open()
    await ledger.renewEpoch()
    rmSync(epochPath())
    await ledger.renewEpoch()
    expect(await ledger.alarm()).toBeNull()
  })

  test('ends a worker beside which another has worked', async () => {
    const ledger = place.open()
    await ledger.renewEpoch()
    writeFileSync(epochPath(), `${ledger.ledgerId} 0123456789abcdef\n`)
    await expect(ledger.renewEpoch()).rejects.toMatchObject({ code: 'stopped' }) // `die` throws here
  })
})

describe('a backup', () => {
  test('is whole, its owner’s alone, says what it holds, and leaves nothing else behind', async () => {
    const ledger = place.open()
    const batchId = await recordTwo(ledger)
    await work(ledger, batchId, 'A', 'APPROVED')
    const to = within('copy.db')
    const made = await ledger.backup(to, NOW)
    expect(made).toEqual({ path: to, atMs: NOW, rows: 2, batches: 1, bytes: statSync(to).size })
    expect(statSync(to).mode & 0o777).toBe(0o600)
    expect(readdirSync(place.dir).filter((name) => name.includes('copy.db'))).toEqual(['copy.db'])
    expect(await ledger.alarm()).toBeNull()
    const copy = new DatabaseSync(to, { readOnly: true })
    expect(copy.prepare('SELECT state FROM instruction ORDER BY id').all()).toMatchObject([
      { state: 'APPROVED' },
      { state: 'READY' },
    ])
    copy.close()
  })

  test('sends nothing wherever it is put, in the very place of its ledger too', async () => {
    await closed(async (ledger) => {
      await ledger.renewEpoch()
      await ledger.backup(within('copy.db'), NOW)
    })
    mkdirSync(within('new'))
    copyFile(within('copy.db'), within('new/ledger.db'))
    expect(await alarmIn(within('new'))).toBe('backup')
    copyFile(within('copy.db'), place.path)
    expect(await alarmIn()).toBe('backup')
  })

  test('of a backup is a backup', async () => {
    await closed((ledger) => ledger.backup(within('copy.db'), NOW))
    mkdirSync(within('new'))
    copyFile(within('copy.db'), within('new/ledger.db'))
    await openIn(within('new')).backup(within('again.db'), NOW)
    copyFile(within('again.db'), place.path)
    expect(await alarmIn()).toBe('backup')
  })

  test('goes nowhere where something stands, nor where the ledger keeps its own', async () => {
    const ledger = place.open()
    writeFileSync(within('taken.db'), 'mine')
    for (const name of [
      'taken.db',
      'ledger.db',
      'ledger.db-journal',
      'ledger.epoch',
      'worker.lock',
      'no/such/dir.db',
    ]) {
      await expect(ledger.backup(within(name), NOW), name).rejects.toMatchObject({ name: 'Fault', code: 'usage' })
    }
    expect(readFileSync(within('taken.db'), 'utf8')).toBe('mine')
    expect(existsSync(within('ledger.db-journal'))).toBe(false)
    expect(await ledger.alarm()).toBeNull()
  })

  test.each([
    ['a value that no row may have', (path: string) => spoilValue(path)],
    ['a page that was overwritten', (path: string) => spoilPage(path)],
  ])('of a damaged ledger is none: %s', async (_what, spoil) => {
    await closed(recordTwo)
    spoil(place.path)
    const ledger = place.open()
    await expect(ledger.backup(within('copy.db'), NOW)).rejects.toMatchObject({
      code: 'storage',
      message: expect.stringContaining('damaged'),
    })
    expect(readdirSync(place.dir).filter((name) => name.includes('copy.db'))).toEqual([])
  })

  function spoilValue(path: string): void {
    const db = new DatabaseSync(path)
    db.exec("PRAGMA ignore_check_constraints = ON; UPDATE batch SET hold = 'hedl'")
    db.close()
  }

  /** Nobody has it open. */
  function spoilPage(path: string): void {
    const db = new DatabaseSync(path, { readOnly: true })
    const found = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'instruction_reference'").get()
    db.close()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(4_096), 0, 4_096, (Number(found?.rootpage) - 1) * 4_096)
    closeSync(file)
  }
})

test('adopting as restored, killed half-way, goes on with the rest when it is called again', async () => {
  const ledger = place.open()
  const rows = 20_000
  const batchId = await submit(
    ledger,
    await openAccount(ledger),
    Array.from({ length: rows }, (_, i) => refund(`R-${i}`)),
  )
  rmSync(epochPath())
  const adopter = startChild('child-adopter.ts', place.dir, 'restore')
  children.push(adopter)
  const count = async () => (await ledger.batch(batchId))?.counts.IN_DOUBT ?? 0
  while ((await count()) === 0) await turn()
  await adopter.kill()
  const before = await count()
  expect(before).toBeLessThan(rows)
  expect(await ledger.alarm()).toMatchObject({ kind: 'restoring' })
  await ledger.backup(within('half.db'), NOW)
  expect(await ledger.adopt('restored', 'once more', CLERK, NOW)).toBe(rows - before)
  expect((await ledger.batch(batchId))?.counts).toEqual({ IN_DOUBT: rows })
  expect(await ledger.alarm()).toBeNull()
  mkdirSync(within('new'))
  copyFile(within('half.db'), within('new/ledger.db'))
  expect(await alarmIn(within('new'))).toBe('restoring') // a copy of what is half done is half done
})
