// Taking a ledger over: one that was moved as it is, an older state with all its open rows in doubt, and an account that
// has another address.

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../domain/actor.ts'
import type { Adoption } from '../../../domain/alarm.ts'
import { Fault } from '../../../domain/fault.ts'
import type { State } from '../../../domain/states.ts'
import type { ControlLedger } from '../../../ports/ledger/control.ts'
import type { CopyLedger } from '../../../ports/ledger/copies.ts'
import { accountToAdopt, addressText } from '../../rules/accounts.ts'
import { restoredReason } from '../../rules/unanswered.ts'
import { accountsLike } from '../accounts.ts'
import { prepareActs } from '../acts.ts'
import type { Committer } from '../commit.ts'
import { deleteDrafts } from '../draft-recording.ts'
import { findRows } from '../found.ts'
import { type RecordMove, ROWS_PER_STEP } from '../moves.ts'
import type { Counted } from '../tally.ts'
import { createRenewing, type EpochParts, prepareEpochChange } from './renew-epoch.ts'

export interface AdoptingParts extends EpochParts {
  readonly record: RecordMove
  /** Keeps every submit out until it is called again. */
  readonly lockSubmit: () => Promise<() => void>
}

/** A moved account makes every copy an older state as well. */
export type AdoptingLedger = CopyLedger & Pick<ControlLedger, 'adoptAccount'>

export function createAdopting(db: DatabaseSync, committer: Committer, parts: AdoptingParts): AdoptingLedger {
  const act = prepareActs(db)
  const endCanaries = db.prepare('UPDATE batch SET canary_rows = NULL WHERE canary_rows IS NOT NULL')
  const replaceEpoch = prepareEpochChange(db, committer, parts)

  return {
    ...createRenewing(db, replaceEpoch, parts),

    async adopt(how, reason, actor, nowMs) {
      const keep = (what: Adoption) => act({ what: 'adopt', atMs: nowMs, actor, reason: `--${what}: ${reason}` })
      if (how === 'moved') {
        await replaceEpoch({ also: () => keep('moved') })
        return 0
      }
      // A file recorded between the last step and the adoption would be READY, and may be one that was sent since.
      const release = await parts.lockSubmit()
      try {
        await deleteDrafts(db, committer)
        const inDoubt = await doubtOpenRows(db, committer, parts.record, { actor, reason, nowMs })
        const also = () => {
          // Of a canary nothing waits any more: what a person sends again is looked at one by one.
          endCanaries.run()
          keep('restored')
        }
        await replaceEpoch({ restored: true, also })
        return inDoubt
      } finally {
        release()
      }
    },

    lastRecordAtMs: async () => lastRecordAtMs(db),

    adoptAccount: prepareAdoptingAccount(db, committer),
  }
}

function prepareAdoptingAccount(db: DatabaseSync, committer: Committer): ControlLedger['adoptAccount'] {
  const act = prepareActs(db)
  return async (name, url, username, reason, actor, nowMs) => {
    const move = () => {
      const to = { name, url, username }
      const moved = accountToAdopt(to, accountsLike(db, to))
      if (moved instanceof Fault) return moved
      db.prepare('UPDATE account SET url = ?, username = ? WHERE id = ?').run(url, username, moved.id)
      const told = `${addressText(moved)} → ${addressText(to)}: ${reason}`
      act({ what: 'adopt-account', atMs: nowMs, actor, accountId: moved.id, reason: told })
      return null
    }
    const fault = await committer.write(move, { kind: 'faulting' })
    if (fault !== null) throw fault
  }
}

type OpenRow = Counted & { readonly id: number; readonly state: State; readonly attempt: number }

/**
 * Whatever was READY when the copy was made may have been sent since, rows of held batches too: the hold may have been
 * made after the copy was put back. Broken off, it goes on with what is left.
 */
async function doubtOpenRows(
  db: DatabaseSync,
  committer: Committer,
  record: RecordMove,
  { actor, reason: why, nowMs }: { actor: Actor; reason: string; nowMs: number },
): Promise<number> {
  const reason = restoredReason(why)
  // When a first byte left, and of a READY row whether one was claimed, is what this state cannot know.
  const doubt = db.prepare(`
    UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1, completed_at = ?, sent_at = NULL, send_by = NULL, reason = ?,
      claimed_at = CASE state WHEN 'SENDING' THEN claimed_at END
    WHERE id = ?`)
  let total = 0
  for (const state of ['SENDING', 'READY'] as const) {
    const open = db.prepare(`
      SELECT id, batch_id, state, attempt, operation, currency, amount_minor FROM instruction
      WHERE state = '${state}' LIMIT ${ROWS_PER_STEP}`)
    const step = () => {
      const rows = findRows<OpenRow>(open)
      for (const row of rows) {
        doubt.run(nowMs, reason, row.id)
        record(row, 'IN_DOUBT', 'restore', { attempt: row.attempt, atMs: nowMs, actor, reason })
      }
      return rows.length
    }
    for (let moved = ROWS_PER_STEP; moved === ROWS_PER_STEP; total += moved) {
      moved = await committer.write(step, { kind: 'faulting' })
    }
  }
  return total
}

function lastRecordAtMs(db: DatabaseSync): number | null {
  const { at } = db
    .prepare(`
      SELECT max(
        coalesce((SELECT at FROM move WHERE cause <> 'restore' ORDER BY id DESC LIMIT 1), 0),
        coalesce((SELECT max(created_at) FROM batch WHERE stage = 'open'), 0),
        coalesce((SELECT max(at) FROM act), 0)) AS at`)
    .get() as { at: number }
  return at === 0 ? null : at
}
