import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountId } from '../../../src/domain/ids.ts'
import type { Share } from '../../../src/domain/share.ts'
import {
  allowanceOf,
  freedByDeath,
  grownShare,
  OPENING_WISH,
  type ShareFacts,
  settledWish,
  shareInForce,
  shrinkOf,
  targetShare,
} from '../../../src/ledger/rules/shares.ts'
import { anyAllowance, usableRate } from '../../fixtures/share-table.ts'

const NONE: Share = { ratePerSecond: 0, inFlightMax: 0 }
const share = (ratePerSecond: number | null, inFlightMax = 0): Share => ({ ratePerSecond, inFlightMax })

interface Given {
  readonly of: Share
  /** Their numbers. Those that rest are negative. */
  readonly members: readonly number[]
  readonly held?: Readonly<Record<number, Share>>
  readonly freed?: ShareFacts['freed']
  readonly accountId?: number
}

function facts({ of, members, held = {}, freed = [], accountId = 7 }: Given): ShareFacts {
  return {
    accountId: accountId as AccountId,
    nowMs: 10_000,
    allowance: of,
    members: members.map((id) => ({ workerId: Math.abs(id), rests: id < 0 })),
    held: Object.entries(held).map(([id, held]) => ({ workerId: Number(id), ...held })),
    freed,
  }
}

/** Those of all members, in the order of the account; those that hold nothing come last. */
function targetsOf(given: Given): Array<readonly [rate: number | null, inFlightMax: number]> {
  const all = facts(given)
  return all.members
    .map(({ workerId }) => targetShare(workerId, all))
    .map(({ ratePerSecond, inFlightMax }) => [ratePerSecond, inFlightMax] as const)
    .toSorted(([rate, one], [otherRate, other]) => other - one || (otherRate ?? 0) - (rate ?? 0))
}

const plus = (shares: readonly Share[]) => ({
  rate: shares.reduce((sum, one) => sum + (one.ratePerSecond ?? Number.POSITIVE_INFINITY), 0),
  inFlight: shares.reduce((sum, one) => sum + one.inFlightMax, 0),
})

const anyMembers = fc
  .uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 12 })
  .chain((ids) => fc.tuple(...ids.map((id) => fc.boolean().map((rests) => (rests ? -id : id)))))

describe('the allowance', () => {
  test('is what the most careful worker is configured with', () => {
    expect(allowanceOf(null, [share(20, 8), share(null, 32), share(10, 16)])).toEqual(share(10, 8))
    expect(allowanceOf(null, [share(null, 8)])).toEqual(share(null, 8))
  })

  test('is the rate that a person set instead of the configured ones, higher or lower', () => {
    expect([5, 50].map((dial) => allowanceOf(dial, [share(10, 8), share(20, 8)]))).toEqual([share(5, 8), share(50, 8)])
  })
})

