// tranche doctor: checks configuration, Redis, ledger, worker, gateway and clock; says what to fix and what waits for a
// person. Sends no request. With --live it asks for the worker alone, as a health check does.

import { existsSync } from 'node:fs'
import { knownAccountOf } from '../app/accounts.ts'
import { attentionNow, attentionToIntake } from '../app/attention.ts'
import { assertClock } from '../app/clock.ts'
import { explainDamage, openLedger } from '../app/ledger.ts'
import { workersNow } from '../app/locks.ts'
import { otherLedgers } from '../app/other-ledgers.ts'
import { checkRedis, inspectLedger, reachGateway, serverCautions } from '../app/probes.ts'
import { unknownAnswersOf } from '../app/server-ledger.ts'
import { isWitnessed } from '../app/witness.ts'
import type { App } from '../app.ts'
import { stoppedBy } from '../domain/alarm.ts'
import { Fault } from '../domain/fault.ts'
import { DEFAULT_MERCHANT, type Merchant } from '../domain/merchant.ts'
import type { TlsSeen } from '../domain/tls.ts'
import { spell } from '../domain/words.ts'
import type { WorkerView } from '../domain/worker.ts'
import { attentionText, exitCodeOfAttention } from '../present/attention.ts'
import { commandLine, errorText } from '../present/command-line.ts'
import { EXIT, exitCodeOfError } from '../present/exit-codes.ts'
import { exposedText, unknownText } from '../present/exposed.ts'
import { plural } from '../present/text.ts'
import { toJsonWorker, workerText } from '../present/workers.ts'
import { examineRecord, parseHead } from './audit.ts'
import type { Terminal } from './terminal.ts'

export interface DoctorArguments {
  /** Ask whether the worker lives, and nothing else. */
  readonly live?: boolean
  readonly whole?: boolean
  /** Hold the record against itself, row by row. */
  readonly deep?: boolean
  /** With `deep`: a head that was written down earlier. */
  readonly head?: string
}

interface Finding {
  readonly what: string
  readonly ok: boolean
  readonly says: string
  /** It works, and will not for long. */
  readonly warns?: boolean
  /** Nothing is broken, and a person must look. */
  readonly attention?: boolean
  /** How a command that met it would end. */
  readonly exit: number
}

export async function doctor(app: App, given: DoctorArguments, terminal: Terminal): Promise<number> {
  const { whole = false, deep = false } = given
  if (given.live === true) return askForWorker(app, given, terminal)
  const earlier = headToCompare(given)
  const { workers, findings: ofLedger } = await checkLedger(app, whole)
  const findings = [
    checkMerchants(app),
    checkSettings(app),
    ...checkEnvironments(app),
    checkFiles(app),
    ...ofLedger,
    ...(deep ? await checkRecord(app, earlier, terminal) : []),
    await checkWitness(app),
    ...(await checkOtherLedgers(app)),
    ...unknownAnswers(app),
    ...workerFindings(workers),
    await finding(app, 'redis', () => checkRedis(app)),
    ...(await checkGateways(app, workers)),
    await checkClock(app),
  ]
  for (const one of findings) terminal.data(`${markOf(one).padEnd(4)} ${one.what}: ${one.says}`)
  const exit = exitOf(findings)
  const said = findings.map(({ exit: _, ...finding }) => finding)
  terminal.object({ ok: exit === EXIT.approved, findings: said, head: await headNow(app), exit })
  terminal.say(endingOf(findings))
  return exit
}

/** The worst; what must be fixed comes before what must be looked at. */
function exitOf(findings: readonly Finding[]): number {
  const exits = findings.map(({ exit }) => exit)
  const order = [EXIT.failure, EXIT.usage, EXIT.unavailable, EXIT.stopped, EXIT.inDoubt, EXIT.awaitingApproval]
  return order.find((exit) => exits.includes(exit)) ?? EXIT.approved
}

function markOf({ ok, warns, attention }: Finding): string {
  if (attention === true) return 'ATTENTION'
  if (!ok) return 'FIX'
  return warns === true ? 'WARN' : 'ok'
}

