// What a request says of a file is either refused here, by its field, or understood by the process that reads the file: that one
// speaks of options, which a caller of the API has none of.

import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { parseFileArguments } from '../../src/commands/file-arguments.ts'
import { CHECK_REQUEST, EXPECTED, expectedBy, givenBy } from '../../src/server/check-request.ts'
import { httpWays } from '../../src/server/faults.ts'

const APP = {
  config: { merchants: new Map([['shop', { name: 'shop', reasonRules: [] }]]) },
  ...{ clock: { nowMs: () => 0 }, spelling: httpWays },
} as unknown as App
const FILE = 'a'.repeat(32)
const COMMAND = /tranche [a-z]|(?:^|[ (])--[a-z]/

const TEXTS = [
  '',
  ' ',
  'x',
  'EUR',
  'eur',
  'XXQ',
  '0',
  '1',
  '-1',
  ',',
  '.',
  'minus',
  'minor',
  'delete',
  'REFUND',
  '=',
] as const
const LISTS = [[], ['declined'], ['failed'], ['funds'], ['other', 'technical'], ['failed', 'declined']]
const MAPS = [{}, { a: 'amount' }, { ' ': 'amount' }, { 'a=b': '' }, { '=': 'ignore' }, { a: '=' }]
const VALUES = [...TEXTS, ...LISTS, ...MAPS, 0, 1, -1, 1.5, 999_999_999, true, null]

function whyNot(schema: typeof CHECK_REQUEST | typeof EXPECTED, body: unknown, given: () => Record<string, unknown>) {
  const checked = schema.safeParse(body)
  if (!checked.success) return expect(checked.error.issues.map(({ message }) => message).join()).not.toMatch(COMMAND)
  expect(() => parseFileArguments(APP, given()), JSON.stringify(body)).not.toThrow()
}

test.each(Object.keys(CHECK_REQUEST.shape).filter((field) => field !== 'file' && field !== 'merchant'))(
  '%s',
  (field) => {
    for (const value of VALUES)
      for (const beside of [{}, { retry: ['declined'] }, { category: ['funds'] }, { operation: 'REFUND' }]) {
        const body = { ...beside, file: FILE, [field]: value }
        whyNot(CHECK_REQUEST, body, () => givenBy(CHECK_REQUEST.parse(body), 'shop'))
      }
  },
)

test('what a file must add up to', () => {
  for (const currency of ['EUR', 'JPY', 'XXQ'])
    for (const amount of ['12.30', '12,30', '1', '', 'x', '1.234', '-1', '9'.repeat(30)]) {
      const body = { count: 1, totals: { [currency]: amount } }
      whyNot(EXPECTED, body, () => ({ merchant: 'shop', ...expectedBy(EXPECTED.parse(body)) }))
    }
})

test('all that is wrong is told at once', () => {
  const body = { file: 'x', currency: 'XXQ', operation: 'REFUND', vault: 'delete', retry: ['declined'], sing: 'minus' }
  const paths = CHECK_REQUEST.safeParse(body).error?.issues.map(({ path, code }) => path.join('.') || code)
  expect(paths).toEqual(['file', 'currency', 'unrecognized_keys', 'vault', 'category'])
})
