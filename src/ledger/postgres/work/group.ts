// What is written together in one transaction: claims and plain settlements. It asks twice: for all of them with its beginning, and with its
// COMMIT for the sums of what these moved, on which nothing depends.

import type { ClaimAnswer } from '../../../ports/ledger/work.ts'
import type { Entry } from '../../write-queue.ts'
import type { Asked, Begun } from '../session.ts'
import type { Next } from '../transactor.ts'
import type { Claiming, NumberedClaim } from './claims.ts'
import { askForSums, askToCount, type Judged, judgeTogether } from './limited.ts'
import { askToSettle, type PlainSettlement, settledIn } from './settlements.ts'
import { createTallyOfMany } from './tally.ts'

export type Work =
  | { readonly kind: 'claim'; readonly asked: NumberedClaim }
  | { readonly kind: 'settle'; readonly settlement: PlainSettlement; readonly worker: number }

/** Not written here. A settlement goes to the script next; a claim is asked again after it. */
export const LATER = 'later'

/** By which worker the claim was made. */
export type Claimed = { readonly answer: ClaimAnswer; readonly worker: number }

/** The limit of its day leaves no room for it, or what counts on that day is not known. Nothing was claimed. */
export type Unlimited = Extract<Judged, 'held' | 'uncounted'>

export interface Group {
  readonly first: readonly Asked[]
  /** Claims, where the sums that `first` locked say which of them keep within their limit. undefined: none is limited. */
  readonly between: Next | undefined
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
  // One claim may be settled twice in a group.
  const ask = (fitting: readonly NumberedClaim[]) =>
    claiming.ask(worker, fitting, new Set(plain.map(({ claimNo }) => claimNo)).size)
  const sums = claimsToo ? askForSums(claims) : []
  const isLimited = sums.length > 0
  let judged: readonly Judged[] = claims.map(() => 'fits')
  const fitting = () => claims.filter((_, i) => judged[i] === 'fits')
  return {
    first: [
      ...sums,
      ...(settles ? [askToSettle(worker, plain)] : []),
      ...(claimsToo && !isLimited ? [ask(claims)] : []),
    ],
    between: !isLimited
      ? undefined
      : ([spent = []]) => {
          judged = judgeTogether(claims, spent)
          return fitting().length === 0 ? [] : [ask(fitting())]
        },
    finish(all) {
      const tally = createTallyOfMany()
      const found = isLimited ? all.slice(1) : all
      const [settledRows, claimedRows] = settles ? found : [[], found[0]]
      const settled = settledIn(settledRows ?? [], (rows, to) => tally.moved(rows, 'SENDING', to))
      for (const { entry, of } of settling) entry.result = settled.get(of.settlement.claimNo) ?? LATER
      const hasClaimed = claimsToo && settling.every(({ entry }) => entry.result !== LATER)
      const won = claimsToo ? (claimedRows ?? []) : []
      if (!hasClaimed && won.length > 0) throw new Error('bug: a claim overtook a settlement that is written alone')
      const asked = fitting()
      const answers = hasClaimed ? claiming.answers(asked, won, (rows) => tally.moved(rows, 'READY', 'SENDING')) : []
      const answerTo = new Map(answers.map((answer, i) => [asked[i], answer]))
      for (const [i, { entry, of }] of asking.entries()) {
        const answer = judged[i] === 'later' ? ({ kind: 'not-free' } as const) : answerTo.get(of)
        if (!hasClaimed) entry.result = LATER
        else if (answer === undefined) entry.result = judged[i] as Unlimited
        else entry.result = { answer, worker } satisfies Claimed
      }
      return [...tally.asked(), ...askToCount(asked.filter((claim) => answerTo.get(claim)?.kind === 'claimed'))]
    },
  }
}
