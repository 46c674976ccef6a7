// The model of claims once more, with more of them.

import { expect, test } from 'vitest'
import { checkModel, MAY_SKIP } from './spin.ts'

test.skipIf(MAY_SKIP)(
  'three claims of three workers execute no row twice, over one failover',
  { timeout: 900_000 },
  async () => {
    expect(await checkModel('MOST=3')).toMatchObject({ isWhole: true, broken: null })
  },
)
