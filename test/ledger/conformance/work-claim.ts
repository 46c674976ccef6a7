// Claiming: who may send, and that the claim is written before it is told.

import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { BatchId } from '../../../src/domain/ids.ts'
import type { Ledger } from '../../../src/ports/ledger/ledger.ts'
import { heldLines } from '../../../src/present/review.ts'
import {
  CLERK,
  claim,
  claimed,
  claimNamed,
  DAY_MS,
  dueIn,
  dueRow,
  findingOn,
  NOW,
  openAccount,
  refund,
  rowIn,
  rowsIn,
  sale,
  settle,
  settlementOf,
  statesIn,
  submit,
  work,
} from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'
import { check } from './given.ts'

const NOT_FREE = { kind: 'not-free' }

/** Of amounts of their own, so that none looks like another one. */
const charges = (vaultId: string, count: number, first = 1) =>
  Array.from({ length: count }, (_, i) => {
    const { money } = refund('', { amountMinor: BigInt(first + i) })
    return sale(`C-${vaultId}-${first + i}`, vaultId, { money })
  })

export function describeClaim(): void {
  describe('claim: a charge of a card that was declined before', () => {
    test('is not sent after ten declines on one day, whichever door it came by; a day later it is', async () => {
      const batchId = await submit(ledger, accountId, charges('7', 12))
      const early = await dueRow(ledger, batchId, 'C-7-11')
      expect(early.sharesOrder).toBe(false)
      for (let n = 1; n <= 10; n += 1) await work(ledger, batchId, `C-7-${n}`, 'DECLINED', { reason: 'No funds' })
      expect(await claim(ledger, early)).toEqual(NOT_FREE) // as it was seen before
      const row = await dueRow(ledger, batchId, 'C-7-11')
      expect([row.sharesOrder, await claim(ledger, row)]).toEqual([true, NOT_FREE])
      const { state, reason } = await rowIn(ledger, batchId, 'C-7-11')
      expect([state, reason]).toEqual([
        'CANCELLED',
        expect.stringMatching(/^not sent, because this card was declined as/),
      ])
      const tomorrow = NOW + DAY_MS + 1_000
      expect((await claimNamed(ledger, batchId, 'C-7-12', tomorrow)).attempt).toBe(1)
    })

    test('is never sent after a decline for fraud, unless the card was replaced since', async () => {
      const batchId = await submit(ledger, accountId, [...charges('8', 3), ...charges('9', 2)])
      await work(ledger, batchId, 'C-8-1', 'DECLINED', { reason: 'Pick up card (stolen)' })
      await work(ledger, batchId, 'C-9-1', 'DECLINED', { reason: 'Do not honor' })
      expect(await claim(ledger, await dueRow(ledger, batchId, 'C-8-2', NOW + 40 * DAY_MS), NOW + 40 * DAY_MS)).toEqual(
        NOT_FREE,
      )
      expect((await rowIn(ledger, batchId, 'C-8-2')).reason).toMatch(/stolen or fraud before/)
      expect((await claimNamed(ledger, batchId, 'C-9-2')).attempt).toBe(1)
      const update = sale('update', '8', { operation: 'VAULT_UPDATE', money: null, xtlOrderId: null })
      await work(ledger, await submit(ledger, accountId, [update]), 'update', 'APPROVED', { atMs: NOW + 400 })
      expect((await claimNamed(ledger, batchId, 'C-8-3')).attempt).toBe(1)
    })
  })

  describe('claim: a decline for fraud', () => {
    const LOST = 'Pick up card'

    test('is what the rules of the merchant call so, and nothing else', async () => {
      const batchId = await submit(ledger, accountId, [...charges('8', 2), ...charges('9', 2)])
      await work(ledger, batchId, 'C-8-1', 'DECLINED', { reason: LOST })
      await work(ledger, batchId, 'C-9-1', 'DECLINED', { reason: 'Code 41' })
      const claimBy = async (reference: string, match: string, category: 'funds' | 'fraud') =>
        (await claim(ledger, { ...(await dueRow(ledger, batchId, reference)), reasonRules: [{ match, category }] }))
          .kind
      expect(await claimBy('C-8-2', LOST, 'funds')).toBe('claimed')
      expect(await claimBy('C-9-2', 'code 41', 'fraud')).toBe('not-free')
    })

    test('is told in the review of a file, with how many charges it keeps back', async () => {
      const batchId = await submit(ledger, accountId, [...charges('8', 1), ...charges('9', 1)])
      await work(ledger, batchId, 'C-8-1', 'DECLINED', { reason: LOST })
      await work(ledger, batchId, 'C-9-1', 'DECLINED', { reason: 'Do not honor' })
      const later = { nowMs: NOW + 40 * DAY_MS }
      const rows = [...charges('008', 2, 2), ...charges('9', 1, 2), ...charges('7', 1, 2)]
      const declinedCards = async (over: Partial<DraftHeader> = {}) =>
        (await check(rows, { ...later, ...over })).review.declinedCards
      expect(await declinedCards()).toBe(2)
      expect(await declinedCards({ reasonRules: [{ match: LOST, category: 'funds' }] })).toBe(0)
      expect(heldLines((await check(rows, later)).review)).toEqual([
        expect.stringContaining('2 rows charge a card that was declined for fraud'),
      ])
    })

    test('is none in the words of a person who resolved a doubt', async () => {
      const batchId = await submit(ledger, accountId, charges('8', 3))
      await work(ledger, batchId, 'C-8-1', 'IN_DOUBT')
      await ledger.resolve(
        findingOn('C-8-1', { finding: 'declined', reason: 'the mail was lost: lost card' }),
        CLERK,
        NOW + DAY_MS,
      )
      expect(await rowIn(ledger, batchId, 'C-8-1')).toMatchObject({ state: 'DECLINED' })
      expect((await claimNamed(ledger, batchId, 'C-8-2', NOW + 2 * DAY_MS)).attempt).toBe(1)
    })
  })

  describe('claim: a claim', () => {
    test('makes the row SENDING, one attempt further, and has been written when it resolves', async () => {
      const other = place.open()
      const batchId = await submit(ledger, accountId, [refund('A')])
      expect(await claim(ledger, await dueRow(ledger, batchId, 'A'))).toEqual({ kind: 'claimed', attempt: 1 })
      expect(await statesIn(other, batchId)).toEqual(['SENDING'])
      expect(await other.history('A')).toMatchObject([
        { to: 'READY', cause: 'recorded' },
        { from: 'READY', to: 'SENDING', cause: 'claim', attempt: 1 },
      ])
    })

    test('of many at once: each is written when it resolves, none before it is asked for', async () => {
      const other = place.open()
      const rows = Array.from({ length: 300 }, (_, i) => refund(`R-${i}`))
      const batchId = await submit(ledger, accountId, rows)
      const seenAtResolve: Array<string | undefined> = []
      await Promise.all(
        (await dueIn(ledger, batchId)).map(async (row) => {
          await claimed(ledger, row)
          const { instruction, rowNo } = row
          if (rowNo % 50 === 0) seenAtResolve.push((await other.history(instruction.reference)).at(-1)?.to)
        }),
      )
      expect(seenAtResolve).toEqual(Array.from({ length: 6 }, () => 'SENDING'))
      expect((await other.batch(batchId))?.counts).toEqual({ SENDING: 300 })
    })

    test('of one row by several, on several connections, is won by one', async () => {
      const connections = [ledger, place.open(), place.open()]
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await dueRow(ledger, batchId, 'A')
      const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => claim(connections[i % 3] as Ledger, row)))
      expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(1)
      expect(answers.filter(({ kind }) => kind === 'not-free')).toHaveLength(11)
    })

    test('that is refused leaves its neighbours in the same commit alone', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B'), refund('C')])
      const [a, b, c] = await dueIn(ledger, batchId)
      if (!a || !b || !c) throw new Error('three rows are due')
      const answers = await Promise.all([
        claim(ledger, a),
        claim(ledger, { ...b, attempt: 7 }),
        claim(ledger, c),
        claim(ledger, a),
      ])
      expect(answers.map(({ kind }) => kind)).toEqual(['claimed', 'not-free', 'claimed', 'not-free'])
      expect(await statesIn(ledger, batchId)).toEqual(['SENDING', 'READY', 'SENDING'])
    })

    test('with the attempt number of an earlier look is refused', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await dueRow(ledger, batchId, 'A')
      await settle(ledger, await claimed(ledger, row), 'READY')
      expect(await claim(ledger, row)).toEqual(NOT_FREE)
      expect(await claim(ledger, await dueRow(ledger, batchId, 'A'))).toEqual({ kind: 'claimed', attempt: 2 })
    })

    test('of a row that is not due is refused until it is', async () => {
      const batchId = await submit(ledger, accountId, [refund('A', { executeAtMs: NOW + 500 })])
      expect(await dueIn(ledger, batchId, NOW + 499)).toEqual([])
      const row = await dueRow(ledger, batchId, 'A', NOW + 500)
      expect(await claim(ledger, row, NOW + 499)).toEqual(NOT_FREE)
      expect(await claim(ledger, row, NOW + 500)).toMatchObject({ kind: 'claimed' })
    })

    describe('where the clock and the gateway differ', () => {
      const MINUTE_MS = 60_000
      const scheduled = () => submit(ledger, accountId, [refund('A', { executeAtMs: NOW - 1 }), refund('B')])
      const due = async (batchId: BatchId, atMs = NOW) =>
        (await dueIn(ledger, batchId, atMs)).map(({ instruction }) => instruction.reference)

      test.each([6 * MINUTE_MS, -6 * MINUTE_MS])(
        'by %d ms, of a row with an execute_at waits for an answer that agrees',
        async (aheadMs) => {
          const batchId = await scheduled()
          const row = await dueRow(ledger, batchId, 'A')
          await ledger.recordClock(accountId, aheadMs, NOW)
          expect(await due(batchId)).toEqual(['B'])
          expect(await claim(ledger, row)).toEqual(NOT_FREE)
          expect(await ledger.workable(NOW, 10)).toMatchObject([{ due: 1 }])
          expect(await ledger.accounts()).toMatchObject([{ clockAheadMs: aheadMs, clockAheadAtMs: NOW }])
          await ledger.recordClock(accountId, 5 * MINUTE_MS, NOW)
          expect(await claim(ledger, row)).toMatchObject({ kind: 'claimed' })
        },
      )

      test('is told of with what may still be sent', async () => {
        const rows = [refund('A', { orderId: '7', executeAtMs: NOW - 1 }), refund('B', { orderId: '7' }), refund('C')]
        const batchId = await submit(ledger, accountId, rows)
        const hold = async () => (await ledger.batch(batchId))?.clockHold
        expect(await hold()).toBeNull()
        await ledger.recordClock(accountId, DAY_MS, NOW)
        expect(await hold()).toEqual({ aheadMs: DAY_MS, atMs: NOW, nextDueAtMs: NOW })
        await work(ledger, batchId, 'C', 'APPROVED')
        // B stands behind A, which waits.
        expect(await hold()).toEqual({ aheadMs: DAY_MS, atMs: NOW, nextDueAtMs: null })
        expect(await ledger.batch(batchId)).toMatchObject({ nextDueAtMs: NOW - 1, blocked: 0 })
        await ledger.recordClock(accountId, 0, NOW)
        expect(await hold()).toBeNull()
      })

      test('of the first few rows waits as well, and what has no execute_at goes', async () => {
        const rows = [refund('A', { executeAtMs: NOW - 1 }), refund('B'), refund('C')]
        const batchId = await submit(ledger, accountId, rows, { canaryRows: 2 })
        await ledger.recordClock(accountId, DAY_MS, NOW)
        expect(await due(batchId)).toEqual(['B'])
        expect(await ledger.workable(NOW, 10)).toMatchObject([{ due: 2 }])
        await ledger.recordClock(accountId, 0, NOW)
        expect(await due(batchId)).toEqual(['A', 'B'])
      })

      test('does not count as due', async () => {
        await submit(ledger, accountId, [refund('A', { executeAtMs: NOW - 1 })])
        const dueSinceMs = async () => (await ledger.figures()).accounts[0]?.dueSinceMs
        expect(await dueSinceMs()).not.toBeNull()
        await ledger.recordClock(accountId, DAY_MS, NOW)
        expect(await dueSinceMs()).toBeNull()
      })

      test('does not wait once the clock was set back', async () => {
        const batchId = await scheduled()
        await ledger.recordClock(accountId, DAY_MS, NOW + DAY_MS)
        expect([await due(batchId, NOW + DAY_MS), await due(batchId)]).toEqual([['B'], ['A', 'B']])
      })

      test('does not wait where a person says that the clock is right, until it agrees and differs again', async () => {
        const batchId = await scheduled()
        await ledger.recordClock(accountId, DAY_MS, NOW)
        await ledger.resumeAccount(accountId, 'the password is right again', CLERK, NOW)
        expect(await due(batchId)).toEqual(['B'])
        await ledger.resumeAccount(accountId, 'their clock is wrong', CLERK, NOW, true)
        await ledger.recordClock(accountId, DAY_MS + MINUTE_MS, NOW)
        expect(await due(batchId)).toEqual(['A', 'B'])
        for (const aheadMs of [0, DAY_MS]) await ledger.recordClock(accountId, aheadMs, NOW)
        expect(await due(batchId)).toEqual(['B'])
      })
    })

    test('after "not executed" waits for the due time that was given', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      await work(ledger, batchId, 'A', 'READY', { dueAtMs: NOW + 9_000 })
      expect(await ledger.workable(NOW + 8_999, 10)).toEqual([])
      const row = await dueRow(ledger, batchId, 'A', NOW + 9_000)
      expect(await claim(ledger, row, NOW + 8_999)).toEqual(NOT_FREE)
    })

    test.each(['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT'] as const)(
      'of a row that is %s is refused',
      async (state) => {
        const batchId = await submit(ledger, accountId, [refund('A')])
        const row = await work(ledger, batchId, 'A', state)
        for (const attempt of [0, 1, 2]) expect(await claim(ledger, { ...row, attempt }, NOW + 1e9)).toEqual(NOT_FREE)
        expect(await dueIn(ledger, batchId, NOW + 1e9)).toEqual([])
      },
    )

    test('in a paused batch is refused until it is resumed', async () => {
      const batchId = await submit(ledger, accountId, [refund('A')])
      const row = await dueRow(ledger, batchId, 'A')
      await place.open().pause(batchId, 'wait', CLERK, NOW)
      expect(await claim(ledger, row)).toEqual(NOT_FREE)
      expect(await ledger.workable(NOW, 10)).toEqual([])
      await ledger.resume(batchId, 'go', CLERK, NOW)
      expect(await claim(ledger, row)).toMatchObject({ kind: 'claimed' })
    })

    test('in a cancelled batch is refused, even for a row that the cancel has not reached yet', async () => {
      const names = Array.from({ length: 1_200 }, (_, i) => `A-${i}`)
      const batchId = await submit(
        ledger,
        accountId,
        names.map((name) => refund(name)),
      )
      const row = (await dueIn(ledger, batchId)).at(-1)
      const cancelling = ledger.cancel(batchId, 'stop', CLERK, NOW)
      while ((await ledger.batch(batchId))?.hold !== 'cancelled') await setImmediate() // its rows follow in steps
      expect(await claim(ledger, row!)).toEqual(NOT_FREE)
      await cancelling
      expect(new Set(await statesIn(ledger, batchId))).toEqual(new Set(['CANCELLED']))
    })

    test('of a stopped account is refused until the account is resumed; other accounts go on', async () => {
      const second = await openAccount(ledger, 'second')
      const batchId = await submit(ledger, accountId, [refund('A')])
      const others = await submit(ledger, second, [refund('A')])
      const row = await dueRow(ledger, batchId, 'A')
      await ledger.stopAccount(accountId, 'wrong password', NOW)
      expect(await claim(ledger, row)).toEqual(NOT_FREE)
      expect(await ledger.workable(NOW, 10)).toMatchObject([{ batchId: others }])
      expect(await claim(ledger, await dueRow(ledger, others, 'A'))).toMatchObject({ kind: 'claimed' })
      expect((await ledger.batch(batchId))?.accountStopped).toBe('wrong password')
      await ledger.resumeAccount(accountId, 'mended', CLERK, NOW)
      expect(await claim(ledger, row)).toMatchObject({ kind: 'claimed' })
    })
  })

  describe('claim and dueRows: rows of one order', () => {
    const X = { orderId: '4711' }

    test('go one at a time, in file order, whatever leading zeros they are written with', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', X),
        refund('B', { orderId: '004711', amountMinor: 5n }),
        refund('C', { orderId: '4712' }),
      ])
      expect((await dueIn(ledger, batchId)).map((row) => row.instruction.reference)).toEqual(['A', 'C'])
      const a = await claimNamed(ledger, batchId, 'A')
      expect((await dueIn(ledger, batchId)).map((row) => row.instruction.reference)).toEqual(['C'])
      await settle(ledger, a, 'APPROVED')
      expect((await dueIn(ledger, batchId)).map((row) => row.instruction.reference)).toEqual(['B', 'C'])
    })

    /** Row B of the order, seen while the row before it was not due yet; that row has become due since. */
    async function behindOneThatBecameDue() {
      const batchId = await submit(ledger, accountId, [
        refund('A', { ...X, executeAtMs: NOW + 1_000 }),
        refund('B', { ...X, amountMinor: 5n }),
      ])
      return { batchId, b: await dueRow(ledger, batchId, 'B') }
    }

    test('are not held up by an earlier one whose time to send has not come', async () => {
      const { b } = await behindOneThatBecameDue()
      expect(await claim(ledger, b, NOW + 999)).toMatchObject({ kind: 'claimed' })
    })

    test('the claim itself asks again: an earlier one that became due since refuses it', async () => {
      const { batchId, b } = await behindOneThatBecameDue()
      expect(await claim(ledger, b, NOW + 1_000)).toEqual(NOT_FREE)
      const a = await claimNamed(ledger, batchId, 'A', NOW + 1_000)
      expect(await claim(ledger, b, NOW + 1_000)).toEqual(NOT_FREE)
      await settle(ledger, a, 'IN_DOUBT')
      expect(await claim(ledger, b, NOW + 1_000)).toEqual(NOT_FREE)
      await settle(ledger, a, 'APPROVED')
      expect(await claim(ledger, b, NOW + 1_000)).toEqual(NOT_FREE) // its order has an executed row since it was found
      expect(await claim(ledger, { ...b, sharesOrder: true }, NOW + 1_000)).toMatchObject({ kind: 'claimed' })
    })

    test('an earlier one that was unsent still comes first, even when it must wait', async () => {
      const { batchId, b } = await behindOneThatBecameDue()
      await settle(ledger, await claimNamed(ledger, batchId, 'A', NOW + 1_000), 'READY', { dueAtMs: NOW + 60_000 })
      expect(await claim(ledger, b, NOW + 2_000)).toEqual(NOT_FREE)
    })

    test.each(['SENDING', 'IN_DOUBT'] as const)(
      'an earlier one that becomes due while a later one is %s waits for it',
      async (state) => {
        const { batchId, b } = await behindOneThatBecameDue()
        const later = await claimed(ledger, b)
        const a = { rowId: (b.rowId - 1) as typeof b.rowId, attempt: 0 } // never seen as due: rows are numbered as they arrive
        if (state === 'IN_DOUBT') await settle(ledger, later, 'IN_DOUBT')
        expect(await dueIn(ledger, batchId, NOW + 1_000)).toEqual([])
        expect(await claim(ledger, a, NOW + 1_000)).toEqual(NOT_FREE)
        await settle(ledger, later, 'APPROVED')
        expect(await claim(ledger, await dueRow(ledger, batchId, 'A', NOW + 1_000), NOW + 1_000)).toMatchObject({
          kind: 'claimed',
        })
      },
    )

    test('in another batch come after the earlier batch', async () => {
      const first = await submit(ledger, accountId, [refund('A', X)])
      const second = await submit(ledger, accountId, [refund('B', { ...X, amountMinor: 5n })])
      expect(await dueIn(ledger, second)).toEqual([])
      await work(ledger, first, 'A', 'DECLINED')
      expect(await dueIn(ledger, second)).toHaveLength(1)
    })

    test('of another account are another order', async () => {
      await submit(ledger, accountId, [refund('A', X)])
      const others = await submit(ledger, await openAccount(ledger, 'second'), [refund('B', X)])
      expect(await claim(ledger, await dueRow(ledger, others, 'B'))).toMatchObject({ kind: 'claimed' })
    })
  })

  describe('dueRows and workable', () => {
    test('due rows come by due time and then file order, without those in hand, no more than asked', async () => {
      const batchId = await submit(ledger, accountId, [
        refund('A', { executeAtMs: NOW - 5 }),
        refund('B', { executeAtMs: NOW - 9 }),
        refund('C', { executeAtMs: NOW - 5 }),
        refund('D', { executeAtMs: NOW + 1 }),
      ])
      const all = await ledger.dueRows(batchId, NOW, 10, new Set())
      expect(all.map((row) => row.instruction.reference)).toEqual(['B', 'A', 'C'])
      const rest = await ledger.dueRows(batchId, NOW, 1, new Set([all[0]!.rowId]))
      expect(rest.map((row) => row.instruction.reference)).toEqual(['A'])
    })

    test('workable batches come longest waiting first, counted no further than asked', async () => {
      const second = await submit(ledger, accountId, [refund('B'), refund('C'), refund('D')], { nowMs: NOW })
      const first = await submit(ledger, accountId, [refund('A')], { nowMs: NOW - 1 })
      expect(await ledger.workable(NOW, 2)).toEqual([
        { batchId: first, accountId, due: 1 },
        { batchId: second, accountId, due: 2 },
      ])
      expect(await ledger.workable(NOW, 2, second)).toMatchObject([{ batchId: second }])
      await work(ledger, first, 'A', 'APPROVED')
      expect(await ledger.workable(NOW, 2)).toMatchObject([{ batchId: second }])
    })

    test('a row carries the merchant that it is of', async () => {
      const batchId = await submit(ledger, await openAccount(ledger, 'second'), [refund('A')])
      expect(await dueIn(ledger, batchId)).toMatchObject([{ merchant: 'second' }])
    })

    test('a row carries how often it was refused and whether it was ever in doubt', async () => {
      const batchId = await submit(ledger, accountId, [refund('A'), refund('B')])
      await work(ledger, batchId, 'A', 'READY', { forbidden: true })
      await work(ledger, batchId, 'A', 'READY', { forbidden: true })
      const doubted = await work(ledger, batchId, 'B', 'IN_DOUBT')
      await ledger.settle(settlementOf(doubted, 'READY'))
      expect(await dueIn(ledger, batchId)).toMatchObject([
        { forbiddenCount: 2, everInDoubt: false, attempt: 2 },
        { forbiddenCount: 0, everInDoubt: true, attempt: 1 },
      ])
    })
  })

  test('a wait the gateway asked for holds all batches of the account until its end or a resume', async () => {
    const first = await submit(ledger, accountId, [refund('A')])
    const second = await submit(ledger, accountId, [refund('B')])
    const others = await openAccount(ledger, 'second')
    const elsewhere = await submit(ledger, others, [refund('C')])
    const untilMs = NOW + 3_600_000
    await work(ledger, first, 'A', 'READY', { httpStatus: 429, askedToWaitUntilMs: untilMs })
    const workableAt = async (nowMs: number) =>
      (await place.open().workable(nowMs, 10)).map((batch) => batch.batchId).toSorted()
    expect(await workableAt(untilMs - 1)).toEqual([elsewhere])
    expect(await workableAt(untilMs)).toEqual([first, second, elsewhere].toSorted())
    expect((await ledger.batch(second))?.accountWaitsUntilMs).toBe(untilMs)
    await ledger.resume(first, 'the gateway says go on', CLERK, NOW + 1)
    expect(await workableAt(NOW + 1)).toEqual([first, second, elsewhere].toSorted())
    expect(await rowsIn(ledger, first)).toMatchObject([{ state: 'READY', attempts: 1 }])
  })
}
