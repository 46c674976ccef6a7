import { describe, expect, test } from 'vitest'
import { STATES } from '../../src/domain/states.ts'
import { type Fated, fateText } from '../../src/present/fate.ts'

const fateOf = (state: Fated['state'], over: Partial<Fated> = {}) =>
  fateText({ ...{ state, warning: null, lastCause: null, workerRuns: true }, ...over })

describe('the fate of an instruction', () => {
  test.each([
    ['APPROVED', /^Approved/],
    ['DECLINED', /^Not executed/],
    ['FAILED', /^Not executed/],
    ['CANCELLED', /^Not executed/],
    ['INVALID', /^Not executed/],
    ['DUPLICATE', /^Not executed here/],
    ['READY', /^Not executed so far/],
    ['SENDING', /^Not known yet/],
    ['IN_DOUBT', /^Not known/],
  ] as const)('of one that is %s is one of three', (state, said) => {
    expect(fateOf(state)).toMatch(said)
  })

  test('is that of a person, where a person found it', () => {
    expect(fateOf('FAILED', { lastCause: 'resolve' })).toMatch(/A person found that\.$/)
    expect(fateOf('FAILED', { lastCause: 'answer' })).not.toContain('person')
  })

  test('is not "not executed" of one that is sent once more: its first request may have been', () => {
    expect(fateOf('READY', { lastCause: 'resolve' })).not.toMatch(/not executed/i)
  })

  test('is not "being sent" where nobody is there who sends', () => {
    expect(fateOf('SENDING', { workerRuns: false })).toMatch(/^Not known: .* may have been executed/)
  })

  test('comes with its warning, whatever else it is than approved', () => {
    const warned = STATES.filter((state) => fateOf(state, { warning: 'late' }).includes('warning'))
    expect(warned).toEqual(STATES.filter((state) => state !== 'APPROVED'))
  })
})
