// What a door needs to add an endpoint: whether its address may be asked and its merchant is known, an id, a secret.

import { randomBytes } from 'node:crypto'
import { holdsCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import type { UrlFault } from '../events/address-guard.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

const ALPHABET = '23456789abcdefghjkmnpqrstvwxyz'

/** `url`: one without a fault. It is kept as it was read when it was looked at, which is what is asked later. */
export async function newEndpoint(url: string): Promise<{ id: string; url: string; secret: string }> {
  const { newSecret } = await import('../events/signature.ts')
  const letters = Array.from(randomBytes(10), (byte) => ALPHABET[byte % ALPHABET.length])
  return { id: `ep_${letters.join('')}`, url: new URL(url).href, secret: newSecret() }
}

export async function newWebhookSecret(): Promise<string> {
  return (await import('../events/signature.ts')).newSecret()
}

interface EndpointAsked {
  readonly url: string
  /** null: events of all merchants. */
  readonly merchant: string | null
  /** Whether it may be in one's own network. */
  readonly allowsPrivate: boolean
}

export type EndpointFault =
  | { readonly of: 'url'; readonly why: UrlFault }
  /** `known`: the merchants that the ledger has. */
  | { readonly of: 'merchant'; readonly known: readonly string[] }

/** Whoever adds it, and by whichever door. null: as far as its text tells, it may be asked, and its merchant is known. */
export async function endpointFault(
  ledger: Pick<Ledger, 'accounts'>,
  { url, merchant, allowsPrivate }: EndpointAsked,
): Promise<EndpointFault | null> {
  const { urlFault } = await import('../events/address-guard.ts')
  // Readers of addresses leave line breaks and tabs out: what they part may be a card number.
  const isCard = holdsCardData(url) || holdsCardData(URL.parse(url)?.href ?? '')
  const why = isCard ? 'not-a-url' : urlFault(url, allowsPrivate)
  if (why !== null) return { of: 'url', why }
  const known = (await ledger.accounts()).map(({ name }) => name)
  return merchant === null || known.includes(merchant) ? null : { of: 'merchant', known }
}

/** Throws a usage fault that says what is wrong. `inOwnNetwork`: what to do about one that is, where that is not taken. */
export async function assertEndpoint(
  ledger: Pick<Ledger, 'accounts'>,
  asked: EndpointAsked,
  inOwnNetwork: string,
): Promise<void> {
  const fault = await endpointFault(ledger, asked)
  if (fault === null) return
  if (fault.of === 'url') throw urlRefused(fault.why, inOwnNetwork)
  const known = fault.known.length === 0 ? 'none yet' : fault.known.join(', ')
  throw new Fault(
    'usage',
    `This ledger has no merchant "${asked.merchant}" (it has ${known}). No endpoint was added. A merchant is known once something was handed in for it.`,
  )
}

function urlRefused(why: UrlFault, inOwnNetwork: string): Fault {
  const words: Readonly<Record<UrlFault, string>> = {
    'not-a-url': 'is no address of a web server; write it such as https://shop.example/hooks/tranche',
    'has-user': 'has a user name or password in it; each body is signed, so leave them out',
    'not-https': `is not https; events would be read on the way. ${inOwnNetwork}`,
    'forbidden-address': `is in a private or reserved network. ${inOwnNetwork}`,
  }
  return new Fault('usage', `The address ${words[why]}. No endpoint was added.`)
}
