// The sums of a transaction of many rows, in one statement: always in the same order, so that two transactions do not wait for each other
// in a ring.

import type { State } from '../../../domain/states.ts'
import { type Counted, createTally } from '../../texts/record/tally.ts'
import type { Asked } from '../session.ts'

const ADD = `
  WITH noted AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::numeric[])
      AS n (batch_id, operation, currency, state, count, amount_minor)),
  touched AS (
    UPDATE batch b SET version = b.version + 1 FROM (
      SELECT o.id FROM batch o WHERE o.id = ANY ($7::text[]) ORDER BY o.id FOR NO KEY UPDATE) AS t
    WHERE b.id = t.id)
  INSERT INTO tally (batch_id, operation, currency, state, count, amount_minor)
  SELECT n.batch_id, n.operation, n.currency, n.state, greatest(n.count, 0), n.amount_minor FROM noted n
  ORDER BY n.batch_id, n.operation, n.currency, n.state
  ON CONFLICT (batch_id, operation, currency, state)
  DO UPDATE SET count = tally.count + (SELECT n.count FROM noted n WHERE n.batch_id = excluded.batch_id AND n.operation = excluded.operation
      AND n.currency = excluded.currency AND n.state = excluded.state),
    amount_minor = tally.amount_minor + excluded.amount_minor`

/** Rows that a statement moved, of one batch, operation and currency: they are counted as one. */
export interface Alike extends Omit<Counted, 'amount_minor'> {
  /** Their numbers, with spaces between. */
  readonly claims: string
  readonly rows: number
  /** All together; null: they have none. */
  readonly amount: string | null
}

/** Its columns, grouped by what makes rows alike. */
export function alike(row: string, currency: string): string {
  return `${row}.batch_id, ${row}.operation, ${currency} AS currency, string_agg(CAST(${row}.claim_no AS TEXT), ' ') AS claims,
    count(${row}.claim_no) AS rows, CAST(sum(${row}.amount_minor) AS TEXT) AS amount`
}

export function claimNosOf({ claims }: Alike): readonly number[] {
  return claims.split(' ').map(Number)
}

export interface TallyOfMany {
  moved(rows: Alike, from: State, to: State): void
  /** None where nothing was noted. */
  asked(): readonly Asked[]
}

export function createTallyOfMany(): TallyOfMany {
  const tally = createTally()
  return {
    moved: ({ rows, amount, ...of }, from, to) =>
      tally.moved({ ...of, amount_minor: amount === null ? null : BigInt(amount) }, from, to, rows),
    asked() {
      const { sums, batches } = tally.noted()
      if (batches.length === 0) return []
      const values = [
        sums.map(({ batchId }) => batchId),
        sums.map(({ operation }) => operation),
        sums.map(({ currency }) => currency),
        sums.map(({ state }) => state),
        sums.map(({ count }) => count),
        sums.map(({ amountMinor }) => amountMinor),
        batches,
      ]
      return [{ text: ADD, values }]
    },
  }
}
