// One submit at a time: a lock that its connection holds, so that it ends with its process, wherever that runs. A submit that lost it
// records nothing any more, because the next one gives its draft up first.

import { assertNotInterrupted } from '../../domain/draft.ts'
import { Fault } from '../../domain/fault.ts'
import type { Clock } from '../../ports/clock.ts'
import type { WaitingToSubmit } from '../../ports/ledger/intake.ts'
import { throwAsFault } from './errors.ts'
import { keyOfLedger, LOCKS } from './locks.ts'
import type { Session } from './session.ts'

/** How long a command waits for the submit before it. */
const WAIT_MS = 600_000
/** A wait that is over before is not worth a word. */
const TELL_AFTER_MS = 1_500
const LOOK_AGAIN_MS = 25

/** Resolves to what lets the next one in. */
export async function lockSubmit(
  connect: () => Promise<Session>,
  schema: string,
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
  { signal, onWait }: WaitingToSubmit = {},
): Promise<() => void> {
  const session = await connect()
  const key = `${LOCKS.submitting}, ${keyOfLedger(schema)}`
  const sinceMs = clock.monotonicMs()
  let isTold = onWait === undefined
  try {
    for (;;) {
      const [found] = await session.exec(`SELECT pg_try_advisory_lock(${key}) AS taken`)
      if ((found as { taken: boolean }).taken) return () => void session.close()
      assertNotInterrupted(signal)
      const waitedMs = clock.monotonicMs() - sinceMs
      if (!isTold && waitedMs > TELL_AFTER_MS) {
        isTold = true
        onWait?.(null)
      }
      if (waitedMs > WAIT_MS) throw stillUnderWay()
      await clock.sleep(LOOK_AGAIN_MS)
    }
  } catch (error) {
    await session.close()
    throwAsFault(error)
  }
}

function stillUnderWay(): Fault {
  return new Fault(
    'stopped',
    'Another submit into this ledger is still under way. Nothing was recorded or sent. Try again when the other has ended.',
  )
}
