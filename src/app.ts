// The composition root: opens the rooms in order, closes them in reverse. The only file that knows everyone.

import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { homedir, hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { actorOf, SYSTEM } from './actor.ts'
import { type Config, loadConfig } from './config/config.ts'
import type { Actor } from './domain/actor.ts'
import { sayAlarm, stoppedBy } from './domain/alarm.ts'
import { maskCardData } from './domain/card-secrets.ts'
import type { Reject } from './domain/draft.ts'
import { Fault } from './domain/fault.ts'
import { guardCell } from './domain/formula-guard.ts'
import type { AccountId, BatchId } from './domain/ids.ts'
import type { CardFinding } from './domain/inbox.ts'
import type { Operation } from './domain/instruction.ts'
import { MERCHANT_DEFAULTS, type Merchant, NO_MERCHANT } from './domain/merchant.ts'
import type { Currency } from './domain/money.ts'
import type { Pages } from './domain/pages.ts'
import type { Finding } from './domain/resolution.ts'
import { Secret } from './domain/secret.ts'
import type { ResultStatus } from './domain/states.ts'
import type { FileRefusal, InstructionFile, Known, Reviewed, SubmitRequest, Submitted } from './domain/submission.ts'
import { type Hidden, openTextScrub } from './domain/text-scrub.ts'
import { looseningIn, type TlsSeen } from './domain/tls.ts'
import { shortUsername } from './domain/username.ts'
import type { Verdict } from './domain/verdict.ts'
import { visible } from './domain/visible.ts'
import type { Held, Holder, Lock as WorkerLock } from './files/lock.ts'
import { NotAFile, openFile } from './files/open-file.ts'
import type { NumbersPassed } from './ingest/cards/evidence.ts'
import type { Format as FormatSaid } from './ingest/format.ts'
import { openLog } from './log.ts'
import type { Clock } from './ports/clock.ts'
import type { FileLedger, LedgerFile } from './ports/ledger/file.ts'
import type { Ledger } from './ports/ledger/ledger.ts'
import type { DueRow, Settled } from './ports/ledger/work.ts'
import type { Log } from './ports/log.ts'
import type { AccountLane } from './processors/execute-slice.ts'
import type { InboxParts, InboxWork } from './processors/work-inbox.ts'
import type { Work } from './processors/work-off.ts'
import type { RedisAddress } from './queues/connection.ts'
import type { ResultsBeside, WrittenRejects } from './results/rejects.ts'
import type { Sandbox } from './sandbox/server.ts'

// Rooms are imported where they are opened: a command that only reads the ledger starts in a fraction of the time.

/** What every command has at hand. */
export interface App {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  /** For the text of an unexpected failure. */
  readonly scrub: (text: string) => string
  readonly actor: Actor
  /** What weakens TLS for the whole process, by name. */
  readonly loosening: readonly string[]
  readonly paths: { readonly ledger: string; readonly submitLock: string; readonly workerLock: string }
}

export interface AppOptions {
  readonly env: NodeJS.ProcessEnv
  readonly as: string | null
  /** Used where the configuration says nothing. */
  readonly logLevel: string
}

export async function openApp({ env, as, logLevel }: AppOptions): Promise<App> {
  return appOf(await loadConfig(env, homedir()), looseningIn(env, process.execArgv), as, logLevel)
}

function appOf(config: Config, loosening: readonly string[], as: string | null, logLevel: string): App {
  const hidden = hiddenIn(config)
  return {
    config,
    clock: systemClock,
    log: openLog({ level: config.logLevel ?? logLevel, hidden }),
    scrub: openTextScrub(hidden),
    loosening,
    actor: actorOf(as, SYSTEM),
    paths: {
      ledger: join(config.dataDir, 'ledger.db'),
      submitLock: join(config.dataDir, 'submit.lock'),
      workerLock: join(config.dataDir, 'worker.lock'),
    },
  }
}

/** What no line of the log and no unexpected failure may hold. A username that is a merchant's name as well is no secret. */
function hiddenIn({ merchants, redisUrl }: Config): Hidden {
  const all = [...merchants.values()]
  const redis = redisUrl === null ? null : URL.parse(redisUrl.reveal())
  const ofRedis = redis === null || redis.password === '' ? [] : [redis.password, decodeURIComponent(redis.password)]
  return {
    secrets: [...all.map(({ password }) => password.reveal()), ...ofRedis],
    usernames: all.map(({ username }) => username).filter((username) => !merchants.has(username)),
  }
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

// ───────────────────────────────────────────────────────────── The record
//
// Three locks. The submit lock: one file is recorded at a time. The worker lock, in the data directory: one process sends.
// The ledger lock: the worker lock, and another beside the witness that keeps out the workers of copies on this machine.

/** Makes the record of the data directory, which nothing else does. `made`: there was none. */
export async function makeRecord(app: App): Promise<{ ledgerId: string; made: boolean }> {
  const { dataDir } = app.config
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new Fault(
      'config',
      `The data directory ${dataDir} cannot be made (${message}). Nothing was sent. Correct TRANCHE_DATA_DIR or its owner.`,
      {
        cause: error,
      },
    )
  }
  assertOwnDirectory(dataDir)
  const { makeLedger } = await import('./ledger/sqlite/ledger.ts')
  return makeLedger({ path: app.paths.ledger, witnessDirs: await witnessDirsOf(app, true) })
}

/** Faults where a person named one that cannot be used. Without a record, none is made for it. */
async function witnessDirsOf(app: App, isRecorded = ledgerExists(app)): Promise<readonly string[]> {
  const { witnessDirs, witnessNamed, dataDir } = app.config
  if (!witnessNamed || (!isRecorded && !witnessDirs.every((dir) => existsSync(dir)))) return witnessDirs
  const { placeIn } = await import('./ledger/sqlite/copies/witness.ts')
  return witnessDirs.map((dir) => placeIn(dir, dataDir))
}

/** Who can write the directory can put another ledger there, or hold its locks, whatever the modes of the files. */
function assertOwnDirectory(dataDir: string): void {
  const mode = statSync(dataDir, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o022) === 0) return
  throw new Fault(
    'config',
    `Other users can write to the data directory ${dataDir} (mode ${(mode & 0o777).toString(8)}), so another record could be put in the place of this one. Nothing was sent. Take that right away (chmod go-w ${dataDir}), or let TRANCHE_DATA_DIR name a directory within it that only this user can write.`,
  )
}

