import { expect, test } from 'vitest'
import { tlsWords } from '../../src/commands/doctor.ts'

const NOW_MS = Date.UTC(2026, 10, 1)
const seen = (days: number) => ({
  ...{ protocol: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', issuer: 'Some CA' },
  expiresAtMs: NOW_MS + days * 24 * 3600 * 1000,
})

test('a certificate that lasts two weeks and more is told, and no warning', () => {
  expect(tlsWords(seen(14), NOW_MS)).toEqual({
    says: 'TLSv1.3, TLS_AES_256_GCM_SHA384; its certificate is by Some CA and lasts 14 days, until 2026-11-15',
    warns: false,
  })
})

test('one that ends sooner is a warning, which says what happens then', () => {
  const { says, warns } = tlsWords(seen(13.9), NOW_MS)
  expect(warns).toBe(true)
  expect(says).toMatch(/lasts 13 days, until 2026-11-14\. After that nothing is sent: ask its operator/)
})