function endingOf(findings: readonly Finding[]): string {
  const marks = findings.map(markOf)
  if (marks.includes('FIX')) return 'Fix what is marked FIX, then run doctor again.'
  if (marks.includes('ATTENTION')) return 'Nothing is broken. What is marked ATTENTION needs a person.'
  return marks.includes('WARN') ? 'Everything works. Look at the items marked WARN soon.' : 'Everything is in order.'
}

/** For a health check: it must be quick, and a gateway that is away is none of the worker's faults. */
async function askForWorker(app: App, { whole, deep, head }: DoctorArguments, terminal: Terminal): Promise<number> {
  if (whole === true || deep === true || head !== undefined)
    throw new Fault('usage', '--live looks at the worker alone: leave --whole, --deep and --head out.')
  const ledger = await openLedger(app, 'looks')
  try {
    const workers = await workersNow(app, ledger)
    const live = workers.some(({ state }) => state !== 'silent')
    terminal.object({ live, workers: workers.map(toJsonWorker) })
    terminal.data(...(workers.length === 0 ? ['no worker is running'] : workers.map(workerText)))
    return live ? EXIT.approved : EXIT.stopped
  } finally {
    await ledger.close()
  }
}

async function finding(app: App, what: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, says: await check(), exit: EXIT.approved }
  } catch (raw) {
    const error = await explainDamage(app, raw)
    return {
      what,
      ok: false,
      says: errorText(error),
      exit: exitCodeOfError(error),
    }
  }
}

function checkMerchants(app: App): Finding {
  const { mistakes } = app.config
  if (mistakes.length > 0)
    return {
      what: 'configuration',
      ok: false,
      says: `${app.scrub(mistakes.join('; '))}. Nothing can be sent until that is corrected`,
      exit: EXIT.usage,
    }
  const names = [...app.config.merchants.keys()]
  return names.length > 0
    ? {
        what: 'configuration',
        ok: true,
        says: `merchants ${names.join(', ')}; data directory ${app.config.dataDir}`,
        exit: EXIT.approved,
      }
    : {
        what: 'configuration',
        ok: false,
        says: 'no merchant: set TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME and TRANCHE_GATEWAY_PASSWORD, or TRANCHE_CONFIG',
        exit: EXIT.usage,
      }
}

function checkSettings({ config: { unknown } }: App): Finding {
  const what = 'settings'
  if (unknown.length === 0) return { what, ok: true, says: 'every TRANCHE_… variable is known', exit: EXIT.approved }
  return { what, ok: true, warns: true, says: unknownText(unknown), exit: EXIT.approved }
}

/** Test keys in a live installation, and live keys in a trial, are told apart by nothing else. */
function checkEnvironments({ config: { merchants } }: App): Finding[] {
  const unlabelled = [...merchants.values()].flatMap(({ name, environment }) => (environment === null ? [name] : []))
  if (unlabelled.length === 0) return []
  const says = `${unlabelled.join(', ')}: nothing says whether ${unlabelled.length === 1 ? 'this merchant is' : 'these merchants are'} live or test. Write environment: live or environment: test (${DEFAULT_MERCHANT} of the environment: TRANCHE_ENVIRONMENT)`
  return [{ what: 'environment', ok: true, warns: true, says, exit: EXIT.approved }]
}

/** Reading is a caution, because a container has no other users; writing is a fault anywhere. */
function checkFiles({ config: { exposed } }: App): Finding {
  const what = 'files of the configuration'
  if (exposed.length === 0)
    return { what, ok: true, says: 'no other user can read or change them', exit: EXIT.approved }
  const ok = exposed.every(({ by }) => by === 'read')
  const warns = ok
  return { what, ok, warns, says: exposed.map(exposedText).join('; '), exit: ok ? EXIT.approved : EXIT.usage }
}

interface LedgerFindings {
  readonly findings: readonly Finding[]
  /** null: the ledger could not be opened, so that nothing is known of them. */
  readonly workers: readonly WorkerView[] | null
}

