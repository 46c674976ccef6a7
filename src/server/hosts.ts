// Under which names the server may be asked, and whether it may listen where it is told to.

import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { Fault } from '../domain/fault.ts'
import { isLoopback } from '../files/networks.ts'

const WILDCARDS = ['0.0.0.0', '::']

export interface HostParts {
  readonly host: string
  /** PEM; null: it speaks no TLS itself. */
  readonly certificate: string | null
  readonly publicUrl: string | null
  readonly trustedProxies: readonly string[]
}

/** Keys would go over the network as they are: another address than this machine's own needs TLS, here or in a proxy that is named. */
export function assertMayListen({ host, certificate, publicUrl, trustedProxies }: HostParts): void {
  if (isLoopback(host) || certificate !== null) return
  if (publicUrl !== null && trustedProxies.length > 0) return
  throw new Fault(
    'usage',
    `On ${host} keys and instructions would go over the network as plain text. Nothing was started. Give the server a certificate (options tls-cert and tls-key), or put a proxy before it that speaks TLS, and set TRANCHE_PUBLIC_URL=https://… and TRANCHE_TRUSTED_PROXIES to the networks of that proxy.`,
  )
}

/** Whoever makes a browser believe that another name is this machine does not get through. */
export function hostsOf({ host, certificate, publicUrl }: HostParts): (name: string) => boolean {
  const names = new Set(['127.0.0.1', '::1', 'localhost'])
  if (!WILDCARDS.includes(host)) names.add(host.toLowerCase())
  if (publicUrl !== null) names.add(new URL(publicUrl).hostname.toLowerCase().replace(/^\[|\]$/g, ''))
  const known = certificate === null ? null : new X509Certificate(certificate)
  return (name) => names.has(name) || (known !== null && isOn(known, name))
}

function isOn(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined
}
