// tranche inbox DIR: takes the files that are put into a folder, and puts the results beside them. It sends nothing itself.

import { resolve } from 'node:path'
import { sendingAccountOf } from '../app/accounts.ts'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { handingIn, type InboxFolder, prepareInboxFolder, prepareInboxWork } from '../app/inbox.ts'
import { type OpenedFile, openInstructionFile } from '../app/instruction-file.ts'
import { takeInboxLock, workersNow } from '../app/locks.ts'
import { writeRejects } from '../app/rejects.ts'
import { writeBatchResults } from '../app/results.ts'
import { prepareSubmission } from '../app/submission.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { isPaused, notSent, standingOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { InboxEvent } from '../domain/inbox.ts'
import { serviceOf, workerFor } from '../domain/worker.ts'
import type { Lock } from '../files/lock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { askingWords, commandText, readingWords } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import {
  changedReport,
  eventText,
  exitCodeOfEvents,
  failedReport,
  leftReport,
  nameText,
  recordedReport,
  refusedReport,
  toJsonEvent,
  unreadableReport,
} from '../present/inbox.ts'
import { recordedForAnotherFault, recordedOtherwiseFault } from '../present/interpretation.ts'
import { whyText } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { parseDurationMs } from './durations.ts'
import { type FileArguments, type FileRequest, parseFileArguments, withFormat } from './file-arguments.ts'
import { otherwiseFault } from './known-batch.ts'
import { noteCardsInInbox, noteExport, noteResults } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { finishing, openInterruption } from './signals.ts'
import { sayWait } from './submit.ts'
import type { Terminal } from './terminal.ts'

export interface InboxArguments extends FileArguments {
  readonly once?: boolean
  readonly stableFor?: string
  readonly bom?: boolean
}

/** Network shares do not announce changes, so the folder is polled. */
const LOOK_EVERY_MS = 2_000
const STABLE_FOR = '10s'

export async function inbox(app: App, dir: string, given: InboxArguments, terminal: Terminal): Promise<number> {
  refuseForOneFile(given)
  const request = parseFileArguments(app, await withFormat(app, given))
  const stableMs = parseDurationMs(given.stableFor ?? STABLE_FOR, '--stable-for')
  const folder = await prepareInboxFolder(app, dir, stableMs)
  for (const path of folder.made) terminal.say(`A new folder was made: ${path}`)
  const ledger = await openLedgerAloud(app, terminal)
  const interruption = openInterruption(terminal, () => finishing('the file in hand is brought to its end'))
  try {
    await assertPolicyAgreed(app, ledger)
    const inboxId = await folder.bind(ledger.ledgerId)
    await ledger.keepInbox(resolve(dir))
    const { signal } = interruption
    const lock = await takeLock(app, inboxId, given.once === true, signal, terminal)
    if (lock === null) return end(terminal, given.once === true, [])
    try {
      const options = { ...given, stableMs, submitCommand: submitCommandOf(given) }
      return await work(app, ledger, folder, request, options, signal, terminal)
    } finally {
      lock.release()
    }
  } finally {
    interruption.close()
    await ledger.close()
  }
}

const FOR_ONE_FILE = {
  '--run-key': 'runKey',
  '--expect-count': 'expectCount',
  '--expect-total': 'expectTotal',
  '--allow-hidden': 'allowHidden',
  '--allow-lookalikes': 'allowLookalikes',
  '--allow-execute-at': 'allowExecuteAt',
  '--allow-above-limit': 'allowAboveLimit',
  '--retry': 'retry',
  '--category': 'category',
  '--rejects': 'rejects',
} as const satisfies Record<string, keyof FileArguments>

/** What is said of one file must not be taken for said of each that comes. */
function refuseForOneFile(given: InboxArguments): void {
  for (const [option, name] of Object.entries(FOR_ONE_FILE)) {
    if (given[name] === undefined) continue
    throw new Fault(
      'usage',
      `${option} is meant for one file, and an inbox takes many: hand that file in with tranche submit. Nothing was taken and nothing was sent.`,
    )
  }
}

