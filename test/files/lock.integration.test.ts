import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { type Held, type Holder, type Lock, lockHeld, takeLock } from '../../src/files/lock.ts'

const ME: Holder = { pid: process.pid, host: 'here', command: 'tranche worker', startedAtMs: 1_700_000_000_000 }
const MODULE = new URL('../../src/files/lock.ts', import.meta.url).href

let dir: string
let path: string
const children: ChildProcess[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'tranche-lock-'))
  path = join(dir, 'worker.lock')
})

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await rm(dir, { recursive: true, force: true })
})

/** A process that tries to take the lock, says what it got, and lives until it is killed. */
async function childThatTakes(): Promise<{ child: ChildProcess; answer: Held | { kind: 'taken' } }> {
  const code = `
    import { takeLock } from ${JSON.stringify(MODULE)}
    const holder = { pid: process.pid, host: 'there', command: 'tranche run', startedAtMs: 1 }
    console.log(JSON.stringify(takeLock(${JSON.stringify(path)}, holder, 300)))
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return { child, answer: JSON.parse(line.toString()) }
}

function taken(answer: Lock | Held): Lock {
  if (answer.kind === 'held') throw new Error('expected the lock to be free')
  return answer
}

describe('between processes', () => {
  test('a second process is refused and told who holds the lock', async () => {
    const lock = taken(takeLock(path, ME))
    const { answer } = await childThatTakes()
    expect(answer).toEqual({ kind: 'held', heldBy: ME })
    lock.release()
  })

  test('the merchants of a worker are told with it, if they are a list of names', async () => {
    const lock = taken(takeLock(path, { ...ME, merchants: ['default', 'hotel'] }))
    expect(lockHeld(path)?.heldBy).toEqual({ ...ME, merchants: ['default', 'hotel'] })
    for (const merchants of ['default', [1], { default: true }, null]) {
      await writeFile(`${path}.json`, JSON.stringify({ ...ME, merchants }))
      expect(lockHeld(path)?.heldBy).toEqual(ME)
    }
    lock.release()
  })

  test('a holder killed with SIGKILL leaves the lock free and its name behind without effect', async () => {
    const { child } = await childThatTakes()
    const refused = takeLock(path, ME)
    expect(refused).toEqual({ kind: 'held', heldBy: expect.objectContaining({ pid: child.pid, host: 'there' }) })

    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(JSON.parse(await readFile(`${path}.json`, 'utf8'))).toMatchObject({ pid: child.pid })
    expect(lockHeld(path)).toBeNull()
    const lock = taken(takeLock(path, ME))
    expect((await childThatTakes()).answer).toEqual({ kind: 'held', heldBy: ME })
    lock.release()
  })

  test('of six processes that start at once exactly one has the lock', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, childThatTakes))
    expect(answers.filter(({ answer }) => answer.kind === 'taken')).toHaveLength(1)
  })

  test('a lock that its process no longer refers to is still held', async () => {
    const code = `
      import { takeLock } from ${JSON.stringify(MODULE)}
      takeLock(${JSON.stringify(path)}, { pid: process.pid, host: 'there', command: 'run', startedAtMs: 1 }, 300)
      for (let round = 0; round < 5; round++) { globalThis.gc(); await new Promise((resolve) => setImmediate(resolve)) }
      console.log('collected')
      setInterval(() => {}, 1000)`
    const args = ['--expose-gc', '--input-type=module', '-e', code]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    await once(child.stdout!, 'data')
    expect(lockHeld(path)?.heldBy?.pid).toBe(child.pid)
  })
})

describe('within a process', () => {
  test('a lock that is taken is refused to its own process too', () => {
    const lock = taken(takeLock(path, ME))
    expect(takeLock(path, ME)).toEqual({ kind: 'held', heldBy: ME })
    expect(lockHeld(path)).toEqual({ kind: 'held', heldBy: ME })
    lock.release()
  })

  test('a released lock is free, releasing twice does no harm to the next holder', () => {
    const first = taken(takeLock(path, ME))
    first.release()
    expect(lockHeld(path)).toBeNull()
    const second = taken(takeLock(path, ME))
    first.release()
    expect(lockHeld(path)).toEqual({ kind: 'held', heldBy: ME })
    second.release()
  })

  test('an unreadable holder file names no holder and does not free the lock', async () => {
    const lock = taken(takeLock(path, ME))
    await writeFile(`${path}.json`, '{"pid":')
    expect(takeLock(path, ME)).toEqual({ kind: 'held', heldBy: null })
    await writeFile(`${path}.json`, '{"pid":"one"}')
    expect(lockHeld(path)).toEqual({ kind: 'held', heldBy: null })
    lock.release()
  })

  test('both files are for the owner alone', async () => {
    const lock = taken(takeLock(path, ME))
    expect((await stat(`${path}.json`)).mode & 0o777).toBe(0o600)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    lock.release()
  })

  test('a path that cannot be written is a fault, not a lock', () => {
    expect(() => takeLock(join(dir, 'missing', 'worker.lock'), ME)).toThrow(Fault)
  })
})
