// The SQLite ledger: what only a file can show. The files beside this one hold it to what every ledger must do.

import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Currency } from '../../../../src/domain/money.ts'
import { SYSTEM_TIMING } from '../../../../src/ledger/sqlite/commit.ts'
import { openLedger } from '../../../../src/ledger/sqlite/ledger.ts'
import { hasTables, makeTables } from '../../../../src/ledger/sqlite/make-tables.ts'
import { makeLedger } from '../../../../src/ledger/sqlite/open-file.ts'
import { SCHEMA_VERSION } from '../../../../src/ledger/sqlite/schema.ts'
import { type Child, startChild } from '../../../fixtures/children.ts'
import {
  auditOf,
  CLERK,
  claim,
  claimed,
  dueIn,
  dueRow,
  factsWith,
  findingOn,
  headerOf,
  messageOf,
  NOW,
  refund,
  reviewOnly,
  sale,
  settle,
  sqlitePlace,
  statesIn,
  submit,
  work,
} from '../../../fixtures/ledgers.ts'
import { soon } from '../../../fixtures/soon.ts'
import { accountId, ledger, sqlite, useSqliteLedger } from '../../../fixtures/use-ledger.ts'

const noDeath = (error: unknown): never => {
  throw error
}

describe('a SQLite file', () => {
  let children: Child[]

  useSqliteLedger(sqlitePlace)
  beforeEach(() => {
    children = []
  })
  afterEach(async () => {
    for (const child of children) await child.kill()
  })

  describe('with a wall clock that was set forward while a row was in doubt', () => {
    const [HOUR, REST_MS, SENT_MS] = [3_600_000, 900_000, NOW + 100]

    /** A doubt, and what becomes of a finding about it when the machine seems to have booted that much later. */
    async function foundWhen(setForwardMs: number, { boot = 'one', nowMs = SENT_MS + REST_MS } = {}) {
      const booted = { id: 'one', atMs: NOW - HOUR }
      const timing = { ...SYSTEM_TIMING, boot: () => booted }
      const die = (error: unknown): never => {
        throw error
      }
      const timed = openLedger({ path: sqlite.path, submitLockPath: sqlite.submitLockPath, die, timing })
      try {
        const batchId = await submit(timed, accountId, [refund('A')])
        await work(timed, batchId, 'A', 'IN_DOUBT', { sentAtMs: SENT_MS })
        Object.assign(booted, { id: boot, atMs: booted.atMs + setForwardMs })
        const found = findingOn('A', { finding: 'send-again', attempt: 1, restMs: REST_MS })
        return await timed.resolve(found, CLERK, nowMs)
      } finally {
        await timed.close()
      }
    }

    test('the request rests as long as it would have, by the time since the machine booted', async () => {
      const early = await foundWhen(HOUR, { nowMs: SENT_MS + HOUR + REST_MS - 1 })
      expect(early).toMatchObject({ kind: 'refused', why: 'too-early' })
      const until = new Date(SENT_MS + HOUR + REST_MS).toISOString()
      expect(early).toMatchObject({ reason: expect.stringContaining(until) })
    })

    test.each([
      ['the rest is over by that too', HOUR, { nowMs: SENT_MS + HOUR + REST_MS }],
      ['the machine has booted since: nothing is known then', HOUR, { boot: 'two' }],
      ['it was set back', -HOUR, {}],
      ['the two were only read a moment apart', 4_000, {}],
    ] as const)('a finding is taken when %s', async (_, setForwardMs, over) => {
      expect(await foundWhen(setForwardMs, over)).toMatchObject({ kind: 'resolved' })
    })
  })

  /** As a newer program does it. */
  function upgrade(): void {
    const db = new DatabaseSync(sqlite.path)
    db.exec('PRAGMA user_version = 999')
    db.close()
  }

  /** Reads the file as it is on the disk, past the ledger's own connection. */
  function readFile<T>(sql: string): T {
    const db = new DatabaseSync(sqlite.path, { readOnly: true })
    try {
      return db.prepare(sql).get() as T
    } finally {
      db.close()
    }
  }

  /** As thousands of rows of the largest amounts would add up, which no sum of 64 bits holds. */
  function inflate(where: string): void {
    const db = new DatabaseSync(sqlite.path)
    db.exec(`UPDATE instruction SET amount_minor = 4000000000000000000 WHERE ${where}`)
    db.close()
  }

  describe('with one order that adds up to more than 64 bits hold', () => {
    test('takes messages and files with a refund of it, held against a sum that is large enough', async () => {
      const rows = [1n, 2n, 3n].map((amountMinor) => refund(`F-${amountMinor}`, { orderId: '7', amountMinor }))
      await submit(ledger, accountId, rows)
      inflate("order_key = '7'")
      const next = refund('next', { orderId: '7', amountMinor: 999_999_999_999_999n })
      const odd = refund('odd', { orderId: '7', money: { amountMinor: 5n, currency: 'USD' as Currency } })
      const { review: reviewed, lookalikes } = await reviewOnly(ledger, headerOf(accountId), [next, odd])
      expect(reviewed).toMatchObject({ accepted: 2, lookalikes: 1, invalid: 0 })
      expect(lookalikes).toMatchObject([{ reference: 'odd', refundedBefore: { currency: 'EUR' } }])
      expect(await ledger.recordMessage(messageOf(accountId, odd))).toMatchObject({ kind: 'refused' })
      expect(await ledger.recordMessage(messageOf(accountId, next))).toMatchObject({ kind: 'accepted' })
    })

    test('has no sale that refunds could be held against', async () => {
      const batchId = await submit(
        ledger,
        accountId,
        [1, 2, 3].map((n) => sale(`S-${n}`, String(n))),
      )
      for (const n of [1, 2, 3])
        await work(ledger, batchId, `S-${n}`, 'APPROVED', { facts: factsWith(String(n), { orderId: '7' }) })
      inflate("operation = 'CAPTURE'")
      const back = refund('back', { orderId: '7', amountMinor: 999_999_999_999_999n })
      expect(await reviewOnly(ledger, headerOf(accountId), [back])).toMatchObject({
        review: { accepted: 1, invalid: 0, lookalikes: 0 },
      })
      expect(await ledger.recordMessage(messageOf(accountId, back))).toMatchObject({ kind: 'accepted' })
    })
  })

  async function holdWriteLock(path = sqlite.path): Promise<Child> {
    const holder = startChild('child-lock-holder.ts', path)
    children.push(holder)
    expect(await holder.said(/held/)).toBe('held')
    return holder
  }

  test('whose messages were changed or planted by other means says which', async () => {
    for (const n of [1, 2]) await ledger.recordMessage(messageOf(accountId, refund(`R-${n}`)))
    expect(await auditOf(ledger)).toEqual([])
    const db = new DatabaseSync(sqlite.path)
    db.exec("UPDATE instruction SET vault_id = '9' WHERE row_no = 2")
    db.exec(`
      INSERT INTO instruction (batch_id, account_id, row_no, line, cells, state, reference, holds_reference, due_at)
      SELECT batch_id, account_id, 3, 3, cells, 'READY', 'R-3', 1, 0 FROM instruction WHERE row_no = 1`)
    db.close()
    const found = (await auditOf(ledger)).map(({ where }) => where)
    expect(found).toContainEqual(expect.stringMatching(/^row 2 of batch /))
    expect(found).toContainEqual(expect.stringMatching(/^R-3 \(row 3 of batch /))
    expect(found).not.toContainEqual(expect.stringMatching(/^row 1 of batch /))
  })

  /** Past every program. What the chain and the digests no longer fit. */
  async function wrongAfter(sql: string): Promise<readonly string[]> {
    expect(await auditOf(ledger)).toEqual([])
    const db = new DatabaseSync(sqlite.path)
    db.exec(sql)
    db.close()
    return (await auditOf(ledger)).map(({ where, means }) => `${where}: ${means}`)
  }

  test('binds who acted to what was submitted, to acts and to moves', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
    await ledger.cancel(batchId, 'a mistake', CLERK, NOW)
    await ledger.head()
    const wrong = await wrongAfter("UPDATE actor SET parts = json_set(parts, '$.user', 'bob')")
    expect(wrong).toContainEqual(expect.stringMatching(/^batch .*not what was submitted/))
    expect(wrong).toContainEqual(expect.stringMatching(/^chain \d+: .*acts .*changed/))
    expect(wrong).toContainEqual(expect.stringMatching(/^chain \d+: .*moves .*changed/))
  })

  test('binds the digests of what was submitted', async () => {
    await submit(ledger, accountId, [refund('A')])
    await ledger.head()
    const wrong = await wrongAfter("UPDATE recorded SET digest = ''")
    expect(wrong).toContainEqual(expect.stringMatching(/^chain \d+: .*digests of what was submitted.*changed/))
  })

  test('is its owner’s alone', async () => {
    for (const file of [sqlite.path, `${sqlite.path}-wal`, `${sqlite.path}-shm`]) {
      expect((await stat(file)).mode & 0o077).toBe(0)
    }
  })

  describe('with tables of another version is refused by name, opened or made anew, and stays as it is to the byte', () => {
    /** A copy with that version, in the file or in the log that a killed process leaves beside it. */
    function copyWith(version: number, where: 'file' | 'log'): string {
      const [from, to] = [join(sqlite.dir, 'from.db'), join(sqlite.dir, 'copy.db')]
      execFileSync('cp', [sqlite.path, from])
      const db = new DatabaseSync(from)
      db.exec(`PRAGMA journal_mode = ${where === 'log' ? 'WAL' : 'DELETE'}; PRAGMA wal_autocheckpoint = 0`)
      db.exec(`PRAGMA user_version = ${version}`)
      for (const part of where === 'log' ? ['', '-wal', '-shm'] : ['']) execFileSync('cp', [from + part, to + part])
      db.close()
      return to
    }

    /** Read by another process: closing the file in this one would drop SQLite's locks on it. */
    const bytesOf = (path: string, where: 'file' | 'log') =>
      execFileSync('cat', where === 'log' ? [path, `${path}-wal`] : [path])

    test.each([
      [0, 'file'],
      [1, 'file'],
      [SCHEMA_VERSION - 1, 'file'],
      [SCHEMA_VERSION - 1, 'log'],
      [SCHEMA_VERSION + 1, 'file'],
    ] as const)('%i, in the %s', async (version, where) => {
      await ledger.close()
      const path = copyWith(version, where)
      const before = bytesOf(path, where)
      const options = { path, submitLockPath: null, die: noDeath }
      for (const open of [() => openLedger(options), () => makeLedger({ path })]) {
        expect(open).toThrow(
          expect.objectContaining({
            code: 'config',
            message: expect.stringMatching(
              `${path} belongs to another version .* have version ${version}, and this program needs version ${SCHEMA_VERSION}. Nothing in it was changed`,
            ),
          }),
        )
      }
      expect(bytesOf(path, where).equals(before)).toBe(true)
    })
  })

  test('that a newer program brings to its version under a worker gives it no claim and records what it is answered, and nothing else', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
    const row = await claimed(ledger, await dueRow(ledger, batchId, 'A'))
    const next = await dueRow(ledger, batchId, 'B')
    upgrade()
    expect(await claim(ledger, next)).toEqual({ kind: 'not-free' })
    const newer = { code: 'config', message: expect.stringContaining('belongs to another version') }
    await expect(ledger.renewEpoch()).rejects.toMatchObject(newer)
    await expect(ledger.pause(batchId, 'wait', CLERK, NOW)).rejects.toMatchObject(newer)
    const [settled, again] = await Promise.all([settle(ledger, row, 'APPROVED'), claim(ledger, next)]) // in one commit
    expect([settled.state, again.kind]).toEqual(['APPROVED', 'not-free'])
    expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'READY'])
  })

  test.each([
    ['missing, with its directory', 'no-such-directory/ledger.db'],
    ['empty', 'empty.db'],
  ])('that is %s is not made: it is refused with its path', async (_what, name) => {
    const path = join(sqlite.dir, name)
    writeFileSync(join(sqlite.dir, 'empty.db'), '')
    expect(() => openLedger({ path, submitLockPath: null, die: noDeath })).toThrow(
      expect.objectContaining({ code: 'config', message: expect.stringContaining(`There is no ledger at ${path}`) }),
    )
    expect(existsSync(join(sqlite.dir, 'no-such-directory'))).toBe(false)
  })

  test('that several processes make at the same moment is one ledger', async () => {
    await ledger.close()
    for (let round = 0; round < 2; round++) {
      const fresh = await sqlitePlace()
      const openers = Array.from({ length: 5 }, () => startChild('child-opener.ts', fresh.dir))
      children.push(...openers)
      for (const opener of openers) await opener.said(/waiting/)
      for (const opener of openers) opener.tell('now')
      const codes = await Promise.all(openers.map((opener) => opener.ended()))
      expect(codes).toEqual([0, 0, 0, 0, 0])
      expect(new Set(openers.map(({ lines }) => lines.at(-1))).size).toBe(1)
      expect(openers[0]?.lines.at(-1)).toMatch(/^opened [0-9a-f]{16}$/)
      await fresh.remove()
    }
  })

  test('that another process makes while it is looked at is of this version', async () => {
    const fresh = await sqlitePlace()
    const [looking, making] = [new DatabaseSync(fresh.path), new DatabaseSync(fresh.path)]
    const prepare = looking.prepare.bind(looking)
    looking.prepare = (text) => {
      if (text.includes('sqlite_schema')) makeTables(making)
      return prepare(text)
    }
    try {
      expect(hasTables(looking)).toBe(true)
    } finally {
      looking.close()
      making.close()
      await fresh.remove()
    }
  })

  test('that another process is just making is waited for, although SQLite refuses at once', async () => {
    const fresh = await sqlitePlace()
    const maker = new DatabaseSync(fresh.path)
    maker.exec('BEGIN IMMEDIATE')
    vi.useFakeTimers({ toFake: ['Date'] }) // however busy the machine is, the wait is not over
    const waits = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
      if (waits.mock.calls.length === 3) maker.exec('ROLLBACK')
      return 'timed-out'
    })
    try {
      expect(makeLedger({ path: fresh.path })).toEqual({
        ledgerId: expect.stringMatching(/^[0-9a-f]{16}$/),
        made: true,
      })
    } finally {
      waits.mockRestore()
      vi.useRealTimers()
      maker.close()
      await fresh.remove()
    }
  })

  test('shares one commit among writes that arrive together', async () => {
    const rows = Array.from({ length: 200 }, (_, i) => refund(`R-${i}`))
    const batchId = await submit(ledger, accountId, rows)
    const due = await dueIn(ledger, batchId)
    const version = () => readFile<{ version: number }>(`SELECT version FROM batch WHERE id = '${batchId}'`).version
    const before = version()
    const attempts = await Promise.all(due.slice(0, 100).map((row) => claimed(ledger, row)))
    expect(version() - before).toBe(1) // once per commit that touched the batch
    await Promise.all([
      ...attempts.map((row) => settle(ledger, row, 'APPROVED')),
      ...due.slice(100).map((row) => claimed(ledger, row)),
    ])
    expect(version() - before).toBe(2)
  })

  /** The ledger once more, with its connection and the statement that begins every transaction of it. */
  function openWatched() {
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
    const opened = sqlite.open()
    const nth = prepare.mock.calls.findIndex(([sql]) => sql === 'BEGIN IMMEDIATE')
    const connection = prepare.mock.contexts[nth] as unknown as DatabaseSync
    const begin = prepare.mock.results[nth]?.value as StatementSync
    prepare.mockRestore()
    return { opened, connection, begin }
  }

  test('that another process is writing to is waited for without holding up anything else', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
    const [a, b] = [await dueRow(ledger, batchId, 'A'), await dueRow(ledger, batchId, 'B')]
    const sending = await claimed(ledger, a)
    const { opened: patient, connection, begin } = openWatched()
    const begun = vi.spyOn(begin, 'run')
    const holder = await holdWriteLock()

    const answered: string[] = []
    const nowMs = Date.now()
    const writing = Promise.all([
      claim(patient, b, nowMs).then(({ kind }) => answered.push(kind)),
      settle(patient, sending, 'APPROVED').then(({ state }) => answered.push(state)),
      patient.recordMessage(messageOf(accountId, refund('M'))).then(({ kind }) => answered.push(kind)),
    ])
    await soon(() => expect(begun.mock.results.filter(({ type }) => type === 'throw').length).toBeGreaterThan(3))
    expect(answered).toEqual([])
    expect(await statesIn(patient, batchId)).toEqual(['SENDING', 'READY'])
    // The statement that is refused does not wait inside SQLite, where it would hold up the thread.
    expect(connection.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 0 })

    holder.tell('release')
    await writing
    expect(new Set(answered)).toEqual(new Set(['APPROVED', 'accepted', 'claimed']))
    expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'SENDING'])
  })

  test('that stays locked beyond a claim’s send-by refuses the claim and keeps the settlement', async () => {
    const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
    const [a, b] = [await dueRow(ledger, batchId, 'A'), await dueRow(ledger, batchId, 'B')]
    const sending = await claimed(ledger, a)
    const holder = await holdWriteLock()
    const settling = settle(ledger, sending, 'DECLINED')
    expect(await claim(ledger, b, NOW, Date.now() - 60_000)).toEqual({ kind: 'not-written', why: 'busy' })
    holder.tell('release')
    expect(await settling).toMatchObject({ state: 'DECLINED' })
    expect(await statesIn(ledger, batchId)).toEqual(['DECLINED', 'READY'])
  })
})
