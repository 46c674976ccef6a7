import { beforeEach, describe, expect, test } from 'vitest'
import type { CardDetails } from '../../src/domain/card.ts'
import type { AccountId, BatchId, RowId } from '../../src/domain/ids.ts'
import type { Instruction } from '../../src/domain/instruction.ts'
import type { Answer, Outcome } from '../../src/domain/outcome.ts'
import { openLedger } from '../../src/ledger/sqlite/ledger.ts'
import type { Fence, Gateway, Reached } from '../../src/ports/gateway.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { ClaimAnswer, RowName, Settled } from '../../src/ports/ledger/work.ts'
import { type AccountLane, executeSlice, type SliceParts } from '../../src/processors/execute-slice.ts'
import { type AccountLimiter, createLimiter } from '../../src/throttle/limiter.ts'
import { bodyOf } from '../fixtures/bodies.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { credentialsOf } from '../fixtures/credentials.ts'
import {
  CLERK,
  claim,
  claimed,
  dueIn,
  dueRow,
  findingOn,
  NOW,
  openAccount,
  refund,
  sale,
  settle,
  submit,
} from '../fixtures/ledgers.ts'

type Reply = (instruction: Instruction) => Outcome | Promise<Outcome>

/** A gateway as the port describes it, which answers by a script and remembers what it was sent. */
class ScriptedGateway implements Gateway {
  readonly sent: Array<{ reference: string; atMs: number; card: CardDetails | null }> = []
  reply: Reply = (instruction) => approved(instruction)
  readonly #clock: ManualClock

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  async send(
    instruction: Instruction,
    fence: Fence,
    abandon: AbortSignal,
    card: CardDetails | null = null,
  ): Promise<Outcome> {
    if (abandon.aborted) return { kind: 'unsent', why: 'abandoned', detail: 'told to stop' }
    await limiter.departure()
    const why = fence()
    if (why !== null) return { kind: 'unsent', why, detail: `held back by the ${why}` }
    this.sent.push({ reference: instruction.reference, atMs: this.#clock.monotonicMs(), card })
    return this.reply(instruction)
  }

  async reach(): Promise<Reached> {
    return { kind: 'reached', tls: null }
  }

  async close(): Promise<void> {}
}

const answered = (
  httpStatus: number,
  answer: Answer | null,
  over: Partial<Extract<Outcome, { kind: 'answered' }>> = {},
): Outcome => ({
  ...{
    kind: 'answered',
    sentAtMs: NOW + 1,
    answeredAtMs: NOW + 2,
    httpStatus,
    retryAfterMs: null,
    body: bodyOf(answer),
    text: `${httpStatus}`,
  },
  ...{ connection: 'fresh' },
  ...over,
})

const refundAnswer = ({ reference, orderId }: Instruction, over: Answer = {}): Answer => ({
  ...{ REQUEST_ACTION: 'REFUND', TRANS_STATUS_NAME: 'APPROVED', TRANS_REQUEST_ID: `7${orderId}${reference.length}` },
  ...{ TRANS_ORDER_ID: orderId ?? '', TRANS_VALUE: '10.0000', TRANS_CUR: 'EUR' },
  ...over,
})
const approved = (instruction: Instruction, over: Answer = {}) => answered(200, refundAnswer(instruction, over))
const declined = (instruction: Instruction) =>
  answered(200, refundAnswer(instruction, { TRANS_STATUS_NAME: 'DECLINED', API_ADVICE: 'no balance' }))
const forbidden = () => answered(403, null)
const unreachable = (): Outcome => ({ kind: 'unsent', why: 'connect', detail: 'connection refused' })
const lost = (): Outcome => ({ kind: 'lost', sentAtMs: NOW + 1, httpStatus: null, detail: 'no answer in time' })

let clock: ManualClock
let ledger: Ledger
let accountId: AccountId
let gateway: ScriptedGateway
let limiter: AccountLimiter
let settledAs: string[]
let parts: SliceParts
let stop: AbortController

beforeEach(async () => {
  clock = new ManualClock(NOW)
  ledger = openLedger({
    path: null,
    submitLockPath: null,
    die: (error) => {
      throw error
    },
  })
  accountId = await openAccount(ledger)
  gateway = new ScriptedGateway(clock)
  settledAs = []
  stop = new AbortController()
  withGate(createLimiter({ inFlightMax: 8, ratePerSecond: null, clock }))
  return () => ledger.close()
})

function withGate(newGate: AccountLimiter): void {
  limiter = newGate
  const lane: AccountLane = {
    gateway,
    limiter,
    credentials: credentialsOf(),
    timeoutMs: 60_000,
    notExecutedStatus: [503],
    deleteAnswer: 'status',
    reasonRules: [{ match: 'pick up', category: 'funds' }],
    dailyLimits: null,
  }
  parts = {
    ...{ ledger, clock, laneOf: (id) => (id === accountId ? lane : undefined), inFlight: new Set<RowId>() },
    onSettled: (row, _verdict, { state }: Settled) => void settledAs.push(`${row.instruction.reference} ${state}`),
    cards: null,
  }
}

const openWindow = () => {
  for (let i = 0; i < 3; i++) limiter.record('true-answer', null)
}

const run = (batchId: BatchId, over: Partial<SliceParts> = {}) =>
  clock.until(executeSlice({ batchId, place: 0, rows: 100 }, { ...parts, ...over }, stop.signal))

const batchOf = (...references: string[]) =>
  submit(
    ledger,
    accountId,
    references.map((reference) => refund(reference)),
  )
const countsOf = async (batchId: BatchId) => (await ledger.batch(batchId))?.counts
const lastMove = async (reference: string) => (await ledger.history(reference)).at(-1)

/** The ledger with a claim that does something first or afterwards. */
const withClaim = (claim: (next: () => Promise<ClaimAnswer>) => Promise<ClaimAnswer>): Partial<SliceParts> => ({
  ledger: { ...ledger, claim: (asked) => claim(() => ledger.claim(asked)) },
})

describe('what was seen becomes where the row stands', () => {
  const cases: ReadonlyArray<readonly [string, Reply, string, string]> = [
    ['an approval', (i) => approved(i), 'APPROVED', 'answer'],
    ['a decline', declined, 'DECLINED', 'answer'],
    ['a request refused as wrong', () => answered(400, null), 'FAILED', 'answer'],
    ['no answer', lost, 'IN_DOUBT', 'doubt'],
    ['a server error', () => answered(500, null), 'IN_DOUBT', 'doubt'],
    ['an answer to another request', (i) => approved(i, { TRANS_ORDER_ID: '1' }), 'IN_DOUBT', 'doubt'],
    ['an unknown status', (i) => approved(i, { TRANS_STATUS_NAME: 'MAYBE' }), 'IN_DOUBT', 'doubt'],
    ['no connection', unreachable, 'READY', 'unsent'],
    ['too many requests', () => answered(429, null), 'READY', 'unsent'],
    ['a code that the merchant knows as not executed', () => answered(503, null), 'READY', 'unsent'],
    ['a first refusal', forbidden, 'READY', 'unsent'],
    ['wrong credentials', () => answered(401, null), 'READY', 'unsent'],
  ]

  test.each(cases)('%s', async (_what, reply, state, cause) => {
    const batchId = await batchOf('A')
    gateway.reply = reply
    expect(await run(batchId)).toBe(1)
    expect(await lastMove('A')).toMatchObject({ from: 'SENDING', to: state, cause, attempt: 1 })
    expect(settledAs).toEqual([`A ${state}`])
  })

  test('every row of a slice is sent once and settled', async () => {
    const batchId = await batchOf(...Array.from({ length: 100 }, (_, i) => `R-${i}`))
    expect(await run(batchId)).toBe(100)
    expect(await countsOf(batchId)).toEqual({ APPROVED: 100 })
    expect(new Set(gateway.sent.map(({ reference }) => reference)).size).toBe(100)
    expect(gateway.sent).toHaveLength(100)
    expect(parts.inFlight.size).toBe(0)
  })

  test('a row that no longer fits its order is cancelled and not sent', async () => {
    const refunds = (reference: string) => refund(reference, { orderId: '777' })
    const voided = await submit(ledger, accountId, [{ ...refunds('V'), operation: 'CANCEL', money: null }])
    await settle(ledger, await claimed(ledger, await dueRow(ledger, voided, 'V')), 'IN_DOUBT')
    await ledger.resolve(findingOn('V', { finding: 'not-executed' }), CLERK, NOW + 86_400_000)
    const batchId = await submit(ledger, accountId, [refunds('A')])
    await ledger.resolve(findingOn('V', { corrects: true }), CLERK, NOW + 86_400_000)
    expect(await run(batchId)).toBe(0)
    expect([await countsOf(batchId), gateway.sent]).toEqual([{ CANCELLED: 1 }, []])
    expect(parts.inFlight.size).toBe(0)
  })

  test('a card is charged after a decline that only the rules of its merchant call harmless', async () => {
    const charge = (reference: string, amountMinor: bigint) =>
      sale(reference, '8', { money: refund('', { amountMinor }).money })
    const batchId = await submit(ledger, accountId, [charge('A', 1n), charge('B', 2n)])
    await settle(ledger, await claimed(ledger, await dueRow(ledger, batchId, 'A')), 'DECLINED', {
      reason: 'Pick up card',
    })
    expect(await run(batchId)).toBe(1)
    expect(gateway.sent).toMatchObject([{ reference: 'B' }])
  })

  test('a decline of a row that was ever in doubt is in doubt again', async () => {
    const batchId = await batchOf('A')
    const first = await claimed(ledger, await dueRow(ledger, batchId, 'A'))
    await settle(ledger, first, 'IN_DOUBT')
    await settle(ledger, first, 'READY')
    gateway.reply = declined
    await run(batchId)
    expect(await lastMove('A')).toMatchObject({
      to: 'IN_DOUBT',
      attempt: 2,
      reason: expect.stringContaining('no balance'),
    })
  })

  test('an answer of another time holds the rows that have an execute_at, before the next one is claimed', async () => {
    withGate(createLimiter({ inFlightMax: 1, ratePerSecond: null, clock }))
    const rows = ['A', 'B', 'C'].map((reference) => refund(reference, { executeAtMs: NOW - 1 }))
    const batchId = await submit(ledger, accountId, rows)
    gateway.reply = (instruction) => answered(200, refundAnswer(instruction), { gatewayAtMs: NOW - 600_000 })
    expect(await run(batchId)).toBe(1)
    expect(await run(batchId)).toBe(0)
    expect((await ledger.accounts())[0]?.clockAheadMs).toBe(600_002)
    await ledger.recordClock(accountId, 0, NOW)
    gateway.reply = (instruction) => answered(200, refundAnswer(instruction), { gatewayAtMs: NOW })
    expect(await run(batchId)).toBe(2)
  })

  test('an answer of another time holds them again where another host has told the ledger otherwise', async () => {
    withGate(createLimiter({ inFlightMax: 1, ratePerSecond: null, clock }))
    const rows = ['A', 'B', 'C'].map((reference) => refund(reference, { executeAtMs: NOW - 1 }))
    const batchId = await submit(ledger, accountId, rows)
    gateway.reply = (instruction) => answered(200, refundAnswer(instruction), { gatewayAtMs: NOW - 600_000 })
    expect(await run(batchId)).toBe(1)
    await ledger.recordClock(accountId, 0, NOW)
    clock.jump(1_000)
    expect(await run(batchId)).toBe(1)
    expect(await run(batchId)).toBe(0)
  })

  test('the first answer with another currency pauses the batch before the next row', async () => {
    const batchId = await batchOf('A', 'B', 'C')
    gateway.reply = (i) => approved(i, { TRANS_CUR: 'USD' })
    await run(batchId)
    expect(gateway.sent).toHaveLength(1)
    expect(await ledger.batch(batchId)).toMatchObject({ hold: 'paused', counts: { APPROVED: 1, READY: 2 } })
  })
})

describe('rows with card details', () => {
  const detailsOf = (rowNo: number): CardDetails => ({
    number: `411111000000${1000 + rowNo}`,
    code: '737',
    expiry: { month: '12', year: '2030' },
  })
  const EXPIRY = { month: '12', year: '2030' }
  const cardSale = (reference: string, rowNo: number) =>
    refund(reference, {
      ...{ operation: 'CAPTURE', orderId: null, xtlOrderId: reference },
      card: { bin: '411111', lastFour: String(1000 + rowNo), expiry: EXPIRY },
    })
  const cardBatch = (...references: string[]) =>
    submit(
      ledger,
      accountId,
      references.map((reference, i) => cardSale(reference, i + 1)),
    )
  const saleApproved = (instruction: Instruction) =>
    approved(instruction, {
      REQUEST_ACTION: 'CAPTURE',
      XTL_ORDER_ID: instruction.xtlOrderId ?? '',
      TRANS_REQUEST_ID: `7${instruction.card?.lastFour}`,
    })

  function cardsFrom(batchId: BatchId, cardOf: (rowNo: number) => CardDetails | 'changed') {
    const asked: number[] = []
    const reader = {
      cardOf: async (rowNo: number) => {
        asked.push(rowNo)
        return cardOf(rowNo)
      },
      close: async () => {},
    }
    const changes: string[] = []
    return { asked, changes, cards: { batchId, reader, onChanged: () => void changes.push('changed') } }
  }

  test('are sent each with the details of its own row', async () => {
    const batchId = await cardBatch('A', 'B', 'C')
    gateway.reply = saleApproved
    openWindow()
    const { cards } = cardsFrom(batchId, detailsOf)
    expect(await run(batchId, { cards })).toBe(3)
    expect(gateway.sent.map(({ reference, card }) => [reference, card?.number])).toEqual([
      ['A', detailsOf(1).number],
      ['B', detailsOf(2).number],
      ['C', detailsOf(3).number],
    ])
    expect(await countsOf(batchId)).toEqual({ APPROVED: 3 })
  })

  test('stay READY and are not claimed where no file is read', async () => {
    const batchId = await cardBatch('A', 'B')
    expect(await run(batchId, { cards: null })).toBe(0)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ to: 'READY', attempt: 0 })
    expect(await countsOf(batchId)).toEqual({ READY: 2 })
  })

  test('of a changed file are not claimed, and it is told', async () => {
    const batchId = await cardBatch('A', 'B')
    const { cards, changes } = cardsFrom(batchId, () => 'changed')
    expect(await run(batchId, { cards })).toBe(0)
    expect([gateway.sent.length, changes.length]).toEqual([0, 2])
    expect(await countsOf(batchId)).toEqual({ READY: 2 })
  })

  test('are not claimed with the card of another row', async () => {
    const batchId = await cardBatch('A', 'B')
    const { cards, changes } = cardsFrom(batchId, (rowNo) => detailsOf(rowNo + 1))
    expect(await run(batchId, { cards })).toBe(0)
    expect([gateway.sent.length, changes.length]).toEqual([0, 2])
  })

  test('of another batch are not claimed, though its file has a like card in the same row', async () => {
    const [batchId, ofAnotherFile] = [await cardBatch('A'), await cardBatch('B')]
    const { cards, changes, asked } = cardsFrom(batchId, detailsOf)
    expect(await run(ofAnotherFile, { cards })).toBe(0)
    expect([gateway.sent.length, asked, changes]).toEqual([0, [], []])
    expect(await countsOf(ofAnotherFile)).toEqual({ READY: 1 })
  })

  test('are read no earlier than they have a permit', async () => {
    const batchId = await cardBatch(...Array.from({ length: 20 }, (_, i) => `R-${i}`))
    gateway.reply = () => new Promise(() => {}) // none answers: the window is 1
    const { cards, asked } = cardsFrom(batchId, detailsOf)
    void executeSlice({ batchId, place: 0, rows: 100 }, { ...parts, cards }, stop.signal)
    await clock.until(clock.sleep(1_000))
    expect(asked).toEqual([1])
  })

  test('are asked for only where a row has a card', async () => {
    const batchId = await batchOf('A')
    const { cards, asked } = cardsFrom(batchId, detailsOf)
    expect(await run(batchId, { cards })).toBe(1)
    expect([asked, gateway.sent[0]?.card]).toEqual([[], null])
  })
})

