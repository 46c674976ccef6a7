// tranche ingest: started by `tranche serve` alone, which asks it over a channel to read one file: to check it, or to record it for a
// key or a session. It finds out by itself whose that is, as the server does: who has none can record nothing in anybody's name.

import { sendingAccountOf } from '../app/accounts.ts'
import { assertPolicyAgreed } from '../app/approvals.ts'
import { openInstructionFile } from '../app/instruction-file.ts'
import { findKey, keyActor } from '../app/keys.ts'
import { openLedger } from '../app/ledger.ts'
import { personActor, sha256Of } from '../app/people.ts'
import { prepareSubmission } from '../app/submission.ts'
import type { App } from '../app.ts'
import { pageWays } from '../console/ways.ts'
import type { DoorActor } from '../domain/actor.ts'
import { seesMerchant } from '../domain/api-key.ts'
import { leastApprovals } from '../domain/approval.ts'
import type { Draft, DraftReview } from '../domain/draft.ts'
import { Fault } from '../domain/fault.ts'
import type { FirstRow, IngestAsked, IngestOrder, IngestProgress, ToldToSend } from '../domain/ingest.ts'
import { mayDo } from '../domain/person.ts'
import { isAsTold, pairOf, type Reviewed, type Submitted } from '../domain/submission.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { firstRowJson } from '../present/checked-row.ts'
import { EXIT, exitCodeOfError } from '../present/exit-codes.ts'
import { toJsonRefusals } from '../present/review.ts'
import { httpWays } from '../server/faults.ts'
import { askedByServer } from './asked-by-server.ts'
import { type CheckArguments, check, type Handed } from './check.ts'
import { type FileArguments, parseFileArguments, withFormat } from './file-arguments.ts'
import { createTerminal, type Terminal } from './terminal.ts'

export async function ingest(app: App): Promise<number> {
  const terminal = createTerminal(true, app.io)
  const asked = await askedByServer<IngestOrder>(
    app.io,
    'Nothing was recorded and nothing was sent. To record a file: tranche submit FILE',
  )
  const spelling = asked.caller.kind === 'key' ? httpWays : pageWays
  const own: App = { ...app, spelling }
  try {
    return asked.act === 'check' ? await checkFor(own, asked, terminal) : await submitFor(own, asked, terminal)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const exit = exitCodeOfError(error)
    const message = app.scrub(error.linesIn(spelling).join(' '))
    terminal.object({ event: 'result', error: { code: error.code, message }, exit })
    return exit
  }
}

/** With the saved format as it is now: what is submitted later is read in the way that was looked at. */
async function checkFor(app: App, { path, name, given: asked }: IngestAsked, terminal: Terminal): Promise<number> {
  const { format: _, ...given } = await withFormat(app, asked as CheckArguments)
  const { details: __, rejects: ___, ...reading } = given
  const telling: Terminal = Object.assign(Object.create(terminal) as Terminal, {
    object: (value: object) => terminal.object({ ...value, given: reading }),
    say() {},
    note() {},
  })
  return check(app, path, given, telling, { cards: 'refused', name, onRows: progressReporter(app) })
}

/** Rows of the beginning that are shown before anything is known of the whole. */
const FIRST_ROWS = 10
const TOLD_EVERY_MS = 250

/** The file was surveyed to its end before: no row that is reported holds card data. */
function progressReporter({ io: { channel } }: App): NonNullable<Handed['onRows']> {
  const first: FirstRow[] = []
  let read = 0
  let toldAtMs = Number.NEGATIVE_INFINITY
  return (rows, of) => {
    first.push(...rows.slice(0, FIRST_ROWS - first.length).map(firstRowJson))
    read += rows.length
    const nowMs = performance.now()
    // Of a file that is read in one go the verdict is what comes next.
    if (read === of && toldAtMs === Number.NEGATIVE_INFINITY) return
    if (read < of && nowMs - toldAtMs < TOLD_EVERY_MS) return
    toldAtMs = nowMs
    channel?.send({ rows: read, of, first } satisfies IngestProgress)
  }
}

