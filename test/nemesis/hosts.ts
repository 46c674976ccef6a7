// Several hosts with one PostgreSQL and one Redis: each has a data directory of its own, and its own ways to all that it needs.
// A sleep here is how long a fault lasts: nothing is waited for.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { type Ended, type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { type Cluster, query } from '../fixtures/postgres.ts'
import { openProxy, type TcpProxy, type Treatment } from '../fixtures/proxy.ts'
import { openRedisServer, type RedisServer } from '../fixtures/redis.ts'
import { FAKE_CLOCK, openWallClock, type WallClock } from '../hostile/clock.ts'
import type { Dice } from './schedule.ts'
import { copyOf, openServerOnDisk, openStandby, promote, putBack } from './servers.ts'

const SCHEMA = 'tranche'
/** Whoever acts where nobody is named: they hand everything in. */
const CLERK = 'mio'
export const RATE = 60
const TIMEOUT_MS = 2_500

export interface Hosts extends AsyncDisposable {
  readonly office: Office
  readonly cluster: Cluster
  /** A command, past all that is done to the others. */
  tranche(...args: readonly string[]): Promise<Ended>
  /** The same, by that person. */
  by(person: string, ...args: readonly string[]): Promise<Ended>
  /** One thing that goes wrong, somewhere. Resolves when it is over. */
  strike(dice: Dice): Promise<string>
  /** Whatever was begun is over, and every worker works again. */
  calm(): Promise<void>
  stop(): Promise<void>
  /** As a SQLite file, for whoever compares books. */
  books(): Promise<{ readonly ledgerPath: string; readonly sandbox: Office['sandbox'] }>
  readonly kills: () => number
  readonly isPutBack: () => boolean
  /** What the workers said, and the server. */
  logs(): Readonly<Record<string, string>>
}

/** Who may replace the server, and what that takes. */
export type Mode = 'none' | 'synchronous' | 'storage'

export interface HostsOptions {
  readonly count: number
  readonly mode: Mode
  /** For `TRANCHE_CONFIG`; null: no batch needs an approval. */
  readonly policy: string | null
}

interface Host {
  readonly env: NodeJS.ProcessEnv
  readonly database: TcpProxy
  readonly redis: TcpProxy
  /** null: its clock cannot be set here. */
  readonly clock: WallClock | null
  worker: Running | null
}

