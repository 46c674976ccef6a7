// Every move of a row: when, why, by whom, and what the gateway said.

import type { HistoryMove } from '../../domain/reconciliation.ts'
import { statusOf } from '../../domain/states.ts'
import { type Html, html } from '../../present/html.ts'
import { moment, stateText, table } from '../parts.ts'

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
