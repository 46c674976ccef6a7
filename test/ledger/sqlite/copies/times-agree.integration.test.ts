import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { timesAgree } from '../../../../src/ledger/sqlite/copies/file-identity.ts'

const LOOKS = 400_000
/** Writes as fast as it can, as a busy worker does, until it is ended. */
const WRITER = `
  const { openSync, writeSync } = require('node:fs')
  const { parentPort, workerData } = require('node:worker_threads')
  const file = openSync(workerData, 'r+')
  writeSync(file, '0', 0)
  parentPort.postMessage('writes')
  for (;;) writeSync(file, '1', 0)`

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'times-'))
  path = join(dir, 'a.witness')
  writeFileSync(path, 'a')
})
afterEach(() => rmSync(dir, { recursive: true }))

test('the times of a file that is being written to agree at every look', async () => {
  const writer = new Worker(WRITER, { eval: true, workerData: path })
  await new Promise((resolve) => writer.once('message', resolve))
  try {
    const apart = Array.from({ length: LOOKS }, () => timesAgree(path)).filter((agree) => agree !== true)
    expect(apart).toEqual([])
  } finally {
    await writer.terminate()
  }
})

test('those of a file whose mode was changed do not', () => {
  expect(timesAgree(path)).toBe(true)
  chmodSync(path, 0o640)
  expect(timesAgree(path)).toBe(false)
  expect(timesAgree(join(dir, 'none'))).toBeNull()
})
