// What people and programs do to the files of a ledger that are not theirs, where an integration test shows the same of the ledger alone: a
// lock that is held, looks for an alarm under a run, damage, an adoption that is killed.

import { closeSync, ftruncateSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'vitest'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import { countsIn, recordedIn } from '../fixtures/books.ts'
import { until } from '../fixtures/cli.ts'
import { refunds } from '../fixtures/files.ts'
import { openPlace, takingMs } from './place.ts'

/** Slow enough for something to be done before it is over. */
const AT_EASE = { TRANCHE_IN_FLIGHT: '4', TRANCHE_RATE: '40' }

test.concurrent('a write lock held beyond every send-by keeps new work back and loses no answer', async ({
  expect,
  onTestFinished,
}) => {
  await using place = await openPlace(AT_EASE, takingMs(30))
  const { office, gateway } = place
  const { input, out } = await place.file('in', refunds(160))
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => gateway.received().length >= 20, running)
  const holder = new DatabaseSync(office.ledgerPath, { timeout: 5_000 })
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  await until(
    'what was claimed is sent',
    () => recordedIn(office).every(isSentOrReady(gateway.received().length)),
    running,
  )
  const before = gateway.received().length
  expect(before).toBeLessThan(160)
  const heldMs = Date.now()
  await until('every send-by has passed', () => Date.now() > heldMs + 17_000, running)
  expect(gateway.received()).toHaveLength(before)
  holder.exec('ROLLBACK')
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 160 })
  expect(gateway.received()).toHaveLength(160)
  expect(place.lies({ input, out })).toEqual([])
})

function isSentOrReady(received: number) {
  return (_: unknown, nth: number, all: readonly { state: string }[]) =>
    nth > 0 || all.filter(({ state }) => state !== 'READY').length === received
}

test.concurrent('asked again and again under a run, the ledger that works raises no alarm', async ({ expect }) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '16' })
  const { office, gateway } = place
  const { input, out } = await place.file('in', refunds(1_500))
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => gateway.received().length >= 20, running)
  const ledger = openLedger({
    path: office.ledgerPath,
    submitLockPath: null,
    witnessDirs: [office.witnessDir],
    die: (error) => {
      throw error
    },
  })
  const alarms = new Map<string, number>()
  for (let sent = 0; sent < 1_400; sent = gateway.received().length) {
    const noticed = (await ledger.alarm())?.noticed ?? 'nothing'
    alarms.set(noticed, (alarms.get(noticed) ?? 0) + 1)
    await turn()
  }
  await ledger.close()
  expect((await running.ended).code).toBe(0)
  expect([...alarms.keys()]).toEqual(['nothing'])
})

const PAGE = 4_096
const write = (path: string, at: number, bytes: Buffer) => {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}
const pagesOf = (path: string) => Math.floor(statSync(path).size / PAGE)

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  'its header is zeros': (path) => write(path, 0, Buffer.alloc(100)),
  'its first page is zeros': (path) => write(path, 0, Buffer.alloc(PAGE)),
  'a page in the middle is zeros': (path) => write(path, Math.floor(pagesOf(path) / 2) * PAGE, Buffer.alloc(PAGE)),
  'every fourth page is noise': (path) => {
    for (let page = 4; page < pagesOf(path); page += 4) write(path, page * PAGE, Buffer.alloc(PAGE, 0xa5))
  },
  'its last pages are missing': (path) => {
    const file = openSync(path, 'r+')
    ftruncateSync(file, (pagesOf(path) - 5) * PAGE)
    closeSync(file)
  },
  'it is empty': (path) => {
    const file = openSync(path, 'r+')
    ftruncateSync(file, 0)
    closeSync(file)
  },
}

test.concurrent.for(Object.keys(DAMAGES))(
  'of a ledger that is damaged (%s) nothing is sent a second time, and 0 is said of none',
  async (damage, { expect }) => {
    await using place = await openPlace(AT_EASE, takingMs(20))
    const { office, gateway } = place
    const { input, out } = await place.file('in', refunds(80))
    const first = office.start('run', input, '--out', out)
    await until('the run is under way', () => gateway.received().length >= 30, first)
    first.kill('SIGTERM')
    expect((await first.ended).code).toBe(130)
    DAMAGES[damage]?.(office.ledgerPath)
    const again = await office.tranche('run', input, '--out', out)
    expect(Math.max(...gateway.executed().values())).toBe(1)
    // A page that no command needs may be lost unseen; then all of it is true.
    if ([0, 3, 5].includes(again.code ?? 1)) expect(place.lies({ input, out })).toEqual([])
    else expect([1, 2, 6], again.stderr).toContain(again.code)
  },
)

test.concurrent('an adoption as restored, killed again and again, ends with all open rows in doubt', async ({
  expect,
}) => {
  await using place = await openPlace()
  const { office, gateway } = place
  const rows = refunds(900)
  const { input } = await place.file('in', rows)
  await office.tranche('submit', input)
  const copy = office.path('copy.db')
  expect((await office.tranche('backup', copy)).code).toBe(0)
  renameSync(copy, office.ledgerPath)
  for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
  for (let kill = 0; kill < 6; kill += 1) {
    const doubted = recordedIn(office).filter(({ state }) => state === 'IN_DOUBT').length
    const adopting = office.start('adopt', '--restored', '--reason', 'the disk failed')
    const isOver = adopting.ended.then(() => true)
    const started = () => recordedIn(office).filter(({ state }) => state === 'IN_DOUBT').length > doubted
    // Now as it starts, now when it has begun.
    if (kill % 2 === 0) await Promise.race([until('it has begun', started).catch(() => {}), isOver])
    adopting.kill('SIGKILL')
    await adopting.ended
    const worked = await office.tranche('worker', '--until-idle')
    expect([0, 6], worked.stderr).toContain(worked.code)
    expect(gateway.received()).toEqual([])
  }
  const adopted = await office.tranche('adopt', '--restored', '--reason', 'the disk failed')
  expect([0, 2], adopted.stderr).toContain(adopted.code) // 2: the last one had got to its end
  expect(recordedIn(office).filter(({ state }) => state !== 'IN_DOUBT')).toEqual([])
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(gateway.received()).toEqual([])
  expect(place.lies()).toEqual([])
})
