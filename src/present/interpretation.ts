// How a file is read, as the options of the command line, and what to do where it was read otherwise before.

import type { BatchView } from '../domain/batch.ts'
import type { RetryStatus } from '../domain/draft.ts'
import { Fault } from '../domain/fault.ts'
import { type Fingerprint, parseFingerprint } from '../domain/interpretation.ts'
import type { PassingCategory } from '../domain/reattempt.ts'
import type { ReadOtherwise } from '../domain/submission.ts'
import { optionText } from './command-line.ts'

function retriedText(retry: readonly RetryStatus[], reattempt: readonly PassingCategory[]): string | undefined {
  const statuses = [...retry, ...(reattempt.length === 0 ? [] : ['DECLINED'])]
  return statuses.length === 0 ? undefined : statuses.join(',').toLowerCase()
}

/** Empty where nothing was said. */
export function interpretationText(fingerprint: Fingerprint): string {
  const {
    operation,
    currency,
    decimal,
    sign,
    scale,
    headerRow,
    sheet,
    timeZone,
    map = [],
    retry = [],
    reattempt = [],
  } = parseFingerprint(fingerprint)
  return optionText([
    ['--operation', operation],
    ['--currency', currency],
    ['--decimal', decimal],
    ['--sign', sign],
    ['--scale', scale],
    ['--header-row', headerRow === undefined ? undefined : String(headerRow)],
    ['--sheet', sheet],
    ['--timezone', timeZone],
    ...map.map(({ column, field }): [string, string] => ['--map', `${column}=${field || 'ignore'}`]),
    ['--retry', retriedText(retry, reattempt)],
    ['--category', reattempt.length === 0 ? undefined : reattempt.join(',')],
  ])
}

const named = (fingerprint: Fingerprint) => interpretationText(fingerprint) || 'no such options'

export function readOtherwiseFault({ batchId, fingerprint }: ReadOtherwise, asked: Fingerprint): Fault {
  return new Fault(
    'usage',
    `This file is batch ${batchId} already, read with ${named(fingerprint)}; now it is to be read with ${named(asked)}. ` +
      'Nothing was recorded and nothing was sent. Use the same options to go on with that batch. To send it as read now, cancel that batch and give the rows references of their own, or a --run-key.',
  )
}

export function recordedOtherwiseFault({ batchId, fingerprint }: BatchView, asked: Fingerprint): Fault {
  return new Fault(
    'usage',
    `This file was recorded as batch ${batchId}, read with ${named(fingerprint)}, before the inbox was interrupted; now it would be read with ${named(asked)}. Nothing was recorded again and nothing was sent. Start the inbox once with the options of that batch.`,
  )
}

export function recordedForAnotherFault({ batchId, merchant }: BatchView): Fault {
  return new Fault(
    'usage',
    `This file was recorded as batch ${batchId} of merchant ${merchant} before the inbox was interrupted; now it would go to another merchant as well. Nothing was recorded again and nothing was sent. Start the inbox once with --merchant ${merchant}.`,
  )
}
