// A ledger whose file cannot be read as one any more: how that shows, what to say of it, and looking for it.

import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../../domain/fault.ts'
import { words } from '../../../domain/words.ts'
import type { Inspection } from '../../../ports/ledger/file.ts'

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

export function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB
}

/** The same error, but for one that says that the ledger is damaged. */
export function explainDamage(path: string, error: unknown): unknown {
  return isDamage(error) ? damageFault(path, (error as Error).message, error) : error
}

export function damageFault(path: string, found: string, cause?: unknown): Fault {
  return new Fault(
    'storage',
    words`The ledger ${path} is damaged (${found}). Nothing more is sent. Do not repair it: a row that a repair drops could be sent twice. Stop every process of this program; move ${path}, ${path}-wal and ${path}-shm away; put the newest backup at ${path}; then: ${{ act: 'adopt', as: 'restored' }}. Unsettled rows become IN_DOUBT; look them up at the gateway.`,
    { cause },
  )
}

/** Of this size a check takes seconds. */
const MOST_BYTES = 1024 ** 3

/**
 * Reads every page by a connection of its own, which holds up no writer. It cannot be broken off, so that a large ledger
 * is looked at only where a person asks for it.
 */
export function inspect(openReader: () => DatabaseSync, howLarge: 'seconds' | 'any'): Inspection {
  const reader = openReader()
  try {
    const { bytes } = reader
      .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
      .get() as { bytes: number }
    if (howLarge === 'seconds' && bytes > MOST_BYTES) return { kind: 'not-looked', bytes }
    const [said] = reader.prepare('PRAGMA quick_check(1)').all()
    return said?.quick_check === 'ok'
      ? { kind: 'sound', bytes }
      : { kind: 'damaged', found: String(said?.quick_check).replaceAll('\n', ' ') }
  } catch (error) {
    if (!isDamage(error)) throw error
    return { kind: 'damaged', found: (error as Error).message }
  } finally {
    reader.close()
  }
}
