import { describe, expect, test } from 'vitest'
import { canMove, isFinal, isFound, MOVES, resultStatusOf, STATES, statusOf } from '../../src/domain/states.ts'

test('a move enters every state of work; READY begins, ingest makes INVALID and DUPLICATE', () => {
  const entered = STATES.filter((state) => MOVES.some((move) => move.to === state))
  expect([...entered, 'INVALID', 'DUPLICATE'].toSorted()).toEqual([...STATES].toSorted())
})

test('every state that work enters can be left, or is an end that a person can read', () => {
  expect(STATES.filter(isFinal)).toEqual(['APPROVED', 'DECLINED', 'FAILED', 'CANCELLED', 'INVALID', 'DUPLICATE'])
})

test('no move leaves a final state, but for the correction of what a person may have found', () => {
  for (const from of STATES.filter(isFinal)) {
    for (const to of STATES)
      for (const { cause } of MOVES)
        if (cause !== 'late-answer')
          expect(canMove(from, to, cause)).toBe(cause === 'resolve' && isFound(from) && isFound(to))
  }
  expect(STATES.filter(isFound)).toEqual(['APPROVED', 'DECLINED', 'FAILED'])
})

test('a late answer leaves what a person found only where it says the same', () => {
  for (const from of STATES.filter(isFinal))
    for (const to of STATES)
      expect(canMove(from, to, 'late-answer')).toBe(from === to && (to === 'APPROVED' || to === 'DECLINED'))
})

test('the table names no move twice', () => {
  const named = MOVES.map(({ from, to, cause }) => `${from} ${to} ${cause}`)
  expect(new Set(named).size).toBe(named.length)
})

describe('what the rules of money forbid', () => {
  test('only a claim makes a row SENDING', () => {
    expect(MOVES.filter((move) => move.to === 'SENDING')).toEqual([{ from: 'READY', to: 'SENDING', cause: 'claim' }])
  })

  test('only a person or a proof makes a doubt READY again', () => {
    const causes = MOVES.filter((move) => move.from === 'IN_DOUBT' && move.to === 'READY').map((move) => move.cause)
    expect(causes.toSorted()).toEqual(['proof', 'resolve'])
  })

  test('a row is approved by an answer or a person, never by anything else', () => {
    const causes = new Set(MOVES.filter((move) => move.to === 'APPROVED').map((move) => move.cause))
    expect([...causes].toSorted()).toEqual(['answer', 'late-answer', 'resolve'])
  })

  test('a row that may have been sent is never cancelled: only READY is, or what proved unsent', () => {
    expect(MOVES.filter((move) => move.to === 'CANCELLED').map(({ from, cause }) => `${from} ${cause}`)).toEqual([
      'READY cancel',
      'READY order',
      'READY expiry',
      'SENDING unsent',
    ])
  })

  test('the right move under the wrong cause is refused', () => {
    expect(canMove('IN_DOUBT', 'READY', 'resolve')).toBe(true)
    expect(canMove('IN_DOUBT', 'READY', 'unsent')).toBe(false)
  })
})

test('outside, a waiting row is PENDING; SENDING shows in status and is PENDING in results', () => {
  expect(STATES.map(resultStatusOf)).toEqual(
    STATES.map((state) => (state === 'READY' || state === 'SENDING' ? 'PENDING' : state)),
  )
  expect(STATES.map(statusOf)).toEqual(STATES.map((state) => (state === 'READY' ? 'PENDING' : state)))
})
