// An ID token is read as what a stranger wrote, although its signature was verified.

import { describe, expect, test } from 'vitest'
import type { ProviderSettings } from '../../src/domain/identity.ts'
import { Secret } from '../../src/domain/secret.ts'
import { readClaims } from '../../src/identity/claims.ts'

const ISSUER = 'https://login.example'
const SETTINGS: ProviderSettings = {
  ...{ name: 'Example', issuer: ISSUER, clientId: 't', clientSecret: new Secret('x'), groupsClaim: 'groups' },
  ...{ roles: new Map(), scopes: [], acrValues: [], localSignIn: true },
}
const GOOD = { iss: ISSUER, sub: 'u1' }

describe('claims', () => {
  test('say who it is, what they are called, and in which groups', () => {
    const claims = {
      ...GOOD,
      preferred_username: 'ann',
      email: 'a@x.example',
      groups: ['a', 'b'],
      auth_time: 5,
      acr: 'x',
    }
    expect(readClaims(claims, SETTINGS)).toEqual({
      ...{ issuer: ISSUER, subject: 'u1', names: ['ann', 'a@x.example', 'u1'], groups: ['a', 'b'] },
      ...{ authTimeMs: 5_000, acr: 'x' },
    })
  })

  test.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['the issuer with a stroke more', { iss: `${ISSUER}/` }],
    ['no subject', { sub: undefined }],
    ['an empty one', { sub: '' }],
    ['a number', { sub: 7 }],
    ['a long one', { sub: 'x'.repeat(256) }],
    ['one with a line break', { sub: 'a\u2028b' }],
  ])('of %s are of nobody', (_, over) => {
    expect(() => readClaims({ ...GOOD, ...over }, SETTINGS)).toThrow('did not tell who it was')
  })

  test.each([
    [undefined, []],
    ['only', ['only']],
    [{ a: 'b' }, []],
    [
      ['a', 7, null, ['b'], '', 'x'.repeat(301), 'c'],
      ['a', 'c'],
    ],
  ])('list as groups %j: %j', (groups, read) => {
    expect(readClaims({ ...GOOD, groups }, SETTINGS).groups).toEqual(read)
  })

  test.each([['1700000000'], [Number.NaN], [-1], [null]])('say not when it was by %j', (authTime) => {
    expect(readClaims({ ...GOOD, auth_time: authTime }, SETTINGS).authTimeMs).toBeNull()
  })

  test.each([[undefined], ['password'], [['mfa']]])('with acr %j are too little where mfa is asked for', (acr) => {
    const settings = { ...SETTINGS, acrValues: ['mfa'] }
    expect(() => readClaims({ ...GOOD, acr }, settings)).toThrow('acr')
    expect(readClaims({ ...GOOD, acr: 'mfa' }, settings)).toMatchObject({ acr: 'mfa' })
  })
})
