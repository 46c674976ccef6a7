// Under which address others reach the HTTP API, and whose word is taken for where a request came from.

import { isNetwork } from '../files/networks.ts'
import { UPLOAD_MIB } from './limits.ts'
import type { Settings } from './setting-readers.ts'

export interface Serving {
  /** Without a path; null: this machine alone reaches it, or it speaks TLS itself. */
  readonly publicUrl: string | null
  /** CIDRs. */
  readonly trustedProxies: readonly string[]
  /** Of one file. */
  readonly uploadBytesMost: number
}

export function servingFrom(settings: Settings): Serving {
  return {
    publicUrl: publicUrlFrom(settings),
    trustedProxies: trustedProxiesFrom(settings),
    uploadBytesMost: settings.whole('TRANCHE_UPLOAD_MIB', UPLOAD_MIB) * 1024 * 1024,
  }
}

function publicUrlFrom(settings: Settings): string | null {
  const text = settings.text('TRANCHE_PUBLIC_URL')?.trim()
  if (text === undefined) return null
  const url = URL.parse(text)
  const isPlain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (isPlain && url.protocol === 'https:') return url.origin
  settings.note(
    'TRANCHE_PUBLIC_URL',
    `must be an address such as https://tranche.example, without a path, not "${text}"`,
  )
  return null
}

function trustedProxiesFrom(settings: Settings): readonly string[] {
  const text = settings.text('TRANCHE_TRUSTED_PROXIES')?.trim()
  if (text === undefined) return []
  const networks = text.split(',').map((one) => one.trim())
  const wrong = networks.filter((one) => !isNetwork(one))
  if (wrong.length === 0) return networks
  settings.note(
    'TRANCHE_TRUSTED_PROXIES',
    `must be networks such as 10.0.0.0/8 with commas between them, not "${wrong.join(', ')}"`,
  )
  return []
}
