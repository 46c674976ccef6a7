// Claims that nobody answers for. A worker whose lease is over is given up, and claims nothing more until it has renewed it; what it had
// claimed comes into doubt when its answer can be waited for no longer. A worker that comes back to its place knows at once that the
// one before it there is dead.

import type { RowId } from '../../../domain/ids.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { WorkLedger } from '../../../ports/ledger/work.ts'
import { forgottenReason, sweptReason } from '../../rules/unanswered.ts'
import { type Engine, KEPT } from '../../texts/engine.ts'
import { all, change, exists, type Script } from '../../texts/script.ts'
import { ROWS_PER_STEP, stepwise } from '../../texts/work/open-rows.ts'
import { bringIntoDoubt, SENDING_ROW, type SendingRow } from '../../texts/work/sweep.ts'
import { again } from '../reads.ts'
import type { Member } from './member.ts'

/** A claim on a row that is not being sent comes from another program. It is left alone here; the audit of side tables reports it. */
const CLAIMED = `
  SELECT ${SENDING_ROW} FROM claim c JOIN instruction i ON i.id = c.row_id AND i.state = 'SENDING' JOIN batch b ON b.id = i.batch_id LEFT JOIN worker w ON w.id = c.worker`
const OF_PREDECESSORS = `${CLAIMED} WHERE w.place = :place AND w.id <> :me LIMIT ${ROWS_PER_STEP}`
const FORGOTTEN = `${CLAIMED} WHERE w.id = :me AND i.answer_by < :nowMs`
const IS_GIVEN_UP = '(w.id IS NULL OR w.ended_at IS NOT NULL OR w.fenced_at IS NOT NULL)'
const LOST = `${CLAIMED} WHERE ${IS_GIVEN_UP} AND c.answer_by < clock_timestamp() LIMIT ${ROWS_PER_STEP}`

const END_PREDECESSORS = `
  UPDATE worker SET ended_at = clock_timestamp() WHERE place = :place AND id <> :me AND ended_at IS NULL`
const LEASE_OVER = 'fenced_at IS NULL AND ended_at IS NULL AND lease_until < clock_timestamp()'
const GIVE_UP = `UPDATE worker SET fenced_at = clock_timestamp() WHERE ${LEASE_OVER}`
const ANY_LEASE_OVER = `SELECT 1 FROM worker WHERE ${LEASE_OVER} LIMIT 1`

export interface SweepParts {
  readonly engine: Engine
  readonly member: Member
  readonly clock: Clock
  readonly place: string | null
}

export function sweepingOn({
  engine,
  member,
  clock,
  place,
}: SweepParts): Pick<WorkLedger, 'sweep' | 'sweepForgotten' | 'sweepLost'> {
  const ownId = () => again(clock, member.id)

  async function sweepLost(nowMs: number): Promise<number> {
    const isAny = () => isAnyLost()
    if (!(await engine.read(isAny))) return 0
    await engine.write(() => change(GIVE_UP), KEPT)
    return stepwise(engine, function* (book) {
      return yield* bringIntoDoubt(book, yield* all<SendingRow>(LOST), nowMs, sweptReason)
    })
  }

  return {
    sweepLost,

    async sweep(nowMs) {
      const me = await ownId()
      let swept = 0
      if (place !== null) {
        await engine.write(() => change(END_PREDECESSORS, { place, me }), KEPT)
        swept = await stepwise(engine, function* (book) {
          return yield* bringIntoDoubt(book, yield* all<SendingRow>(OF_PREDECESSORS, { place, me }), nowMs, sweptReason)
        })
      }
      return swept + (await sweepLost(nowMs))
    },

    async sweepForgotten(nowMs, inFlight) {
      const me = await ownId()
      const forgotten = () => forgottenRows(me, nowMs, inFlight)
      if ((await engine.read(forgotten)).length === 0) return 0
      return engine.write(function* (book) {
        return yield* bringIntoDoubt(book, yield* forgotten(), nowMs, forgottenReason)
      }, KEPT)
    },
  }
}

function* isAnyLost(): Script<boolean> {
  return (yield* exists(ANY_LEASE_OVER)) || (yield* exists(LOST))
}

function* forgottenRows(me: number, nowMs: number, inFlight: ReadonlySet<RowId>): Script<SendingRow[]> {
  const overdue = yield* all<SendingRow>(FORGOTTEN, { me, nowMs })
  return overdue.filter(({ id }) => !inFlight.has(id as RowId))
}
