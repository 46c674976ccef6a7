// Whether the tables of a ledger are those that this program makes. Anything else was put there by another program.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../domain/fault.ts'
import { words } from '../../../domain/words.ts'
import { openConnection } from '../../../files/sqlite-file.ts'
import { findRows } from '../found.ts'
import { makeTables } from '../make-tables.ts'

/** At every opening, of the tables that are in memory by then: a trigger runs with every write of this program. */
export function refuseForeignCode(db: DatabaseSync, path: string): void {
  const found = db
    .prepare("SELECT type, name FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name LIMIT 1")
    .get() as { type: string; name: string } | undefined
  if (found === undefined) return
  throw new Fault(
    'storage',
    words`The ledger ${path} has a ${found.type} ${found.name}, which this program never makes: another program wrote to it, and what it holds may not be true. Nothing was sent. Find out who did it, and compare the record with a backup (${{ act: 'diagnose', look: 'deep' }}) before anything is sent from it.`,
  )
}

interface SchemaObject {
  readonly type: string
  readonly name: string
  readonly sql: string | null
}

export type SchemaDifference = SchemaObject & { readonly how: 'missing' | 'foreign' | 'other' }

export function schemaDifferences(db: DatabaseSync): SchemaDifference[] {
  const [expected, found] = [ownObjects(), objectsOf(db)]
  const missing = [...expected.values()].filter(({ name }) => !found.has(name))
  return [
    ...missing.map((object) => ({ ...object, how: 'missing' as const })),
    ...[...found.values()].flatMap((object): SchemaDifference[] => {
      const own = expected.get(object.name)
      if (own === undefined) return [{ ...object, how: 'foreign' }]
      return own.type === object.type && own.sql === object.sql ? [] : [{ ...object, how: 'other' }]
    }),
  ]
}

let made: Map<string, SchemaObject> | null = null

function ownObjects(): Map<string, SchemaObject> {
  if (made !== null) return made
  const db = openConnection(':memory:')
  makeTables(db)
  made = objectsOf(db)
  db.close()
  return made
}

/** Statistics that a person had SQLite gather change no row. */
function objectsOf(db: DatabaseSync): Map<string, SchemaObject> {
  const objects = db.prepare("SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]'")
  return new Map(findRows<SchemaObject>(objects).map((object) => [object.name, object]))
}
