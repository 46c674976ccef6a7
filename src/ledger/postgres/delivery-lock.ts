// One process at a time tells other programs what happened: a lock that its connection holds, so that it ends with its process.

import type { DeliveryHold, ToldTo } from '../../ports/ledger/events.ts'
import { throwAsFault } from './errors.ts'
import { quoteName, type Session } from './session.ts'

/** Any numbers that others are not likely to take. */
const DELIVERING: Readonly<Record<ToldTo, number>> = { queues: 20_817_004, webhooks: 20_817_005 }

/** null: another one has it. */
export async function holdDelivery(
  connect: () => Promise<Session>,
  schema: string,
  to: ToldTo,
): Promise<DeliveryHold | null> {
  const session = await connect()
  try {
    const key = `${DELIVERING[to]}, '${quoteName(schema).replaceAll("'", "''")}'::regnamespace::oid::int`
    const [found] = await session.exec(`SELECT pg_try_advisory_lock(${key}) AS taken`)
    if ((found as { taken: boolean }).taken)
      return { isHeld: () => !session.isOver, release: () => void session.close() }
    await session.close()
    return null
  } catch (error) {
    await session.close()
    throwAsFault(error)
  }
}
