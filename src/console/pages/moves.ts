// Every move of a row: when, why, by whom, and what the gateway said; and what people said to sending it once more.

import type { LogEntry } from '../../domain/acts.ts'
import type { DoubtRow } from '../../domain/doubt.ts'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { statusOf } from '../../domain/states.ts'
import { type Html, html } from '../../present/html.ts'
import { endOfProposal, sayerOf, sayingText } from '../../present/proposals.ts'
import { moment, NOTHING, stateText, table } from '../parts.ts'
import { linked } from '../ways.ts'

const COLUMNS = [
  { name: 'When' },
  { name: 'Became', kind: 'word' },
  { name: 'Cause' },
  { name: 'Attempt', kind: 'number' },
  { name: 'By' },
  { name: 'HTTP', kind: 'number' },
  { name: 'Why', kind: 'text' },
  { name: 'Answer', kind: 'text' },
] as const

export function movesTable(moves: readonly HistoryMove[]): Html {
  const rows = moves.map(({ atMs, to, cause, attempt, by, httpStatus, reason, answerText }) => [
    moment(atMs),
    stateText(statusOf(to)),
    html`${cause}`,
    html`${attempt === 0 ? '' : attempt}`,
    html`${by}`,
    html`${httpStatus}`,
    html`${reason}`,
    html`${answerText}`,
  ])
  return table('Every move of this row, the first above', COLUMNS, rows)
}

const WORD_COLUMNS = [
  { name: 'When' },
  { name: 'Who' },
  { name: 'What', kind: 'text' },
  { name: 'Why', kind: 'text' },
] as const

/** None of it is a move: what is only proposed moves nothing. */
export function wordsTable(words: readonly LogEntry[], doubt: DoubtRow | null, nowMs: number): Html {
  if (words.length === 0) return NOTHING
  const rows = words.map((word) => [
    moment(word.atMs),
    html`${sayerOf(word)}`,
    html`${sayingText(word)}`,
    html`${word.reason}`,
  ])
  const end = endOfProposal(words, doubt, nowMs)
  return html`${table('Said to sending it once more', WORD_COLUMNS, rows)}${end === null ? NOTHING : html`<p>The latest proposal: ${linked(lowered(end))}</p>`}`
}

function lowered(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`
}
