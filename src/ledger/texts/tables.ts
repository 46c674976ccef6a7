// The tables of a ledger, for who copies all of it from one engine to another. What is not among them belongs to one engine, to one machine
// or to processes that run.

import type { Value } from './script.ts'

export interface Table {
  readonly name: string
  /** By which its rows are put in order. */
  readonly key: string
  /** Which of its rows are copied; absent: all. */
  readonly where?: string
}

const OF_OPEN_BATCHES = "batch_id IN (SELECT id FROM batch WHERE stage = 'open')"

export const TABLES: readonly Table[] = [
  { name: 'meta', key: 'key', where: "key IN ('ledger_id', 'accepted', 'approval_policy')" },
  { name: 'account', key: 'id' },
  { name: 'actor', key: 'id' },
  { name: 'run_key', key: 'account_id, form' },
  { name: 'batch', key: 'rowid', where: "stage = 'open'" },
  { name: 'approval', key: 'batch_id, identity', where: OF_OPEN_BATCHES },
  { name: 'batch_key', key: 'batch_id, key_id', where: OF_OPEN_BATCHES },
  { name: 'proposal', key: 'row_id', where: OF_OPEN_BATCHES },
  { name: 'instruction', key: 'id', where: OF_OPEN_BATCHES },
  { name: 'move', key: 'id' },
  { name: 'act', key: 'id' },
  { name: 'tally', key: 'batch_id, operation, currency, state', where: OF_OPEN_BATCHES },
  { name: 'refusal', key: 'source_id' },
  { name: 'recorded', key: 'id' },
  { name: 'chain', key: 'id' },
  { name: 'api_key', key: 'id' },
  { name: 'api_request', key: 'holder, target, idempotency_key' },
  { name: 'person', key: 'id' },
  { name: 'event', key: 'id' },
  { name: 'event_position', key: 'name' },
  { name: 'told_batch', key: 'batch_id' },
  { name: 'told_up_to', key: 'reader' },
  { name: 'refused', key: 'id' },
  { name: 'reply_to', key: 'row_id, queue' },
  { name: 'endpoint', key: 'id' },
  { name: 'delivery', key: 'endpoint_id, event_id' },
]

export function selectOf({ name, key, where }: Table, columns: readonly string[]): string {
  return `SELECT ${columns.join(', ')} FROM ${name}${where === undefined ? '' : ` WHERE ${where}`} ORDER BY ${key}`
}

/** One engine's tables, at one moment. Rows go as text, a line for each, cut anywhere. */
export interface TableStore {
  /** Those of the rows, in their order. */
  columnsOf(table: Table): Promise<readonly string[]>
  read(table: Table, columns: readonly string[]): AsyncIterable<string | Buffer>
  /** To a table that has none of its rows. */
  write(table: Table, columns: readonly string[], lines: AsyncIterable<string | Buffer>): Promise<void>
}

// ───────────────────────────────────────────────────────────── Lines

const ESCAPES = new Map([
  ['\\', '\\\\'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])
const UNESCAPED = new Map([...ESCAPES].map(([plain, escaped]) => [escaped, plain]))

/** As COPY of PostgreSQL writes and reads it: values between tabs, NULL as \N. */
export function lineOf(values: readonly Value[]): string {
  const cells = values.map((value) =>
    value === null || value === undefined
      ? '\\N'
      : String(value).replace(/[\\\b\f\n\r\t\v]/g, (one) => ESCAPES.get(one) as string),
  )
  return `${cells.join('\t')}\n`
}

/** Of a line without its end. */
export function valuesOf(line: string): (string | null)[] {
  return line
    .split('\t')
    .map((cell) => (cell === '\\N' ? null : cell.replace(/\\./g, (one) => UNESCAPED.get(one) ?? one.slice(1))))
}
