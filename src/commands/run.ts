// tranche run FILE --out RESULTS: submits, works it off in this process, writes the results. Run again, it resumes.

import { sendingAccountOf } from '../app/accounts.ts'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { type OpenedFile, openInstructionFile } from '../app/instruction-file.ts'
import { assertLedger, openLedger } from '../app/ledger.ts'
import { sendsFor, settledAhead, workersNow } from '../app/locks.ts'
import { type OwnCards, prepareOwnCards } from '../app/own-cards.ts'
import { type Followed, type Following, followBatch, type OwnWork, openOwnWork } from '../app/own-work.ts'
import { openRehearsal } from '../app/rehearsal.ts'
import { checkOut, checkRoom, writeBatchResults } from '../app/results.ts'
import { prepareSandbox } from '../app/sandbox.ts'
import { prepareSubmission, type Submission } from '../app/submission.ts'
import { topReasonsOf } from '../app/top-reasons.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { isOver } from '../domain/batch-status.ts'
import { Fault, withoutNothingSent } from '../domain/fault.ts'
import { REDIS_UNUSABLE } from '../domain/health.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import { metAgain, type Reviewed, type SubmitRequest } from '../domain/submission.ts'
import { serviceOf, workerFor } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { errorText } from '../present/command-line.ts'
import { recordedBeforeLines } from '../present/correction.ts'
import { EXIT, exitCodeOf } from '../present/exit-codes.ts'
import { startWarnings } from '../present/exposed.ts'
import { lookalikeLine } from '../present/lookalikes.ts'
import { endingLines, outcomeLines, toJsonOutcome } from '../present/outcome.ts'
import { columnLines, noteLines } from '../present/review.ts'
import { workerLines } from '../present/workers.ts'
import { check, refuseWhole } from './check.ts'
import { parseDurationMs, parseGiveUpAfter } from './durations.ts'
import {
  type FileArguments,
  type FileRequest,
  parseFileArguments,
  rehearsedMerchant,
  requestFor,
  withFormat,
} from './file-arguments.ts'
import { drawing, logEnding, viewOf } from './follow.ts'
import { goOnWith, sameText } from './known-batch.ts'
import { confirmNew, confirmRest } from './last-look.ts'
import { noteRefusedCards, noteRejects, noteResults } from './note.ts'
import { openRejects, type Rejects } from './rejects.ts'
import { reportRequest } from './report.ts'
import { openResultsTarget, type ResultsTarget, refuseStdin, resultsBeside } from './results-target.ts'
import { assertNoWorker, changedFault, standText, withoutResults } from './run-faults.ts'
import { atSignal, type Sends, sayInterrupted } from './run-interrupted.ts'
import { openInterruption } from './signals.ts'
import { refuse, sayWait } from './submit.ts'
import type { Terminal } from './terminal.ts'

export interface RunArguments extends FileArguments {
  readonly out?: string
  readonly bom?: boolean
  readonly exceptions?: string
  readonly report?: string
  readonly sandbox?: boolean
  readonly dryRun?: boolean
  readonly giveUpAfter?: string
  readonly waitApproval?: string
}

/** How long it waits: null, for ever. */
type Patience = Pick<Following, 'giveUpAfter' | 'waitForApprovalMs'>

/** With the file that its results go to. */
type RunGiven = RunArguments & Pick<ResultsTarget, 'out' | 'isStdout' | 'deliver'>

export async function run(app: App, path: string, asked: RunArguments, terminal: Terminal): Promise<number> {
  refuseStdin(path, asked.vault === undefined ? 'run' : `vault ${asked.vault}`)
  if (asked.dryRun === true) return check(app, path, asked, terminal)
  const target = await openResultsTarget({ ...asked, out: asked.out ?? resultsBeside(path) }, terminal)
  const { out, isStdout, deliver } = target
  return runTo(app, path, { ...asked, out, isStdout, deliver }, target.terminal).finally(target.close)
}

