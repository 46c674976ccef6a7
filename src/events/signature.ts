// Signatures of Standard Webhooks: https://www.standardwebhooks.com

import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

export function newSecret(): string {
  return `${PREFIX}${randomBytes(32).toString('base64')}`
}

export interface Signed {
  /** The id of the event. */
  readonly id: string
  /** Of this attempt, in seconds. */
  readonly timestamp: number
  readonly body: string
}

/** One for each secret, so that a receiver can change to the new one when it likes. */
export function signatureHeader(secrets: readonly string[], { id, timestamp, body }: Signed): string {
  const one = (secret: string) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  }
  return secrets.map(one).join(' ')
}