describe('before the first byte', () => {
  test('the claim stands in the ledger', async () => {
    const batchId = await batchOf('A')
    let seen: unknown
    gateway.reply = async (instruction) => {
      seen = await lastMove('A')
      return approved(instruction)
    }
    await run(batchId)
    expect(seen).toMatchObject({ to: 'SENDING', cause: 'claim', attempt: 1 })
  })

  test.each([
    { kind: 'not-free' },
    { kind: 'not-written', why: 'full' },
    { kind: 'not-written', why: 'busy' },
  ] as const)('a claim that is not granted ($kind) sends nothing', async (refused) => {
    const batchId = await batchOf('A', 'B')
    expect(
      await run(
        batchId,
        withClaim(async () => refused),
      ),
    ).toBe(0)
    expect(gateway.sent).toEqual([])
    expect(await countsOf(batchId)).toEqual({ READY: 2 })
  })

  const lateness: ReadonlyArray<readonly [string, (clock: ManualClock) => void]> = [
    ['took longer than its send-by', (late) => late.jump(15_001)],
    ['returned after the machine was suspended', (late) => late.setWall(15_001)],
    ['returned after the wall clock was set back', (late) => late.setWall(-1)],
    ['took longer while the wall clock stood', (late) => late.jumpMonotonic(15_001)],
  ]

  test.each(lateness)('a claim that %s sends nothing, and the row is READY', async (_what, beLate) => {
    const batchId = await batchOf('A')
    const late = withClaim(async (next) => {
      const answer = await next()
      beLate(clock)
      return answer
    })
    expect(await run(batchId, late)).toBe(1)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ from: 'SENDING', to: 'READY', cause: 'unsent' })
  })

  test.each([
    ['by the wall clock', (late: ManualClock) => late.setWall(2_000)],
    ['while the wall clock stood', (late: ManualClock) => late.jumpMonotonic(2_000)],
  ])('a row that expires between its claim and its first byte, %s, is not sent', async (_how, beLate) => {
    const batchId = await submit(ledger, accountId, [refund('A', { expiresAtMs: NOW + 2_000 })])
    const late = withClaim(async (next) => {
      const answer = await next()
      beLate(clock)
      return answer
    })
    expect(await run(batchId, late)).toBe(1)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ from: 'SENDING', to: 'READY', cause: 'unsent' })
  })

  test('a row that expired since it was found due is cancelled by its claim, and not sent', async () => {
    const batchId = await submit(ledger, accountId, [refund('A', { expiresAtMs: NOW + 2_000 })])
    const [a] = await dueIn(ledger, batchId)
    clock.jump(2_000)
    expect(await run(batchId, { ledger: { ...ledger, dueRows: async () => [a!] } })).toBe(0)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ from: 'READY', to: 'CANCELLED', cause: 'expiry' })
  })

  test('a row is not sent whose claim another may have given up by then', async () => {
    const batchId = await batchOf('A')
    expect(await run(batchId, { ledger: { ...ledger, tenure: () => () => false } })).toBe(1)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ from: 'SENDING', to: 'READY', cause: 'unsent' })
  })

  test('the answer-by of the claim lies behind the deadline of the request', async () => {
    const batchId = await batchOf('A')
    const claims: Array<{ nowMs: number; sendByMs: number; answerByMs: number }> = []
    const claim: Ledger['claim'] = (asked) => {
      claims.push(asked)
      return ledger.claim(asked)
    }
    await run(batchId, { ledger: { ...ledger, claim } })
    const [asked] = claims
    expect(asked?.sendByMs).toBe(NOW + 15_000)
    expect((asked?.answerByMs ?? 0) - (asked?.sendByMs ?? 0)).toBeGreaterThanOrEqual(60_000 + 5_000)
  })

  test('a slow claim holds up no other, and never lets two requests leave at once', async () => {
    withGate(createLimiter({ inFlightMax: 8, ratePerSecond: 10, clock }))
    openWindow()
    const batchId = await batchOf(...Array.from({ length: 8 }, (_, i) => `R-${i}`))
    let first = true
    const slowFirst = withClaim(async (next) => {
      if (first) {
        first = false
        await clock.sleep(455)
      }
      return next()
    })
    expect(await run(batchId, slowFirst)).toBe(8)
    const times = gateway.sent.map(({ atMs }) => atMs)
    for (const [i, atMs] of times.slice(1).entries()) expect(atMs - (times[i] as number)).toBeGreaterThan(55)
    expect(gateway.sent[0]?.reference).toBe('R-1')
  })

  test('a claim that was not granted leaves its send time to the next row', async () => {
    withGate(createLimiter({ inFlightMax: 8, ratePerSecond: 0.5, clock }))
    openWindow()
    const batchId = await batchOf('A', 'B')
    let first = true
    const firstRefused = withClaim(async (next) => {
      const isFirst = first
      first = false
      return isFirst ? { kind: 'not-free' } : next()
    })
    const fromMs = clock.monotonicMs()
    expect(await run(batchId, firstRefused)).toBe(1)
    expect(gateway.sent).toMatchObject([{ reference: 'B', atMs: fromMs + 1_000 }])
  })
})

