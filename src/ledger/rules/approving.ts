// Whether a person may decide on a batch, in the sentence that refuses it. Pure.

import { type Actor, actorText } from '../../domain/actor.ts'
import { type Approval, isAwaiting, type Unfit } from '../../domain/approval.ts'
import type { Hold } from '../../domain/batch.ts'
import { Fault } from '../../domain/fault.ts'
import { words } from '../../domain/words.ts'

export interface Undecided extends Pick<Approval, 'needed' | 'given' | 'untilMs'> {
  readonly batchId: string
  readonly hold: Hold
  /** Rows that are to be sent. */
  readonly ready: number
}

/** Why there is nothing to decide on any more; null: there is. */
export function closedFault({
  batchId,
  hold,
  ready,
  nowMs,
  ...approval
}: Undecided & { readonly nowMs: number }): Fault | null {
  if (hold === 'cancelled')
    return new Fault('usage', `Batch ${batchId} was cancelled: there is nothing to decide. Nothing was changed.`)
  if (!isAwaiting(approval)) {
    const why = approval.needed === 0 ? 'needs no approval' : 'has all the approvals that it needs'
    const act = { act: 'cancel-batch', batchId } as const
    return new Fault('usage', words`Batch ${batchId} ${why}. Nothing was changed. To stop it: ${act}`)
  }
  if (ready === 0)
    return new Fault('usage', `Batch ${batchId} has no row to send: there is nothing to decide. Nothing was changed.`)
  if (nowMs < approval.untilMs) return null
  return new Fault(
    'usage',
    words`No one decided on batch ${batchId} by ${new Date(approval.untilMs).toISOString()}, so it expired: what waits of it is not sent any more. Once a worker has cancelled it, submit its results with ${{ set: 'retry', to: 'cancelled' }} if it is still wanted.`,
  )
}

/** The digest is not the one of the batch as it is. `takesMessages`: more of them may join it at any time. */
export function otherBatchFault(batchId: string, takesMessages: boolean): Fault {
  const whileTheyCome = takesMessages
    ? ' Where messages come faster than you can look: pause it, approve it, then resume it. Later ones wait in another batch meanwhile.'
    : ''
  return new Fault(
    'usage',
    `Batch ${batchId} is not the one that you looked at: the digest is another. Nothing was approved. Look at it again, and approve the digest that is shown then.${whileTheyCome}`,
  )
}

/** What is recorded now differs from what was submitted. */
export function changedRecordFault(batchId: string): Fault {
  return new Fault(
    'stopped',
    `The rows of batch ${batchId} are not those that were submitted: the record was changed by other means. Nothing was approved. Cancel the batch, and compare the ledger with a backup.`,
  )
}

export function unfitFault(batchId: string, unfit: Unfit, actor: Actor): Fault {
  return new Fault('usage', `${whyUnfit(batchId, unfit, actor)} Nothing was approved.`)
}

function whyUnfit(batchId: string, unfit: Unfit, actor: Actor): string {
  switch (unfit) {
    case 'no-approver':
      return `${actorText(actor)} does not have the role approver, so another person must decide on batch ${batchId}.`
    case 'approver-too-new':
      return `${actorText(actor)} has had the role approver for less than 24 hours, so another person must decide on batch ${batchId}.`
    case 'made-by-the-submitter':
      return `The submitter of batch ${batchId} made ${actorText(actor)} an approver, so another person must decide on it.`
    case 'made-by-one':
      return `One person made both ${actorText(actor)} and who submitted or approved batch ${batchId}, and no second person has confirmed either of them, so another person must decide on it. Another administrator confirms one of them, or the owner of this machine.`
    case 'other-account':
      return `${actorText(actor)} signs in another way than who submitted or approved batch ${batchId}: one by the identity provider, the other by a password or another provider. They may be one person, so somebody who signs in the same way must decide on it.`
    case 'the-submitter':
      return `You (${actorText(actor)}) submitted batch ${batchId}, so somebody else must approve it.`
    case 'maker-of-its-key':
      return `You (${actorText(actor)}) made the key with which batch ${batchId} was submitted, so somebody else must approve it.`
    case 'an-approver-already':
      return `You (${actorText(actor)}) approved batch ${batchId} already; it needs another person as well.`
    case 'a-key':
      return 'A key is no person, and only people approve.'
    case 'not-by-users':
      return 'The approval policy of this ledger lets no user of the operating system approve (os_users: false).'
  }
}