export async function openHosts({ count, mode, policy }: HostsOptions): Promise<Hosts> {
  const office = await openOffice({ apart: true, latencyMs: 15, made: false })
  const server = openServerOnDisk()
  const { cluster } = server
  const standby = mode === 'synchronous' ? await openStandby(cluster) : null
  const redis = await openRedisServer(join(office.dir, 'r.sock'))
  const gateway = await openProxy({ port: Number(new URL(office.sandbox.url).port), host: '127.0.0.1' })
  const shared = {
    TRANCHE_RATE: String(RATE),
    TRANCHE_IN_FLIGHT: '16',
    TRANCHE_TIMEOUT_MS: String(TIMEOUT_MS),
    TRANCHE_DOUBT_REST_MS: '30000',
    TRANCHE_POSTGRES_FAILOVER: mode,
    ...(policy !== null && { TRANCHE_CONFIG: await office.put('tranche.yaml', policy) }),
    TRANCHE_GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
  }
  const own = { ...shared, TRANCHE_LEDGER_URL: cluster.url, TRANCHE_REDIS_URL: redis.path }
  const by = (person: string, ...args: readonly string[]) =>
    office.trancheWith({ ...own, SUDO_USER: person, SUDO_UID: '4001' }, ...args)
  const tranche = (...args: readonly string[]) => by(CLERK, ...args)
  const made = await tranche('init')
  if (made.code !== 0) throw new Error(made.stderr)
  const hosts: Host[] = []
  for (let n = 0; n < count; n++) hosts.push(await openHost(n, office, cluster, redis, shared))
  const workers: (readonly [string, Running])[] = []
  let kills = 0
  let mayPutBack = true

  async function start(host: Host): Promise<void> {
    const worker = office.startWith(host.env, 'worker', '--json')
    host.worker = worker
    workers.push([`host-${hosts.indexOf(host)}`, worker])
    const works = () => worker.said().some((line) => line.includes('"working"'))
    let isOver = false
    void worker.ended.then(() => {
      isOver = true
    })
    await until('the worker works, or is gone again', () => works() || isOver)
    if (isOver && host.worker === worker) host.worker = null
  }

  async function kill(host: Host): Promise<void> {
    host.worker?.kill('SIGKILL')
    await host.worker?.ended
    kills += 1
    await start(host)
  }

  async function cut(link: TcpProxy, how: Treatment, forMs: number): Promise<void> {
    link.treat(how)
    link.treatStanding(how)
    await sleep(forMs)
    link.treat('pass')
    link.treatStanding('pass')
  }

  async function strike(dice: Dice): Promise<string> {
    const host = hosts[dice.below(hosts.length)] as Host
    const forMs = dice.from(300, 1_500, 4_000, 8_000, 20_000)
    const kind = dice.from(
      ...(['kill', 'kill', 'kill', 'freeze', 'freeze', 'cut from the database', 'cut from the database'] as const),
      ...([
        'cut from Redis',
        'connections ended',
        'database killed',
        'Redis emptied',
        'Redis killed',
        'cut from the gateway',
        'clock set',
        'clock set',
        'server promoted',
        'pause',
      ] as const),
      ...(mayPutBack ? (['server put back'] as const) : []),
      ...(server.fill === null ? [] : (['disk full', 'disk full'] as const)),
      ...(standby === null ? [] : (['standby away', 'standby away'] as const)),
    )
    switch (kind) {
      case 'kill':
        await kill(host)
        break
      case 'freeze':
        await host.worker?.freeze()
        await sleep(dice.from(1_000, 4_000, 16_000, 40_000)) // the longest outlasts lease and answer-by: its rows are swept meanwhile
        host.worker?.kill('SIGCONT')
        break
      case 'cut from the database':
        await cut(host.database, dice.from('lose-replies', 'lose-requests', 'hang', 'reset', 'reset-on-reply'), forMs)
        break
      case 'cut from Redis':
        await cut(host.redis, dice.from('hang', 'reset', 'lose-replies'), Math.min(forMs, 8_000)) // from 5 s on it feeds itself
        break
      case 'connections ended':
        await query(cluster.url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
        break
      case 'database killed':
        cluster.kill()
        await sleep(Math.min(forMs, 4_000))
        cluster.start()
        break
      case 'Redis emptied':
        await redis.flush()
        break
      case 'Redis killed':
        await redis.kill()
        await sleep(Math.min(forMs, 8_000))
        await redis.start()
        break
      case 'cut from the gateway':
        await cut(
          gateway,
          dice.from('lose-replies', 'lose-requests', 'hang', 'reset', 'reset-on-reply'),
          Math.min(forMs, 4_000),
        )
        break
      case 'clock set':
        host.clock?.set(dice.from(-60, -7, 0, 7, 60))
        break
      case 'server promoted':
        if (mode === 'storage') await promote(cluster)
        else await replaceServer('moved', () => standby?.takeOver() ?? promote(cluster))
        break
      case 'disk full':
        await server.fill?.(Math.min(forMs, 8_000))
        break
      case 'standby away':
        await standby?.leave(Math.min(forMs, 8_000))
        break
      case 'server put back':
        mayPutBack = false // all that is left comes into doubt
        await putBackAfter(Math.min(forMs, 4_000))
        break
      case 'pause':
        await pauseAndResume()
    }
    return kind
  }

  async function pauseAndResume(): Promise<void> {
    const [batch] = await query<{ id: string }>(
      cluster.url,
      `SELECT id FROM ${SCHEMA}.batch WHERE hold = 'none' LIMIT 1`,
    )
    if (batch === undefined) return
    await tranche('pause', batch.id, '--reason', 'the nemesis wants it')
    await tranche('resume', batch.id, '--reason', 'looked at it')
  }

  /** The server is replaced under them; then a person stops them all, and takes the ledger over. */
  async function replaceServer(how: 'moved' | 'restored', replace: () => Promise<void>): Promise<void> {
    await replace()
    await sleep(2_500) // in which most of them ask it
    for (const { worker } of hosts) worker?.kill('SIGKILL')
    await Promise.all(hosts.map(({ worker }) => worker?.ended))
    await until('the last lease is over', async () => {
      const { code, stderr } = await tranche('adopt', `--${how}`, '--reason', 'the nemesis wants it')
      if (code !== 0 && !stderr.includes('did less than 15 s ago')) throw new Error(stderr)
      return code === 0
    })
    for (const host of hosts) await start(host)
  }

  async function putBackAfter(ms: number): Promise<void> {
    const copy = copyOf(cluster)
    await sleep(ms)
    await replaceServer('restored', async () => {
      putBack(cluster, copy)
      standby?.make()
    })
  }

  for (const host of hosts) await start(host)
  return {
    office,
    cluster,
    tranche,
    by,
    strike,
    async calm() {
      for (const host of hosts) if (host.worker === null) await start(host)
    },
    async stop() {
      for (const { worker } of hosts) worker?.kill('SIGTERM')
      await Promise.all(hosts.map(({ worker }) => worker?.ended))
    },
    async books() {
      const ledgerPath = office.path('books.db')
      const { code, stderr } = await tranche('backup', ledgerPath)
      if (code !== 0) throw new Error(stderr)
      return { ledgerPath, sandbox: office.sandbox }
    },
    kills: () => kills,
    isPutBack: () => !mayPutBack,
    logs: () => {
      const said: Record<string, string> = { server: readFileSync(join(cluster.dir, 'log'), 'utf8') }
      for (const [name, worker] of workers)
        said[name] = [said[name] ?? '', ...worker.said(), ...worker.saidAside(), '── ends'].join('\n')
      return said
    },
    async [Symbol.asyncDispose]() {
      await office.close()
      for (const { database, redis: link } of hosts)
        for (const one of [database, link]) await one[Symbol.asyncDispose]()
      await redis[Symbol.asyncDispose]()
      await gateway[Symbol.asyncDispose]()
      standby?.remove()
      server.remove()
    },
  }
}

async function openHost(
  n: number,
  office: Office,
  cluster: Cluster,
  redis: RedisServer,
  shared: NodeJS.ProcessEnv,
): Promise<Host> {
  const database = await openProxy({ path: `${cluster.dir}/.s.PGSQL.5432` })
  const link = await openProxy({ path: redis.path })
  const dataDir = office.path(`host-${n}`)
  mkdirSync(dataDir, { mode: 0o700 })
  const clock = FAKE_CLOCK === null ? null : openWallClock(office.path(`clock-${n}`))
  const env = {
    ...shared,
    ...clock?.env,
    TRANCHE_DATA_DIR: dataDir,
    TRANCHE_LEDGER_URL: `postgres://tranche@127.0.0.1:${database.port}/postgres`,
    TRANCHE_REDIS_URL: `redis://127.0.0.1:${link.port}`,
  }
  return { env, database, redis: link, clock, worker: null }
}

/** Rows that are not settled and in no doubt. */
export async function openRows({ cluster }: Pick<Hosts, 'cluster'>): Promise<number> {
  const [found] = await query<{ n: string }>(
    cluster.url,
    `SELECT count(*) AS n FROM ${SCHEMA}.instruction WHERE state IN ('READY', 'SENDING')`,
  )
  return Number(found!.n)
}
