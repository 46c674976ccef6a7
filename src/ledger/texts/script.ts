// What several engines do with the same SQL. A script yields one step after another, and the engine that runs it answers each
// with the rows it found. It knows no connection and no promise, so it can run to its end inside SQLite's synchronous commit.

export type Value = string | number | bigint | null
export type Values = Readonly<Record<string, Value>>

/** One statement, with parameters such as `:name`. */
export interface Step {
  readonly text: string
  /** By name. The statement need not use all of them. */
  readonly values: Values
  readonly found: Found
}

/**
 * How rows are read: as objects; as objects with whole numbers as `bigint`, for those that are larger than a `number` holds; or as lists
 * of values in the order of the columns, because many objects with many columns are slow to make.
 */
export type Found = 'rows' | 'exact' | 'lists'

export type Script<T> = Generator<Step, T, unknown>

/** Which columns a statement has is known by its text alone, so a caller says it. */
export function* all<Row>(text: string, values: Values = {}): Script<Row[]> {
  return (yield { text, values, found: 'rows' }) as Row[]
}

/** With whole numbers as `bigint`. */
export function* allExact<Row>(text: string, values: Values = {}): Script<Row[]> {
  return (yield { text, values, found: 'exact' }) as Row[]
}

export function* lists<List extends readonly unknown[]>(text: string, values: Values = {}): Script<List[]> {
  return (yield { text, values, found: 'lists' }) as List[]
}

/** The first row; undefined: there is none. */
export function* one<Row>(text: string, values: Values = {}): Script<Row | undefined> {
  return (yield* all<Row>(text, values))[0]
}

export function* oneExact<Row>(text: string, values: Values = {}): Script<Row | undefined> {
  return (yield* allExact<Row>(text, values))[0]
}

/** Of a statement that finds exactly one row with the number `n`. */
export function* count(text: string, values: Values = {}): Script<number> {
  return (yield* one<{ n: number }>(text, values))!.n
}

export function* exists(text: string, values: Values = {}): Script<boolean> {
  return (yield* one(text, values)) !== undefined
}

export function* change(text: string, values: Values = {}): Script<void> {
  yield { text, values, found: 'rows' }
}
