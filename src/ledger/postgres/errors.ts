// What an error of the server, or of the way to it, says about the transaction that met it.

import { DatabaseError } from 'pg'
import { messageOf } from '../../domain/errors.ts'
import { Fault } from '../../domain/fault.ts'
import { words } from '../../domain/words.ts'

/** No answer of the server. What it was asked may have happened. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection'

  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
  }
}

/** A value came as this program does not read it: a mistake of ours, which asking again would only repeat. */
export class UnreadValue extends Error {
  override readonly name = 'UnreadValue'
}

/** The commit stands here, but another server that must have it may not: whoever goes on with that one would not know of it. */
export class UnsureCommit extends Error {
  override readonly name = 'UnsureCommit'
}

/** Others may have written while a snapshot was taken, because the turnstile that kept them out was lost. */
export class NotQuiet extends Error {
  override readonly name = 'NotQuiet'

  constructor() {
    super('others were writing while it was read')
  }
}

/** The server refused a statement that stands before a COMMIT, so it did not begin the COMMIT. `cause`: what it said. */
export class NotCommitted extends Error {
  override readonly name = 'NotCommitted'
  override readonly cause: DatabaseError

  constructor(cause: DatabaseError) {
    super(cause.message)
    this.cause = cause
  }
}

/** The connection is gone, or was never there, or the server takes nobody in; or it is about to close it. */
export function isLost(error: unknown): boolean {
  return error instanceof LostConnection || /^(08|28|3D000|53300|57P0[1-5]|25P0[34])/.test(codeOf(error))
}

/** SQLSTATE; of other errors, nothing. */
export function codeOf(error: unknown): string {
  return error instanceof DatabaseError ? (error.code ?? '') : ''
}

/** Another transaction was in the way, the server lacks memory or is set to write nothing now: this one did nothing, and may be run again. */
const BUSY = /^(40001|40P01|55P03|53200|53400|57014|25006|57P0)/

/** What can be waited out; null for everything else. */
export function whyNotWritten(error: unknown): 'full' | 'busy' | null {
  if (isLost(error) || error instanceof UnsureCommit || error instanceof NotQuiet) return 'busy'
  const code = codeOf(error)
  if (code === '53100') return 'full'
  return BUSY.test(code) ? 'busy' : null
}

/** Asking again at once would make it worse. */
export function lacksMemory(error: unknown): boolean {
  return codeOf(error) === '53200'
}

/** After these nothing that the server says can be trusted: damaged pages, files that it cannot read. */
export function isDamage(error: unknown): boolean {
  return /^(XX00[12]|58)/.test(codeOf(error))
}

/** A key that must be unique is there already. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === '23505'
}

/** A table, type or function is to be made where one of its name is. */
export function isThereAlready(error: unknown): boolean {
  return /^(42P07|42710|42723)$/.test(codeOf(error))
}

/** A table that is not there, or not where this connection looks for it. */
export function isMissingTable(error: unknown): boolean {
  return codeOf(error) === '42P01'
}

/** The user of the connection lacks a right. */
export function isForbidden(error: unknown): boolean {
  return codeOf(error) === '42501'
}

export function forbiddenFault(error: unknown): Fault {
  return new Fault(
    'config',
    `The user that TRANCHE_LEDGER_URL names lacks a right on the PostgreSQL server of the ledger (${messageOf(error)}). Nothing was recorded and nothing was sent. It must own the schema of the ledger and everything in it.`,
    { cause: error },
  )
}

/** What a person is told of what was waited out for as long as a person may be made to wait. */
export function triedLongFault(error: unknown): Fault {
  return isLost(error) ? unreachableFault(error) : busyFault(error)
}

/** For whoever can only begin anew. */
export function throwAsFault(error: unknown): never {
  throw whyNotWritten(error) === null ? error : triedLongFault(error)
}

function busyFault(error: unknown): Fault {
  return new Fault(
    'unavailable',
    words`The PostgreSQL server of the ledger was busy with other work for too long (${messageOf(error)}). Nothing was recorded and nothing was sent. Try again; if it stays so, look there for a long transaction, or for what takes its memory: ${{ act: 'diagnose', look: 'usual' }}`,
    { cause: error },
  )
}

/** What a person is told of a server that does not answer. */
export function unreachableFault(error: unknown): Fault {
  return new Fault(
    'unavailable',
    `The PostgreSQL server of the ledger cannot be reached (${messageOf(error)}). Nothing was recorded and nothing was sent. Check that it runs and that TRANCHE_LEDGER_URL (or the file of TRANCHE_LEDGER_URL_FILE) is right, then try again.`,
    { cause: error },
  )
}
