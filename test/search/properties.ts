// A set-up file of vitest, in effect where PROPERTY_SEED is set: every property draws from that seed instead of the clock. With
// PROPERTY_SECONDS it is checked again and again for so long, each time with the next seed. A failure names the seed of its round.

import { vi } from 'vitest'

const { PROPERTY_SEED, PROPERTY_SECONDS = '0' } = process.env

vi.mock(import('fast-check'), async (importOriginal) => {
  const original = await importOriginal()
  const assert: typeof original.assert = (property, parameters) => {
    const endMs = performance.now() + Number(PROPERTY_SECONDS) * 1_000
    let seed = Number(PROPERTY_SEED)
    const check = () => original.assert(property, { ...parameters, seed: seed++ }) as unknown
    const first = check()
    if (first instanceof Promise)
      return first.then(async () => {
        while (performance.now() < endMs) await check()
      }) as never
    while (performance.now() < endMs) check()
    return undefined as never
  }
  return { ...original, assert, default: { ...original.default, assert } }
})