async function runTo(app: App, path: string, asked: RunGiven, terminal: Terminal): Promise<number> {
  const given = await withFormat(app, asked)
  const { giveUpAfter, waitApproval } = given
  const patience: Patience = {
    giveUpAfter: parseGiveUpAfter(giveUpAfter, terminal),
    waitForApprovalMs: waitApproval === undefined ? 0 : parseDurationMs(waitApproval, '--wait-approval'),
  }
  if (given.sandbox !== true) {
    for (const text of startWarnings(app.config)) terminal.say(`WARNING: ${text}`)
    return runOn(app, path, given, patience, parseFileArguments(app, given, 'taken'), terminal, false)
  }
  const rehearsal = await openRehearsal(app, rehearsedMerchant(app, given))
  try {
    terminal.say('SANDBOX: a private gateway and a throw-away ledger; no money moves and nothing is remembered.')
    const request = requestFor(rehearsal.app, rehearsal.merchant, given, 'taken')
    const opened = await openInstructionFile(path, request.merchant, request.options)
    if (opened.kind === 'refused')
      return refuseWhole(opened, path, await openRejects(given, path, besideOf(given, true)), terminal)
    await prepareSandbox(rehearsal.sandbox, opened.file).finally(opened.close)
    return await runOn(rehearsal.app, path, given, patience, request, terminal, true)
  } finally {
    await rehearsal.close()
  }
}

async function runOn(
  app: App,
  path: string,
  given: RunGiven,
  patience: Patience,
  request: FileRequest,
  terminal: Terminal,
  sandbox: boolean,
): Promise<number> {
  await assertLedger(app)
  const rejects = await openRejects(given, path, besideOf(given, sandbox))
  const opened = await openInstructionFile(path, request.merchant, request.options)
  if (opened.kind === 'refused') {
    await noteRefusedCards(app, 'run', path, opened, terminal)
    return refuseWhole(opened, path, rejects, terminal)
  }
  const ledger = await openLedger(app)
  const sends: Sends = { batchId: null, held: null, isNew: false, wasOver: false, begun: false }
  const interruption = openInterruption(terminal, () => atSignal(app, ledger, sends))
  const own = openOwnWork(app, ledger, {
    onTrouble: (error) => terminal.say(troubleText(error)),
    onRedisAway: (error) => terminal.say(redisAwayText(error)),
  })
  const cards = prepareOwnCards(opened.openCards)
  const signal = AbortSignal.any([interruption.signal, cards.changed])
  const run: Run = { app, ledger, own, cards, sends, signal, terminal }
  try {
    // JavaScript cannot wipe a string. A heap that stays small overwrites it sooner, and is the same for any number of rows.
    if (cards.isNeeded) app.io.keepHeapSmall()
    await assertPolicyAgreed(app, ledger)
    const toSubmit = request.toSubmit(await sendingAccountOf(app, ledger, request.merchant, terminal.say), sandbox)
    const { out, exceptions = null, report = null, isStdout } = given
    const results = { out, inputPath: path, bom: given.bom ?? false, exceptions, report, isPassedOn: isStdout }
    await checkRoom([given.out, given.exceptions], opened.rows, opened.file.columns.length)
    const batchId = await batchOf(run, {
      ...{ merchant: request.merchant, yes: sandbox || given.yes === true },
      ...{ opened, request: toSubmit, path, rejects, results: { ...results, sandbox } },
    })
    if (batchId === null) return EXIT.refused
    rejects.say(terminal)
    terminal.object({ event: 'submitted', batch: batchId })
    const followed = await workOff(run, batchId, patience)
    if (cards.changed.aborted) throw await changedFault(app, ledger, batchId)
    if (followed === null) return sayInterrupted(await viewOf(ledger, batchId), sends, sandbox, terminal)
    const page = reportRequest(app, ledger, report)
    const written = await writeBatchResults(app, ledger, batchId, { ...results, report: page }).catch(
      (error: unknown) => {
        throw withoutResults(error, batchId)
      },
    )
    await noteResults(app, ledger, batchId, { ...written, isPassedOn: isStdout }, terminal)
    const { ending } = followed
    const batch = sends.wasOver ? metAgain(followed.batch, toSubmit) : followed.batch
    await logEnding(app, ledger, batch)
    const tops = await topReasonsOf(app, ledger, batch)
    await own.close() // a slow reader must keep nobody from working
    await given.deliver(written.path, batchId)
    terminal.data(...outcomeLines(batch, written, tops, isStdout))
    terminal.object({ event: 'result', ...toJsonOutcome(batch, ending, written, tops) })
    terminal.say(...endingLines(batch, ending))
    return exitCodeOf(batch, ending)
  } finally {
    await own.close()
    await cards.close()
    interruption.close()
    await opened.close()
    await ledger.close()
  }
}

