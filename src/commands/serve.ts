// tranche serve: the HTTP API, until SIGTERM. Needs no Redis; with a worker beside it, that has its own.

import { readFileSync } from 'node:fs'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { startDelivery } from '../app/delivery.ts'
import { ingestWith } from '../app/ingest-process.ts'
import { addKey } from '../app/keys.ts'
import { openLedger } from '../app/ledger.ts'
import { firstLink, invitationUrl } from '../app/people.ts'
import { OPEN_TO_ALL, openRehearsal } from '../app/rehearsal.ts'
import { addRehearsalPeople, type RehearsalPerson } from '../app/rehearsal-people.ts'
import { openSpool, type Spool } from '../app/spool.ts'
import { openWatching } from '../app/watching.ts'
import type { App } from '../app.ts'
import { KEY_LIVES_MOST_MS, SCOPES } from '../domain/api-key.ts'
import { messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import { comesInBy } from '../domain/identity.ts'
import { isLoopback } from '../files/networks.ts'
import type { Verify } from '../ports/ledger/audit.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { quoted } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { startWarnings } from '../present/exposed.ts'
import type { Door } from '../server/door.ts'
import type { Tls } from '../server/server.ts'
import { type OwnWorker, startOwnWorker } from './own-worker.ts'
import { finishing, openInterruption } from './signals.ts'
import type { Terminal } from './terminal.ts'
import { verifyWith } from './verifying.ts'

export interface ServeArguments {
  readonly port?: string
  readonly host?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly withWorker?: boolean
  readonly sandbox?: boolean
  readonly withPeople?: boolean
}

const PORT = 7800
const REQUESTS_PER_MINUTE = 6_000

export async function serve(app: App, given: ServeArguments, terminal: Terminal): Promise<number> {
  const asked = await parseAsked(app, given)
  if (given.sandbox !== true) {
    if (given.withPeople === true)
      throw new Fault(
        'usage',
        '--with-people goes with --sandbox: real people choose their own passwords. Nothing was started.',
      )
    if (!asked.withWorker) for (const text of startWarnings(app.config)) app.log.warn({}, text) // its worker says so itself
    return serveOn(app, asked, {}, terminal)
  }
  if (app.config.redisUrl !== null)
    throw new Fault(
      'usage',
      'serve --sandbox takes nothing from the queue, and TRANCHE_REDIS_URL is set: its jobs would wait for a worker on another ledger. Nothing was started. Unset it; docs/guides/captures-from-a-service.md says how to try the queue.',
    )
  const rehearsal = await openRehearsal(app, undefined, OPEN_TO_ALL)
  terminal.say('SANDBOX: a gateway of its own and a throw-away ledger; no money moves.')
  return serveOn(rehearsal.app, asked, rehearsal.env, terminal).finally(rehearsal.close)
}

interface Asked {
  readonly host: string
  readonly port: number
  readonly tls: Tls | null
  readonly isHost: (name: string) => boolean
  readonly withWorker: boolean
  readonly withPeople: boolean
}

async function parseAsked({ config }: App, given: ServeArguments): Promise<Asked> {
  const { assertMayListen, hostsOf } = await import('../server/hosts.ts')
  const host = given.host ?? '127.0.0.1'
  const tls = readTls(given)
  const parts = { host, certificate: tls?.cert ?? null, ...config.serving }
  assertMayListen(parts)
  if (!isLoopback(host)) assertKnownAddress(config)
  return {
    host,
    port: parsePort(given.port),
    tls,
    isHost: hostsOf(parts),
    withWorker: given.withWorker === true,
    withPeople: given.withPeople === true,
  }
}

/** The provider sends browsers back to one fixed address, never to a name that a browser sent. */
function assertKnownAddress({ identityProvider, serving }: App['config']): void {
  if (identityProvider === null || serving.publicUrl !== null) return
  throw new Fault(
    'usage',
    `People who sign in with ${identityProvider.name} must return to one fixed address. Nothing was started. Set TRANCHE_PUBLIC_URL=https://…, as browsers reach this server, and register that address followed by /sign-in/provider/return at the provider.`,
  )
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return PORT
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Fault('usage', `--port ${text}: write a port, such as ${PORT} (0: any that is free). Nothing was started.`)
}

function readTls({ tlsCert, tlsKey }: ServeArguments): Tls | null {
  if (tlsCert === undefined && tlsKey === undefined) return null
  if (tlsCert === undefined || tlsKey === undefined)
    throw new Fault('usage', '--tls-cert and --tls-key go together. Nothing was started.')
  return { cert: readPem('--tls-cert', tlsCert), key: readPem('--tls-key', tlsKey) }
}

function readPem(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault('usage', `${option} ${path} cannot be read (${messageOf(error)}). Nothing was started.`, {
      cause: error,
    })
  }
}

