// tranche in-doubt resolve: records what a person found out about rows in doubt, one by one or by worklist.

import { asShown, doubtMeant, wouldSend } from '../app/doubts.ts'
import { openLedger } from '../app/ledger.ts'
import { asTold, readWorklistFile, recordWorklist } from '../app/worklist.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { waitsForApproval } from '../domain/batch-status.ts'
import { type DoubtRow, type Resolution, type Resolved, standingProposal } from '../domain/doubt.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { FINDINGS, parseFinding, transactionIdProblem } from '../domain/resolution.ts'
import { resultStatusOf } from '../domain/states.ts'
import { spell, words } from '../domain/words.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { approvalsText } from '../present/approval.ts'
import { commandLine } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { proposedText, toJsonProposal } from '../present/proposals.ts'
import { faultLine } from '../present/review.ts'
import { leftOpenLines } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { showStructuralFault } from './check.ts'
import { confirm } from './confirm.ts'
import { leftOpenNow } from './in-doubt.ts'
import type { Terminal } from './terminal.ts'

export interface ResolveArguments {
  readonly found?: string
  readonly correct?: boolean
  /** Refuse what another person proposed. */
  readonly refuse?: boolean
  readonly yes?: boolean
  readonly transaction?: string
  readonly attempt?: string
  readonly merchant?: string
  readonly reason?: string
  readonly file?: string
}

