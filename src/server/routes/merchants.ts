// Merchants: whether anything is sent for them, and how fast.

import * as z from 'zod'
import { findAccount, rateProblem } from '../../app/dials.ts'
import { merchantsIn } from '../../app/merchants.ts'
import { seesMerchant } from '../../domain/api-key.ts'
import type { AccountId } from '../../domain/ids.ts'
import type { OnceLedger } from '../../ports/ledger/requests.ts'
import { toJsonDial } from '../../present/rates.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerOnce } from '../once.ts'
import { answerPage, pageOf } from '../pages.ts'
import { notFound } from '../problems.ts'
import { type Asked, addRoute } from '../route.ts'
import { MERCHANT, REASON, REASONED } from '../schemas.ts'

const PARAMS = z.strictObject({ merchant: z.string().min(1).max(100) })
const RATE_MOST = 999_999
const RATE = z.strictObject({
  per_second: z
    .number()
    .gt(0)
    .max(RATE_MOST)
    .refine((given) => rateProblem(given) === null, 'above one a second it is a whole number')
    .nullable()
    .describe('Requests per second; null: as configured.'),
  reason: REASON,
})

interface Shown {
  readonly merchant: string
}

export function addMerchants(server: Server, door: Door): void {
  const { app, ledger } = door
  const shownTo = async (request: Parameters<typeof callerOf>[0]): Promise<readonly Shown[]> => {
    const { key } = callerOf(request)
    const all = (await merchantsIn(app, ledger)).filter(({ merchant }) => seesMerchant(key, merchant))
    return all.map((one) => ({ ...toJsonDial(one), merchant: one.merchant, stopped: one.stopped, held: one.held }))
  }
  const shown = async (request: Parameters<typeof callerOf>[0], name: string): Promise<Shown> => {
    const found = (await shownTo(request)).find(({ merchant }) => merchant === name)
    if (found === undefined) throw notFound('There is no such merchant.')
    return found
  }
  addRoute(server, 'listMerchants', {
    summary: 'Merchants, with their rate and whether they are stopped',
    replies: { 200: pageOf(MERCHANT) },
    answer: async ({ request }) =>
      answerPage<object, never>(door, request, { limit: 200 }, async () => ({
        data: await shownTo(request),
        next: null,
      })),
  })
  /** What is done to the account of a merchant that the key sees, answered with the merchant as it is then. */
  async function change(
    { request, reply }: Pick<Asked, 'request' | 'reply'>,
    merchant: string,
    act: (once: OnceLedger, to: AccountId) => Promise<void>,
  ) {
    await shown(request, merchant)
    return answerOnce(door, request, reply, {
      async act(once) {
        await act(once, await findAccount(app, ledger, merchant))
        return {}
      },
      show: () => shown(request, merchant),
    })
  }
  addRoute(server, 'setRate', {
    summary: 'Set the rate of a merchant, over what is configured',
    params: PARAMS,
    body: RATE,
    replies: { 200: MERCHANT },
    answer: ({ params: { merchant }, body: { per_second, reason }, ...asked }) =>
      change(asked, merchant, (once, accountId) =>
        once.setRate(accountId, per_second, callerOf(asked.request).actor, app.clock.nowMs(), reason),
      ),
  })
  addRoute(server, 'resumeMerchant', {
    summary: 'Let a merchant go on that was stopped or held',
    params: PARAMS,
    body: REASONED,
    replies: { 200: MERCHANT },
    answer: ({ params: { merchant }, body: { reason }, ...asked }) =>
      change(asked, merchant, (once, accountId) =>
        once.resumeAccount(accountId, reason, callerOf(asked.request).actor, app.clock.nowMs()),
      ),
  })
}