/** One run, from where its file was opened. */
interface Run {
  readonly app: App
  readonly ledger: Ledger
  readonly own: OwnWork
  readonly cards: OwnCards
  readonly sends: Sends
  readonly signal: AbortSignal
  readonly terminal: Terminal
}

interface Asked {
  readonly merchant: Merchant
  readonly yes: boolean
  readonly opened: OpenedFile & { readonly kind: 'file' }
  readonly request: SubmitRequest
  readonly path: string
  readonly rejects: Rejects
  readonly results: Omit<Parameters<typeof checkOut>[0], 'batchId'>
}

/** The batch of this file: the one that it is already, or a new one. null: it is refused, and it has been said why. */
async function batchOf(run: Run, asked: Asked): Promise<BatchId | null> {
  const { ledger, sends, terminal } = run
  const { opened, request, path, rejects, results } = asked
  const submission = await prepareSubmission(ledger)
  const same = await submission.findSame(opened.file, request, (batch) => checkOut({ ...results, ...batch }))
  const known = same === null ? null : goOnWith(same, request, path, rejects, terminal)
  if (same !== null && known === null) return null
  if (run.cards.isNeeded) await assertNoWorker(run.app, run.ledger, path)
  terminal.say(...noteLines(opened))
  terminal.note(...columnLines(opened))
  const found = known === null ? await record(run, submission, asked) : await goOn(run, known, asked)
  sends.batchId = found?.batchId ?? null
  sends.isNew = found?.isNew ?? false
  return sends.batchId
}

interface Found {
  readonly batchId: BatchId
  /** It was no batch before, nor has another process recorded it meanwhile. */
  readonly isNew: boolean
}

async function goOn(run: Run, known: BatchId, asked: Asked): Promise<Found> {
  const { app, ledger, signal, terminal } = run
  const batch = await viewOf(ledger, known)
  run.sends.wasOver = isOver(batch)
  terminal.say(sameText(batch))
  const worker = workerFor(await workersNow(app, ledger), batch)
  // It may take over from another later: who is not asked now is asked no more.
  if (worker === undefined || serviceOf(worker, batch) !== 'served')
    await confirmRest(batch, { ...asked, accountId: asked.request.accountId, ledger, signal, terminal })
  await takeUp(run, known)
  return { batchId: known, isNew: false }
}

/** Once it is answered: who is asked must keep nobody from working. And before anything is recorded. */
async function takeUp(run: Run, known: BatchId | null): Promise<void> {
  run.sends.held = await run.own.tryToOpen().catch(async (error: unknown) => {
    throw known === null ? error : await brokenOff(run, known, error)
  })
}

function besideOf({ out, exceptions, report }: RunGiven, sandbox: boolean) {
  return { out, exceptions: exceptions ?? null, report: report ?? null, sandbox }
}

/**
 * What a fault means for a batch that is recorded. Its claim that nothing was sent stays where that is true: the batch is new and
 * nothing has worked on it. Where something has, the run has stopped half-way.
 */
async function brokenOff({ app, ledger, own, sends }: Run, batchId: BatchId, error: unknown): Promise<unknown> {
  if (!(error instanceof Fault)) return error
  await own.close().catch(() => {}) // or our own lock would pass for a worker
  const stands = await standText(app, ledger, batchId).catch(() => `Batch ${batchId} is recorded.`)
  const isOfDisk = error.code === 'full' || error.code === 'storage'
  const code = sends.begun && !isOfDisk ? 'stopped' : error.code
  const said = sends.isNew && !sends.begun ? errorText(error) : withoutNothingSent(errorText(error))
  return new Fault(code, `${said} ${stands}`, { cause: error })
}

