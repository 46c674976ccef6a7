import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/domain/fault.ts'
import type { AccountId } from '../../../src/domain/ids.ts'
import {
  type Account,
  accountToAdopt,
  addressText,
  identifyAccount,
  type KnownAccount,
} from '../../../src/ledger/rules/accounts.ts'
import { given } from './given.ts'

const SHOP: KnownAccount = { id: 1 as AccountId, name: 'shop', url: 'https://a.test', username: 'user-of-the-shop' }
const STORE: KnownAccount = { id: 2 as AccountId, name: 'store', url: 'https://b.test', username: 'user-of-the-store' }

/** As a ledger finds them. */
const like = (asked: Account) =>
  [SHOP, STORE].filter((known) => known.name === asked.name || known.username === asked.username)
const identify = (asked: Account, ownAccount = false) => identifyAccount({ ...asked, ownAccount }, like(asked))
const move = (to: Account) => accountToAdopt(to, like(to))
const saying = (found: unknown) => (found instanceof Fault ? `${found.code}: ${found.message}` : found)

describe('a merchant', () => {
  test.each([
    ['shop', SHOP.url, SHOP.username, 1],
    ['store', STORE.url, STORE.username, 2],
    ['stand', SHOP.url, 'other', 'new'],
  ])('%s at %s as %s is %s', (name, url, username, account) => {
    given({ name, url, username })
      .when(identify)
      .then(account as AccountId)
  })

  test('with a known user name under another name and address is another account only where a person says so', () => {
    const stand: Account = { ...SHOP, name: 'stand', url: 'https://c.test' }
    given(stand)
      .when((asked) => identify(asked, true))
      .then('new')
    given(stand)
      .when((asked) => saying(identify(asked)))
      .then(
        expect.stringMatching(
          /^config: .*as merchant "shop" at https:\/\/a.test\. .*adopt-merchant shop.* own_account: true/,
        ),
      )
  })

  test.each([
    ['stand', SHOP.url, SHOP.username, /^config: .*"stand" is known to this ledger as "shop".*Nothing was sent/],
    ['shop', STORE.url, STORE.username, /^config: .*"shop" is known to this ledger as "store"/],
    ['shop', SHOP.url, 'someone else', /^config: Merchant "shop" was user…op at https:\/\/a.test .* nothing is sent/],
    ['shop', 'https://c.test', SHOP.username, /is user…op at https:\/\/c.test now\. What/],
    ['shop', SHOP.url, 'user-of-our-shop', /now \(another user name that looks the same, cut as it is here\)/],
  ])('%s at %s as %s sends nothing', (name, url, username, why) => {
    given({ name, url, username })
      .when((asked) => saying(identify(asked)))
      .then(expect.stringMatching(why))
  })
})

describe('an account that a person moves', () => {
  test('is the one of that name', () => {
    given({ name: 'shop', url: 'https://c.test', username: 'new' }).when(move).then(SHOP)
  })

  test.each([
    ['shop', STORE.url, STORE.username, /^usage: .*is known to this ledger as merchant "store": one account cannot/],
    ['stand', SHOP.url, SHOP.username, /^usage: .*is known to this ledger as merchant "shop"/],
    ['stand', 'https://c.test', 'new', /^usage: This ledger knows no merchant "stand"/],
    ['shop', SHOP.url, SHOP.username, /^usage: Merchant "shop" is user…op at https:\/\/a.test in this ledger already/],
  ])('as %s to %s and %s is not moved', (name, url, username, why) => {
    given({ name, url, username })
      .when((to) => saying(move(to)))
      .then(expect.stringMatching(why))
  })
})

test('no user name is shown whole', () => {
  given(SHOP).when(addressText).then('user…op at https://a.test')
})
