// Before a file leaves: what run and submit show, and ask, on a terminal.

import type { BatchView } from '../domain/batch.ts'
import { countIn, isPaused } from '../domain/batch-status.ts'
import type { DraftReview } from '../domain/draft.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type Destination, newLines, restLines } from '../present/last-look.ts'
import { plural } from '../present/text.ts'
import { confirm, mayAsk } from './confirm.ts'
import type { Terminal } from './terminal.ts'

interface Sending {
  readonly ledger: Pick<Ledger, 'accounts'>
  readonly accountId: AccountId
  readonly merchant: Merchant
  readonly terminal: Terminal
  readonly yes: boolean
  readonly signal?: AbortSignal
}

/** Of a file that is not recorded yet. False if it did not ask; faults if the answer is no. */
export async function confirmNew(review: DraftReview, sending: Sending): Promise<boolean> {
  const { terminal, yes } = sending
  if (review.accepted === 0 || yes || !mayAsk(terminal)) return false
  terminal.say(...newLines(review, await destinationOf(sending)))
  await confirm(terminal, {
    ...{ yes, ...(sending.signal === undefined ? {} : { signal: sending.signal }) },
    question: `Send ${plural(review.accepted, 'row')}?`,
    otherwise: 'Nothing was recorded and nothing was sent.',
  })
  return true
}

/** Of a batch that was recorded before and is not worked off. One that is held sends nothing, whatever is answered; one of a stopped account goes on where its credentials changed. */
export async function confirmRest(batch: BatchView, sending: Sending): Promise<void> {
  const { terminal, yes } = sending
  const left = countIn(batch, 'READY')
  if (left === 0 || isPaused(batch) || yes || !mayAsk(terminal)) return
  terminal.say(...restLines(batch, left, await destinationOf(sending)))
  await confirm(terminal, {
    ...{ yes, ...(sending.signal === undefined ? {} : { signal: sending.signal }) },
    question: `Send the ${plural(left, 'row')} that ${left === 1 ? 'is' : 'are'} left?`,
    otherwise: `Nothing was sent now. Batch ${batch.batchId} stays as it was.`,
  })
}

async function destinationOf({ ledger, accountId, merchant }: Sending): Promise<Destination> {
  const account = (await ledger.accounts()).find((known) => known.accountId === accountId)
  const { name, url, username, environment } = merchant
  return { name, url, username, environment, ratePerSecond: account?.ratePerSecond ?? merchant.ratePerSecond }
}
