// The places of one machine at which workers of a shared ledger work.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { takePlace } from '../../src/app/server-ledger.ts'
import type { App } from '../../src/app.ts'

const HOLDER = { pid: process.pid, host: 'here', command: 'worker', startedAtMs: 0 }

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'tranche-places-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
})

async function take(redisUrl: string | null, which: 'any' | 'only-first' = 'any'): Promise<string> {
  const lock = await takePlace({ config: { dataDir, redisUrl } } as unknown as App, HOLDER, which)
  if (lock.kind === 'held') return 'held'
  onTestFinished(() => lock.release())
  return `${lock.place.answersPath.slice(dataDir.length)}${lock.isFirst ? ', first' : ''}`
}

test('each process has one of its own, the first that is free', async () => {
  expect(await take('redis://shared')).toBe('/worker-1.answers, first')
  expect(await take('redis://shared')).toBe('/worker-2.answers')
  expect(await take(null, 'only-first')).toBe('held')
})

test('where a dead process left answers, the next one works and hands them in', async () => {
  writeFileSync(join(dataDir, 'worker-2.answers.abc'), '')
  expect(await take('redis://shared')).toBe('/worker-2.answers')
  expect(await take('redis://shared')).toBe('/worker-1.answers, first')
  expect(await take('redis://shared')).toBe('/worker-3.answers')
})

test('answers that are set aside for a person lead nobody to their place', async () => {
  writeFileSync(join(dataDir, 'worker-2.answers.abc.unknown'), '')
  expect(await take('redis://shared')).toBe('/worker-1.answers, first')
})

test('without a shared Redis the first place comes first, for who has it has the private one', async () => {
  writeFileSync(join(dataDir, 'worker-2.answers.abc'), '')
  expect(await take(null)).toBe('/worker-1.answers, first')
})
