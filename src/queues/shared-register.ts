// What every host that shares this Redis sees of a ledger: its newest epoch, and what each place saw of it last.

import type { SharedRegister } from '../ports/ledger/copies.ts'
import { answered, openClient, type RedisAddress } from './connection.ts'
import { epochKey, testimonyKey } from './names.ts'

export interface OpenedRegister extends SharedRegister {
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

/** ARGV: a place and what it said, again and again. */
const FORGET = `
  for i = 1, #ARGV, 2 do
    if redis.call('hget', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('hdel', KEYS[1], ARGV[i]) end
  end`

const TELLS_AGAIN_AFTER_MS = 1_000

/** Each question rejects when Redis has not answered within 10 s. */
export function openSharedRegister(address: RedisAddress, prefix: string, ledgerId: string): OpenedRegister {
  const redis = openClient(address)
  const [epoch, testimony] = [epochKey(prefix, ledgerId), testimonyKey(prefix, ledgerId)]
  const latest = new Map<string, string>()
  /** Places to tell Redis of. While it is away, a command for every commit would wait in memory. */
  const untold = new Set<string>()
  let retry: NodeJS.Timeout | undefined
  const tell = () => {
    if (redis.status !== 'ready') return
    for (const place of untold) redis.hset(testimony, place, latest.get(place)!).catch(() => tellLater(place))
    untold.clear()
  }
  /** A Redis that takes no writes for a while stays connected. */
  const tellLater = (place: string) => {
    untold.add(place)
    clearTimeout(retry)
    if (redis.status === 'ready') retry = setTimeout(tell, TELLS_AGAIN_AFTER_MS)
  }
  redis.on('ready', tell)
  return {
    newest: () => answered(address, redis.get(epoch)),
    replace: async (expected, next) =>
      (await answered(address, redis.eval(REPLACE, 1, epoch, expected ?? '', next))) === 1,
    testimonies: async () => new Map(Object.entries(await answered(address, redis.hgetall(testimony)))),
    testify(place, said) {
      latest.set(place, said)
      untold.add(place)
      tell()
    },
    async forget(testimonies) {
      if (testimonies.size > 0)
        await answered(address, redis.eval(FORGET, 1, testimony, ...Array.from(testimonies).flat()))
    },
    close() {
      clearTimeout(retry)
      redis.disconnect()
    },
  }
}
