// Rows of a record and of a draft, as the tables of an engine hold them.

import type { DraftHeader } from '../../../src/domain/draft.ts'
import type { AccountId } from '../../../src/domain/ids.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { NO_COLUMNS, toColumns } from '../../../src/ledger/texts/instruction-columns.ts'
import { DAY_MS, headerOf, looksMade, NOW, refund } from '../../fixtures/ledgers.ts'
import type { Row, Rows } from './engines.ts'

export const SHOP = 1 as AccountId
const OTHER = 2 as AccountId

/** Batches of the shop: two that are open, and what another submit is writing. One of another account. */
export const OPEN = '260401-aaaaa'
export const OPEN_TOO = '260402-bbbbb'
const DRAFTED = '260403-ccccc'
export const OF_OTHER = '260404-ddddd'

export function headed(over: Partial<DraftHeader> = {}): DraftHeader {
  return headerOf(SHOP, { lookalikeDays: 20, nowMs: NOW, ...over })
}

const batch = (id: string, accountId: number, stage: string): Row => ({
  ...{ id, account_id: accountId, source: 'file', stage, reading: '', columns: '[]', sandbox: 0 },
  ...{ created_at: NOW - 3 * DAY_MS, created_by: 'clerk', rows: 0 },
})

export const PLACES: Rows = {
  account: [SHOP, OTHER].map((id) => ({ id, name: `m${id}`, url: `u${id}`, username: 'u', created_at: NOW })),
  batch: [
    batch(OPEN, SHOP, 'open'),
    batch(OPEN_TOO, SHOP, 'open'),
    batch(DRAFTED, SHOP, 'draft'),
    batch(OF_OTHER, OTHER, 'open'),
  ],
}

/** Approved a day ago, unless it is said otherwise. */
export function recorded(rowNo: number, given: Instruction | string, over: Row = {}): Row {
  const instruction = typeof given === 'string' ? refund(given) : given
  const state = over.state ?? 'APPROVED'
  const batchId = over.batch_id ?? OPEN
  return {
    ...toColumns(instruction),
    ...{
      batch_id: batchId,
      account_id: batchId === OF_OTHER ? OTHER : SHOP,
      row_no: rowNo,
      line: rowNo + 1,
      cells: '[]',
    },
    made: looksMade(instruction.reference) ? 1 : 0,
    ...{ holds_reference: state === 'INVALID' || state === 'DUPLICATE' ? 0 : 1, due_at: NOW, attempt: 1 },
    ...{ state, sent_at: NOW - DAY_MS, completed_at: NOW - DAY_MS },
    ...over,
  }
}

export const inDraft: Row = { batch_id: DRAFTED }

export function drafted(rowNo: number, given: Instruction | string, over: Row = {}): Row {
  const instruction = typeof given === 'string' ? refund(given) : given
  return {
    ...toColumns(instruction),
    ...{ row_no: rowNo, line: rowNo + 1, cells: JSON.stringify([instruction.reference]), state: 'READY' },
    ...{ made: looksMade(instruction.reference) ? 1 : 0, holds_reference: 1, due_at: NOW, attempt: 0 },
    ...over,
  }
}

/** Which could not be read, with what was wrong. */
export function unread(rowNo: number, reference: string, over: Row = {}): Row {
  return {
    ...NO_COLUMNS,
    ...{ reference, row_no: rowNo, line: rowNo + 1, cells: '[]', state: 'INVALID', holds_reference: 0, due_at: NOW },
    ...{ made: looksMade(reference) ? 1 : 0, attempt: 0 },
    ...over,
  }
}

export function wrong(rowNo: number, over: Row = {}): Row {
  return {
    ...{ row_no: rowNo, line: rowNo + 1, column_name: 'amount', value: 'ten', problem: 'not an amount' },
    remedy: 'write 10.00',
    ...over,
  }
}

export const from = (cameRow: number, cameBatch = OPEN): Row => ({ came_batch: cameBatch, came_row: cameRow })
