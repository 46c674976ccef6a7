// What people and programs do to the files of a ledger that are not theirs: housekeeping under a run, copies put in its place, files that
// cannot be changed, a log that is deleted, a backup that is killed.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { startChild } from '../fixtures/children.ts'
import { type Office, until } from '../fixtures/cli.ts'
import { refunds } from '../fixtures/files.ts'
import { openPlace, takingMs } from './place.ts'

/** Slow enough for something to be done before it is over. */
const AT_EASE = { TRANCHE_IN_FLIGHT: '4', TRANCHE_RATE: '40' }

const HOUSEKEEPING = [
  'PRAGMA wal_checkpoint(PASSIVE)',
  'ANALYZE',
  'REINDEX',
  'VACUUM',
  'PRAGMA wal_checkpoint(TRUNCATE)',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA journal_mode = TRUNCATE',
  'PRAGMA integrity_check',
  'PRAGMA optimize',
  'VACUUM',
  'PRAGMA wal_checkpoint(RESTART)',
]

test.concurrent('housekeeping of another program under a run costs nothing', async ({ expect }) => {
  await using place = await openPlace(AT_EASE)
  const { office, gateway } = place
  const rows = refunds(500)
  const { input, out } = await place.file('in', rows)
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => gateway.received().length >= 30, running)
  const keeper = startChild('child-sqlite.ts', office.ledgerPath, ...HOUSEKEEPING)
  await keeper.ended()
  expect(gateway.received().length).toBeLessThan(rows.length) // it was under a run
  expect(keeper.lines.filter((line) => line.startsWith('done')).length).toBeGreaterThanOrEqual(HOUSEKEEPING.length - 2)
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: rows.length })
  expect(gateway.received()).toHaveLength(rows.length)
  expect(place.lies({ input, out })).toEqual([])
})

const COPIES = ['VACUUM INTO', 'backup'] as const
const WAYS = ['over it', 'in its place'] as const

test.concurrent.for(COPIES.flatMap((copied) => WAYS.map((put) => ({ copied, put }))))(
  'an older state that SQLite itself copied ($copied), put $put, sends nothing',
  async ({ copied, put }, { expect }) => {
    await using place = await openPlace()
    const { office, gateway } = place
    const { input } = await place.file('in', refunds(20))
    await office.tranche('submit', input)
    const copy = office.path('copy.db')
    await copyOf(office, copied, copy)
    expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
    for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
    if (put === 'over it') execFileSync('cp', [copy, office.ledgerPath])
    else renameSync(copy, office.ledgerPath)
    const worked = await office.tranche('worker', '--until-idle')
    expect([worked.code, worked.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
    const ran = await office.tranche('run', input, '--out', office.path('again.csv'))
    expect(ran.code, ran.stderr).toBe(6)
    expect(gateway.received()).toHaveLength(20)
  },
)

async function copyOf({ ledgerPath }: Office, copied: (typeof COPIES)[number], to: string): Promise<void> {
  const child =
    copied === 'backup'
      ? startChild('child-sqlite-backup.ts', ledgerPath, to)
      : startChild('child-sqlite.ts', ledgerPath, `VACUUM INTO '${to}'`)
  await child.ended()
}

/** A file that not even root may change or delete. */
function setUnchangeable(path: string, isSo: boolean): boolean {
  return spawnSync('chattr', [isSo ? '+i' : '-i', path], { stdio: 'ignore' }).status === 0
}

const UNCHANGEABLE = ['ledger.db', 'ledger.db-wal', 'ledger.epoch', '.']

test.concurrent.for(UNCHANGEABLE)(
  'an unchangeable %s of the data directory: what was sent is known, and the rest follows',
  async (name, { expect, skip, onTestFinished }) => {
    await using place = await openPlace(AT_EASE, takingMs(20))
    const { office, gateway } = place
    const rows = refunds(120)
    const { input, out } = await place.file('in', rows)
    const first = office.start('run', input, '--out', out)
    await until('the run is under way', () => gateway.received().length >= 30, first)
    const path = join(office.dataDir, name)
    if (!setUnchangeable(path, true)) skip('chattr +i does not work here')
    onTestFinished(() => void setUnchangeable(path, false))
    const [ran] = await Promise.all([first.ended, office.tranche('status')])
    expect(ran.code).not.toBeNull()
    const sent = gateway.received().length
    setUnchangeable(path, false)

    const again = await office.tranche('run', input, '--out', out)
    expect([0, 5], again.stderr).toContain(again.code)
    const { APPROVED = 0, IN_DOUBT = 0 } = countsIn(out)
    expect(APPROVED + IN_DOUBT).toBe(rows.length)
    expect(IN_DOUBT).toBeLessThanOrEqual(ran.code === 0 ? 0 : 4)
    expect(gateway.received().length).toBeGreaterThanOrEqual(sent)
    expect(place.lies({ input, out })).toEqual([])
  },
)

test.concurrent.for([
  { gone: ['-wal'], checkpoint: false },
  { gone: ['-wal', '-shm'], checkpoint: true },
])(
  'a log deleted behind a kill ($gone; checkpoint: $checkpoint): nothing is sent twice',
  async ({ gone, checkpoint }, { expect }) => {
    await using place = await openPlace(AT_EASE, takingMs(20))
    const { office, gateway } = place
    const { input, out } = await place.file('in', refunds(300))
    const first = office.start('run', input, '--out', out)
    await until('the run is under way', () => gateway.received().length >= 20, first)
    if (checkpoint) await startChild('child-sqlite.ts', office.ledgerPath, 'PRAGMA wal_checkpoint(TRUNCATE)').ended()
    const enough = gateway.received().length + 30
    await until('it goes on', () => gateway.received().length >= enough, first)
    first.kill('SIGKILL')
    await first.ended
    for (const part of gone) rmSync(office.ledgerPath + part)
    const again = await office.tranche('run', input, '--out', out)
    expect(Math.max(...gateway.executed().values()), again.stderr).toBe(1)
    expect(again.code, again.stderr).toBe(6)
  },
)

test.concurrent('a backup that is killed leaves no copy or a whole one, and the run goes on', async ({ expect }) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '2', TRANCHE_RATE: '60' })
  const { office } = place
  const { input, out } = await place.file('in', refunds(200))
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => place.gateway.received().length >= 5, running)
  for (let kill = 0; kill < 6; kill += 1) {
    const to = office.path(`backup-${kill}.db`)
    const copying = office.start('backup', to)
    const written = () => readdirSync(office.dir).some((name) => name.includes(`backup-${kill}`))
    if (kill % 2 === 0) await Promise.race([until('it has begun', written), copying.ended])
    copying.kill('SIGKILL')
    await copying.ended
    if (existsSync(to)) expect(isWholeCopy(to)).toBe(true)
  }
  const whole = office.path('whole.db')
  expect((await office.tranche('backup', whole)).code).toBe(0)
  expect(isWholeCopy(whole)).toBe(true)
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(place.lies({ input, out })).toEqual([])
})

function isWholeCopy(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const [checked] = db.prepare('PRAGMA integrity_check').all()
    return (
      checked?.integrity_check === 'ok' && db.prepare("SELECT 1 FROM meta WHERE key = 'copied_at'").get() !== undefined
    )
  } finally {
    db.close()
  }
}
