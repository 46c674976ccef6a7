// The record of a run: one SQLite database in memory, on which every process has a connection of its own in name. The
// statements are kept from run to run, which is most of the speed of the simulation.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { AccountId, BatchId } from '../../src/domain/ids.ts'
import { openLedgerOn } from '../../src/ledger/sqlite/ledger.ts'
import { makeTables } from '../../src/ledger/sqlite/make-tables.ts'
import { runNow } from '../../src/ledger/sqlite/run-script.ts'
import { NO_PLACE } from '../../src/ledger/sqlite/transaction.ts'
import { indexDraftTables, makeDraftTables, TABLES_OF_DRAFTS } from '../../src/ledger/texts/review/draft-tables.ts'
import type { CopyLedger } from '../../src/ports/ledger/copies.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import type { HeldRow, Holder } from './gateway.ts'
import type { Life, World } from './world.ts'

const TABLES = [
  'tally',
  'move',
  'act',
  'refusal',
  'instruction',
  'batch',
  'account',
  'meta',
  'actor',
  'recorded',
  'approval',
  'limited_day',
  'run_key',
  'proposal',
  'refused',
  'reply_to',
]

const COUNTS = `c.account_id = n.account_id AND c.order_key = n.order_key AND (c.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED') OR c.money_warning = 1)
  AND (SELECT b.stage FROM batch b WHERE b.id = c.batch_id) = 'open'`
/** Of one file the later rows do not count. */
const BEFORE = `(c.batch_id <> n.batch_id OR c.row_no <= n.row_no) AND ${COUNTS}`
/** Within one file it is a question, and a person may say that it is meant. */
const OF_ANOTHER_FILE = `${COUNTS} AND (c.batch_id <> n.batch_id OR (SELECT b.source FROM batch b WHERE b.id = n.batch_id) <> 'file')`
const ANSWERED = `a.account_id = n.account_id AND ltrim(a.answered_order_id, '0') = n.order_key AND a.state = 'APPROVED'`
/** NULL: nothing of it is known, or an answer differed about money. */
const AUTHORIZED = `(
  SELECT CASE WHEN max(a.money_warning) = 0 THEN sum(a.amount_minor) END FROM instruction a WHERE a.operation = 'AUTH' AND ${ANSWERED})`
const PAID = `(
  SELECT CASE WHEN max(c.warned) = 0 THEN sum(c.amount_minor) END FROM (
    SELECT a.id, a.amount_minor, a.money_warning AS warned FROM instruction a WHERE a.operation IN ('CAPTURE', 'CAUTH') AND ${ANSWERED}
    UNION
    SELECT c.id, c.amount_minor, c.money_warning FROM instruction c WHERE c.operation = 'CAUTH' AND ${BEFORE}) AS c)`

/** All of the order. NULL: it is not known. */
const WHOLE = `(CASE WHEN ${AUTHORIZED} IS NULL AND EXISTS (SELECT 1 FROM instruction a WHERE a.operation = 'AUTH' AND ${ANSWERED}) THEN NULL
  ELSE coalesce(max(${AUTHORIZED}, ${PAID}), ${AUTHORIZED}, ${PAID}) END)`
const sumOf = (operation: string, which: string) =>
  `coalesce((SELECT sum(c.amount_minor) FROM instruction c WHERE c.operation = '${operation}' AND ${which}), 0)`
const VOIDED = sumOf('CANCEL', OF_ANOTHER_FILE)
const isAny = (operation: string, which = '1 = 1') =>
  `EXISTS (SELECT 1 FROM instruction c WHERE c.operation = '${operation}' AND ${which} AND ${OF_ANOTHER_FILE})`
/** Voids have taken all of it. */
const IS_GONE = `(${isAny('CANCEL', '(c.amount_minor IS NULL OR c.money_warning = 1)')}
  OR ${isAny('CANCEL')} AND (${WHOLE} IS NULL OR ${VOIDED} >= ${WHOLE}))`

/** Row \`n\` contradicts what is recorded of its order. */
const IS_MISFIT = `(CASE n.operation
  WHEN 'CAUTH' THEN ${sumOf('CAUTH', BEFORE)} + ${VOIDED}
    > (SELECT a.most + a.most * b.capture_tolerance / 100 FROM (SELECT ${AUTHORIZED} AS most) AS a JOIN batch b ON b.id = n.batch_id)
  WHEN 'REFUND' THEN ${sumOf('REFUND', BEFORE)} > min(${PAID}, coalesce(${WHOLE} - ${VOIDED}, ${PAID}))
  WHEN 'CANCEL' THEN n.amount_minor IS NOT NULL AND ${sumOf('CANCEL', BEFORE)} > ${WHOLE}
  ELSE 0 END
  OR n.operation IN ('CAUTH', 'REFUND') AND ${IS_GONE}
  OR n.operation = 'CANCEL' AND ${isAny('REFUND')})`

