// The protocol of claims, leases, lost commits and a failover, as a model: what holds in all of it, and what each guard is for.

import { describe, expect, test } from 'vitest'
import { checkModel, MAY_SKIP } from './spin.ts'

const FOR = { timeout: 3_600_000 }

/** Twice, or once and forgotten. */
const EXECUTED_WRONGLY = /executed/
const CLAIMED_WRONGLY = /told|fenced/

describe.skipIf(MAY_SKIP)('three workers on two rows of one order', () => {
  test('execute no row twice and leave none behind, whatever is lost, dies, is taken over or found wrongly', async () => {
    expect(await checkModel('claims', 'MOST=2', 'DEATHS=1', 'MISTAKES=1')).toMatchObject({
      isWhole: true,
      broken: null,
    })
  })

  test.each([
    ['a claim is known by its attempt alone', 'TOKEN', ['MOST=3'], EXECUTED_WRONGLY],
    ['a claim speaks for a row although an older state was taken over since', 'RESTORED', ['MOST=3'], EXECUTED_WRONGLY],
    ['an adoption puts nothing in doubt', 'DOUBTS', ['MOST=2'], EXECUTED_WRONGLY],
    ['a claim does not look at the history of its server', 'TIMELINE', ['MOST=2'], EXECUTED_WRONGLY],
    ['a request may leave after its send-by', 'SEND_BY', ['MOST=2'], EXECUTED_WRONGLY],
    ['a lost COMMIT passes for a commit', 'ASKING', ['MOST=2'], EXECUTED_WRONGLY],
    ['the rows of an order are claimed side by side', 'ORDER', ['MOST=2'], /flying/],
    ['a request leaves without trust in the lease', 'TRUST', ['MOST=2'], /fenced/],
    ['a worker that was given up claims', 'FENCED', ['MOST=2'], CLAIMED_WRONGLY],
    ['rows are swept while their answer is awaited', 'ANSWER_BY', ['MOST=2'], /phase/],
    ['nobody sweeps', 'SWEEP', ['MOST=2', 'DEATHS=1'], /state\[0\]/],
    ['a late answer stops nothing', 'WARNED', ['MOST=2', 'MISTAKES=1'], CLAIMED_WRONGLY],
  ])('come to harm where %s', async (_what, guard, bounds, harm) => {
    expect((await checkModel('claims', `WITHOUT_${guard}`, ...bounds)).broken).toMatch(harm)
  })
})

test.skipIf(MAY_SKIP)('three claims of three workers execute no row twice, over one failover', FOR, async () => {
  expect(await checkModel('claims', 'MOST=3')).toMatchObject({ isWhole: true, broken: null })
})

// Six minutes, and 6 GiB.
test.skipIf(MAY_SKIP)('nor do they where one of the workers dies', FOR, async () => {
  expect(await checkModel('claims', 'MOST=3', 'DEATHS=1')).toMatchObject({ isWhole: true, broken: null })
})
