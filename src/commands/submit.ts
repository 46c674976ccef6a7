// tranche submit FILE: records it and prints the batch id; a worker does the rest.

import { sendingAccountOf } from '../app/accounts.ts'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { openInstructionFile } from '../app/instruction-file.ts'
import { assertLedger } from '../app/ledger.ts'
import { workersNow } from '../app/locks.ts'
import { prepareSubmission } from '../app/submission.ts'
import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { isOver, notSent, standingOf, waitsForApproval } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import type { BatchId } from '../domain/ids.ts'
import { metAgain, type Reviewed } from '../domain/submission.ts'
import { serviceOf, type WorkerView, workerFor } from '../domain/worker.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { approvalsText } from '../present/approval.ts'
import { EXIT } from '../present/exit-codes.ts'
import { lookalikeLine } from '../present/lookalikes.ts'
import { doneLongAgoLines, numberLines } from '../present/outcome.ts'
import {
  allErrorsOf,
  columnLines,
  heldLines,
  lateLines,
  noteLines,
  refusalLines,
  reviewLines,
  toJsonRefusals,
  toJsonReview,
} from '../present/review.ts'
import { resumeLine, whyText } from '../present/standing.ts'
import { toJsonTotals } from '../present/totals.ts'
import { refuseWhole } from './check.ts'
import { type FileArguments, parseFileArguments, withFormat } from './file-arguments.ts'
import { viewOf } from './follow.ts'
import { goOnWith } from './known-batch.ts'
import { confirmNew } from './last-look.ts'
import { noteRefusedCards, noteRejects } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import { openRejects, type Rejects } from './rejects.ts'
import { refuseStdin } from './results-target.ts'
import type { Terminal } from './terminal.ts'

export async function submit(app: App, path: string, given: FileArguments, terminal: Terminal): Promise<number> {
  refuseStdin(path, 'submit')
  const request = parseFileArguments(app, await withFormat(app, given))
  await assertLedger(app)
  const rejects = await openRejects(given, path, null)
  const opened = await openInstructionFile(path, request.merchant, request.options)
  if (opened.kind === 'refused') {
    await noteRefusedCards(app, 'submit', path, opened, terminal)
    return refuseWhole(opened, path, rejects, terminal)
  }
  const ledger = await openLedgerAloud(app, terminal)
  try {
    await assertPolicyAgreed(app, ledger)
    terminal.say(...noteLines(opened))
    terminal.note(...columnLines(opened))
    const accountId = await sendingAccountOf(app, ledger, request.merchant, terminal.say)
    const toSubmit = request.toSubmit(accountId, false)
    const submission = await prepareSubmission(ledger)
    const submitted = await submission.submit(opened.file, toSubmit, app.actor, {
      onReviewed: async (reviewed) => {
        await rejects.write(opened, reviewed)
        await noteRejects(app, ledger, rejects, path, terminal)
        if (reviewed.refusals.length > 0) return
        const look = { accountId, ledger, merchant: request.merchant, terminal, yes: given.yes === true }
        await confirmNew(reviewed.review, look)
      },
      onWait: sayWait(terminal),
    })
    const sha256 = opened.file.sha256
    let wasOver = false
    switch (submitted.kind) {
      case 'refused':
        return await refuse(submitted.reviewed, path, rejects, terminal)
      case 'recorded': {
        const { review, lookalikes } = submitted
        terminal.say(
          ...reviewLines(review),
          ...lookalikes.map(lookalikeLine),
          ...heldLines(review),
          ...lateLines(review),
        )
        terminal.object({
          batch: submitted.batchId,
          file_sha256: sha256,
          ...toJsonReview(submitted.review),
          ...rejects.toJson(),
          ...(await heldIn(ledger, submitted.batchId)),
        })
        break
      }
      default:
        if (goOnWith(submitted, toSubmit, path, rejects, terminal) === null) return EXIT.refused
        terminal.say(`This file is batch ${submitted.batchId} already. Nothing was recorded again.`)
        await showKnown(ledger, submitted.batchId, sha256, terminal)
        wasOver = isOver(await viewOf(ledger, submitted.batchId))
    }
    rejects.say(terminal)
    terminal.data(submitted.batchId)
    const isNothing = submitted.kind === 'recorded' && submitted.review.accepted === 0
    if (isNothing) {
      terminal.say(
        `Every row is recorded already or bad, so there is nothing to send. Its results: tranche results ${submitted.batchId} --out FILE`,
      )
    }
    const view = await viewOf(ledger, submitted.batchId)
    const doneLongAgo = doneLongAgoLines(wasOver ? metAgain(view, toSubmit) : view)
    terminal.say(...doneLongAgo, ...numberLines(view))
    if (doneLongAgo.length > 0) return EXIT.notAllApproved
    const next = isNothing ? EXIT.approved : await sayNext(app, ledger, submitted.batchId, terminal)
    return next === EXIT.approved && view.numberBefore !== null ? EXIT.notAllApproved : next
  } finally {
    await opened.close()
    await ledger.close()
  }
}

