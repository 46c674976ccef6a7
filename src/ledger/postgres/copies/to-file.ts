// A ledger on a server, copied to a file: as a backup that can be read without the server, and to verify its record.

import { join } from 'node:path'
import type { AuditLedger } from '../../../ports/ledger/audit.ts'
import type { CopyLedger } from '../../../ports/ledger/copies.ts'
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

  async function fill(path: string): Promise<void> {
    const { fillFile } = await import('../../sqlite/copies/fill.ts')
    await seal()
    const session = await openSnapshot()
    try {
      await session.patiently(() => fillFile(path, tablesOf(session)))
    } finally {
      await session.close()
    }
  }

  return {
    async backup(path, nowMs) {
      const { makeCopy } = await import('../../sqlite/copies/backup.ts')
      return makeCopy(filePath, path, nowMs, fill)
    },

    async *audit(head) {
      const { auditFile } = await import('../../sqlite/copies/fill.ts')
      const folder = openTemporaryFolder()
      try {
        const path = join(folder.path, 'ledger.db')
        await fill(path)
        yield* auditFile(path, head)
      } finally {
        folder.close()
      }
    },
  }
}
