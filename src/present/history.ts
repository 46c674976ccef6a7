// What was done, by whom and when: the moves of an instruction, and the log of acts.

import { type Actor, isOsActor } from '../domain/actor.ts'
import type { LogEntry } from '../domain/acts.ts'
import { isoOf } from '../domain/batch-status.ts'
import type { HistoryMove } from '../domain/reconciliation.ts'
import { type State, statusOf } from '../domain/states.ts'
import { interpretationText } from './interpretation.ts'

export function toJsonMove(move: HistoryMove): object {
  return {
    batch: move.batchId,
    row: move.rowNo,
    at: isoOf(move.atMs),
    attempt: move.attempt,
    from: shown(move.from),
    to: shown(move.to),
    cause: move.cause,
    by: move.by,
    actor: move.actor === null ? null : toJsonActor(move.actor),
    http_status: move.httpStatus,
    answer: move.answerText,
    reason: move.reason,
  }
}

/** As every status has it. */
function shown(state: State | null): string | null {
  return state === null ? null : statusOf(state)
}

export function rowText({ rowNo, batchId }: HistoryMove): string {
  return `Row ${rowNo} of batch ${batchId}`
}

export function moveLines(move: HistoryMove): string[] {
  const attempt = move.attempt === 0 ? '' : `, attempt ${move.attempt}`
  const http = move.httpStatus === null ? '' : ` HTTP ${move.httpStatus}`
  const from = move.from === null ? '' : `${shown(move.from)} → `
  return [
    `  ${isoOf(move.atMs)}  ${from}${shown(move.to)}  (${move.cause}${attempt}${http}, by ${move.by})`,
    ...(move.reason === null ? [] : [`    ${move.reason}`]),
    ...(move.answerText === null ? [] : [`    ${move.answerText}`]),
  ]
}

/** The keys stay as they are, in every line all of them: collectors of logs are set up by them. */
export function toJsonLogEntry(entry: LogEntry): object {
  return {
    event: 'act',
    at: isoOf(entry.atMs),
    what: entry.what,
    by: entry.by,
    actor: entry.actor === null ? null : toJsonActor(entry.actor),
    batch: entry.batchId,
    merchant: entry.merchant,
    reference: entry.reference,
    row: entry.rowNo,
    attempt: entry.attempt,
    from: shown(entry.from),
    to: shown(entry.to),
    reason: entry.reason,
    details: logDetails(entry),
  }
}

/** How a file was read is told in options. */
export function logDetails({ details }: LogEntry): LogEntry['details'] {
  return typeof details?.reading === 'string' ? { ...details, reading: interpretationText(details.reading) } : details
}

export function logLine(entry: LogEntry): string {
  const { reference, from, to, batchId, merchant } = entry
  const details = logDetails(entry)
  const subject = [
    reference === null ? null : `${reference} ${shown(from)} → ${shown(to)}`,
    batchId === null ? null : `batch ${batchId}`,
    batchId === null && merchant !== null ? `merchant ${merchant}` : null,
    ...Object.entries(details ?? {}).map(([name, value]) =>
      value === null || value === '' ? null : `${name} ${value}`,
    ),
  ].filter((part) => part !== null)
  const reason = entry.reason === null ? '' : `: ${entry.reason}`
  return [isoOf(entry.atMs), entry.what, subject.join(', '), `by ${entry.by}${reason}`].filter(Boolean).join('  ')
}

/** For programs, under keys that stay. */
function toJsonActor(actor: Actor): Record<string, string | number | null> {
  if (!isOsActor(actor)) return { kind: actor.kind, id: actor.id, name: actor.name, address: actor.address }
  return {
    user: actor.name,
    uid: actor.uid,
    host: actor.host,
    terminal: actor.terminal,
    login_user: actor.login?.name ?? null,
    login_uid: actor.login?.uid ?? null,
    sudo_user: actor.sudo?.name ?? null,
    sudo_uid: actor.sudo?.uid ?? null,
    as: actor.as,
  }
}
