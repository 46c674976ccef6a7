// Following a batch: what ends it, and what it never takes for the end.

import { expect, test } from 'vitest'
import type { BatchView } from '../../src/domain/batch.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { type Following, followBatch } from '../../src/processors/follow-batch.ts'
import { batchView } from '../fixtures/batches.ts'
import { ManualClock } from '../fixtures/clock.ts'

const BATCH = batchView().batchId
const OTHER = '261120-zzzzz' as BatchId

const A_SECOND = { ms: 1_000, askedToWaitMs: null }

const batchOf = (counts: BatchView['counts']): BatchView => batchView({ counts })

/** Shows one look after another, the last one for ever. */
function following(looks: readonly BatchView['counts'][], over: Partial<Following> = {}) {
  const clock = new ManualClock(0)
  let at = 0
  const seen: BatchView['counts'][] = []
  const parts: Following = {
    ledger: {
      batch: async () => batchOf(looks[Math.min(at++, looks.length - 1)] as BatchView['counts']),
      waitsFor: async () => null,
    },
    ...{
      clock,
      signal: new AbortController().signal,
      giveUpAfter: { ms: null, askedToWaitMs: null },
      waitForApprovalMs: 0,
      step: async () => true,
    },
    ...{
      settledAhead: async () => 0,
      isServed: () => true,
      trouble: async () => null,
      onLook: ({ counts }) => void seen.push(counts),
    },
    ...over,
  }
  return { seen, followed: clock.until(followBatch(BATCH, parts)) }
}

test('ends with the batch, and shows every look on the way', async () => {
  const looks = [{ READY: 3 }, { SENDING: 1, APPROVED: 2 }, { APPROVED: 3 }]
  const { seen, followed } = following(looks)
  expect(await followed).toMatchObject({ batch: { counts: { APPROVED: 3 } }, ending: { kind: 'finished' } })
  expect(seen).toEqual(looks)
})

test('gives up where no row was settled for so long, and none is being sent', async () => {
  const { seen, followed } = following([{ READY: 3 }, { READY: 2, APPROVED: 1 }], {
    ...{ giveUpAfter: A_SECOND, trouble: async () => 'no rows are handed out' },
  })
  expect(await followed).toMatchObject({
    ending: { kind: 'stuck', why: [{ code: 'no-progress', seconds: 1, trouble: 'no rows are handed out' }] },
  })
  expect(seen.length).toBeGreaterThan(5)
})

test('where the gateway only asks to wait, gives up after the limit for that, and the rows that are left stay READY', async () => {
  const health = {
    sinceMs: 0,
    why: 'the gateway asked to wait (HTTP 429)',
    failures: 0,
    openMost: 1,
    backoffUntilMs: 500,
  }
  const ends = (asksToWait: boolean, giveUpAfter: Following['giveUpAfter']) => {
    const batch = batchView({ counts: { APPROVED: 2, READY: 1 }, gatewayHealth: { ...health, asksToWait } })
    const ledger = { batch: async () => batch, waitsFor: async () => null }
    return following([], { ledger, giveUpAfter }).followed
  }
  const limits = { ms: 72_000, askedToWaitMs: 6_000 }
  expect(await ends(true, limits)).toMatchObject({
    batch: { counts: { APPROVED: 2, READY: 1 } },
    ending: { kind: 'stuck', why: [{ code: 'no-progress', seconds: 6, trouble: health.why }] },
  })
  expect(await ends(false, limits)).toMatchObject({ ending: { why: [{ code: 'no-progress', seconds: 72 }] } })
})

test('does not give up while an answer is awaited', async () => {
  const sending = Array.from({ length: 20 }, () => ({ SENDING: 3 }))
  const { followed } = following([...sending, { APPROVED: 3 }], { giveUpAfter: A_SECOND })
  expect(await followed).toMatchObject({ ending: { kind: 'finished' } })
})

test('time in which the run before it moves is no time without progress, and its own turn begins with all of it', async () => {
  let looks = 0
  const counts = () => (looks < 34 ? { READY: 3 } : { APPROVED: 3 })
  const ledger = { batch: async () => batchOf(counts()), waitsFor: async () => null }
  const step = async () => ++looks > 30
  const { followed } = following([], { ledger, step, settledAhead: async () => looks, giveUpAfter: A_SECOND })
  expect(await followed).toMatchObject({ ending: { kind: 'finished' } })
  expect(looks).toBe(34)
})

test('gives up behind a run that does not move either', async () => {
  const { followed } = following([{ READY: 3 }], {
    ...{ step: async () => false, settledAhead: async () => 7, giveUpAfter: A_SECOND },
  })
  expect(await followed).toMatchObject({ ending: { kind: 'stuck', why: [{ code: 'no-progress' }] } })
})

test('ends where its orders wait for another batch without a worker', async () => {
  const ledger = { batch: async () => batchOf({ READY: 3 }), waitsFor: async () => OTHER }
  const { followed } = following([], { ledger })
  expect(await followed).toMatchObject({
    ending: { kind: 'stuck', why: [{ code: 'waits-for-batch', batchId: OTHER }] },
  })
})

test('goes on where another process works off that other batch', async () => {
  let looks = 0
  const counts = () => (++looks < 5 ? { READY: 3 } : { APPROVED: 3 })
  const ledger = { batch: async () => batchOf(counts()), waitsFor: async () => OTHER }
  const { followed } = following([], { ledger, step: async () => false })
  expect(await followed).toMatchObject({ ending: { kind: 'finished' } })
})

test('resolves to null where the signal aborts first', async () => {
  const { followed } = following([{ READY: 3 }], { signal: AbortSignal.abort() })
  expect(await followed).toBeNull()
})
