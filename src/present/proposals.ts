// A proposal to send a row in doubt once more, in words.

import type { LogEntry } from '../domain/acts.ts'
import { isoOf } from '../domain/batch-status.ts'
import { type DoubtRow, PROPOSAL_LIVES_MS, type Proposal } from '../domain/doubt.ts'

export function proposedText({ by, atMs, reason, untilMs }: Proposal): string {
  return `Proposed by ${by} at ${isoOf(atMs)}: "${reason}". Nothing is sent until another person confirms it; otherwise it lapses at ${isoOf(untilMs)}.`
}

export interface JsonProposal {
  readonly by: string
  readonly reason: string
  readonly at: string
  readonly until: string
}

export function toJsonProposal({ by, reason, atMs, untilMs }: Proposal): JsonProposal {
  return { by, reason, at: isoOf(atMs), until: isoOf(untilMs) }
}

// ───────────────────────────────────────────────────────────── What was said to it, and what became of it

/** One act about sending a row once more. Names of people are `by`, which the machine has none of. */
export function sayingText({ what, details }: Pick<LogEntry, 'what' | 'details'>): string {
  const attempt = `, after attempt ${details?.attempt ?? ''}`
  switch (what) {
    case 'propose-send-again':
      return `proposed to send it once more${attempt}`
    case 'confirm-send-again':
      return `confirmed that it is sent once more${attempt}`
    case 'refuse-send-again':
      return `refused to send it once more${attempt}`
    default:
      return `the proposal of ${details?.proposed_by ?? 'a person'} to send it once more lapsed${attempt}`
  }
}

/** null: the machine, as for a proposal that lapsed. */
export function sayerOf({ what, by }: Pick<LogEntry, 'what' | 'by'>): string | null {
  return what === 'lapse-send-again' ? null : by
}

/**
 * What became of a proposal that no later act mentions: time and a change of policy end one without an act. `doubt`: the row as it
 * stands; null: it is no longer in doubt. null: the latest word says it.
 */
export function endOfProposal(words: readonly LogEntry[], doubt: DoubtRow | null, nowMs: number): string | null {
  const last = words.at(-1)
  if (last?.what !== 'propose-send-again') return null
  if (doubt === null) return 'It lapsed when the row was resolved otherwise.'
  if (doubt.attempt !== last.details?.attempt) return 'It lapsed when the row was sent again.'
  const untilMs = last.atMs + PROPOSAL_LIVES_MS
  if (nowMs >= untilMs) return `It lapsed at ${isoOf(untilMs)}: it was not confirmed in time.`
  if (!doubt.twoPeople)
    return 'It is no longer needed: since the policy changed, one person alone may have the row sent again.'
  if (doubt.proposal === null) return 'It lapsed.'
  return `Nothing is sent until another person confirms it; otherwise it lapses at ${isoOf(untilMs)}.`
}

/** Under the moves of the row. */
export function sayingLines(words: readonly LogEntry[], doubt: DoubtRow | null, nowMs: number): string[] {
  const end = endOfProposal(words, doubt, nowMs)
  return [
    ...words.flatMap((word) => {
      const sayer = sayerOf(word)
      const line = `  ${isoOf(word.atMs)}  ${sayer === null ? '' : `${sayer} `}${sayingText(word)}`
      return word.reason === null ? [line] : [line, `    ${word.reason}`]
    }),
    ...(end === null ? [] : [`    ${end}`]),
  ]
}

export interface LapsedProposal {
  readonly by: string
  readonly reason: string
  /** null: no act tells when. */
  readonly atMs: number | null
}

/** Of a row in doubt: that the latest word on it is a proposal, and that it is gone. null: it stands, or there was none. */
export function lapsedProposal(words: readonly LogEntry[], doubt: DoubtRow, nowMs: number): LapsedProposal | null {
  const last = words.at(-1)
  if (last === undefined || last.details?.attempt !== doubt.attempt) return null
  if (last.what === 'lapse-send-again')
    return { by: String(last.details.proposed_by), reason: last.reason ?? '', atMs: last.atMs }
  if (last.what !== 'propose-send-again') return null
  const untilMs = last.atMs + PROPOSAL_LIVES_MS
  if (nowMs >= untilMs) return { by: last.by, reason: 'it was not confirmed in time', atMs: untilMs }
  if (doubt.proposal !== null) return null
  return { by: last.by, reason: doubt.twoPeople ? 'it lapsed' : 'the policy asks for no second person', atMs: null }
}

export function lapsedText({ by, reason, atMs }: LapsedProposal): string {
  return `The proposal of ${by} no longer stands${atMs === null ? '' : `; it lapsed at ${isoOf(atMs)}`}: ${reason}. Nothing was sent by it.`
}

export function toJsonLapsed({ by, reason, atMs }: LapsedProposal): object {
  return { by, reason, at: atMs === null ? null : isoOf(atMs) }
}
