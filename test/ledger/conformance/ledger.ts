// What every ledger must do, whatever it is stored in: one suite, held against each adapter. Its parts are named by the
// contracts in src/ports/ledger, and those of the intake and the work by what of them they hold.

import { describe, expect, test } from 'vitest'
import { claim, claimNamed, type LedgerPlace, refund, settle, statesIn, submit } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place, useLedger } from '../../fixtures/use-ledger.ts'
import { describeActs } from './acts.ts'
import { describeApprovals } from './approvals.ts'
import { describeApprovalsAgain } from './approvals-again.ts'
import { describeControl } from './control.ts'
import { describeDoors } from './doors.ts'
import { describeDoubts } from './doubts.ts'
import { describeEvents } from './events.ts'
import { describeFamilies } from './families.ts'
import { describeFigures } from './figures.ts'
import { describeFinding } from './finding.ts'
import { describeForeseeing } from './foreseeing.ts'
import { describeChanged } from './intake-changed.ts'
import { describeCheckedRows } from './intake-checked-rows.ts'
import { describeCorrections } from './intake-corrections.ts'
import { describeDates } from './intake-dates.ts'
import { describeDrafts } from './intake-drafts.ts'
import { describeFaults } from './intake-faults.ts'
import { describeLookalikes } from './intake-lookalikes.ts'
import { describeMessages } from './intake-messages.ts'
import { describeNamed } from './intake-named.ts'
import { describeOrders } from './intake-orders.ts'
import { describeQueuedBefore } from './intake-queued-before.ts'
import { describeReattempts } from './intake-reattempts.ts'
import { describeRetries } from './intake-retries.ts'
import { describeRosters } from './intake-rosters.ts'
import { describeSinceReview } from './intake-since-review.ts'
import { describeTargets } from './intake-targets.ts'
import { describeModel } from './model.ts'
import { describePeople } from './people.ts'
import { describeProposals } from './proposals.ts'
import { describeProvided } from './provided.ts'
import { describePurge } from './purge.ts'
import { describeQueries } from './queries.ts'
import { describeWebhooks } from './webhooks.ts'
import { describeBrakes, describeCanaryAtClaim } from './work-brakes.ts'
import { describeCards } from './work-cards.ts'
import { describeClaim } from './work-claim.ts'
import { describeExpiry, describeExpiryAtClaim } from './work-expiry.ts'
import { describeLimits } from './work-limits.ts'
import { describeManyDoubts, describeSettle } from './work-settle.ts'
import { describeSweep, describeTidying } from './work-sweep.ts'

/** Makes an empty place for each test; every opening of it is another connection to the same record. */
type NewPlace = () => Promise<LedgerPlace>

// Four parts, so that the files which call them run side by side.

export function describeIntake(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    useLedger(newPlace)
    describeDrafts()
    describeDates()
    describeFaults()
    describeCheckedRows()
    describeLookalikes()
    describeCorrections()
    describeChanged()
    describeOrders()
    describeTargets()
    describeRosters()
    describeRetries()
    describeReattempts()
    describeSinceReview()
    describeFamilies()
    describeMessages()
    describeNamed()
    describeQueuedBefore()
  })
}

/** `more`: what holds for this adapter alone. */
export function describeWork(name: string, newPlace: NewPlace, more = (): void => {}): void {
  describe(name, () => {
    useLedger(newPlace)
    more()
    describeClaim()
    describeExpiryAtClaim()
    describeCanaryAtClaim()
    describeLimits()
    describeSettle()
    describeSweep()
  })
}

/** What both adapters do by the same texts: which cards are not asked again, what stops a batch or an account, what is tidied up. */
export function describeSharedWork(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    useLedger(newPlace)
    describeCards()
    describeExpiry()
    describeBrakes()
    describeManyDoubts()
    describeTidying()
  })
}

export function describeRecord(name: string, newPlace: NewPlace): void {
  describe(name, () => {
    const renew = useLedger(newPlace)
    describeDoors()
    describePeople()
    describeProvided()
    describeDoubts()
    describeForeseeing()
    describeControl()
    describeQueries()
    describeFigures()
    describeActs()
    describeApprovals()
    describeProposals()
    describeEvents()
    describeWebhooks()
    describeApprovalsAgain()
    describeFinding()
    describePurge(renew)
    describeModel(newPlace)
    describeClose()
  })
}

function describeClose(): void {
  test('close writes what is under way, and the next connection finds it', async () => {
    const batchId = await submit(ledger, accountId, [refund('A')])
    const row = await claimNamed(ledger, batchId, 'A')
    const settling = settle(ledger, row, 'APPROVED')
    await ledger.close()
    expect(await settling).toMatchObject({ state: 'APPROVED' })
    const next = place.open()
    expect(next.ledgerId).toBe(ledger.ledgerId)
    expect(await statesIn(next, batchId)).toEqual(['APPROVED'])
    expect(await claim(next, { rowId: row.rowId, attempt: 1 })).toEqual({ kind: 'not-free' })
  })
}
