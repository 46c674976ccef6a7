// The sums of a transaction of many rows, in one statement: always in the same order, so that two transactions do not wait for each other
// in a ring.

import { createTally, type Tally } from '../../texts/record/tally.ts'
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

export interface TallyOfMany extends Pick<Tally, 'moved' | 'forget'> {
  /** None where nothing was noted. */
  asked(): readonly Asked[]
}

export function createTallyOfMany(): TallyOfMany {
  const tally = createTally()
  return {
    moved: tally.moved,
    forget: tally.forget,
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
