// What statements find. Which columns a statement has is known by its text alone, so a caller says it, and no cast is needed.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

export function findRow<Row>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[] | readonly [Readonly<Record<string, SQLInputValue>>]
): Row | undefined {
  return statement.get(...(values as readonly SQLInputValue[])) as Row | undefined
}

export function findRows<Row>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[] | readonly [Readonly<Record<string, SQLInputValue>>]
): Row[] {
  return statement.all(...(values as readonly SQLInputValue[])) as Row[]
}

/**
 * Finds rows as lists of values, in the order of the columns. For statements with many columns and many rows: as objects
 * these are slow to make, and slower to read.
 */
export function prepareLists<Values extends readonly unknown[]>(
  db: DatabaseSync,
  sql: string,
): (...values: SQLInputValue[]) => Values[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return (...values) => statement.all(...values) as unknown as Values[]
}

/** What all statements of it see is one moment, whatever other connections commit meanwhile. */
export function inOneMoment<T>(db: DatabaseSync, read: () => T): T {
  if (db.isTransaction) return read()
  db.exec('BEGIN')
  try {
    return read()
  } finally {
    db.exec('COMMIT')
  }
}
