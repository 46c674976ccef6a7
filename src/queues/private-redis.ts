// A Redis of our own where none is configured: on a socket in the data directory, without a port and without
// persistence. One process of a data directory may open it, or stop one that is left behind, and its caller sees to that by a
// lock: two servers started on one socket path both live, with two data sets.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { errorCodeOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'

/** The system's limit is 104 to 108 bytes; Redis is one of those that fail late and unclearly above it. */
const SOCKET_PATH_BYTES = 100
const READY_WITHIN_MS = 10_000
const STOP_WITHIN_MS = 2_000
const POLL_MS = 10
const COMMAND_WITHIN_MS = 1_000
const RESTART_FIRST_MS = 50
const RESTART_MOST_MS = 5_000
/** A server that lived this long resets the back-off. */
const STEADY_MS = 10_000
const LOG_MOST_BYTES = 1_000_000

export interface PrivateRedis {
  /** The Unix socket. It stays the same when the server is restarted. */
  readonly path: string
  /** Stops the server; bounded, idempotent, leaves no socket and no pid file. */
  close(): Promise<void>
}

interface Options {
  /** Must exist. */
  readonly dataDir: string
  /** Where programs are found, and what of it the server is given. */
  readonly env: NodeJS.ProcessEnv
  readonly log: {
    info(fields: object, message: string): void
    warn(fields: object, message: string): void
  }
}

interface Places {
  readonly dataDir: string
  readonly socket: string
  readonly pidFile: string
  readonly serverLock: string
  readonly logFile: string
}

/** The caller holds the lock. Stops what a dead holder left, starts a server, waits until it answers. */
export async function openPrivateRedis({ dataDir, env, log }: Options): Promise<PrivateRedis> {
  const places = placesIn(dataDir)
  const bytes = Buffer.byteLength(places.socket)
  if (bytes > SOCKET_PATH_BYTES) {
    throw new Fault(
      'config',
      `The path of the private Redis socket, ${places.socket}, has ${bytes} bytes; the system allows ${SOCKET_PATH_BYTES}. ` +
        'Nothing was sent. Set TRANCHE_DATA_DIR to a shorter path, or TRANCHE_REDIS_URL to a Redis of yours.',
    )
  }
  const plain = plainEnvironment(env)
  const command = serverCommand(places, plain)
  if (await stopLeftBehind(dataDir)) log.info({ socket: places.socket }, 'stopped a private Redis left behind')
  const server = keepRunning(command, places, plain, log)
  try {
    await server.ready()
  } catch (error) {
    await server.close()
    throw error
  }
  log.info({ socket: places.socket }, 'private Redis is ready')
  return { path: places.socket, close: server.close }
}

/**
 * Stops the server that a dead holder left behind. True when there was one. The caller holds the lock.
 */
export async function stopLeftBehind(dataDir: string): Promise<boolean> {
  const places = placesIn(dataDir)
  const pid = (await pidOverSocket(places.socket)) ?? pidFromFile(places)
  if (pid !== null) {
    await shutDown(places.socket)
    if (!(await endsWithin(pid, STOP_WITHIN_MS)) && isOurServer(pid, places)) process.kill(pid, 'SIGKILL')
    if (!(await endsWithin(pid, STOP_WITHIN_MS))) {
      throw new Fault(
        'unavailable',
        `A Redis left behind (process ${pid}) does not end. Nothing was sent. End it with "kill -9 ${pid}" and try again.`,
      )
    }
  }
  removeTraces(places)
  return pid !== null
}

/** Of the private Redis that runs, or was running; null: there is none. */
export function privateSocketIn(dataDir: string): string | null {
  const { socket } = placesIn(dataDir)
  return statSync(socket, { throwIfNoEntry: false }) === undefined ? null : socket
}

function placesIn(dataDir: string): Places {
  return {
    dataDir,
    socket: join(dataDir, 'redis.sock'),
    pidFile: join(dataDir, 'redis.pid'),
    serverLock: join(dataDir, 'redis.lock'),
    logFile: join(dataDir, 'redis.log'),
  }
}

function removeTraces({ socket, pidFile, serverLock }: Places): void {
  for (const file of [socket, pidFile, serverLock]) rmSync(file, { force: true })
}

// ───────────────────────────────────────────────────────────── Starting and keeping

/** Its path, or a fault that says what to install. */
export function findRedisServer({ PATH = '' }: NodeJS.ProcessEnv): string {
  const program = onPath(PATH, 'redis-server') ?? onPath(PATH, 'valkey-server')
  if (program !== null) return program
  throw new Fault(
    'config',
    'Redis is needed and neither redis-server nor valkey-server is on PATH; nothing was sent: install one of them, or set TRANCHE_REDIS_URL.',
  )
}

function serverCommand(places: Places, env: NodeJS.ProcessEnv): readonly string[] {
  const program = findRedisServer(env)
  // biome-ignore format: one setting per line
  return [
    ...wrapping(places, env),
    program,
    '--port', '0',
    '--unixsocket', places.socket,
    '--unixsocketperm', '700',
    '--save', '',
    '--appendonly', 'no',
    '--maxmemory-policy', 'noeviction',
    '--dir', places.dataDir,
    '--pidfile', places.pidFile,
    '--daemonize', 'no',
  ]
}

