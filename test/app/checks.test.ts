// The name under which bad rows are taken away.

import { expect, test } from 'vitest'
import { rejectsDisposition } from '../../src/app/checks.ts'

test.each([
  ['refunds40.csv', 'refunds40.rejects.csv'],
  ['Rück"zahl\r\nungen.xlsx', 'R_ck_zahl_ungen.rejects.csv'],
  ['../../x.csv', '_x.rejects.csv'],
  ['.csv', '_.rejects.csv'],
  [`${'a'.repeat(300)}.csv`, `${'a'.repeat(100)}.rejects.csv`],
])('the bad rows of %j are named after it', (name, plain) => {
  expect(rejectsDisposition({ file: { id: '1', name, sha256: '', bytes: 1 } })).toBe(`attachment; filename="${plain}"`)
})
