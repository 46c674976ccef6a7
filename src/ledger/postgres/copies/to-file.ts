// A ledger on a server, copied to a file: as a backup that can be read without the server, and to verify its record.

import { join } from 'node:path'
import { Fault } from '../../../domain/fault.ts'
import type { AuditLedger, Disagreement } from '../../../ports/ledger/audit.ts'
import type { CopyLedger } from '../../../ports/ledger/copies.ts'
import { auditSideTables } from '../audit-side-tables.ts'
import type { Seal } from '../seal.ts'
import type { Session } from '../session.ts'
import { tablesOf } from './tables.ts'

export interface ToFileParts {
  readonly seal: Seal
  /** See `Reads`. */
  readonly openSnapshot: () => Promise<Session>
  /** Where a ledger in a file would be: its names are not for copies. */
  readonly filePath: string
  readonly openTemporaryFolder: () => { readonly path: string; close(): void }
}

export function toFileOn(parts: ToFileParts): Pick<CopyLedger, 'backup'> & Pick<AuditLedger, 'audit'> {
  const { seal, openSnapshot, filePath, openTemporaryFolder } = parts

  async function inSnapshot<T>(run: (session: Session) => Promise<T>): Promise<T> {
    await seal()
    const session = await openSnapshot()
    try {
      return await run(session)
    } finally {
      await session.close()
    }
  }

  async function fill(path: string, session: Session): Promise<void> {
    const { fillFile } = await import('../../sqlite/copies/fill.ts')
    await session.patiently(() => fillFile(path, tablesOf(session)))
  }

  return {
    async backup(path, nowMs) {
      const { makeCopy } = await import('../../sqlite/copies/backup.ts')
      return makeCopy(filePath, path, nowMs, (copy) => inSnapshot((session) => fill(copy, session)))
    },

    async *audit(head) {
      const { auditFile } = await import('../../sqlite/copies/fill.ts')
      const folder = openTemporaryFolder()
      try {
        const path = join(folder.path, 'ledger.db')
        const beside = await inSnapshot(async (session) => {
          const found = await auditSideTables(session)
          const refused = await fill(path, session).catch(asOneOf(found))
          return { found, refused }
        })
        yield* beside.found
        if (beside.refused === undefined) yield* auditFile(path, head)
        else yield beside.refused
      } finally {
        folder.close()
      }
    },
  }
}

/** What no file takes is damage. Where it is not all that was found, it is told with the rest. */
function asOneOf(found: readonly Disagreement[]): (error: unknown) => Disagreement {
  return (error) => {
    if (!(error instanceof Fault) || found.length === 0) throw error
    return { where: 'tables', means: error.message }
  }
}
