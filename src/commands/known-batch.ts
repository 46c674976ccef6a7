// What is said where a file is a batch already, and more or something else is asked of it than that batch was recorded with.

import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { BrakedOtherwise, HoldsOther, Known, SubmitRequest } from '../domain/submission.ts'
import { optionText } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { readOtherwiseFault } from '../present/interpretation.ts'
import { undeclaredLine } from '../present/review.ts'
import { plural } from '../present/text.ts'
import type { Rejects } from './rejects.ts'
import type { Terminal } from './terminal.ts'

/** Who sees the totals of a file a second time must not believe that its money has moved a second time. */
export function sameText(batch: BatchView): string {
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  const means =
    open === 0
      ? 'no row of it is left to send. Nothing is sent now; its results are written.'
      : `${open} of ${plural(batch.rows, 'row')} ${open === 1 ? 'is' : 'are'} not settled yet. What is settled or in doubt is not sent again.`
  return `The file is batch ${batch.batchId} already: ${means}`
}

/** The batch to go on with; null: the file is refused, and it has been said why. */
export function goOnWith(
  known: Known,
  asked: SubmitRequest,
  path: string,
  rejects: Rejects,
  terminal: Terminal,
): BatchId | null {
  if (known.kind === 'known') return known.batchId
  if (known.kind !== 'holds-other') throw otherwiseFault(known, asked)
  refuseHoldsOther(known, maskCardData(path), rejects, terminal)
  return null
}

/** Why the batch that the file is does not do what is asked now. */
export function otherwiseFault(known: Exclude<Known, { kind: 'known' }>, asked: SubmitRequest): Fault {
  switch (known.kind) {
    case 'read-otherwise':
      return readOtherwiseFault(known, asked.fingerprint)
    case 'braked-otherwise':
      return brakedOtherwiseFault(known, asked)
    case 'holds-other':
      return new Fault('refused', [...known.refusals.map(undeclaredLine), refusedText(known)].join(' '))
  }
}

function brakedOtherwiseFault({ batchId, brakes, open }: BrakedOtherwise, asked: SubmitRequest): Fault {
  const { canaryRows, maxDeclinedPercent, expiresAfterMs } = asked
  const options = optionText([
    ['--canary', brakes.includes('canary') ? String(canaryRows) : undefined],
    ['--max-declined', brakes.includes('max-declined') ? String(maxDeclinedPercent) : undefined],
    ['--expires-after', brakes.includes('expires-after') ? `${(expiresAfterMs ?? 0) / 1000}s` : undefined],
  ])
  const next =
    open === 0
      ? `No row of it is left to send. Leave ${options} out to have its results written again.`
      : `${openText(batchId, open)} To send what is left without ${options}, leave it out. To send what is left with it: tranche cancel ${batchId} --reason TEXT, then tranche results ${batchId} --out FILE, then hand that file in with --retry cancelled ${options}.`
  return new Fault(
    'usage',
    `This file is batch ${batchId} already, which keeps the brakes it was recorded with: ${options} would have no effect. Nothing was recorded and nothing was sent. ${next}`,
  )
}

/** In the words that refuse a new file. */
function refuseHoldsOther(known: HoldsOther, path: string, rejects: Rejects, terminal: Terminal): void {
  const { batchId, rows, refusals } = known
  const lines = refusals.map(undeclaredLine)
  for (const line of lines) terminal.say(line)
  rejects.say(terminal)
  terminal.object({
    ...{ event: 'result', ok: false, file: path, batch: batchId, rows },
    refusals: refusals.map((refusal, i) => ({ ...refusal, message: lines[i] })),
    exit: EXIT.refused,
  })
  terminal.say(`${path} is refused. ${refusedText(known)}`)
}

function refusedText({ batchId, rows, open }: HoldsOther): string {
  const known = `It is batch ${batchId} already, of ${plural(rows, 'row')}. Nothing was recorded again and nothing was sent.`
  return open === 0 ? known : `${known} ${openText(batchId, open)}`
}

function openText(batchId: BatchId, open: number): string {
  const rows = open === 1 ? 'One row of it is' : `${open} rows of it are`
  return `${rows} not settled yet, and a running worker goes on with the batch. To stop it: tranche pause ${batchId} --reason TEXT.`
}