/** The program is not older than this: a clock that says so is wrong. */
const WRITTEN_MS = Date.UTC(2026, 10, 1)

/** A clock that is years late would hide from look-alikes what is recorded now, and date results with lies. Or the fault. */
export function assertClock({ clock }: Pick<App, 'clock'>): void {
  if (clock.nowMs() >= WRITTEN_MS) return
  throw new Fault(
    'config',
    `The clock of this machine says ${new Date(clock.nowMs()).toISOString()}, which is before this program was written. Nothing was recorded and nothing was sent. Set the clock.`,
  )
}

/** The ledger of the data directory. Faults where there is none. */
export async function openRecord(app: App): Promise<FileLedger> {
  assertOwnDirectory(app.config.dataDir)
  assertClock(app)
  const { openLedger } = await import('./ledger/sqlite/ledger.ts')
  const { ledger: path, submitLock: submitLockPath } = app.paths
  return openLedger({ path, submitLockPath, witnessDirs: await witnessDirsOf(app), die: dieOf(app) })
}

/** Faults where there is no ledger: before a large file is read for it. */
export async function assertRecord(app: App): Promise<void> {
  if (ledgerExists(app)) return
  const { noLedgerFault } = await import('./ledger/sqlite/ledger.ts')
  throw noLedgerFault(app.paths.ledger, await witnessDirsOf(app))
}

/** The ledger if there is one, else an empty one in memory: a file can be checked before there is a record. */
export async function openRecordOrNone(app: App): Promise<Ledger> {
  if (ledgerExists(app)) return openRecord(app)
  const { openLedger } = await import('./ledger/sqlite/ledger.ts')
  return openLedger({ path: null, submitLockPath: null, die: dieOf(app) })
}

/** Whether anything outside the data directory remembers the ledger. */
export async function isWitnessed(app: App): Promise<boolean> {
  const { testimoniesOf } = await import('./ledger/sqlite/copies/witness.ts')
  return testimoniesOf(await witnessDirsOf(app), app.paths.ledger).length > 0
}

export function ledgerExists(app: App): boolean {
  return statSync(app.paths.ledger, { throwIfNoEntry: false }) !== undefined
}

function dieOf(app: App): (error: unknown) => never {
  return (error) => {
    app.log.error({ err: error }, 'the ledger cannot be trusted any more')
    const message = app.scrub(error instanceof Error ? error.message : String(error))
    process.stderr.write(
      `${visible(
        error instanceof Fault
          ? message
          : `The ledger failed (${message}). Everything stopped at once; open requests are in doubt at the next start. Check the disk of ${app.config.dataDir}, then run it again.`,
      )}\n`,
    )
    process.exit(1)
  }
}

/** The same error; of a damaged ledger, in words. Whatever reads row by row meets the damage far from where it was opened. */
export async function explainDamage(app: App, error: unknown): Promise<unknown> {
  return (await import('./ledger/sqlite/copies/damage.ts')).explainDamage(app.paths.ledger, error)
}

/** For `doctor`: how the ledger is, page by page. */
export async function inspectLedger(app: App, ledger: LedgerFile, whole: boolean): Promise<string> {
  const seen = await ledger.inspect(whole ? 'any' : 'seconds')
  switch (seen.kind) {
    case 'sound':
      return 'every page can be read'
    case 'not-looked':
      return `its pages were not looked at, because ${(seen.bytes / 1024 ** 3).toFixed(1)} GiB take minutes (tranche doctor --whole)`
    case 'damaged':
      throw (await import('./ledger/sqlite/copies/damage.ts')).damageFault(app.paths.ledger, seen.found)
  }
}

