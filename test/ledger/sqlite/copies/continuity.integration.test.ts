// A copy that is put over the files of an open ledger: whoever has it open notices before it tells of another commit.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Continuity, openContinuity } from '../../../../src/ledger/sqlite/copies/continuity.ts'
import { makeTables } from '../../../../src/ledger/sqlite/make-tables.ts'

interface Opened {
  readonly db: DatabaseSync
  readonly continuity: Continuity
}

let dir: string
let path: string
let opened: Opened[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tc-'))
  path = join(dir, 'ledger.db')
  opened = []
})
afterEach(() => {
  for (const { db, continuity } of opened) {
    continuity.close()
    db.close()
  }
  rmSync(dir, { recursive: true })
})

function open(): Opened {
  const db = new DatabaseSync(path, { timeout: 2_000 })
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0')
  makeTables(db)
  const continuity = openContinuity(db, () => new DatabaseSync(path, { readOnly: true, timeout: 2_000 }))
  opened.push({ db, continuity })
  return { db, continuity }
}

/** `meanwhile`: between the look at the beginning and the commit. */
function commit({ db, continuity }: Opened, meanwhile = () => {}): boolean {
  db.exec('BEGIN IMMEDIATE')
  if (!continuity.advance()) {
    db.exec('ROLLBACK')
    return false
  }
  meanwhile()
  db.exec('COMMIT')
  continuity.committed()
  return continuity.holds()
}

/** Pages of two states may not even fit together. */
function holdsWhole({ continuity }: Opened): boolean {
  try {
    return continuity.holdsWhole()
  } catch (error) {
    expect(error).toMatchObject({ message: 'database disk image is malformed' })
    return false
  }
}

function commits(of: Opened, count: number): void {
  for (let i = 0; i < count; i++) expect(commit(of)).toBe(true)
}

const shell = (script: string) => execFileSync('sh', ['-ec', script], { cwd: dir })
const KEEP = 'mkdir -p bak; cp -a ledger.db* bak'
const PUT_OVER = 'cp -a bak/. .'

test('commits of several processes in turn are no reason for alarm, however many lie between', () => {
  const [one, other] = [open(), open()]
  for (const count of [1, 1, 2, 3, 500, 2047, 2048, 2049, 5000]) {
    commits(one, 1)
    commits(other, count)
  }
  commits(one, 3)
  expect([one.continuity.holdsWhole(), other.continuity.holdsWhole()]).toEqual([true, true])
})

test('a transaction that is rolled back leaves no mark', () => {
  const one = open()
  commits(one, 3)
  one.db.exec('BEGIN IMMEDIATE')
  expect(one.continuity.advance()).toBe(true)
  one.db.exec('ROLLBACK')
  expect([one.continuity.holds(), one.continuity.holdsWhole()]).toEqual([true, true])
  commits(one, 3)
})

describe('a copy put over the open files is noticed', () => {
  test.each([1, 2, 3, 10])('that is %i commits old', (lost) => {
    const one = open()
    commits(one, 20)
    shell(KEEP)
    commits(one, lost)
    shell(PUT_OVER)
    expect(one.continuity.holds()).toBe(false)
    expect(commit(one)).toBe(false)
  })

  test.each([1, 2, 9, 10, 11, 100])('although another process has made %i commits since', (count) => {
    const one = open()
    commits(one, 20)
    shell(KEEP)
    commits(one, 10)
    shell(PUT_OVER)
    commits(open(), count)
    expect(commit(one)).toBe(false)
  })

  test.each([1, 2, 3, 4, 9, 10])('while a commit is being written, %i commits old', (lost) => {
    const one = open()
    commits(one, 20)
    shell(KEEP)
    commits(one, lost)
    expect(commit(one, () => shell(PUT_OVER))).toBe(false)
  })

  test('where only the database file is, and the log has begun again since', () => {
    const one = open()
    commits(one, 600)
    one.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    shell('mkdir bak; cp -a ledger.db bak')
    commits(one, 600)
    one.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    expect(one.continuity.holdsWhole()).toBe(true)
    commits(one, 600)
    shell(PUT_OVER)
    expect(holdsWhole(one)).toBe(false)
  })

  test('where another program emptied the log before', () => {
    const one = open()
    commits(one, 1)
    one.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    shell('mkdir bak; cp -a ledger.db bak')
    commits(one, 30)
    const other = new DatabaseSync(path)
    other.exec('PRAGMA wal_checkpoint(RESTART)')
    other.close()
    shell(PUT_OVER)
    expect(commit(one)).toBe(false)
  })
})