describe('rows in hand', () => {
  test('of one slice are not taken by another', async () => {
    openWindow()
    const batchId = await batchOf('A', 'B', 'C')
    const release = Promise.withResolvers<void>()
    gateway.reply = async (instruction) => {
      await release.promise
      return approved(instruction)
    }
    const first = executeSlice({ batchId, place: 0, rows: 2 }, parts, stop.signal)
    await idle()
    const second = executeSlice({ batchId, place: 0, rows: 100 }, parts, stop.signal)
    await idle()
    expect(gateway.sent.map(({ reference }) => reference)).toEqual(['A', 'B', 'C'])
    release.resolve()
    expect(await Promise.all([first, second])).toEqual([2, 1])
  })

  test('of slices that start in the same instant are asked of the ledger once', async () => {
    openWindow()
    const batchId = await batchOf(...Array.from({ length: 20 }, (_, i) => `R-${i}`))
    let claims = 0
    const counted = {
      ...parts,
      ...withClaim((next) => {
        claims += 1
        return next()
      }),
    }
    const slices = [1, 2, 3, 4].map(() => executeSlice({ batchId, place: 0, rows: 100 }, counted, stop.signal))
    const worked = await clock.until(Promise.all(slices))
    expect(worked.reduce((sum, rows) => sum + rows)).toBe(20)
    expect(claims).toBe(20)
    expect(gateway.sent).toHaveLength(20)
  })

  test('are let go of when nothing could be done with them', async () => {
    const batchId = await batchOf('A')
    limiter.record('throttled', 60_000)
    expect(await run(batchId)).toBe(0)
    expect([gateway.sent.length, parts.inFlight.size]).toEqual([0, 0])
  })

  test('are let go of when their turn ends before the rate lets them leave', async () => {
    withGate(createLimiter({ inFlightMax: 8, ratePerSecond: 1, clock }))
    openWindow()
    const batchId = await batchOf('A', 'B', 'C', 'D', 'E')
    const sent = await run(batchId)
    expect(sent).toBeLessThan(5)
    expect(await countsOf(batchId)).toEqual({ APPROVED: sent, READY: 5 - sent })
    expect(parts.inFlight.size).toBe(0)
  })
})