/** The account of a merchant in this ledger; made on first use. */
export function accountOf(ledger: Ledger, merchant: Merchant, clock: Clock): Promise<AccountId> {
  return ledger.account(merchant.name, merchant.url, merchant.username, clock.nowMs())
}

/** The same for ever, whatever the merchant is called: what is derived from it must not change. */
function accountKeyOf(merchant: Merchant): string {
  return createHash('sha256').update(`${merchant.url}\n${merchant.username}`).digest('hex')
}

// ───────────────────────────────────────────────────────────── A file

export interface FileOptions {
  readonly operation: Operation | undefined
  readonly currency: Currency | undefined
  readonly decimal: '.' | ',' | undefined
  readonly runKey: string | undefined
  /** IANA name: where moments without an offset are read. */
  readonly timeZone?: string | undefined
  /** What the columns are, where their names do not say it. */
  readonly map?: readonly { readonly column: string; readonly field: string }[] | undefined
  /** Columns whose numbers only look like card numbers, as a person says. */
  readonly notCards?: readonly string[] | undefined
  /** Of a workbook with several. */
  readonly sheet: string | undefined
}

/** A file that could be surveyed, or why it is refused whole. */
export type OpenedFile =
  | {
      readonly kind: 'file'
      readonly file: InstructionFile
      readonly rows: number
      readonly warnings: readonly string[]
      /** Numbers that look like card numbers and were let pass, by column. */
      readonly numbersPassed: readonly NumbersPassed[]
      /** Columns that were understood under another name than the gateway's. */
      readonly mapped: readonly { readonly written: string; readonly field: string }[]
      /** As the whole file was read; null: no amount of it shows one. */
      readonly decimal: '.' | ',' | null
      /** Which of the carried columns names references; null: none does. */
      readonly referencePlace: number | null
      /** Of a workbook, the sheet that the rows come from; null: it is none. */
      readonly sheet: string | null
      /** Every column that was understood, and those that are only carried through. */
      readonly columns: {
        readonly mapped: readonly { readonly written: string; readonly field: string }[]
        readonly carried: readonly string[]
      }
      /** Columns that speak of an amount beside the one that is read as the amount. */
      readonly rivals: readonly string[]
      /** Columns that the options say are no field: nobody needs to be asked about them. */
      readonly ignored: readonly string[]
      /** Forms of numbers that its columns have shown to be no card numbers. */
      readonly formsPassed: ReadonlySet<string>
      readonly close: () => Promise<void>
    }
  | FileRefusal

export async function openInstructionFile(path: string, merchant: Merchant, options: FileOptions): Promise<OpenedFile> {
  const [{ surveyFile }, { readRows }, { carriedColumns, understoodColumns }] = await Promise.all([
    import('./ingest/inspect-file.ts'),
    import('./ingest/rows.ts'),
    import('./ingest/header.ts'),
  ])
  const said = await parseSaid(options)
  const handle = await openToRead(path)
  const reading = {
    operation: options.operation,
    currency: options.currency ?? merchant.currency ?? undefined,
    decimal: options.decimal ?? merchant.decimal ?? undefined,
    runKey: options.runKey,
    sheet: options.sheet,
    notCards: options.notCards,
    accountKey: accountKeyOf(merchant),
    ...said,
  }
  try {
    const survey = await surveyFile(handle, reading)
    if (survey.kind === 'refused') {
      await handle.close()
      return survey
    }
    return {
      kind: 'file',
      rows: survey.rows,
      warnings: survey.warnings,
      numbersPassed: survey.cards.passed,
      mapped: survey.header.mapped,
      decimal: survey.decimal,
      referencePlace: placeAmong(survey.header.carried, survey.header.fields.reference),
      columns: { mapped: understoodColumns(survey.header), carried: survey.header.unknown },
      rivals: survey.header.rivals,
      ignored: survey.header.ignored,
      sheet: survey.sheet,
      formsPassed: survey.cards.forms,
      close: () => handle.close(),
      file: {
        name: maskCardData(basename(path)),
        sha256: survey.sha256,
        columns: carriedColumns(survey.header),
        fedBack: survey.fedBack,
        notCards: survey.header.notCards.map((place) => survey.header.written[place] as string),
        rows: () => readRows(handle, survey, reading),
      },
    }
  } catch (error) {
    await handle.close().catch(() => {})
    throw error
  }
}

function placeAmong(carried: readonly number[], place: number | undefined): number | null {
  const found = place === undefined ? -1 : carried.indexOf(place)
  return found === -1 ? null : found
}

/** What a person said of columns and moments; what is wrong with it is no fault of the file. */
async function parseSaid({ map, timeZone }: FileOptions) {
  const [{ parseColumnMap }, { isTimeZone }, { isProblem }] = await Promise.all([
    import('./ingest/columns.ts'),
    import('./ingest/fields/instant.ts'),
    import('./domain/problem.ts'),
  ])
  const parsed = parseColumnMap(map ?? [])
  const nothing = 'Nothing was recorded and nothing was sent.'
  if (isProblem(parsed)) throw new Fault('usage', `--map: ${parsed.problem}; ${parsed.remedy}. ${nothing}`)
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new Fault('usage', `--timezone ${timeZone}: write an IANA time zone such as Europe/Berlin. ${nothing}`)
  return { map: parsed, timeZone }
}

