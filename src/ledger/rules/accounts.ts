// Which gateway account a merchant's name means, and whether it may mean another one from now on. Pure.

import { Fault } from '../../domain/fault.ts'
import type { AccountId } from '../../domain/ids.ts'
import { type Environment, whyOtherEnvironment } from '../../domain/merchant.ts'
import { shortUsername } from '../../domain/username.ts'
import { words } from '../../domain/words.ts'

/** An account is its address and user name. The merchant's name is what the ledger knows it by. */
export interface Account {
  readonly name: string
  readonly url: string
  readonly username: string
}

/** An account that is to be used. */
export interface AskedAccount extends Account {
  /** A person says that it is no other account, although it has the user name of one. */
  readonly ownAccount: boolean
}

export interface KnownAccount extends Account {
  readonly id: AccountId
}

/**
 * `known`: the accounts that have the name or the user name. The user name is the key of the account at the gateway, and one gateway may have several
 * addresses: under another name and address it is taken for the same account until a person says otherwise.
 */
export function identifyAccount(asked: AskedAccount, known: readonly KnownAccount[]): AccountId | 'new' | Fault {
  const same = known.find((account) => isSameAccount(account, asked))
  if (same !== undefined) return same.name === asked.name ? same.id : knownByAnotherName(asked, same)
  const namesake = known.find(({ name }) => name === asked.name)
  if (namesake !== undefined) return nameOfAnother(asked, namesake)
  const [sameUser] = known
  return sameUser === undefined || asked.ownAccount ? 'new' : knownAtAnotherAddress(asked, sameUser)
}

/** The account that a person moves to another address or user name; or why it cannot be moved. `known`: as above. */
export function accountToAdopt(to: Account, known: readonly KnownAccount[]): KnownAccount | Fault {
  const holder = known.find((account) => isSameAccount(account, to))
  if (holder !== undefined && holder.name !== to.name) {
    return new Fault(
      'usage',
      `${addressText(to)} is known to this ledger as merchant "${holder.name}": one account cannot take over another. Nothing was changed.`,
    )
  }
  const namesake = known.find(({ name }) => name === to.name)
  if (namesake === undefined) {
    return new Fault(
      'usage',
      `This ledger knows no merchant "${to.name}": there is nothing to adopt. Nothing was changed.`,
    )
  }
  if (holder === undefined) return namesake
  return new Fault(
    'usage',
    `Merchant "${to.name}" is ${addressText(to)} in this ledger already: there is nothing to adopt.`,
  )
}

/** What the ledger knows of an account's world. */
export interface KnownLabel {
  readonly name: string
  /** null: nobody has said. */
  readonly environment: Environment | null
}

/** Whether the account may be used under this label. The first one is taken. */
export function judgeLabel(asked: Environment, known: KnownLabel): 'taken' | 'same' | Fault {
  if (known.environment === null) return 'taken'
  const why = whyOtherEnvironment({ name: known.name, environment: asked }, known.environment)
  return why === null ? 'same' : new Fault('config', why)
}

/** Why a person may not put the label right; null: they may. `hasSent`: something was or may have been sent for it. */
export function whyNotRelabelled(
  asked: Environment,
  { name, environment }: KnownLabel,
  hasSent: boolean,
): Fault | null {
  if (environment === asked)
    return new Fault('usage', `Merchant "${name}" is ${asked} in this ledger already: there is nothing to adopt.`)
  if (environment === null || !hasSent) return null
  return new Fault(
    'usage',
    `Something was sent for merchant "${name}" as ${environment}: what was one cannot become the other. Nothing was changed. Give the ${asked} account a name of its own, or use another TRANCHE_DATA_DIR.`,
  )
}

/** For people, who must not read the whole user name. */
export function addressText({ url, username }: Pick<Account, 'url' | 'username'>): string {
  return `${shortUsername(username)} at ${url}`
}

function isSameAccount(one: Account, other: Account): boolean {
  return one.url === other.url && one.username === other.username
}

function knownByAnotherName({ name }: Account, same: Account): Fault {
  return new Fault(
    'config',
    `The gateway account of merchant "${name}" is known to this ledger as "${same.name}". A second name would let one reference be sent twice. Nothing was sent. Use the name "${same.name}".`,
  )
}

function knownAtAnotherAddress(asked: Account, same: Account): Fault {
  return new Fault(
    'config',
    words`Merchant "${asked.name}" is ${addressText(asked)}, and this ledger knows that user name as merchant "${same.name}" at ${same.url}. If both addresses reach one gateway account, everything would be sent to it a second time, so nothing is sent. If it is the same account: call it "${same.name}" in the configuration, then ${{ act: 'adopt-merchant', merchant: same.name }}. If it is another account: add own_account: true to merchant "${asked.name}" in TRANCHE_CONFIG.`,
  )
}

function nameOfAnother(asked: Account, namesake: Account): Fault {
  const { name, url, username } = asked
  const looksSame = namesake.url === url && shortUsername(namesake.username) === shortUsername(username)
  const alike = looksSame ? ' (another user name that looks the same, cut as it is here)' : ''
  return new Fault(
    'config',
    words`Merchant "${name}" was ${addressText(namesake)} in this ledger and is ${addressText(asked)} now${alike}. What was sent to one gateway account says nothing about another, so nothing is sent. If it is the same account at a new address or under a new user name: ${{ act: 'adopt-merchant', merchant: name }}. If it is another account, give it a name of its own, or use another TRANCHE_DATA_DIR.`,
  )
}
