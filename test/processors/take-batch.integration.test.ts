// A batch of another service: all of it is one batch of its own, or nothing of it is recorded.

import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { MAYBE_EXECUTED } from '../../src/domain/message.ts'
import { parseBatch } from '../../src/ingest/batch-message.ts'
import { parseMessage } from '../../src/ingest/message.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { type BatchParts, createTurns } from '../../src/processors/take-batch.ts'
import { type MessageParts, takeMessage } from '../../src/processors/take-message.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { CLERK, NOW, openAccount, rowsIn, sqlitePlaceInMemory } from '../fixtures/ledgers.ts'

let ledger: Ledger
let parts: MessageParts

beforeEach(async () => {
  const place = await sqlitePlaceInMemory()
  ledger = place.open()
  const accountId = await openAccount(ledger)
  const silent = () => {}
  const account = {
    accountId,
    accountKey: 'key',
    environment: null,
    lookalikeDays: 20,
    captureTolerance: 0,
    dailyLimits: null,
    into: 'day',
    xtlOrderIdOf: (text: string) => text,
  }
  parts = {
    ...{ ledger, clock: new ManualClock(NOW), log: { debug: silent, info: silent, warn: silent, error: silent } },
    parse: parseMessage,
    batches: { parse: parseBatch, ledger, actor: CLERK, turns: createTurns() },
    cancelling: null,
    addressees: {
      ...{ names: ['default'], areSeveral: false, keyEnvironment: null },
      accountOf: (merchant) => (merchant === 'default' ? { ...account, into: 'day' } : null),
    },
    knows: null,
    comesAgain: true,
  }
  return () => place.remove()
})

const instruction = (n: number, over: object = {}) => ({
  ...{ reference: `R-${n}`, amount: `${n}.50`, request_ref_po_id: `70000${n}` },
  ...over,
})
const batch = (over: object = {}) => ({
  ...{ schema_version: 1, batch: 'november', transaction_type: 'REFUND', request_currency: 'EUR' },
  ...{ instructions: [instruction(1), instruction(2)] },
  ...over,
})
const SALES = [1, 2].map((n) =>
  instruction(n, {
    transaction_type: 'CAPTURE',
    customer_vault_id: `5${n}`,
    request_ref_po_id: undefined,
    xtl_order_id: 'X',
  }),
)
let jobs = 0
const take = (payload: unknown) =>
  takeMessage({ jobName: 'batch', payload, sourceId: `tranche-intake/${++jobs}/1` }, parts)
const reasonsOf = async (payload: unknown) => {
  const taken = await take(payload)
  if (taken.kind !== 'refused') throw new Error(`${taken.kind}`)
  return taken.reasons
}

describe('the dates of a batch', () => {
  const FAR = '2062-06-01T09:00:00Z'

  test('hold for its instructions that name none, and those that are far are allowed by their number', async () => {
    const instructions = [instruction(1), instruction(2, { execute_at: '2026-05-04T10:00:00Z' }), instruction(3)]
    const far = batch({ execute_at: FAR, instructions })
    expect(await reasonsOf(far)).toEqual([
      `instructions.0.execute_at: 2062-06-01T09:00:00.000Z is more than a day ago or more than 400 days ahead`,
      '2 instructions have such an execute_at; if they are meant, set allow_execute_at to 2',
    ])
    expect((await take({ ...far, batch: 'meant', allow_execute_at: 2 })).kind).toBe('recorded')
  })

  test('make an instruction bad that has expired when its producer made it, and not one that waited', async () => {
    const expired = batch({ expires_at: '2026-05-04T09:00:00Z' })
    expect(await reasonsOf(expired)).toContainEqual(
      expect.stringMatching(/^instructions\.0\.expires_at: has already passed/),
    )
    const waited = { jobName: 'batch', payload: expired, sourceId: 'waited', queuedAtMs: NOW - 1 }
    expect((await takeMessage(waited, parts)).kind).toBe('recorded')
  })
})

