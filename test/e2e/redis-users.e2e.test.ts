// The users that examples/redis/users.acl gives a Redis: enough for a worker and a producer, and nothing more.

import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Queue, QueueEvents } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, expect, test } from 'vitest'
import { findRedisServer } from '../../src/queues/private-redis.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { orderOf, preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { freePort } from '../fixtures/ports.ts'

const USERS = fileURLToPath(new URL('../../examples/redis/users.acl', import.meta.url))

let office: Office
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  await office.close()
})

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

test('a worker and a producer have users of their own, which read no more than their keys', async () => {
  office = await openOffice()
  const port = await freePort()
  const server = spawn(findRedisServer(process.env), ['--port', String(port), '--save', '', '--aclfile', USERS], {
    stdio: 'ignore',
    cwd: office.dir,
  })
  closing.push(() => server.kill('SIGKILL'))
  await until('Redis is there', () => isListening(port))
  const as = (username: string) => ({
    port,
    username,
    password: `${username === 'tranche' ? 'worker' : username}-password`,
  })

  const env = { TRANCHE_REDIS_URL: `redis://tranche:worker-password@127.0.0.1:${port}` }
  const [own, ...others] = refunds(20)
  office.sandbox.prepare(preparationFor([...others, ...(own === undefined ? [] : [own])]))
  const worker = await office.worker(env)

  const queue = new Queue('tranche-intake', { connection: as('producer') })
  const events = new QueueEvents('tranche-intake', { connection: as('producer'), lastEventId: '0' })
  closing.push(
    () => events.close(),
    () => queue.close(),
  )
  const job = await queue.add('instruction', {
    ...{ schema_version: 1, reference: 'R-1', transaction_type: 'REFUND', amount: '1.01', request_currency: 'EUR' },
    request_ref_po_id: orderOf(1),
  })
  expect(await job.waitUntilFinished(events)).toMatchObject({ status: 'accepted' })

  const ran = await office.trancheWith(env, 'submit', await office.put('in.csv', toCsv(others)), '--json')
  const isDone = async () => (await office.tranche('status', ran.last.batch as string, '--json')).last.state === 'done'
  await until('the batch is done', isDone, worker)
  expect(office.sandbox.received()).toBe(20)

  for (const username of ['tranche', 'producer']) {
    const redis = new Redis(as(username))
    closing.push(() => redis.disconnect())
    for (const command of [['flushall'], ['config', 'get', '*'], ['keys', '*'], ['set', 'other', '1']] as const)
      await expect(redis.call(...(command as [string])), `${username}: ${command.join(' ')}`).rejects.toThrow(/NOPERM/)
  }
  const producer = new Redis(as('producer'))
  closing.push(() => producer.disconnect())
  await expect(producer.call('hgetall', 'bull:tranche-slices-x:1')).rejects.toThrow(/NOPERM/)
  const nobody = new Redis({ port, retryStrategy: () => null, maxRetriesPerRequest: 0, enableReadyCheck: false })
  nobody.on('error', () => {})
  closing.push(() => nobody.disconnect())
  await expect(nobody.ping()).rejects.toThrow(/NOAUTH/)
})
