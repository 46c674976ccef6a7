// What goes wrong with an inbox: told once, until it is over; and whose trouble an error is, one file's or that of all.

import { errorCodeOf, messageOf } from '../domain/errors.ts'
import { Fault } from '../domain/fault.ts'
import type { InboxEvent } from '../domain/inbox.ts'

export interface Troubles {
  /** Runs it. What it throws is told once, until it runs through. false: it threw. */
  over(about: string, run: () => Promise<void>): Promise<boolean>
}

export function createTroubles(tell: (event: InboxEvent) => void): Troubles {
  const told = new Map<string, string>()
  return {
    async over(about, run) {
      try {
        await run()
      } catch (error) {
        const what = errnoOf(error) ?? messageOf(error)
        if (told.get(about) !== what) tell({ kind: 'trouble', about, error })
        told.set(about, what)
        return false
      }
      if (told.delete(about)) tell({ kind: 'over', about })
      return true
    },
  }
}

/** A file that the disk does not give is no bad file. */
export function isRefusal(error: unknown): error is Fault {
  return error instanceof Fault && error.code === 'refused' && errnoOf(error) === null
}

/** Errors of the file system that every other file would meet as well. */
const OF_ALL = [
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ESTALE',
  'ENOTCONN',
  'EHOSTDOWN',
  'ETIMEDOUT',
]

/** What the file system says of one file (may not be read, name too long, bad sector …); null: it is not its own. */
export function ownErrnoOf(error: unknown): string | null {
  const cause = error instanceof Fault ? error.cause : error
  if (!(cause instanceof Error && 'syscall' in cause && 'code' in cause)) return null
  const code = String(cause.code)
  return OF_ALL.includes(code) ? null : code
}

export function concernsAll(error: unknown): boolean {
  if (error instanceof Fault) return !['usage', 'config', 'refused'].includes(error.code)
  return ownErrnoOf(error) === null
}

/** Tells troubles apart by their errno: the message of one and the same names another path each time. */
export function errnoOf(error: unknown): string | null {
  const cause = error instanceof Fault ? error.cause : error
  return errorCodeOf(cause)
}
