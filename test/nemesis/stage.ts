// Where a schedule is played: an office with a worker, a Redis and a gateway behind proxies, and what was done to them.
// A sleep here is how long a fault lasts: nothing is waited for.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { query, recordedIn } from '../fixtures/books.ts'
import { type Ended, type Office, openOffice, type Running, until } from '../fixtures/cli.ts'
import { openProxy, type TcpProxy, type Treatment } from '../fixtures/proxy.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { type Act, type Connections, costsDoubt, type Dice, TIMEOUT_MS } from './schedule.ts'

export interface Stage extends AsyncDisposable {
  readonly office: Office
  /** Begins it. What is done to one thing is done one after the other; to different things, at the same time. */
  perform(act: Act, dice: Dice): void
  /** A worker that is gone is started again, as a service manager would; resolves when it works or is gone again. */
  ensureWorker(): Promise<void>
  /** A person looks in and lets go on what is paused or stopped. */
  look(): void
  /** Hands a message in, as another service would. It may go down with Redis. */
  send(message: Message): void
  /** Hands in again what is not in the ledger, as its producer would, and works until all of them are. */
  deliver(): Promise<void>
  /** Everything begun has ended, nothing is done to anybody any more, and the worker has left. */
  calm(): Promise<void>
  /** A command in the settings of this stage. */
  tranche(...args: readonly string[]): Promise<Ended>
  toll(): Toll
}

interface Message {
  readonly schema_version: 1
  readonly reference: string
}

/** What the nemesis has to answer for. */
export interface Toll {
  readonly kills: number
  /** Rows that were being sent when their worker was killed. */
  readonly caught: ReadonlySet<string>
  /** Requests and connections to which something was done that can put a row in doubt. */
  readonly struck: number
  /** How workers ended that nobody killed. */
  readonly left: readonly Ended[]
}

