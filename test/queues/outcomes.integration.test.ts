// The queues in which services hear of outcomes, on a Redis of the test's own.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { EventBody } from '../../src/domain/event.ts'
import type { OutcomeQueues } from '../../src/ports/webhooks.ts'
import { openOutcomeQueues } from '../../src/queues/outcomes.ts'
import { until } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'

let redis: Redis
let queues: OutcomeQueues
beforeEach(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const server = await openRedisServer(join(dir, 's'))
  onTestFinished(() => server.kill())
  redis = new Redis({ path: server.path })
  onTestFinished(() => redis.disconnect())
  queues = openOutcomeQueues({ address: { path: server.path }, prefix: 'bull' })
  onTestFinished(() => queues.close())
})

const bodyOf = (id: string) => ({ id, type: 'row.settled' }) as EventBody
const waitingIn = (name: string) => redis.lrange(`bull:${name}:wait`, 0, -1)
const connections = async () =>
  String(await redis.client('LIST'))
    .trim()
    .split('\n').length

test('services that name many queues are told in each of them, over a bounded number of connections', async () => {
  const names = Array.from({ length: 100 }, (_, n) => `tranche-outcome-${n}`)
  for (const name of names) await queues.publish(name, [bodyOf('m1-a')])
  for (const name of names) await queues.publish(name, [bodyOf('m1-a'), bodyOf('m2-b')])
  for (const name of names) expect((await waitingIn(name)).toSorted()).toEqual(['m1-a', 'm2-b'])
  await until('those that are not in use are closed', async () => (await connections()) <= 40)
})

test('a queue under whose name something else is kept is named', async () => {
  await redis.set('bull:tranche-outcome-odd:wait', 'text')
  const odd = queues.publish('tranche-outcome-odd', [bodyOf('m1-a')])
  await expect(odd).rejects.toMatchObject({
    message: 'the queue tranche-outcome-odd took no outcomes',
    cause: { message: expect.stringContaining('WRONGTYPE') },
  })
})
