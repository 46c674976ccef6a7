// The same tables with the same rows in SQLite and in PostgreSQL, and the same scripts run on both.

import { DatabaseSync } from 'node:sqlite'
import { PGlite, types } from '@electric-sql/pglite'
import { indexDraftTables, makeDraftTables } from '../../../src/ledger/sqlite/draft-tables.ts'
import { runNow } from '../../../src/ledger/sqlite/run-script.ts'
import { migrate } from '../../../src/ledger/sqlite/schema.ts'
import { POSTGRES, spell } from '../../../src/ledger/texts/dialect.ts'
import type { Script, Value } from '../../../src/ledger/texts/script.ts'

const RECORD = ['account', 'batch', 'instruction', 'move', 'act', 'odd_reference'] as const
const DRAFT = ['draft_row', 'draft_fault', 'draft_order', 'draft_repeat'] as const
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
  migrate(db)
  makeDraftTables(db)
  indexDraftTables(db)
  const pg = await PGlite.create()
  for (const table of TABLES) await pg.exec(postgresTable(db, table))

  /** By way of SQLite, which knows what stands in a column that is not named. */
  async function add(rows: Rows): Promise<void> {
    for (const table of TABLES) {
      for (const row of rows[table] ?? []) insertInto(db, table, row)
      await pg.exec(`DELETE FROM ${table}`)
      const copied = JSON.stringify(allOf(db, table), (_, value) => (typeof value === 'bigint' ? String(value) : value))
      await pg.query(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`, [copied])
    }
    await pg.exec("SELECT setval(pg_get_serial_sequence('draft_fault', 'id'), 1000000)")
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
        postgres: await outcomeOf(() => runOn(pg, script())),
      }
    },
    async draft() {
      const sqlite: Record<string, unknown> = {}
      const postgres: Record<string, unknown> = {}
      for (const table of DRAFT) {
        sqlite[table] = allOf(db, table).map(({ id: _, ...row }) => row)
        const found = await pg.query<Row>(`SELECT * FROM ${table} ORDER BY ${ORDER[table]}`, [], { parsers: EXACT })
        postgres[table] = found.rows.map(({ id: _, ...row }) => row)
      }
      return { sqlite, postgres }
    },
    async close() {
      db.close()
      await pg.close()
    },
  }
}

/** Awaits each step, which SQLite never does. */
async function runOn<T>(pg: PGlite, script: Script<T>): Promise<T> {
  let step = script.next()
  while (step.done !== true) {
    const { values, found: how } = step.value
    const { text, names } = spell(step.value.text, POSTGRES)
    const given = names.map((name) => values[name])
    const rowMode = how === 'lists' ? 'array' : 'object'
    const found = await pg.query(text, given, { parsers: how === 'exact' ? EXACT : SAFE, rowMode })
    step = script.next(found.rows)
  }
  return step.value
}

const EXACT = { [types.INT8]: BigInt, [types.NUMERIC]: BigInt }
const SAFE = { [types.INT8]: toSafe, [types.NUMERIC]: toSafe }

function toSafe(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new Error(`${text} is read as a number`)
  return number
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
  odd_reference: 'account_id, as_read, reference',
  draft_row: 'row_no',
  draft_fault: 'row_no, id',
  draft_order: 'order_key',
  draft_repeat: 'row_no',
}

function allOf(db: DatabaseSync, table: Table): Row[] {
  const all = db.prepare(`SELECT * FROM ${table} ORDER BY ${ORDER[table]}`)
  all.setReadBigInts(true)
  return all.all() as Row[]
}

function insertInto(db: DatabaseSync, table: Table, row: Row): void {
  const names = Object.keys(row)
  db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?')})`).run(...Object.values(row))
}

const TYPES: Readonly<Record<string, string>> = {
  INTEGER: 'bigint',
  TEXT: 'text COLLATE "C"',
  REAL: 'double precision',
}

/** As the migrations made it, with the types of PostgreSQL. */
function postgresTable(db: DatabaseSync, table: Table): string {
  const found = db
    .prepare('SELECT name, type, dflt_value AS fallback, pk FROM pragma_table_info(?) ORDER BY cid')
    .all(table)
  const columns = (found as { name: string; type: string; fallback: string | null; pk: number }[]).map(
    ({ name, type, fallback }) => `${name} ${TYPES[type]}${fallback === null ? '' : ` DEFAULT ${fallback}`}`,
  )
  const temporary = table.startsWith('draft_') ? 'TEMP ' : ''
  const made = `CREATE ${temporary}TABLE ${table} (${columns.join(', ')});`
  return table === 'draft_fault'
    ? `${made} ALTER TABLE draft_fault ALTER id SET NOT NULL, ALTER id ADD GENERATED BY DEFAULT AS IDENTITY;`
    : made
}
