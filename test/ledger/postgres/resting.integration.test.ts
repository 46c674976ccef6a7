// A server that was started a moment ago may have been put back: until it has rested, nothing is done that what it lacks could contradict.

import { expect, test } from 'vitest'
import { CLERK, claim, dueIn, findingOn, NOW, refund, statesIn, submit, work } from '../../fixtures/ledgers.ts'
import { accountId, ledger, postgres, usePostgresLedger } from '../../fixtures/use-ledger.ts'

usePostgresLedger()

test('nothing is claimed or called cancelled while it is not known what a server lacks that was started a moment ago', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  const young = postgres.openAt(postgres.address.url, {}, 'desk', { restMs: 9_000_000_000 })
  const [a] = await dueIn(ledger, batchId)
  expect(await claim(young, a!)).toEqual({ kind: 'not-free' })
  await expect(young.cancel(batchId, 'not wanted', CLERK, NOW)).rejects.toMatchObject({ code: 'stopped' })
  expect(await statesIn(ledger, batchId)).toEqual(['READY'])
  expect((await ledger.batch(batchId))?.hold).toBe('none')
  await young.pause(batchId, 'look first', CLERK, NOW)
  expect((await ledger.batch(batchId))?.hold).toBe('paused')
})

test('no finding is recorded while it is not known what a server lacks that was started a moment ago', async () => {
  const batchId = await submit(ledger, accountId, [refund('A')])
  await work(ledger, batchId, 'A', 'IN_DOUBT')
  const young = postgres.openAt(postgres.address.url, {}, 'desk', { restMs: 9_000_000_000 })
  await expect(young.resolve(findingOn('A'), CLERK, NOW)).rejects.toMatchObject({ code: 'stopped' })
  expect(await statesIn(ledger, batchId)).toEqual(['IN_DOUBT'])
  expect(await ledger.resolve(findingOn('A'), CLERK, NOW)).toMatchObject({ kind: 'resolved' })
})
