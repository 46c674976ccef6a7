// The tables of a ledger in SQLite, as text that any engine takes.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { lineOf, selectOf, type Table, type TableStore, valuesOf } from '../../texts/tables.ts'
import { findRows } from '../found.ts'

/** So many characters are handed over at once. */
const PART = 65_536

/** In the transaction that is open on `db`. */
export function tablesIn(db: DatabaseSync): TableStore {
  return {
    columnsOf: async (table) => columnsOf(db, table).map(({ name }) => name),

    async *read(table, columns) {
      const statement = db.prepare(selectOf(table, columns))
      statement.setReadBigInts(true)
      statement.setReturnArrays(true)
      let part = ''
      for (const row of statement.iterate() as Iterable<unknown> as Iterable<readonly SQLOutputValue[]>) {
        part += lineOf(row.map(toValue))
        if (part.length < PART) continue
        yield part
        part = ''
      }
      if (part !== '') yield part
    },

    async write(table, columns, lines) {
      const types = new Map(columnsOf(db, table).map(({ name, type }) => [name, type]))
      const readers = columns.map((column) => READERS[types.get(column) as ColumnType])
      const insert = db.prepare(
        `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      )
      for await (const line of wholeLines(lines))
        insert.run(...valuesOf(line).map((value, i) => (value === null ? null : (readers[i] as Reader)(value))))
    },
  }
}

type ColumnType = 'INTEGER' | 'REAL' | 'TEXT'
type Reader = (text: string) => string | number | bigint

const READERS: Readonly<Record<ColumnType, Reader>> = { INTEGER: BigInt, REAL: Number, TEXT: (text) => text }

interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** The order in which batches were made is kept as well. */
function columnsOf(db: DatabaseSync, { name }: Table): readonly Column[] {
  const columns = findRows<Column>(db.prepare('SELECT name, type FROM pragma_table_info(?)'), name)
  return name === 'batch' ? [{ name: 'rowid', type: 'INTEGER' }, ...columns] : columns
}

/** Not every engine holds the character that ends a text, or halves of characters; what is written down since has neither. */
function toValue(value: SQLOutputValue): string | number | bigint | null {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD')
  if (value instanceof Uint8Array) throw new Error('bug: no column holds bytes')
  return value
}

async function* wholeLines(parts: AsyncIterable<string | Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of parts) {
    const lines = (rest + (typeof part === 'string' ? part : decoder.decode(part, { stream: true }))).split('\n')
    rest = lines.pop() as string
    yield* lines
  }
}
