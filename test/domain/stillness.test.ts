// Why no row moves at the moment, though the batch goes on by itself.

import { expect, test } from 'vitest'
import type { BatchView } from '../../src/domain/batch.ts'
import { stillnessOf } from '../../src/domain/stillness.ts'
import { batchView } from '../fixtures/batches.ts'

const NOW = Date.UTC(2026, 10, 21, 9)
const SOON = NOW + 10_000
const told = {
  sinceMs: NOW - 1,
  why: 'the gateway asked to wait (HTTP 429)',
  asksToWait: true,
  openMost: 1,
  failures: 0,
}

const still = (over: Partial<BatchView>, rate: number | null = null) => stillnessOf(batchView(over), NOW, rate)

test('the gateway asked to wait: until the later of what it asked for and our own back-off', () => {
  const gatewayHealth = { ...told, backoffUntilMs: NOW + 1_000 }
  expect(still({ accountWaitsUntilMs: SOON, gatewayHealth })).toEqual({ code: 'gateway', why: told.why, untilMs: SOON })
  expect(still({ accountWaitsUntilMs: NOW, gatewayHealth })).toMatchObject({ untilMs: NOW + 1_000 })
})

test('a gateway that fails is tried one row at a time', () => {
  const gatewayHealth = { ...told, failures: 1, why: 'connection refused', backoffUntilMs: NOW }
  expect(still({ gatewayHealth })).toEqual({ code: 'gateway', why: 'connection refused', untilMs: null })
})

test('one that answers again holds nothing up', () => {
  expect(still({ gatewayHealth: { ...told, backoffUntilMs: null } })).toBeNull()
})

test('open requests are awaited', () => {
  expect(still({ counts: { READY: 1, SENDING: 2 } })).toEqual({ code: 'answers', requests: 2 })
})

test('rows that are due later are waited for, and rows behind another of their order', () => {
  expect(still({ nextDueAtMs: SOON })).toEqual({ code: 'due', untilMs: SOON, why: null })
  const gatewayHealth = { ...told, backoffUntilMs: null }
  expect(still({ nextDueAtMs: SOON, gatewayHealth })).toEqual({ code: 'due', untilMs: SOON, why: told.why })
  expect(still({ nextDueAtMs: null, blocked: 2 })).toEqual({ code: 'order', rows: 2 })
})

test('a rate is what is left to wait for', () => {
  expect(still({ nextDueAtMs: NOW }, 0.1)).toEqual({ code: 'rate', perSecond: 0.1 })
})

test('a batch with nothing left to send waits for nothing', () => {
  expect(still({ counts: { APPROVED: 3 }, accountWaitsUntilMs: SOON }, 0.1)).toBeNull()
})
