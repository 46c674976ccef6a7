import { beforeEach, describe, expect, test } from 'vitest'
import { cancelUnder } from '../../src/app/steering.ts'
import { Fault } from '../../src/domain/fault.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { KnownElsewhere } from '../../src/domain/message.ts'
import { parseBatch } from '../../src/ingest/batch-message.ts'
import { parseCancel } from '../../src/ingest/cancel-message.ts'
import { parseMessage } from '../../src/ingest/message.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { Log } from '../../src/ports/log.ts'
import { createTurns } from '../../src/processors/take-batch.ts'
import { type MessageParts, takeMessage } from '../../src/processors/take-message.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { CLERK, claimNamed, DAY_MS, listOf, NOW, openAccount, refund, submit } from '../fixtures/ledgers.ts'

const CARD = '4111111111111111'
const REFUND = {
  schema_version: 1,
  reference: 'msg-1',
  transaction_type: 'REFUND',
  amount: '1.50',
  request_currency: 'EUR',
  request_ref_po_id: '123',
}

const SHOP = {
  accountKey: 'key',
  environment: null,
  lookalikeDays: 20,
  captureTolerance: 0,
  dailyLimits: null,
  into: 'day',
  xtlOrderIdOf: (reference: string) => reference,
} as const

let ledger: Ledger
let kept: Array<Parameters<Ledger['recordRefusal']>[0]>
let errors: string[]
let parts: MessageParts

beforeEach(async () => {
  ledger = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  const accountId = await openAccount(ledger)
  kept = []
  errors = []
  const silent = () => {}
  const log: Log = { debug: silent, info: silent, warn: silent, error: (_, message) => void errors.push(message) }
  parts = {
    ledger: {
      recordMessage: ledger.recordMessage,
      async recordRefusal(refusal) {
        kept.push(refusal)
        return ledger.recordRefusal(refusal)
      },
    },
    ...{ clock: new ManualClock(NOW), log, parse: parseMessage },
    batches: { parse: parseBatch, ledger, actor: CLERK, turns: createTurns() },
    cancelling: {
      parse: parseCancel,
      cancel: (reference, merchant, reason, by) => cancelUnder(ledger, { reference, merchant, reason }, by, NOW),
    },
    addressees: {
      ...{ names: ['default'], areSeveral: false, keyEnvironment: null },
      accountOf: (merchant) => (merchant === 'default' ? { ...SHOP, accountId } : null),
    },
    knows: async () => false,
    comesAgain: true,
  }
  return () => ledger.close()
})

const take = (payload: unknown, over: Partial<MessageParts> = {}, jobName = 'instruction') =>
  takeMessage({ jobName, payload, sourceId: 'queue/1' }, { ...parts, ...over })

test('a message that names dates of another year is refused, and one that only waited in the queue is taken', async () => {
  const years = { ...REFUND, execute_at: new Date(NOW - 330 * DAY_MS).toISOString() }
  expect(await take(years)).toMatchObject({ kind: 'refused', reasons: [expect.stringMatching(/^execute_at: /)] })
  const waited = {
    ...REFUND,
    execute_at: new Date(NOW - 5 * DAY_MS).toISOString(),
    expires_at: new Date(NOW).toISOString(),
  }
  const made = { jobName: 'instruction', payload: waited, sourceId: 'queue/2', queuedAtMs: NOW - 5 * DAY_MS }
  expect(await takeMessage(made, parts)).toMatchObject({ kind: 'accepted', state: 'READY' })
})

const handed = (payload: unknown, sourceId: string) => ({ jobName: 'instruction', payload, sourceId })

const broken = () => {
  throw new RangeError('Maximum call stack size exceeded')
}

test('a job id that is a UUID is no card number, whichever digits it has', async () => {
  const uuid = '931dfe9e-c629-4038-9374-13512f9389ce'
  const taken = await takeMessage(handed(REFUND, `tranche-intake/${uuid}/1763600000000`), parts)
  expect(taken.kind).toBe('accepted')
})

test('a message that is understood is recorded, and no refusal is kept', async () => {
  expect(await take(REFUND)).toMatchObject({ kind: 'accepted', rowNo: 1 })
  expect([kept, errors]).toEqual([[], []])
})

