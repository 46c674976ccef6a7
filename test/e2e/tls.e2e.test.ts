// Whom the program speaks to, as a person sees it: what is refused is told before anything is recorded, and what cannot be
// trusted is sent nothing.

import { afterEach, expect, test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { AUTHORITY, BY_AUTHORITY, CERTIFICATE } from '../fixtures/certificate.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { approval, httpAnswer, openFaultyGateway, type Script } from '../fixtures/faulty-gateway.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

const approve: Script = async (visit) => {
  const request = await visit.request()
  visit.execute()
  visit.end(httpAnswer(200, approval(request), { connection: 'close' }))
}

test('in an environment that weakens TLS, nothing is sent or recorded; a ledger in a file can be read', async () => {
  office = await openOffice()
  const rows = refunds(2)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const env = { NODE_OPTIONS: '--tls-min-v1.0 --insecure-http-parser' }
  for (const args of [[], ['--sandbox']]) {
    const refused = await office.trancheWith(env, 'run', input, '--out', office.path('out.csv'), ...args)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--tls-min-v1.0, --insecure-http-parser'),
    ])
  }
  expect((await office.trancheWith(env, 'status', '--json')).last.batches).toEqual([])
  expect(office.sandbox.received()).toBe(0)
})

test('a gateway that cannot show who it is gets nothing until its authority is named', async () => {
  office = await openOffice()
  await using gateway = await openFaultyGateway([approve], { tls: 'TLSv1.3', context: { cert: BY_AUTHORITY } })
  const input = await office.put('in.csv', toCsv(refunds(2)))
  const out = office.path('out.csv')
  const env = { TRANCHE_GATEWAY_URL: gateway.url }
  const untrusted = await office.trancheWith(env, 'run', input, '--out', out, '--give-up-after', '1s')
  expect(untrusted.code, untrusted.stderr).toBe(6)
  expect(countsIn(out)).toEqual({ PENDING: 2 })
  const { stdout: history } = await office.trancheWith(env, 'history', 'R-1')
  expect(history).toContain('SENDING → PENDING')
  expect(history).toContain(`TLS failed with localhost:${gateway.port}: `)
  expect(history).toContain('(where its authority is known to be right: TRANCHE_GATEWAY_CA_FILE')
  expect((await office.trancheWith(env, 'doctor')).stdout).toMatch(/FIX {2}gateway of default: .*TLS failed/)
  expect([gateway.requests.length, gateway.executed]).toEqual([0, 0])

  const trusted = { ...env, TRANCHE_GATEWAY_CA_FILE: await office.put('ca.pem', AUTHORITY) }
  const ran = await office.trancheWith(trusted, 'run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(5) // that gateway gives every refund one transaction id
  expect(gateway.executed).toBe(2)
  const doctor = await office.trancheWith(trusted, 'doctor')
  expect(doctor.stdout).toMatch(
    /ok {3}gateway of default: .*as s….*; TLSv1\.3, TLS_AES_256_GCM_SHA384; its certificate is by Test authority and lasts \d+ days, until 2120-01-01/,
  )
  const other = { ...env, TRANCHE_GATEWAY_CA_FILE: await office.put('other.pem', CERTIFICATE) }
  expect((await office.trancheWith(other, 'doctor')).stdout).toMatch(/FIX {2}gateway of default: .*TLS failed/)
})
