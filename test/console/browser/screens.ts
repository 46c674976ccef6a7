// Every screen in every state that a person meets: one line each. Tests look at all of them, light and dark, narrow and wide, and
// with texts that mean harm. A new screen is a new line here.

import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { sha256Of } from '../../../src/app/people.ts'
import type { GrantName } from '../../../src/domain/person.ts'
import { writeProviderConfig } from '../../fixtures/identity-provider.ts'
import { CLERK, headerOf, NOW, refund, rowsIn, submit } from '../../fixtures/ledgers.ts'
import type { PagesWanted } from '../../fixtures/pages.ts'
import { CHECK_SCREENS } from './check-screens.ts'
import { asReason, type Desk, stale } from './desk.ts'
import { KEY_SCREENS } from './key-screens.ts'
import { anHour } from './merchant-screens.ts'
import { PROPOSAL_SCREENS } from './proposal-screens.ts'
import { WEBHOOK_SCREENS } from './webhook-screens.ts'
import { WORKLIST_SCREENS } from './worklist-screens.ts'

export interface Screen {
  /** Also of its picture. */
  readonly name: string
  /** Who looks; null: somebody who is not signed in. */
  readonly as: readonly GrantName[] | null
  /** Brings the ledger there. Resolves to the path that is visited. */
  readonly at: (desk: Desk) => Promise<string>
  /** What is done there before it is looked at. */
  readonly does?: (page: Page, desk: Desk) => Promise<void>
  readonly wanted?: PagesWanted
}

const PAIR = [
  { name: 'ana', password: 'no money moves here', does: 'hands files in' },
  { name: 'ben', password: 'no money moves here', does: 'approves what ana handed in' },
]
const VIEWER = ['viewer'] as const
const APPROVER = ['approver'] as const
const OPERATOR = ['operator'] as const
const ADMIN = ['admin'] as const

const batchAt = (batch: string) => `/batches/${batch}`
const waiting = async (desk: Desk) => {
  await desk.fourEyes()
  return desk.batch({ nowMs: Date.now() })
}
/** Handed in by whoever looks. */
const ownWaiting = async ({ ledger, accounts, fourEyes }: Desk) => {
  await fourEyes()
  const { id = '', name = '' } = (await ledger.people())[0] ?? {}
  const own = { kind: 'person', id, name, address: null } as const
  return submit(ledger, accounts.shop, [refund('A')], { nowMs: Date.now() }, own)
}
const finished = async (desk: Desk) => {
  const batch = await desk.batch()
  await desk.settle(batch, 'APPROVED', 'DECLINED', 'FAILED')
  return batch
}
const inDoubt = async (desk: Desk) => {
  const batch = await desk.batch()
  await desk.settle(batch, 'APPROVED', 'IN_DOUBT')
  return batch
}
const paused = async (desk: Desk) => {
  const batch = await desk.batch()
  await desk.ledger.pause(batch, desk.text('looks wrong'), CLERK, NOW)
  return batch
}
const press = async (page: Page, button: string | RegExp) => {
  await page.getByRole('button', { name: button }).click()
}

/** That it was approved. */
async function say(page: Page, { transaction, reason }: { transaction: string; reason: string }): Promise<void> {
  await page.getByRole('radio', { name: /approved/ }).check()
  await page.getByLabel(/^Transaction/).fill(transaction)
  await page.getByLabel(/^Reason What you found/).fill(reason)
  await press(page, /^Record/)
}

/** The record is read by a process of its own. */
async function verified(page: Page): Promise<void> {
  await press(page, 'Verify the record now')
  const hasEnded = async () => {
    await page.reload()
    expect(await page.locator('#verified ~ .note').innerText()).not.toContain('Verification has been running')
  }
  await vi.waitFor(hasEnded, { timeout: 60_000, interval: 200 })
}

