// The newest epoch of a ledger, where every host that shares this Redis sees it. An emptied Redis knows none: no harm.

import type { EpochRegister } from '../ports/ledger/copies.ts'
import { answered, openClient, type RedisAddress } from './connection.ts'
import { epochKey } from './names.ts'

export interface OpenedRegister extends EpochRegister {
  close(): void
}

/**
 * An empty ARGV[1]: no epoch is expected there. Asked again, because its answer was lost on the way, it says the same. A Redis
 * that was emptied since it was asked is no other host.
 */
const REPLACE = `
  local held = redis.call('get', KEYS[1]) or ''
  if held == ARGV[2] then return 1 end
  if held ~= '' and held ~= ARGV[1] then return 0 end
  redis.call('set', KEYS[1], ARGV[2])
  return 1`

/** Each question rejects when Redis has not answered within 10 s. */
export function openEpochRegister(address: RedisAddress, prefix: string, ledgerId: string): OpenedRegister {
  const redis = openClient(address)
  const key = epochKey(prefix, ledgerId)
  return {
    newest: () => answered(address, redis.get(key)),
    replace: async (expected, next) =>
      (await answered(address, redis.eval(REPLACE, 1, key, expected ?? '', next))) === 1,
    close: () => redis.disconnect(),
  }
}