/** How files of a merchant are read, as saved under a name in the data directory. */
export async function readFormat(app: App, merchant: string, name: string) {
  const { readFormat: read } = await import('./ingest/format.ts')
  return read(app.config.dataDir, merchant, name)
}

export async function assertFormatName(app: App, merchant: string, name: string): Promise<void> {
  const { assertFormatName: assertName } = await import('./ingest/format.ts')
  assertName(app.config.dataDir, merchant, name)
}

export async function saveFormat(app: App, merchant: string, name: string, format: FormatSaid) {
  const { writeFormat } = await import('./ingest/format.ts')
  return writeFormat(app.config.dataDir, merchant, name, format)
}

export async function reviewFile(file: InstructionFile, request: SubmitRequest, ledger: Ledger): Promise<Reviewed> {
  const { reviewFile: review } = await import('./processors/submit-file.ts')
  return review(file, request, ledger, true)
}

export async function submitFile(
  app: App,
  file: InstructionFile,
  request: SubmitRequest,
  ledger: Ledger,
  onReviewed?: (reviewed: Reviewed) => Promise<void>,
): Promise<Submitted> {
  const { submitFile: submit } = await import('./processors/submit-file.ts')
  return submit(file, request, app.actor, ledger, onReviewed)
}

export async function findKnownBatch(
  file: InstructionFile,
  request: SubmitRequest,
  ledger: Ledger,
): Promise<Known | null> {
  return (await import('./processors/submit-file.ts')).findKnown(file, request, ledger)
}

/** `batchId`: what this file is. */
export async function holdAgainstBatch(
  batchId: BatchId,
  file: InstructionFile,
  request: SubmitRequest,
  ledger: Ledger,
): Promise<Known> {
  return (await import('./processors/submit-file.ts')).holdAgainst(batchId, file, request, ledger)
}

// ───────────────────────────────────────────────────────────── Inbox

export type { OpenedInbox as Inbox } from './inbox/folder.ts'

/** The folder that files are put into. Faults where they could not be taken from there. */
export async function openInboxFolder(app: App, path: string, stableMs: number) {
  const { openInbox } = await import('./inbox/folder.ts')
  return openInbox({ path, stableMs, clock: app.clock })
}

/** The lock that one process at a time holds for an inbox. In the data directory: a share may keep no locks. */
export async function takeInboxLock(app: App, inboxId: string): Promise<WorkerLock | Held> {
  const { takeLock } = await import('./files/lock.ts')
  return takeLock(join(app.config.dataDir, `inbox-${inboxId}.lock`), holderOf(app, 'inbox'), SIMULTANEOUS_START_MS)
}

/**
 * Whether the file may be moved. Where it cannot be read as instructions, its text is looked through as it stands; of a
 * workbook also what is not among its rows.
 */
export async function findCardsIn(path: string, merchant: Merchant, options: FileOptions): Promise<CardFinding> {
  const opened = await openInstructionFile(path, merchant, options)
  if (opened.kind === 'file') await opened.close()
  else if (opened.code === 'card-data') return { kind: 'cards', line: opened.line, column: opened.column }
  const sheet = opened.kind === 'file' ? opened.sheet : null
  if (opened.kind === 'file' && sheet === null) return { kind: 'none' }
  const { findCards, findCardsBeside } = await import('./ingest/cards/scan.ts')
  const handle = await openToRead(path)
  const found =
    sheet === null
      ? findCards(handle)
      : findCardsBeside(handle, sheet, opened.kind === 'file' ? opened.formsPassed : undefined)
  return found.finally(() => handle.close())
}

export async function openInboxWork<F extends object>(parts: InboxParts<F>): Promise<InboxWork> {
  const { openInboxWork: open } = await import('./processors/work-inbox.ts')
  return open(parts)
}

async function openToRead(path: string): Promise<FileHandle> {
  try {
    return await openFile(path)
  } catch (error) {
    throw new Fault('usage', `${whyNotOpened(path, error)} Nothing was recorded and nothing was sent.`, {
      cause: error,
    })
  }
}

function whyNotOpened(path: string, error: unknown): string {
  if (error instanceof NotAFile) return `${error.message}: it is read more than once. Save it first.`
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return `The file ${path} does not exist.`
  return code === 'EACCES'
    ? `The file ${path} may not be read by this user.`
    : `The file ${path} cannot be read (${code}).`
}

// ───────────────────────────────────────────────────────────── Working off

/** What a person watching wants to hear while rows are worked off. */
export interface WorkEvents {
  readonly onSettled?: (row: DueRow, verdict: Verdict, settled: Settled) => void
  /** Once when no work can be handed out, and once with null when it can be again. */
  readonly onTrouble?: (error: unknown) => void
}

export interface WorkOptions extends WorkEvents {
  /** Work off this batch only, and take no messages. */
  readonly only: BatchId | null
}

export type { Held, Holder, Work, WorkerLock }

/** Nothing is being sent yet, so that two starters in the same instant can sort it out. */
const SIMULTANEOUS_START_MS = 100

