// The example of a service with the typed client, run as it is.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { Queue } from 'bullmq'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import type { Log } from '../../src/ports/log.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
import { recordedIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'

const EXAMPLE = readFileSync('examples/service.mjs', 'utf8')

let office: Office
let redis: RedisServer
beforeEach(async () => {
  office = await openOffice()
  redis = await openRedisServer(office.path('r.sock'))
})
afterEach(async () => {
  await redis[Symbol.asyncDispose]()
  await office.close()
})

/** Started as its head says for a checkout, which has no build. */
async function serve(captures: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [, options = ''] = /node (.*)examples\/service\.mjs CAP-1001 700000001\.$/m.exec(EXAMPLE) ?? []
  const args = [...options.split(' ').filter(Boolean), 'examples/service.mjs', ...captures]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, TRANCHE_REDIS_URL: redis.path, ...env },
  })
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(child.exitCode).toBe(0)
  return said
}

test('the service hands its captures in, again as duplicates, and says what is refused and why', async () => {
  await office.worker({ TRANCHE_REDIS_URL: redis.path })
  expect(await serve(['CAP-1', '700000001', 'CAP-2', '7e8'])).toMatch(
    /^CAP-1: accepted, row 1 of batch \S+\nCAP-2: refused: request_ref_po_id: .*\n$/,
  )
  expect(await serve(['CAP-1', '700000001'])).toMatch(/^CAP-1: duplicate, row 1 of batch \S+\n(CAP-1: [A-Z]+\n)?$/)
  expect(recordedIn(office)).toHaveLength(1)
})

test('the service hears from a worker what became of its captures', async () => {
  await office.worker({ TRANCHE_REDIS_URL: redis.path })
  const outcomes = async () => {
    const said = await serve(['CAP-1', '700000001', 'CAP-2', '700000002'], { TRANCHE_OUTCOMES: 'captures' })
    return said.split('\n').filter((line) => /^CAP-\d: [A-Z]+$/.test(line))
  }
  const first = await outcomes()
  expect(first).toHaveLength(2)
  // Duplicates whose state is final, of which no event comes any more.
  expect((await outcomes()).toSorted()).toEqual(first.toSorted())
})

test('the service names its queue for outcomes, and reacts to each once', async () => {
  const connection = { path: redis.path }
  const silent = () => {}
  const log: Log = { debug: silent, info: silent, warn: silent, error: silent }
  const replies: string[] = []
  const intake = await openIntakeQueue({
    ...{ address: connection, prefix: 'bull', ledgerId: 'L', log },
    owners: { last: async () => null, keep: async () => {} },
    stateOf: async () => null,
    async take({ payload }) {
      const { reply_to, reference } = payload as { reply_to: string; reference: string }
      replies.push(reply_to)
      const queue = new Queue(reply_to, { connection })
      const tell = (id: string, data: object) =>
        queue.add('row.settled', { specversion: '1.0', id, type: 'row.settled', data: { reference, ...data } })
      await tell('e-1', { final: false, advice: 'do not send again', state: 'IN_DOUBT' })
      await tell('e-1', { final: false, advice: 'do not send again', state: 'IN_DOUBT' })
      await tell('e-2', { final: true, state: 'APPROVED' })
      await queue.close()
      return { kind: 'accepted', batchId: 'b-1' as BatchId, rowNo: 1, state: 'READY' }
    },
  })
  const said = await serve(['CAP-1', '700000001'], { TRANCHE_OUTCOMES: 'captures' })
  await intake?.close(1_000)
  expect(replies).toEqual(['tranche-outcome-captures'])
  expect(said.split('\n').toSorted()).toEqual([
    '',
    'CAP-1: APPROVED',
    'CAP-1: IN_DOUBT, do not send again',
    'CAP-1: accepted, row 1 of batch b-1',
  ])
})
