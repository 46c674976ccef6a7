// Several processes that write the results of one batch into one file: what the record calls fresh is what stands there.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ResultsRequest, writeBatchResults } from '../../src/app/results.ts'
import type { App } from '../../src/app.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { takeLock } from '../../src/files/lock.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { CLERK, findingOn, NOW, refund, submit, work } from '../fixtures/ledgers.ts'
import { accountId, ledger, place, sqlite, useSqliteLedger } from '../fixtures/use-ledger.ts'

let dir: string
let out: string
let batchId: BatchId

useSqliteLedger()
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-results-'))
  out = join(dir, 'out.csv')
  batchId = await submit(ledger, accountId, [refund('A')])
  await work(ledger, batchId, 'A', 'IN_DOUBT')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** A process, as far as it writes results. Time passes only when it waits: by `leapMs` at least. */
function processThat(onWait: () => void = () => {}, leapMs = 0): App {
  let atMs = 0
  const sleep = async (ms: number) => {
    atMs += Math.max(ms, leapMs)
    onWait()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const clock = { nowMs: () => NOW + atMs, monotonicMs: () => atMs, sleep }
  const paths = { ledger: sqlite.path, workerLock: join(sqlite.dir, 'worker.lock') }
  return { clock, paths, config: { dataDir: sqlite.dir, merchants: new Map() } } as unknown as App
}

const request = (): ResultsRequest => ({ out, inputPath: null, bom: false })
const approve = () => ledger.resolve(findingOn('A'), CLERK, NOW + 1_000)
const isStale = async () => (await ledger.batch(batchId))?.resultsStale

test('an older reading is not shown over a newer one that is then noted as the newest', async () => {
  const [read, shown, waits] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const [mayShow, mayNote] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const older: Ledger = {
    ...place.open(),
    async openReading(...asked) {
      const reading = await ledger.openReading(...asked)
      read.resolve()
      await mayShow.promise
      return reading
    },
  }
  const newer: Ledger = {
    ...place.open(),
    async resultsWritten(...asked) {
      shown.resolve()
      await mayNote.promise
      await ledger.resultsWritten(...asked)
    },
  }
  const first = writeBatchResults(processThat(), older, batchId, request())
  await read.promise
  expect(await approve()).toMatchObject({ kind: 'resolved' })
  const second = writeBatchResults(processThat(waits.resolve), newer, batchId, request())
  await Promise.race([shown.promise, waits.promise])
  mayShow.resolve()
  await first
  mayNote.resolve()
  await second
  expect([await readFile(out, 'utf8'), await isStale()]).toEqual([expect.stringContaining(',APPROVED,'), false])
})

test('a process stuck with the results of a batch is named to the next, which writes nothing', async () => {
  const holder = { pid: 4711, host: 'here', command: 'results', startedAtMs: NOW }
  const lock = takeLock(join(sqlite.dir, `results-${batchId.at(-1)}.lock`), holder)
  const patient = processThat(undefined, 10_000)
  const refused = await writeBatchResults(patient, ledger, batchId, request()).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'stopped', message: expect.stringContaining('process (4711 on here)') })
  await expect(readFile(out)).rejects.toMatchObject({ code: 'ENOENT' })
  if (lock.kind === 'taken') lock.release()
  expect(await writeBatchResults(processThat(), ledger, batchId, request())).toMatchObject({ rows: 1 })
  expect(await isStale()).toBe(false)
})

test('a failure lets the next one write', async () => {
  const failing: Ledger = {
    ...ledger,
    openReading: async () => {
      throw new Error('no reading')
    },
  }
  await expect(writeBatchResults(processThat(), failing, batchId, request())).rejects.toThrow('no reading')
  expect(await writeBatchResults(processThat(), ledger, batchId, request())).toMatchObject({ rows: 1 })
})
