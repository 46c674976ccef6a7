// The fields that a column of a file may be.

import { parseOperation, VAULT_OPERATIONS, type VaultOperation } from '../domain/instruction.ts'

/** Of files without card details. `operation`: as it was said of the whole file; undefined: it was not. */
export async function fieldsOfFile(operation: string | undefined): Promise<readonly string[]> {
  const { vocabularyOf } = await import('../ingest/vocabulary.ts')
  const isVault = VAULT_OPERATIONS.includes(operation as VaultOperation)
  const known = isVault ? (operation as VaultOperation) : parseOperation(operation ?? '')
  return vocabularyOf({ operation: known, cards: 'refused' }).fields
}
