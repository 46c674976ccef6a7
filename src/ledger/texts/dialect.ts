// The SQL of the texts is what SQLite and PostgreSQL understand in the same way. For that
// - each derived table has a name, each INSERT names its columns, and an alias with capital letters stands in quotation marks;
// - a comparison that is read as a value stands in CASE WHEN, because it is a number here and a boolean there;
// - NULL is compared with IS DISTINCT FROM;
// - a whole number is cast to BIGINT, because INTEGER has 32 bits there, and a sum that may exceed 64 bits is a double;
// - text is compared by its bytes, which PostgreSQL does in columns with COLLATE "C";
// - tables of a draft are named without a schema: both look among the temporary tables first.
// Here is the rest.

export interface Dialect {
  /** Stands before the number of a parameter. */
  readonly parameter: '?' | '$'
  /** What a word such as `@position` in a text becomes. */
  readonly words: Readonly<Record<Word, string>>
}

type Word = 'position' | 'greatest' | 'clock_ms' | 'without_rowid'

export const SQLITE: Dialect = {
  parameter: '?',
  words: {
    // Differs from PostgreSQL in its name only: where a text stands in another, from 1; 0: nowhere.
    position: 'instr',
    // The larger one. With a NULL the engines differ: none is given.
    greatest: 'max',
    // What time it is, in epoch milliseconds.
    clock_ms: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    without_rowid: 'WITHOUT ROWID',
  },
}

export const POSTGRES: Dialect = {
  parameter: '$',
  words: {
    position: 'strpos',
    greatest: 'greatest',
    clock_ms: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
    without_rowid: '',
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
