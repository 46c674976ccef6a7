// How help fits its screen.

import { expect, test } from 'vitest'
import { fitHelp } from '../../src/present/help.ts'

test('a command that is too long is broken before an option, so that a shell reads on', () => {
  const text = '  $ tranche run refunds.results.csv --operation REFUND --retry failed --out again.results.csv\nThe end.'
  expect(fitHelp(text, 60).split('\n')).toEqual([
    '  $ tranche run refunds.results.csv --operation REFUND \\',
    '      --retry failed --out again.results.csv',
    'The end.',
  ])
})

test('what fits stays as it is', () => {
  const text = 'Options:\n  --json   an object\n\n  $ tranche check a.csv --json\n'
  expect(fitHelp(text, 80)).toBe(text)
})
