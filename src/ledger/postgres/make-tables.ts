// Makes the tables of a ledger on a server, and keeps room in them. A ledger with the tables of another version is refused and not touched.

import { Fault } from '../../domain/fault.ts'
import { otherProgramFault, otherVersionFault } from '../other-version.ts'
import { type Engine, FAULTING } from '../texts/engine.ts'
import { change, one, type Script } from '../texts/script.ts'
import { isThereAlready, throwAsFault } from './errors.ts'
import { LOCKS } from './locks.ts'
import { ROWS_PER_PARTITION, SCHEMA, SCHEMA_VERSION } from './schema.ts'
import { quoteName, type Session } from './session.ts'

/** Where there are none. Of several programs one makes them, and the others find them. Faults where they are another version's. */
export async function makeTables(session: Session, schema: string): Promise<void> {
  return session.patiently(() => makeTablesNow(session, schema)).catch(throwAsFault)
}

async function makeTablesNow(session: Session, schema: string): Promise<void> {
  // READ COMMITTED: whoever waited here must see what the one before it has made.
  await session.exec(
    `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(${LOCKS.making}, hashtext('${schema.replaceAll("'", "''")}'))`,
  )
  try {
    const name = quoteName(schema)
    const isMade = await hasTables(session, schema)
    if (!isMade) {
      const { exists } = await assertMayMake(session, schema)
      await assertEncoding(session)
      if (!exists) await session.exec(`CREATE SCHEMA ${name}`)
    }
    await session.exec(`SET LOCAL search_path TO ${name}`)
    if (isMade) await session.run(assertOwnVersion(schema))
    else await session.exec(SCHEMA)
    await session.commit()
  } catch (error) {
    await session.rollback()
    if (!isThereAlready(error)) throw error
    throw otherProgramFault(`The schema ${schema}`, 'TRANCHE_LEDGER_URL and TRANCHE_LEDGER_SCHEMA')
  }
}

/** Needs no right in the schema. Two names, because that of the first is one of many programs. */
export async function hasTables(session: Session, schema: string): Promise<boolean> {
  const [found] = await session.exec(`
    SELECT count(*) = 2 AS has FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = '${schema.replaceAll("'", "''")}' AND c.relname IN ('migration', 'instruction')`)
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

/**
 * In a transaction: another version of the program may have changed the tables since this one opened them. `schema`: named, where its user may
 * lack the right to use it; a table that is looked for without its schema is then said not to exist.
 */
export function* assertOwnVersion(schema: string | null = null): Script<void> {
  const table = schema === null ? 'migration' : `${quoteName(schema)}.migration`
  const { version } = (yield* one<{ version: number }>(`SELECT max(version) AS version FROM ${table}`))!
  if (version === SCHEMA_VERSION) return
  const where = (yield* one<{ name: string }>(WHERE))!
  throw otherVersionFault(where.name, version, SCHEMA_VERSION)
}

const WHERE = "SELECT 'in schema ' || current_schema() || ' of database ' || current_database() AS name"

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