describe('while a settlement is written', () => {
  /** Each call that changes something, in the order in which they are handed in. `until` holds the answers to settlements. */
  const watched = (until: Promise<void>): { readonly calls: string[]; readonly watching: Partial<SliceParts> } => {
    const calls: string[] = []
    return {
      calls,
      watching: {
        ledger: {
          ...ledger,
          claim: (asked) => {
            calls.push('claim')
            return ledger.claim(asked)
          },
          settle: async (settlement) => {
            calls.push('settle')
            await until
            return ledger.settle(settlement)
          },
        },
      },
    }
  }

  test('the next row is sent, and nobody is told of the first yet', async () => {
    const batchId = await batchOf('A', 'B') // the window is 1
    const written = Promise.withResolvers<void>()
    const { watching } = watched(written.promise)
    const slice = executeSlice({ batchId, place: 0, rows: 100 }, { ...parts, ...watching }, stop.signal)
    await clock.until(clock.sleep(1_000))
    expect(gateway.sent.map(({ reference }) => reference)).toEqual(['A', 'B'])
    expect([settledAs, parts.inFlight.size]).toEqual([[], 2])
    written.resolve()
    expect(await slice).toBe(2)
    expect(settledAs).toEqual(['A APPROVED', 'B APPROVED'])
  })

  test('it names its row as every history of the ledger knows it', async () => {
    const batchId = await batchOf('A')
    let named: RowName | undefined
    const settle: Ledger['settle'] = (settlement) => {
      named = settlement.row
      return ledger.settle(settlement)
    }
    await run(batchId, { ledger: { ...ledger, settle } })
    expect(named).toEqual({ merchant: 'default', batchId, rowNo: 1, reference: 'A' })
  })

  test('there are never more claims without a settlement than requests may be open', async () => {
    openWindow()
    const batchId = await batchOf(...Array.from({ length: 40 }, (_, i) => `R-${i}`))
    const { calls, watching } = watched(Promise.resolve())
    expect(await run(batchId, watching)).toBe(40)
    let open = 0
    const opens = calls.map((call) => {
      open += call === 'claim' ? 1 : -1
      return open
    })
    expect([Math.max(...opens), opens.at(-1)]).toEqual([8, 0])
  })
})