export async function resolveInDoubt(
  app: App,
  reference: string | undefined,
  given: ResolveArguments,
  terminal: Terminal,
): Promise<number> {
  if (given.file !== undefined) return resolveFile(app, reference, { ...given, file: given.file }, terminal)
  if (given.refuse === true) return refuseProposed(app, reference, given, terminal)
  const resolution = await parseResolution(app, reference, given)
  const ledger = await openLedger(app)
  try {
    const doubt = doubtMeant(await ledger.doubts(), resolution)
    const lookedAtMs = app.clock.nowMs()
    const isAsked = resolution.finding === 'send-again' && (await mayBeSentAgain(ledger, resolution, lookedAtMs))
    if (isAsked) await lookBeforeSending(resolution.reference, doubt, given.yes === true, lookedAtMs, terminal)
    const shown = asShown(resolution, doubt, lookedAtMs)
    // Where nothing was asked, its rest is not over at that moment, whatever time it is by now.
    const resolved = await ledger.resolve(shown, app.actor, isAsked ? app.clock.nowMs() : lookedAtMs)
    if (resolved.kind === 'refused') {
      throw new Fault(
        resolved.why === 'too-early' ? 'stopped' : 'usage',
        words`${resolved.reason}. Nothing was changed.`,
      )
    }
    terminal.object(toJson(resolution.reference, resolved))
    terminal.say(sentenceOf(resolution.reference, resolved, await ledger.batch(resolved.batchId)))
    return resolved.kind === 'proposed' ? EXIT.awaitingApproval : EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** False: every row it may mean is still resting, so that it is refused without a question. */
async function mayBeSentAgain(ledger: Ledger, { reference, restMs }: Resolution, nowMs: number): Promise<boolean> {
  const meant = (await ledger.doubts()).filter(({ instruction }) => instruction.reference === reference)
  const isOver = (doubt: DoubtRow) => doubt.leftByMs + Math.max(restMs, doubt.restMs) <= nowMs
  return meant.length === 0 || meant.some(isOver)
}

/** A proposal sends nothing, so nothing is asked. */
async function lookBeforeSending(
  reference: string,
  doubt: DoubtRow | null,
  yes: boolean,
  nowMs: number,
  terminal: Terminal,
): Promise<void> {
  if (!wouldSend(doubt, nowMs)) return
  const proposal = doubt === null ? null : standingProposal(doubt, nowMs)
  if (proposal !== null) terminal.say(proposedText(proposal))
  const confirmed = proposal === null ? '' : ', as was proposed, if you confirm it'
  const question = `${reference} will be sent once more${confirmed}. If its first request was executed, money moves twice. Send it again?`
  await confirm(terminal, { question, otherwise: 'Nothing was changed.', yes })
}

async function refuseProposed(
  app: App,
  reference: string | undefined,
  given: ResolveArguments,
  terminal: Terminal,
): Promise<number> {
  const usage = (problem: string) => new Fault('usage', `${problem}. Nothing was changed.`)
  const reason = given.reason?.trim() ?? ''
  if (reference === undefined || given.found !== undefined || given.correct !== undefined)
    throw usage('--refuse says no to a proposal to send a row again: name its reference and --reason, and no finding')
  if (reason === '') throw usage('--reason: say why it is not to be sent again; it is kept in the log')
  const ledger = await openLedger(app)
  try {
    const named = { reference: toIdentifier(reference), merchant: given.merchant ?? null, row: null }
    const doubt = doubtMeant(await ledger.doubts(), named)
    const proposal = doubt === null ? null : standingProposal(doubt, app.clock.nowMs())
    const { batchId, rowNo } = doubt ?? { batchId: null, rowNo: 0 }
    const isRefused =
      batchId !== null &&
      proposal !== null &&
      (await ledger.refuseProposal(
        { batchId, rowNo, proposedAtMs: proposal.atMs, reason },
        app.actor,
        app.clock.nowMs(),
      ))
    if (!isRefused) throw usage(`Nobody proposes to send ${reference} again, or several merchants have it (--merchant)`)
    terminal.object({ reference, kind: 'refused-proposal', batch: batchId, row: rowNo, status: 'IN_DOUBT' })
    terminal.say(`The proposal of ${proposal?.by} is refused. ${reference} stays in doubt, and nothing is sent.`)
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

async function parseResolution(app: App, reference: string | undefined, given: ResolveArguments): Promise<Resolution> {
  const usage = (problem: string) => new Fault('usage', `${problem}. Nothing was changed.`)
  if (reference === undefined) throw usage('Name the reference, or a worklist with --file')
  const finding = given.found === undefined ? undefined : parseFinding(given.found)
  if (finding === undefined) throw usage(`--found: name what was found, one of ${FINDINGS.join(', ')}`)
  const reason = given.reason?.trim() ?? ''
  if (reason === '') throw usage('--reason: say what was found and where; it is kept in the history')
  const attempt =
    given.attempt === undefined ? null : /^\d{1,9}$/.test(given.attempt) ? Number(given.attempt) : Number.NaN
  if (Number.isNaN(attempt)) throw usage(`--attempt ${given.attempt}: write the number that the worklist shows`)
  const transactionId = given.transaction?.trim() ?? null
  const wrong = transactionId === null ? null : transactionIdProblem(transactionId, finding)
  if (wrong !== null) throw usage(`--transaction ${transactionId}: ${wrong.problem}; ${wrong.remedy}`)
  return {
    ...{ reference: toIdentifier(reference), merchant: given.merchant ?? null, attempt, row: null, finding },
    ...{ transactionId, reason, restMs: app.config.doubtRestMs, corrects: given.correct ?? false },
  }
}

async function resolveFile(
  app: App,
  reference: string | undefined,
  given: ResolveArguments & { readonly file: string },
  terminal: Terminal,
): Promise<number> {
  if (
    reference !== undefined ||
    given.found !== undefined ||
    given.correct !== undefined ||
    given.refuse !== undefined ||
    given.transaction !== undefined ||
    given.attempt !== undefined ||
    given.merchant !== undefined
  ) {
    throw new Fault(
      'usage',
      '--file holds references, findings, transactions and merchants itself; only --reason goes with it. To leave lines out, take them out of the file. Nothing was changed.',
    )
  }
  const worklist = await readWorklistFile(given.file, {
    reason: given.reason?.trim() || null,
    spelling: app.spelling,
  })
  if (worklist.kind === 'refused') return showStructuralFault(worklist, given.file, terminal)
  if (worklist.faults.length > 0) {
    for (const fault of worklist.faults) terminal.say(faultLine(fault))
    terminal.say(`${given.file} is refused. Nothing was changed.`)
    terminal.object({ event: 'result', ok: false, faults: worklist.faults, exit: EXIT.refused })
    return EXIT.refused
  }
  const ledger = await openLedger(app)
  try {
    const isAgain = worklist.entries.some(({ finding }) => finding === 'send-again')
    const entries = asTold(worklist.entries, isAgain ? await ledger.doubts() : [])
    const again = entries.filter(({ finding, onlyProposes }) => finding === 'send-again' && !onlyProposes).length
    if (again > 0) await lookBeforeSendingAll(again, given.yes === true, terminal)
    const counts = { resolved: 0, already: 0, proposed: 0, refused: 0 }
    const resolve = (_: unknown, resolution: Resolution, nowMs: number) => ledger.resolve(resolution, app.actor, nowMs)
    for await (const { entry, answer } of recordWorklist(app, entries, resolve)) {
      terminal.object({ event: 'resolution', line: entry.line, ...toJson(entry.reference, answer) })
      counts[answer.kind] += 1
      if (answer.kind === 'refused') terminal.say(`line ${entry.line}: ${spell(answer.reason, commandLine)}.`)
    }
    return await leave(app, ledger, { ...counts, open: worklist.open }, terminal)
  } finally {
    await ledger.close()
  }
}

async function lookBeforeSendingAll(again: number, yes: boolean, terminal: Terminal): Promise<void> {
  const [first, them] = again > 1 ? ['a first request', 'them'] : ['its first request', 'it']
  const question = `${plural(again, 'row')} will be sent once more. If ${first} was executed, money moves twice. Send ${them} again?`
  await confirm(terminal, { question, otherwise: 'Nothing was changed.', yes })
}

async function leave(
  app: App,
  ledger: Ledger,
  { resolved, already, proposed, refused, open }: Record<Resolved['kind'] | 'open', number>,
  terminal: Terminal,
): Promise<number> {
  const left = (await ledger.doubts()).length
  const parts = [
    `${plural(resolved, 'row')} resolved`,
    ...(already > 0 ? [`${already} already resolved`] : []),
    ...(proposed > 0 ? [`${proposed} proposed (nothing of that is sent until another person confirms it)`] : []),
    ...(refused > 0 ? [`${refused} unchanged`] : []),
    ...(open > 0 ? [`${open} left blank`] : []),
  ]
  terminal.say(
    `${parts.join(', ')}. ${left === 0 ? 'No row is in doubt any longer.' : `${plural(left, 'row is', 'rows are')} still in doubt.`}`,
  )
  terminal.say(...leftOpenLines(await leftOpenNow(app, ledger)))
  const exit = refused > 0 ? EXIT.inDoubt : proposed > 0 ? EXIT.awaitingApproval : EXIT.approved
  terminal.object({ event: 'result', resolved, already, proposed, refused, open, in_doubt: left, exit })
  return exit
}

function toJson(reference: string, resolved: Resolved): object {
  if (resolved.kind === 'refused')
    return { reference, kind: 'refused', why: resolved.why, reason: spell(resolved.reason, commandLine) }
  const { kind, batchId, rowNo } = resolved
  const state = resolved.kind === 'proposed' ? 'IN_DOUBT' : resolved.state
  const proposal = resolved.kind === 'proposed' ? { proposal: toJsonProposal(resolved.proposal) } : {}
  const paused = resolved.kind === 'resolved' && resolved.paused.length > 0 ? { paused: resolved.paused } : {}
  return { reference, kind, batch: batchId, row: rowNo, status: resultStatusOf(state), ...paused, ...proposal }
}

function sentenceOf(
  reference: string,
  resolved: Exclude<Resolved, { kind: 'refused' }>,
  batch: BatchView | null,
): string {
  const { batchId, rowNo } = resolved
  const row = `${reference} (row ${rowNo} of batch ${batchId})`
  if (resolved.kind === 'proposed')
    return `${row} stays in doubt. ${proposedText(resolved.proposal)} They do it by the same command; to say no: tranche in-doubt resolve ${reference} --refuse --reason TEXT`
  const { state } = resolved
  if (resolved.kind === 'already') return `${row} is ${resultStatusOf(state)} already; nothing was changed.`
  const stale = `Earlier results are out of date; write them again: tranche results ${batchId} --out FILE`
  if (state !== 'READY') {
    const paused = resolved.paused.map(
      (other) => ` Batch ${other} was paused, because a row of it asks for the same: tranche status ${other}.`,
    )
    return `${row} is ${resultStatusOf(state)} now.${paused.join('')} ${stale}`
  }
  const held = resolved.hold === 'paused' ? ` Its batch is paused: tranche resume ${batchId} --reason TEXT.` : ''
  return `${row} ${waitText(batch)}${held} ${stale}`
}

function waitText(batch: BatchView | null): string {
  return batch === null || batch.approval === null || !waitsForApproval(batch)
    ? 'will be sent once more.'
    : `waits to be sent once more. Nothing of its batch is sent before it has ${approvalsText(batch.approval)}: tranche approve ${batch.batchId}.`
}
