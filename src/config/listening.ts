// The address on which a process listens. Another address than this machine's own is used only where it is written down.

import { isIP } from 'node:net'
import type { Settings } from './setting-readers.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const PORT_MOST = 65_535

export function metricsAddressFrom(settings: Settings): ListenAddress | null {
  const text = settings.text('TRANCHE_METRICS')?.trim()
  if (text === undefined) return null
  const address = parseListenAddress(text)
  if (address !== null) return address
  settings.note('TRANCHE_METRICS', `must be an address such as 127.0.0.1:9464 or [::1]:9464, or a port, not "${text}"`)
  return null
}

/** A name is no address: what it stands for may change. Port 0: any that is free. */
export function parseListenAddress(text: string): ListenAddress | null {
  const found = /^(?:(?:\[([0-9a-f:.]+)\]|([0-9.]+)|(localhost)):)?(\d{1,5})$/i.exec(text)
  if (found === null) return null
  const [, v6, v4, , digits] = found
  const port = Number(digits)
  const isAddress = (v6 === undefined || isIP(v6) === 6) && (v4 === undefined || isIP(v4) === 4)
  return isAddress && port <= PORT_MOST ? { host: v6 ?? v4 ?? '127.0.0.1', port } : null
}
