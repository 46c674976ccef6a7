import { expect, test } from 'vitest'
import type { Log } from '../../src/ports/log.ts'
import { openEpoch } from '../../src/processors/keep-epoch.ts'
import { idle, ManualClock } from '../fixtures/clock.ts'
import { NOW } from '../fixtures/ledgers.ts'

function arrange() {
  const clock = new ManualClock(NOW)
  const said: string[] = []
  const say: Log['warn'] = (_details, message) => void said.push(message)
  const state = { renewed: 0, full: false as boolean }
  const renewEpoch = async () => {
    if (state.full) throw new Error('disk full')
    state.renewed += 1
  }
  const keeper = openEpoch({
    ledger: { renewEpoch },
    register: null,
    clock,
    log: { debug: say, info: say, warn: say, error: say },
  })
  return { clock, said, state, keeper }
}

test('the epoch is renewed every 30 s of work, and once more at the end', async () => {
  const { clock, state, keeper } = arrange()
  await clock.advance(29_999)
  expect(state.renewed).toBe(0)
  await clock.advance(1)
  expect(state.renewed).toBe(1)
  await clock.advance(60_000)
  expect(state.renewed).toBe(3)
  await keeper.stop()
  expect(state.renewed).toBe(4)
  await clock.advance(120_000)
  expect(state.renewed).toBe(4)
})

test('an epoch that could not be renewed is said once, and tried again', async () => {
  const { clock, said, state, keeper } = arrange()
  state.full = true
  await clock.advance(90_000)
  expect(said).toEqual(['the epoch of the ledger could not be renewed; trying again'])
  state.full = false
  await clock.advance(30_000)
  expect(state.renewed).toBe(1)
  state.full = true
  await clock.advance(30_000)
  expect(said).toHaveLength(2)
  state.full = false
  await keeper.stop()
  await idle()
  expect(state.renewed).toBe(2)
})
