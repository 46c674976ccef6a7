// The pages of webhooks in every state.

import { STEP_UP_MS } from '../../../src/domain/person.ts'
import { CLERK } from '../../fixtures/ledgers.ts'
import type { Desk } from './desk.ts'
import type { Screen } from './screens.ts'

const ADMIN = ['admin'] as const
const OPERATOR = ['operator'] as const
const AUDITOR = ['auditor'] as const
const AT = '/webhooks/ep_a'

async function added({ ledger, text }: Desk): Promise<string> {
  const url = `https://shop.example/${text('hooks')}`
  const endpoint = { id: 'ep_a', url, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', types: null, merchant: null }
  await ledger.addEndpoint({ ...endpoint, allowsPrivate: false }, CLERK, Date.now())
  return AT
}

/** With a delivery that waits, and one that got this answer. Resolves to the path of the latter. */
async function answered(desk: Desk, httpStatus: number): Promise<string> {
  await added(desk)
  await desk.batch()
  await desk.ledger.gatherEvents(Date.now())
  const { facts } = await desk.ledger.events({ move: 0, event: 0 }, await desk.ledger.eventsEnd())
  const [{ id, type } = { id: '', type: '' }] = facts
  const upTo = { move: 0, event: 0 }
  await desk.ledger.takeDeliveries('ep_a', [{ id, type }], upTo, Date.now())
  const result = { eventId: id, httpStatus, said: desk.text('try later'), askedToWaitMs: null }
  await desk.ledger.settleDeliveries('ep_a', [result], Date.now(), () => 0)
  await desk.ledger.pingEndpoint('ep_a', Date.now())
  return `${AT}/deliveries/${id}`
}

export const WEBHOOK_SCREENS: readonly Screen[] = [
  { name: 'webhooks, none', as: ADMIN, at: async () => '/webhooks' },
  { name: 'webhooks', as: OPERATOR, at: (desk) => answered(desk, 500).then(() => '/webhooks') },
  {
    name: 'webhook added',
    as: ADMIN,
    at: async () => '/webhooks',
    async does(page) {
      await page.getByLabel('Address').fill('https://shop.example/hooks')
      await page.getByLabel('Reason').fill('the shop asked')
      await page.getByRole('button', { name: /^Add/ }).click()
    },
  },
  {
    name: 'webhook, not fresh',
    as: ADMIN,
    at: added,
    async does(page, desk) {
      desk.ahead(STEP_UP_MS + 1)
      await page.reload()
    },
  },
  { name: 'webhook that is failing', as: ADMIN, at: (desk) => answered(desk, 500).then(() => AT) },
  { name: 'webhook disabled', as: ADMIN, at: (desk) => answered(desk, 410).then(() => AT) },
  { name: 'webhook of an operator', as: OPERATOR, at: (desk) => answered(desk, 200).then(() => AT) },
  { name: 'delivery', as: OPERATOR, at: (desk) => answered(desk, 500) },
  { name: 'delivery of an auditor', as: AUDITOR, at: (desk) => answered(desk, 204) },
  { name: 'delivery of an administrator', as: ADMIN, at: (desk) => answered(desk, 204) },
]
