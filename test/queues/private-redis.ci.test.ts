import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPrivateRedis, type PrivateRedis, stopLeftBehind } from '../../src/queues/private-redis.ts'
import { soon } from '../fixtures/soon.ts'

const MODULE = new URL('../../src/queues/private-redis.ts', import.meta.url).href
const log = { info: () => {}, warn: () => {} }

let dataDir: string
const opened: PrivateRedis[] = []
const children: ChildProcess[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tranche-redis-'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const child of children.splice(0)) await kill(child)
  for (const redis of opened.splice(0)) await redis.close()
  await stopLeftBehind(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

async function open(): Promise<PrivateRedis> {
  const redis = await openPrivateRedis({ dataDir, log, env: process.env })
  opened.push(redis)
  return redis
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function asking<T>(path: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({ path })
  redis.on('error', () => {})
  try {
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}

function pidOf(path: string): Promise<number> {
  return asking(path, async (redis) => Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]))
}

/** A dead process whose parent has not collected it yet is dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc/self/status') || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Another process that opened the private Redis of `dataDir` and goes on living. */
async function childHolder(env: NodeJS.ProcessEnv = process.env): Promise<ChildProcess> {
  const code = `
    import { openPrivateRedis } from ${JSON.stringify(MODULE)}
    await openPrivateRedis({ dataDir: ${JSON.stringify(dataDir)}, log: { info() {}, warn() {} }, env: process.env })
    console.log('ready')
    setInterval(() => {}, 1000)`
  const args = ['--input-type=module', '-e', code]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}

/** A PATH with the Redis server and nothing that would end it with its parent or keep a second one out. */
async function bareServerPath(): Promise<string> {
  const bin = join(dataDir, 'bin')
  await mkdir(bin)
  const program = execFileSync('sh', ['-c', 'command -v redis-server || command -v valkey-server']).toString().trim()
  await writeFile(join(bin, 'redis-server'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 })
  return bin
}

describe('a private Redis', () => {
  test('answers on a socket of the data directory, without a port, files or eviction', async () => {
    const { path } = await open()
    expect(path).toBe(join(dataDir, 'redis.sock'))
    await asking(path, async (redis) => {
      const setting = async (name: string) => ((await redis.config('GET', name)) as string[])[1]
      expect(await setting('port')).toBe('0')
      expect(await setting('save')).toBe('')
      expect(await setting('appendonly')).toBe('no')
      expect(await setting('maxmemory-policy')).toBe('noeviction')
      expect(await setting('unixsocketperm')).toMatch(/^0?700$/)
    })
  })

  test('is gone after close, with its socket and its pid file; closing twice is closing once', async () => {
    const redis = await open()
    const pid = await pidOf(redis.path)
    await Promise.all([redis.close(), redis.close()])
    expect(isAlive(pid)).toBe(false)
    for (const name of ['redis.sock', 'redis.pid', 'redis.lock']) expect(existsSync(join(dataDir, name))).toBe(false)
  })

  test('is started again on the same socket when it is killed', async () => {
    const redis = await open()
    const first = await pidOf(redis.path)
    process.kill(first, 'SIGKILL')
    await soon(async () => expect(await pidOf(redis.path)).not.toBe(first))
    const second = await pidOf(redis.path)
    await redis.close()
    expect(isAlive(second)).toBe(false)
  })

  test('that does not heed the request to end is killed by close', async () => {
    const redis = await open()
    const pid = await pidOf(redis.path)
    process.kill(pid, 'SIGSTOP')
    await redis.close()
    expect(isAlive(pid)).toBe(false)
  })

  test('can be opened again after close', async () => {
    await (await open()).close()
    const { path } = await open()
    expect(await asking(path, (redis) => redis.ping())).toBe('PONG')
  })
})

describe('after a holder that died', () => {
  test('the next one starts an empty server of its own', async () => {
    const holder = await childHolder()
    const path = join(dataDir, 'redis.sock')
    const left = await pidOf(path)
    await asking(path, (redis) => redis.set('old', '1'))
    await kill(holder)

    const redis = await open()
    expect(await pidOf(redis.path)).not.toBe(left)
    expect(isAlive(left)).toBe(false)
    expect(await asking(redis.path, (client) => client.dbsize())).toBe(0)
  })

  test('a server that outlived it is stopped, once', async () => {
    const holder = await childHolder({ ...process.env, PATH: await bareServerPath() })
    const left = await pidOf(join(dataDir, 'redis.sock'))
    await kill(holder)
    expect(isAlive(left)).toBe(true)

    expect(await stopLeftBehind(dataDir)).toBe(true)
    expect(isAlive(left)).toBe(false)
    expect(await stopLeftBehind(dataDir)).toBe(false)
  })

  test.runIf(existsSync('/proc/self/cmdline'))('a server that lost its socket is found by its pid file', async () => {
    const holder = await childHolder({ ...process.env, PATH: await bareServerPath() })
    const left = await pidOf(join(dataDir, 'redis.sock'))
    await kill(holder)
    await rm(join(dataDir, 'redis.sock'))

    expect(await stopLeftBehind(dataDir)).toBe(true)
    expect(isAlive(left)).toBe(false)
  })

  test('a pid file that names another program does no harm', async () => {
    await writeFile(join(dataDir, 'redis.pid'), `${process.pid}\n`)
    expect(await stopLeftBehind(dataDir)).toBe(false)
    expect(existsSync(join(dataDir, 'redis.pid'))).toBe(false)
  })
})

describe('what cannot be started', () => {
  test('a data directory whose socket path is too long is a configuration fault that says so', async () => {
    const long = join(dataDir, 'x'.repeat(100))
    await expect(openPrivateRedis({ dataDir: long, log, env: process.env })).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('TRANCHE_DATA_DIR'),
    })
  })

  test('without a server on PATH the fault names what to install or set', async () => {
    vi.stubEnv('PATH', dataDir)
    await expect(open()).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/redis-server.*valkey-server.*TRANCHE_REDIS_URL/),
    })
  })

  test('what the server says is in a log, for the owner alone', async () => {
    await open()
    const file = join(dataDir, 'redis.log')
    expect(await readFile(file, 'utf8')).toMatch(/ready to accept connections/i)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})