/** The lock that one worker at a time holds; or who holds it. */
export async function takeWorkerLock(app: App, command: string): Promise<WorkerLock | Held> {
  const { takeLock } = await import('./files/lock.ts')
  return takeLock(app.paths.workerLock, holderOf(app, command), SIMULTANEOUS_START_MS)
}

/** The same for all copies of this ledger on this machine. Faults where another copy is being worked off. */
export async function takeLedgerLock(
  app: App,
  ledger: Ledger,
  command: string,
  mayLockOut: () => Promise<void> = async () => {},
): Promise<WorkerLock | Held> {
  const lock = await takeWorkerLock(app, command)
  if (lock.kind === 'held') return lock
  const copies = await lockOut(app, ledger, command, mayLockOut).catch((error: unknown) => {
    lock.release()
    throw error
  })
  return {
    kind: 'taken',
    release: () => {
      copies.release()
      lock.release()
    },
  }
}

async function lockOut(
  app: App,
  ledger: Ledger,
  command: string,
  mayLockOut: () => Promise<void>,
): Promise<WorkerLock> {
  await mayLockOut()
  const { lockOutCopies } = await import('./ledger/sqlite/copies/witness.ts')
  const copies = lockOutCopies(await witnessDirsOf(app), ledger.ledgerId, holderOf(app, command))
  if (copies.kind === 'held') throw copyAtWork(app.paths.ledger, copies)
  return copies
}

function copyAtWork(path: string, { heldBy }: Held): Fault {
  const who = heldBy === null ? 'another process' : `process ${heldBy.pid} (tranche ${heldBy.command})`
  return new Fault(
    'stopped',
    `A copy of ${path} is being worked off by ${who}: two would send everything twice. Nothing was sent from this one.`,
  )
}

function holderOf(app: App, command: string): Holder {
  const holder = { pid: process.pid, host: hostname(), command, startedAtMs: app.clock.nowMs() }
  return command === 'worker' ? { ...holder, merchants: [...app.config.merchants.keys()] } : holder
}

/**
 * The ledger lock, for a caller that will send. Faults with `stopped` where the ledger may be a copy: before it keeps the
 * one out that may send, and again when nothing can change any more.
 */
export async function takeLockToSend(app: App, ledger: Ledger, command: string): Promise<WorkerLock | Held> {
  const assertNoAlarm = async () => {
    const alarm = await ledger.alarm()
    if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
  }
  const lock = await takeLedgerLock(app, ledger, command, assertNoAlarm)
  if (lock.kind === 'held') return lock
  await assertNoAlarm().catch((error: unknown) => {
    lock.release()
    throw error
  })
  return lock
}

/** Who works at this moment; null: nobody. */
export async function workerNow(app: App): Promise<{ holder: Holder | null } | null> {
  if (!ledgerExists(app)) return null
  const { lockHeld } = await import('./files/lock.ts')
  const held = lockHeld(app.paths.workerLock)
  return held === null ? null : { holder: held.heldBy }
}

/** Whether the process that works sends for that merchant. One that does not say, or does one batch only, is believed to. */
export function sendsFor(holder: Holder | null, merchant: string): boolean {
  return holder?.merchants?.includes(merchant) ?? true
}

/** Redis as configured, or a private one. Only for the holder of the worker lock. */
export async function openRedis(app: App): Promise<{ address: RedisAddress; close: () => Promise<void> }> {
  const { assertReachable } = await import('./queues/connection.ts')
  if (app.config.redisUrl !== null) {
    const address = { url: app.config.redisUrl.reveal() }
    const { evicts } = await assertReachable(address)
    if (evicts)
      app.log.warn(
        {},
        'Redis may evict keys (maxmemory-policy is not noeviction): messages of other services could be lost',
      )
    return { address, close: async () => {} }
  }
  const { openPrivateRedis } = await import('./queues/private-redis.ts')
  const redis = await openPrivateRedis({ dataDir: app.config.dataDir, log: app.log })
  return { address: { path: redis.path }, close: () => redis.close() }
}

/** Starts to work. The caller holds the worker lock and has opened Redis, and closes both after `stop`. */
export async function openWork(app: App, ledger: Ledger, redis: RedisAddress, options: WorkOptions): Promise<Work> {
  const [{ workOff }, { openSlices }] = await Promise.all([
    import('./processors/work-off.ts'),
    import('./queues/slices.ts'),
  ])
  const { config, clock, log } = app
  const register = await openRegister(app, ledger)
  const work = await workOff({
    ledger,
    clock,
    log,
    only: options.only,
    register,
    onTrouble: options.onTrouble,
    doubtRestMs: config.doubtRestMs,
    openRoads: () => openRoads(app, ledger, options.only),
    openDispatch: (concurrency, work) =>
      openSlices({ address: redis, prefix: config.redisPrefix, ledgerId: ledger.ledgerId, log, concurrency, work }),
    openIntake: async (lanes) => (options.only === null ? openIntake(app, ledger, lanes, redis) : null),
    onSettled: (row, verdict, settled) => {
      if (settled.paused !== null) log.warn({ batch: row.batchId, row: row.rowNo }, `paused: ${settled.paused}`)
      log.debug({ batch: row.batchId, row: row.rowNo, attempt: row.attempt + 1, state: settled.state }, verdict.kind)
      options.onSettled?.(row, verdict, settled)
    },
  }).catch((error: unknown) => {
    register?.close()
    throw error
  })
  return { stop: () => work.stop().finally(() => register?.close()) }
}

