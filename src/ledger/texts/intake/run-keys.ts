// The run keys of an account as they were spelled first: another spelling of one would charge its month twice.

import { Fault } from '../../../domain/fault.ts'
import type { AccountId } from '../../../domain/ids.ts'
import { runKeyForm } from '../../../domain/run-key.ts'
import { words } from '../../../domain/words.ts'
import { change, exists, one, type Script } from '../script.ts'

interface Keyed {
  readonly accountId: AccountId
  /** null: there is none. */
  readonly runKey: string | null
  readonly nowMs: number
}

const OF_FORM = 'SELECT spelling FROM run_key WHERE account_id = :accountId AND form = :form'

/** The known spelling of that key; null: it is new, or spelled so. */
export function* knownSpelling({ accountId, runKey, nowMs }: Keyed): Script<string | null> {
  if (runKey === null) return null
  const known = yield* one<{ spelling: string }>(OF_FORM, { accountId, form: runKeyForm(runKey, nowMs) })
  return known === undefined || known.spelling === runKey ? null : known.spelling
}

export function* refuseOtherSpelling(keyed: Keyed): Script<void> {
  const known = yield* knownSpelling(keyed)
  if (known === null) return
  throw new Fault(
    'refused',
    words`The run key ${keyed.runKey ?? ''} is another spelling of ${known}, under which rows are recorded: they would be charged once more. Nothing was recorded and nothing was sent. If it is that run, spell it so: ${{ set: 'run-key', to: known }}; else give this run a key of its own.`,
  )
}

/** `june` is the month that it was first used for: in another year it is a mistake, and must not take the name of that June. */
const KEEP = `
    INSERT INTO run_key (account_id, form, spelling) SELECT CAST(:accountId AS BIGINT), CAST(:form AS TEXT), CAST(:runKey AS TEXT)
    WHERE NOT EXISTS (SELECT 1 FROM run_key k WHERE k.account_id = :accountId AND k.spelling = :runKey) ON CONFLICT DO NOTHING`

export function* keepSpelling({ accountId, runKey, nowMs }: Keyed): Script<void> {
  if (runKey === null) return
  const form = runKeyForm(runKey, nowMs)
  // Most are known, and their form has an index.
  if (!(yield* exists(OF_FORM, { accountId, form }))) yield* change(KEEP, { accountId, form, runKey })
}