async function checkLedger(app: App, whole: boolean): Promise<LedgerFindings> {
  let workers: readonly WorkerView[] | null = null
  const waiting: Finding[] = []
  const looked = await finding(app, 'ledger', async () => {
    const ledger = await openLedger(app, 'looks')
    try {
      const pages = await inspectLedger(app, whole)
      const alarm = await ledger.alarm()
      if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
      const [batches, accounts] = [await ledger.batches(), await ledger.accounts()]
      const now = await attentionNow(app, ledger)
      workers = now.workers
      for (const one of [...now.attention, ...(await attentionToIntake(app, ledger))]) {
        if (one.code === 'silent' || one.code === 'redis') continue // they have findings of their own
        const exit = exitCodeOfAttention([one])
        waiting.push({ ...attentionText(one, app.paths.ledger), ok: false, attention: true, exit })
      }
      for (const merchant of app.config.merchants.values()) {
        const what = `account of ${merchant.name}`
        const account = await finding(app, what, async () => String(await knownAccountOf(ledger, merchant, app.clock)))
        if (!account.ok) waiting.push(account)
      }
      const turned = accounts.filter((account) => account.ratePerSecond !== null)
      return [
        `${plural(batches.length, 'batch', 'batches')} in ${app.paths.ledger}`,
        spell(pages, commandLine),
        ...turned.map(
          ({ name, ratePerSecond }) => `the rate dial of merchant ${name} is at ${ratePerSecond}/s (tranche rate)`,
        ),
      ].join('; ')
    } finally {
      await ledger.close()
    }
  })
  return { findings: [looked, ...(await cautions(app)), ...waiting], workers }
}

/** Of a server that keeps the ledger. Where it cannot be asked, the ledger's own finding says why. */
async function cautions(app: App): Promise<Finding[]> {
  const said = await serverCautions(app).catch(() => [])
  return said.map((says) => ({ what: 'server', ok: true, warns: true, says, exit: EXIT.approved }))
}

/** Each disagreement is a finding of its own. */
async function checkRecord(app: App, head: string | null, terminal: Terminal): Promise<Finding[]> {
  try {
    const ledger = await openLedger(app, 'looks')
    try {
      const { disagreements, says } = await examineRecord(app, ledger, head, terminal)
      if (disagreements.length === 0) return [{ what: 'record', ok: true, says, exit: EXIT.approved }]
      return disagreements.map(({ where, means }) => ({
        ...{ what: 'record', ok: false, says: `${where}: ${means}`, exit: EXIT.failure },
      }))
    } finally {
      await ledger.close()
    }
  } catch (error) {
    return [await finding(app, 'record', () => Promise.reject(error))]
  }
}

function headToCompare({ deep, head }: DoctorArguments): string | null {
  if (head !== undefined && deep !== true)
    throw new Fault('usage', '--head goes with --deep: the record up to it is read. Nothing was checked.')
  return parseHead('--head', head)
}

/** null: there is no ledger that could be opened. */
async function headNow(app: App): Promise<string | null> {
  try {
    const ledger = await openLedger(app, 'looks')
    return await ledger.head().finally(() => ledger.close())
  } catch {
    return null // the ledger's own finding says why
  }
}

function checkWitness(app: App): Promise<Finding> {
  return finding(app, 'witness', async () => {
    if (app.config.ledgerServer !== null)
      return (await isWitnessed(app))
        ? 'this machine remembers how far the ledger had come'
        : 'none on this machine, because no worker has run on it'
    if (await isWitnessed(app)) return 'the ledger is remembered outside its directory'
    if (!existsSync(app.paths.ledger)) return 'none yet, as there is no ledger'
    const what =
      'nothing outside the data directory remembers the ledger: a chmod there looks like a restored copy, and a snapshot that is rolled back like nothing at all'
    if (app.config.witnessDirs.length === 0) return `${what} (TRANCHE_WITNESS_DIR is none)`
    throw new Fault('config', `${what}. Set TRANCHE_WITNESS_DIR; the next worker or run writes it`)
  })
}