/** A private Redis lies in the data directory and would be copied with it: only a shared one tells anything. */
async function openRegister({ config }: App, ledger: Ledger) {
  if (config.redisUrl === null) return null
  const { openEpochRegister } = await import('./queues/epoch-register.ts')
  return openEpochRegister({ url: config.redisUrl.reveal() }, config.redisPrefix, ledger.ledgerId)
}

function gatewayOf({ clock }: App, merchant: Merchant) {
  const { ca, clientCert: cert, clientKey: key } = merchant.trust
  const client = cert === null || key === null ? null : { cert, key: key.reveal() }
  return { ...merchant, password: merchant.password.reveal(), trust: { ca, client }, clock }
}

/**
 * Faults where the surroundings weaken TLS for the whole process. Our own connections say what they need and would hold;
 * but someone who makes that setting reads, or means to read, what goes over them.
 */
export function assertTlsHolds({ loosening }: App): void {
  if (loosening.length === 0) return
  throw new Fault(
    'config',
    `${loosening.join(', ')} ${loosening.length === 1 ? 'weakens' : 'weaken'} the encryption or the reading of HTTP of the whole process: the password could be read on its way, or reach a stranger. Nothing was sent. Take it out of the environment and of NODE_OPTIONS. Where the gateway's certificate is of an authority of its own, name that authority's certificate in TRANCHE_GATEWAY_CA_FILE (ca_file in TRANCHE_CONFIG).`,
  )
}

const REPEATED =
  'The gateway repeats our password in its answers. Nothing of it is kept here, and no verdict depends on it. Logs on the way may hold it: have it changed'

interface MerchantLane extends AccountLane {
  readonly merchant: Merchant
}

/** For one batch only its own merchant's: what is wrong with another is no reason to keep this one waiting. */
async function openRoads(app: App, ledger: Ledger, only: BatchId | null): Promise<Map<AccountId, MerchantLane>> {
  const [{ openGateway }, { createLimiter }] = await Promise.all([
    import('./gateway/client.ts'),
    import('./throttle/limiter.ts'),
  ])
  assertTlsHolds(app)
  const lanes = new Map<AccountId, MerchantLane>()
  const wanted = only === null ? null : ((await ledger.batch(only))?.merchant ?? null)
  for (const merchant of app.config.merchants.values()) {
    if (wanted !== null && merchant.name !== wanted) continue
    const { inFlightMax, ratePerSecond, timeoutMs, notExecutedStatus } = merchant
    const limiter = createLimiter({ inFlightMax, ratePerSecond, clock: app.clock })
    const onRepeated = () => app.log.error({ merchant: merchant.name }, REPEATED)
    lanes.set(await accountOf(ledger, merchant, app.clock), {
      gateway: openGateway({ ...gatewayOf(app, merchant), departure: limiter.departure, onRepeated }),
      limiter,
      timeoutMs,
      notExecutedStatus,
      merchant,
    })
  }
  return lanes
}

async function openIntake(
  app: App,
  ledger: Ledger,
  lanes: ReadonlyMap<AccountId, MerchantLane>,
  address: RedisAddress,
) {
  const [{ openIntakeQueue }, { takeMessage }, { parseMessage }] = await Promise.all([
    import('./queues/intake.ts'),
    import('./processors/take-message.ts'),
    import('./ingest/message.ts'),
  ])
  const { config, clock, log } = app
  const accounts = new Map(
    Array.from(lanes, ([accountId, { merchant }]) => [
      merchant.name,
      { accountId, accountKey: accountKeyOf(merchant), lookalikeDays: merchant.lookalikeDays },
    ]),
  )
  const parts = { ledger, clock, log, parse: parseMessage, accountOf: (name: string) => accounts.get(name) ?? null }
  return openIntakeQueue({
    address,
    prefix: config.redisPrefix,
    ledgerId: ledger.ledgerId,
    log,
    take: (jobName, payload, sourceId) => takeMessage(jobName, payload, sourceId, parts),
  })
}

/** For `doctor`: what Redis would be used, or a fault that says what is missing. */
export async function checkRedis(app: App): Promise<string> {
  const { assertReachable, nameOf } = await import('./queues/connection.ts')
  if (app.config.redisUrl === null) {
    const { findRedisServer } = await import('./queues/private-redis.ts')
    return `a private one (${findRedisServer()}), started when there is work`
  }
  const address = { url: app.config.redisUrl.reveal() }
  const { version, evicts } = await assertReachable(address)
  if (evicts)
    throw new Fault(
      'config',
      `Redis at ${nameOf(address)} may evict keys: messages could be lost. Set maxmemory-policy to noeviction.`,
    )
  return `${nameOf(address)}, version ${version}, noeviction`
}