/** It is one of a row in another batch, however long ago that was sent, and nobody answered with a number. */
const IS_DONE_AGAIN = `n.operation IN ('CAUTH', 'REFUND', 'CANCEL') AND n.run_key IS NULL
  AND (SELECT b.lookalikes_allowed FROM batch b WHERE b.id = n.batch_id) = 0 AND EXISTS (
    SELECT 1 FROM instruction c WHERE ${COUNTS} AND c.batch_id <> n.batch_id AND c.operation = n.operation AND c.run_key IS NULL
      AND c.amount_minor IS n.amount_minor AND c.currency IS n.currency AND c.reference <> n.reference)`

/** What the disk of the ledger does at the moment. */
export interface Disk {
  /** Commits are refused. */
  full: boolean
  /** Another program has the write lock. */
  busy: boolean
}

/** Where a planted bug changes the program on its way to the record. */
export interface RecordPlant {
  readonly sql?: (sql: string) => string
  readonly ledger?: (ledger: Ledger, record: SimulatedRecord) => Ledger
}

/** Held by one process at a time; free when that process is dead. */
class KernelLock {
  holder: Life | null = null

  take(life: Life): (() => void) | null {
    if (this.holder !== null) return null
    this.holder = life
    const release = () => {
      if (this.holder === life) this.holder = null
    }
    life.atEnd(release)
    return release
  }
}

export class SimulatedRecord implements Holder {
  readonly #db = new DatabaseSync(':memory:')
  readonly #statements = new Map<string, StatementSync>()
  /** By the text that the program asks for. */
  readonly #ofProgram = new Map<string, StatementSync>()
  #world: World | null = null
  #batches = 0
  #plant: RecordPlant = {}
  disk: Disk = { full: false, busy: false }
  submitLock = new KernelLock()
  workerLock = new KernelLock()
  /** Of any batch that sends something. */
  fewestApprovals = 0
  /** By the policy of the plan: nobody alone has a row of these sent again. null: of all operations. */
  sentAgainByTwo: readonly (readonly string[] | null)[] = []

