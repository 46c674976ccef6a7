// One process at a time tells other programs what happened: a lock that its connection holds, so that it ends with its process.

import type { DeliveryHold, ToldTo } from '../../ports/ledger/events.ts'
import { throwAsFault } from './errors.ts'
import { keyOfLedger, LOCKS } from './locks.ts'
import type { Session } from './session.ts'

const TELLING: Readonly<Record<ToldTo, number>> = { queues: LOCKS.tellingQueues, webhooks: LOCKS.tellingWebhooks }

/** null: another one has it. */
export async function holdDelivery(
  connect: () => Promise<Session>,
  schema: string,
  to: ToldTo,
): Promise<DeliveryHold | null> {
  const session = await connect()
  try {
    const [found] = await session.exec(`SELECT pg_try_advisory_lock(${TELLING[to]}, ${keyOfLedger(schema)}) AS taken`)
    if ((found as { taken: boolean }).taken)
      return { isHeld: () => !session.isOver, release: () => void session.close() }
    await session.close()
    return null
  } catch (error) {
    await session.close()
    throwAsFault(error)
  }
}