/** For `doctor`: connects, sends nothing. */
export async function reachGateway(app: App, merchant: Merchant): Promise<{ says: string; tls: TlsSeen | null }> {
  assertTlsHolds(app)
  const { openGateway } = await import('./gateway/client.ts')
  const gateway = openGateway(gatewayOf(app, merchant))
  const reached = await gateway.reach().finally(() => gateway.close())
  if (reached.kind === 'not-reached') throw new Fault('unavailable', `${merchant.url}: ${reached.why}`)
  const says = `${merchant.url} accepts connections, to be used as ${shortUsername(merchant.username)} (the credentials are not tested, because every request would move money)`
  return { says, tls: reached.tls }
}

export function hasDataDir(app: App): boolean {
  return statSync(app.config.dataDir, { throwIfNoEntry: false }) !== undefined
}

/** Whether there was one. The caller has made sure that nobody holds the worker lock. */
export async function stopPrivateRedis(app: App): Promise<boolean> {
  const { stopLeftBehind } = await import('./queues/private-redis.ts')
  return stopLeftBehind(app.config.dataDir)
}

// ───────────────────────────────────────────────────────────── Results

export interface ResultsRequest {
  readonly out: string
  readonly inputPath: string | null
  readonly bom: boolean
  /** An extract of the rows that changed since; null or absent: the reconciliation. */
  readonly sinceMs?: number | null
  /** An extract of the rows of these statuses; null or absent: the reconciliation. */
  readonly only?: readonly ResultStatus[] | null
  /** Where the rows that a person must look at go as well; null or absent: nowhere. */
  readonly exceptions?: string | null
}

export async function writeBatchResults(app: App, ledger: Ledger, batchId: BatchId, request: ResultsRequest) {
  const { writeResults } = await import('./results/write.ts')
  await keepEarlierResults(app, ledger, request)
  const reading = await ledger.openReading(batchId, app.clock.nowMs())
  try {
    const sinceMs = request.sinceMs ?? null
    const only = request.only ?? null
    const reasonRules = app.config.merchants.get(reading.batch.merchant)?.reasonRules ?? []
    const written = await writeResults(reading, {
      ...request,
      sinceMs,
      only,
      reasonRules,
      readWorkbook: readWorkbookHead,
    })
    if (sinceMs === null && only === null) await ledger.resultsWritten(batchId, written.path, reading.edition)
    return written
  } finally {
    await reading.close()
  }
}

/** Results of a ledger that may be an older state, written over those of the newer one, would call PENDING what was paid. */
async function keepEarlierResults(app: App, ledger: Ledger, { out, exceptions }: ResultsRequest): Promise<void> {
  const alarm = await ledger.alarm()
  if (alarm === null) return
  const { thereAlready } = await import('./results/out.ts')
  const there = await thereAlready(out, exceptions ?? null)
  if (there === null) return
  throw new Fault(
    'stopped',
    `${sayAlarm(alarm, app.paths.ledger)} ${there} exists and was not written over: it may hold results that this ledger does not know. Keep it, and name another file.`,
  )
}

export async function checkOut(request: {
  isKnown?: (batchId: string) => Promise<boolean>
  out: string
  inputPath: string | null
  batchId: BatchId | null
  sandbox: boolean
  exceptions?: string | null
}) {
  const { checkOut: check } = await import('./results/out.ts')
  return check({ ...request, readWorkbook: readWorkbookHead })
}

/** Faults where so many rows do not fit the form that one of the files would have. Asked before anything is sent. */
export async function checkRoom(
  paths: readonly (string | null | undefined)[],
  rows: number,
  columns: number,
): Promise<void> {
  const [{ formatOf }, { assertFitsWorkbook }] = await Promise.all([
    import('./results/formats.ts'),
    import('./results/workbook-file.ts'),
  ])
  if (paths.some((path) => typeof path === 'string' && formatOf(path) === 'xlsx')) assertFitsWorkbook(rows, columns)
}

async function readWorkbookHead(path: string, count: number) {
  const { firstRecords } = await import('./ingest/workbook/workbook.ts')
  const handle = await openToRead(path)
  try {
    return await firstRecords(handle, count)
  } finally {
    await handle.close()
  }
}

/** Where rejects may go, or a fault that says why not. `results`: where this run writes its results. */
export async function checkRejects(named: string, inputPath: string, results: ResultsBeside | null): Promise<string> {
  return (await import('./results/rejects.ts')).checkRejects(named, inputPath, results)
}

/** The rows that cannot be sent as written, or why there are none to be told apart. `path` as `checkRejects` answered. */
export async function writeRejects(
  path: string,
  what:
    | {
        readonly opened: OpenedFile & { readonly kind: 'file' }
        readonly runKey: string | null
        readonly rejects: Pages<Reject>
      }
    | (OpenedFile & { readonly kind: 'refused' }),
): Promise<WrittenRejects> {
  const rejects = await import('./results/rejects.ts')
  if (!('opened' in what)) return rejects.writeWholeReject(path, what)
  const { file, referencePlace } = what.opened
  const { columns, fedBack } = file
  return rejects.writeRejects(path, { columns, fedBack, referencePlace, runKey: what.runKey, rejects: what.rejects })
}

