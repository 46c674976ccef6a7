import { expect, test } from 'vitest'
import type { AccountId } from '../../src/domain/ids.ts'
import type { Verdict } from '../../src/domain/verdict.ts'
import type { GatewayHealth } from '../../src/domain/window.ts'
import type { AccountView } from '../../src/ports/ledger/queries.ts'
import type { DueRow, Settled } from '../../src/ports/ledger/work.ts'
import { createNarrator } from '../../src/processors/narrate.ts'
import { ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

const ACCOUNT = 1 as AccountId
const row = {
  rowNo: 3,
  batchId: 'b',
  accountId: ACCOUNT,
  attempt: 0,
  instruction: { reference: 'R-3' },
} as unknown as DueRow
const account = (over: Partial<AccountView> = {}): AccountView => ({
  ...{
    accountId: ACCOUNT,
    name: 'shop',
    url: '',
    username: '',
    stopped: null,
    clockAheadMs: null,
    clockAheadAtMs: null,
    held: null,
    ratePerSecond: null,
    environment: null,
    ...over,
  },
})
const health = (sinceMs: number): GatewayHealth => ({
  sinceMs,
  why: 'refused',
  asksToWait: false,
  failures: 3,
  openMost: 1,
  backoffUntilMs: null,
})
const unsent = { kind: 'unsent', reason: 'refused', retryAfterMs: null } as Verdict
const settled = (state: Settled['state'], paused: string | null = null): Settled => ({ state, paused })

function narration() {
  const clock = new ManualClock(NOW)
  const said: Array<readonly [string, string, object]> = []
  const at = (level: string) => (details: object, message: string) => void said.push([level, message, details])
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  let accounts = [account()]
  const narrator = createNarrator({ ledger: { accounts: async () => accounts, batch: async () => null }, clock, log })
  return {
    narrator,
    clock,
    look: async (now: GatewayHealth | null = null) => {
      await narrator.look(() => now)
      return said.splice(0)
    },
    become: (over: Partial<AccountView>) => {
      accounts = [account(over)]
    },
  }
}

test('a doubt is told with its reference and reason, and a pause with its reason', async () => {
  const { narrator, look } = narration()
  const doubt = { kind: 'in-doubt', reason: 'the connection was reset' } as Verdict
  narrator.settled(row, doubt, settled('IN_DOUBT', 'ten doubts'))
  expect(await look()).toEqual([
    [
      'warn',
      'a row is in doubt: the gateway may have executed it',
      { batch: 'b', row: 3, reference: 'R-3', attempt: 1, reason: 'the connection was reset' },
    ],
    ['warn', 'paused: ten doubts', { batch: 'b', reason: 'ten doubts' }],
  ])
})

test('trouble is told once when it lasts, and its end once with the reasons and how often each came', async () => {
  const { narrator, clock, look } = narration()
  const since = clock.nowMs()
  expect(await look(health(since))).toEqual([])
  await clock.advance(2_000)
  expect(await look(health(since))).toEqual([
    [
      'warn',
      'trouble at the gateway',
      { merchant: 'shop', reason: 'refused', since: new Date(since).toISOString(), failures: 3 },
    ],
  ])
  for (let i = 0; i < 50; i += 1) {
    narrator.settled(row, unsent, settled('READY'))
    expect(await look(health(since))).toEqual([])
  }
  await clock.advance(8_000)
  expect(await look()).toEqual([
    ['info', 'the gateway answers again', { merchant: 'shop', seconds: 10, reasons: { refused: 50 } }],
  ])
})

test('one request that failed, with none after it, is no trouble; answers while the window opens again are its end', async () => {
  const { clock, look } = narration()
  const [since, failures] = [clock.nowMs(), (count: number) => ({ ...health(NOW), failures: count })]
  await clock.advance(10_000)
  expect(await look({ ...failures(1), sinceMs: since })).toEqual([])
  expect(await look(failures(2))).toMatchObject([['warn', 'trouble at the gateway', {}]])
  expect(await look(failures(1))).toEqual([])
  expect(await look(failures(0))).toMatchObject([['info', 'the gateway answers again', {}]])
})

test('failures that are over at once are told together, once a minute', async () => {
  const { narrator, clock, look } = narration()
  for (let i = 0; i < 7; i += 1) {
    narrator.settled(row, unsent, settled('READY'))
    expect(await look()).toEqual([])
  }
  await clock.advance(60_000)
  expect(await look()).toEqual([
    ['warn', 'some requests failed at the gateway', { merchant: 'shop', reasons: { refused: 7 } }],
  ])
  await clock.advance(60_000)
  expect(await look()).toEqual([])
})

test('a stop from before the start is told unless the first request ends it', async () => {
  const [mended, asBefore] = [narration(), narration()]
  for (const { become, look } of [mended, asBefore]) {
    become({ stopped: 'HTTP 401' })
    expect(await look()).toEqual([])
  }
  mended.become({ stopped: null })
  expect(await mended.look()).toEqual([])
  expect(await asBefore.look()).toMatchObject([['error', expect.stringMatching(/the merchant is stopped/), {}]])
  expect(await asBefore.look()).toEqual([])
})

test('a stop and its end are told once each', async () => {
  const { look, become } = narration()
  await look()
  become({ stopped: 'HTTP 401' })
  expect(await look()).toEqual([
    [
      'error',
      expect.stringMatching(/the merchant is stopped: .*until its credentials change/),
      { merchant: 'shop', reason: 'HTTP 401' },
    ],
  ])
  expect(await look()).toEqual([])
  become({})
  expect(await look()).toEqual([['info', 'the merchant is not stopped or paused any more', { merchant: 'shop' }]])
})

test('refused messages are counted by reason, a line for many, and no line is of any length', async () => {
  const { narrator, clock, look } = narration()
  for (let i = 0; i < 300; i += 1) narrator.refused(i < 3 ? ['amount: is missing'] : [`reference R-${i}: is known`])
  const [[, message, details] = ['', '', {}]] = await look()
  expect([message, details]).toMatchObject([
    'messages were refused',
    { count: 300, reasons: { 'amount: is missing': 3 } },
  ])
  expect(Object.keys((details as { reasons: object }).reasons)).toHaveLength(21)
  narrator.refused(['amount: is missing'])
  expect(await look()).toEqual([])
  await clock.advance(10_000)
  expect(await look()).toMatchObject([['warn', 'messages were refused', { count: 1 }]])
})
