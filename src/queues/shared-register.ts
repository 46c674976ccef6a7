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

/** Each question rejects when Redis has not answered within 10 s. */
export function openSharedRegister(address: RedisAddress, prefix: string, ledgerId: string): OpenedRegister {
  const redis = openClient(address)
  const [epoch, testimony] = [epochKey(prefix, ledgerId), testimonyKey(prefix, ledgerId)]
  /** By place: what Redis is to be told yet. A command would wait in memory while Redis is away, and so many do. */
  const untold = new Map<string, string>()
  const tell = () => {
    if (redis.status !== 'ready') return
    for (const [place, said] of untold) redis.hset(testimony, place, said).catch(() => {})
    untold.clear()
  }
  redis.on('ready', tell)
  return {
    newest: () => answered(address, redis.get(epoch)),
    replace: async (expected, next) =>
      (await answered(address, redis.eval(REPLACE, 1, epoch, expected ?? '', next))) === 1,
    testimonies: async () => new Map(Object.entries(await answered(address, redis.hgetall(testimony)))),
    testify(place, said) {
      untold.set(place, said)
      tell()
    },
    async forget(testimonies) {
      if (testimonies.size > 0)
        await answered(address, redis.eval(FORGET, 1, testimony, ...Array.from(testimonies).flat()))
    },
    close: () => redis.disconnect(),
  }
}
