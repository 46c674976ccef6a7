// tranche doctor: checks configuration, Redis, ledger, gateway and clock; says what to fix. Sends no request.

import {
  type App,
  assertClock,
  checkRedis,
  explainDamage,
  inspectLedger,
  isWitnessed,
  openRecord,
  reachGateway,
  workerNow,
} from '../app.ts'
import type { Merchant } from '../config.ts'
import { stoppedBy } from '../domain/alarm.ts'
import { countIn } from '../domain/progress.ts'
import type { TlsSeen } from '../domain/tls.ts'
import { EXIT, exitCodeOfError, plural, type Terminal } from './terminal.ts'

export interface DoctorArguments {
  readonly whole?: boolean
}

interface Finding {
  readonly what: string
  readonly ok: boolean
  readonly says: string
  /** It works, and will not for long. */
  readonly warns?: boolean
  /** How a command that met it would end. */
  readonly exit: number
}

export async function doctor(app: App, { whole = false }: DoctorArguments, terminal: Terminal): Promise<number> {
  const findings = [
    checkMerchants(app),
    checkFiles(app),
    await checkLedger(app, whole),
    await checkWorker(app),
    await finding(app, 'redis', () => checkRedis(app)),
    ...(await checkGateways(app)),
    await checkClock(app),
  ]
  for (const { what, ok, warns, says } of findings)
    terminal.data(`${ok ? (warns === true ? 'WARN' : 'ok  ') : 'FIX '} ${what}: ${says}`)
  const ok = findings.every((one) => one.ok)
  terminal.object({ ok, findings: findings.map(({ exit: _, ...said }) => said) })
  const warned = findings.some(({ warns }) => warns === true)
  const order = warned ? 'Everything works. See to what is marked WARN before it does not.' : 'Everything is in order.'
  terminal.say(ok ? order : 'Mend what is marked FIX, then run it again.')
  if (ok) return EXIT.approved
  return findings.some(({ exit }) => exit === EXIT.failure) ? EXIT.failure : EXIT.usage
}

async function finding(app: App, what: string, check: () => Promise<string>): Promise<Finding> {
  try {
    return { what, ok: true, says: await check(), exit: EXIT.approved }
  } catch (raw) {
    const error = await explainDamage(app, raw)
    return {
      what,
      ok: false,
      says: error instanceof Error ? error.message : String(error),
      exit: exitCodeOfError(error),
    }
  }
}

function checkMerchants(app: App): Finding {
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

/** Reading is a caution, because a container has no other users; writing is a fault anywhere. */
function checkFiles({ config: { exposed } }: App): Finding {
  const what = 'files of the configuration'
  if (exposed.length === 0)
    return { what, ok: true, says: 'no other user can read or change them', exit: EXIT.approved }
  const ok = exposed.every(({ by }) => by === 'read')
  const says = exposed.map(({ path, by }) =>
    by === 'read'
      ? `other users of this machine can read ${path}, which holds a secret (chmod 600 ${path})`
      : `other users of this machine can change ${path}, which says where passwords are sent (chmod go-w ${path})`,
  )
  return { what, ok, says: says.join('; '), exit: ok ? EXIT.approved : EXIT.usage }
}

function checkLedger(app: App, whole: boolean): Promise<Finding> {
  return finding(app, 'ledger', async () => {
    const ledger = await openRecord(app)
    try {
      const pages = await inspectLedger(app, ledger, whole)
      const alarm = await ledger.alarm()
      if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
      const batches = await ledger.batches()
      const inDoubt = batches.reduce((sum, batch) => sum + countIn(batch, 'IN_DOUBT'), 0)
      const accounts = await ledger.accounts()
      const stopped = accounts.filter((account) => account.stopped !== null)
      const turned = accounts.filter((account) => account.ratePerSecond !== null)
      const notes = [
        `${plural(batches.length, 'batch', 'batches')} in ${app.paths.ledger}`,
        pages,
        ...(inDoubt > 0 ? [`${plural(inDoubt, 'row', 'rows')} in doubt (tranche in-doubt list)`] : []),
        ...stopped.map(({ name, stopped: why }) => `merchant ${name} is stopped (${why})`),
        ...turned.map(
          ({ name, ratePerSecond }) => `the rate dial of merchant ${name} is at ${ratePerSecond}/s (tranche rate)`,
        ),
        ...((await isWitnessed(app))
          ? []
          : [
              'nothing outside the data directory remembers it, so a chmod there would look like a restored copy (set TRANCHE_WITNESS_DIR)',
            ]),
      ]
      return notes.join('; ')
    } finally {
      await ledger.close()
    }
  })
}

function checkWorker(app: App): Promise<Finding> {
  return finding(app, 'worker', async () => {
    const worker = await workerNow(app)
    if (worker === null) return 'none is running; start one with tranche worker, or use tranche run'
    return worker.holder === null
      ? 'running'
      : `process ${worker.holder.pid} on ${worker.holder.host} (tranche ${worker.holder.command})`
  })
}

function checkGateways(app: App): Promise<Finding[]> {
  return Promise.all(Array.from(app.config.merchants.values(), (merchant) => checkGateway(app, merchant)))
}

async function checkGateway(app: App, merchant: Merchant): Promise<Finding> {
  let warns = false
  const found = await finding(app, `gateway of ${merchant.name}`, async () => {
    const { says, tls } = await reachGateway(app, merchant)
    if (tls === null) return says
    const told = tlsWords(tls, app.clock.nowMs())
    warns = told.warns
    return `${says}; ${told.says}`
  })
  return { ...found, warns }
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
