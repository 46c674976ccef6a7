// Which requests a fault rule strikes, and how often.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseCurrency } from '../../src/domain/money.ts'
import { FAULT_KINDS } from '../../src/sandbox/fault-kinds.ts'
import {
  addRule,
  clearRules,
  createFaultBoard,
  type FaultMatch,
  type FaultRule,
  faultFor,
  RULES_MAX,
  refuses,
} from '../../src/sandbox/faults.ts'
import type { TransactionRequest } from '../../src/sandbox/orders.ts'
import { endingLines, TRIGGER_AMOUNTS, TRIGGER_ENDINGS, triggerLines } from '../../src/sandbox/triggers.ts'

const currency = parseCurrency('EUR')
if (currency === undefined) throw new Error('EUR is missing')

const REFUND: TransactionRequest = { operation: 'REFUND', amount: '5.1', orderId: '77', xtlOrderId: null }
const SALE: TransactionRequest = {
  operation: 'CAPTURE',
  amount: '9.00',
  money: { amountMinor: 900n, currency },
  source: { kind: 'vault', vaultId: '55' },
  saveFor: null,
  xtlOrderId: 'X1',
}

function boardWith(...rules: FaultRule[]) {
  const board = createFaultBoard(false)
  for (const rule of rules) addRule(board, rule)
  return board
}

function pattern(rule: Pick<FaultRule, 'times' | 'every'>, requests: number): string {
  const board = boardWith({ kind: '429', match: { any: true }, ...rule })
  return Array.from({ length: requests }, () => (faultFor(board, SALE) === null ? '.' : 'x')).join('')
}

describe('what a rule matches', () => {
  const table: ReadonlyArray<readonly [FaultMatch, 'refund' | 'sale' | 'both' | 'none']> = [
    [{ any: true }, 'both'],
    [{ operation: 'REFUND' }, 'refund'],
    [{ orderId: '77' }, 'refund'],
    [{ orderId: '78' }, 'none'],
    [{ vaultId: '55' }, 'sale'],
    [{ xtlOrderId: 'X1' }, 'sale'],
    [{ amount: '5.10' }, 'refund'],
    [{ amount: '5.1000', orderId: '77', operation: 'REFUND' }, 'refund'],
    [{ amount: '9', orderId: '77' }, 'none'],
  ]
  it.each(table)('%o strikes: %s', (match, struck) => {
    const hits = (request: TransactionRequest) => faultFor(boardWith({ kind: 'html', match }), request) !== null
    expect({ refund: hits(REFUND), sale: hits(SALE) }).toEqual({
      refund: struck === 'refund' || struck === 'both',
      sale: struck === 'sale' || struck === 'both',
    })
  })

  it('the first rule that strikes wins, and a used-up one gives way to the next', () => {
    const board = boardWith({ kind: 'html', match: { any: true }, times: 1 }, { kind: '403', match: { orderId: '77' } })
    expect([1, 2].map(() => faultFor(board, REFUND)?.kind)).toEqual(['html', '403'])
  })

  it('refuses a rule without a match, a refusal that would have to read, and a rule too many', () => {
    expect(() => boardWith({ kind: 'html', match: {} })).toThrow('must match something')
    expect(() => boardWith({ kind: 'refuse', match: { orderId: '1' } })).toThrow('before anything is read')
    const rules = Array.from({ length: RULES_MAX }, (): FaultRule => ({ kind: 'html', match: { any: true } }))
    expect(() => boardWith(...rules, { kind: 'html', match: { any: true } })).toThrow('the most there may be')
  })
})

describe('how often a rule strikes', () => {
  it('always, unless told otherwise', () => expect(pattern({}, 4)).toBe('xxxx'))
  it('so many times', () => expect(pattern({ times: 2 }, 5)).toBe('xx...'))
  it('each nth time', () => expect(pattern({ every: 3 }, 7)).toBe('..x..x.'))
  it('each nth time, so many times', () => expect(pattern({ every: 2, times: 2 }, 7)).toBe('.x.x...'))

  it('refusals are asked for connections only, and cleared with the rest', () => {
    const board = boardWith({ kind: 'refuse', match: { any: true } })
    expect(faultFor(board, SALE)).toBeNull()
    expect(refuses(board)).toBe(true)
    clearRules(board)
    expect(refuses(board)).toBe(false)
  })
})

describe('trigger amounts', () => {
  it('mean nothing unless they are switched on', () => {
    const request = { ...REFUND, amount: '5.03' } as TransactionRequest
    expect(faultFor(createFaultBoard(false), request)).toBeNull()
    expect(faultFor(createFaultBoard(true), request)?.kind).toBe('reset-after')
  })

  it.each(Object.entries(TRIGGER_AMOUNTS))('%s does what it says', (amount, { kind, says }) => {
    expect(faultFor(createFaultBoard(true), { ...REFUND, amount } as TransactionRequest)?.kind).toBe(kind)
    if (says.startsWith('executed')) expect(FAULT_KINDS[kind].executes).toBe(true)
    if (says.startsWith('not executed')) expect(FAULT_KINDS[kind].executes).toBe(false)
  })

  it('5.05 strikes every request once, each for itself', () => {
    const board = createFaultBoard(true)
    const kinds = ['77', '78', '77', '78'].map((orderId) => {
      const request: TransactionRequest = { operation: 'REFUND', amount: '5.05', orderId, xtlOrderId: null }
      return faultFor(board, request)?.kind ?? null
    })
    expect(kinds).toEqual(['429', '429', null, null])
  })

  it('are listed one to a line, the documented decline first', () => {
    const lines = triggerLines()
    expect(lines[0]).toBe('5.02  declined by the processor')
    expect(lines).toHaveLength(Object.keys(TRIGGER_AMOUNTS).length + 1)
  })

  it('so are the endings, and those of amounts that change no money are there', () => {
    expect(endingLines()[0]).toBe('0502  refused by the vault (card sales pass)')
    const guide = readFileSync(new URL('../../docs/guides/sandbox.md', import.meta.url), 'utf8')
    for (const ending of Object.keys(TRIGGER_ENDINGS)) expect(guide).toContain(`| ${ending} | 900${ending} | `)
    expect(endingLines()).toHaveLength(Object.keys(TRIGGER_ENDINGS).length + 1)
    const ofEndings = Object.entries(TRIGGER_AMOUNTS)
      .filter(([, { kind }]) => kind !== 'other-amount' && kind !== 'other-currency')
      .map(([amount, { kind }]) => [amount.replace('.', '').padStart(4, '0'), kind])
    expect(Object.entries(TRIGGER_ENDINGS).map(([ending, { kind }]) => [ending, kind])).toEqual(ofEndings)
  })
})
