// A ledger whose log is another's is not opened, and the look at it takes no lock away from whoever has the ledger open.

import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { refuseForeignLog } from '../../../../src/ledger/sqlite/copies/foreign-log.ts'

let dir: string
let path: string
let db: DatabaseSync
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tf-'))
  path = join(dir, 'ledger.db')
  db = new DatabaseSync(path)
  db.exec('CREATE TABLE t (n)')
  db.prepare('VACUUM INTO ?').run(`${path}.backup`)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO t VALUES (1)')
})
afterEach(() => {
  if (db.isOpen) db.close()
  rmSync(dir, { recursive: true })
})

/** Whether another process may have the ledger to itself. */
function isFree(): boolean {
  const script = `
    const db = new (require('node:sqlite').DatabaseSync)(process.argv[1])
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')`
  return spawnSync(process.execPath, ['-e', script, path], { stdio: 'ignore' }).status === 0
}

test('the locks of a connection in this process stay', () => {
  for (let n = 0; n < 2; n++) refuseForeignLog(path)
  expect(isFree()).toBe(false)
  closeSync(openSync(path, 'r')) // what it must not do
  expect(isFree()).toBe(true)
})

test('a backup beside the log of the ledger before it is refused, also where this process had that ledger open', () => {
  refuseForeignLog(path)
  execFileSync('cp', [`${path}-wal`, join(dir, 'kept')])
  db.close()
  execFileSync('cp', [join(dir, 'kept'), `${path}-wal`])
  for (const how of [[], ['--remove-destination']]) {
    execFileSync('cp', [...how, `${path}.backup`, path])
    expect(() => refuseForeignLog(path)).toThrow('is a copy, and')
  }
})
