// Where a webhook may go. Whoever may add an endpoint must not reach by it what only this machine can: names are resolved here, and each
// address is looked at, as the literal ones are.

import { lookup as systemLookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

const FORBIDDEN_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
  '168.63.129.16/32', // of Azure: it configures virtual machines, and looks like any other
]
/** All that IANA has given out. Whatever holds an address of the fourth version in itself, but 6to4 and Teredo, lies outside. */
const ALLOWED_6 = ['2000::/3']
/** Of it: protocols (Teredo, benchmarks, ORCHID), documentation, 6to4. */
const FORBIDDEN_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

function blockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', bits] = range.split('/')
    list.addSubnet(net, Number(bits), family)
  }
  return list
}

const LISTS = {
  forbidden4: blockList(FORBIDDEN_4, 'ipv4'),
  allowed6: blockList(ALLOWED_6, 'ipv6'),
  forbidden6: blockList(FORBIDDEN_6, 'ipv6'),
}

/** Of a literal address, with nothing around it. What is none is forbidden too. */
export function isForbidden(address: string): boolean {
  const plain = address.replace(/%.*$/, '') // the zone of a link
  const version = isIP(plain)
  if (version === 4) return LISTS.forbidden4.check(plain, 'ipv4')
  return version !== 6 || !LISTS.allowed6.check(plain, 'ipv6') || LISTS.forbidden6.check(plain, 'ipv6')
}

export type UrlFault = 'not-a-url' | 'not-https' | 'has-user' | 'forbidden-address'

/** null: as far as the text tells, it may be asked. `new URL` turns all writings of an address into one. */
export function urlFault(text: string, allowsPrivate: boolean): UrlFault | null {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') return 'not-a-url'
  if (url.username !== '' || url.password !== '') return 'has-user'
  if (allowsPrivate) return null
  if (url.protocol !== 'https:') return 'not-https'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && isForbidden(host) ? 'forbidden-address' : null
}

class ForbiddenAddress extends Error {
  constructor(host: string) {
    super(`${host} is in a private or reserved network: nothing was sent there`)
    this.name = 'ForbiddenAddress'
  }
}

/** For a connection: it is made to what was looked at, and to nothing that a second look might find. */
export function guardedLookup(resolve: typeof systemLookup = systemLookup): LookupFunction {
  return (host, { family, hints, all }, answer) => {
    const asked = { all: true as const, ...(family !== undefined && { family }), ...(hints !== undefined && { hints }) }
    resolve(host, asked, (error, found) => {
      if (error !== null) return answer(error, [])
      const [first] = found
      if (first === undefined || found.some(({ address }) => isForbidden(address)))
        return answer(new ForbiddenAddress(host), [])
      if (all === true) answer(null, found)
      else answer(null, first.address, first.family)
    })
  }
}