/** A second one may be meant, and no command knows. */
async function checkOtherLedgers(app: App): Promise<Finding[]> {
  const ledgerId = await ownLedgerId(app)
  return (await otherLedgers(app, ledgerId, { keeps: false })).map(({ merchant, says }) => ({
    ...{ what: 'accounts', ok: true, warns: true, exit: EXIT.approved },
    says: `another ledger is used for the account of merchant ${merchant}, and would send again what this one has sent: ${says}`,
  }))
}

async function ownLedgerId(app: App): Promise<string | null> {
  try {
    const ledger = await openLedger(app, 'looks')
    return await ledger.close().then(() => ledger.ledgerId)
  } catch {
    return null // the ledger's own finding says why
  }
}

/** Nothing but such a file tells of them. */
function unknownAnswers(app: App): Finding[] {
  let paths: readonly string[] = []
  try {
    paths = unknownAnswersOf(app)
  } catch {
    // the directory cannot be read, and the ledger's own finding says why
  }
  return paths.map((path) => ({
    ...{ what: 'answers', ok: false, attention: true, exit: EXIT.inDoubt },
    says: `${path} holds what came of requests that the ledger does not know, because its server was put back to before they were recorded. Look each transaction up at the gateway before you hand its instruction in again; then remove the file`,
  }))
}

function workerFindings(workers: readonly WorkerView[] | null): Finding[] {
  if (workers === null) return []
  if (workers.length === 0) {
    const says = 'none is running; start one with tranche worker, or use tranche run'
    return [{ what: 'worker', ok: true, says, exit: EXIT.approved }]
  }
  return workers.map((worker) => {
    const silent = worker.state === 'silent'
    const says = workerText(worker)
    return silent
      ? { what: 'worker', ok: false, attention: true, says, exit: EXIT.stopped }
      : { what: 'worker', ok: true, says, exit: EXIT.approved }
  })
}

function checkGateways(app: App, workers: readonly WorkerView[] | null): Promise<Finding[]> {
  const works = workers?.some(({ state }) => state !== 'silent') ?? false
  return Promise.all(Array.from(app.config.merchants.values(), (merchant) => checkGateway(app, merchant, works)))
}

/** `works`: a worker lives. It waits for the gateway by itself, and no setting of ours is to be mended. */
async function checkGateway(app: App, merchant: Merchant, works: boolean): Promise<Finding> {
  let warns = false
  let away = false
  const found = await finding(app, `gateway of ${merchant.name}`, async () => {
    const { says, tls } = await reachGateway(app, merchant).catch((error: unknown) => {
      away = works && error instanceof Fault && error.code === 'unavailable'
      throw error
    })
    if (tls === null) return says
    const told = tlsWords(tls, app.clock.nowMs())
    warns = told.warns
    return `${says}; ${told.says}`
  })
  if (!away) return { ...found, warns }
  const says = `${found.says}. The worker waits for it and goes on by itself`
  return { ...found, says, attention: true, exit: EXIT.stopped }
}

const DAY_MS = 24 * 3600 * 1000
const SOON_DAYS = 14

/** What was agreed with a gateway, and how long its certificate lasts. */
export function tlsWords({ protocol, cipher, issuer, expiresAtMs }: TlsSeen, nowMs: number) {
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS)
  const warns = days < SOON_DAYS
  const soon = warns ? '. After that nothing is sent: ask its operator when it is renewed' : ''
  const until = `${plural(days, 'day', 'days')}, until ${new Date(expiresAtMs).toISOString().slice(0, 10)}`
  return { says: `${protocol}, ${cipher}; its certificate is by ${issuer} and lasts ${until}${soon}`, warns }
}

function checkClock(app: App): Promise<Finding> {
  return finding(app, 'clock', async () => {
    assertClock(app)
    return new Date(app.clock.nowMs()).toISOString()
  })
}
