import { describe, expect, test } from 'vitest'
import { executeAtBounds, expiryBy, isOver, judgeDates, madeAtOf } from '../../../src/ledger/rules/dates.ts'
import { DAY_MS, NOW } from '../../fixtures/ledgers.ts'

const none = { executeAtMs: null, expiresAtMs: null }

describe('the moments of a row', () => {
  test.each([
    ['none', {}, 'fits'],
    ['a day ago', { executeAtMs: NOW - DAY_MS }, 'fits'],
    ['more than a day ago', { executeAtMs: NOW - DAY_MS - 1 }, 'asked'],
    ['400 days ahead', { executeAtMs: NOW + 400 * DAY_MS }, 'fits'],
    ['more than 400 days ahead', { executeAtMs: NOW + 400 * DAY_MS + 1 }, 'asked'],
    ['an expiry to come', { expiresAtMs: NOW + 1 }, 'fits'],
    ['an expiry that is now', { expiresAtMs: NOW }, 'wrong'],
    ['an expiry that is past, of a row that is asked about', { executeAtMs: 0, expiresAtMs: 1 }, 'wrong'],
  ])('%s: %s is %s', (_what, moments, expected) => {
    const verdict = judgeDates({ ...none, ...moments }, NOW, false)
    expect(verdict === 'fits' ? verdict : verdict.kind).toBe(expected)
  })

  test('a far execute_at that is accepted fits, and an expiry that is past does not', () => {
    expect(judgeDates({ ...none, executeAtMs: 0 }, NOW, true)).toBe('fits')
    expect(judgeDates({ executeAtMs: 0, expiresAtMs: 1 }, NOW, true)).toMatchObject({ kind: 'wrong' })
  })

  test('the question has a code, and the bounds are those that a file is counted by', () => {
    const { earliestMs, latestMs } = executeAtBounds(NOW)
    for (const executeAtMs of [earliestMs, latestMs])
      expect(judgeDates({ ...none, executeAtMs }, NOW, false)).toBe('fits')
    for (const executeAtMs of [earliestMs - 1, latestMs + 1])
      expect(judgeDates({ ...none, executeAtMs }, NOW, false)).toMatchObject({ kind: 'asked', code: 'execute_at' })
  })

  test('a batch of a service is as old as its producer says, and a file as when it is handed in', () => {
    expect(madeAtOf({ nowMs: NOW })).toBe(NOW)
    expect(madeAtOf({ nowMs: NOW, queued: { name: 'b', queuedAtMs: 5 } })).toBe(5)
  })
})

test('the limit of a file counts from the later one of when it was handed in and execute_at', () => {
  expect(expiryBy(null, NOW, null)).toBeNull()
  expect(expiryBy(null, NOW, 5)).toBe(NOW + 5)
  expect(expiryBy(NOW - 1, NOW, 5)).toBe(NOW + 5)
  expect(expiryBy(NOW + 1, NOW, 5)).toBe(NOW + 6)
})

test('a row leaves late by when it would leave, not by when it is handed in', () => {
  const before = { atMs: NOW - 7 * DAY_MS, executeAtMs: null }
  expect(isOver(before, NOW, 7)).toBe(false)
  expect(isOver(before, NOW + 1, 7)).toBe(true)
  expect(isOver({ ...before, executeAtMs: NOW + 1 }, NOW, 7)).toBe(true)
  expect(isOver(before, NOW + 1, null)).toBe(false)
})
