// References with invisible characters, recorded before such were refused: which are there, and each looked up by itself. Why
// stands in `texts/review/odd-references.ts`, with those of a draft.

import type { DatabaseSync } from 'node:sqlite'
import { asRead } from '../../domain/identifier.ts'

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
