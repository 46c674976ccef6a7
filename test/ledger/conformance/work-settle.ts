// Settling: where an answer moves a row, what a late one does, and when the machine stops itself.

import { describe, expect, test } from 'vitest'
import { standingOf } from '../../../src/domain/batch-status.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import {
  CLERK,
  claim,
  claimNamed,
  dueIn,
  dueRow,
  factsWith,
  findingOn,
  messageOf,
  NOW,
  openAccount,
  refund,
  rowIn,
  settle,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, succeed } from '../../fixtures/use-ledger.ts'

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )

export function describeSettle(): void {
  const doubt = (batchId: BatchId, reference: string) => work(ledger, batchId, reference, 'IN_DOUBT')

  describe('settle: a settlement', () => {
    test('keeps everything the answer said, and has been written when it resolves', async () => {
      const other = place.open()
      const batchId = await batchOf('A')
      const facts = factsWith('18446744073709551617', {
        ...{
          orderId: '0012',
          recordId: '9007199254740993',
          amount: '10.0000',
          currency: 'EUR',
          vaultId: '5',
          xtlOrderId: 'x',
        },
      })
      const row = await claimNamed(ledger, batchId, 'A')
      const over = {
        facts,
        warning: 'odd',
        reason: null,
        answerText: '{"a":1}',
        sentAtMs: NOW + 7,
        atMs: NOW + 9,
        httpStatus: 201,
      }
      expect(await settle(ledger, row, 'APPROVED', over)).toEqual({ state: 'APPROVED', paused: null })
      expect(await rowIn(other, batchId, 'A')).toMatchObject({
        ...{
          state: 'APPROVED',
          facts,
          warning: 'odd',
          reason: null,
          attempts: 1,
          sentAtMs: NOW + 7,
          completedAtMs: NOW + 9,
        },
      })
      expect((await other.history('A')).at(-1)).toMatchObject({
        ...{
          from: 'SENDING',
          to: 'APPROVED',
          cause: 'answer',
          attempt: 1,
          httpStatus: 201,
          answerText: '{"a":1}',
          atMs: NOW + 9,
        },
      })
    })

    test.each([
      ['APPROVED', 'APPROVED', 'answer'],
      ['DECLINED', 'DECLINED', 'answer'],
      ['FAILED', 'FAILED', 'answer'],
      ['IN_DOUBT', 'IN_DOUBT', 'doubt'],
      ['READY', 'READY', 'unsent'],
    ] as const)('moves a claimed row to %s', async (to, state, cause) => {
      const batchId = await batchOf('A')
      const row = await claimNamed(ledger, batchId, 'A')
      expect(await settle(ledger, row, to)).toMatchObject({ state })
      expect((await ledger.batch(batchId))?.counts).toEqual({ [state]: 1 })
      expect((await ledger.history('A')).at(-1)).toMatchObject({ to: state, cause })
    })

    test('without anything sent makes the row CANCELLED in a batch that was cancelled meanwhile', async () => {
      const batchId = await batchOf('A', 'B')
      const [a, b] = [await claimNamed(ledger, batchId, 'A'), await claimNamed(ledger, batchId, 'B')]
      await ledger.cancel(batchId, 'enough', CLERK, NOW)
      expect(await settle(ledger, a, 'READY')).toMatchObject({ state: 'CANCELLED' })
      expect(await settle(ledger, b, 'APPROVED')).toMatchObject({ state: 'APPROVED' }) // what has happened has happened
      expect(await statesIn(ledger, batchId)).toEqual(['CANCELLED', 'APPROVED'])
    })

    test('of an attempt that is not the latest changes nothing', async () => {
      const batchId = await batchOf('A')
      const first = await work(ledger, batchId, 'A', 'READY')
      const second = await claimNamed(ledger, batchId, 'A')
      for (const to of ['READY', 'FAILED', 'IN_DOUBT'] as const) {
        expect(await settle(ledger, first, to)).toEqual({ state: 'SENDING', paused: null })
      }
      expect(await rowIn(ledger, batchId, 'A')).toMatchObject({ state: 'SENDING', warning: null, attempts: 2 })
      expect(await settle(ledger, second, 'DECLINED')).toMatchObject({ state: 'DECLINED' })
    })

    test('said twice changes nothing the second time', async () => {
      const batchId = await batchOf('A')
      const row = await work(ledger, batchId, 'A', 'READY')
      await settle(ledger, row, 'READY', { dueAtMs: NOW + 1e9 })
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
      expect((await dueIn(ledger, batchId)).length).toBe(1)
    })
  })

  describe('settle: a late answer', () => {
    test.each(['APPROVED', 'DECLINED'] as const)('settles a row in doubt as %s', async (to) => {
      const batchId = await batchOf('A')
      const row = await doubt(batchId, 'A')
      expect(await settle(ledger, row, to, { facts: factsWith('501') })).toMatchObject({ state: to })
      expect(await rowIn(ledger, batchId, 'A')).toMatchObject({ state: to, facts: { transactionId: '501' } })
      expect((await ledger.history('A')).at(-1)).toMatchObject({ from: 'IN_DOUBT', to, cause: 'late-answer' })
    })

    test.each(['APPROVED', 'DECLINED'] as const)('settles a row that waits to be sent again as %s', async (to) => {
      const batchId = await batchOf('A')
      const row = await doubt(batchId, 'A')
      await settle(ledger, row, 'READY')
      const seen = await dueRow(ledger, batchId, 'A')
      expect(await settle(ledger, row, to)).toMatchObject({ state: to })
      expect(await claim(ledger, seen)).toEqual({ kind: 'not-free' })
    })

    test('is kept as a warning about money on a row that is sent again, through that attempt', async () => {
      const batchId = await batchOf('A')
      const first = await doubt(batchId, 'A')
      await settle(ledger, first, 'READY')
      const second = await claimNamed(ledger, batchId, 'A')
      expect(await settle(ledger, first, 'APPROVED', { facts: factsWith('501') })).toMatchObject({ state: 'SENDING' })
      expect(await settle(ledger, second, 'APPROVED', { facts: factsWith('502'), warning: 'another' })).toMatchObject({
        state: 'APPROVED',
      })
      const { warning, facts } = await rowIn(ledger, batchId, 'A')
      expect(warning).toMatch(
        /attempt 1 was answered APPROVED \(transaction id 501\) after the row had moved on; another/,
      )
      expect(facts.transactionId).toBe('502')
      expect((await ledger.batch(batchId))?.moneyWarnings).toBe(1)
    })

    test('is kept as a warning on a row that is final, whose state stays', async () => {
      const batchId = await batchOf('A')
      const row = await work(ledger, batchId, 'A', 'FAILED')
      const { edition } = await ledger.openReading(batchId, NOW).then(async (reading) => {
        await reading.close()
        return reading
      })
      await ledger.resultsWritten(batchId, '/out.csv', edition)
      expect(await settle(ledger, row, 'DECLINED', { facts: factsWith('501') })).toMatchObject({ state: 'FAILED' })
      expect((await rowIn(ledger, batchId, 'A')).warning).toContain(
        'attempt 1 was answered DECLINED (transaction id 501)',
      )
      expect(await ledger.batch(batchId)).toMatchObject({ resultsStale: true, moneyWarnings: 0, counts: { FAILED: 1 } })
      await settle(ledger, row, 'APPROVED', { facts: factsWith('502') })
      expect((await ledger.batch(batchId))?.moneyWarnings).toBe(1)
    })

    test('proof that nothing was sent makes a row in doubt READY, and nothing else', async () => {
      const batchId = await batchOf('A', 'B')
      const a = await doubt(batchId, 'A')
      const b = await work(ledger, batchId, 'B', 'DECLINED')
      expect(await settle(ledger, a, 'READY')).toMatchObject({ state: 'READY' })
      expect((await ledger.history('A')).at(-1)).toMatchObject({ cause: 'proof' })
      expect(await settle(ledger, b, 'READY')).toMatchObject({ state: 'DECLINED' })
    })
  })

  describe('settle: a transaction id', () => {
    test('settles one row only: the second row that sees it is in doubt', async () => {
      const batchId = await batchOf('A', 'B')
      const [a, b] = [await claimNamed(ledger, batchId, 'A'), await claimNamed(ledger, batchId, 'B')]
      // In one commit, as two answers read from one socket would arrive.
      const [first, second] = await Promise.all([
        settle(ledger, a, 'APPROVED', { facts: factsWith('501') }),
        settle(ledger, b, 'APPROVED', { facts: factsWith('501') }),
      ])
      expect([first.state, second.state]).toEqual(['APPROVED', 'IN_DOUBT'])
      expect(await rowIn(ledger, batchId, 'B')).toMatchObject({
        reason: expect.stringContaining('transaction id 501, which already settled another row'),
      })
      // What it was really answered may still come.
      expect(await settle(ledger, b, 'DECLINED', { facts: factsWith('502') })).toMatchObject({ state: 'DECLINED' })
    })

    test('is the same with zeros in front', async () => {
      const batchId = await batchOf('A', 'B')
      const a = await work(ledger, batchId, 'A', 'APPROVED', { facts: factsWith('00501') })
      expect((await rowIn(ledger, batchId, 'A')).facts.transactionId).toBe('00501')
      const b = await claimNamed(ledger, batchId, 'B')
      expect(await settle(ledger, b, 'APPROVED', { facts: factsWith('501') })).toMatchObject({ state: 'IN_DOUBT' })
      await settle(ledger, a, 'APPROVED', { facts: factsWith('501') }) // the same answer once more
      expect(await ledger.batch(batchId)).toMatchObject({ lateAnswers: 0 })
    })

    test('of another row does not settle a row in doubt either', async () => {
      const batchId = await batchOf('A', 'B')
      await work(ledger, batchId, 'A', 'DECLINED', { facts: factsWith('501') })
      const b = await doubt(batchId, 'B')
      expect(await settle(ledger, b, 'APPROVED', { facts: factsWith('501') })).toMatchObject({ state: 'IN_DOUBT' })
      expect((await rowIn(ledger, batchId, 'B')).warning).toContain('transaction id 501')
    })

    test('of a row in doubt stays free for the row it belongs to', async () => {
      const batchId = await batchOf('A', 'B')
      await work(ledger, batchId, 'A', 'IN_DOUBT', { facts: factsWith('501') })
      await work(ledger, batchId, 'B', 'APPROVED', { facts: factsWith('501') })
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT', 'APPROVED'])
    })

    test('of another account, zero or absent says nothing', async () => {
      const others = await submit(ledger, await openAccount(ledger, 'second'), [refund('A')])
      await work(ledger, others, 'A', 'APPROVED', { facts: factsWith('501') })
      const batchId = await batchOf('A', 'B', 'C', 'D', 'E')
      await work(ledger, batchId, 'A', 'APPROVED', { facts: factsWith('501') })
      await work(ledger, batchId, 'B', 'DECLINED', { facts: factsWith('0') })
      await work(ledger, batchId, 'C', 'DECLINED', { facts: factsWith('0') })
      await work(ledger, batchId, 'D', 'APPROVED')
      await work(ledger, batchId, 'E', 'APPROVED')
      expect(await statesIn(ledger, batchId)).toEqual(['APPROVED', 'DECLINED', 'DECLINED', 'APPROVED', 'APPROVED'])
    })
  })

  describe('settle: a refusal because it was done already', () => {
    const REPEATED = { category: 'done', reason: 'Duplicate transaction', facts: factsWith('502') } as const

    test('leaves the row in doubt with the words of the gateway, and a late one changes nothing', async () => {
      const batchId = await batchOf('A')
      const a = await claimNamed(ledger, batchId, 'A')
      expect(await settle(ledger, a, 'DECLINED', REPEATED)).toMatchObject({ state: 'IN_DOUBT' })
      expect(await ledger.doubts()).toMatchObject([
        { reason: expect.stringContaining('DECLINED (Duplicate transaction): the gateway says that it was done') },
      ])
      expect(await settle(ledger, a, 'DECLINED', REPEATED)).toMatchObject({ state: 'IN_DOUBT' })
    })

    test('that comes after a person ordered the row to be sent again stops it', async () => {
      const batchId = await batchOf('A')
      const a = await claimNamed(ledger, batchId, 'A')
      await settle(ledger, a, 'IN_DOUBT')
      await ledger.resolve(findingOn('A', { finding: 'send-again' }), CLERK, NOW + 400)
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
      expect(await settle(ledger, a, 'DECLINED', REPEATED)).toMatchObject({ state: 'IN_DOUBT' })
      expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
    })

    test('counts in the order book: the second refund is then explained by the first', async () => {
      const short = { category: 'balance', reason: 'Order balance: 0.00, requested: 10.00' } as const
      const first = await submit(ledger, accountId, [refund('A', { orderId: '777' })])
      expect(await settle(ledger, await claimNamed(ledger, first, 'A'), 'DECLINED', short)).toMatchObject({
        state: 'IN_DOUBT',
      })
      await ledger.resolve(findingOn('A', { transactionId: '7' }), CLERK, NOW)
      const second = await submit(ledger, accountId, [refund('B', { orderId: '777', amountMinor: 500n })])
      expect(await settle(ledger, await claimNamed(ledger, second, 'B'), 'DECLINED', short)).toMatchObject({
        state: 'DECLINED',
      })
    })
  })

  describe('settle: a warning about money', () => {
    const money = { warning: 'the gateway answered the currency USD', warnsOfMoney: true }

    test('pauses its batch the first time, and once more after a person has resumed it', async () => {
      const batchId = await batchOf('A', 'B', 'C')
      const other = await batchOf('D')
      const c = await claimNamed(ledger, batchId, 'C')
      const a = await claimNamed(ledger, batchId, 'A')
      expect((await settle(ledger, a, 'APPROVED', money)).paused).toContain('the currency USD')
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'paused', moneyWarnings: 1 })
      expect(await ledger.recordMessage(messageOf(accountId, refund('A')))).toMatchObject({
        ...{ kind: 'duplicate', state: 'APPROVED', moneyWarning: money.warning },
      })
      expect((await ledger.batch(other))?.hold).toBe('none')
      expect(await settle(ledger, c, 'APPROVED', money)).toEqual({ state: 'APPROVED', paused: null }) // it is paused already
      await ledger.resume(batchId, 'it is right so', CLERK, NOW)
      const b = await claimNamed(ledger, batchId, 'B')
      expect((await settle(ledger, b, 'APPROVED', money)).paused).toContain('the currency USD')
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'paused', moneyWarnings: 3 })
    })

    test.each(['none', 'cancelled'] as const)(
      'is told until a person has looked, of a batch that is %s',
      async (hold) => {
        const batchId = await batchOf('A')
        const row = await claimNamed(ledger, batchId, 'A')
        if (hold === 'cancelled') await ledger.cancel(batchId, 'no', CLERK, NOW)
        await settle(ledger, row, 'APPROVED', { ...money, atMs: NOW + 1 })
        expect(await ledger.batch(batchId)).toMatchObject({ moneyUnseen: 1 })
        expect(await ledger.batches('unsettled')).toMatchObject([{ batchId }])
        await ledger.resume(batchId, 'it is right so', CLERK, NOW + 1)
        expect(await ledger.batch(batchId)).toMatchObject({ hold, moneyWarnings: 1, moneyUnseen: 0 })
      },
    )

    test('is written before a claim that is asked for after it, though neither is answered yet', async () => {
      const batchId = await batchOf('A', 'B')
      const a = await claimNamed(ledger, batchId, 'A')
      const b = await dueRow(ledger, batchId, 'B')
      const [, claiming] = await Promise.all([settle(ledger, a, 'APPROVED', money), claim(ledger, b)])
      expect(claiming).toEqual({ kind: 'not-free' })
    })

    test('of another kind pauses nothing', async () => {
      const batchId = await batchOf('A')
      const row = await claimNamed(ledger, batchId, 'A')
      expect(await settle(ledger, row, 'APPROVED', { warning: 'no echo' })).toEqual({ state: 'APPROVED', paused: null })
      expect((await ledger.batch(batchId))?.moneyWarnings).toBe(0)
    })
  })

  describe('stopAccount', () => {
    test('keeps its first reason, which is told with the account', async () => {
      await ledger.stopAccount(accountId, 'wrong password', NOW)
      await ledger.stopAccount(accountId, 'wrong again', NOW)
      expect(await ledger.accounts()).toMatchObject([
        { accountId, name: 'default', username: 'merchant', stopped: 'wrong password' },
      ])
    })

    test('ends where other credentials are tried, once for each, while no answer is awaited', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const tries = (digest: string) => ledger.tryCredentials(accountId, digest, NOW)
      expect(await tries('two')).toBe(false) // it is not stopped
      const row = await claimNamed(ledger, batchId, 'A')
      await ledger.stopAccount(accountId, 'wrong password', NOW, 'one')
      expect(await tries('two')).toBe(false)
      await settle(ledger, row, 'READY', { httpStatus: 401 })
      expect((await ledger.controls(accountId)).triedCredentials).toBe('one')
      expect(await tries('one')).toBe(false)
      expect(await tries('two')).toBe(true)
      expect(await ledger.accounts()).toMatchObject([{ stopped: null }])
      expect(await ledger.controls(accountId)).toMatchObject({ resumes: 1, triedCredentials: null })
      await ledger.stopAccount(accountId, 'wrong again', NOW, 'two')
      expect([await tries('two'), await tries('one')]).toEqual([false, false])
      expect(await tries('three')).toBe(true)
    })

    test('ends by itself only where credentials were refused, and after a person resumed it each is new again', async () => {
      const tries = (digest: string) => ledger.tryCredentials(accountId, digest, NOW)
      await ledger.stopAccount(accountId, 'three rows were refused', NOW)
      expect(await tries('two')).toBe(false)
      await ledger.resumeAccount(accountId, 'go', CLERK, NOW)
      await ledger.stopAccount(accountId, 'wrong password', NOW, 'one')
      await ledger.resumeAccount(accountId, 'go', CLERK, NOW)
      await ledger.stopAccount(accountId, 'wrong password', NOW, 'two')
      expect(await tries('one')).toBe(true)
    })

    test('refuses a claim of the row whose settlement stopped the account', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await claimNamed(ledger, batchId, 'A')
      const [, , competing] = await Promise.all([
        ledger.stopAccount(accountId, 'wrong password', NOW),
        settle(ledger, row, 'READY', { httpStatus: 401 }),
        claim(ledger, row), // right behind the settlement, in the same commit
      ])
      expect(competing).toEqual({ kind: 'not-free' })
      expect(await statesIn(ledger, batchId)).toEqual(['READY'])
    })
  })
}

