import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../../../src/domain/ids.ts'
import { openLedger } from '../../../../src/ledger/sqlite/ledger.ts'
import { NOW, openAccount, refund, type SqlitePlace, sqlitePlace, submit } from '../../../fixtures/ledgers.ts'

const PAGE = 4_096

let place: SqlitePlace
let batchId: BatchId
/** So many pages hold the schema, and the first page of each table and index. */
let emptyPages: number

/** A ledger of some hundred pages that nobody has open. */
beforeEach(async () => {
  place = await sqlitePlace()
  await place.open().close()
  emptyPages = pages()
  const ledger = place.open()
  const rows = Array.from({ length: 1_000 }, (_, i) => refund(`R-${i}`))
  batchId = await submit(ledger, await openAccount(ledger), rows)
  await ledger.close()
})
afterEach(() => place.remove())

/** As a disk that has lost what it held. The last ones are rows and their indexes. */
function overwrite(from: number, pages: number): void {
  const file = openSync(place.path, 'r+')
  for (let page = from; page < from + pages; page += 1) writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, page * PAGE)
  closeSync(file)
}

const pages = () => statSync(place.path).size / PAGE

/** What ended the process, and what was said. */
function openDying() {
  const deaths: Error[] = []
  const ledger = openLedger({
    path: place.path,
    submitLockPath: place.submitLockPath,
    die: (error) => {
      deaths.push(error as Error)
      throw error
    },
  })
  return { ledger, deaths }
}

const DAMAGED = expect.objectContaining({
  name: 'Fault',
  code: 'storage',
  message: expect.stringMatching(/is damaged \(.*Nothing more is sent\..*; then: adopt restored\./),
})

test('a ledger with every page readable is sound, also while it is written to', async () => {
  const [ledger, other] = [place.open(), place.open()]
  const looked = ledger.inspect('seconds')
  await submit(other, await openAccount(other), [refund('later')])
  expect(await looked).toEqual({ kind: 'sound', bytes: expect.any(Number) })
  expect(await ledger.inspect('any')).toMatchObject({ kind: 'sound' })
})

test('one page that was overwritten is found, wherever it is', async () => {
  for (const share of [0.3, 0.6, 0.9]) {
    // Behind those of an empty ledger: opening reads some of them, and tells of damage itself.
    overwrite(emptyPages + Math.floor((pages() - emptyPages) * share), 1)
    const { ledger } = openDying()
    expect(await ledger.inspect('seconds')).toEqual({ kind: 'damaged', found: expect.stringMatching(/\S/) })
    await ledger.close()
  }
})

describe('a worker that meets a damaged page', () => {
  test.each([
    ['looks for work', (ledger: ReturnType<typeof openLedger>) => ledger.workable(NOW, 100)],
    ['takes a slice', (ledger: ReturnType<typeof openLedger>) => ledger.dueRows(batchId, NOW, 1_000, new Set())],
  ])('as it %s ends, and says what to do', async (_, act) => {
    overwrite(emptyPages, pages() - emptyPages)
    const { ledger, deaths } = openDying()
    await expect(act(ledger)).rejects.toThrow()
    expect(deaths[0]).toEqual(DAMAGED)
  })
})

test.each([
  ['is no ledger any more', () => overwrite(0, pages())],
  ['was cut', () => truncateSync(place.path, (pages() - 5) * PAGE)],
])('a file that %s is told as a damaged one when it is opened', (_, damage) => {
  damage()
  expect(() => openDying()).toThrow(DAMAGED)
})
