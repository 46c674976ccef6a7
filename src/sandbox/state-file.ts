// Keeps the state of a sandbox in a file over restarts. Written behind, at most once a second and at closing: a killed
// sandbox forgets its last second, which is what a rehearsal can bear and a ledger could not.

import { chmod, open, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { errorCodeOf, messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { writeDurably } from '../files/durable.ts'
import { type Lock, takeLock } from '../files/lock.ts'
import { restore, revisionOf, toLines } from './saved-state.ts'
import type { SandboxState } from './state.ts'

export interface StateFile {
  /** Writes what is not written yet, and lets go of the file. */
  close(): Promise<void>
}

const WRITE_EVERY_MS = 1000

/** `warn` is told once when writing begins to fail; it is tried again every second. */
export async function openStateFile(
  path: string,
  state: SandboxState,
  warn: (sentence: string) => void,
): Promise<StateFile> {
  await checkPlace(path)
  const lock = lockFor(path, state)
  try {
    await read(path, state)
    await write(path, state)
    // For its owner alone, also where the directory or an earlier file would share it: there are names in it.
    await chmod(path, 0o600).catch(() => {}) // a file system without modes
  } catch (error) {
    lock.release()
    throw error
  }
  return keep(path, state, lock, warn)
}

async function checkPlace(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found !== null && !found.isFile()) throw new Fault('usage', `${path} is not a file; name another one.`)
  const directory = await stat(dirname(path)).catch(() => null)
  if (!directory?.isDirectory())
    throw new Fault('usage', `There is no directory ${dirname(path)} to keep the state in.`)
}

function lockFor(path: string, state: SandboxState): Lock {
  const holder = { pid: process.pid, host: hostname(), command: 'sandbox', startedAtMs: state.options.clock() }
  const lock = takeLock(`${path}.lock`, holder)
  if (lock.kind === 'taken') return lock
  const by = lock.heldBy === null ? 'another process' : `process ${lock.heldBy.pid}`
  throw new Fault('usage', `Another sandbox keeps its state in ${path} (${by}); stop it or name another file.`)
}

async function read(path: string, state: SandboxState): Promise<void> {
  const file = await open(path).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw new Fault('usage', `${path} cannot be read (${messageOf(error)}); name another file.`, { cause: error })
  })
  if (file === null) return
  try {
    await restore(state, file.readLines({ encoding: 'utf8', autoClose: false }), path)
  } finally {
    await file.close()
  }
}

const CHUNK_CHARS = 256 * 1024

async function write(path: string, state: SandboxState): Promise<void> {
  try {
    await writeDurably(path, async (file) => {
      let chunk = ''
      for (const line of toLines(state)) {
        chunk += line
        if (chunk.length < CHUNK_CHARS) continue
        await file.write(chunk)
        chunk = ''
      }
      await file.write(chunk)
    })
  } catch (error) {
    const sentence = `The state of the sandbox cannot be written to ${path} (${messageOf(error)}).`
    throw new Fault('storage', sentence, { cause: error })
  }
}

function keep(path: string, state: SandboxState, lock: Lock, warn: (sentence: string) => void): StateFile {
  let written = revisionOf(state)
  let writing: Promise<void> | null = null
  let isFailing = false
  const writeIfChanged = async () => {
    const revision = revisionOf(state)
    if (revision === written) return
    await write(path, state)
    written = revision
  }
  const timer = setInterval(() => {
    writing ??= writeIfChanged()
      .then(() => {
        isFailing = false
      })
      .catch((error: unknown) => {
        if (!isFailing) warn(`${messageOf(error)} It is tried again every second.`)
        isFailing = true
      })
      .finally(() => {
        writing = null
      })
  }, WRITE_EVERY_MS).unref()
  return {
    async close() {
      clearInterval(timer)
      await writing
      await writeIfChanged().finally(() => lock.release())
    },
  }
}