describe('a settlement that cannot be written', () => {
  test('breaks the slice off when its other rows are settled: its own row is left to the sweep', async () => {
    openWindow()
    const batchId = await batchOf('A', 'B', 'C')
    const settleAllBut = (reference: string): Partial<SliceParts> => {
      let broken: RowId | null = null
      return {
        ledger: {
          ...ledger,
          async dueRows(...asked) {
            const rows = await ledger.dueRows(...asked)
            broken = rows.find((row) => row.instruction.reference === reference)?.rowId ?? null
            return rows
          },
          settle: (settlement) =>
            settlement.rowId === broken ? Promise.reject(new Error('integer overflow')) : ledger.settle(settlement),
        },
      }
    }
    const release = Promise.withResolvers<void>()
    gateway.reply = async (instruction) => {
      if (instruction.reference !== 'A') await release.promise
      return approved(instruction)
    }
    let broke = false
    const slice = executeSlice({ batchId, place: 0, rows: 100 }, { ...parts, ...settleAllBut('A') }, stop.signal)
    slice.catch(() => {
      broke = true
    })
    await idle()
    expect([broke, await countsOf(batchId)]).toEqual([false, { SENDING: 3 }])
    release.resolve()
    await expect(slice).rejects.toThrow('integer overflow')
    expect(await countsOf(batchId)).toEqual({ SENDING: 1, APPROVED: 2 })
    expect(settledAs).toEqual(['B APPROVED', 'C APPROVED'])
    expect(parts.inFlight.size).toBe(0)
    expect(await ledger.sweepForgotten(clock.nowMs() + 600_000, parts.inFlight)).toBe(1)
    expect(await countsOf(batchId)).toEqual({ IN_DOUBT: 1, APPROVED: 2 })
  })
})

