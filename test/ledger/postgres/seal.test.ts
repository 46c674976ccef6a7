// How often the record is sealed, whoever asks for it.

import { expect, test } from 'vitest'
import { createSeal } from '../../../src/ledger/postgres/seal.ts'

/** A seal that ends when the test says so. */
function sealByHand() {
  const begun: PromiseWithResolvers<void>[] = []
  const seal = createSeal(() => {
    const one = Promise.withResolvers<void>()
    begun.push(one)
    return one.promise
  })
  const count = (n: number) => expect.poll(() => begun.length).toBe(n)
  return { begun, seal, count }
}

test('whoever asks while one is under way shares the next one, which sees all of what was there', async () => {
  const { begun, seal, count } = sealByHand()
  const first = seal()
  await count(1)
  const later = [seal(), seal(), seal()]
  begun[0]!.resolve()
  await first
  await count(2)
  begun[1]!.resolve()
  await Promise.all(later)
  expect(begun).toHaveLength(2)
})

test('one that fails is told to those that shared it, and not to the next', async () => {
  const { begun, seal, count } = sealByHand()
  const first = seal()
  await count(1)
  const next = seal()
  begun[0]!.reject(new Error('no server'))
  await expect(first).rejects.toThrow('no server')
  await count(2)
  begun[1]!.resolve()
  await expect(next).resolves.toBeUndefined()
})