  constructor() {
    makeTables(this.#db)
    runNow(this.#db, makeDraftTables())
    runNow(this.#db, indexDraftTables())
    // The one place where SQL asks for the time of day.
    this.#db.function('unixepoch', { varargs: true }, () => (this.#world?.wallMs ?? 0) / 1000)
    this.#watchHolds()
    this.#watchApprovals()
    this.#watchSentAgain()
    this.#watchOrders()
  }

  /** Nothing of an account that is held for its doubts is claimed, whichever batch it came with. */
  #watchHolds(): void {
    this.#db.function('claimed_in_a_hold', (reference) => {
      this.#world?.fail(`${String(reference)} was claimed while its account was held for its doubts`)
      return null
    })
    this.#db.exec(`
      CREATE TEMP TRIGGER claimed_in_a_hold AFTER UPDATE OF state ON main.instruction
      WHEN NEW.state = 'SENDING' AND (SELECT held_reason FROM account WHERE id = NEW.account_id) IS NOT NULL
      BEGIN SELECT claimed_in_a_hold(NEW.reference); END`)
  }

  /**
   * Nothing is claimed of a batch before as many people have approved it as were asked for, counted by what they did and not by what the
   * batch says of it.
   */
  #watchApprovals(): void {
    this.#db.function('claimed_unapproved', (reference) => {
      this.#world?.fail(`${String(reference)} was claimed before its batch was approved`)
      return null
    })
    this.#db.function('fewest_approvals', { deterministic: false }, () => this.fewestApprovals)
    this.#db.exec(`
      CREATE TEMP TRIGGER claimed_unapproved AFTER UPDATE OF state ON main.instruction
      WHEN NEW.state = 'SENDING' AND max(fewest_approvals(), (
          SELECT coalesce(max(json_extract(w.details, '$.needed')), 0) FROM act w WHERE w.what = 'await-approval' AND w.batch_id = NEW.batch_id)) > (
        SELECT count(DISTINCT w.actor_id) FROM act w JOIN batch b ON b.id = w.batch_id
        WHERE w.what = 'approve' AND w.batch_id = NEW.batch_id AND w.actor_id IS NOT b.actor_id)
      BEGIN SELECT claimed_unapproved(NEW.reference); END`)
  }

  /**
   * What may have been executed is sent once more by no person alone: another one said so before, of the same attempt, and nobody took that
   * back. The second one did not submit the batch. By what people did, and not by what the table of proposals says.
   */
  #watchSentAgain(): void {
    this.#db.function('takes_two', (operation) =>
      this.sentAgainByTwo.some((operations) => operations?.includes(String(operation)) ?? true) ? 1 : 0,
    )
    this.#db.function('sent_again_alone', (reference) => {
      this.#world?.fail(`${String(reference)} is sent again, and no two people said so`)
      return null
    })
    const named = (id: string) => `(SELECT json_extract(parts, '$.name') FROM actor WHERE id = ${id})`
    const ofRow = `w.batch_id = i.batch_id AND json_extract(w.details, '$.row') = i.row_no AND json_extract(w.details, '$.attempt') = i.attempt`
    this.#db.exec(`
      CREATE TEMP TRIGGER sent_again_alone AFTER INSERT ON main.move
      WHEN NEW.cause = 'resolve' AND NEW.to_state = 'READY' AND (SELECT takes_two(operation) FROM instruction WHERE id = NEW.row_id)
        AND NOT EXISTS (
          SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id JOIN act w ON ${ofRow}
          WHERE i.id = NEW.row_id AND w.what = 'propose-send-again' AND ${named('w.actor_id')} <> ${named('NEW.actor_id')}
            AND ${named('NEW.actor_id')} IS NOT ${named('b.actor_id')}
            AND NOT EXISTS (SELECT 1 FROM act r WHERE r.what IN ('refuse-send-again', 'lapse-send-again') AND r.id > w.id AND r.batch_id = w.batch_id
              AND json_extract(r.details, '$.row') = i.row_no))
      BEGIN SELECT sent_again_alone((SELECT reference FROM instruction WHERE id = NEW.row_id)); END`)
  }

  /** What is taken in fits what is recorded of its order in that moment: what waits, is under way or is in doubt counts like what is approved. */
  #watchOrders(): void {
    this.#db.function('taken_in', (reference, isMisfit, isDoneAgain) => {
      if (isMisfit === 1)
        this.#world?.fail(`${String(reference)} was taken in, and does not fit what is recorded of its order`)
      if (isDoneAgain === 1)
        this.#world?.fail(`${String(reference)} was taken in, is recorded in another batch, and nobody was asked`)
      return null
    })
    const look = (which: string) =>
      `BEGIN SELECT taken_in(n.reference, ${IS_MISFIT}, ${IS_DONE_AGAIN}) FROM instruction n
        WHERE ${which} AND n.state = 'READY' AND n.order_key IS NOT NULL; END`
    this.#db.exec(`
      CREATE TEMP TRIGGER file_taken_in AFTER UPDATE OF stage ON main.batch WHEN NEW.stage = 'open' ${look('n.batch_id = NEW.id')}`)
    this.#db.exec(`
      CREATE TEMP TRIGGER message_taken_in AFTER INSERT ON main.instruction
      WHEN NEW.order_key IS NOT NULL AND (SELECT b.stage FROM batch b WHERE b.id = NEW.batch_id) = 'open' ${look('n.id = NEW.id')}`)
  }

  /** As if there had never been anything. */
  begin(world: World, plant: RecordPlant): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
    for (const table of TABLES_OF_DRAFTS) this.prepare(`DELETE FROM temp.${table}`).run()
    for (const table of TABLES) this.prepare(`DELETE FROM ${table}`).run()
    this.prepare('DELETE FROM chain WHERE id > 1').run() // the first link was made with the tables
    this.#world = world
    this.#batches = 0
    this.#plant = plant
    this.fewestApprovals = 0
    this.sentAgainByTwo = []
    this.disk = { full: false, busy: false }
    this.submitLock = new KernelLock()
    this.workerLock = new KernelLock()
  }

  /** Straight from the tables, for the books. */
  all<T>(sql: string, ...values: (string | number)[]): T[] {
    return this.prepare(sql).all(...values) as T[]
  }

  held(accountId: AccountId, reference: string): HeldRow | undefined {
    const held =
      'SELECT id, state, attempt, send_by AS sendBy FROM instruction WHERE account_id = ? AND reference = ? AND holds_reference = 1'
    return this.all<HeldRow>(held, Number(accountId), reference)[0]
  }

  /** Which limit a person accepted that the row is above. Where nobody did: beyond all. */
  acceptedLimit(accountId: AccountId, reference: string): bigint {
    const accepted =
      'SELECT CAST(accepted_limit AS TEXT) AS text FROM instruction WHERE account_id = ? AND reference = ? AND holds_reference = 1'
    return BigInt(this.all<{ text: string | null }>(accepted, Number(accountId), reference)[0]?.text ?? 2n ** 63n)
  }

  knows(accountId: AccountId, order: string): boolean {
    const answered = `SELECT max(money_warning) AS warned FROM instruction WHERE account_id = ? AND ltrim(answered_order_id, '0') = ?
      AND state = 'APPROVED' AND operation IN ('AUTH', 'CAPTURE', 'CAUTH')`
    return this.all<{ warned: number | null }>(answered, Number(accountId), order)[0]?.warned === 0
  }

  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  /** The ledger as one process opens it. */
  openLedger(life: Life): Ledger {
    const ledger = openLedgerOn({
      name: 'the ledger',
      db: this.#connectionOf(life),
      ledgerId: 'simulated',
      die: (error) => {
        if (life.isAlive) life.world.fail(`the ledger of ${life.name} gave up: ${(error as Error).stack}`)
        life.kill('its ledger gave up')
        throw error
      },
      timing: life.timing,
      newBatchId: () => `batch-${++this.#batches}` as BatchId,
      lockSubmit: async () => {
        for (;;) {
          const release = this.submitLock.take(life)
          if (release !== null) return release
          await life.clock.sleep(25)
        }
      },
      openReader: () => this.#readerOf(),
      place: NO_PLACE,
      openCopies: () => NO_COPIES,
    })
    const planted = this.#plant.ledger?.(ledger, this) ?? ledger
    return told(planted, life)
  }

  #connectionOf(life: Life): DatabaseSync {
    let open = true
    const db = this.#db
    const use = () => {
      if (!open) throw new Error('database is not open')
      return db
    }
    const begin = { run: () => use() && this.#begin(life) }
    const commit = { run: () => this.#commit() }
    const connection = {
      prepare: (sql: string) => {
        if (sql === 'BEGIN IMMEDIATE') return begin
        if (sql === 'COMMIT') return commit
        use()
        return this.#prepareForProgram(this.#plant.sql?.(sql) ?? sql)
      },
      exec: (sql: string) => use() && this.prepare(sql).run(),
      get isTransaction() {
        return use().isTransaction
      },
      close: () => {
        open = false
      },
    }
    return connection as unknown as DatabaseSync
  }

  #prepareForProgram(sql: string): StatementSync {
    const known = this.#ofProgram.get(sql)
    if (known !== undefined) return known
    const statement = this.prepare(keepingDrafts(sql))
    this.#ofProgram.set(sql, statement)
    return statement
  }

  #begin(life: Life): void {
    if (!life.isAlive) throw new Error('bug of the simulation: a dead process writes')
    if (this.disk.busy) throw sqliteError('database is locked', 5)
    this.prepare('BEGIN IMMEDIATE').run()
  }

  #commit(): void {
    if (this.disk.full) throw sqliteError('database or disk is full', 13)
    this.prepare('COMMIT').run()
  }

  /** Everything is of one moment anyway, because a reading is made in one go. */
  #readerOf(): DatabaseSync {
    const reader = { prepare: (sql: string) => this.prepare(sql), exec: () => {}, close: () => {} }
    return reader as unknown as DatabaseSync
  }
}

