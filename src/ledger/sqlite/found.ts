// What statements find. Which columns a statement has is known by its text alone, so a caller says it, and no cast is needed.

import type { SQLInputValue, StatementSync } from 'node:sqlite'

export function findRows<Row>(
  statement: StatementSync,
  ...values: readonly SQLInputValue[] | readonly [Readonly<Record<string, SQLInputValue>>]
): Row[] {
  return statement.all(...(values as readonly SQLInputValue[])) as Row[]
}
