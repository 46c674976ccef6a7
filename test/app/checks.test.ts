import { expect, test } from 'vitest'
import { rejectsDisposition } from '../../src/app/checks.ts'

test.each([
  ['refunds40.csv', 'refunds40.rejects.csv', 'refunds40.rejects.csv'],
  ['Rück"zahl\r\nungen.xlsx', 'R_ck_zahl__ungen.rejects.csv', 'R%C3%BCck%22zahl%0D%0Aungen.rejects.csv'],
  ["o'\ud800", 'o__.rejects.csv', 'o%27%EF%BF%BD.rejects.csv'],
])('the bad rows of %j are named after it', (name, plain, encoded) => {
  expect(rejectsDisposition({ file: { id: '1', name, sha256: '', bytes: 1 } })).toBe(
    `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
  )
})
