// The way to a PostgreSQL on another host: encrypted, and only to a server that shows who it is.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { AUTHORITY, BY_AUTHORITY, CERTIFICATE, KEY, OF_ANOTHER_HOST } from '../../fixtures/certificate.ts'
import { freePort } from '../../fixtures/ports.ts'
import { makeDirectory, openCluster } from '../../fixtures/postgres.ts'

/** A server with that certificate; null: it speaks no TLS. */
async function serverWith(certificate: string | null) {
  const dir = makeDirectory()
  const [cert, key] = [join(dir, 'server.pem'), join(dir, 'server.key')]
  const settings = certificate === null ? [] : ['ssl = on', `ssl_cert_file = ${cert}`, `ssl_key_file = ${key}`]
  const cluster = openCluster({ dir, port: await freePort(), settings, starts: false })
  onTestFinished(() => cluster.remove())
  writeFileSync(cert, certificate ?? '', { mode: 0o600 })
  writeFileSync(key, KEY, { mode: 0o600 })
  for (const path of [cert, key]) cluster.own(path)
  cluster.start()
  const port = Number(new URL(cluster.url).port)
  const url = `postgres://tranche@localhost:${port}/postgres`
  return async (ca: string) => {
    const session = await openSession({ url, schema: 'public', tls: { ca } })
    onTestFinished(() => session.close())
    const [found] = await session.exec('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    return found
  }
}

test('a server whose certificate is by the named authority is spoken to, encrypted; no other is', async () => {
  const connect = await serverWith(BY_AUTHORITY)
  expect(await connect(AUTHORITY)).toEqual({ ssl: true })
  await expect(connect(CERTIFICATE)).rejects.toThrow('unable to verify')
})

test('a certificate for another host is refused', async () => {
  await expect((await serverWith(OF_ANOTHER_HOST))(AUTHORITY)).rejects.toThrow("does not match certificate's altnames")
})

test('a server that speaks no TLS is told nothing', async () => {
  await expect((await serverWith(null))(AUTHORITY)).rejects.toThrow('does not support SSL')
})
