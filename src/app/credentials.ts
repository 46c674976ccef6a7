// The gateway of a lane, with the credentials that are configured by now: what a password file holds is read again where a worker asks.

import { scryptSync } from 'node:crypto'
import { passwordProblem } from '../config/limits.ts'
import { readSecretAgain } from '../config/secret-files.ts'
import type { Merchant } from '../domain/merchant.ts'
import { Secret } from '../domain/secret.ts'
import type { Gateway } from '../ports/gateway.ts'
import type { AccountLane, Credentials } from '../processors/execute-slice.ts'

/** `open`: with the password of that merchant. Requests that are open go on with the gateway that they were sent through. */
export function openRenewable(
  merchant: Merchant,
  ledgerId: string,
  open: (merchant: Merchant) => Gateway,
): Pick<AccountLane, 'gateway' | 'credentials'> {
  const opened = [open(merchant)]
  let now = merchant
  let current = credentialsOf(merchant, ledgerId)
  const last = () => opened.at(-1) as Gateway

  function renew(): void {
    const password = now.passwordFile === null ? null : readSecretAgain(now.passwordFile)
    if (password === null || passwordProblem(password) !== null || password === now.password?.reveal()) return
    now = { ...now, password: new Secret(password) }
    current = credentialsOf(now, ledgerId)
    opened.push(open(now))
  }

  return {
    gateway: {
      send: (...request) => last().send(...request),
      reach: () => last().reach(),
      async close() {
        await Promise.all(opened.map((gateway) => gateway.close()))
      },
    },
    credentials: { current: () => current, renew },
  }
}

function credentialsOf({ url, username, password, trust }: Merchant, ledgerId: string): Credentials {
  const secrets = [url, username, password?.reveal(), trust.clientCert, trust.clientKey?.reveal() ?? null]
  let digest: string | null = null
  return {
    digest() {
      digest ??= scryptSync(JSON.stringify(secrets), ledgerId, 32).toString('base64')
      return digest
    },
  }
}