/** null: asked to end while another process had it. */
async function takeLock(
  app: App,
  inboxId: string,
  once: boolean,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<Lock | null> {
  for (let said = false; !signal.aborted; await app.clock.sleep(LOOK_EVERY_MS, signal)) {
    const lock = await takeInboxLock(app, inboxId)
    if (lock.kind === 'taken') return lock
    const who = lock.heldBy === null ? 'Another process' : `Process ${lock.heldBy.pid} on ${lock.heldBy.host}`
    if (once)
      throw new Fault(
        'stopped',
        `${who} takes the files of this inbox already. Nothing was taken here; it takes them, or run this again when it has ended.`,
      )
    if (!said) {
      terminal.say(`${who} takes the files of this inbox. This one waits, and takes over when that one ends.`)
      terminal.object({ event: 'waiting', holder: lock.heldBy })
    }
    said = true
  }
  return null
}

/** As the inbox was started, and not what its format says besides. */
function submitCommandOf(given: FileArguments): (path: string) => string {
  return (path) => commandText('submit', path, ...readingWords(given), ...askingWords(given))
}

interface WorkOptions {
  readonly once?: boolean
  readonly bom?: boolean
  readonly stableMs: number
  readonly submitCommand: (path: string) => string
}

async function work(
  app: App,
  ledger: Ledger,
  folder: InboxFolder,
  request: FileRequest,
  options: WorkOptions,
  signal: AbortSignal,
  terminal: Terminal,
): Promise<number> {
  const { once = false, stableMs } = options
  const events: InboxEvent[] = []
  const worker = createWorkerNote(app, ledger, request.merchant.name, terminal)
  const inboxWork = await createInboxWork(app, ledger, folder, request, options, terminal, (event) => {
    if (once) events.push(event)
    terminal.say(eventText(event))
    terminal.object(toJsonEvent(event))
  })
  terminal.say(
    once
      ? `Looking through the inbox ${folder.path}.`
      : `Taking files from the inbox ${folder.path}; results come into ${folder.path}/results. Ctrl-C or SIGTERM ends it.`,
  )
  terminal.object({ event: 'watching', inbox: folder.path, ledger: app.paths.ledger })
  let { growing } = await inboxWork.pass(signal)
  await worker.note()
  if (once && growing.length > 0 && stableMs > 0) {
    terminal.say(
      `${plural(growing.length, 'entry', 'entries')} may still be incomplete (changed within the last ${stableMs / 1000} s); checking again in ${stableMs / 1000} s.`,
    )
    await app.clock.sleep(stableMs + 1, signal)
    if (!signal.aborted) growing = (await inboxWork.pass(signal)).growing
    await worker.note()
  }
  while (!once && !signal.aborted) {
    await app.clock.sleep(LOOK_EVERY_MS, signal)
    if (!signal.aborted) await inboxWork.pass(signal)
    await worker.note()
  }
  if (once && growing.length > 0)
    terminal.say(`${plural(growing.length, 'file is', 'files are')} still being written and left for the next time.`)
  if (once) for (const line of heldLines(await ledger.batches('open'), app.clock.nowMs())) terminal.say(line)
  return end(terminal, once, events, signal)
}

async function createInboxWork(
  app: App,
  ledger: Ledger,
  folder: InboxFolder,
  request: FileRequest,
  { bom = false, submitCommand }: WorkOptions,
  terminal: Terminal,
  tell: (event: InboxEvent) => void,
): ReturnType<typeof prepareInboxWork> {
  const { merchant } = request
  const accountId = await sendingAccountOf(app, ledger, merchant, terminal.say)
  const toSubmit = () => request.toSubmit(accountId, false)
  const { fingerprint, lookalikeDays } = toSubmit()
  const submission = await prepareSubmission(ledger)
  return prepareInboxWork<OpenedFile & { readonly kind: 'file' }>(app, ledger, {
    ...{ folder, accountId, fingerprint, lookalikeDays, merchant, options: request.options },
    open: async (path, name) => {
      const opened = await openInstructionFile(path, merchant, { ...request.options, nowMs: app.clock.nowMs() })
      return opened.kind === 'file' ? { ...opened, file: { ...opened.file, name: nameText(name) } } : opened
    },
    writeRejects: async (opened, { draft }, path) => {
      const { rows } = await writeRejects(path, { opened, runKey: null, rejects: draft.rejects() })
      await noteExport(app, ledger, { kind: 'rejects', file: path, rows, of: opened.file.name }, terminal)
    },
    cardsFound: (path, place) => noteCardsInInbox(app, ledger, { inbox: folder.path, path, ...place }, terminal),
    submit: async (file, path) =>
      submission.submit(file, toSubmit(), await handingIn(app, path), { onWait: sayWait(terminal) }),
    holdAgainst: (batchId, file) => submission.holdAgainst(batchId, file, toSubmit()),
    writeResults: async (batchId, out) => {
      const written = await writeBatchResults(app, ledger, batchId, { out, inputPath: null, bom })
      await noteResults(app, ledger, batchId, written, terminal)
      return written
    },
    refusals: {
      otherwise: (known) => otherwiseFault(known, toSubmit()),
      recordedOtherwise: (batch) => recordedOtherwiseFault(batch, fingerprint),
      recordedForAnother: recordedForAnotherFault,
    },
    reports: {
      ...{ recorded: recordedReport, unreadable: unreadableReport },
      refused: (name, opened, reviewed, { path, rejects }) =>
        refusedReport(name, opened, reviewed, { rejects, submitCommand: submitCommand(path) }),
      ...{ failed: failedReport, left: leftReport, changed: changedReport },
    },
    tell,
  })
}

/** One pass shows nothing of a worker: without this a batch would stand still, and its results stay out, unexplained. */
function heldLines(batches: readonly BatchView[], nowMs: number): string[] {
  return batches.flatMap((batch) => {
    const { state, why } = standingOf(batch, nowMs, true)
    if (state !== 'paused' && state !== 'stopped') return []
    const name = nameText(batch.fileName ?? 'messages')
    return [
      `Batch ${batch.batchId} (${name}) is ${state}, so its results do not come: ${whyText(why) ?? ''}. See: tranche status ${batch.batchId}`,
    ]
  })
}

/** A service that is asked to stop has done its work; one pass that is broken off has not. */
function end(terminal: Terminal, once: boolean, events: readonly InboxEvent[], signal?: AbortSignal): number {
  const stopped = signal?.aborted ?? true
  const found = exitCodeOfEvents(events)
  const exit = !once
    ? EXIT.approved
    : stopped && !([EXIT.failure, EXIT.usage, EXIT.unavailable, EXIT.refused] as number[]).includes(found)
      ? EXIT.interrupted
      : found
  if (stopped) terminal.say('Stopped. No file is half taken: the next start finishes what was begun.')
  terminal.object({ event: 'result', exit })
  return exit
}

/** Says once that batches wait and no worker sends them. */
function createWorkerNote(app: App, ledger: Ledger, merchant: string, terminal: Terminal): { note(): Promise<void> } {
  let said = false
  return {
    async note() {
      const batch = { batchId: null, merchant }
      const worker = workerFor(await workersNow(app, ledger), batch)
      const service = worker === undefined ? null : serviceOf(worker, batch)
      if (service === 'served') {
        said = false
        return
      }
      if (said || !(await ledger.batches('open')).some((batch) => batch.hold === 'none' && !isPaused(batch))) return
      said = true
      terminal.say(
        service === null
          ? 'No worker is running, so what is recorded is not sent yet. Start one: tranche worker'
          : `What is recorded is not sent yet: ${whyText([notSent({ needsFile: false, fileName: null, merchant }, service)])}.`,
      )
      terminal.object({ event: 'no-worker' })
    },
  }
}
