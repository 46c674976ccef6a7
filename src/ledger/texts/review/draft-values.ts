// What was read of a row, as the tables of a draft hold it: values in one order, because by name they take longer to bind.

import type { DraftHeader, DraftRow } from '../../../domain/draft.ts'
import type { Beside } from '../../../domain/instruction.ts'
import { expiryBy } from '../../rules/dates.ts'
import { cellsText, INSTRUCTION_COLUMNS, NO_COLUMNS, toColumns } from '../instruction-columns.ts'
import type { Value } from '../script.ts'
import { DRAFT_FAULT } from './draft-rows.ts'

const COLUMNS = `row_no, line, cells, state, made, holds_reference, run_key, due_at, attempt, came_batch, came_row, beside, holder, said_operation, said_card, ${INSTRUCTION_COLUMNS}`

/** For INSERT and COPY, with the columns of these values. */
export const ROWS_OF_DRAFT = `draft_row (${COLUMNS})`
export const FAULTS_OF_DRAFT = DRAFT_FAULT

export const VALUES_OF_ROW = COLUMNS.split(', ').length
export const VALUES_OF_FAULT = 6

export function rowValues(row: DraftRow, { runKey, nowMs, expiresAfterMs = null }: DraftHeader): readonly Value[] {
  const asked = row.instruction === null ? NO_COLUMNS : toColumns(row.instruction)
  const { rowNo, line, reference, made, cells, cameFrom = null, money = null, said } = row
  const beside = row.instruction?.beside ?? null
  const read = money === null || money === 'unread' ? null : money
  const [state, holds] = row.faults.length === 0 ? ['READY', 1] : ['INVALID', 0]
  // What the file sets for all of its rows is no part of their content: it moves with the clock.
  const expiresAt = asked.expires_at ?? expiryBy(asked.execute_at, nowMs, expiresAfterMs)
  const amountMinor = asked.amount_minor ?? (read === null ? null : Number(read.amountMinor))
  return [
    ...[rowNo, line, cellsText(cells), state, made ? 1 : 0, holds, runKey, asked.execute_at ?? nowMs, 0],
    ...[cameFrom?.batchId ?? null, cameFrom?.rowNo ?? null, besideText(beside), holderText(beside)],
    ...[said?.operation ?? null, said?.card ?? null],
    ...[reference, asked.operation, amountMinor, asked.currency ?? read?.currency ?? null],
    ...[asked.order_id, asked.order_key, asked.vault_id, asked.card, asked.xtl_order_id, asked.save_card],
    ...[asked.details, asked.execute_at, expiresAt, asked.content, asked.lookalike],
  ]
}

/** A list, because a text with a colon before a word would be read as one with a parameter. */
export function besideText(beside: Beside | null): string | null {
  const said = beside === null ? [] : [beside.vaultId, beside.card, beside.xtlOrderId]
  return said.every((one) => one === null) ? null : JSON.stringify(said)
}

/** What it says of its customer, as a sale is recorded with that. */
export function holderText(beside: Beside | null): string | null {
  return beside?.details === undefined ? null : JSON.stringify(beside.details)
}

export function faultValues({ faults }: DraftRow): readonly (readonly Value[])[] {
  return faults.map(({ rowNo, line, column, value, problem, remedy }) => [rowNo, line, column, value, problem, remedy])
}
