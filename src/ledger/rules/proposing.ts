// Sending a row in doubt once more takes two people where approvals are in force: what each of them is told. Pure.

import { type Actor, actorText } from '../../domain/actor.ts'
import type { Unfit } from '../../domain/approval.ts'
import { isoOf } from '../../domain/batch-status.ts'
import type { Proposal } from '../../domain/doubt.ts'
import { type Text, words } from '../../domain/words.ts'
import { type Refusal, refused } from './resolving.ts'

const LOOK_AGAIN = words`Look at it again (${{ act: 'list-doubts', toFile: false }})`

/** The person was shown another one than stands now, or none. `shown` undefined: what they were shown is not known. */
export function otherProposal(
  name: string,
  shown: number | null | undefined,
  standing: Pick<Proposal, 'by' | 'atMs'> | null,
): Refusal | null {
  if (shown === undefined || shown === (standing?.atMs ?? null)) return null
  if (standing === null)
    return refused(
      'proposal',
      words`The proposal to send ${name} again that you looked at no longer stands: it was refused or has lapsed. ${LOOK_AGAIN}`,
    )
  return refused(
    'proposal',
    words`${standing.by} proposed at ${isoOf(standing.atMs)} to send ${name} again, and you were not shown that: now it would be sent at once. ${LOOK_AGAIN}, and confirm that proposal by itself if you agree`,
  )
}

/** The person was told that they only propose it, and one word has been enough since. */
export function wouldBeSent(name: string): Refusal {
  return refused(
    'proposal',
    words`To send ${name} again does not take two people any more: now it would be sent at once. ${LOOK_AGAIN}`,
  )
}

/** Somebody else decided on it at the same moment. */
export function decidedMeanwhile(name: string): Refusal {
  return refused('proposal', words`Somebody else has just decided on sending ${name} again. ${LOOK_AGAIN}`)
}

export interface Confirming {
  readonly name: string
  readonly by: string
  readonly actor: Actor
  /** Whom the actor is held against. */
  readonly beside: 'submitter' | 'proposer'
}

export function unfitToConfirm(unfit: Unfit, confirming: Confirming): Refusal {
  const { name, by } = confirming
  return refused(
    'proposal',
    words`${by} proposed to send ${name} again, and you cannot confirm it: ${whyUnfit(unfit, confirming)}. Somebody else must`,
  )
}

function whyUnfit(unfit: Unfit, { actor, beside }: Confirming): Text {
  const first = beside === 'submitter' ? 'who submitted the batch' : 'who proposed it'
  switch (unfit) {
    case 'no-approver':
      return `${actorText(actor)} does not have the role approver`
    case 'approver-too-new':
      return `${actorText(actor)} has had the role approver for less than 24 hours`
    case 'made-by-the-submitter':
      return `${first} made ${actorText(actor)} an approver`
    case 'made-by-one':
      return `one person made both ${actorText(actor)} and ${first}, and no second person has confirmed either of them`
    case 'other-account':
      return `${actorText(actor)} signs in another way than ${first}, and the two may be one person`
    case 'the-submitter':
      return beside === 'submitter'
        ? `you (${actorText(actor)}) submitted the batch, and could be paid twice by it; you may propose it yourself once this proposal is refused`
        : `you (${actorText(actor)}) proposed it`
    case 'maker-of-its-key':
      return `you (${actorText(actor)}) made the key with which the batch was submitted`
    case 'an-approver-already':
      return `you (${actorText(actor)}) have decided on it already`
    case 'a-key':
      return 'a key is no person'
    case 'not-by-users':
      return 'the approval policy of this ledger lets no user of the operating system approve (os_users: false)'
  }
}
