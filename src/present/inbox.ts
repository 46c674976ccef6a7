// What is said of the files of an inbox: the reports beside them, a line per event, the same as objects, and the exit code.

import type { BatchView } from '../domain/batch.ts'
import { countIn, isOver, isoOf } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import type { InboxEvent, InboxReport, StaysFor } from '../domain/inbox.ts'
import type { FileRefusal, InstructionFile, Reviewed, Submitted } from '../domain/submission.ts'
import { visible } from '../domain/visible.ts'
import { errorText } from './command-line.ts'
import { EXIT, exitCodeOf, exitCodeOfError } from './exit-codes.ts'
import { doneLongAgoLines } from './outcome.ts'
import {
  type HowRead,
  heldLines,
  howReadLines,
  lateLines,
  refusalLines,
  reviewLines,
  structuralFaultLine,
} from './review.ts'
import { capital, plural } from './text.ts'
import { countsOf, totalLines } from './totals.ts'

type File = HowRead & { readonly file: Pick<InstructionFile, 'sha256'> }

const NOTHING = 'Nothing was recorded and nothing was sent.'
const MEND = 'It is not tried again by itself. Correct it and put it into the inbox again, under any name.'

export function recordedReport(
  name: string,
  opened: File,
  submitted: Extract<Submitted, { kind: 'recorded' | 'known' }>,
  batch: BatchView,
): InboxReport {
  const { batchId } = batch
  const what =
    submitted.kind === 'recorded'
      ? [...reviewLines(submitted.review), ...heldLines(submitted.review), ...lateLines(submitted.review)]
      : [
          'The same file was this batch already: nothing was recorded again, and nothing of it is sent twice.',
          ...totalLines(batch),
        ]
  return [
    `${nameText(name)} is batch ${batchId}, recorded ${isoOf(batch.createdAtMs)}.`,
    `SHA-256 of the file: ${opened.file.sha256}`,
    ...howReadLines(opened),
    ...what,
    ...doneLongAgoLines(batch),
    isOver(batch)
      ? `Nothing of it is left to send: tranche status ${batchId}`
      : `A worker sends it (tranche worker). Follow it: tranche status ${batchId}. Its results are written to results/ once no row is open.`,
  ]
}

export interface RefusedFile {
  /** Its bad rows in a table; null: it has none. */
  readonly rejects: string | null
  /** Hands it in alone, read as the inbox reads it. */
  readonly submitCommand: string
}

export function refusedReport(
  name: string,
  opened: File,
  reviewed: Reviewed,
  { rejects, submitCommand }: RefusedFile,
): InboxReport {
  // Its words are for a person who typed a command; the sentence below says the same here.
  const refusals = reviewed.refusals.filter(({ kind }) => kind !== 'bad-rows')
  const lines = [
    `${nameText(name)} is refused. ${NOTHING} ${MEND}`,
    ...howReadLines(opened),
    ...reviewLines(reviewed.review),
    ...heldLines(reviewed.review),
    ...refusalLines({ ...reviewed, refusals }, 'all of them are in the rejects file'),
  ]
  if (rejects !== null)
    lines.push(
      `Every bad row, with what is wrong and what to do, in a table: ${rejects}. The good rows are not sent either: correct the cells in the file itself.`,
    )
  if (refusals.length > 0)
    lines.push(
      `What is asked above is answered for this one file alone, with the option that is named there: ${submitCommand} …`,
    )
  return lines
}

export function unreadableReport(name: string, fault: FileRefusal): InboxReport {
  return [structuralFaultLine(fault, nameText(name)), 'Nothing was recorded and nothing was sent.', MEND]
}

export function failedReport(name: string, fault: Fault): InboxReport {
  return [`${nameText(name)} is refused: ${errorText(fault)}`, MEND]
}

export function leftReport(name: string, finding: StaysFor): InboxReport {
  return [leftText(nameText(name), finding)]
}

export function changedReport(name: string, batch: BatchView): InboxReport {
  return [
    `${nameText(name)} was written to after it had been recorded as batch ${batch.batchId}.`,
    `The batch has the ${batch.rows} rows that were in it first, and is sent as usual. What was added or changed since is in no batch and is not sent.`,
    `Compare the file with the results of batch ${batch.batchId}, and put only what is missing into a file of its own. Let its writer use another name while it writes (x.csv.tmp, then rename), or a longer --stable-for.`,
  ]
}

function leftText(name: string, finding: StaysFor): string {
  const stays = 'It stays where it is, and no copy of it is made.'
  switch (finding.kind) {
    case 'cards': {
      const where = [finding.line === null ? null : `line ${finding.line}`, finding.column]
      const said = where.filter((part) => part !== null).join(', ')
      return `${name} holds card data, or a column for it${said === '' ? '' : ` (${said})`}. ${stays} ${NOTHING} Take the file out of the inbox, and the card data out of it and of wherever it came from; use customer_vault_id (a stored card) or request_ref_po_id (an order).`
    }
    case 'unseen':
      return `${name} cannot be looked through for card data: ${finding.problem}. ${stays} ${NOTHING} Take it out, and ${finding.remedy}.`
    case 'unfit':
      return `"${name}" is not taken: ${finding.problem}. It stays where it is. ${NOTHING} ${capital(finding.remedy)}.`
  }
}

