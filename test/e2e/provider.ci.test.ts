// tranche serve where people of the company sign in with their own accounts: processes, sockets, and a provider on this machine.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CERTIFICATE, KEY } from '../fixtures/certificate.ts'
import { type Office, openOffice, type Said, until } from '../fixtures/cli.ts'
import { openProviderServer, type Provider } from '../fixtures/identity-provider.ts'

let office: Office
let provider: Provider
beforeEach(async () => {
  office = await openOffice()
  provider = await openProviderServer()
})
afterEach(async () => {
  await office.close()
  await provider.close()
})

const cookieOf = (answer: Response, name: string) =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] as string)
    .find((pair) => pair.startsWith(`${name}=`)) ?? ''

test('a person signs in with the account of the company, and the log has nothing of it', async () => {
  const running = office.startWith(provider.env, 'serve', '--port', '0', '--json')
  await until('it listens', () => running.said().length > 0, running)
  const { url } = JSON.parse(running.said()[0] as string) as Said
  provider.says({ sub: 'u-1', preferred_username: 'Ann', groups: ['pay-yes'] })
  const away = await fetch(`${url}/sign-in/provider?to=/policy`, { redirect: 'manual' })
  expect(cookieOf(away, 'tranche-sign-in')).not.toBe('')
  const back = await provider.authorize(String(away.headers.get('location')))
  expect(back).toContain(`${url}/sign-in/provider/return?`)
  const came = await fetch(back, { headers: { cookie: cookieOf(away, 'tranche-sign-in') }, redirect: 'manual' })
  expect([came.status, came.headers.get('location')]).toEqual([303, '/policy'])
  const page = await fetch(`${url}/sessions`, { headers: { cookie: cookieOf(came, 'tranche') } })
  expect(await page.text()).toContain('You are ann.')
  const { last } = await office.trancheWith(provider.env, 'people', 'list', '--json')
  expect(last.people).toMatchObject([{ name: 'ann', state: 'active', identity_provider: provider.issuer }])
  const link = await office.trancheWith(provider.env, 'people', 'link', 'ann')
  expect([link.code, link.stderr]).toEqual([2, expect.stringContaining('ann signs in with the identity provider')])
  running.kill('SIGTERM')
  const { stdout, stderr } = await running.ended
  for (const text of [...provider.given, provider.secret]) expect(stdout + stderr).not.toContain(text)
})

test('where others reach it, it starts with an address to which they are sent back, and with no other', async () => {
  const [cert, key] = [join(office.dir, 'cert.pem'), join(office.dir, 'key.pem')]
  writeFileSync(cert, CERTIFICATE)
  writeFileSync(key, KEY, { mode: 0o600 })
  const options = ['serve', '--port', '0', '--host', '0.0.0.0', '--tls-cert', cert, '--tls-key', key]
  const running = office.startWith(provider.env, ...options)
  let isOver = false
  void running.ended.then(() => {
    isOver = true
  })
  await until('it listens or ends', () => isOver || running.said().length > 0)
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Set TRANCHE_PUBLIC_URL=https://'),
  })
})
