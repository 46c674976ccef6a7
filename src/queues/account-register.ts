// Which ledgers are used for which gateway account, as a shared Redis knows. One that was emptied knows nothing.

import { answered, openClient, type RedisAddress } from './connection.ts'
import { ledgersKey } from './names.ts'

/** By account: the other ledgers. `ledgerId`: this one, kept from now on; null: nothing is kept. Rejects when Redis has not answered within 10 s. */
export async function otherLedgersOf(
  address: RedisAddress,
  prefix: string,
  accounts: readonly string[],
  ledgerId: string | null,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const redis = openClient(address)
  try {
    const found = new Map<string, readonly string[]>()
    for (const account of accounts) {
      const key = ledgersKey(prefix, account)
      if (ledgerId !== null) await answered(address, redis.sadd(key, ledgerId))
      const known = await answered(address, redis.smembers(key))
      found.set(
        account,
        known.filter((id) => id !== ledgerId),
      )
    }
    return found
  } finally {
    redis.disconnect()
  }
}