describe('a refusal is kept', () => {
  test('with the message', async () => {
    expect(await take({ ...REFUND, amount: 1.5 })).toMatchObject({ kind: 'refused', withheld: null })
    expect(kept).toMatchObject([{ sourceId: 'queue/1', accountName: 'default', nowMs: NOW }])
    expect(kept[0]?.text).toContain('msg-1')
  })

  test('under the reference that it would be recorded under, with its run key', async () => {
    await take({ ...REFUND, amount: 1.5 })
    await take({ ...REFUND, run_key: '2026-05', amount: 1.5 })
    expect(kept.map(({ reference, recordedAs }) => [reference, recordedAs])).toEqual([
      ['msg-1', ['msg-1']],
      ['msg-1', ['2026-05/msg-1']],
    ])
  })

  test('under its reference however it is spelled, and of a batch under all of them', async () => {
    await take({ ...REFUND, reference: ' u\u0308-1 ', amount: 1.5 })
    await take(
      { schema_version: 1, batch: 'b', instructions: [REFUND, { ...REFUND, reference: 'msg-2' }, 7] },
      {},
      'batch',
    )
    expect(kept.map(({ recordedAs }) => recordedAs)).toEqual([['\u00fc-1'], ['msg-1', 'msg-2']])
  })

  test('with what is recorded beside it', async () => {
    const { batchId } = (await take(REFUND)) as { batchId: string }
    const looksLike = { reference: 'msg-1', batchId, rowNo: 1, state: 'READY' }
    expect(await take({ ...REFUND, amount: 1.5 })).toMatchObject({ kind: 'refused', looksLike })
    const nobodys = await take({ ...REFUND, merchant: 'none', amount: 1.5 })
    expect([nobodys.kind, 'looksLike' in nobodys]).toEqual(['refused', false])
  })

  test('with nothing in it that a terminal obeys', async () => {
    await take({ ...REFUND, amount: 1.5, cust_fname: 'a\u009b31mb\u202ec\u2028d' })
    expect(kept[0]?.text).not.toMatch(/[\u0080-\u009f\u202e\u2028]/)
  })

  test.each([
    ['in a field', { cust_fname: CARD }],
    ['as the name of the merchant', { merchant: CARD }],
    ['deeper than can be looked through', { extra: JSON.parse(`${'['.repeat(3_000)}"${CARD}"${']'.repeat(3_000)}`) }],
    ['in more than can be looked through', { cust_fname: CARD, cust_lname: 'x'.repeat(100_000) }],
  ])('without any of it where card data stands %s', async (_, part) => {
    expect(await take({ ...REFUND, ...part })).toMatchObject({ kind: 'refused', withheld: expect.any(String) })
    expect(kept[0]?.text).toMatch(/^withheld: it /)
    expect(JSON.stringify(kept)).not.toContain(CARD)
  })

  test('without the card number that is the name of a job', async () => {
    const taken = await take(REFUND, {}, `job ${CARD} ${'x'.repeat(1_000)}`)
    expect(taken).toMatchObject({ kind: 'refused', withheld: null })
    expect(JSON.stringify([taken, kept])).not.toContain(CARD)
    expect(kept[0]?.reasons[0]?.length).toBeLessThan(200)
  })

  test('without the security code that is in the id or the name of a job', async () => {
    const id = await takeMessage(handed(REFUND, 'queue/cvv:123/1'), parts)
    expect(id).toMatchObject({
      kind: 'refused',
      reasons: [expect.stringMatching(/^the job id holds a card number or/)],
    })
    const name = await takeMessage({ ...handed(REFUND, 'queue/2/1'), jobName: 'pay cvv 123' }, parts)
    expect(name).toMatchObject({ kind: 'refused', reasons: [expect.stringContaining('the job "pay cvv 000"')] })
    expect(JSON.stringify([id, name, kept])).not.toMatch(/cvv.123/)
  })

  test.each([
    ['amount', { amount: 1.5 }],
    ['nothing', {}],
  ])('without the card number that is in the id of a job, also where %s is wrong in it', async (_, wrong) => {
    const taken = await takeMessage(handed({ ...REFUND, ...wrong }, `queue/inv-${CARD}/1`), parts)
    expect(taken).toMatchObject({
      kind: 'refused',
      reasons: [expect.stringMatching(/^the job id holds a card number/)],
    })
    expect(JSON.stringify([taken, kept])).not.toContain(CARD)
    expect(kept).toMatchObject([{ sourceId: 'queue/inv-4111110000001111/1' }])
    expect(await ledger.batches()).toEqual([])
  })

  test('under no merchant that is not configured', async () => {
    await take({ ...REFUND, merchant: 'somebody' })
    expect(kept).toMatchObject([{ accountName: 'unknown', reasons: ['merchant: is not in the configuration'] }])
  })
})

