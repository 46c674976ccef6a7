// Which references this program made itself, from the bytes of a file whose rows have none.

const HEX = '[0-9a-f]'.repeat(16)
const DIGITS = '[0-9]'.repeat(16)

/**
 * Earlier versions recorded no such thing and told it by the look of a reference, each time. Here the look decides once more, for what
 * is recorded already, and in the same way: one with digits alone is people's own, such as a day and a number. What was recorded in
 * place of a bad reference was told by its end as well.
 */
export const MADE_REFERENCES = `
  ALTER TABLE instruction ADD COLUMN made INTEGER NOT NULL DEFAULT 0; -- 1: the reference was made by this program, not given
  UPDATE instruction SET made = 1
  WHERE (reference GLOB '*${HEX}-[0-9]*' AND NOT reference GLOB '*${DIGITS}-[0-9]*')
    OR (state = 'INVALID' AND reference GLOB '*[0-9a-f]-[0-9]*-unread');
`
