// The witness of one environment knows what is done in another one: acts beside the one that CI tries.

import { test } from 'vitest'
import { expectKnownToBoth, useWitnessed } from './witnessed.ts'

const witnessed = useWitnessed()

test.each([
  ['a file that was submitted', (file: string) => ['submit', file]],
  ['the work of a worker', () => ['worker', '--until-idle']],
] as const)('%s in one environment is known in the other, when a state from before is put back', async (_, command) =>
  expectKnownToBoth(await witnessed(), command),
)
