// What doctor warns of, of a server that keeps the ledger.

import { expect, test } from 'vitest'
import { cautionsIn } from '../../src/app/probes.ts'

const SOUND = { standbys: [], aheadMs: 20, oldestS: 0, fullPageWrites: true, seesAll: true, user: 'clerk' }

test('a sound server needs no caution', () => {
  expect(cautionsIn(SOUND)).toEqual([])
  expect(cautionsIn({ ...SOUND, standbys: [{ name: 'b', waits: 'sync' }] })).toEqual([])
})

test.each([
  [{ standbys: [{ name: 'b', waits: 'async' }] }, 'does not wait for its standby b'],
  [{ seesAll: false }, 'the PostgreSQL user clerk cannot see standbys, nor long transactions'],
  [{ seesAll: false, standbys: [{ name: 'b', waits: 'unknown' }] }, 'whether the server waits for its standby b'],
  [{ aheadMs: 2_100 }, "clock is 2.1 s ahead of the server's"],
  [{ aheadMs: -2_100 }, "clock is 2.1 s behind the server's"],
  [{ oldestS: 660 }, 'a transaction has been open on the server for 11 minutes'],
  [{ fullPageWrites: false }, 'full_page_writes off'],
])('%o is told', (trouble, says) => {
  const cautions = cautionsIn({ ...SOUND, ...trouble })
  expect(cautions).toEqual([expect.stringContaining(says)])
})