describe('a batch that was refused', () => {
  const hand = (over: Partial<MessageParts> = {}) =>
    takeMessage({ jobName: 'batch', payload: batch(), sourceId: 'tranche-intake/same/1' }, { ...parts, ...over })
  async function fill(): Promise<() => Promise<void>> {
    const first = await take(
      batch({ batch: 'first', instructions: [instruction(9, { request_ref_po_id: '700001', amount: '1.50' })] }),
    )
    if (first.kind !== 'recorded') throw new Error(first.kind)
    return async () => {
      await ledger.cancel(first.batchId, 'wrong', CLERK, NOW)
    }
  }

  test('says that it may have been executed where it was queued before an older state was adopted', async () => {
    await ledger.adopt('restored', 'disk failed', CLERK, NOW)
    await take(batch())
    const payload = batch({ batch: 'december', instructions: [instruction(1, { amount: '9.00' })] })
    const handed = { jobName: 'batch', payload, sourceId: 'tranche-intake/before/1', queuedAtMs: NOW - 1 }
    const refused = await takeMessage(handed, parts)
    expect(refused).toMatchObject({ kind: 'refused', reasons: [expect.any(String), MAYBE_EXECUTED] })
  })

  test('stays refused when the same job comes again, and is judged anew in a job of its own', async () => {
    const cancelFirst = await fill()
    const refused = await hand()
    expect(refused).toMatchObject({
      kind: 'refused',
      reasons: [
        expect.stringContaining('R-1 looks like R-9'),
        '1 instruction looks like another; if it is meant as well, set allow_lookalikes to 1',
      ],
      questions: [
        { code: 'lookalike', instruction: 0, looks_like: { reference: 'R-9', state: 'PENDING', final: false } },
      ],
    })
    await cancelFirst()
    expect(await hand()).toEqual({ ...refused, questions: undefined })
    expect(await ledger.batches()).toHaveLength(1)
    expect(await take(batch())).toMatchObject({ kind: 'recorded' })
  })

  test('is kept as refused before another submit may begin', async () => {
    await fill()
    const known: unknown[] = []
    const openDraft: Ledger['openDraft'] = async (...asked) => {
      const draft = await ledger.openDraft(...asked)
      const discard = async () => {
        known.push(await ledger.refusedBefore('tranche-intake/same/1'))
        await draft.discard()
      }
      return { ...draft, discard }
    }
    const batches = { ...(parts.batches as BatchParts), ledger: { ...ledger, openDraft } }
    const refused = await hand({ batches })
    expect(known).toEqual([refused.kind === 'refused' ? refused.reasons : null])
  })
})

describe('a batch', () => {
  test('is one batch of its own, with its defaults in every instruction that names no other', async () => {
    const own = instruction(3, { transaction_type: 'CAPTURE', customer_vault_id: '5', request_ref_po_id: undefined })
    const taken = await take(batch({ run_key: '11', instructions: [instruction(1), own] }))
    expect(taken).toMatchObject({ kind: 'recorded', rows: 2 })
    if (taken.kind !== 'recorded') return
    expect(await ledger.batch(taken.batchId)).toMatchObject({ source: 'queue', fileName: 'november', runKey: '11' })
    expect((await rowsIn(ledger, taken.batchId)).map(({ reference, operation }) => [reference, operation])).toEqual([
      ['11/R-1', 'REFUND'],
      ['11/R-3', 'CAPTURE'],
    ])
  })

  test('handed in again is the same batch, in whatever order its fields come, also at once', async () => {
    const first = await take(batch())
    const turned = Object.fromEntries(Object.entries(batch()).toReversed())
    expect(await take(turned)).toMatchObject({ ...first, kind: 'repeated' })
    const names = await Promise.all(
      Array.from({ length: 4 }, () => take(batch({ batch: 'b', instructions: [instruction(9)] }))),
    )
    expect(names.map(({ kind }) => kind).toSorted()).toEqual(['recorded', 'repeated', 'repeated', 'repeated'])
    expect(await ledger.batches()).toHaveLength(2)
  })

  test('under a name that has other content is refused, and nothing of it is recorded', async () => {
    await take(batch())
    expect(await reasonsOf(batch({ instructions: [instruction(1), instruction(3)] }))).toEqual([
      expect.stringMatching(/^batch: "november" is batch .* other content/),
    ])
    expect(await ledger.batches()).toMatchObject([{ rows: 2 }])
  })

  test('beside other batches does not wait for ever: it stays in the queue', async () => {
    const many = await Promise.allSettled(
      Array.from({ length: 9 }, (_, n) => take(batch({ batch: `b${n}`, instructions: [instruction(20 + n)] }))),
    )
    const later = many.filter(({ status }) => status === 'rejected')
    expect(later.length).toBe(5)
    expect(later[0]).toMatchObject({ reason: { code: 'stopped' } })
    expect(await ledger.batches()).toHaveLength(4)
  })
})

