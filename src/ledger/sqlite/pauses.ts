// What makes the machine stop and wait for a person: too many doubts, an answer that is not what was asked, too many
// declines, the end of a canary. Decided in the transaction of the settlement that tips the scale.

import type { DatabaseSync } from 'node:sqlite'
import { type Answered, isOverLimit, noteAnswer } from '../../domain/decline-limit.ts'
import type { State } from '../../domain/states.ts'
import type { Settlement } from '../../ports/ledger/work.ts'
import { openActs } from './acts.ts'
import type { SettlingRow } from './moves.ts'

/** So many doubts that no person has looked at hold the account: something is wrong beyond one row. */
const DOUBTS_BEFORE_HOLD = 10

/** Answers with why this settlement paused something; null where all goes on. */
export type Pausing = (row: SettlingRow, to: State, settlement: Settlement) => string | null

export function openPausing(db: DatabaseSync): Pausing {
  const pauseForMoney = db.prepare(
    "UPDATE batch SET money_warned = 1, hold = 'paused', hold_reason = ? WHERE id = ? AND hold = 'none' AND money_warned = 0",
  )
  const pauseBatch = openBatchPause(db)
  const endCanary = openCanaryEnd(db)
  const recentOf = db.prepare('SELECT recent_answers AS recent FROM batch WHERE id = ?')
  const keepRecent = db.prepare('UPDATE batch SET recent_answers = ? WHERE id = ?')
  const countDoubt = openDoubtCount(db)
  const act = openActs(db)

  function forMoney(row: SettlingRow, { atMs, warning }: Settlement): string | null {
    const reason = `row ${row.row_no}: ${warning ?? 'the answer differs from what was asked'}; the file may be wrong about every row like it`
    if (pauseForMoney.run(reason, row.batch_id).changes === 0) return null
    act({ what: 'pause', atMs, actor: null, batchId: row.batch_id, accountId: row.account_id, reason })
    return reason
  }

  function forDeclines(row: SettlingRow, answered: Answered, atMs: number): string | null {
    if (row.max_declined === null) return null
    const { recent: before } = recentOf.get(row.batch_id) as { recent: string }
    const recent = noteAnswer(before, answered)
    keepRecent.run(recent, row.batch_id)
    if (row.hold !== 'none' || !isOverLimit(recent, row.max_declined)) return null
    return pauseBatch(
      row,
      `more than ${row.max_declined} % of the last 100 answered rows were declined or refused (--max-declined)`,
      atMs,
    )
  }

  return (row, to, settlement) => {
    const { atMs } = settlement
    if (to === 'READY') return null
    const reasons = [
      to === 'IN_DOUBT' ? countDoubt(row.account_id, atMs) : null,
      to === 'APPROVED' && settlement.warnsOfMoney ? forMoney(row, settlement) : null,
      to === 'APPROVED' ? forDeclines(row, 'approved', atMs) : null,
      to === 'DECLINED' || to === 'FAILED' ? forDeclines(row, 'declined', atMs) : null,
      endCanary(row, atMs),
    ].filter((reason) => reason !== null)
    return reasons.length === 0 ? null : reasons.join('; ')
  }
}

/**
 * Counts a doubt. The tenth since a person last looked holds the account, so that what comes later waits as well, and pauses
 * its batches. `why`: what became of these rows, where it was no answer. Answers with the reason, or null where all goes on.
 */
export function openDoubtCount(db: DatabaseSync): (accountId: number, atMs: number, why?: string) => string | null {
  const count = db.prepare('UPDATE account SET new_doubts = new_doubts + 1 WHERE id = ? RETURNING new_doubts')
  const hold = db.prepare('UPDATE account SET held_reason = ? WHERE id = ? AND held_reason IS NULL')
  const pauseBatches = db.prepare(
    "UPDATE batch SET hold = 'paused', hold_reason = ? WHERE account_id = ? AND stage = 'open' AND hold = 'none'",
  )
  const act = openActs(db)
  return (accountId, atMs, why) => {
    const { new_doubts: doubts } = count.get(accountId) as { new_doubts: number }
    if (doubts < DOUBTS_BEFORE_HOLD) return null
    const last = why === undefined ? '' : `, the last ones because ${why}`
    const reason = `at least ${doubts} rows came into doubt${last}; everything of this account is paused until a person has looked`
    if (hold.run(reason, accountId).changes === 0) return null
    pauseBatches.run(reason, accountId)
    act({ what: 'pause', atMs, actor: null, accountId, reason })
    return reason
  }
}

type BatchPause = (row: Pick<SettlingRow, 'batch_id' | 'account_id'>, reason: string, atMs: number) => string | null

/** Answers with the reason, or null where the batch is cancelled. */
function openBatchPause(db: DatabaseSync): BatchPause {
  // A batch that a person has paused meanwhile says both: who resumes it must know what was to be looked at.
  const pause = db.prepare(`
    UPDATE batch SET hold = 'paused', hold_reason = CASE hold WHEN 'paused' THEN hold_reason || '; ' || ?1 ELSE ?1 END
    WHERE id = ?2 AND hold <> 'cancelled'`)
  const act = openActs(db)
  return (row, reason, atMs) => {
    if (pause.run(reason, row.batch_id).changes === 0) return null
    act({ what: 'pause', atMs, actor: null, batchId: row.batch_id, accountId: row.account_id, reason })
    return reason
  }
}

/** Once none of the first rows is to be sent any more, whatever became of them, the batch waits for a person. */
export function openCanaryEnd(
  db: DatabaseSync,
): (row: Pick<SettlingRow, 'batch_id' | 'account_id' | 'canary'>, atMs: number) => string | null {
  const canaryLeft = db.prepare(`
    SELECT 1 FROM instruction i JOIN batch b ON b.id = i.batch_id
    WHERE i.batch_id = ? AND i.row_no <= b.canary_row_no AND coalesce(i.execute_at, 0) <= b.canary_execute_at
      AND i.state IN ('READY', 'SENDING') LIMIT 1`)
  const endCanary = db.prepare('UPDATE batch SET canary_rows = NULL WHERE id = ?')
  const pauseBatch = openBatchPause(db)
  return (row, atMs) => {
    if (row.canary === null || canaryLeft.get(row.batch_id) !== undefined) return null
    endCanary.run(row.batch_id)
    const rows = row.canary === 1 ? 'the first row was' : `the first ${row.canary} rows were`
    return pauseBatch(row, `${rows} run (--canary): compare their results with what was expected`, atMs)
  }
}