export function describeManyDoubts(): void {
  describe('settle and sweep: ten new doubts', () => {
    const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `R-${from + i}`)
    const holds = async () => Object.fromEntries((await ledger.batches()).map(({ batchId, hold }) => [batchId, hold]))

    async function doubtAll(batchId: BatchId, references: readonly string[]): Promise<Array<string | null>> {
      const said = []
      for (const reference of references) {
        const row = await claimNamed(ledger, batchId, reference)
        said.push((await settle(ledger, row, 'IN_DOUBT')).paused)
      }
      return said
    }

    test('over all batches of the account pause them all, and no other account', async () => {
      const first = await batchOf(...names(0, 8))
      const second = await batchOf(...names(8, 16))
      const other = await submit(ledger, await openAccount(ledger, 'second'), [refund('A')])
      expect(await doubtAll(first, names(0, 5))).toEqual(Array(5).fill(null))
      expect(await doubtAll(second, names(8, 12))).toEqual(Array(4).fill(null))
      expect(await holds()).toEqual({ [first]: 'none', [second]: 'none', [other]: 'none' })
      const [said] = await doubtAll(second, names(12, 13))
      expect(said).toContain('10 rows came into doubt')
      expect(await holds()).toEqual({ [first]: 'paused', [second]: 'paused', [other]: 'none' })
      expect((await ledger.batch(first))?.holdReason).toBe(said)
    })

    test('hold the account over restarts, with what is submitted later, until a person resumes it', async () => {
      const other = await submit(ledger, await openAccount(ledger, 'second'), [refund('A')])
      await doubtAll(await batchOf(...names(0, 10)), names(0, 10))
      const later = await batchOf('later')
      const row = await dueRow(ledger, later, 'later')
      for (const opened of [ledger, succeed()]) {
        await opened.sweep(NOW)
        expect(await claim(opened, row)).toEqual({ kind: 'not-free' })
        expect(await opened.workable(NOW, 10)).toMatchObject([{ batchId: other }])
        const view = await opened.batch(later)
        expect(view).toMatchObject({ hold: 'none', accountHeld: expect.stringContaining('10 rows came into doubt') })
        expect(standingOf(view!, NOW, true)).toMatchObject({
          state: 'paused',
          why: [{ code: 'as-said', reason: view?.accountHeld }],
        })
      }
      await ledger.resumeAccount(accountId, 'looked', CLERK, NOW)
      expect(await claim(ledger, row)).toMatchObject({ kind: 'claimed' })
      expect(await ledger.batch(later)).toMatchObject({ accountHeld: null })
    })

    test('hold the account until a person resumes one of its batches', async () => {
      const batchId = await batchOf(...names(0, 10))
      await doubtAll(batchId, names(0, 10))
      const later = await batchOf('later')
      await ledger.resume(batchId, 'looked', CLERK, NOW)
      expect(await claim(ledger, await dueRow(ledger, later, 'later'))).toMatchObject({ kind: 'claimed' })
    })

    test('hold an account without waiting rows, too', async () => {
      const batchId = await batchOf(...names(0, 10))
      const rows = []
      for (const reference of names(0, 10)) rows.push(await claimNamed(ledger, batchId, reference))
      await ledger.cancel(batchId, 'no', CLERK, NOW)
      for (const row of rows) await settle(ledger, row, 'IN_DOUBT')
      expect(await ledger.batch(await batchOf('later'))).toMatchObject({
        accountHeld: expect.stringContaining('came into doubt'),
      })
    })

    test('are counted from zero after a resume, and not after the start of a worker', async () => {
      const batchId = await batchOf(...names(0, 30))
      await doubtAll(batchId, names(0, 9))
      await ledger.resume(batchId, 'looked at them', CLERK, NOW)
      await doubtAll(batchId, names(9, 18))
      await ledger.resumeAccount(accountId, 'looked', CLERK, NOW)
      await doubtAll(batchId, names(18, 27))
      expect((await ledger.batch(batchId))?.hold).toBe('none')
      await succeed().sweep(NOW)
      await doubtAll(batchId, names(27, 28))
      expect((await ledger.batch(batchId))?.hold).toBe('paused')
    })

    test('do not include those that a person has resolved', async () => {
      const batchId = await batchOf(...names(0, 20))
      for (const reference of names(0, 15)) {
        await doubtAll(batchId, [reference])
        await ledger.resolve(findingOn(reference), CLERK, NOW)
      }
      expect(await ledger.batch(batchId)).toMatchObject({ hold: 'none', accountHeld: null })
    })

    test('may be ten ends of a worker: each counts once, however many rows it left', async () => {
      const batchId = await batchOf(...names(0, 20))
      await doubtAll(batchId, names(0, 8))
      const crash = async (left: readonly string[]) => {
        for (const reference of left) await claimNamed(ledger, batchId, reference)
        expect(await succeed().sweep(NOW)).toBe(left.length)
        return (await ledger.batch(batchId))!
      }
      expect(await crash(names(8, 18))).toMatchObject({ hold: 'none', accountHeld: null })
      expect(await crash(names(18, 19))).toMatchObject({
        ...{ hold: 'paused', accountHeld: expect.stringContaining('the worker ended') },
      })
    })

    test('leave a cancelled batch cancelled', async () => {
      const cancelled = await batchOf('gone')
      await ledger.cancel(cancelled, 'no', CLERK, NOW)
      const batchId = await batchOf(...names(0, 10))
      await doubtAll(batchId, names(0, 10))
      expect(await holds()).toEqual({ [cancelled]: 'cancelled', [batchId]: 'paused' })
    })
  })
}
