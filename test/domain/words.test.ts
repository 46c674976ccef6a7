import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { joined, spell, type Way, words } from '../../src/domain/words.ts'

const inCapitals = (way: Way) => ('act' in way ? way.act : 'set' in way ? way.set : 'ask').toUpperCase()

describe('words', () => {
  test('hold their ways until a door spells them', () => {
    const text = words`There is no ledger at ${'/var'} (${2} looked at). Create it: ${{ act: 'init' }}.`
    expect(spell(text, inCapitals)).toBe('There is no ledger at /var (2 looked at). Create it: INIT.')
  })

  test('hold the ways of the words in them', () => {
    const inner = words`say ${{ set: 'map', column: 'A', field: 'amount' }}`
    expect(spell(words`Mend it, or ${inner}.`, inCapitals)).toBe('Mend it, or say MAP.')
    expect(spell(joined(['first', inner], '; '), inCapitals)).toBe('first; say MAP')
  })

  test('leave out the way and its lead at a door that has none', () => {
    const text = words`write the currency${{ set: 'currency', to: 'EUR', lead: ', or say it with ' }}`
    expect(spell(text, inCapitals)).toBe('write the currency, or say it with CURRENCY')
    expect(spell(text, () => null)).toBe('write the currency')
  })

  test('are readable where no door spells them', () => {
    expect(`${words`say ${{ set: 'map', column: 'A', field: 'amount' }}, then ${{ act: 'init' }}`}`).toBe(
      'say map A=amount, then init',
    )
  })
})

test('ways that differ read differently in a log', () => {
  const [moved, restored] = (['moved', 'restored'] as const).map((as) => `${words`${{ act: 'adopt', as }}`}`)
  expect([moved, restored]).toEqual(['adopt moved', 'adopt restored'])
})

test('a fault is spelled line by line, points below its sentence', () => {
  const fault = new Fault('usage', words`Begin with ${{ act: 'init' }}.`, {
    points: [words`or say ${{ set: 'sheet', to: null }}`],
  })
  expect(fault.linesIn(inCapitals)).toEqual(['Begin with INIT.', '  or say SHEET'])
  expect(fault.message).toBe('Begin with init.\n  or say sheet')
})
