// The last look before a file leaves: what run and submit show, and ask, on a terminal.

import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import type { DraftReview } from '../domain/draft.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Merchant } from '../domain/merchant.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type Destination, destinationText, lastLookLines } from '../present/last-look.ts'
import { plural } from '../present/text.ts'
import { confirm, mayAsk } from './confirm.ts'
import type { Terminal } from './terminal.ts'

interface Look {
  readonly ledger: Pick<Ledger, 'accounts'>
  readonly accountId: AccountId
  readonly merchant: Merchant
  readonly terminal: Terminal
  readonly yes: boolean
  readonly signal?: AbortSignal
}

/** Of a file that is not recorded yet. Faults where the answer is no. */
export async function lookAtNew(review: DraftReview, look: Look): Promise<void> {
  if (review.accepted === 0 || look.yes || !mayAsk(look.terminal)) return
  look.terminal.say(...lastLookLines(review, await destinationOf(look)))
  await confirm(look.terminal, {
    ...look,
    question: `Send ${plural(review.accepted, 'row')}?`,
    otherwise: 'Nothing was recorded and nothing was sent.',
  })
}

/** Of a batch that was recorded before and is not worked off. */
export async function lookAtRest(batch: BatchView, look: Look): Promise<void> {
  const left = countIn(batch, 'READY')
  if (left === 0 || look.yes || !mayAsk(look.terminal)) return
  look.terminal.say(destinationText(left, await destinationOf(look)))
  await confirm(look.terminal, {
    ...look,
    question: `Send the ${plural(left, 'row')} that ${left === 1 ? 'is' : 'are'} left?`,
    otherwise: `Nothing was sent now. Batch ${batch.batchId} stays as it was.`,
  })
}

async function destinationOf({ ledger, accountId, merchant }: Look): Promise<Destination> {
  const account = (await ledger.accounts()).find((known) => known.accountId === accountId)
  const { name, url, username } = merchant
  return { name, url, username, ratePerSecond: account?.ratePerSecond ?? merchant.ratePerSecond }
}
