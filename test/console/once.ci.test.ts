// Every form of the table of pages, sent twice: the second time changes nothing. A new form does not compile here before it is listed.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES, type PageName, pageOfForm } from '../../src/console/pages-table.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import { CLERK, claimNamed, headerOf, personAt, refund, settle, submit } from '../fixtures/ledgers.ts'
import { FOUR_EYES, formsIn, openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

type Post = { [Name in PageName]: (typeof PAGES)[Name]['method'] extends 'POST' ? Name : never }[PageName]

/** Why a form needs no token of its own, or where it is sent twice. */
const ELSEWHERE = {
  theme: 'it changes nothing but the colours of a browser',
  signIn: 'it opens another session, by the password',
  join: 'the link is used up: ledger/conformance/people',
  stepUp: 'the session has another secret then: ledger/conformance/people',
  signOut: 'the session is over then',
  changePassword: 'the session has another secret then: ledger/conformance/people',
  endSession: 'that session is over then',
  verifyAudit: 'it reads, and one runs at a time: console/verifying',
  upload: 'it records nothing: a second check of the same file',
  checkAgain: 'it records nothing: a second check of the same file',
  worklistUpload: 'it records nothing: a second look at the same file',
  handIn: 'console/files',
  recordWorklist: 'console/worklist',
} as const satisfies Partial<Record<Post, string>>

const REST_MS = 900_000
const REASON = { reason: 'looked at' }

let served: PagesServed
let [max, eve, olga, rita]: Visiting[] = []
const batches: BatchId[] = []
const doubts: string[] = []

beforeAll(async () => {
  served = await openPages()
  const { ledger, accounts } = served
  const long = Date.now() - 2 * REST_MS
  const waiting = async (reference: string, nowMs: number) => {
    const header = headerOf(accounts.shop, { nowMs, fileSha256: String(batches.length).repeat(64) })
    const rows = [refund(reference), refund(`${reference}2`), refund(`${reference}3`)]
    batches.push(await submit(ledger, accounts.shop, rows, header))
  }
  await waiting('A', long)
  for (const reference of ['A', 'A2']) {
    const row = await claimNamed(ledger, batches[0] as BatchId, reference, long)
    await settle(ledger, row, 'IN_DOUBT', { atMs: long, sentAtMs: long })
  }
  await ledger.adoptPolicy(FOUR_EYES, 'test', CLERK, Date.now())
  for (const reference of ['B', 'C']) await waiting(reference, Date.now())
  for (const { rowId } of await ledger.doubts()) doubts.push(`/doubts/${rowId}`)
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const endpoint = { id: 'ep_a', url: 'https://shop.example/', secret, types: null, merchant: null }
  await ledger.addEndpoint({ ...endpoint, allowsPrivate: false }, CLERK, Date.now())
  olga = await served.as('olga', ['operator'])
  rita = await served.as('rita', ['approver'])
  max = await served.as('max', ['admin'])
  eve = await served.as('eve', ['admin'], personAt('root'))
})
afterAll(() => served.close())

interface Sending {
  readonly by: () => Visiting | undefined
  /** Of the form. */
  readonly at: () => string
  readonly typed?: Readonly<Record<string, string>>
}
const ofBatch = (i: number, act: string) => () => `/batches/${batches[i]}/${act}`
const ofDoubt = (i: number, act: string) => () => `${doubts[i]}/${act}`
const sent = (by: () => Visiting | undefined, at: string | (() => string), typed = {}): Sending => ({
  ...{ by, typed },
  at: typeof at === 'string' ? () => at : at,
})
const [byMax, byEve, byOlga, byRita] = [() => max, () => eve, () => olga, () => rita]
const propose = (): Promise<unknown> => send(sent(byOlga, ofDoubt(1, 'resolve'), REASON), 1)

/** In this order. */
const FORMS: Readonly<Record<Exclude<Post, keyof typeof ELSEWHERE>, Sending>> = {
  pause: sent(byOlga, ofBatch(0, 'pause'), REASON),
  resume: sent(byOlga, ofBatch(0, 'resume'), REASON),
  resolve: sent(byOlga, ofDoubt(0, 'resolve'), { ...REASON, found: 'declined' }),
  withdrawProposal: sent(byOlga, ofDoubt(1, 'withdraw'), REASON),
  refuseProposal: sent(byRita, ofDoubt(1, 'refuse'), REASON),
  confirmProposal: sent(byRita, ofDoubt(1, 'confirm'), REASON),
  cancel: sent(byOlga, ofBatch(0, 'cancel'), REASON),
  approve: sent(byRita, ofBatch(1, 'approve'), { ...REASON, total: '30.00' }),
  reject: sent(byRita, ofBatch(2, 'reject'), REASON),
  rate: sent(byOlga, '/merchants/shop/rate', { ...REASON, per_second: '5' }),
  resumeMerchant: sent(byOlga, '/merchants/shop/resume', REASON),
  addPerson: sent(byMax, '/people', { name: 'sue', 'role-submitter': 'on' }),
  confirmPerson: sent(byEve, '/people/sue/confirm'),
  linkPerson: sent(byMax, '/people/sue/link'),
  setRoles: sent(byMax, '/people/sue/roles', { ...REASON, 'role-submitter': 'on' }),
  revokePerson: sent(byMax, '/people/sue/revoke', REASON),
  addKey: sent(byMax, '/keys', { name: 'billing', 'scope-batches:read': 'on', days: '9' }),
  revokeKey: sent(byMax, () => `/keys/${key}/revoke`, REASON),
  addWebhook: sent(byMax, '/webhooks', { ...REASON, url: 'https://shop.example/hook' }),
  pingWebhook: sent(byMax, '/webhooks/ep_a/ping'),
  replayWebhook: sent(byOlga, '/webhooks/ep_a/replay', { ...REASON, since: '2026-01-01T00:00:00Z' }),
  replayDelivery: sent(byOlga, () => `/webhooks/ep_a/deliveries/${event}/replay`, REASON),
  enableWebhook: sent(byMax, '/webhooks/ep_a/enable', REASON),
  rotateWebhook: sent(byMax, '/webhooks/ep_a/rotate', REASON),
  removeWebhook: sent(byMax, '/webhooks/ep_a/remove', REASON),
}

let key = ''
let event = ''
/** What must be there first. */
const BEFORE: Partial<Record<keyof typeof FORMS, () => Promise<unknown>>> = {
  ...{ withdrawProposal: propose, refuseProposal: propose, confirmProposal: propose },
  resumeMerchant: () => served.ledger.stopAccount(served.accounts.shop, 'refused', Date.now()),
  revokeKey: async () => {
    key = (await served.ledger.keys())[0]?.id ?? ''
  },
  replayDelivery: async () => {
    event = (await served.ledger.deliveries({ endpointId: 'ep_a' }, 1))[0]?.eventId ?? ''
  },
}

/** The same form, with its own token, so many times. What stands in the ledger before and after each. */
async function send({ by, at, typed }: Sending, times: number): Promise<readonly string[]> {
  const visiting = by() as Visiting
  const page = pageOfForm(entryAt(at()), at())
  const forms = formsIn((await visiting.get(page)).body)
  // The last one of a doubt proposes; a form that is not shown now has the token of another one.
  const own = forms.findLast(({ action }) => action === at()) ?? { fields: { form: forms[0]?.fields.form ?? '' } }
  const states = [await state()]
  for (let i = 0; i < times; i += 1) {
    await visiting.post(at(), { ...own.fields, ...typed })
    states.push(await state())
  }
  return states
}

function entryAt(path: string) {
  const entry = Object.values(PAGES).find(
    ({ method, path: of }) => method === 'POST' && new RegExp(`^${of.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
  )
  if (entry === undefined) throw new Error(`no page takes ${path}`)
  return entry
}

async function state(): Promise<string> {
  const { ledger } = served
  return JSON.stringify([await ledger.head(), await ledger.webhookFigures()])
}

test.each(Object.entries(FORMS))('%s has its effect once', async (name, form) => {
  await BEFORE[name as keyof typeof FORMS]?.()
  const [before, once, twice] = await send(form, 2)
  expect(once).not.toBe(before)
  expect(twice).toBe(once)
})
