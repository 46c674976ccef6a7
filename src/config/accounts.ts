// One name for each account: a second one would have its own references, pace and stops, and each would send the same file.

import { DEFAULT_MERCHANT, type Merchant } from '../domain/merchant.ts'
import type { Note } from './setting-readers.ts'

/** The environment makes a merchant beside those of the file, which is seldom meant. */
function remedyOf(otherName: string): string {
  return otherName === DEFAULT_MERCHANT
    ? `. Unset TRANCHE_GATEWAY_*: beside TRANCHE_CONFIG they make a merchant called ${DEFAULT_MERCHANT}`
    : ''
}

/**
 * References and limits belong to the account (URL and username): it must not have two names. One gateway may have several
 * addresses, so the same username and password under another one is taken for the same account: where passwords are read,
 * which is wherever something is sent.
 */
export function byName(merchants: readonly Merchant[], note: Note): ReadonlyMap<string, Merchant> {
  const named = new Map<string, Merchant>()
  const accounts = new Map<string, string>()
  const credentials = new Map<string, string>()
  for (const merchant of merchants) {
    const { name, url, username, password, ownAccount } = merchant
    const account = JSON.stringify([url, username])
    const otherName = accounts.get(account)
    if (otherName !== undefined) {
      note(
        'TRANCHE_CONFIG',
        `merchants.${name}: has the URL and username of "${otherName}"; an account has one name${remedyOf(otherName)}`,
      )
    }
    const credential = JSON.stringify([username, password?.reveal()])
    const sameUser = credentials.get(credential)
    if (otherName === undefined && sameUser !== undefined && password !== null && !ownAccount) {
      note(
        'TRANCHE_CONFIG',
        `merchants.${name}: has the username and password of "${sameUser}" under another address; if both reach one account, each would send the same file: keep one${sameUser === DEFAULT_MERCHANT ? ' (unset TRANCHE_GATEWAY_*)' : ''}. If they are two accounts, add own_account: true`,
      )
    }
    named.set(name, merchant)
    // Said of one of two, it is said of both: the ledger may meet either first.
    if (ownAccount && sameUser !== undefined) named.set(sameUser, { ...named.get(sameUser)!, ownAccount })
    accounts.set(account, name)
    credentials.set(credential, name)
  }
  return named
}
