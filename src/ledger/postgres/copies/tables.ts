// The tables of a ledger in PostgreSQL, as text that any engine takes.

import { to as copyTo } from 'pg-copy-streams'
import { selectOf, type TableStore } from '../../texts/tables.ts'
import { copyIn } from '../copy-in.ts'
import type { Session } from '../session.ts'

/** In the transaction that is open on `session`. Each table may take as long as it takes. */
export function tablesOf(session: Session): TableStore {
  return {
    async columnsOf({ name }) {
      const found = await session.ask<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
        [name],
      )
      return found.map((column) => column.name)
    },
    read: (table, columns) => session.client.query(copyTo(`COPY (${selectOf(table, columns)}) TO STDOUT`)),
    write: ({ name }, columns, lines) =>
      session.patiently(() => copyIn(session, `${name} (${columns.join(', ')})`, lines)),
  }
}
