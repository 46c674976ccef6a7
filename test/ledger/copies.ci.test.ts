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
import type { BatchId } from '../../src/domain/ids.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import { makeLedger } from '../../src/ledger/sqlite/open-file.ts'
import type { FileLedger } from '../../src/ports/ledger/file.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { type Child, startChild } from '../fixtures/children.ts'
import {
  CLERK,
  claimNamed,
  DAY_MS,
  faultyRow,
  findingOn,
  headerOf,
  NOW,
  openAccount,
  personAt,
  refund,
  review,
  reviewOnly,
  rowIn,
  rowOf,
  type SqlitePlace,
  sale,
  settle,
  sqlitePlace,
  statesIn,
  submit,
  work,
} from '../fixtures/ledgers.ts'
import { FIRST, MENDED, made, refunds } from './conformance/given.ts'

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

  test('of an older state nothing is cancelled, approved or rejected, through whichever door', async () => {
    const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
    const policy = { rules: [rule], expireAfterMs: DAY_MS, osUsers: true }
    const batchIds: BatchId[] = []
    await closed(async (ledger) => {
      await ledger.renewEpoch()
      batchIds.push(await recordTwo(ledger))
      await ledger.adoptPolicy(policy, 'test', CLERK, NOW)
      const again = { fileSha256: 'bb'.repeat(32) }
      batchIds.push(await submit(ledger, await openAccount(ledger), [refund('C')], again))
    })
    copyFile(place.path, within('kept.db'))
    await closed((ledger) => ledger.renewEpoch())
    copyFile(within('kept.db'), place.path)
    await closed(async (ledger) => {
      const [batchId, waiting] = batchIds as [BatchId, BatchId]
      const digest = (await ledger.approvalSheet(waiting))!.digest
      const decision = { batchId: waiting, reason: 'r', actor: personAt('ann'), nowMs: NOW }
      const refused = 'may not be the one that sent last'
      await expect(ledger.cancel(batchId, 'r', CLERK, NOW)).rejects.toThrow(refused)
      await expect(ledger.reject(decision)).rejects.toThrow(refused)
      await expect(ledger.approve({ ...decision, digest })).rejects.toThrow(refused)
      expect(await statesIn(ledger, batchId)).toEqual(['READY', 'READY'])
      expect(await ledger.batch(waiting)).toMatchObject({ hold: 'none', approval: { given: 0 } })
    })
  })

  test('of an older state no finding is recorded, through whichever door', async () => {
    let batchId: BatchId | undefined
    await closed(async (ledger) => {
      await ledger.renewEpoch()
      batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
    })
    copyFile(place.path, within('kept.db'))
    await closed((ledger) => ledger.renewEpoch())
    copyFile(within('kept.db'), place.path)
    await closed(async (ledger) => {
      const request = { holder: 'k', target: 'POST /v1/x', key: 'one', sha256: 'ab'.repeat(32), nowMs: NOW }
      for (const door of [ledger, ledger.once(request)])
        await expect(door.resolve(findingOn('A'), CLERK, NOW)).rejects.toThrow(
          /may not be the one that sent last.* Nothing was recorded: what you found may be of an earlier request/s,
        )
      expect(await statesIn(ledger, batchId!)).toEqual(['IN_DOUBT'])
      expect(await ledger.keptRequest(request)).toBeNull()
    })
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

describe('adopting', () => {
  test('as moved leaves every row as it is and makes it the ledger that it remembers', async () => {
    const ledger = place.open()
    const batchId = await recordTwo(ledger)
    rmSync(epochPath())
    expect(await ledger.adopt('moved', 'new disk', CLERK, NOW)).toBe(0)
    expect(await ledger.alarm()).toBeNull()
    expect(await statesIn(ledger, batchId)).toEqual(['READY', 'READY'])
    await ledger.renewEpoch()
  })

  test('leaves READY what was to be executed after the time that is lost, where a person says until when', async () => {
    const ledger = place.open()
    const rows = [refund('A'), refund('B', { executeAtMs: NOW + 1_000 }), refund('C', { executeAtMs: NOW + 5_000 })]
    const batchId = await submit(ledger, await openAccount(ledger), rows)
    rmSync(epochPath())
    expect(await ledger.adopt('restored', 'disk failed', CLERK, NOW, NOW + 5_000)).toBe(2)
    expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'IN_DOUBT', 'READY'])
  })

  test('as restored brings into doubt what was ready or being sent, and nothing that was settled', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const batchId = await submit(
      ledger,
      accountId,
      ['A', 'B', 'C', 'D', 'E'].map((name) => refund(name)),
    )
    await work(ledger, batchId, 'A', 'APPROVED')
    await work(ledger, batchId, 'B', 'DECLINED')
    await work(ledger, batchId, 'C', 'READY', { sentAtMs: NOW + 50 })
    await claimNamed(ledger, batchId, 'D')
    const held = await submit(ledger, accountId, [refund('F')], { fileSha256: 'bb' })
    await ledger.pause(held, 'wait', CLERK, NOW)
    rmSync(epochPath())

    expect(await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)).toBe(4)
    expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'DECLINED', 'IN_DOUBT', 'IN_DOUBT', 'IN_DOUBT'])
    expect(await statesIn(ledger, held)).toEqual(['IN_DOUBT'])
    expect((await ledger.batch(batchId))?.counts).toEqual({ APPROVED: 1, DECLINED: 1, IN_DOUBT: 3 })
    expect(await ledger.alarm()).toBeNull()
    // When it was sent nobody knows: the rest of a doubt must count from now, not from an earlier attempt.
    for (const name of ['C', 'D', 'E']) {
      expect(await rowIn(ledger, batchId, name)).toMatchObject({ sentAtMs: null, completedAtMs: NOW + 5_000 })
    }
    expect((await ledger.doubts()).map(({ claimedAtMs }) => claimedAtMs)).toEqual([null, NOW, null, null])
    expect(new Set((await ledger.doubts()).map(({ leftByMs }) => leftByMs))).toEqual(new Set([NOW + 5_000]))
    expect((await ledger.history('E')).at(-1)).toMatchObject({
      ...{ from: 'READY', to: 'IN_DOUBT', cause: 'restore', by: 'clerk@desk', atMs: NOW + 5_000 },
      reason: expect.stringContaining('disk failed'),
    })
    // A declined answer of a later attempt may be the echo of the one that nobody remembers.
    const db = new DatabaseSync(place.path, { readOnly: true })
    expect(db.prepare('SELECT count(*) AS n FROM instruction WHERE ever_in_doubt = 1').get()).toEqual({ n: 4 })
    expect(db.prepare("SELECT by, reason FROM act WHERE what = 'adopt'").all()).toMatchObject([
      { by: 'clerk@desk', reason: '--restored: disk failed' },
    ])
    db.close()
  })

  test('as restored asks before a row that had ended runs again: it may have run in what was lost', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const bad = faultyRow(3, 'I')
    const batchId = await submit(ledger, accountId, [refund('F'), refund('D'), bad])
    const cancelled = await submit(ledger, accountId, [refund('C')], { fileSha256: 'bb' })
    for (const reference of ['F', 'D']) await work(ledger, batchId, reference, 'FAILED')
    await ledger.cancel(cancelled, 'wrong file', CLERK, NOW)
    const retried = (...names: string[]) =>
      ['F', 'D', 'I', 'C']
        .filter((name) => names.includes(name))
        .map((name, i) => {
          const cameFrom = name === 'C' ? { batchId: cancelled, rowNo: 1 } : { batchId, rowNo: 'FDI'.indexOf(name) + 1 }
          return rowOf(i + 1, refund(name), { cameFrom })
        })
    const header = headerOf(accountId, {
      ...{ fedBack: true, retry: ['FAILED', 'CANCELLED', 'INVALID'] as const, nowMs: NOW + 9_000, fileSha256: 'cc' },
    })
    expect((await reviewOnly(ledger, header, retried('F', 'D', 'I', 'C'))).review).toMatchObject({ lookalikes: 0 })
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)

    const asked = await reviewOnly(ledger, header, retried('F', 'D', 'I', 'C'))
    expect(asked.review).toMatchObject({ accepted: 4, lookalikes: 4 })
    expect(asked.lookalikes.map(({ reference, lost, like }) => [reference, lost, like.reference, like.state])).toEqual([
      ['F', true, 'F', 'FAILED'],
      ['D', true, 'D', 'FAILED'],
      ['I', true, 'I', 'INVALID'],
      ['C', true, 'C', 'CANCELLED'],
    ])
    // What ended since the adoption is known.
    const { draft } = await review(ledger, header, retried('F'))
    const again = await draft.record(CLERK)
    const row = await claimNamed(ledger, again, 'F', NOW + 9_000)
    await settle(ledger, row, 'FAILED', { atMs: NOW + 9_500 })
    expect((await reviewOnly(ledger, header, retried('F', 'D'))).lookalikes).toMatchObject([{ reference: 'D' }])
  })

  test('as restored asks before a declined charge is asked for once more: that may have been done in what was lost', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const batchId = await submit(ledger, accountId, [sale('S', '41')])
    await work(ledger, batchId, 'S', 'DECLINED', { reason: 'Insufficient funds' })
    const reattempt = { categories: ['funds'] as const, reasonRules: [], xtlOrderIdOf: () => 'S2' }
    const header = headerOf(accountId, { reattempt, nowMs: NOW + 9_000, fileSha256: 'cc' })
    expect((await reviewOnly(ledger, header, [sale('S', '41')])).lookalikes).toEqual([])
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    for (const days of [0, 40]) {
      const then = { ...header, nowMs: header.nowMs + days * DAY_MS }
      expect((await reviewOnly(ledger, then, [sale('S', '41')])).lookalikes).toMatchObject([
        { reference: 'S~2', lost: true, like: { reference: 'S', state: 'DECLINED' } },
      ])
    }
  })

  test('as restored asks before a file holds what had ended under other references: it may have run in what was lost', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const orders = ['71', '72', '73', '74']
    const of = (prefix: string) => orders.map((orderId) => refund(`${prefix}-${orderId}`, { orderId }))
    const batchId = await submit(ledger, accountId, of('A'))
    await work(ledger, batchId, 'A-71', 'FAILED')
    await work(ledger, batchId, 'A-72', 'DECLINED')
    await ledger.cancel(batchId, 'wrong file', CLERK, NOW)
    const asked = async (days: number, over: Parameters<typeof headerOf>[1] = {}) => {
      const nowMs = NOW + 5_000 + days * DAY_MS
      const { lookalikes } = await reviewOnly(ledger, headerOf(accountId, { nowMs, ...over }), of('B'))
      return lookalikes.map(({ lost, like }) => [lost, like.reference, like.state])
    }
    expect(await asked(0)).toEqual([])
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    const lost = [
      [true, 'A-71', 'FAILED'],
      [true, 'A-72', 'DECLINED'],
      [true, 'A-73', 'CANCELLED'],
      [true, 'A-74', 'CANCELLED'],
    ]
    expect(await asked(0)).toEqual(lost)
    expect(await asked(30)).toEqual(lost)
    expect(await asked(31)).toEqual([]) // as of one that was sent in that moment
    // What ended since the adoption is known.
    const later = await submit(ledger, accountId, [refund('C', { orderId: '75' })], { nowMs: NOW + 6_000 })
    const row = await claimNamed(ledger, later, 'C', NOW + 6_000)
    await settle(ledger, row, 'FAILED', { atMs: NOW + 6_500 })
    const header = headerOf(accountId, { nowMs: NOW + 7_000 })
    const again = await reviewOnly(ledger, header, [refund('D', { orderId: '75' })])
    expect(again.lookalikes).toEqual([])
  })

  test('as restored asks before a file holds what had ended with other amounts: it may have run in what was lost', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const orders = ['71', '72', '73', '74']
    const batchId = await submit(ledger, accountId, refunds(FIRST, orders))
    await work(ledger, batchId, made(FIRST, 1), 'FAILED')
    await ledger.cancel(batchId, 'wrong amounts', CLERK, NOW)
    const asked = async (days: number, over: Parameters<typeof headerOf>[1] = {}) => {
      const header = headerOf(accountId, { nowMs: NOW + 5_000 + days * DAY_MS, ...over })
      const { lookalikes } = await reviewOnly(ledger, header, refunds(MENDED, orders, { amountMinor: 150n }))
      return lookalikes.map(({ rowNo, lost, like, changedFrom }) => [rowNo, lost, like.state, changedFrom?.amountMinor])
    }
    expect(await asked(0)).toEqual([])
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    const lost = [[1, true, 'FAILED', 1_000n], ...[2, 3, 4].map((rowNo) => [rowNo, true, 'CANCELLED', 1_000n])]
    expect(await asked(0)).toEqual(lost)
    expect(await asked(30)).toEqual(lost)
    expect(await asked(31)).toEqual([])
    expect(await asked(0, { runKey: 'june' })).toEqual(lost) // the key may have been forgotten
  })

  test('as restored asks before a cancelled row runs with a corrected file, however long ago that was', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const first = await submit(ledger, accountId, refunds(FIRST, ['71']))
    await ledger.cancel(first, 'wrong file', CLERK, NOW)
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    const header = headerOf(accountId, { nowMs: NOW + 40 * DAY_MS, onlyNew: true })
    for (const rows of [refunds(MENDED, ['71']), [refund('own', { orderId: '71' })]])
      expect((await reviewOnly(ledger, header, rows)).lookalikes).toMatchObject([
        { lost: true, like: { reference: made(FIRST, 1), state: 'CANCELLED' } },
      ])
  })

  test('as restored asks about no subscriber of another month, nor about one that another subscriber is like', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const roster = (runKey: string, ...names: string[]) => names.map((name) => sale(`${runKey}/${name}`, '41'))
    const batchId = await submit(ledger, accountId, roster('11', 'ada'), { runKey: '11' })
    await work(ledger, batchId, '11/ada', 'DECLINED', { reason: 'Insufficient funds' })
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    const asked = async (runKey: string, ...names: string[]) => {
      const header = headerOf(accountId, { nowMs: NOW + 9_000, runKey })
      return (await reviewOnly(ledger, header, roster(runKey, ...names))).lookalikes.map(({ reference }) => reference)
    }
    expect(await asked('12', 'ada')).toEqual([])
    expect(await asked('11', 'ada', 'bob')).toEqual([])
    expect(await asked('11', 'bob')).toEqual(['11/bob'])
  })

  test.each(['send-again', 'declined'] as const)(
    'as restored lets a known doubt rest once more before it is called %s',
    async (finding) => {
      const ledger = place.open()
      const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
      rmSync(epochPath())
      const adoptedAtMs = NOW + 3_600_000
      await ledger.adopt('restored', 'disk failed', CLERK, adoptedAtMs)
      const again = (nowMs: number) =>
        ledger.resolve(findingOn('A', { finding, attempt: 1, restMs: 900_000 }), CLERK, nowMs)
      expect(await again(adoptedAtMs + 899_999)).toMatchObject({ kind: 'refused', why: 'too-early' })
      expect(await again(adoptedAtMs + 900_000)).toMatchObject({ kind: 'resolved' })
    },
  )

  test('as restored, killed half-way, goes on with the rest when it is called again', async () => {
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

  test('as restored waits for a submit that is under way, and brings its rows into doubt as well', async () => {
    const [submitting, ledger] = [place.open(), place.open()]
    const accountId = await openAccount(submitting)
    const { draft } = await review(submitting, headerOf(accountId), [refund('A')])
    rmSync(epochPath())
    let adopted = false
    const adopting = ledger.adopt('restored', 'disk failed', CLERK, NOW).then((rows) => {
      adopted = true
      return rows
    })
    for (let i = 0; i < 500 && !adopted; i++) await turn()
    const batchId = await draft.record(CLERK)
    expect(await adopting).toBe(1)
    expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
  })

  test('tells when the newest thing in it happened, not when rows came into doubt by it', async () => {
    const ledger = place.open()
    expect(await ledger.lastRecordAtMs()).toBeNull()
    const batchId = await recordTwo(ledger)
    expect(await ledger.lastRecordAtMs()).toBe(NOW)
    await work(ledger, batchId, 'A', 'APPROVED', { atMs: NOW + 700 })
    expect(await ledger.lastRecordAtMs()).toBe(NOW + 700)
  })
})
