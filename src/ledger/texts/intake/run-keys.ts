// The run keys of an account as they were spelled first: another spelling of one would charge its month twice.

import { Fault } from '../../../domain/fault.ts'
import type { AccountId } from '../../../domain/ids.ts'
import { runKeyForm } from '../../../domain/run-key.ts'
import { words } from '../../../domain/words.ts'
import { change, one, type Script } from '../script.ts'

interface Keyed {
  readonly accountId: AccountId
  /** null: there is none. */
  readonly runKey: string | null
  readonly nowMs: number
}

/** The known spelling of that key; null: it is new, or spelled so. */
export function* knownSpelling({ accountId, runKey, nowMs }: Keyed): Script<string | null> {
  if (runKey === null) return null
  const form = runKeyForm(runKey, nowMs)
  const known = yield* one<{ spelling: string }>(
    'SELECT spelling FROM run_key WHERE account_id = :accountId AND form = :form',
    { accountId, form },
  )
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

export function* keepSpelling({ accountId, runKey, nowMs }: Keyed): Script<void> {
  if (runKey === null) return
  yield* change(
    'INSERT INTO run_key (account_id, form, spelling) VALUES (:accountId, :form, :runKey) ON CONFLICT DO NOTHING',
    { accountId, form: runKeyForm(runKey, nowMs), runKey },
  )
}
