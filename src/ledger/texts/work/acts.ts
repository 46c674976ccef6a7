// Recording what a person did, whether it changed anything or not.

import type { ActLedger } from '../../../ports/ledger/acts.ts'
import type { Engine } from '../engine.ts'
import { logAfter, readLog } from '../reading/act-log.ts'
import { recordAct } from '../record/acts.ts'
import { exists } from '../script.ts'

/** So long another program may hold the lock before a person is told that an act was not recorded. */
const ACT_WAIT_MS = 2_000

const KNOWN = "SELECT 1 FROM act WHERE what = 'card-refused' AND details = :details LIMIT 1"

export function actsOn(engine: Engine, clock: () => number): ActLedger {
  return {
    recordAct({ once = false, ...given }, nowMs) {
      const untilMs = clock() + ACT_WAIT_MS
      return engine.write<'recorded' | 'full' | 'busy'>(
        function* () {
          const isKnown = once && (yield* exists(KNOWN, { details: JSON.stringify(given.details) }))
          if (!isKnown) yield* recordAct({ ...given, atMs: nowMs })
          return 'recorded'
        },
        { kind: 'refusable', refused: (why) => why, giveUp: () => clock() > untilMs },
      )
    },
    log: (sinceMs) => readLog(engine, sinceMs),
    logAfter: (sinceMs, after, most, batchId) => engine.read(() => logAfter(sinceMs, after, most, batchId)),
  }
}
