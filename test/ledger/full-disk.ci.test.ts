// A disk that is full and comes back: nothing starts, nothing that happened is forgotten.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canMountSmallDisk, startChildOnSmallDisk } from '../fixtures/children.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-small-disk-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

test('a full disk refuses claims, messages and submits, and keeps settlements for later', async ({ skip }) => {
  if (!canMountSmallDisk(dir)) skip('a process may not mount a disk of its own here (unshare -Urm)')
  const child = startChildOnSmallDisk(dir, 4, 'child-full-disk.ts', [dir])
  expect(await child.ended(), child.lines.join('\n')).toBe(0)
  const { claimedRows, counts, ...said } = JSON.parse(child.lines.at(-1) as string)
  expect(said).toEqual({
    firstRefused: { kind: 'not-written', why: 'full' },
    message: 'full',
    recording: 'full',
    submitting: expect.stringMatching(/^(full|storage)$/),
    batchesWhileFull: 1,
    readable: 400,
    settledWhileFull: false,
    afterwards: { state: 'APPROVED', paused: null },
    claimAfterwards: { kind: 'claimed', attempt: 1 },
    batches: 2,
  })
  // Nothing that was refused had been claimed: what is SENDING was told to be.
  expect(counts).toEqual({ APPROVED: 1, SENDING: claimedRows + 1, READY: 400 - 2 - claimedRows })
})

test('a disk that is full where the index of the log must grow is a full disk, too', async ({ skip }) => {
  if (!canMountSmallDisk(dir)) skip('a process may not mount a disk of its own here (unshare -Urm)')
  const child = startChildOnSmallDisk(dir, 40, 'child-full-index.ts', [dir])
  expect(await child.ended(), child.lines.join('\n')).toBe(0)
  const { claimed, counts, kinds, indexGrew, integrity } = JSON.parse(child.lines.at(-1) as string)
  expect(indexGrew).toBe(true)
  expect(new Set(kinds)).toEqual(new Set(['claimed', 'not-written']))
  expect(counts).toEqual({ SENDING: claimed, READY: 3_000 - claimed })
  expect(integrity).toBe('ok')
})
