// What a door needs to add an endpoint: whether its address may be asked and its merchant is known, an id, a secret.

import { randomBytes } from 'node:crypto'
import { holdsCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import type { UrlFault } from '../events/address-guard.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

const ALPHABET = '23456789abcdefghjkmnpqrstvwxyz'

export async function newEndpoint(): Promise<{ id: string; secret: string }> {
  const { newSecret } = await import('../events/signature.ts')
  const letters = Array.from(randomBytes(10), (byte) => ALPHABET[byte % ALPHABET.length])
  return { id: `ep_${letters.join('')}`, secret: newSecret() }
}

export async function newWebhookSecret(): Promise<string> {
  return (await import('../events/signature.ts')).newSecret()
}

/** null: as far as its text tells, it may be asked. */
export async function webhookUrlFault(url: string, allowsPrivate: boolean): Promise<UrlFault | null> {
  return (await import('../events/address-guard.ts')).urlFault(url, allowsPrivate)
}

interface UrlTaken {
  readonly allowsPrivate: boolean
  /** What to do about one in one's own network, where that is not taken. */
  readonly inOwnNetwork: string
}

/** Throws a usage fault that says what is wrong with it. */
export async function assertEndpointUrl(url: string, { allowsPrivate, inOwnNetwork }: UrlTaken): Promise<void> {
  const fault = holdsCardData(url) ? 'not-a-url' : await webhookUrlFault(url, allowsPrivate)
  switch (fault) {
    case null:
      return
    case 'not-a-url':
      throw urlFault('is no address of a web server; write it such as https://shop.example/hooks/tranche')
    case 'has-user':
      throw urlFault('has a user name or password in it; each body is signed, so leave them out')
    case 'not-https':
      throw urlFault(`is not https; events would be read on the way. ${inOwnNetwork}`)
    case 'forbidden-address':
      throw urlFault(`is in a private or reserved network. ${inOwnNetwork}`)
  }
}

function urlFault(why: string): Fault {
  return new Fault('usage', `The address ${why}. No endpoint was added.`)
}

/** null: events of all merchants. Throws a usage fault where the ledger has none of that name. */
export async function assertEndpointMerchant(ledger: Pick<Ledger, 'accounts'>, merchant: string | null): Promise<void> {
  const names = (await ledger.accounts()).map(({ name }) => name)
  if (merchant === null || names.includes(merchant)) return
  const known = names.length === 0 ? 'none yet' : names.join(', ')
  throw new Fault(
    'usage',
    `This ledger has no merchant "${merchant}" (it has ${known}). No endpoint was added. A merchant is known once something was handed in for it.`,
  )
}
