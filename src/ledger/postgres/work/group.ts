// What is written together in one transaction: claims and plain settlements. It asks twice: for all of them with its beginning, and with its
// COMMIT for the sums of what these moved, on which nothing depends.

import type { ClaimAnswer } from '../../../ports/ledger/work.ts'
import type { Entry } from '../../write-queue.ts'
import type { Asked, Begun } from '../session.ts'
import type { Claiming, NumberedClaim } from './claims.ts'
import { askToSettle, type PlainSettlement, settledIn } from './settlements.ts'
import { createTallyOfMany } from './tally.ts'

export type Work =
  | { readonly kind: 'claim'; readonly asked: NumberedClaim }
  | { readonly kind: 'settle'; readonly settlement: PlainSettlement; readonly worker: number }

/** Not written here. A settlement goes to the script next; a claim is asked again after it. */
export const LATER = 'later'

/** By which worker the claim was made. */
export type Claimed = { readonly answer: ClaimAnswer; readonly worker: number }

export interface Group {
  readonly first: readonly Asked[]
  /** Gives each entry its result. */
  finish(found: Begun['found']): readonly Asked[]
}

/**
 * Settlements go first: one may free its order for the next claim. Where one is not plain, which the server finds,
 * nothing is claimed. `mayClaim`: nothing else must be written before.
 */
export function groupOf(entries: readonly Entry<Work>[], worker: number, claiming: Claiming, mayClaim: boolean): Group {
  const settling = entries.flatMap((entry) => (entry.work.kind === 'settle' ? [{ entry, of: entry.work }] : []))
  const asking = entries.flatMap((entry) => (entry.work.kind === 'claim' ? [{ entry, of: entry.work.asked }] : []))
  const plain = settling.flatMap(({ of }) => (of.worker === worker ? [of.settlement] : []))
  const claims = asking.map(({ of }) => of)
  const settles = plain.length > 0
  const claimsToo = mayClaim && plain.length === settling.length && claims.length > 0
  return {
    // One claim may be settled twice in a group.
    first: [
      ...(settles ? [askToSettle(worker, plain)] : []),
      ...(claimsToo ? [claiming.ask(worker, claims, new Set(plain.map(({ claimNo }) => claimNo)).size)] : []),
    ],
    finish(found) {
      const tally = createTallyOfMany()
      const [settledRows, claimedRows] = settles ? found : [[], found[0]]
      const settled = settledIn(settledRows ?? [], (rows, to) => tally.moved(rows, 'SENDING', to))
      for (const { entry, of } of settling) entry.result = settled.get(of.settlement.claimNo) ?? LATER
      const hasClaimed = claimsToo && settling.every(({ entry }) => entry.result !== LATER)
      const won = claimsToo ? (claimedRows ?? []) : []
      if (!hasClaimed && won.length > 0) throw new Error('bug: a claim overtook a settlement that is written alone')
      const answers = hasClaimed ? claiming.answers(claims, won, (rows) => tally.moved(rows, 'READY', 'SENDING')) : []
      for (const [i, { entry }] of asking.entries()) {
        const answer = answers[i]
        entry.result = answer === undefined ? LATER : ({ answer, worker } satisfies Claimed)
      }
      return tally.asked()
    },
  }
}
