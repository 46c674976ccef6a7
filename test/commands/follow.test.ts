// What is said of a batch that does not move, and how often.

import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { drawing } from '../../src/commands/follow.ts'
import type { Terminal } from '../../src/commands/terminal.ts'
import type { BatchView } from '../../src/domain/batch.ts'
import { batchView } from '../fixtures/batches.ts'
import { ManualClock } from '../fixtures/clock.ts'

const NOW = Date.UTC(2026, 10, 21, 9)
const why = 'the gateway asked to wait (HTTP 429)'
const UNTIL = '2026-11-21T09:01:00.000Z'

async function saidOver(looks: readonly (readonly [afterMs: number, batch: BatchView])[]): Promise<string[]> {
  const clock = new ManualClock(NOW)
  const app = { clock, config: { merchants: new Map() } } as unknown as App
  const said: string[] = []
  const say = (...lines: string[]) => void said.push(...lines)
  const terminal = {
    ...{ json: false, isScreen: false, isAttended: false, columns: null },
    ...{ say, note: say, redraw: () => {}, object: () => {} },
  } as unknown as Terminal
  await drawing(app, terminal, { accounts: async () => [] }, async (onLook) => {
    for (const [afterMs, batch] of looks) {
      await clock.advance(afterMs)
      onLook(batch)
    }
  })
  return said
}

const asked = batchView({
  ...{ counts: { APPROVED: 2, READY: 1 }, accountWaitsUntilMs: NOW + 60_000 },
  gatewayHealth: { sinceMs: NOW, why, asksToWait: true, failures: 0, openMost: 1, backoffUntilMs: NOW + 1_000 },
})

test('a wait is told once, with reason and until when, then every five seconds, and its end', async () => {
  const answered = batchView({ counts: { APPROVED: 3 } })
  const said = await saidOver([
    [0, asked],
    [1_900, asked],
    [200, asked],
    [100, asked],
    [3_000, asked],
    [5_000, asked],
    [100, answered],
  ])
  const line = `2 of 3 · 2 approved · waiting until ${UNTIL}: ${why}`
  expect(said).toEqual([
    `Waiting until ${UNTIL}: ${why}. 1 row is left; it goes on by itself.`,
    line,
    line,
    'The gateway answers again.',
  ])
})

test('rows that move leave nothing to explain', async () => {
  const moving = [0, 1, 2].map((n) => [1_900, { ...asked, counts: { APPROVED: n, READY: 3 - n } }] as const)
  expect(await saidOver(moving)).toEqual(['2 of 3 · 2 approved · 0.4/s · 3 s left'])
})