/** `commandOf` says by which command work is done from the next start on. */
export async function openStage(connections: Connections, commandOf: () => readonly string[]): Promise<Stage> {
  const settings = {
    TRANCHE_IN_FLIGHT: '8',
    TRANCHE_TIMEOUT_MS: String(TIMEOUT_MS),
    TRANCHE_CONNECTIONS: connections,
  }
  const office = await openOffice({ apart: true, latencyMs: 15, env: settings })
  const redis = await openRedisServer(join(office.dir, 'r.sock'))
  const redisLink = await openProxy({ path: redis.path })
  const gatewayLink = await openProxy({ port: office.sandbox.port, host: '127.0.0.1' })
  const env = {
    TRANCHE_REDIS_URL: `redis://127.0.0.1:${redisLink.port}`,
    TRANCHE_GATEWAY_URL: `http://127.0.0.1:${gatewayLink.port}`,
  }
  const producer = new Queue('tranche-intake', { connection: { path: redis.path } })
  producer.on('error', () => {})
  const messages: Message[] = []
  const caught = new Set<string>()
  const left: Ended[] = []
  const lanes = openLanes()
  let kills = 0
  let struck = 0
  let worker: Running | null = null

  function start(command = commandOf()): void {
    const started = office.startWith(env, ...command, '--json')
    worker = started
    void started.ended.then((ended) => {
      if (ended.code !== null) left.push(ended)
      if (worker === started) worker = null
    })
  }

  async function ensureWorker(): Promise<void> {
    if (worker === null) start()
    const started = worker
    const works = () =>
      worker !== started || started?.said().some((line) => /"working"|"submitted"/.test(line)) === true
    await until('the worker works', works)
  }

  async function kill(): Promise<void> {
    if (worker === null) return
    const killed = worker
    killed.kill('SIGKILL')
    kills += 1
    await killed.ended
    for (const { state, reference } of recordedIn(office)) if (state === 'SENDING') caught.add(reference)
    start()
  }

  async function end(): Promise<void> {
    worker?.kill('SIGTERM')
    await worker?.ended
  }

  /** Under its reference: one that completed is not taken again, so it had better be in the ledger. */
  function handIn(message: Message): void {
    producer.add('instruction', message, { jobId: message.reference }).catch(() => {})
  }

  async function freeze(forMs: number): Promise<void> {
    const frozen = worker
    await frozen?.freeze()
    await sleep(forMs)
    frozen?.kill('SIGCONT')
  }

  async function redisIsAway(go: () => unknown, forMs: number, comeBack: () => unknown): Promise<void> {
    await go()
    await sleep(forMs)
    await comeBack()
  }

  async function gatewayIsAway(cuts: boolean, forMs: number): Promise<void> {
    // Nobody comes just as the door falls shut: such a connection would be reset by the system, and nobody would count it.
    const frozen = worker
    await frozen?.freeze()
    await gatewayLink.shut()
    frozen?.kill('SIGCONT')
    if (cuts) gatewayLink.treatStanding('reset')
    await sleep(forMs)
    await gatewayLink.open()
  }

  async function pause(): Promise<void> {
    const [batch] = query<{ id: string }>(office, "SELECT id FROM batch WHERE hold = 'none' ORDER BY id")
    if (batch !== undefined) await office.tranche('pause', batch.id, '--reason', 'the nemesis wants it')
  }

  async function resumeAll(): Promise<void> {
    for (const { id } of query<{ id: string }>(office, "SELECT id FROM batch WHERE hold = 'paused'"))
      await office.tranche('resume', id, '--reason', 'looked at it')
    if (query(office, 'SELECT id FROM account WHERE coalesce(stopped_reason, held_reason) IS NOT NULL').length > 0)
      await office.tranche('resume', '--merchant', 'default', '--reason', 'looked at it')
  }

  /** Counts what struck: with the rules it would be forgotten. */
  async function clearFaults(): Promise<void> {
    const answer = await fetch(`${office.sandbox.url}/_sandbox/faults`)
    for (const line of (await answer.text()).trim().split('\n')) {
      if (line === '') continue
      const rule = JSON.parse(line)
      if (costsDoubt(rule, connections)) struck += rule.struck
    }
    office.sandbox.clearFaults()
  }

  return {
    office,
    ensureWorker,
    perform(act, dice) {
      switch (act.kind) {
        case 'kill-worker':
          return lanes.run('worker', kill)
        case 'freeze-worker':
          return lanes.run('worker', () => freeze(act.forMs))
        case 'flush-redis':
          return lanes.run('redis', redis.flush)
        case 'kill-redis':
          return lanes.run('redis', () => redisIsAway(redis.kill, act.forMs, redis.start))
        case 'freeze-redis':
          return lanes.run('redis', () => redisIsAway(redis.freeze, act.forMs, redis.thaw))
        case 'redis-link':
          return lanes.run('redis link', () => treatFor(redisLink, act.forMs, () => act.how, true))
        case 'gateway-fault':
          return office.sandbox.addFault(act.rule)
        case 'gateway-link': {
          const how = () => (dice.below(act.oneIn) === 0 ? act.how : 'pass')
          return lanes.run('gateway link', () => treatFor(gatewayLink, act.forMs, how, act.standing))
        }
        case 'gateway-away':
          return lanes.run('gateway link', () => gatewayIsAway(act.cuts, act.forMs))
        case 'pause':
          return lanes.run('person', pause)
      }
    },
    look: () => lanes.run('person', resumeAll),
    async calm() {
      await lanes.ended()
      await end() // first: what strikes between the count and the clearing would be forgotten
      await clearFaults()
      await resumeAll()
    },
    send(message) {
      messages.push(message)
      handIn(message)
    },
    async deliver() {
      const missing = () => {
        const known = new Set(recordedIn(office).map(({ reference }) => reference))
        return messages.filter(({ reference }) => !known.has(reference))
      }
      for (const message of missing()) handIn(message)
      start(['worker'])
      // One whose taker died is taken again when its lock has run out.
      await until('every message is in the ledger', () => missing().length === 0, worker)
      await end()
    },
    tranche: (...args) => office.trancheWith(env, ...args),
    toll: () => ({ kills, caught, left, struck: struck + gatewayLink.spoilt }),
    async [Symbol.asyncDispose]() {
      await producer.close().catch(() => {})
      await office.close()
      for (const one of [redisLink, gatewayLink, redis]) await one[Symbol.asyncDispose]()
    },
  }
}

async function treatFor(link: TcpProxy, forMs: number, how: () => Treatment, standing: boolean): Promise<void> {
  link.treat(how)
  if (standing) link.treatStanding(how())
  await sleep(forMs)
  link.treat('pass')
  link.treatStanding('pass')
}

/** One after the other within a lane, lanes beside each other. */
function openLanes() {
  const lanes = new Map<string, Promise<void>>()
  const failed: unknown[] = []
  return {
    run(lane: string, act: () => Promise<void>): void {
      const before = lanes.get(lane) ?? Promise.resolve()
      lanes.set(
        lane,
        before.then(act).catch((error) => void failed.push(error)),
      )
    },
    async ended(): Promise<void> {
      await Promise.all(lanes.values())
      if (failed.length > 0) throw failed[0]
    },
  }
}
