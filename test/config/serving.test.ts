// Where the HTTP API is reached, and whose word is taken for where a request came from.

import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { isNetwork, isWithin, networkList } from '../../src/files/networks.ts'

const serving = async (env: NodeJS.ProcessEnv) => (await loadConfig(env, '/home/x')).serving

test('a public address and proxies are read', async () => {
  const env = { TRANCHE_PUBLIC_URL: 'https://pay.example:8443/', TRANCHE_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }
  expect(await serving(env)).toMatchObject({
    publicUrl: 'https://pay.example:8443',
    trustedProxies: ['10.0.0.0/8', '::1'],
  })
})

test.each([
  ['TRANCHE_PUBLIC_URL', 'http://pay.example'],
  ['TRANCHE_PUBLIC_URL', 'https://pay.example/api'],
  ['TRANCHE_PUBLIC_URL', 'https://a@pay.example'],
  ['TRANCHE_PUBLIC_URL', 'pay.example'],
  ['TRANCHE_TRUSTED_PROXIES', '10.0.0.0/33'],
  ['TRANCHE_TRUSTED_PROXIES', '0.0.0.0/0'],
  ['TRANCHE_TRUSTED_PROXIES', 'true'],
  ['TRANCHE_TRUSTED_PROXIES', '10.0.0.1,proxy.example'],
])('%s=%s is refused by name', async (name, value) => {
  await expect(serving({ [name]: value })).rejects.toThrow(`${name} must be`)
})

test('networks hold addresses of both versions, and of one within the other', () => {
  expect(['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32'].map(isNetwork)).toEqual([true, true, true, true])
  expect(['10.0.0', '10.0.0.0/0', '10.0.0.0/08', '::/0', 'fe80::1%eth0', '1.2.3.4/8/8', ''].some(isNetwork)).toBe(false)
  const list = networkList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  expect(['10.1.2.3', '192.0.2.7', '2001:db8::9', '::ffff:10.1.2.3'].every((one) => isWithin(list, one))).toBe(true)
  expect(['11.0.0.1', '192.0.2.8', '2001:db9::1', 'nonsense', ''].some((one) => isWithin(list, one))).toBe(false)
})
