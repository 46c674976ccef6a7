// A ledger that moves here from a file: filled in one transaction, and asleep until the file sends nothing any more.

import type { Actor } from '../../../domain/actor.ts'
import { Fault } from '../../../domain/fault.ts'
import { words } from '../../../domain/words.ts'
import { copyTables } from '../../copy-tables.ts'
import { recordAct } from '../../texts/record/acts.ts'
import { all, change, one, type Script } from '../../texts/script.ts'
import { TABLES, type TableStore } from '../../texts/tables.ts'
import { assertMayMake, hasTables, type LastIds, makeRoomUpTo, makeTables } from '../make-tables.ts'
import { quoteName, type Session } from '../session.ts'
import { beginEpoch, type Failover, keep, remember, serverIdentity } from './identity.ts'
import { tablesOf } from './tables.ts'

/**
 * - `nothing`: no ledger
 * - `arriving`: this one was copied whole, and has not been woken
 * - `arrived`: the one that was moved with this token
 * - `another`: another ledger, or this one awake under another token
 */
export type Target = 'nothing' | 'arriving' | 'arrived' | 'another'

/** What moves there. */
interface Moving {
  readonly ledgerId: string
  /** null: it has not been moved yet. */
  readonly token: string | null
}

function* targetOf({ ledgerId, token }: Moving): Script<Target> {
  const meta = new Map(
    (yield* all<{ key: string; value: string }>(
      "SELECT key, value FROM meta WHERE key IN ('ledger_id', 'unfinished', 'moved_here')",
    )).map(({ key, value }) => [key, value]),
  )
  if (meta.get('ledger_id') === undefined) return 'nothing'
  if (meta.get('ledger_id') !== ledgerId) return 'another'
  if (meta.get('unfinished') === 'arriving') return 'arriving'
  return token !== null && meta.get('moved_here') === token ? 'arrived' : 'another'
}

/** Faults where nothing could be made there. Changes nothing. */
export async function lookAtTarget(session: Session, schema: string, moving: Moving): Promise<Target> {
  if (await hasTables(session, schema)) {
    await session.begin('READ COMMITTED')
    const target = await session.run(targetOf(moving))
    await session.rollback()
    return target
  }
  await assertMayMake(session, schema)
  return 'nothing'
}

export interface Arrival {
  readonly from: TableStore
  readonly ledgerId: string
  readonly token: string
  /** Of the file: the number of its newest epoch, and its highest ids. */
  readonly epochNo: number
  readonly lastIds: LastIds
  readonly failover: Failover
  readonly onTable: (name: string) => void
}

/** What an earlier try left there is thrown away. Nothing is sent from it before `wake`. */
export async function fillServer(session: Session, schema: string, arrival: Arrival): Promise<void> {
  const { from, lastIds, onTable } = arrival
  await makeTables(session, schema)
  await inOneTransaction(session, async () => {
    const target = await session.run(targetOf(arrival))
    if (target !== 'nothing' && target !== 'arriving') throw takenFault()
    await session.exec(`TRUNCATE ${EMPTIED.join(', ')}`)
    await makeRoomUpTo(session, lastIds)
    await copyTables(from, tablesOf(session), onTable)
    await session.exec(AFTERWARDS)
    await session.run(sleeping(arrival))
  })
  const tables = ANALYZED.map((name) => `${quoteName(schema)}.${name}`)
  await session.patiently(() => session.exec(`ANALYZE ${tables.join(', ')}`))
}

const OWN_NUMBERS = {
  account: 'id',
  actor: 'id',
  batch: 'rowid',
  act: 'id',
  recorded: 'id',
  event: 'id',
  refused: 'id',
}
/** What is asked for every row that is recorded or claimed: nothing else tells the planner soon enough. */
const ANALYZED = ['batch', 'instruction', 'move', 'tally', 'held_reference', 'seen_transaction']
const EMPTIED = [...TABLES.map(({ name }) => name), 'held_reference', 'seen_transaction', 'epoch']

/** The triggers that note transactions look at rows that change. Of two rows that a transaction settled, the first has it. */
const AFTERWARDS = [
  `INSERT INTO seen_transaction SELECT account_id, ltrim(transaction_id, '0'), min(id) FROM instruction
    WHERE transaction_id IS NOT NULL GROUP BY 1, 2`,
  ...Object.entries(OWN_NUMBERS).map(
    ([table, column]) =>
      `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max(${column}), 1), max(${column}) IS NOT NULL) FROM ${table}`,
  ),
].join('; ')

function* sleeping({ token, epochNo, failover }: Arrival): Script<void> {
  yield* keep('unfinished', 'arriving')
  yield* keep('moved_here', token)
  yield* remember(yield* serverIdentity(failover))
  const epoch = yield* beginEpoch(epochNo + 1)
  yield* keep('adopted_at', String(epoch.no))
}

export interface Waking {
  readonly ledgerId: string
  readonly token: string
  /** The file that it came from. */
  readonly from: string
  readonly actor: Actor
  readonly nowMs: number
}

/** It may send from now on. To be called when the file is retired; once more where that did not end well. */
export async function wake(session: Session, { ledgerId, token, from, actor, nowMs }: Waking): Promise<void> {
  await inOneTransaction(session, async () => {
    const target = await session.run(targetOf({ ledgerId, token }))
    if (target === 'arrived') return
    if (target !== 'arriving' || (await session.run(tokenHere())) !== token) throw goneFault()
    await session.run(change("DELETE FROM meta WHERE key = 'unfinished'"))
    await session.run(recordAct({ what: 'migrate', atMs: nowMs, actor, details: { from } }))
  })
}

function* tokenHere(): Script<string | undefined> {
  return (yield* one<{ value: string }>("SELECT value FROM meta WHERE key = 'moved_here'"))?.value
}

async function inOneTransaction(session: Session, work: () => Promise<void>): Promise<void> {
  await session.patiently(async () => {
    await session.begin('READ COMMITTED', EXCLUSIVELY)
    try {
      await work()
      await session.commit()
    } catch (error) {
      await session.rollback()
      throw error
    }
  })
}

const EXCLUSIVELY = `SET LOCAL synchronous_commit TO on; SET LOCAL statement_timeout TO 0; SET LOCAL lock_timeout TO '10s';
  SET LOCAL idle_in_transaction_session_timeout TO 0; LOCK TABLE meta; SELECT 1`

function takenFault(): Fault {
  return new Fault(
    'usage',
    'There is another ledger there already. Nothing was moved. Name another schema (TRANCHE_LEDGER_SCHEMA) or database.',
  )
}

function goneFault(): Fault {
  return new Fault(
    'stopped',
    words`The ledger that was moved is not at that address, or not as it was left there. Nothing is sent from it or from the file. Name the address that it was moved to. If that server has lost it, let the file be the ledger again: ${{ act: 'adopt', as: 'server-is-lost' }} (every unsettled row becomes IN_DOUBT).`,
  )
}
