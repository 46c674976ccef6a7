// The column of `texts/review/given-references.ts`.

/** Of earlier versions only those are left that repeat a row by its content; of a row that ran in another's place they kept nothing. */
export const GIVEN_REFERENCES = `
  ALTER TABLE instruction ADD COLUMN given TEXT; -- the reference in its file, where it names an instruction recorded under another
  UPDATE instruction AS d SET given = d.reference FROM instruction i
  WHERE d.state = 'DUPLICATE' AND d.reason IS NULL AND i.id = d.duplicate_of AND i.reference <> d.reference AND i.content = d.content;
  CREATE INDEX instruction_given ON instruction (account_id, given) WHERE given IS NOT NULL;
`