async function submitFor(app: App, asked: IngestOrder, terminal: Terminal): Promise<number> {
  const request = parseFileArguments(app, asked.given as FileArguments)
  const opened = await openInstructionFile(asked.path, request.merchant, { ...request.options, name: asked.name })
  if (opened.kind === 'refused') {
    terminal.object({ ...opened, event: 'result', exit: EXIT.refused })
    return EXIT.refused
  }
  try {
    if (opened.file.sha256 !== asked.sha256) throw otherBytes()
    const ledger = await openLedger(app)
    try {
      const actor = await actorOf(ledger, asked, request.merchant.name, app.clock.nowMs())
      await assertPolicyAgreed(app, ledger)
      const toSubmit = request.toSubmit(
        await sendingAccountOf(app, ledger, request.merchant, (text) => app.log.warn({}, text)),
        asked.sandbox,
      )
      const submission = await prepareSubmission(ledger)
      const onReviewed = async ({ review, draft }: Reviewed) => {
        await assertAsTold(asked.told, review, request.merchant.name, ledger)
        await assertPairsTicked(asked.told, draft)
      }
      return await tell(await submission.submit(opened.file, toSubmit, actor, { onReviewed }), terminal)
    } finally {
      await ledger.close()
    }
  } finally {
    await opened.close()
  }
}

function otherBytes(): Fault {
  return new Fault(
    'refused',
    'The file is not the one that was checked: its bytes have changed. Nothing was recorded and nothing was sent. Upload it again, and check it.',
  )
}

async function actorOf(ledger: Ledger, asked: IngestAsked, merchant: string, nowMs: number): Promise<DoorActor> {
  const { caller, address } = asked
  return caller.kind === 'key'
    ? actorOfKey(ledger, caller.secret, address, merchant, nowMs)
    : actorOfSession(ledger, caller.secret, address, nowMs)
}

async function actorOfKey(ledger: Ledger, shown: string, address: string, merchant: string, nowMs: number) {
  const found = await findKey(ledger, shown, nowMs)
  const isGood = found.kind === 'key' && found.key.scopes.includes('batches:write') && seesMerchant(found.key, merchant)
  if (isGood) return keyActor(found.key, address)
  throw new Fault(
    'refused',
    'The key was revoked or has expired while the request waited. Nothing was recorded and nothing was sent.',
  )
}

async function actorOfSession(ledger: Ledger, shown: string, address: string, nowMs: number): Promise<DoorActor> {
  const found = await ledger.visit(sha256Of(shown), nowMs)
  if (found !== null && mayDo(found.person, 'submit')) return personActor(found.person, address)
  throw new Fault(
    'refused',
    'You are no longer signed in, or may no longer hand in files. Nothing was recorded and nothing was sent. Sign in, and hand the file in again.',
  )
}

/** Between the look and the button the record may have changed. What was not looked at is not recorded. */
async function assertAsTold(
  told: ToldToSend | undefined,
  review: DraftReview,
  merchant: string,
  ledger: Ledger,
): Promise<void> {
  if (told === undefined) return
  if (!isAsTold(review, told))
    throw new Fault(
      'refused',
      'What would be sent is not what you were shown: the record has changed in the meantime. Nothing was recorded and nothing was sent. Check the file again.',
    )
  if (told.approval && leastApprovals(await ledger.approvalPolicy(), merchant, review) === 0)
    throw new Fault(
      'refused',
      'Nobody would have to approve it any more, as you were told: the policy has changed in the meantime. Nothing was recorded and nothing was sent. Look at the check again.',
    )
}

/** Two rows may look alike now that did not then, and a tick is for the pair that stood beside it. */
async function assertPairsTicked(told: ToldToSend | undefined, draft: Draft): Promise<void> {
  if (told?.pairs === undefined) return
  const found: string[] = []
  for await (const page of draft.lookalikes()) found.push(...page.map(pairOf))
  if (JSON.stringify(found) === JSON.stringify(told.pairs)) return
  throw new Fault(
    'refused',
    'The look-alikes are no longer those that you ticked: the record has changed since. Nothing was recorded and nothing was sent. Check the file again.',
  )
}

async function tell(submitted: Submitted, terminal: Terminal): Promise<number> {
  const result = { event: 'result', kind: submitted.kind }
  switch (submitted.kind) {
    case 'recorded':
    case 'known':
      terminal.object({ ...result, batch: submitted.batchId, exit: EXIT.approved })
      return EXIT.approved
    case 'refused':
      terminal.object({ ...result, ...toJsonRefusals(submitted.reviewed), exit: EXIT.refused })
      await submitted.reviewed.draft.discard()
      return EXIT.refused
    default: {
      const { batchId: batch } = submitted
      const refusals = submitted.kind === 'holds-other' ? submitted.refusals : []
      terminal.object({ ...result, batch, refusals, exit: EXIT.refused })
      return EXIT.refused
    }
  }
}
