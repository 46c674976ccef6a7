// A ledger that is taken over as an older state of itself, or must be: what nobody knows of what was lost is not sent, and not said.

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { FileLedger } from '../../src/ports/ledger/file.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
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
  sqlitePlaceInMemory,
  statesIn,
  submit,
  work,
} from '../fixtures/ledgers.ts'
import { FIRST, MENDED, made, refunds } from './conformance/given.ts'

let place: SqlitePlace
beforeEach(async () => {
  place = await sqlitePlaceInMemory()
})
afterEach(() => place.remove())

const epochPath = () => join(place.dir, 'ledger.epoch')
const recordTwo = async (ledger: Ledger) => submit(ledger, await openAccount(ledger), [refund('A'), refund('B')])

describe('of an older state', () => {
  async function closed(use: (ledger: FileLedger) => Promise<unknown>): Promise<void> {
    const ledger = place.open()
    await use(ledger)
    await ledger.close()
  }

  /** It is put back to what it was, and has been worked with since. By another process: this one may have it open, and would drop its locks. */
  async function putBack(): Promise<void> {
    const kept = join(place.dir, 'kept.db')
    execFileSync('cp', [place.path, kept])
    await closed((ledger) => ledger.renewEpoch())
    execFileSync('cp', [kept, place.path])
  }

  test('nothing is cancelled, approved or rejected, through whichever door', async () => {
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
    await putBack()
    await closed(async (ledger) => {
      const [batchId, waiting] = batchIds as [BatchId, BatchId]
      const digest = (await ledger.approvalSheet(waiting))!.digest
      const decision = { batchId: waiting, reason: 'r', actor: personAt('ann'), nowMs: NOW }
      const refused = 'may not be the one that sent last'
      await expect(ledger.cancel(batchId, 'r', CLERK, NOW)).rejects.toThrow(refused)
      await expect(ledger.cancelRow({ batchId, rowNo: 1 }, 'r', CLERK, NOW)).rejects.toThrow(refused)
      await expect(ledger.reject(decision)).rejects.toThrow(refused)
      await expect(ledger.approve({ ...decision, digest })).rejects.toThrow(refused)
      expect(await statesIn(ledger, batchId)).toEqual(['READY', 'READY'])
      expect(await ledger.batch(waiting)).toMatchObject({ hold: 'none', approval: { given: 0 } })
    })
  })

  test('no finding is recorded, through whichever door', async () => {
    let batchId: BatchId | undefined
    await closed(async (ledger) => {
      await ledger.renewEpoch()
      batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
      await work(ledger, batchId, 'A', 'IN_DOUBT')
    })
    await putBack()
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
    expect(await asked(400)).toEqual(lost) // no time makes it another refund
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
    expect(await asked(400)).toEqual(lost)
    expect(await asked(0, { runKey: 'june' })).toEqual(lost) // the key may have been forgotten
  })

  test('as restored asks before a cancelled row runs with a corrected file, however long ago that was', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const charge = (reference: string) => [sale(reference, '41', { xtlOrderId: null })]
    for (const rows of [refunds(FIRST, ['71']), charge(made(FIRST, 2))])
      await ledger.cancel(await submit(ledger, accountId, rows), 'wrong file', CLERK, NOW)
    rmSync(epochPath())
    await ledger.adopt('restored', 'disk failed', CLERK, NOW + 5_000)
    const header = headerOf(accountId, { nowMs: NOW + 40 * DAY_MS, onlyNew: true })
    const like = async (rows: readonly Instruction[]) =>
      (await reviewOnly(ledger, header, rows)).lookalikes.map((one) => [one.lost, one.like.reference, one.like.state])
    const refunded = [[true, made(FIRST, 1), 'CANCELLED']]
    expect(await like(refunds(MENDED, ['71']))).toEqual(refunded)
    expect(await like([refund('own', { orderId: '71' })])).toEqual(refunded)
    const charged = [[true, made(FIRST, 2), 'CANCELLED']] // no window of days reaches back to it
    expect(await like(charge(made(MENDED, 1)))).toEqual(charged)
    expect(await like(charge('own'))).toEqual(charged)
  })

  test('as restored asks about no subscriber of another month, nor about one that another subscriber is like', async () => {
    const ledger = place.open()
    const accountId = await openAccount(ledger)
    const roster = (runKey: string, ...names: string[]) =>
      names.map((name) => sale(`${runKey}/${name}`, '41', { details: { cust_fname: name } }))
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

  test('tells when it sent last, whatever people record once the older state was put back', async () => {
    const ledger = place.open()
    const batchId = await recordTwo(ledger)
    expect(await ledger.lastSentAtMs()).toBeNull()
    await work(ledger, batchId, 'A', 'APPROVED')
    const sentAtMs = await ledger.lastSentAtMs()
    expect(sentAtMs).toBeGreaterThanOrEqual(NOW)
    const laterMs = sentAtMs! + 60_000
    await submit(ledger, await openAccount(ledger), [refund('C')], { nowMs: laterMs, fileSha256: 'cc'.repeat(32) })
    await ledger.recordAct({ what: 'backup', actor: CLERK, details: { file: 'b.db' } }, laterMs)
    await ledger.pause(batchId, 'found the mistake', CLERK, laterMs)
    await ledger.adopt('restored', 'disk failed', CLERK, laterMs)
    expect(await ledger.lastSentAtMs()).toBe(sentAtMs)
  })
})
