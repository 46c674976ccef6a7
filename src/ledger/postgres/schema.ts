// Brings the tables of a ledger on a server up to this program's version, and keeps room in them.

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../../domain/fault.ts'
import { type Engine, FAULTING } from '../texts/engine.ts'
import { change, one, type Script } from '../texts/script.ts'
import { triedLongFault, whyNotWritten } from './errors.ts'
import { LOCKS } from './locks.ts'
import { MIGRATIONS, ROWS_PER_PARTITION } from './migrations.ts'
import { quoteName, type Session } from './session.ts'

/** Of the tables, as this program knows them. */
export const VERSION = MIGRATIONS.length

/** While an upgrade waits for a table, all who come for it later wait as well. So it gives way to them, and tries again. */
const GIVES_WAY_AFTER_MS = 2_000
const AGAIN_AFTER_MS = 1_000
const TRIES = 20

/** Brings the tables up to this program's version, one program at a time. A ledger of a newer program is refused, not touched. */
export async function migrate(session: Session, schema: string): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await session.patiently(() => migrateNow(session, schema)) // an index over all rows may take minutes
    } catch (error) {
      if (session.isOver || whyNotWritten(error) !== 'busy') throw error
      if (left === 1) throw triedLongFault(error)
    }
    await sleep(AGAIN_AFTER_MS)
  }
}

async function migrateNow(session: Session, schema: string): Promise<void> {
  const name = quoteName(schema)
  await session.exec(
    `BEGIN; SELECT pg_advisory_xact_lock(${LOCKS.migrating}, hashtext('${schema.replaceAll("'", "''")}'))`,
  )
  try {
    if (!(await hasTables(session, schema))) {
      const { exists } = await assertMayMake(session, schema)
      await session.exec(`
        ${exists ? '' : `CREATE SCHEMA ${name};`}
        CREATE TABLE ${name}.migration (version BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())`)
    }
    await session.exec(`SET LOCAL search_path TO ${name}`)
    const [found] = await session.exec(`SELECT coalesce(max(version), 0) AS version FROM ${name}.migration`)
    const { version } = found as { version: number }
    if (version > VERSION) throw newerFault()
    await assertEncoding(session)
    await session.exec(`SET LOCAL lock_timeout TO ${GIVES_WAY_AFTER_MS}`)
    for (const [i, text] of MIGRATIONS.slice(version).entries()) {
      await session.exec(text)
      await session.exec(`INSERT INTO migration (version) VALUES (${version + i + 1})`)
    }
    await session.commit()
  } catch (error) {
    await session.rollback()
    throw error
  }
}

/** Needs no right in the schema. */
export async function hasTables(session: Session, schema: string): Promise<boolean> {
  const [found] = await session.exec(`
    SELECT count(*) > 0 AS has FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = '${schema.replaceAll("'", "''")}' AND c.relname = 'migration'`)
  return (found as { has: boolean }).has
}

/** Faults where the user of the session may not make a ledger there. Changes nothing. */
export async function assertMayMake(session: Session, schema: string): Promise<{ readonly exists: boolean }> {
  const { exists, lacks } = await rightsToMake(session, schema)
  if (lacks === null) return { exists }
  throw new Fault('config', `${lacks.what}. Nothing was changed. ${lacks.remedy}`)
}

interface Rights {
  /** The schema is there. */
  readonly exists: boolean
  /** null: nothing. In sentences. */
  readonly lacks: { readonly what: string; readonly remedy: string } | null
}

export async function rightsToMake(session: Session, schema: string): Promise<Rights> {
  const name = quoteName(schema)
  const [found] = await session.exec(`
    SELECT current_user AS "user", current_database() AS database, to_regnamespace('${name}') IS NOT NULL AS exists,
      CASE WHEN to_regnamespace('${name}') IS NULL THEN has_database_privilege(current_database(), 'CREATE')
        ELSE has_schema_privilege(to_regnamespace('${name}'), 'USAGE')
          AND has_schema_privilege(to_regnamespace('${name}'), 'CREATE') END AS may`)
  const { user, database, exists, may } = found as { user: string; database: string; exists: boolean; may: boolean }
  if (may) return { exists, lacks: null }
  const [what, owned, grant] = exists
    ? [`tables in the schema ${schema}`, 'schema', `USAGE, CREATE ON SCHEMA ${name}`]
    : [`a schema in the database ${database}`, 'database', `CREATE ON DATABASE ${quoteName(database)}`]
  return {
    exists,
    lacks: {
      what: `The PostgreSQL user ${user} may not make ${what}, which a ledger needs`,
      remedy: `Let the owner of the ${owned} run: GRANT ${grant} TO ${quoteName(user)}`,
    },
  }
}

/** In a transaction: another host may have been upgraded since this process opened the ledger. */
export function* assertOwnVersion(): Script<void> {
  const { version } = (yield* one<{ version: number }>('SELECT max(version) AS version FROM migration'))!
  if (version !== VERSION) throw newerFault()
}

/** Long before they are needed: there is always one that nothing has reached yet. */
export async function keepPartitions(engine: Engine): Promise<void> {
  const lacks = () => one<{ lacks: boolean }>(`SELECT lacks_partitions(${ROWS_PER_PARTITION}) AS lacks`)
  if (!(await engine.read(lacks))?.lacks) return
  await engine.write(() => change(`SELECT make_partitions(${ROWS_PER_PARTITION})`), FAULTING)
}

export interface LastIds {
  readonly instruction: number
  readonly move: number
}

/** Partitions for rows that come with their ids, and numbers that go on behind these. */
export async function makeRoomUpTo(session: Session, { instruction, move }: LastIds): Promise<void> {
  const numberUpTo = (sequence: string, id: number) => `SELECT setval('${sequence}', ${Math.max(id, 1)}, ${id > 0})`
  for (let at = 0; ; at += ROWS_PER_PARTITION) {
    await session.exec(numberUpTo('instruction_id', Math.min(at, instruction)))
    await session.exec(numberUpTo('move_id', Math.min(at, move)))
    await session.exec(`SELECT make_partitions(${ROWS_PER_PARTITION})`)
    if (at >= instruction && at >= move) return
  }
}

/** What people and gateways write has every character there is. */
async function assertEncoding(session: Session): Promise<void> {
  const [found] = await session.exec("SELECT current_setting('server_encoding') AS encoding")
  const { encoding } = found as { encoding: string }
  if (encoding === 'UTF8') return
  throw new Fault(
    'config',
    `The database of the ledger holds ${encoding}, which lacks characters that answers may have. Nothing was changed. Make one with ENCODING 'UTF8'.`,
  )
}

function newerFault(): Fault {
  return new Fault(
    'config',
    'The ledger was written by a newer version of tranche. Nothing was changed. Use that version.',
  )
}