/** There is no file that could be copied. */
const none = () => Promise.reject(new Error('bug of the simulation: there are no copies'))
const NO_COPIES: CopyLedger = {
  alarm: async () => null,
  lastSentAtMs: async () => null,
  renewEpoch: async () => {},
  adopt: none,
  backup: none,
}

/**
 * The tables of drafts stay, and are emptied where the program drops them: with every change of a schema SQLite would compile all
 * statements of the connection again, which took half the time of a run.
 */
function keepingDrafts(sql: string): string {
  if (/^CREATE (TEMP TABLE|INDEX (IF NOT EXISTS )?temp\.) ?draft_/.test(sql)) return 'SELECT 1'
  return sql.replace(/^DROP TABLE IF EXISTS (?=temp\. draft_)/, 'DELETE FROM ')
}

/** Thrown by the thousand while a disk is busy, so without the stack that nobody reads. */
function sqliteError(message: string, errcode: number): Error {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  const error = Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })
  Error.stackTraceLimit = stackTraceLimit
  return error
}

/** With or without a trace, so that a run takes the same turns both times. */
export function told(ledger: Ledger, life: Life): Ledger {
  return {
    ...ledger,
    async claim(claim) {
      const answer = await ledger.claim(claim)
      life.say(() => `claim of row ${claim.rowId}, attempt ${claim.attempt + 1}: ${answer.kind}`)
      return answer
    },
    async settle(settlement) {
      const { rowId, attempt, to, reason } = settlement
      life.say(() => `row ${rowId}, attempt ${attempt} is to be ${to}${reason === null ? '' : `: ${reason}`}`)
      const settled = await ledger.settle(settlement)
      life.say(() => `row ${rowId} is ${settled.state}${settled.paused === null ? '' : `; paused: ${settled.paused}`}`)
      return settled
    },
    async sweep(nowMs) {
      const rows = await ledger.sweep(nowMs)
      life.say(() => `swept ${rows} rows`)
      return rows
    },
  }
}
