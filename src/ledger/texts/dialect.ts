// The SQL of the texts is what SQLite and PostgreSQL understand in the same way. For that
// - each derived table has a name, each INSERT names its columns, and an alias with capital letters stands in quotation marks;
// - a comparison that is read as a value stands in CASE WHEN, because it is a number here and a boolean there;
// - NULL is compared with IS DISTINCT FROM;
// - a whole number is cast to BIGINT, because INTEGER has 32 bits there, and a sum that may exceed 64 bits is a double;
// - text is compared by its bytes, which PostgreSQL does in columns with COLLATE "C";
// - tables of a draft are named without a schema: both look among the temporary tables first.
// Here is the rest.

import { UNREAD_REFERENCE } from '../../domain/instruction.ts'

export interface Dialect {
  /** Stands before the number of a parameter. */
  readonly parameter: '?' | '$'
  /** What a word such as `@position` in a text becomes. */
  readonly words: Readonly<Record<Word, string>>
}

type Word = 'position' | 'is_made_up' | 'is_derived' | 'is_dated'

export const SQLITE: Dialect = {
  parameter: '?',
  words: {
    // Differs from PostgreSQL in its name only: where a text stands in another, from 1; 0: nowhere.
    position: 'instr',
    // Differs from PostgreSQL in that the pattern is no regular expression: whether a reference was made up for a row that had a bad one.
    is_made_up: `GLOB '*[0-9a-f]-[0-9]*${UNREAD_REFERENCE}'`,
    // Likewise: whether a reference was made from the bytes of a file, for a row that has none of its own.
    is_derived: `GLOB '*${'[0-9a-f]'.repeat(16)}-[0-9]*'`,
    is_dated: `GLOB '*${'[0-9]'.repeat(16)}-[0-9]*'`,
  },
}

export const POSTGRES: Dialect = {
  parameter: '$',
  words: {
    position: 'strpos',
    is_made_up: `~ '[0-9a-f]-[0-9].*${UNREAD_REFERENCE}$'`,
    is_derived: "~ '[0-9a-f]{16}-[0-9]'",
    is_dated: "~ '[0-9]{16}-[0-9]'",
  },
}

/** A text as an engine takes it: with numbered parameters, and their names in that order. */
export interface Spelled {
  readonly text: string
  readonly names: readonly string[]
}

export function spell(text: string, { parameter, words }: Dialect): Spelled {
  const names: string[] = []
  const spelled = text
    .replace(/@(\w+)/g, (_, word: string) => words[word as Word])
    .replace(/:([A-Za-z]\w*)/g, (_, name: string) => {
      if (!names.includes(name)) names.push(name)
      return `${parameter}${names.indexOf(name) + 1}`
    })
  return { text: spelled, names }
}
