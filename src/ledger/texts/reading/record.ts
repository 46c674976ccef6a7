// Everything that the ledger holds of a batch, for a file that outlives it.

import type { RecordLine } from '../../../domain/archive.ts'
import type { BatchId } from '../../../domain/ids.ts'
import type { Pages } from '../../../domain/pages.ts'
import type { BatchRecord } from '../../../ports/ledger/queries.ts'
import type { Reader } from '../engine.ts'
import { ROWS_PER_PAGE } from '../pages.ts'
import { all, type Script } from '../script.ts'
import { columnsOf } from './batch-view.ts'

type Columns = RecordLine['values']

/** Of one moment: `reader` sees nothing that is committed after its first read. */
export async function openRecord(reader: Reader, batchId: BatchId): Promise<BatchRecord> {
  const { version } = await reader.read(() => columnsOf(batchId))
  return { version, lines: () => linesOf(reader, batchId), close: () => reader.close() }
}

const BATCH = `
    SELECT b.*, a.name AS merchant, a.url, a.username FROM batch b JOIN account a ON a.id = b.account_id WHERE b.id = :batchId`
const ROWS = `
    SELECT * FROM instruction WHERE batch_id = :batchId AND row_no > :after ORDER BY row_no LIMIT ${ROWS_PER_PAGE}`
const MOVES = `
    SELECT * FROM move WHERE row_id IN (SELECT CAST(e.value AS BIGINT) FROM json_each(:ids) e) ORDER BY id`
const ACTS = 'SELECT * FROM act WHERE batch_id = :batchId ORDER BY id'

async function* linesOf(reader: Reader, batchId: BatchId): Pages<RecordLine> {
  yield linesAs('batch', await reader.read(() => all<Columns>(BATCH, { batchId })))
  for (let after = 0; ; ) {
    const { rows, moves } = await reader.read(() => pageOf(batchId, after))
    if (rows.length === 0) break
    yield [...linesAs('row', rows), ...linesAs('move', moves)]
    after = rows.at(-1)?.row_no as number
  }
  yield linesAs('act', await reader.read(() => all<Columns>(ACTS, { batchId })))
}

function* pageOf(batchId: BatchId, after: number): Script<{ rows: readonly Columns[]; moves: readonly Columns[] }> {
  const rows = yield* all<Columns>(ROWS, { batchId, after })
  return { rows, moves: yield* all<Columns>(MOVES, { ids: JSON.stringify(rows.map(({ id }) => id)) }) }
}

function linesAs(of: RecordLine['of'], found: readonly Columns[]): readonly RecordLine[] {
  return found.map((values) => ({ of, values }))
}