/** Nobody answers there. */
const PROVIDER = 'http://127.0.0.1:1'
const byProvider = (more = '') => {
  const { env, remove } = writeProviderConfig(PROVIDER, more)
  process.once('exit', remove)
  return { env }
}
const PROVIDED = byProvider()
const PROVIDED_ALONE = byProvider('  local_sign_in: false\n')

/** Somebody who came by the provider, and proved who it is long ago. */
async function provided({ ledger }: Desk, sha256: string, grants: readonly GrantName[] = VIEWER): Promise<void> {
  const person = { issuer: PROVIDER, providerName: 'Example', subject: 'u1', name: 'ann.smith', newId: 'p9' }
  const coming = { ...person, grants, hasApprovers: false, address: '192.0.2.7', nowMs: Date.now() }
  await ledger.enter(coming, { sha256, id: 's9', provedAtMs: 0 })
}

export const SCREENS: readonly Screen[] = [
  // ── Coming in
  { name: 'sign-in', as: null, at: async () => '/sign-in' },
  { name: 'sign-in sandbox', as: null, at: async () => '/sign-in', wanted: { sandbox: true } },
  { name: 'sign-in rehearsal', as: null, at: async () => '/sign-in', wanted: { sandbox: true, rehearsalPeople: PAIR } },
  {
    name: 'sign-in refused',
    as: null,
    at: async () => '/sign-in',
    async does(page) {
      await page.getByLabel('Name').fill('nobody')
      await page.getByLabel('Password').fill('not the password')
      await press(page, 'Sign in')
    },
  },
  { name: 'sign-in with a provider', as: null, at: async () => '/sign-in', wanted: PROVIDED },
  { name: 'sign-in by a provider alone', as: null, at: async () => '/sign-in', wanted: PROVIDED_ALONE },
  { name: 'provider down', as: null, at: async () => '/sign-in/provider', wanted: PROVIDED },
  { name: 'provider without a way', as: null, at: async () => '/sign-in/provider/return', wanted: PROVIDED },
  {
    name: 'step-up by a provider',
    as: null,
    at: async () => '/sign-in',
    async does(page, desk) {
      const secret = 'p'.repeat(43)
      await provided(desk, sha256Of(secret))
      await page.context().addCookies([{ name: 'tranche', value: secret, url: desk.url }])
      await page.goto(`${desk.url}/step-up`)
    },
    wanted: PROVIDED,
  },
  { name: 'join', as: null, at: (desk) => desk.invitation('new', VIEWER) },
  {
    name: 'join refused',
    as: null,
    at: (desk) => desk.invitation('new', VIEWER),
    async does(page) {
      await page.getByLabel('Password').fill('passwordpassword')
      await press(page, 'Set the password')
    },
  },
  { name: 'join used', as: null, at: async () => '/join/used' },
  { name: 'step-up', as: VIEWER, at: async () => '/step-up' },
  {
    name: 'step-up refused',
    as: VIEWER,
    at: async () => '/step-up',
    async does(page) {
      await page.getByLabel('Password').fill('not the password')
      await press(page, 'Confirm the password')
    },
  },
  { name: 'sessions', as: VIEWER, at: async () => '/sessions' },
  // ── Overview
  { name: 'overview empty', as: VIEWER, at: async () => '/' },
  { name: 'overview without roles', as: ADMIN, at: async () => '/' },
  {
    name: 'overview full',
    as: VIEWER,
    async at(desk) {
      await desk.worker()
      for (const one of [finished, paused, inDoubt, waiting]) await one(desk)
      await desk.ledger.stopAccount(desk.accounts.shop, desk.text('the password was refused'), NOW)
      return '/'
    },
  },
  // ── A batch
  {
    name: 'batch running',
    as: OPERATOR,
    async at(desk) {
      await desk.worker()
      const batch = await desk.batch()
      await desk.settle(batch, 'APPROVED')
      return batchAt(batch)
    },
  },
  { name: 'batch without worker', as: VIEWER, at: async (desk) => batchAt(await desk.batch()) },
  { name: 'batch paused', as: OPERATOR, at: async (desk) => batchAt(await paused(desk)) },
  { name: 'batch in doubt', as: OPERATOR, at: async (desk) => batchAt(await inDoubt(desk)) },
  { name: 'batch finished', as: ['viewer', 'results'], at: async (desk) => batchAt(await finished(desk)) },
  {
    name: 'batch cancelled',
    as: VIEWER,
    async at(desk) {
      const batch = await desk.batch()
      await desk.ledger.cancel(batch, desk.text('wrong month'), CLERK, NOW)
      return batchAt(batch)
    },
  },
  { name: 'batch to approve', as: APPROVER, at: async (desk) => batchAt(await waiting(desk)) },
  { name: "batch to approve, one's own", as: APPROVER, at: async (desk) => batchAt(await ownWaiting(desk)) },
  { name: 'batch to approve, a viewer', as: VIEWER, at: async (desk) => batchAt(await waiting(desk)) },
  {
    name: 'batch to approve, not fresh',
    as: APPROVER,
    at: async (desk) => batchAt(await waiting(desk)),
    does: stale,
  },
  {
    name: 'batch approved',
    as: APPROVER,
    at: async (desk) => batchAt(await waiting(desk)),
    async does(page, desk) {
      await page.getByLabel(/^Type/).fill('30.00')
      await page
        .getByLabel('Reason')
        .first()
        .fill(asReason(desk.text('looked at')))
      await press(page, /^Approve/)
    },
  },
  {
    name: 'batch with a wrong total',
    as: APPROVER,
    at: async (desk) => batchAt(await waiting(desk)),
    async does(page) {
      await page.getByLabel(/^Type/).fill('31.00')
      await page.getByLabel('Reason').first().fill('looked at')
      await press(page, /^Approve/)
    },
  },
  { name: 'batch to cancel', as: OPERATOR, at: async (desk) => `${batchAt(await inDoubt(desk))}/cancel` },
  { name: 'rows', as: VIEWER, at: async (desk) => `${batchAt(await finished(desk))}/rows` },
  { name: 'rows of a status', as: VIEWER, at: async (desk) => `${batchAt(await inDoubt(desk))}/rows?status=IN_DOUBT` },
  { name: 'no such row', as: VIEWER, at: async (desk) => `${batchAt(await inDoubt(desk))}/rows?status=FAILED` },
  // ── Handing in
  { name: 'new batch', as: ['submitter'], at: async () => '/new' },
  {
    name: 'new batch with faults',
    as: ['submitter'],
    at: async () => '/new',
    does: (page) => press(page, 'Check the file'),
  },
  ...CHECK_SCREENS,
  // ── Finding, doubts, merchants
  { name: 'find', as: VIEWER, at: async () => '/find' },
  { name: 'found nothing', as: VIEWER, at: async (desk) => `/find?q=${encodeURIComponent(desk.text('nothing'))}` },
  {
    name: 'found several',
    as: VIEWER,
    async at(desk) {
      const first = (await rowsIn(desk.ledger, await inDoubt(desk)))[0]?.reference ?? ''
      const { club } = desk.accounts
      await submit(desk.ledger, club, [refund(first)], headerOf(club, { fileName: desk.text('other.csv') }))
      return `/find?q=${encodeURIComponent(first)}`
    },
  },
  {
    name: 'instruction settled',
    as: VIEWER,
    async at(desk) {
      const batch = await finished(desk)
      return `${await desk.rowPath(batch, 0)}`
    },
  },
  { name: 'instruction in doubt', as: OPERATOR, at: async (desk) => desk.rowPath(await inDoubt(desk), 1) },
  { name: 'doubts none', as: VIEWER, at: async () => '/doubts' },
  { name: 'doubts', as: VIEWER, at: async (desk) => inDoubt(desk).then(() => '/doubts') },
  { name: 'doubt', as: OPERATOR, at: async (desk) => inDoubt(desk).then(() => desk.doubtPath()) },
  { name: 'doubt, a viewer', as: VIEWER, at: async (desk) => inDoubt(desk).then(() => desk.doubtPath()) },
  {
    name: 'doubt, not fresh',
    as: OPERATOR,
    at: async (desk) => inDoubt(desk).then(() => desk.doubtPath()),
    does: stale,
  },
  {
    name: 'doubt resolved',
    as: OPERATOR,
    at: async (desk) => inDoubt(desk).then(() => desk.doubtPath()),
    does: (page, desk) => say(page, { transaction: '', reason: asReason(desk.text('in the portal')) }),
  },
  {
    name: 'doubt with a wrong transaction',
    as: OPERATOR,
    at: async (desk) => inDoubt(desk).then(() => desk.doubtPath()),
    does: (page) => say(page, { transaction: 'TX', reason: 'in the portal' }),
  },
  { name: 'doubts, an operator', as: OPERATOR, at: async (desk) => inDoubt(desk).then(() => '/doubts') },
  ...PROPOSAL_SCREENS,
  ...WORKLIST_SCREENS,
  ...WEBHOOK_SCREENS,
  { name: 'merchants', as: VIEWER, at: async () => '/merchants' },
  {
    name: 'merchant with a wrong rate',
    as: OPERATOR,
    at: async () => '/merchants/shop',
    async does(page) {
      await page.getByLabel(/^Requests/).fill('fast')
      await page.getByLabel('Reason').fill('night')
      await press(page, /^Set/)
    },
  },
  {
    name: 'merchant stopped',
    as: OPERATOR,
    async at(desk) {
      await desk.ledger.stopAccount(desk.accounts.shop, desk.text('the password was refused'), NOW)
      return '/merchants/shop'
    },
  },
  { name: 'merchant, a viewer', as: VIEWER, at: async () => '/merchants/shop' },
  { name: 'health', as: VIEWER, at: async () => '/health' },
  ...KEY_SCREENS,
  { name: 'merchant, its last hour', as: VIEWER, at: anHour },
  // ── People, and what was done
  { name: 'policy', as: VIEWER, at: async (desk) => desk.fourEyes().then(() => '/policy') },
  { name: 'policy and batches', as: VIEWER, at: async (desk) => waiting(desk).then(() => '/policy') },
  { name: 'policy none', as: VIEWER, at: async () => '/policy' },
  {
    name: 'audit',
    as: ['auditor'],
    async at(desk) {
      await paused(desk)
      return '/audit?since=2026-05-01'
    },
  },
  { name: 'audit verified', as: ['auditor'], at: async (desk) => paused(desk).then(() => '/audit'), does: verified },
  { name: 'audit of nobody', as: ['auditor'], at: async () => '/audit?who=nobody' },
  { name: 'people', as: ADMIN, at: async (desk) => desk.invitation('new', VIEWER).then(() => '/people') },
  { name: 'people, not fresh', as: ADMIN, at: async () => '/people', does: stale },
  { name: 'person', as: ADMIN, at: async (desk) => desk.invitation('new', VIEWER).then(() => '/people/new') },
  {
    name: 'person by a provider',
    as: ADMIN,
    at: (desk) => provided(desk, 'aa'.repeat(32), APPROVER).then(() => '/people/ann.smith'),
    wanted: PROVIDED,
  },
  {
    name: 'person added',
    as: ADMIN,
    at: async () => '/people',
    async does(page) {
      await page.getByRole('textbox', { name: 'Name' }).fill('new')
      await page.getByRole('checkbox', { name: /viewer/ }).check()
      await press(page, /^Add/)
    },
  },
  // ── Refused
  { name: 'no such instruction', as: VIEWER, at: async () => '/instructions?reference=x' },
  { name: 'not in doubt', as: VIEWER, at: async () => '/doubts/7' },
  { name: 'no such batch', as: VIEWER, at: async () => '/batches/x' },
  { name: 'not allowed', as: ADMIN, at: async (desk) => batchAt(await desk.batch()) },
]
