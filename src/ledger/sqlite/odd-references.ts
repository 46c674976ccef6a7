// References with invisible characters, recorded before such were refused: which are there, and each looked up by itself. Why
// stands in `texts/odd-references.ts`, with those of a draft.

import type { DatabaseSync } from 'node:sqlite'
import { asRead } from '../../domain/identifier.ts'
import type { AccountId } from '../../domain/ids.ts'

/** For the migration that gathers them; none is added later. */
export function registerAsRead(db: DatabaseSync): void {
  db.function('as_read', { deterministic: true }, (reference) => asRead(String(reference)))
}

export const ODD_REFERENCES = `
  -- References with invisible characters, recorded before those were refused, and how they read without any blank.
  CREATE TABLE odd_reference (
    account_id INTEGER NOT NULL,
    as_read TEXT NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (account_id, as_read, reference)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO odd_reference
  SELECT DISTINCT account_id, as_read(reference), reference FROM instruction
  WHERE reference GLOB '*[^ -~]*' AND holds_reference = 1 AND as_read(reference) <> replace(reference, ' ', '');
`

/** The recorded reference that reads like this one, to be asked for where this one itself is not recorded; null: there is none. */
export function prepareOddReferences(
  db: DatabaseSync,
): (reference: string, accountId: AccountId | null) => string | null {
  const find = db.prepare(`
    SELECT min(reference) AS reference FROM odd_reference
    WHERE as_read = ?1 AND account_id IN (SELECT id FROM account WHERE ?2 IS NULL OR id = ?2)`)
  return (reference, accountId) =>
    (find.get(asRead(reference), accountId === null ? null : Number(accountId)) as { reference: string | null })
      .reference
}