describe('a message that was refused', () => {
  const second = { ...REFUND, reference: 'msg-2' }
  const closeFirst = async () => {
    const [day] = await ledger.batches()
    await ledger.cancel(day?.batchId as BatchId, 'wrong', CLERK, NOW)
  }

  test('is refused again when it comes again, for the same reasons and once', async () => {
    await takeMessage(handed(REFUND, 'queue/first'), parts)
    const refused = await take(second)
    expect(refused).toMatchObject({ kind: 'refused', reasons: [expect.stringContaining('looks like msg-1')] })
    await closeFirst()
    expect(await take(second)).toEqual({ ...refused, looksLike: undefined })
    expect(await ledger.refusals({ sinceMs: null, merchant: null, most: 10 })).toMatchObject({ count: 1 })
    expect(await ledger.batches()).toHaveLength(1)
  })

  test('is judged anew where it cannot come again by itself', async () => {
    await takeMessage(handed(REFUND, 'queue/first'), parts)
    expect(await take(second, { comesAgain: false })).toMatchObject({ kind: 'refused' })
    await closeFirst()
    expect(await take(second, { comesAgain: false })).toMatchObject({ kind: 'accepted' })
  })

  test('by a merchant that was not configured yet stays refused', async () => {
    const addressees = { ...parts.addressees, accountOf: () => null }
    const refused = await take({ ...REFUND, merchant: 'default' }, { addressees })
    expect(refused).toMatchObject({ kind: 'refused' })
    expect(await take(REFUND)).toEqual(refused)
  })

  test('by its parent, which would run before it is executed, unless its job completes with the outcome', async () => {
    const taken = await takeMessage({ ...handed(REFUND, 'queue/child'), hasParent: true }, parts)
    expect(taken).toMatchObject({ kind: 'refused', reasons: [expect.stringMatching(/^the job has a parent/)] })
    expect(await ledger.batches()).toEqual([])
    const waiting = handed({ ...REFUND, complete_with: 'outcome' }, 'queue/other')
    expect(await takeMessage({ ...waiting, hasParent: true }, parts)).toMatchObject({ kind: 'accepted' })
  })

  test('not yet by a merchant that the ledger knows and this worker does not, for another worker may', async () => {
    const kiosk = { ...REFUND, merchant: 'kiosk' }
    const knows = async (merchant: string) => merchant === 'kiosk'
    const { schema_version, ...instruction } = REFUND
    const batch = { schema_version, batch: 'b', merchant: 'kiosk', instructions: [instruction] }
    await expect(take(kiosk, { knows })).rejects.toThrow(KnownElsewhere)
    await expect(take(batch, { knows }, 'batch')).rejects.toThrow(KnownElsewhere)
    expect(kept).toEqual([])
    // What must not lie in Redis is not put back.
    const named = { jobName: 'instruction', payload: kiosk, sourceId: 'queue/pay-4111111111111111' }
    expect(await takeMessage(named, { ...parts, knows })).toMatchObject({ kind: 'refused' })
    expect(await take({ ...kiosk, amount: '1.5' }, { knows })).toMatchObject({ kind: 'refused' })
    expect(await take({ ...kiosk, merchant: 'nobody' }, { knows })).toMatchObject({ kind: 'refused' })
  })
})