describe('the way', () => {
  test('to an account that is not configured is closed', async () => {
    const others = await openAccount(ledger, 'second')
    const batchId = await submit(ledger, others, [refund('A')])
    expect(await run(batchId)).toBe(0)
    expect(await countsOf(batchId)).toEqual({ READY: 1 })
  })

  test('rests after three failures to connect; the rows wait for the end of the rest', async () => {
    const batchId = await batchOf('A', 'B', 'C', 'D')
    gateway.reply = unreachable
    expect(await run(batchId)).toBe(3)
    expect(gateway.sent.map(({ reference }) => reference)).toEqual(['A', 'B', 'C'])
    expect(limiter.isOpen()).toBe(false)
    const waiting = await dueIn(ledger, batchId, NOW)
    expect(waiting.map((row) => row.instruction.reference)).toEqual(['A', 'B', 'D']) // C met the rest
    expect(await dueIn(ledger, batchId, NOW + 999)).toHaveLength(3)
    expect(await dueIn(ledger, batchId, NOW + 1_000)).toHaveLength(4)
  })

  test('after Retry-After nothing is sent before its end', async () => {
    const batchId = await batchOf('A', 'B')
    gateway.reply = () => answered(429, null, { retryAfterMs: 30_000 })
    await run(batchId)
    expect(gateway.sent).toHaveLength(1)
    expect(await run(batchId)).toBe(0)
    await clock.advance(30_000)
    gateway.reply = (i) => approved(i)
    expect(await run(batchId)).toBe(2)
  })

  test('after Retry-After stays closed although other open requests are answered meanwhile', async () => {
    openWindow()
    const batchId = await batchOf('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I')
    const release = Promise.withResolvers<void>()
    gateway.reply = async (instruction) => {
      if (instruction.reference === 'A') return answered(429, null, { retryAfterMs: 30_000 })
      await release.promise
      return approved(instruction)
    }
    const slice = executeSlice({ batchId, place: 0, rows: 100 }, parts, stop.signal)
    await idle()
    expect(gateway.sent).toHaveLength(8)
    release.resolve()
    expect(await slice).toBe(8)
    expect(limiter.isOpen()).toBe(false)
    expect(await run(batchId)).toBe(0)
    expect(gateway.sent).toHaveLength(8)
    // Whoever works next knows of it from the ledger, a process of its own as well.
    expect((await ledger.batch(batchId))?.accountWaitsUntilMs).toBe(NOW + 30_000)
    expect(await ledger.workable(NOW + 29_999, 10)).toEqual([])
    await clock.advance(30_000)
    gateway.reply = (i) => approved(i)
    expect(await run(batchId)).toBe(2)
  })

  test('after Retry-After and a resume goes on at once, with the row that was to wait', async () => {
    const batchId = await batchOf('A', 'B')
    gateway.reply = () => answered(429, null, { retryAfterMs: 3_600_000 })
    await run(batchId)
    await clock.advance(1_000) // our own rest
    expect(await run(batchId)).toBe(0)
    await ledger.resume(batchId, 'they raised the limit', CLERK, clock.nowMs())
    limiter.reset() // as the tick does when it sees the resume
    gateway.reply = (i) => approved(i)
    expect(await run(batchId)).toBe(2)
    expect(await countsOf(batchId)).toEqual({ APPROVED: 2 })
  })

  test('again and again for one row, while others pass, ends it as FAILED; it does not hold up the account', async () => {
    const batchId = await batchOf('A', 'B', 'C')
    gateway.reply = (instruction) =>
      instruction.reference === 'A'
        ? answered(429, null, { retryAfterMs: 2_000 })
        : answered(200, refundAnswer(instruction), { sentAtMs: clock.nowMs() })
    await run(batchId)
    await clock.advance(2_000)
    await run(batchId)
    expect(await countsOf(batchId)).toEqual({ READY: 1, APPROVED: 2 })
    await clock.advance(59_999)
    expect(await run(batchId)).toBe(0)
    await clock.advance(1)
    expect(await run(batchId)).toBe(1)
    expect(await countsOf(batchId)).toEqual({ FAILED: 1, APPROVED: 2 })
    expect(await lastMove('A')).toMatchObject({
      reason: 'the gateway asked to wait (HTTP 429), 3 times while others passed',
    })
    // It may have meant the account all the same.
    expect((await ledger.batch(batchId))?.accountWaitsUntilMs).toBe(clock.nowMs() + 2_000)
  })

  test('again and again for the only row never ends it', async () => {
    const batchId = await batchOf('A', 'B')
    gateway.reply = () => answered(429, null)
    for (let n = 0; n < 10; n++) {
      await run(batchId)
      await clock.advance(15_000)
    }
    expect(await countsOf(batchId)).toEqual({ READY: 2 })
  })

  test('with wrong credentials stops the account: the rows stay READY and nothing more is sent', async () => {
    const batchId = await batchOf('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H')
    gateway.reply = () => answered(401, null)
    await run(batchId)
    const tried = gateway.sent.length
    expect(tried).toBeLessThan(8)
    expect(await ledger.batch(batchId)).toMatchObject({
      ...{ counts: { READY: 8 }, accountStopped: expect.stringContaining('refuses the username or password') },
    })
    await run(batchId)
    expect(gateway.sent).toHaveLength(tried)
    await ledger.resumeAccount(accountId, 'mended', CLERK, NOW)
    gateway.reply = (i) => approved(i)
    await run(batchId)
    expect(await countsOf(batchId)).toEqual({ APPROVED: 8 })
  })

  test('with wrong credentials breaks the slice off where the stop cannot be written', async () => {
    const batchId = await batchOf('A')
    gateway.reply = () => answered(401, null)
    const stopAccount = () => Promise.reject(new Error('disk full'))
    await expect(run(batchId, { ledger: { ...ledger, stopAccount } })).rejects.toThrow('disk full')
  })

  test('with wrong credentials is closed before the row that found out can be claimed again', async () => {
    const batchId = await batchOf('A', 'B')
    gateway.reply = () => answered(401, null)
    const competing: string[] = []
    const settle: Ledger['settle'] = async (settlement) => {
      const { rowId, attempt } = settlement
      const settled = await ledger.settle(settlement)
      for (const row of [{ rowId, attempt }, await dueRow(ledger, batchId, 'B')])
        competing.push((await claim(ledger, row)).kind)
      return settled
    }
    await run(batchId, { ledger: { ...ledger, settle } })
    expect(competing).toEqual(['not-free', 'not-free'])
    expect(gateway.sent).toHaveLength(1)
  })

  test('three different rows refused in a row stop the account; no row is given up', async () => {
    const batchId = await batchOf('A', 'B', 'C', 'D')
    gateway.reply = forbidden
    await run(batchId)
    expect(await ledger.batch(batchId)).toMatchObject({
      ...{ counts: { READY: 4 }, accountStopped: expect.stringContaining('nothing else passes') },
    })
  })

  test('a row that was ever in doubt is in doubt, not FAILED, where it is refused three times', async () => {
    const batchId = await batchOf('A', 'B', 'C', 'D')
    const first = await claimed(ledger, await dueRow(ledger, batchId, 'A'))
    await settle(ledger, first, 'IN_DOUBT')
    await settle(ledger, first, 'READY')
    gateway.reply = (instruction) => (instruction.reference === 'A' ? forbidden() : approved(instruction))
    for (const waitMs of [0, 10_000, 20_000]) {
      await clock.advance(waitMs)
      await run(batchId)
    }
    expect(await countsOf(batchId)).toEqual({ IN_DOUBT: 1, APPROVED: 3 })
    expect(await lastMove('A')).toMatchObject({ reason: expect.stringContaining('an earlier attempt was in doubt') })
  })

  test('one row refused three times while others pass is FAILED; it waits longer each time', async () => {
    const batchId = await batchOf('A', 'B', 'C', 'D')
    gateway.reply = (instruction) => (instruction.reference === 'A' ? forbidden() : approved(instruction))
    await run(batchId)
    expect(await countsOf(batchId)).toEqual({ READY: 1, APPROVED: 3 })
    for (const waitMs of [10_000, 20_000]) {
      await clock.advance(waitMs - 1)
      expect(await run(batchId)).toBe(0)
      await clock.advance(1)
      expect(await run(batchId)).toBe(1)
    }
    expect(await countsOf(batchId)).toEqual({ FAILED: 1, APPROVED: 3 })
    expect(await lastMove('A')).toMatchObject({
      to: 'FAILED',
      reason: expect.stringContaining('3 times while others passed'),
    })
    expect((await ledger.batch(batchId))?.accountStopped).toBeNull()
  })
})

describe('stopping', () => {
  test('before a slice begins sends nothing', async () => {
    const batchId = await batchOf('A')
    stop.abort()
    expect(await run(batchId)).toBe(0)
    expect(gateway.sent).toEqual([])
  })

  test('awaits the open request and settles it; rows that waited for their place stay READY', async () => {
    const batchId = await batchOf('A', 'B', 'C')
    const release = Promise.withResolvers<void>()
    gateway.reply = async (instruction) => {
      await release.promise
      return approved(instruction)
    }
    const slice = executeSlice({ batchId, place: 0, rows: 100 }, parts, stop.signal)
    await idle()
    stop.abort()
    await idle()
    release.resolve()
    expect(await slice).toBe(1)
    expect(await countsOf(batchId)).toEqual({ APPROVED: 1, READY: 2 })
  })

  test('between claim and first byte leaves the row READY', async () => {
    const batchId = await batchOf('A')
    const stopped = withClaim(async (next) => {
      const answer = await next()
      stop.abort()
      return answer
    })
    await run(batchId, stopped)
    expect(gateway.sent).toEqual([])
    expect(await lastMove('A')).toMatchObject({ to: 'READY', cause: 'unsent' })
  })
})