/** null: refused. */
async function record(run: Run, submission: Submission, asked: Asked): Promise<Found | null> {
  const { app, ledger, signal, terminal } = run
  const { opened, request, path, rejects, merchant, yes } = asked
  let wasShown = false
  const onReviewed = async (reviewed: Reviewed) => {
    await rejects.write(opened, reviewed)
    await noteRejects(app, ledger, rejects, path, terminal)
    if (reviewed.refusals.length > 0) return
    wasShown = await confirmNew(reviewed.review, {
      accountId: request.accountId,
      ledger,
      merchant,
      terminal,
      yes,
      signal,
    })
    await takeUp(run, null)
  }
  const submitting = { onReviewed, signal, onWait: sayWait(terminal) }
  const submitted = await submission.submit(opened.file, request, app.actor, submitting)
  switch (submitted.kind) {
    case 'refused':
      await refuse(submitted.reviewed, path, rejects, terminal)
      return null
    case 'recorded':
      if (!wasShown) terminal.say(...recordedBeforeLines(submitted.review))
      terminal.say(...submitted.lookalikes.map(lookalikeLine))
      if (!request.sandbox) terminal.note(`Recorded as batch ${submitted.batchId}.`)
      return { batchId: submitted.batchId, isNew: true }
    default: {
      const known = goOnWith(submitted, request, path, rejects, terminal)
      return known === null ? null : goOn(run, known, asked)
    }
  }
}

async function workOff(run: Run, batchId: BatchId, patience: Patience): Promise<Followed | null> {
  const { app, ledger, own, cards, sends, signal, terminal } = run
  const isServed = (batch: BatchView) => sends.held === null || sendsFor(sends.held.heldBy, batch)
  // Another process that works may end before the batch does: then it is ours.
  const step = async () => {
    sends.begun ||= sends.held !== null
    sends.held = await own.tryToOpen()
    if (sends.held === null) await own.start(batchId, await cards.open(batchId))
    sends.begun = true
    return sends.held === null
  }
  try {
    const alone = await step()
    if (!alone && isServed(await viewOf(ledger, batchId))) terminal.say(...(await followingLines(run, batchId)))
    const until = {
      signal,
      ...patience,
      settledAhead: () => settledAhead(app, ledger),
      trouble: () => troubleOf(app, ledger),
    }
    const followed = await drawing(app, terminal, ledger, (onLook) =>
      followBatch(batchId, { ...until, ledger, clock: app.clock, step, isServed, onLook }),
    )
    await own.stopWork()
    // Answers that came while work was stopping belong in the results.
    return followed === null ? null : { ...followed, batch: await viewOf(ledger, batchId) }
  } catch (error) {
    throw await brokenOff(run, batchId, error)
  }
}

async function troubleOf(app: App, ledger: Ledger): Promise<string | null> {
  return (await workersNow(app, ledger)).some(({ state }) => state === 'without-redis') ? REDIS_UNUSABLE : null
}

/** A run shows no log: without this it would stand still and unexplained. */
export function troubleText(error: unknown): string {
  if (error === null) return 'Work is handed out again.'
  const message = withoutNothingSent(errorText(error)).replace(/\.$/, '')
  return `No work can be handed out (${message}). What was sent is recorded, the rest stays due. It goes on by itself as soon as it can; Ctrl-C ends it, and the same command resumes it.`
}

/** The batch goes on all the same. */
function redisAwayText(error: unknown): string {
  if (error === null) return 'Redis can be used again.'
  return `Redis cannot be used (${errorText(error)}). What was sent is recorded, and nothing is sent twice. If it is away for more than 5 s, this process takes its rows from the ledger itself; it goes back to Redis when Redis answers. Nothing has to be done for this batch.`
}

/** What works on the batch in the place of this process, and who does. */
async function followingLines({ app, ledger, sends }: Run, batchId: BatchId): Promise<string[]> {
  const workers = (await workersNow(app, ledger)).filter(({ isLost }) => !isLost)
  if (sends.held?.heldBy?.command !== 'run')
    return [`A worker is running and does this batch too. Following batch ${batchId}.`, ...workerLines(workers)]
  const other = workers.find(({ command }) => command === 'run')
  const where = workerLines(other === undefined ? [] : [other])
  if (other?.batchId === batchId)
    return [`Another run is working on this batch already. Following batch ${batchId}.`, ...where]
  const begins = other?.batchId == null ? '; where that run is not working on it, it' : ' and'
  return [
    `Another run is working on this ledger. Batch ${batchId} is recorded${begins} begins when that one ends.`,
    ...where,
  ]
}
