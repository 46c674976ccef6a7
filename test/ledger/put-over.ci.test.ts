// An older state put over the files of a ledger that this process has open: it dies before it commits or tells of anything.

import { execFileSync, spawnSync } from 'node:child_process'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { deathOf } from '../fixtures/deaths.ts'
import { CLERK, NOW, refund, sqlitePlace, submit } from '../fixtures/ledgers.ts'
import { accountId, ledger, place, sqlite, useSqliteLedger } from '../fixtures/use-ledger.ts'

let batchId: BatchId

/** Without a witness, so that nothing else tells. */
useSqliteLedger(sqlitePlace)
beforeEach(async () => {
  await ledger.renewEpoch()
  batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
})

const shell = (script: string) => execFileSync('sh', ['-ec', script], { cwd: sqlite.dir })
/** The witness within as well: nothing but the marks tells. */
const KEEP = 'mkdir bak; cp -a ledger.db* *.witness bak'
const pause = () => ledger.pause(batchId, 'try', CLERK, NOW)
const resume = () => ledger.resume(batchId, 'try', CLERK, NOW)
const PUT_OVER = { code: 'storage', message: expect.stringContaining('An older state was put over the ledger') }

function acts(): number {
  const db = new DatabaseSync(sqlite.path)
  const { count } = db.prepare('SELECT count(*) AS count FROM act').get() as { count: number }
  db.close()
  return count
}

async function alarmAfterwards(): Promise<string | undefined> {
  return (await place.open().alarm())?.kind
}

test.each([
  ['cp -a of the directory', 'cp -a bak/. .'],
  ['cp -r of the directory', 'cp -r bak/. .'],
  ['cp of the ledger', 'cp bak/ledger.db* .'],
  ['cp -a of the ledger', 'cp -a bak/ledger.db* .'],
])('by %s: it commits nothing into it, and the next process knows it for an older state', async (_way, script) => {
  shell(KEEP)
  await pause()
  shell(script)
  void resume()
  expect(await deathOf()).toMatchObject(PUT_OVER)
  expect(acts()).toBe(0)
  expect(await alarmAfterwards()).toBe('older')
})

const hasRsync = spawnSync('rsync', ['--version']).status === 0

test.runIf(hasRsync)(
  'by rsync --inplace, which leaves the index of the log alone: it dies before it tells of a commit, and the next process knows it as well',
  async () => {
    shell(KEEP)
    await pause()
    shell('rsync -a --inplace --modify-window=-1 bak/ .')
    let told = false
    void resume().then(() => {
      told = true
    })
    expect(await deathOf()).toMatchObject({ code: 'storage', message: expect.stringContaining('Nothing more is sent') })
    expect(told).toBe(false)
    expect(await alarmAfterwards()).toBe('older')
  },
)

test('it dies at its next look where nothing is to be committed', async () => {
  shell(KEEP)
  await pause()
  shell('cp -a bak/. .')
  await expect(ledger.workable(NOW, 100)).rejects.toMatchObject(PUT_OVER)
  expect(await alarmAfterwards()).toBe('older')
})

test('it dies where only the epoch was put back so far', async () => {
  shell('mkdir bak; cp -a ledger.epoch bak')
  await ledger.renewEpoch()
  await expect(ledger.workable(NOW, 100)).resolves.toBeDefined()
  shell('cp -a bak/. .')
  await expect(ledger.workable(NOW, 100)).rejects.toMatchObject(PUT_OVER)
})

test('it dies where only the database file was put back, and the log has begun again since', async () => {
  const empty = () =>
    shell(
      `${process.execPath} -e "new (require('node:sqlite').DatabaseSync)('ledger.db').exec('PRAGMA wal_checkpoint(TRUNCATE)')"`,
    )
  for (let i = 0; i < 150; i++) await (i % 2 === 0 ? pause() : resume())
  empty()
  shell('mkdir bak; cp -a ledger.db bak')
  for (let i = 0; i < 600; i++) await (i % 2 === 0 ? pause() : resume())
  empty()
  for (let i = 0; i < 10; i++) await (i % 2 === 0 ? pause() : resume())
  await expect(ledger.workable(NOW, 100)).resolves.toBeDefined()
  shell('cp -a bak/. .')
  await expect(ledger.workable(NOW, 100)).rejects.toMatchObject(PUT_OVER)
})

test('a change of modes, and a program that reads all of it, end nothing', async () => {
  await pause()
  shell(
    'chmod -R u+x .; chmod u-x ledger.db ledger.epoch; mkdir links; cp -al ledger.* links; cat ledger.* > /dev/null',
  )
  await resume()
  await expect(ledger.workable(NOW, 100)).resolves.toBeDefined()
})
