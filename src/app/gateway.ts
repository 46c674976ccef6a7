// How the gateway of a merchant is reached.

import type { App } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import type { Merchant } from '../domain/merchant.ts'

export function gatewayOptionsOf({ clock }: App, merchant: Merchant) {
  const { ca, clientCert: cert, clientKey: key } = merchant.trust
  const client = cert === null || key === null ? null : { cert, key: key.reveal() }
  return { ...merchant, password: merchant.password.reveal(), trust: { ca, client }, clock }
}

/**
 * Faults where the surroundings weaken TLS for the whole process. Our own connections say what they need and would hold;
 * but someone who makes that setting reads, or means to read, what goes over them.
 */
export function assertTlsHolds({ loosening }: App): void {
  if (loosening.length === 0) return
  throw new Fault(
    'config',
    `${loosening.join(', ')} ${loosening.length === 1 ? 'weakens' : 'weaken'} the encryption or the reading of HTTP of the whole process: the password could be read on its way, or reach a stranger. Nothing was sent. Take it out of the environment and of NODE_OPTIONS. Where the gateway's certificate is of an authority of its own, name that authority's certificate in TRANCHE_GATEWAY_CA_FILE (ca_file in TRANCHE_CONFIG).`,
  )
}
