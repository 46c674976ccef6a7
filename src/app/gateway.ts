// How the gateway of a merchant is reached.

import type { App } from '../app.ts'
import type { Merchant } from '../domain/merchant.ts'

export function gatewayOptionsOf({ clock }: App, merchant: Merchant) {
  const { password, trust } = merchant
  if (password === null) throw new Error('this command asks no gateway: it read no password')
  const { ca, clientCert: cert, clientKey: key } = trust
  const client = cert === null || key === null ? null : { cert, key: key.reveal() }
  return { ...merchant, password: password.reveal(), trust: { ca, client }, clock }
}
