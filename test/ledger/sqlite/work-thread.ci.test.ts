// The thread in which a worker's calls go to the ledger.

import { rmSync } from 'node:fs'
import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { Fault } from '../../../src/domain/fault.ts'
import { words } from '../../../src/domain/words.ts'
import { answerOver, arrived, callOver, carry } from '../../../src/ledger/sqlite/thread/calls.ts'
import { openWorkThread } from '../../../src/ledger/sqlite/thread/work-thread.ts'
import {
  claimNamed,
  NOW,
  openAccount,
  refund,
  settlementOf,
  sqlitePlace,
  sqlitePlaceWithThread,
  statesIn,
  submit,
} from '../../fixtures/ledgers.ts'
import { describeSharedWork, describeWork } from '../conformance/ledger.ts'

describeWork('a ledger whose work is done in a thread of its own', sqlitePlaceWithThread)
describeSharedWork('a ledger whose work is done in a thread of its own', sqlitePlaceWithThread)

test('a fault crosses with its code and its words, another error with its message', () => {
  const fault = new Fault('stopped', words`Look: ${{ act: 'init' }}.`, { points: ['a point'], state: 'IN_DOUBT' })
  const told = arrived(structuredClone(carry(fault))) as Fault
  const spelling = () => 'tranche init'
  expect([told.code, told.linesIn(spelling).join('\n')]).toEqual(['stopped', fault.linesIn(spelling).join('\n')])
  expect([told instanceof Fault, told.state]).toEqual([true, 'IN_DOUBT'])
  const bug = arrived(structuredClone(carry(new TypeError('no such row'))))
  expect([bug.message, bug instanceof Fault]).toEqual(['no such row', false])
  expect(arrived(carry('odd')).message).toBe('odd')
})

test('what is asked in one turn is one message, and each asker gets the answer to its own question', async () => {
  const { port1, port2 } = new MessageChannel()
  const messages: unknown[][] = []
  port2.on('message', (calls: unknown[]) => messages.push(calls))
  answerOver(port2, {
    double: async (n: number) => 2 * n,
    fail: async (n: number) => {
      throw new Error(`not ${n}`)
    },
  })
  const calls = callOver(port1, ['double', 'fail']) as unknown as Record<
    'double' | 'fail',
    (n: number) => Promise<number>
  >
  const [two, failed, six] = await Promise.allSettled([calls.double(1), calls.fail(2), calls.double(3)])
  expect([two, six]).toMatchObject([{ value: 2 }, { value: 6 }])
  expect(failed).toMatchObject({ status: 'rejected', reason: { message: 'not 2' } })
  expect(messages.map((group) => group.length)).toEqual([3])
  port1.close()
})

test('an orderly end waits for what was handed in', async () => {
  const place = await sqlitePlace()
  const ledger = place.open()
  const batchId = await submit(ledger, await openAccount(ledger), [refund('A')])
  const sending = await claimNamed(ledger, batchId, 'A')
  const thread = openWorkThread({ path: place.path, submitLockPath: place.submitLockPath, die: fail })
  const settled = thread.settle(settlementOf(sending, 'APPROVED'))
  await thread.close()
  expect((await settled).state).toBe('APPROVED')
  expect(await statesIn(ledger, batchId)).toEqual(['APPROVED'])
  await place.remove()
})

test('where the ledger is taken away under it, the process is told to end, with where the record was saved', async () => {
  await aThreadAnswers() // the thread of another ledger is used again
  const place = await sqlitePlace()
  const ledger = place.open()
  await submit(ledger, await openAccount(ledger), [refund('A')])
  const died = Promise.withResolvers<unknown>()
  const thread = openWorkThread({ path: place.path, submitLockPath: place.submitLockPath, die: died.resolve as never })
  await thread.workable(NOW, 1)
  for (const part of ['', '-wal', '-shm']) rmSync(`${place.path}${part}`)
  let answers = 0
  const count = () => {
    answers += 1
  }
  void thread.workable(NOW, 1).then(count, count)
  const error = (await died.promise) as Fault
  expect(error).toMatchObject({ code: 'storage' })
  expect(error.message).toMatch(/was removed while it was in use.*All that it held is saved in .*ledger\.saved-/)
  await aThreadAnswers() // in that time this one would have answered as well
  expect(answers).toBe(0)
  await thread.close()
  await place.remove()
})

/** Of a ledger of its own. */
async function aThreadAnswers(): Promise<void> {
  const place = await sqlitePlace()
  place.open()
  const thread = openWorkThread({ path: place.path, submitLockPath: place.submitLockPath, die: fail })
  await thread.workable(NOW, 1)
  await thread.close()
  await place.remove()
}

function fail(error: unknown): never {
  throw error
}
