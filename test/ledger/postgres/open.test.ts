// Which servers may keep a ledger.

import { expect, test } from 'vitest'
import { whyUnfit } from '../../../src/ledger/postgres/open.ts'

const FIT = { version: 18, isStandby: false, fsync: 'on', standbys: '' }

test('PostgreSQL 15 to 18 may', () => {
  for (const version of [15, 16, 17, 18]) expect(whyUnfit({ ...FIT, version }, 'none')).toBe(null)
  for (const version of [14, 19]) expect(whyUnfit({ ...FIT, version }, 'none')).toContain(`this server is ${version}`)
})

test('a standby may not', () => {
  expect(whyUnfit({ ...FIT, isStandby: true }, 'none')).toContain('is a standby')
})

test('a server that does not wait for its disk may not', () => {
  expect(whyUnfit({ ...FIT, fsync: 'off' }, 'none')).toContain('fsync off')
})

test('where it is said to have a standby that has every commit, it must wait for one', () => {
  expect(whyUnfit(FIT, 'synchronous')).toContain('synchronous_standby_names is empty')
  expect(whyUnfit({ ...FIT, standbys: 'second' }, 'synchronous')).toBe(null)
})
