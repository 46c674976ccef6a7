// Taking a ledger over: one that was moved as it is, or an older state with all its open rows in doubt.

import type { DatabaseSync } from 'node:sqlite'
import type { Adoption } from '../../../domain/alarm.ts'
import type { CopyLedger } from '../../../ports/ledger/copies.ts'
import { type Engine, FAULTING } from '../../texts/engine.ts'
import { deleteDrafts } from '../../texts/intake/drafts.ts'
import { lastSentAtMs } from '../../texts/reading/last-sent.ts'
import { recordAct } from '../../texts/record/acts.ts'
import { change } from '../../texts/script.ts'
import { doubtOpenRows, END_CANARIES } from '../../texts/work/restore.ts'
import type { Committer } from '../commit.ts'
import type { Run } from '../run-script.ts'
import { createRenewing, type EpochParts, prepareEpochChange } from './renew-epoch.ts'

export interface AdoptingParts extends EpochParts {
  readonly engine: Engine
  readonly run: Run
  /** Keeps every submit out until it is called again. */
  readonly lockSubmit: () => Promise<() => void>
}

/** From here on nothing is sent, and the ledger cannot be adopted as moved: an interrupted adoption must be finished. */
const BEGIN_RESTORING = "INSERT INTO meta VALUES ('restoring', '1') ON CONFLICT DO NOTHING"
const END_RESTORING = "DELETE FROM meta WHERE key = 'restoring'"

export function createAdopting(
  db: DatabaseSync,
  committer: Committer,
  parts: AdoptingParts,
): Omit<CopyLedger, 'backup'> {
  const { engine, run } = parts
  const replaceEpoch = prepareEpochChange(db, committer, parts)

  return {
    ...createRenewing(db, replaceEpoch, parts),

    async adopt(how, reason, actor, nowMs, dueBeforeMs = null) {
      const keep = (what: Adoption) =>
        run(recordAct({ what: 'adopt', atMs: nowMs, actor, reason: `--${what}: ${reason}` }))
      if (how === 'moved') {
        await replaceEpoch({ also: () => keep('moved') })
        return 0
      }
      // A file recorded between the last step and the adoption would be READY, and may be one that was sent since.
      const release = await parts.lockSubmit()
      try {
        await engine.write(() => change(BEGIN_RESTORING), FAULTING)
        await deleteDrafts(engine)
        const inDoubt = await doubtOpenRows(engine, { actor, why: reason, nowMs, dueBeforeMs })
        const also = () => {
          run(change(END_CANARIES))
          run(change(END_RESTORING))
          keep('restored')
        }
        await replaceEpoch({ restored: true, also })
        return inDoubt
      } finally {
        release()
      }
    },

    lastSentAtMs: () => engine.read(lastSentAtMs),
  }
}