describe('a batch is refused whole, with its reasons by instruction', () => {
  test.each([
    [
      'a wrong amount',
      { instructions: [instruction(1), instruction(2, { amount: '1,50' })] },
      /^instructions\.1\.amount/,
    ],
    [
      'a missing order',
      { instructions: [instruction(1, { request_ref_po_id: undefined })] },
      /^instructions\.0\.request_ref/,
    ],
    [
      'a reference twice',
      { instructions: [instruction(1), instruction(2, { reference: 'R-1' })] },
      /^instructions\.[01]/,
    ],
    ['an xtl_order_id twice', { instructions: SALES }, /xtl_order_id/],
    [
      'look-alikes',
      { instructions: [instruction(1), { ...instruction(1), reference: 'other' }] },
      /allow_lookalikes to 1$/,
    ],
    ['no instruction', { instructions: [] }, /^instructions/],
    [
      'too many',
      { instructions: Array.from({ length: 1_001 }, (_, n) => instruction(n)) },
      /more than 1,000 instructions/,
    ],
    ['no name', { batch: undefined }, /^batch/],
    ['a name of other characters', { batch: 'a/b' }, /^batch/],
    ['a merchant of its own', { instructions: [instruction(1, { merchant: 'default' })] }, /merchant/],
    ['a merchant that is not configured', { merchant: 'shop' }, /^merchant: is not in the configuration/],
    ['a field that is none', { reply: 'x' }, /reply/],
    ['a card number', { instructions: [instruction(1, { cust_fname: '4111111111111111' })] }, /^holds card data/],
    ['a card number in its name', { batch: '4111111111111111' }, /^holds card data/],
    ['a list among its instructions', { instructions: [['4111', '1111', '1111', '1111']] }, /that is none/],
    ['depth', { instructions: [JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)] }, /nested deeper/],
  ])('for %s', async (_, over, reason) => {
    expect((await reasonsOf(batch(over))).join('\n')).toMatch(new RegExp(reason, 'm'))
    expect(await ledger.batches()).toEqual([])
    const { refusals } = await ledger.refusals({ sinceMs: null, merchant: null, most: 9 })
    expect(refusals).toHaveLength(1)
    expect(JSON.stringify(refusals)).not.toContain('4111111111111111')
  })

  test('because a row of it is recorded with other content, and that one only is named', async () => {
    await take(batch())
    const [reason, ...others] = await reasonsOf(
      batch({ batch: 'b', instructions: [instruction(2, { amount: '9.00' }), instruction(5)] }),
    )
    expect([reason, others]).toEqual([expect.stringMatching(/^instructions\.0/), []])
  })

  test('but look-alikes pass when their number is named', async () => {
    const instructions = [instruction(1), { ...instruction(1), reference: 'other' }]
    expect(await take(batch({ instructions, allow_lookalikes: 1 }))).toMatchObject({ kind: 'recorded', rows: 2 })
  })
})

test('that is refused is told of by its name', async () => {
  await reasonsOf(batch({ instructions: [instruction(1, { amount: '1.234' })] }))
  await ledger.gatherEvents(NOW)
  const { facts } = await ledger.events({ move: 0, event: 0 }, await ledger.eventsEnd(), 'all')
  expect(facts).toMatchObject([{ type: 'row.refused', said: { final: true, batch_name: 'november' } }])
})

test('tells the queue that it names, and that of who hands it in again', async () => {
  const taken = await take(batch({ reply_to: 'tranche-outcome-a' }))
  expect(await take(batch({ reply_to: 'tranche-outcome-b' }))).toMatchObject({ kind: 'repeated' })
  await ledger.pause((taken as { batchId: BatchId }).batchId, 'wait', CLERK, NOW)
  await ledger.gatherEvents(NOW)
  const { facts } = await ledger.events({ move: 0, event: 0 }, await ledger.eventsEnd())
  const paused = facts.find(({ type }) => type === 'batch.paused')
  expect(paused?.replyTo).toEqual(['tranche-outcome-a', 'tranche-outcome-b'])
})

test('whatever a batch is handed in as, it is recorded whole or not at all', async () => {
  const odd = fc.constantFrom<object>({}, {}, {}, { amount: '0' }, { amount: 1 }, { extra: 1 }, { reference: 'R-1' })
  let name = 0
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { minLength: 1, maxLength: 6 }), async (list) => {
      const before = await ledger.batches()
      const start = ++name * 10
      const instructions = list.map((over, n) => instruction(start + n, over))
      const taken = await take(batch({ batch: `p${name}`, instructions }))
      const after = await ledger.batches()
      if (taken.kind === 'refused') expect(after).toHaveLength(before.length)
      else expect(after.find(({ batchId }) => batchId === taken.batchId)).toMatchObject({ rows: list.length })
    }),
    { numRuns: 60 },
  )
})
