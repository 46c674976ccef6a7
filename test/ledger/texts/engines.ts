// The same tables with the same rows in SQLite and in PostgreSQL, and the same scripts run on both.

import { DatabaseSync } from 'node:sqlite'
import { makeTables as makeOnServer } from '../../../src/ledger/postgres/make-tables.ts'
import { openSession } from '../../../src/ledger/postgres/session.ts'
import { makeTables } from '../../../src/ledger/sqlite/make-tables.ts'
import { runNow } from '../../../src/ledger/sqlite/run-script.ts'
import { indexDraftTables, makeDraftTables } from '../../../src/ledger/texts/review/draft-tables.ts'
import { allExact, type Script, type Value } from '../../../src/ledger/texts/script.ts'
import { newSchemaName, sharedCluster } from '../../fixtures/postgres.ts'

const RECORD = ['account', 'batch', 'instruction', 'move', 'act'] as const
const DRAFT = ['draft_row', 'draft_fault', 'draft_order', 'draft_of_order', 'draft_question'] as const
const TABLES = [...RECORD, ...DRAFT]

export type Table = (typeof TABLES)[number]
export type Row = Readonly<Record<string, Value>>
export type Rows = Partial<Readonly<Record<Table, readonly Row[]>>>

export interface Engines {
  /** Takes away what is there, and fills both with these. */
  refill(rows: Rows): Promise<void>
  /** Adds to what is there. */
  add(rows: Rows): Promise<void>
  /** What each finds. What it throws is found as well. */
  run(script: () => Script<unknown>): Promise<{ readonly sqlite: unknown; readonly postgres: unknown }>
  /** What stands in the tables of the draft. */
  draft(): Promise<{ readonly sqlite: unknown; readonly postgres: unknown }>
  close(): Promise<void>
}

export async function openEngines(): Promise<Engines> {
  const db = new DatabaseSync(':memory:')
  makeTables(db)
  runNow(db, makeDraftTables())
  runNow(db, indexDraftTables())
  const { url } = await sharedCluster()
  const schema = newSchemaName()
  const pg = await openSession({ url, schema })
  await makeOnServer(pg, schema)
  const inTransaction = async <T>(run: () => Promise<T>): Promise<T> => {
    await pg.begin('READ COMMITTED')
    try {
      const found = await run()
      await pg.commit()
      return found
    } catch (error) {
      await pg.rollback()
      throw error
    }
  }
  await inTransaction(() => pg.run(makeDraftTables()))
  await inTransaction(() => pg.run(indexDraftTables()))

  /** By way of SQLite, which knows what stands in a column that is not named. */
  async function add(rows: Rows): Promise<void> {
    for (const table of TABLES) for (const row of rows[table] ?? []) insertInto(db, table, row)
    await inTransaction(async () => {
      await pg.exec('SET LOCAL session_replication_role TO replica') // whatever holds these references, no trigger is asked
      for (const table of TABLES) {
        await pg.exec(`DELETE FROM ${table}`)
        const copied = JSON.stringify(allOf(db, table), (_, value) =>
          typeof value === 'bigint' ? String(value) : value,
        )
        const columns = columnsOf(db, table)
        await pg.ask(
          `INSERT INTO ${table} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1)`,
          [copied],
        )
      }
      await pg.exec("SELECT setval(pg_get_serial_sequence('draft_fault', 'id'), 1000000)")
    })
  }

  return {
    add,
    async refill(rows) {
      for (const table of TABLES.toReversed()) db.exec(`DELETE FROM ${table}`)
      await add(rows)
    },
    async run(script) {
      return {
        sqlite: await outcomeOf(async () => runNow(db, script())),
        postgres: await outcomeOf(() => inTransaction(() => pg.run(script()))),
      }
    },
    async draft() {
      const sqlite: Record<string, unknown> = {}
      const postgres: Record<string, unknown> = {}
      for (const table of DRAFT) {
        sqlite[table] = allOf(db, table).map(({ id: _, ...row }) => row)
        const found = await inTransaction(() =>
          pg.run(allExact<Row>(`SELECT * FROM ${table} ORDER BY ${ORDER[table]}`)),
        )
        postgres[table] = found.map(({ id: _, ...row }) => row)
      }
      return { sqlite, postgres }
    },
    async close() {
      db.close()
      await inTransaction(() => pg.exec(`DROP SCHEMA ${schema} CASCADE`))
      await pg.close()
    },
  }
}

async function outcomeOf(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return { found: await run() }
  } catch (error) {
    return { thrown: (error as Error).message }
  }
}

const ORDER: Readonly<Record<Table, string>> = {
  account: 'id',
  batch: 'id',
  instruction: 'id',
  move: 'id',
  act: 'id',
  draft_row: 'row_no',
  draft_fault: 'row_no, id',
  draft_order: 'order_key',
  draft_of_order: 'order_key, row_no',
  draft_question: 'row_no',
}

function allOf(db: DatabaseSync, table: Table): Row[] {
  const all = db.prepare(`SELECT * FROM ${table} ORDER BY ${ORDER[table]}`)
  all.setReadBigInts(true)
  return all.all() as Row[]
}

function columnsOf(db: DatabaseSync, table: Table): string {
  const found = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(table)
  return found.map(({ name }) => name).join(', ')
}

function insertInto(db: DatabaseSync, table: Table, row: Row): void {
  const names = Object.keys(row)
  db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?')})`).run(...Object.values(row))
}
