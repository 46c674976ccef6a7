// What every ledger must do, whatever it is stored in: one suite, held against each adapter.

import { describe } from 'vitest'
import type { LedgerPlace } from '../fixtures/ledgers.ts'
import { useLedger } from '../fixtures/use-ledger.ts'
import { describeActs } from './conformance-acts.ts'
import { describeArrivals } from './conformance-arrivals.ts'
import { describeBook } from './conformance-book.ts'
import { describeBrakes } from './conformance-brakes.ts'
import { describeClaims } from './conformance-claims.ts'
import { describeDoubts } from './conformance-doubts.ts'
import { describeDrafts } from './conformance-drafts.ts'
import { describeFaults } from './conformance-faults.ts'
import { describeMessages } from './conformance-messages.ts'
import { describeModel } from './conformance-model.ts'
import { describePurge } from './conformance-purge.ts'
import { describeRefunds } from './conformance-refunds.ts'
import { describeSettling } from './conformance-settling.ts'

/** `place` makes an empty place for each test; every opening of it is another connection to the same record. */
export function describeLedger(name: string, place: () => Promise<LedgerPlace>): void {
  describe(name, () => {
    const renew = useLedger(place)
    describeDrafts()
    describeFaults()
    describeMessages()
    describeArrivals()
    describeRefunds()
    describeClaims()
    describeSettling()
    describeDoubts()
    describeBrakes()
    describeBook()
    describeActs()
    describePurge(renew)
    describeModel(place)
  })
}
