// Where a webhook may go: however an address is written, and whatever a name resolves to.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { guardedLookup, isForbidden, urlFault } from '../../src/events/address-guard.ts'

describe('the address of an endpoint', () => {
  test.each([
    ...['https://127.0.0.1/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0x7f000001/'],
    ...[
      'https://0177.0.0.1/',
      'https://017700000001/',
      'https://①②⑦.0.0.1/',
      'https://127。0。0。1/',
      'https://127.0.0.1./',
    ],
    ...['https://[::1]/', 'https://[::]/', 'https://[0:0:0:0:0:0:0:1]/', 'https://[::ffff:127.0.0.1]/'],
    ...['https://[::ffff:7f00:1]/', 'https://[::127.0.0.1]/', 'https://[64:ff9b::7f00:1]/', 'https://[2002:7f00:1::]/'],
    ...['https://[fe80::1]/', 'https://[fc00::1]/', 'https://[fd12::1]/', 'https://[ff02::1]/', 'https://[fec0::1]/'],
    ...['https://[2001:0:1::1]/', 'https://[2001:db8::1]/', 'https://[3fff::1]/', 'https://[100::1]/'],
    ...['https://0.0.0.0/', 'https://0/', 'https://10.0.0.1/', 'https://172.16.0.1/', 'https://172.31.255.255/'],
    ...[
      'https://192.168.1.1/',
      'https://169.254.169.254/latest/meta-data/',
      'https://100.64.0.1/',
      'https://100.100.100.200/',
    ],
    ...[
      'https://192.0.0.192/',
      'https://192.0.2.1/',
      'https://192.88.99.1/',
      'https://198.18.0.1/',
      'https://198.51.100.1/',
    ],
    ...['https://203.0.113.1/', 'https://224.0.0.1/', 'https://240.0.0.1/', 'https://255.255.255.255/'],
    ...['https://[::ffff:0:7f00:1]/', 'https://[2001:2::1]/', 'https://[2001:10::1]/', 'https://[2001:20::1]/'],
    ...['https://[5f00::1]/', 'https://[4000::1]/', 'https://[100:0:0:1::1]/', 'https://168.63.129.16/'],
    ...['https:127.0.0.1/', 'https:\\\\127.0.0.1\\', 'https://127.0.0.1:8443/', ' https://127.0.0.1/ '],
  ])('%s is in a network that is not asked', (url) => {
    expect(urlFault(url, false)).toBe('forbidden-address')
    expect(urlFault(url, true)).toBeNull()
  })

  test.each([
    ['http://shop.example/', 'not-https', null],
    ['https://me@shop.example/', 'has-user', 'has-user'],
    ['https://me:pass@shop.example/', 'has-user', 'has-user'],
    ['https://127.0.0.1@shop.example/', 'has-user', 'has-user'],
    ['ftp://shop.example/', 'not-a-url', 'not-a-url'],
    ['file:///etc/passwd', 'not-a-url', 'not-a-url'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'not-a-url', 'not-a-url'],
    ['//shop.example/', 'not-a-url', 'not-a-url'],
    ['shop.example', 'not-a-url', 'not-a-url'],
    ['https://999.1.1.1/', 'not-a-url', 'not-a-url'],
    ['https://shop.example:8443/hooks?x=1', null, null],
    ['https://8.8.8.8/', null, null],
    ['https://[2606:4700::1111]/', null, null],
    ['https://[2a00:1450:4001:81b::200e]/', null, null],
    ['https://[2001:4860:4860::8888]/', null, null],
  ])('%s: %s, where private ones are allowed %s', (url, fault, privately) => {
    expect([urlFault(url, false), urlFault(url, true)]).toEqual([fault, privately])
  })

  test('mapped into the sixth version, or written in whatever way, a forbidden one stays forbidden', () => {
    const bytes = fc.tuple(fc.constantFrom(10, 127, 0, 224), fc.nat(255), fc.nat(255), fc.nat(255))
    fc.assert(
      fc.property(bytes, ([a, b, c, d]) => {
        expect(isForbidden(`${a}.${b}.${c}.${d}`)).toBe(true)
        expect(isForbidden(`::ffff:${a}.${b}.${c}.${d}`)).toBe(true)
        const number = ((a * 256 + b) * 256 + c) * 256 + d
        for (const host of [
          String(number),
          `0x${number.toString(16)}`,
          `0${number.toString(8)}`,
          `${a}.${b}.${c * 256 + d}`,
        ])
          expect(urlFault(`https://${host}/`, false)).toBe('forbidden-address')
      }),
    )
    expect(isForbidden('no address')).toBe(true)
    expect(isForbidden('fe80::1%eth0')).toBe(true)
  })
})

describe('a name', () => {
  type Found = readonly { readonly address: string; readonly family: number }[]
  const resolving = (found: Found) =>
    ((_: string, __: object, answer: (error: null, found: Found) => void) => answer(null, found)) as never
  const ask = (found: Found, all: boolean) =>
    new Promise<unknown>((resolve) =>
      guardedLookup(resolving(found))('shop.example', { all }, (error, ...rest) => resolve(error ?? rest)),
    )
  const PUBLIC = { address: '93.184.216.34', family: 4 }

  test('is connected to at the address that was looked at', async () => {
    expect(await ask([PUBLIC], true)).toEqual([[PUBLIC]])
    expect(await ask([PUBLIC], false)).toEqual([PUBLIC.address, 4])
  })

  test.each(['127.0.0.1', '::1', '169.254.169.254', '::ffff:10.0.0.1', '0.0.0.0'])(
    'that has %s among its addresses is asked at none of them',
    async (address) => {
      for (const all of [true, false])
        expect(await ask([PUBLIC, { address, family: address.includes(':') ? 6 : 4 }], all)).toMatchObject({
          message: expect.stringContaining('private or reserved'),
        })
    },
  )

  test('that has no address is not asked', async () => {
    expect(await ask([], true)).toBeInstanceOf(Error)
  })
})
