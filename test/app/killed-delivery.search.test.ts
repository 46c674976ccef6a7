// DELIVERY_KILLS=1000 for so many instead: a kill takes a second or two.

import { test } from 'vitest'
import { killDelivery } from '../fixtures/killed-delivery.ts'

const KILLS = Number(process.env.DELIVERY_KILLS ?? '100')

test(`a deliverer that is killed ${KILLS} times tells everything, each under one id`, { timeout: KILLS * 5_000 }, () =>
  killDelivery(KILLS),
)
