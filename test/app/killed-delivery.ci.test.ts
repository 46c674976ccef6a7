import { test } from 'vitest'
import { killDelivery } from '../fixtures/killed-delivery.ts'

test('a deliverer that is killed 20 times tells everything, each under one id', () => killDelivery(20))