describe('targets', () => {
  test('divide a rate and what may be open evenly, in whole numbers', () => {
    expect(targetsOf({ of: share(50, 32), members: [1, 2, 3] })).toEqual([
      [17, 11],
      [17, 11],
      [16, 10],
    ])
  })

  test('of a small account are for one holder in every ten a second', () => {
    const members = [1, 2, 3, 4]
    const holders = (rate: number) => targetsOf({ of: share(rate, 32), members }).filter(([, most]) => most > 0).length
    expect([0.5, 1, 9, 19, 20, 39, 40, 400].map(holders)).toEqual([1, 1, 1, 1, 2, 3, 4, 4])
  })

  test('below one a second are all of it for one worker', () => {
    expect(targetsOf({ of: share(0.25, 4), members: [1, 2] })).toEqual([
      [0.25, 4],
      [0, 0],
    ])
  })

  test('cut a fraction above one off, as the pace does', () => {
    expect(targetsOf({ of: share(2.5, 4), members: [1] })).toEqual([[2, 4]])
  })

  test('without a limit are no limit for everyone, and what may be open is divided all the same', () => {
    expect(targetsOf({ of: share(null, 5), members: [1, 2] })).toEqual([
      [null, 3],
      [null, 2],
    ])
  })

  test('are for as many workers as may have a request open', () => {
    expect(targetsOf({ of: share(100, 2), members: [1, 2, 3] })).toEqual([
      [50, 1],
      [50, 1],
      [0, 0],
    ])
  })

  test('leave one to a worker that rests, and the rest to the others', () => {
    const given = { of: share(100, 30), members: [1, 2, -3] }
    expect(targetShare(3, facts(given))).toEqual(share(1, 1))
    expect(targetsOf(given)).toEqual([
      [50, 15],
      [49, 14],
      [1, 1],
    ])
  })

  test('are as ever where all rest: nobody could use what another gave up', () => {
    expect(targetsOf({ of: share(100, 30), members: [-1, -2] })).toEqual(
      targetsOf({ of: share(100, 30), members: [1, 2] }),
    )
  })

  test('leave nothing to a worker that rests where there is only one to have', () => {
    for (const members of [
      [1, -2],
      [-1, 2],
    ])
      expect(targetsOf({ of: share(1, 1), members })).toEqual([
        [1, 1],
        [0, 0],
      ])
  })

  test('of many small accounts spread over the workers', () => {
    const members = [101, 102, 103, 104]
    const held = members.map(() => 0)
    for (let accountId = 1; accountId <= 400; accountId++) {
      const all = facts({ of: share(1, 1), members, accountId })
      held[members.findIndex((id) => targetShare(id, all).inFlightMax > 0)]! += 1
    }
    expect(Math.min(...held)).toBeGreaterThan(70)
  })

  test('are nothing for a worker that has left', () => {
    expect(targetShare(3, facts({ of: share(null, 5), members: [1, 2], held: { 3: share(null, 2) } }))).toEqual(NONE)
  })

  test('are the allowance together, whatever it is and whoever rests, and the same from facts in any order', () => {
    fc.assert(
      fc.property(anyAllowance, anyMembers, fc.integer(), (of, members, accountId) => {
        const all = facts({ of, members, accountId })
        const turned = facts({ of, members: members.toReversed(), accountId, held: { [Math.abs(members[0]!)]: of } })
        const targets = all.members.map(({ workerId }) => targetShare(workerId, all))
        expect(all.members.map(({ workerId }) => targetShare(workerId, turned))).toEqual(targets)
        expect(plus(targets)).toEqual({ rate: usableRate(of.ratePerSecond), inFlight: of.inFlightMax })
        for (const { ratePerSecond, inFlightMax } of targets) expect(ratePerSecond !== 0).toBe(inFlightMax > 0)
      }),
    )
  })
})

describe('a share shrinks', () => {
  const held = { 1: share(50, 20) }
  const two = { of: share(50, 20), members: [1, 2] }

  test('in the limiter at once, and in the ledger to what is still open, leaving behind the rate it had', () => {
    const all = facts({ ...two, held })
    expect(shareInForce(1, all)).toEqual(share(25, 10))
    expect(shrinkOf(1, all, 14)).toEqual({
      share: share(25, 14),
      freed: { ratePerSecond: 25, inFlightMax: 0, forMs: 1_000 },
    })
  })

  test('for what has ended since, without freeing any rate again', () => {
    const all = facts({ ...two, held: { 1: share(25, 14) } })
    expect([14, 12, 3].map((inFlight) => shrinkOf(1, all, inFlight))).toEqual([
      null,
      { share: share(25, 12), freed: null },
      { share: share(25, 10), freed: null },
    ])
  })

  test('below one a second, and its rate counts until the next holder may start', () => {
    const [of, members] = [share(0.1, 4), [1, 2]]
    const leaver = targetShare(1, facts({ of, members })).inFlightMax === 0 ? 1 : 2
    expect(shrinkOf(leaver, facts({ of, members, held: { [leaver]: share(0.1, 4) } }), 0)).toEqual({
      share: NONE,
      freed: { ratePerSecond: 0.1, inFlightMax: 0, forMs: 10_000 },
    })
  })

  test('not where nobody lives, itself included: for how long its last start counts is not known', () => {
    const alone = facts({ of: share(0, 0), members: [], held: { 1: share(3, 4) } })
    expect(shrinkOf(1, alone, 0)).toBeNull()
    expect(shareInForce(1, alone)).toEqual(NONE)
  })

  test('to nothing where there was no limit and is one now: nobody knows what was used', () => {
    expect(shrinkOf(1, facts({ ...two, held: { 1: share(null, 10) } }), 0)).toEqual({
      share: share(0, 10),
      freed: { ratePerSecond: null, inFlightMax: 0, forMs: 1_000 },
    })
  })

  test('not where it is what it should be, or less', () => {
    for (const mine of [share(25, 10), share(3, 1), NONE])
      expect(shrinkOf(1, facts({ ...two, held: { 1: mine } }), 1)).toBeNull()
  })

  test('to nothing in the limiter of a worker of which the ledger holds none', () => {
    expect([shareInForce(1, facts(two)), shrinkOf(1, facts(two), 5)]).toEqual([NONE, null])
  })
})

