// Networks as people write them: one address, or one with the length of its prefix.

import { BlockList, isIP } from 'node:net'

/** An address, or one with the length of its network. All addresses there are is no network: anybody could say anything. */
export function isNetwork(text: string): boolean {
  const [address = '', length, ...more] = text.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0 || address.includes('%')) return false
  if (length === undefined) return true
  return /^[1-9]\d{0,2}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128)
}

/** Holds whatever is in one of the networks, which were found to be such. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    const type = isIP(address) === 4 ? 'ipv4' : 'ipv6'
    if (length === undefined) list.addAddress(address, type)
    else list.addSubnet(address, Number(length), type)
  }
  return list
}

/** Also one of version 4 that is written as one of version 6. */
export function isWithin(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

const LOOPBACK = networkList(['127.0.0.0/8', '::1'])

/** Whether only this machine can reach it there. `host`: a name or an address, of version 6 also in brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || isWithin(LOOPBACK, host.replace(/^\[|\]$/g, ''))
}
