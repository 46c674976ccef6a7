// A service with the typed client: hands captures in, each until it knows what became of it, and reacts to outcomes.
// Run with: TRANCHE_REDIS_URL=redis://… node examples/service.mjs CAP-1001 700000001 [CAP-1002 700000002 …], while a worker runs on the same
// Redis. In a checkout of tranche, which has no build of its client: node -C tranche-source examples/service.mjs CAP-1001 700000001.
// TRANCHE_OUTCOMES=NAME also listens at the queue tranche-outcome-NAME until each of them has a final outcome.

import { setTimeout as sleep } from 'node:timers/promises'
import { RefusedError, RequestError, TrancheClient, UnsureError } from 'tranche/client'

const redis = process.env.TRANCHE_REDIS_URL ?? 'redis://127.0.0.1:6379'
const outcomes = process.env.TRANCHE_OUTCOMES
const environment = process.env.TRANCHE_ENVIRONMENT // where the installation has one: live or test
const client = new TrancheClient({
  redis: redis.startsWith('/') ? { path: redis } : { url: redis },
  ...(outcomes === undefined ? {} : { outcomes }),
  ...(environment === undefined ? {} : { environment }),
})

const given = process.argv.slice(2)
const captures = given.flatMap((reference, i) => (i % 2 === 0 ? [{ reference, order: given[i + 1] }] : []))
const waiting = new Set()
const FINAL = ['APPROVED', 'DECLINED', 'FAILED', 'CANCELLED']
/** Events come at least once: one that was dealt with is known by its id. A real service keeps them where it keeps its orders. */
const dealtWith = new Set()

const listening =
  outcomes === undefined
    ? null
    : client.onOutcome((event) => {
        if (dealtWith.has(event.id) || event.type !== 'row.settled') return
        const { reference, state, final } = event.data
        console.log(final ? `${reference}: ${state}` : `${reference}: ${state}, do not send again`)
        if (final) waiting.delete(reference)
        dealtWith.add(event.id)
      })

for (const { reference, order } of captures) {
  waiting.add(reference)
  const isOpen = await handIn({
    transaction_type: 'CAUTH',
    reference,
    amount: '12.30',
    request_currency: 'EUR',
    request_ref_po_id: order,
  })
  if (!isOpen) waiting.delete(reference)
}
while (listening !== null && waiting.size > 0) await sleep(50)
await listening?.close()
await client.close()

/**
 * Whether an event will say what becomes of it: none comes of a refused one, nor of a duplicate whose state is final.
 * Unsure is no end: the same reference again, after a while, is the same instruction. Over HTTP there may be too many requests. Any other
 * error ends the service: a wrong key stays wrong.
 */
async function handIn(instruction) {
  for (;;) {
    try {
      const { status, batch, row, state } = await client.submit(instruction)
      console.log(`${instruction.reference}: ${status}, row ${row} of batch ${batch}`)
      if (!FINAL.includes(state)) return true
      console.log(`${instruction.reference}: ${state}`)
      return false
    } catch (error) {
      if (error instanceof RefusedError) {
        console.log(`${instruction.reference}: refused: ${error.reasons.join('; ')}`)
        return false
      }
      const againAfter = error instanceof UnsureError ? 1 : error instanceof RequestError ? error.retryAfter : null
      if (againAfter === null) throw error
      console.log(`${instruction.reference}: ${error.message}`)
      await sleep(againAfter * 1_000)
    }
  }
}
