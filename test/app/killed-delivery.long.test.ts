import { test } from 'vitest'
import { killDelivery } from '../fixtures/killed-delivery.ts'

test('a deliverer that is killed 1,000 times tells everything, each under one id', () => killDelivery(1_000), 3_600_000)