/** As it may be shown and kept: masked, and nothing in it that a terminal would obey. */
export function nameText(name: string): string {
  return visible(maskCardData(name))
}

// ───────────────────────────────────────────────────────────── Events

export function eventText(event: InboxEvent): string {
  switch (event.kind) {
    case 'claimed':
      return `${nameText(event.name)} is taken.`
    case 'recorded':
      return recordedText(event)
    case 'rejected':
      return `${nameText(event.name)} is refused. ${NOTHING} Why, and what to do: ${event.report}`
    case 'left':
      return event.isKnown
        ? `${nameText(event.name)} is still there and is not taken. Why, and what to do: ${event.report}`
        : leftText(nameText(event.name), event.finding)
    case 'changed':
      return `${nameText(event.name)} was written to after it had been recorded as batch ${event.batchId}: what was added since is in no batch and is not sent. Look at ${event.path}`
    case 'results':
      return `Results of batch ${event.batch.batchId} (${nameText(event.batch.fileName ?? 'messages')}): ${event.path}`
    case 'trouble':
      return `${nameText(event.about)}: ${troubleText(event.error)} It is tried again by itself.`
    case 'over':
      return `${nameText(event.about)}: the trouble is over.`
  }
}

function recordedText({ name, batch, known }: InboxEvent & { kind: 'recorded' }): string {
  const { batchId, rows } = batch
  if (known) return `${nameText(name)} is batch ${batchId} already. Nothing was recorded again.`
  const { accepted, duplicate, invalid } = partsOf(batch)
  const parts = `${plural(rows, 'row')}: ${accepted} to be sent, ${duplicate} recorded already, ${invalid} bad`
  const nothing = accepted === 0 ? ' No row of it is to be sent.' : ''
  return `${nameText(name)} is recorded as batch ${batchId} (${parts}).${nothing}`
}

function partsOf(batch: BatchView): { accepted: number; duplicate: number; invalid: number } {
  const [invalid, duplicate] = [countIn(batch, 'INVALID'), countIn(batch, 'DUPLICATE')]
  return { accepted: batch.rows - invalid - duplicate, duplicate, invalid }
}

const REASON_OF = { cards: 'card-data', unseen: 'not-readable', unfit: 'not-taken' } as const

export function toJsonEvent(event: InboxEvent): object {
  switch (event.kind) {
    case 'claimed':
      return { event: event.kind, file: nameText(event.name) }
    case 'recorded': {
      const { kind, name, batch, known, path } = event
      return {
        event: kind,
        file: nameText(name),
        batch: batch.batchId,
        known,
        path,
        rows: batch.rows,
        ...partsOf(batch),
      }
    }
    case 'rejected':
      return { event: event.kind, file: nameText(event.name), path: event.path, report: event.report }
    case 'left': {
      const { kind, name, report, finding, isKnown } = event
      return {
        event: kind,
        file: nameText(name),
        report,
        reason: REASON_OF[finding.kind],
        known: isKnown,
        ...(finding.kind === 'unfit' ? { problem: finding.problem } : {}),
      }
    }
    case 'changed':
      return { event: event.kind, file: nameText(event.name), batch: event.batchId, path: event.path }
    case 'results': {
      const { kind, batch, path, summaryPath } = event
      const exit = exitCodeOf(batch, { kind: 'finished' })
      return { event: kind, batch: batch.batchId, counts: countsOf(batch), results: path, summary: summaryPath, exit }
    }
    case 'trouble':
      return { event: event.kind, about: nameText(event.about), message: troubleText(event.error) }
    case 'over':
      return { event: event.kind, about: nameText(event.about) }
  }
}

function troubleText(error: unknown): string {
  const message = maskCardData(errorText(error))
  return error instanceof Fault || /[.!?]$/.test(message) ? message : `${message}.`
}

/** In the order of precedence: of several the first holds. */
const PRECEDENCE = [
  ...[
    EXIT.failure,
    EXIT.usage,
    EXIT.unavailable,
    EXIT.refused,
    EXIT.interrupted,
    EXIT.stopped,
    EXIT.inDoubt,
    EXIT.notAllApproved,
  ],
]

/** Of one pass. A file that is known is no trouble, nor is one whose trouble is over. */
export function exitCodeOfEvents(events: readonly InboxEvent[]): number {
  const codes = events.map(exitCodeOfEvent)
  return PRECEDENCE.find((code) => codes.includes(code)) ?? EXIT.approved
}

function exitCodeOfEvent(event: InboxEvent): number {
  switch (event.kind) {
    case 'rejected':
    case 'changed':
      return EXIT.refused
    case 'left':
      return event.isKnown ? EXIT.approved : EXIT.refused
    case 'results':
      return exitCodeOf(event.batch, { kind: 'finished' })
    case 'trouble':
      return exitCodeOfError(event.error)
    case 'recorded':
      return event.batch.doneLongAgo === null ? EXIT.approved : EXIT.notAllApproved
    case 'claimed':
    case 'over':
      return EXIT.approved
  }
}
