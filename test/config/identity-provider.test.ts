// The identity provider of TRANCHE_CONFIG: what is taken, and that no mistake in it lets anybody in.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { identityProviderFrom } from '../../src/config/identity-provider.ts'

const DIR = mkdtempSync(join(tmpdir(), 'tranche-oidc-'))
writeFileSync(join(DIR, 'secret'), 'the secret of the client\n', { mode: 0o600 })
writeFileSync(join(DIR, 'short'), 'abc\n', { mode: 0o600 })
afterAll(() => rmSync(DIR, { recursive: true }))

const GOOD = {
  issuer: 'https://login.example/realms/staff',
  client_id: 'tranche',
  client_secret_file: 'secret',
  groups: { 'pay-yes': ['approver', 'results'] },
}

async function complaints(over: object): Promise<string> {
  const found: string[] = []
  await identityProviderFrom({ ...GOOD, ...over }, DIR, [], (problem) => found.push(problem))
  return found.join('\n')
}

describe('an identity provider', () => {
  test('is read with what it does not say', async () => {
    const settings = await identityProviderFrom(GOOD, DIR, [], () => {})
    expect(settings).toMatchObject({
      ...{ name: 'login.example', issuer: GOOD.issuer, clientId: 'tranche', groupsClaim: 'groups' },
      ...{ scopes: [], acrValues: [], localSignIn: true, roles: new Map([['pay-yes', ['approver', 'results']]]) },
    })
    expect(settings?.clientSecret.reveal()).toBe('the secret of the client')
    expect(JSON.stringify(settings)).not.toContain('the secret')
  })

  test.each([
    ['plain http', { issuer: 'http://login.example' }, 'oidc.issuer: must begin with https://'],
    ['no address', { issuer: 'login.example' }, 'oidc.issuer: must be an absolute address'],
    ['another scheme', { issuer: 'ftp://login.example' }, 'oidc.issuer: must be an absolute address'],
    ['a password in it', { issuer: 'https://a:b@login.example' }, 'must not hold a username or password'],
    ['a query', { issuer: 'https://login.example?x' }, 'must not have a query'],
    ['its description', { issuer: 'https://login.example/.well-known/openid-configuration' }, 'must be the issuer'],
    ['no client', { client_id: undefined }, 'oidc.client_id: is missing'],
    ['a secret in the file itself', { client_secret: 'x' }, 'oidc.client_secret: is not a known setting'],
    ['a secret that is not there', { client_secret_file: 'none' }, 'oidc.client_secret_file: names'],
    ['a secret that is a part of every text', { client_secret_file: 'short' }, 'has fewer than'],
    ['no groups', { groups: {} }, 'oidc.groups: names no group: nobody could sign in'],
    ['a group without roles', { groups: { a: [] } }, 'oidc.groups.a: gives no role'],
    ['a role that is none', { groups: { a: ['approvers'] } }, 'did you mean approver?'],
    ['roles that exclude each other', { groups: { a: ['admin', 'approver'] } }, 'gives admin together with a role'],
    ['an acr with a blank', { acr_values: ['a b'] }, 'holds a blank'],
    ['a misspelt setting', { groups_clam: 'x' }, 'did you mean groups_claim?'],
  ])('is not taken with %s', async (_, over, complaint) => {
    expect(await complaints(over)).toContain(complaint)
  })

  test.each(['http://127.0.0.1:8080', 'http://localhost:8080/realms/x', 'http://[::1]:8080'])(
    'may be on this machine: %s',
    async (issuer) => {
      expect(await complaints({ issuer })).toBe('')
    },
  )

  test('may stand in the file without merchants and approvals, and its mistakes start nothing', async () => {
    const path = join(DIR, 'config.yaml')
    const write = (issuer: string) =>
      writeFileSync(
        path,
        `oidc: {issuer: "${issuer}", client_id: t, client_secret_file: secret, groups: {a: [viewer]}}\n`,
      )
    write('https://login.example')
    const config = await loadConfig({ TRANCHE_CONFIG: path }, DIR)
    expect(config.identityProvider).toMatchObject({ issuer: 'https://login.example' })
    write('http://login.example')
    await expect(loadConfig({ TRANCHE_CONFIG: path }, DIR)).rejects.toThrow('TRANCHE_CONFIG oidc.issuer: must begin')
  })
})
