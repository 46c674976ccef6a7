// Every move of a row: when, why, by whom, and what the gateway said; and what people said to sending it once more.

import type { LogEntry } from '../../domain/acts.ts'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { statusOf } from '../../domain/states.ts'
import { type Html, html } from '../../present/html.ts'
import { moment, NOTHING, stateText, table } from '../parts.ts'

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

const WORDS: Readonly<Record<string, string>> = {
  'propose-send-again': 'proposed to send it once more',
  'confirm-send-again': 'confirmed that it is sent once more',
  'refuse-send-again': 'refused to send it once more',
}

const WORD_COLUMNS = [
  { name: 'When' },
  { name: 'Who' },
  { name: 'What', kind: 'text' },
  { name: 'Why', kind: 'text' },
] as const

/** None of it is a move: what is only proposed moves nothing. */
export function wordsTable(words: readonly LogEntry[]): Html {
  if (words.length === 0) return NOTHING
  const rows = words.map(({ atMs, what, by, reason, details }) => [
    moment(atMs),
    html`${by}`,
    html`${WORDS[what] ?? what}, after attempt ${details?.attempt ?? ''}`,
    html`${reason}`,
  ])
  return table('Said to sending it once more', WORD_COLUMNS, rows)
}