describe('a share grows', () => {
  const two = { of: share(50, 20), members: [1, 2] }
  const grown = (given: Partial<Given>) => grownShare(1, facts({ ...two, ...given }))

  test('by what nobody holds, up to its target', () => {
    expect(grown({})).toEqual(share(25, 10))
    expect(grown({ held: { 1: share(5, 2), 2: share(40, 19) } })).toEqual(share(10, 2))
  })

  test('by nothing while the others hold too much, and never to less than it has', () => {
    expect(grown({ held: { 1: share(5, 2), 2: share(50, 20) } })).toEqual(share(5, 2))
    expect(grown({ held: { 1: share(50, 20) } })).toEqual(share(50, 20))
  })

  test('by nothing that was freed and still counts', () => {
    const freed = (untilMs: number) => [{ ...share(45, 19), untilMs }]
    expect([10_000, 10_001].map((untilMs) => grown({ freed: freed(untilMs) }))).toEqual([share(25, 10), share(5, 1)])
  })

  test('by nothing while another is without a limit, or was a moment ago', () => {
    expect(grown({ held: { 2: share(null, 10) } })).toEqual(share(0, 10))
    expect(grown({ freed: [{ ...share(null), untilMs: 10_001 }] })).toEqual(share(0, 10))
  })

  test('below one a second all at once, or not at all', () => {
    const alone = { of: share(0.5, 4), members: [1] }
    expect(grown({ ...alone, held: { 2: share(0.1, 0) } })).toEqual(share(0, 4))
    expect(grown({ ...alone, held: { 1: share(0.1, 4) } })).toEqual(share(0.5, 4))
  })

  test('to no limit where there is none', () => {
    expect(grown({ of: share(null, 20), held: { 1: share(5, 3), 2: share(50, 10) } })).toEqual(share(null, 10))
  })
})

describe('of a dead worker', () => {
  const last = { startMs: 8_500, answerByMs: 60_000 }

  test('the rate counts for a second from its last start, and what may be open until its last answer-by', () => {
    expect(freedByDeath(share(5, 3), last, share(50, 20))).toEqual([
      { ...share(5, 0), untilMs: 9_500 },
      { ...share(0, 3), untilMs: 60_000 },
    ])
  })

  test('a rate below one counts for its whole interval', () => {
    expect(freedByDeath(share(0.1, 0), last, share(0.1, 20))).toEqual([{ ...share(0.1, 0), untilMs: 18_500 }])
  })

  test('that held nothing nothing counts', () => {
    expect(freedByDeath(NONE, last, share(50, 20))).toEqual([])
  })
})

describe('a wish', () => {
  const wishAfter = (...seen: ReadonlyArray<readonly [atMs: number, rests: boolean]>) =>
    seen.reduce((wish, [atMs, rests]) => settledWish(wish, rests, atMs), OPENING_WISH)

  test('changes with what has lasted for thirty seconds', () => {
    expect(wishAfter([0, true], [29_999, true]).rests).toBe(false)
    expect(wishAfter([0, true], [29_999, true], [30_000, true])).toEqual({ rests: true, otherwiseSinceMs: null })
  })

  test('does not change with what is interrupted', () => {
    expect(wishAfter([0, true], [20_000, false], [25_000, true], [54_999, true]).rests).toBe(false)
  })

  test('never changes twice within thirty seconds', () => {
    const beats = fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(beats, (seen) => {
        let [wish, nowMs, changedMs] = [OPENING_WISH, 0, Number.NEGATIVE_INFINITY]
        for (const [forMs, restsNow] of seen) {
          nowMs += forMs
          const next = settledWish(wish, restsNow, nowMs)
          if (next.rests !== wish.rests) {
            expect(nowMs - changedMs).toBeGreaterThanOrEqual(30_000)
            changedMs = nowMs
          }
          wish = next
        }
      }),
    )
  })
})
