// Two submits at once, as when something removes submit.lock under one that stands still: what is accepted is whole and stays.

import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Draft } from '../../../src/domain/draft.ts'
import { SYSTEM_TIMING } from '../../../src/ledger/sqlite/commit.ts'
import { openLedger } from '../../../src/ledger/sqlite/ledger.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import { CLERK, headerOf, refund, review, rowOf, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, sqlite, useSqliteLedger } from '../../fixtures/use-ledger.ts'

const ROWS = Array.from({ length: 1_600 }, (_, i) => refund(`R-${i}`))

let opened: Freezable[]

useSqliteLedger()
beforeEach(() => {
  opened = []
})
afterEach(async () => {
  for (const one of opened) one.thaw()
  for (const one of opened) await one.ledger.close()
})

/** As another process: it can be made to stand still between two of its commits. */
interface Freezable {
  readonly ledger: Ledger
  /** It stands still once that holds, which is asked before each commit. */
  freezeWhen(holds: () => boolean): Promise<void>
  thaw(): void
}

function openFreezable(): Freezable {
  let when: (() => boolean) | null = null
  let frozen: Array<() => void> | null = null
  let stands = () => {}
  const soon = (run: () => void) =>
    SYSTEM_TIMING.soon(() => {
      if (when?.() === true) {
        when = null
        frozen = []
        stands()
      }
      if (frozen === null) run()
      else frozen.push(run)
    })
  const { path, submitLockPath } = sqlite
  const die = (error: unknown): never => {
    throw error
  }
  const one = {
    ledger: openLedger({ path, submitLockPath, die, timing: { ...SYSTEM_TIMING, soon } }),
    freezeWhen(holds: () => boolean) {
      when = holds
      return new Promise<void>((resolve) => {
        stands = resolve
      })
    },
    thaw() {
      const runs = frozen ?? []
      when = null
      frozen = null
      for (const run of runs) run()
    },
  }
  opened.push(one)
  return one
}

/** How many rows there are in the file, visible or not. */
function rowsInFile(): number {
  return change((db) => (db.prepare('SELECT count(*) AS n FROM instruction').get() as { n: number }).n)
}

function change<T>(run: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(sqlite.path)
  try {
    return run(db)
  } finally {
    db.close()
  }
}

/** It has copied so many rows and stands still; its lock is gone. */
async function frozenWhileRecording(rows: number): Promise<Freezable & { readonly recorded: Promise<unknown> }> {
  const first = openFreezable()
  const { draft } = await review(first.ledger, headerOf(accountId), ROWS)
  const stands = first.freezeWhen(() => rowsInFile() >= rows)
  const recorded = draft.record(CLERK).catch((error: unknown) => error)
  await stands
  rmSync(sqlite.submitLockPath)
  return { ...first, recorded }
}

test('a submit whose draft was deleted while it stood still says that nothing was recorded', async () => {
  for (const rows of [500, ROWS.length]) {
    const first = await frozenWhileRecording(rows)
    const second = await submit(ledger, accountId, [refund(`other-${rows}`)])
    const before = rowsInFile()
    first.thaw()
    expect(await first.recorded).toMatchObject({
      code: 'stopped',
      message: expect.stringContaining('Nothing was recorded'),
    })
    expect(await statesIn(ledger, second)).toEqual(['READY'])
    expect(rowsInFile()).toBe(before)
  }
  expect(await ledger.batches()).toHaveLength(2)
  expect((await statesIn(ledger, await submit(ledger, accountId, ROWS))).length).toBe(ROWS.length)
})

test('a draft that lost some of its rows never becomes visible', async () => {
  const first = await frozenWhileRecording(ROWS.length)
  const second = openFreezable()
  const stands = second.freezeWhen(() => rowsInFile() < ROWS.length)
  const opening = second.ledger.openDraft(headerOf(accountId))
  await stands
  first.thaw()
  expect(await first.recorded).toMatchObject({ code: 'stopped' })
  expect(await ledger.batches()).toEqual([])
  second.thaw()
  await (await opening).discard()
  expect(rowsInFile()).toBe(0)
})

test('a submit that stood still before it deleted a draft leaves the batch alone that it became', async () => {
  const first = await frozenWhileRecording(ROWS.length)
  const second = openFreezable()
  const stands = second.freezeWhen(() => true)
  const opening = second.ledger.openDraft(headerOf(accountId))
  await stands
  first.thaw()
  const [batch] = await first.recorded.then(() => ledger.batches())
  if (batch === undefined) throw new Error('it did not become visible')
  await work(ledger, batch.batchId, 'R-0', 'APPROVED')
  second.thaw()
  await (await opening).discard()
  expect((await statesIn(ledger, batch.batchId)).slice(0, 2)).toEqual(['APPROVED', 'READY'])
  expect(rowsInFile()).toBe(ROWS.length)
})

test('a row that looks like one of another draft is noticed, whichever is visible first', async () => {
  const first = openFreezable()
  const { draft } = await review(first.ledger, headerOf(accountId), ROWS)
  rmSync(sqlite.submitLockPath)
  const later = await ledger.openDraft(headerOf(accountId))
  await later.add([rowOf(1, refund('twin', { orderId: ROWS[0]?.orderId as string }))])
  const stands = first.freezeWhen(() => rowsInFile() >= ROWS.length)
  const recorded = draft.record(CLERK)
  await stands
  expect(await later.review()).toMatchObject({ accepted: 1, lookalikes: 0 })
  first.thaw()
  await recorded
  await expect(later.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
  expect(await ledger.batches()).toHaveLength(1)
})

test('a row that two submits retry at once runs again in one of them', async () => {
  const failed = await submit(ledger, accountId, [refund('A')])
  await work(ledger, failed, 'A', 'FAILED')
  const drafts: Draft[] = []
  for (const each of [ledger, place.open()]) {
    drafts.push((await review(each, headerOf(accountId, { retry: ['FAILED'] }), [refund('A')])).draft)
    rmSync(sqlite.submitLockPath)
  }
  const [one, other] = drafts as [Draft, Draft]
  await one.record(CLERK)
  await expect(other.record(CLERK)).rejects.toMatchObject({ code: 'refused' })
  await turn()
  expect(await ledger.batches()).toHaveLength(2)
})
