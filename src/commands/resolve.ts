// tranche in-doubt resolve: records what a person found out about rows in doubt, one by one or by worklist.

import { openLedger } from '../app/ledger.ts'
import { readWorklistFile, recordWorklist } from '../app/worklist.ts'
import type { App } from '../app.ts'
import type { DoubtRow, Resolution, Resolved } from '../domain/doubt.ts'
import { Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { FINDINGS, parseFinding, transactionIdProblem } from '../domain/resolution.ts'
import { resultStatusOf } from '../domain/states.ts'
import { spell, words } from '../domain/words.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { commandLine } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { faultLine } from '../present/review.ts'
import { leftOpenLines } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { showStructuralFault } from './check.ts'
import { confirm } from './confirm.ts'
import { leftOpenNow } from './in-doubt.ts'
import { oldFindingIn } from './option-texts.ts'
import type { Terminal } from './terminal.ts'

export interface ResolveArguments {
  readonly found?: string
  /** Who acts; or, as earlier versions took it, what was found. */
  readonly as?: readonly string[]
  readonly correct?: boolean
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
  const resolution = await parseResolution(app, reference, given)
  const ledger = await openLedger(app)
  try {
    if (resolution.finding === 'send-again' && (await mayBeSentAgain(app, ledger, resolution)))
      await lookBeforeSending(resolution.reference, false, given.yes === true, terminal)
    const resolved = await ledger.resolve(resolution, app.actor, app.clock.nowMs())
    if (resolved.kind === 'refused') {
      throw new Fault(
        resolved.why === 'too-early' ? 'stopped' : 'usage',
        words`${resolved.reason}. Nothing was changed.`,
      )
    }
    terminal.object(toJson(resolution.reference, resolved))
    terminal.say(sentenceOf(resolution.reference, resolved))
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** False: every row it may mean is still resting, so that it is refused without a question. */
async function mayBeSentAgain({ clock }: App, ledger: Ledger, { reference, restMs }: Resolution): Promise<boolean> {
  const meant = (await ledger.doubts()).filter(({ instruction }) => instruction.reference === reference)
  const isOver = (doubt: DoubtRow) => doubt.leftByMs + Math.max(restMs, doubt.restMs) <= clock.nowMs()
  return meant.length === 0 || meant.some(isOver)
}

function lookBeforeSending(what: string, several: boolean, yes: boolean, terminal: Terminal): Promise<void> {
  const [first, them] = several ? ['a first request', 'them'] : ['its first request', 'it']
  return confirm(terminal, {
    question: `${what} will be sent once more. If ${first} was executed, money moves twice. Send ${them} again?`,
    otherwise: 'Nothing was changed.',
    yes,
  })
}

async function parseResolution(app: App, reference: string | undefined, given: ResolveArguments): Promise<Resolution> {
  const usage = (problem: string) => new Fault('usage', `${problem}. Nothing was changed.`)
  if (reference === undefined) throw usage('Name the reference, or a worklist with --file')
  const found = foundIn(given)
  const finding = found === undefined ? undefined : parseFinding(found)
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

function foundIn({ found, as = [] }: ResolveArguments): string | undefined {
  return found ?? oldFindingIn(as)
}

async function resolveFile(
  app: App,
  reference: string | undefined,
  given: ResolveArguments & { readonly file: string },
  terminal: Terminal,
): Promise<number> {
  if (
    reference !== undefined ||
    foundIn(given) !== undefined ||
    given.correct !== undefined ||
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
  const again = worklist.entries.filter(({ finding }) => finding === 'send-again').length
  if (again > 0) await lookBeforeSending(plural(again, 'row'), again > 1, given.yes === true, terminal)
  const ledger = await openLedger(app)
  try {
    const refused: { reference: string; line: number; reason: string }[] = []
    let resolved = 0
    let already = 0
    const resolve = (_: unknown, resolution: Resolution, nowMs: number) => ledger.resolve(resolution, app.actor, nowMs)
    for await (const { entry, answer } of recordWorklist(app, worklist.entries, resolve)) {
      const { line, reference: named } = entry
      terminal.object({ event: 'resolution', line, ...toJson(named, answer) })
      if (answer.kind === 'resolved') resolved += 1
      else if (answer.kind === 'already') already += 1
      else refused.push({ reference: named, line, reason: spell(answer.reason, commandLine) })
    }
    return await leave(app, ledger, { resolved, already, refused, open: worklist.open }, terminal)
  } finally {
    await ledger.close()
  }
}

async function leave(
  app: App,
  ledger: Ledger,
  {
    resolved,
    already,
    refused,
    open,
  }: { resolved: number; already: number; refused: readonly { line: number; reason: string }[]; open: number },
  terminal: Terminal,
): Promise<number> {
  for (const { line, reason } of refused) terminal.say(`line ${line}: ${reason}.`)
  const left = (await ledger.doubts()).length
  const parts = [
    `${plural(resolved, 'row')} resolved`,
    ...(already > 0 ? [`${already} already resolved`] : []),
    ...(refused.length > 0 ? [`${refused.length} unchanged`] : []),
    ...(open > 0 ? [`${open} left blank`] : []),
  ]
  terminal.say(
    `${parts.join(', ')}. ${left === 0 ? 'No row is in doubt any longer.' : `${plural(left, 'row is', 'rows are')} still in doubt.`}`,
  )
  terminal.say(...leftOpenLines(await leftOpenNow(app, ledger)))
  const exit = refused.length > 0 ? EXIT.inDoubt : EXIT.approved
  terminal.object({ event: 'result', resolved, already, refused: refused.length, open, in_doubt: left, exit })
  return exit
}

function toJson(reference: string, resolved: Resolved): object {
  if (resolved.kind === 'refused')
    return { reference, kind: 'refused', why: resolved.why, reason: spell(resolved.reason, commandLine) }
  const { kind, batchId, rowNo, state } = resolved
  const paused = resolved.kind === 'resolved' && resolved.paused.length > 0 ? { paused: resolved.paused } : {}
  return { reference, kind, batch: batchId, row: rowNo, status: resultStatusOf(state), ...paused }
}

function sentenceOf(reference: string, resolved: Exclude<Resolved, { kind: 'refused' }>): string {
  const { batchId, rowNo, state } = resolved
  const row = `${reference} (row ${rowNo} of batch ${batchId})`
  if (resolved.kind === 'already') return `${row} is ${resultStatusOf(state)} already; nothing was changed.`
  const stale = `Earlier results are out of date; write them again: tranche results ${batchId} --out FILE`
  if (state !== 'READY') {
    const paused = resolved.paused.map(
      (other) => ` Batch ${other} was paused, because a row of it asks for the same: tranche status ${other}.`,
    )
    return `${row} is ${resultStatusOf(state)} now.${paused.join('')} ${stale}`
  }
  const held = resolved.hold === 'paused' ? ` Its batch is paused: tranche resume ${batchId} --reason TEXT.` : ''
  return `${row} will be sent once more.${held} ${stale}`
}
