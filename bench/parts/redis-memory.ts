// What a Redis holds.

import type { Redis } from 'ioredis'

/** Bytes that its data and its connections take. */
export async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
}