/**
 * Where the system has them, in front of the server: `setpriv`, so that it dies with us even by SIGKILL, and `flock`, whose
 * lock lives as long as the server, against a second one. Both replace themselves by what they start, so that the child's
 * pid is the server's. Tried first: small systems have versions of them without these options.
 */
function wrapping({ dataDir, serverLock }: Places, env: NodeJS.ProcessEnv): readonly string[] {
  const works = (command: string, args: readonly string[]) =>
    spawnSync(command, [...args, 'true'], { stdio: 'ignore', env }).status === 0
  const dieWithUs = ['--pdeathsig', 'KILL']
  return [
    ...(works('setpriv', dieWithUs) ? ['setpriv', ...dieWithUs] : []),
    ...(works('flock', ['-n', '-F', dataDir]) ? ['flock', '-n', '-F', serverLock] : []),
  ]
}

function onPath(path: string, program: string): string | null {
  for (const directory of path.split(delimiter)) {
    const file = join(directory, program)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {}
  }
  return null
}

/** Starts the server, and again with a growing pause whenever it ends before `close`. */
function keepRunning(command: readonly string[], places: Places, env: NodeJS.ProcessEnv, log: Options['log']) {
  const closing = new AbortController()
  let child: ChildProcess | null = null
  let closed: Promise<void> | null = null

  async function run(): Promise<void> {
    let pauseMs = RESTART_FIRST_MS
    while (!closing.signal.aborted) {
      const startedAt = performance.now()
      child = start(command, places, env)
      const how = await ended(child)
      if (closing.signal.aborted) return
      if (performance.now() - startedAt > STEADY_MS) pauseMs = RESTART_FIRST_MS
      log.warn({ ...how, pauseMs, logFile: places.logFile }, 'private Redis ended; it is started again')
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      pauseMs = Math.min(pauseMs * 2, RESTART_MOST_MS)
    }
  }
  const running = run()

  async function stop(): Promise<void> {
    closing.abort()
    if (child?.pid !== undefined && isRunning(child)) {
      // Held again, or this process could run out of things to wait for and exit half-way.
      child.ref()
      await shutDown(places.socket)
      if (!(await endsWithin(child.pid, STOP_WITHIN_MS))) child.kill('SIGKILL')
    }
    await running
    removeTraces(places)
  }

  return {
    ready: async () => {
      for (const until = performance.now() + READY_WITHIN_MS; performance.now() < until; await sleep(POLL_MS)) {
        if ((await pidOverSocket(places.socket)) !== null) return
      }
      throw new Fault(
        'unavailable',
        `The private Redis did not start within ${READY_WITHIN_MS / 1000} s; nothing was sent: ${places.logFile} says why.`,
      )
    },
    close: () => {
      closed ??= stop()
      return closed
    },
  }
}

/** In a group of its own, so that Ctrl-C in the terminal is ours to handle and does not take the server away first. */
function start([program, ...args]: readonly string[], { logFile }: Places, env: NodeJS.ProcessEnv): ChildProcess {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0
  const log = openSync(logFile, size > LOG_MOST_BYTES ? 'w' : 'a', 0o600)
  try {
    const child = spawn(program as string, args, {
      detached: true,
      stdio: ['ignore', log, log],
      env,
    })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/** A server keeps a copy of its environment in memory: ours holds passwords. */
function plainEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH']
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

function ended(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null; error?: Error }> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    child.once('error', (error) => resolve({ exitCode: null, signal: null, error }))
  })
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

// ───────────────────────────────────────────────────────────── Asking and stopping a server

/** Opens a connection, asks once, closes it. null: nothing answers there. */
async function ask<T>(socket: string, question: (redis: Redis) => Promise<T>): Promise<T | null> {
  const redis = new Redis({
    path: socket,
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    connectTimeout: COMMAND_WITHIN_MS,
    commandTimeout: COMMAND_WITHIN_MS,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await question(redis)
  } catch {
    return null
  } finally {
    if (redis.status !== 'end') redis.disconnect()
  }
}

async function pidOverSocket(socket: string): Promise<number | null> {
  if (statSync(socket, { throwIfNoEntry: false }) === undefined) return null
  const about = await ask(socket, async (redis) => {
    await redis.ping()
    return redis.info('server')
  })
  const pid = /^process_id:(\d+)/m.exec(about ?? '')?.[1]
  return pid === undefined ? null : Number(pid)
}

/** The server closes the connection instead of answering, so that there is nothing to await but its end. */
async function shutDown(socket: string): Promise<void> {
  await ask(socket, (redis) => redis.shutdown('NOSAVE'))
}

function pidFromFile(places: Places): number | null {
  try {
    const pid = Number(readFileSync(places.pidFile, 'utf8').trim())
    return Number.isSafeInteger(pid) && pid > 1 && isOurServer(pid, places) ? pid : null
  } catch {
    return null
  }
}

/** A pid may long be another program's: it must be a Redis that works in our directory. Without /proc it cannot be told. */
function isOurServer(pid: number, { dataDir }: Places): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return /(redis|valkey)-server/.test(command) && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDir)
  } catch {
    return false
  }
}

async function endsWithin(pid: number, withinMs: number): Promise<boolean> {
  for (const until = performance.now() + withinMs; performance.now() < until; await sleep(POLL_MS)) {
    if (!isAlive(pid)) return true
  }
  return false
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
  try {
    // Dead, but not yet collected by its parent.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return true
  }
}