describe('a cancellation', () => {
  const cancel = (over: object = {}, from = 'queue/cancel') =>
    takeMessage(
      { ...handed({ schema_version: 1, reference: 'msg-1', reason: 'left', ...over }, from), jobName: 'cancel' },
      parts,
    )

  test('is answered alike whenever it comes, and the row is not sent', async () => {
    await take(REFUND)
    const cancelled = await cancel()
    expect(cancelled).toMatchObject({ kind: 'cancelled', rowNo: 1, state: 'CANCELLED' })
    expect(await cancel()).toEqual(cancelled)
    const acts = await listOf(ledger.log(null))
    expect(acts.at(-1)).toMatchObject({ what: 'cancel-row', by: 'messages (job queue/cancel)' })
    expect(await cancel({}, 'queue/another')).toEqual(cancelled)
    expect((await listOf(ledger.log(null))).filter(({ what }) => what === 'cancel-row')).toHaveLength(1)
    expect((await ledger.batches())[0]?.counts).toEqual({ CANCELLED: 1 })
  })

  test('of a reference that waits behind a run key names it, and is no word that there is none', async () => {
    const { batchId } = (await take({ ...REFUND, run_key: '2026-12' })) as { batchId: string }
    expect(await cancel()).toMatchObject({
      kind: 'refused',
      reasons: [expect.stringContaining(`behind a run key, as 2026-12/msg-1 (row 1 of batch ${batchId})`)],
    })
    expect(await cancel({ reference: '2026-12/msg-1' })).toMatchObject({ kind: 'cancelled', rowNo: 1 })
  })

  test.each([
    ['nobody knows', { reference: 'msg-9' }, /^reference: merchant default has no such instruction/],
    ['was sent', {}, /^reference: Row 1 of batch .* is SENDING: only what was not sent yet/],
    ['is for another world', { environment: 'test' }, /^other_environment: /],
    ['says no reason', { reason: '' }, /^reason: /],
  ])('of what %s is refused, and nobody is told that the instruction was', async (_, over, reason) => {
    await take(REFUND)
    const { batchId } = (await ledger.batches())[0]!
    await claimNamed(ledger, batchId, 'msg-1')
    expect(await cancel(over)).toMatchObject({ kind: 'refused', reasons: [expect.stringMatching(reason)] })
    expect(kept).toMatchObject([{ accountName: 'default' }])
    expect(kept[0]).not.toHaveProperty('reference')
    expect((await ledger.batches())[0]?.counts).toEqual({ SENDING: 1 })
  })
})

test('a cancellation of what came once more names the row that was sent, not the duplicate', async () => {
  await take(REFUND)
  const { batchId } = (await ledger.batches())[0]!
  await claimNamed(ledger, batchId, 'msg-1')
  await submit(ledger, await openAccount(ledger), [refund('msg-1', { orderId: '123', amountMinor: 150n })])
  await expect(
    cancelUnder(ledger, { reference: 'msg-1', merchant: 'default', reason: 'x' }, CLERK, NOW),
  ).rejects.toThrow(`Row 1 of batch ${batchId} is SENDING`)
})

describe('a bug', () => {
  test('in the reading refuses its message, whose text is withheld', async () => {
    const taken = await take({ ...REFUND, cust_fname: CARD }, { parse: broken })
    expect(taken).toMatchObject({
      ...{ kind: 'refused', withheld: 'it could not be looked through for card data' },
      reasons: [expect.stringMatching(/failure of this program: nothing was recorded/)],
    })
    expect(kept).toHaveLength(1)
    expect(JSON.stringify([taken, kept])).not.toContain(CARD)
    expect(errors).toEqual([expect.stringMatching(/report this/)])
  })

  test('in the recording refuses its message, and the message is kept', async () => {
    const taken = await take(REFUND, { ledger: { ...parts.ledger, recordMessage: async () => broken() } })
    expect(taken).toMatchObject({ kind: 'refused', withheld: null })
    expect(kept[0]?.text).toContain('msg-1')
    expect(errors).toHaveLength(1)
  })

  test('in one message of a commit leaves the others of it alone', async () => {
    const poison = { ...parts, parse: (...asked: Parameters<MessageParts['parse']>) => poisoned(parts.parse(...asked)) }
    const messages = ['a', 'b', 'c'].map((reference, i) => ({ ...REFUND, reference, request_ref_po_id: `${i + 1}` }))
    const taken = await Promise.all(
      messages.map((message, i) => takeMessage(handed(message, `queue/${i}`), i === 1 ? poison : parts)),
    )
    expect(taken.map(({ kind }) => kind)).toEqual(['accepted', 'refused', 'accepted'])
    expect((await ledger.batches())[0]).toMatchObject({ rows: 2, counts: { READY: 2 } })
  })
})

test('trouble of our own is no reason to refuse a message', async () => {
  const full = async () => {
    throw new Fault('full', 'The disk is full.')
  }
  await expect(take(REFUND, { ledger: { ...parts.ledger, recordMessage: full } })).rejects.toMatchObject({
    code: 'full',
  })
  expect([kept, errors]).toEqual([[], []])
})

/** An amount that fits no integer of the ledger: its write throws inside the commit. */
function poisoned(parsed: ReturnType<MessageParts['parse']>): ReturnType<MessageParts['parse']> {
  if (parsed.kind === 'refused' || parsed.instruction.money === null) return parsed
  const money = { ...parsed.instruction.money, amountMinor: 2n ** 80n }
  return { ...parsed, instruction: { ...parsed.instruction, money } }
}