/** That another file is on its way in, while this one waits. */
export function sayWait(terminal: Pick<Terminal, 'say'>) {
  return (other: { readonly pid: number; readonly host: string } | null): void => {
    const who = other === null ? 'another process' : `process ${other.pid} on ${other.host}`
    terminal.say(
      `Waiting for ${who}, which is submitting a file and may be asking somebody about it: one goes in at a time. This one follows when that has ended.`,
    )
  }
}

export async function refuse(reviewed: Reviewed, path: string, rejects: Rejects, terminal: Terminal): Promise<number> {
  if (!terminal.json) terminal.say(...refusalLines(reviewed, allErrorsOf(path)))
  rejects.say(terminal)
  terminal.object({
    event: 'result',
    ok: false,
    file: maskCardData(path),
    ...toJsonReview(reviewed.review),
    ...toJsonRefusals(reviewed),
    ...rejects.toJson(),
    exit: EXIT.refused,
  })
  await reviewed.draft.discard()
  terminal.say(`${maskCardData(path)} is refused. Nothing was recorded and nothing was sent.`)
  return EXIT.refused
}

async function showKnown(ledger: Ledger, batchId: BatchId, sha256: string, terminal: Terminal): Promise<void> {
  const batch = await ledger.batch(batchId)
  if (batch === null) return
  const { INVALID: invalid = 0, DUPLICATE: duplicate = 0 } = batch.counts
  const accepted = batch.rows - invalid - duplicate
  const totals = batch.totals.filter(({ state }) => state !== 'INVALID' && state !== 'DUPLICATE')
  terminal.object({
    batch: batchId,
    file_sha256: sha256,
    rows: batch.rows,
    accepted,
    duplicate,
    invalid,
    totals: toJsonTotals(totals),
    ...(await heldIn(ledger, batchId)),
  })
}

/** As the other doors answer. */
async function heldIn(ledger: Ledger, batchId: BatchId): Promise<object> {
  const held = isOver(await viewOf(ledger, batchId)) ? null : await ledger.heldBy(batchId)
  return held === null ? {} : { held }
}

/** Resolves to the exit code. */
async function sayNext(app: App, ledger: Ledger, batchId: BatchId, terminal: Terminal): Promise<number> {
  const batch = await viewOf(ledger, batchId)
  const worker = workerFor(await workersNow(app, ledger), batch)
  const { state, why } = standingOf(batch, app.clock.nowMs(), worker !== undefined)
  const isHeld = state === 'paused' || state === 'stopped'
  if (isHeld) terminal.say(`Nothing of it is sent while it is ${state}: ${whyText(why) ?? 'no reason was given'}.`)
  if (state === 'paused') terminal.say(resumeLine(batchId))
  if (batch.approval !== null && waitsForApproval(batch)) {
    terminal.say(
      `Nothing of it is sent before it has ${approvalsText(batch.approval)}. Whoever decides sees what it would send: tranche approve ${batchId}`,
    )
    return EXIT.awaitingApproval
  }
  if (!isHeld) sayWhoSends(worker, batch, terminal)
  terminal.say(`Follow it: tranche status ${batchId} --watch`)
  return EXIT.approved
}

function sayWhoSends(worker: WorkerView | undefined, batch: BatchView, terminal: Terminal): void {
  if (worker === undefined) terminal.say('No worker is running, so nothing moves yet. Start one: tranche worker')
  else {
    const service = serviceOf(worker, batch)
    const who = worker.command === 'run' ? 'run that works on it' : 'running worker'
    if (service === 'served') terminal.say(`The ${who} does the rest.`)
    else terminal.say(`Nothing moves yet: ${whyText([notSent(batch, service)])}.`)
  }
}
