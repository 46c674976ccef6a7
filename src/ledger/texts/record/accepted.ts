// How many files and messages were ever accepted: by it an older state of the ledger is told from the newest.

import { change, type Script } from '../script.ts'

const COUNT = `
    INSERT INTO meta (key, value) VALUES ('accepted', '1')
    ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)`

/** In the transaction that accepts one. */
export function* noteAccepted(): Script<void> {
  yield* change(COUNT)
}
