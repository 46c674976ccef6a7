// What a door needs to add an endpoint: whether its address may be asked, an id, a secret.

import { randomBytes } from 'node:crypto'
import type { UrlFault } from '../events/address-guard.ts'

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