export type { ResultsBeside, WrittenRejects }

/** CSV as the results are written: guarded, quoted, CRLF. */
export async function toCsv(columns: readonly string[], records: readonly (readonly string[])[]): Promise<string> {
  const [{ stringify }, { CSV }] = await Promise.all([import('csv-stringify/sync'), import('./results/formats.ts')])
  return stringify([columns, ...records.map((record) => record.map(guardCell))], CSV)
}

// ───────────────────────────────────────────────────────────── Doubts

export async function worklistColumns(): Promise<readonly string[]> {
  return (await import('./ingest/worklist.ts')).WORKLIST_COLUMNS
}

/** A worklist of doubts that a person has filled in. `reason` stands in for lines without one. */
export async function readWorklistFile(path: string, reason: string | null) {
  const { readWorklist } = await import('./ingest/worklist.ts')
  const handle = await openToRead(path)
  try {
    return await readWorklist(handle, reason)
  } finally {
    await handle.close()
  }
}

/** A moment with its offset as epoch milliseconds; null: it is none. */
export async function momentOf(text: string): Promise<number | null> {
  const moment = (await import('./ingest/fields/instant.ts')).parseMoment(text.trim())
  return typeof moment === 'number' ? moment : null
}

export async function transactionIdProblem(text: string, finding: Finding) {
  return (await import('./ingest/worklist.ts')).transactionIdProblem(text, finding)
}

// ───────────────────────────────────────────────────────────── Sandbox

/** The sandbox gateway as a server of its own. */
export async function sandboxRoom() {
  const [{ openSandbox }, { triggerLines }] = await Promise.all([
    import('./sandbox/server.ts'),
    import('./sandbox/faults.ts'),
  ])
  return { openSandbox, triggerLines }
}

/** An app of its own on a throw-away ledger and a private sandbox: nothing of it touches the real ones. */
export interface Rehearsal {
  readonly app: App
  readonly merchant: Merchant
  readonly sandbox: Sandbox
  close(): Promise<void>
}

const REHEARSAL = 'tranche-sandbox-'
/** One that was killed before it took its lock stays so long. */
const REHEARSAL_STARTS_WITHIN_MS = 600_000

/** Removes what rehearsals of this user left behind when they were killed: no process holds their lock. */
async function sweepRehearsals(): Promise<void> {
  const { lockHeld } = await import('./files/lock.ts')
  for (const name of readdirSync(tmpdir()).filter((found) => found.startsWith(REHEARSAL))) {
    const path = join(tmpdir(), name)
    try {
      const stat = lstatSync(path)
      const isOwn = stat.isDirectory() && stat.uid === process.getuid?.()
      if (!isOwn || Date.now() - stat.mtimeMs < REHEARSAL_STARTS_WITHIN_MS) continue
      if (lockHeld(join(path, 'worker.lock')) === null) rmSync(path, { recursive: true, force: true })
    } catch {} // another start is removing it
  }
}

const SANDBOX_USER = { username: 'sandbox', password: 'sandbox' }

/** `like`: the merchant that is rehearsed; undefined: none is configured by that name. */
export async function openRehearsal(
  app: App,
  like: Merchant | undefined,
  as: string | null,
  logLevel: string,
): Promise<Rehearsal> {
  const { openSandbox } = await import('./sandbox/server.ts')
  const sandbox = await openSandbox({ ...SANDBOX_USER, clock: () => Date.now(), triggers: true })
  await sweepRehearsals()
  const dataDir = mkdtempSync(join(tmpdir(), REHEARSAL))
  const configured = like ?? [...app.config.merchants.values()][0] ?? NO_MERCHANT
  const merchant: Merchant = {
    ...configured,
    name: 'sandbox',
    url: sandbox.url,
    username: SANDBOX_USER.username,
    password: new Secret(SANDBOX_USER.password),
    ownAccount: true,
    trust: MERCHANT_DEFAULTS.trust,
    timeoutMs: Math.min(configured.timeoutMs, 10_000),
    connections: 'fresh',
    notExecutedStatus: [],
  }
  const config = {
    ...app.config,
    dataDir,
    witnessDirs: [],
    witnessNamed: false,
    merchants: new Map([[merchant.name, merchant]]),
  }
  // Its gateway is in this process, over plain HTTP.
  const rehearsing = appOf(config, [], as, logLevel)
  await makeRecord(rehearsing)
  return {
    app: rehearsing,
    merchant,
    sandbox,
    async close() {
      await sandbox.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Makes the sandbox hold what the instructions of a file need in order to be approved. */
export async function prepareSandbox(sandbox: Sandbox, file: InstructionFile): Promise<void> {
  const { prepareFor } = await import('./sandbox/prepare.ts')
  const instructions = []
  for await (const rows of file.rows()) {
    for (const { instruction } of rows) if (instruction !== null) instructions.push(instruction)
  }
  sandbox.prepare(prepareFor(instructions))
}
