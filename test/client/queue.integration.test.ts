// The client of a service on a Redis that loses what it was given.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Queue } from 'bullmq'
import { expect, test } from 'vitest'
import { ListeningError, TrancheClient, UnsureError } from '../../src/client/client.ts'
import type { BatchId } from '../../src/domain/ids.ts'
import type { MessageResult } from '../../src/domain/message.ts'
import { openIntakeQueue } from '../../src/queues/intake.ts'
import { until } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'

const ACCEPTED: MessageResult = { kind: 'accepted', batchId: 'b' as BatchId, rowNo: 1, state: 'READY' }
const REFUSED: MessageResult = { kind: 'refused', reasons: ['amount: is missing'], withheld: null }
const silent = () => {}

test.each([ACCEPTED, REFUSED])(
  'when Redis loses a message, the answer to the next one ($kind) is not taken for its answer',
  async (taken) => {
    const dir = mkdtempSync(join(tmpdir(), 'tr-'))
    const closing: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })]
    try {
      const redis = await openRedisServer(join(dir, 's'))
      closing.push(() => redis.kill())
      const client = new TrancheClient({ redis: { path: redis.path }, withinMs: 3_000 })
      closing.push(() => client.close())
      const answer = client
        .submit({
          ...{ transaction_type: 'REFUND', reference: 'R-1', amount: '1.50', request_currency: 'EUR' },
          request_ref_po_id: '123',
        })
        .catch((error: unknown) => error)
      const others = new Queue('tranche-intake', { connection: { path: redis.path } })
      closing.push(() => others.close())
      await until('the message waits', async () => (await others.getWaitingCount()) === 1)
      await redis.flush()
      await others.add('instruction', { reference: 'R-2' })
      const references: unknown[] = []
      const intake = await openIntakeQueue({
        ...{ address: { path: redis.path }, prefix: 'bull', ledgerId: 'L' },
        owners: { last: async () => null, keep: async () => {} },
        stateOf: async () => null,
        log: { debug: silent, info: silent, warn: silent, error: silent },
        async take({ payload }) {
          references.push((payload as { reference: string }).reference)
          return taken
        },
      })
      closing.push(() => intake?.close(1_000))
      expect(await answer).toBeInstanceOf(UnsureError)
      expect(references).toEqual(['R-2'])
    } finally {
      for (const close of closing.toReversed()) await close()
    }
  },
)

test('listening ends where Redis refuses the user', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tr-'))
  const redis = await openRedisServer(join(dir, 's'))
  const client = new TrancheClient({ redis: { path: redis.path }, outcomes: 'shop' })
  try {
    await redis.ask((asked) => asked.config('SET', 'requirepass', 'another'))
    const listening = client.onOutcome(() => {})
    await expect(listening.ended).rejects.toThrow(ListeningError)
    await listening.close()
  } finally {
    await client.close()
    await redis.kill()
    rmSync(dir, { recursive: true, force: true })
  }
})
