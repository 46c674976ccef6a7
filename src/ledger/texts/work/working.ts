// The working off of rows, put together.

import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { type Engine, KEPT } from '../engine.ts'
import { keepingAccountsOn } from './accounts.ts'
import { ALONE } from './alone.ts'
import { finishCancelling } from './cancelling.ts'
import { claim, dueRowsOn } from './claim.ts'
import { limitingOn } from './daily-limit.ts'
import { cancelExpired } from './expiring.ts'
import { endingRestsOn } from './rests.ts'
import { settle } from './settle.ts'
import { sweepingOn } from './sweep.ts'

export function workingOn(engine: Engine, clock: () => number, due = dueRowsOn(engine)): Omit<WorkLedger, 'beat'> {
  return {
    claim: (asked) =>
      engine.write((book) => claim(book, asked), {
        kind: 'refusable',
        refused: (why) => ({ kind: 'not-written', why }),
        giveUp: () => clock() > asked.sendByMs,
      }),
    settle: (settlement) => engine.write((book) => settle(book, settlement), KEPT),
    finishCancelling: (nowMs) => finishCancelling(engine, nowMs),
    cancelExpired: (nowMs) => cancelExpired(engine, nowMs),
    ...due,
    ...keepingAccountsOn(engine),
    ...sweepingOn(engine),
    ...endingRestsOn(engine),
    ...limitingOn(engine),
    ...ALONE,
  }
}
