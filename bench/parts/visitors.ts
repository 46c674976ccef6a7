// People who are signed in at the pages.

import { createHash, randomBytes } from 'node:crypto'
import { openLedger } from '../../src/app/ledger.ts'
import { loadApp } from '../../src/app.ts'
import { processIo } from '../../src/commands/own-process.ts'
import { commandLine } from '../../src/present/command-line.ts'
import type { Office } from './office.ts'

/** The cookies of as many viewers: made in the ledger, because passwords are slow on purpose. */
export async function signIn(office: Office, count: number): Promise<string[]> {
  const app = await loadApp({
    io: { ...processIo(), env: office.env },
    as: null,
    logLevel: 'silent',
    spelling: commandLine,
  })
  const ledger = await openLedger(app)
  try {
    const nowMs = Date.now()
    const cookies: string[] = []
    for (let n = 0; n < count; n++) {
      const [secret, link] = [randomBytes(32).toString('base64url'), sha256Of(`link ${n}`)]
      const person = { id: `p${n}`, name: `viewer-${n}`, grants: ['viewer' as const] }
      const invitation = { sha256: link, untilMs: nowMs + 60_000 }
      await ledger.addPerson(person, invitation, app.actor, nowMs)
      await ledger.join({ invitationSha256: link, first: person, passwordHash: 'none', address: null, nowMs })
      const session = {
        sha256: sha256Of(secret),
        passwordHash: 'none',
        id: `s${n}`,
        personId: person.id,
        address: null,
        nowMs,
      }
      await ledger.openSession(session, sha256Of(person.name))
      cookies.push(`tranche=${secret}`)
    }
    return cookies
  } finally {
    await ledger.close()
  }
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