/** `env`: of a rehearsal, over that of this run. */
async function serveOn(app: App, asked: Asked, env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> {
  const isSandbox = Object.keys(env).length > 0
  const { buildServer, listen } = await import('../server/server.ts')
  const ledger = await openLedger(app)
  const interruption = openInterruption(terminal, () => finishing('no new request is taken; open ones are answered'))
  let worker: OwnWorker | null = null
  let spool: Spool | null = null
  let beside: Beside | null = null
  try {
    await assertPolicyAgreed(app, ledger)
    beside = asked.withWorker ? null : await startBeside(app, ledger)
    const { trustedProxies } = app.config.serving
    const files = await openFiles(app, env)
    spool = files.spool
    const limits = { trustedProxies, requestsPerMinute: REQUESTS_PER_MINUTE }
    const onAnswered = beside?.onAnswered ?? (() => {})
    const door = { app, ledger, isHost: asked.isHost, isSandbox, onAnswered, ...limits, ...files }
    const rehearsalPeople =
      isSandbox && asked.withPeople ? await addRehearsalPeople(ledger, app.actor, app.clock.nowMs()) : []
    const verify = verifyWith(app, env)
    const console = await consoleBeside(door, asked, { isSandbox, rehearsalPeople, verify })
    const server = await buildServer(door, asked.tls, console)
    const listening = await listen(server, asked).catch((error: unknown) => {
      throw cannotListen(asked, error)
    })
    worker = asked.withWorker ? startOwnWorker(app, env) : null
    const made = isSandbox ? await sandboxKey(app, ledger) : {}
    terminal.object({ event: 'listening', url: listening.url, ...made })
    terminal.data(`Tranche answers at ${listening.url}; Ctrl-C or SIGTERM ends it gracefully.`)
    if (made.key !== undefined) terminal.data(`A key for it, which may do everything there: ${made.key}`)
    if (isSandbox) terminal.data(`Other commands look into it after: ${exportText(env)}`)
    if (rehearsalPeople.length > 0) tellRehearsalPeople(listening.url, terminal)
    else await tellFirstLink(app, ledger, listening.url, terminal)
    const end = await Promise.race([aborted(interruption.signal), ...(worker === null ? [] : [worker.ended])])
    await Promise.all([files.queue.close(), listening.close()])
    const left = interruption.signal.aborted ? await (worker?.stop() ?? EXIT.approved) : (end ?? EXIT.failure)
    if (!interruption.signal.aborted)
      terminal.say(`The worker ended by itself (exit ${left}), and the server with it. Its own lines say why.`)
    terminal.object({ event: 'result', exit: left })
    return left
  } finally {
    await worker?.stop()
    interruption.close()
    spool?.close()
    await beside?.stop()
    await ledger.close()
  }
}

/** The pages for people. */
async function consoleBeside(
  door: Door,
  { tls }: Asked,
  beside: {
    readonly isSandbox: boolean
    readonly rehearsalPeople: readonly RehearsalPerson[]
    readonly verify: Verify
  },
) {
  const { consoleOf } = await import('../console/console.ts')
  const isSecure = tls !== null || door.app.config.serving.publicUrl?.startsWith('https:') === true
  return consoleOf({ ...door, isSecure, ...beside })
}

/** On a ledger without people, whoever reads this output becomes the first administrator. */
async function tellFirstLink(app: App, ledger: Ledger, listensAt: string, terminal: Terminal): Promise<void> {
  if (!comesInBy(null, app.config.identityProvider)) return // a password would open nothing
  const secret = await firstLink(ledger, app.clock.nowMs())
  if (secret === null) return
  const url = invitationUrl(app.config.serving.publicUrl ?? listensAt, secret)
  terminal.object({ event: 'first-administrator', url })
  terminal.data(
    `The console has no people yet. Open this link within 15 minutes to become its first administrator; it works once: ${url}`,
  )
}

/** Nobody need be let in where no money moves. */
function tellRehearsalPeople(listensAt: string, terminal: Terminal): void {
  const url = `${listensAt}/sign-in`
  terminal.object({ event: 'people', url })
  terminal.data(`Open this in a browser, and choose who you are: ${url}`)
}

type Beside = Awaited<ReturnType<typeof startBeside>>

/** What a worker does beside its work, and its own worker for this process: figures, and events to whom they are for. */
async function startBeside(app: App, ledger: Ledger) {
  const { metrics, close } = await openWatching(app, ledger, null)
  const delivery = await startDelivery(app, {
    onAttempt: (endpoint, result) => metrics?.webhookAttempted(endpoint, result),
  }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    onAnswered: metrics?.answered,
    async stop(): Promise<void> {
      await delivery.stop()
      await close()
    },
  }
}

/** Nobody could make one for a ledger that is thrown away. */
async function sandboxKey(app: App, ledger: Ledger): Promise<{ readonly key?: string }> {
  const asked = { name: 'sandbox', scopes: SCOPES, merchants: null, networks: null, livesMs: KEY_LIVES_MOST_MS }
  return { key: (await addKey(ledger, asked, app.actor, app.clock.nowMs())).key }
}

/** What another shell needs in order to find the ledger of a rehearsal. */
function exportText({ TRANCHE_DATA_DIR = '', TRANCHE_WITNESS_DIR = '' }: NodeJS.ProcessEnv): string {
  return `export TRANCHE_DATA_DIR=${quoted(TRANCHE_DATA_DIR)} TRANCHE_WITNESS_DIR=${quoted(TRANCHE_WITNESS_DIR)}`
}

/** What comes over the network as a file, and who reads it. */
async function openFiles(app: App, env: NodeJS.ProcessEnv) {
  const { createIngestQueue } = await import('../app/ingest-queue.ts')
  return { spool: await openSpool(app), queue: createIngestQueue(), ingest: ingestWith(app, env) }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

function cannotListen({ host, port }: Asked, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error
  const why = {
    EADDRINUSE: 'another process has it',
    EACCES: 'it is not permitted',
    EADDRNOTAVAIL: 'this machine has no such address',
  }[code]
  return new Fault('usage', `Nothing can listen on ${host} port ${port}: ${why}. Nothing was started.`, {
    cause: error,
  })
}
