// What a person says of a row in doubt, and where it moves the row. Pure.

import { toLowerAscii } from './keyword.ts'
import type { Problem } from './problem.ts'
import type { State } from './states.ts'

/** `approved` and `declined`: found at the gateway. `not-executed`: not found there. `send-again`: not found, and wanted. */
export const FINDINGS = ['approved', 'declined', 'not-executed', 'send-again'] as const
export type Finding = (typeof FINDINGS)[number]

export function parseFinding(text: string): Finding | undefined {
  const word = toLowerAscii(text.trim()).replace(/[\s_]+/g, '-')
  return FINDINGS.find((finding) => finding === word)
}

const STATE_OF = {
  approved: 'APPROVED',
  declined: 'DECLINED',
  'not-executed': 'FAILED',
  'send-again': 'READY',
} as const satisfies Record<Finding, State>

export function stateOfFinding(finding: Finding): (typeof STATE_OF)[Finding] {
  return STATE_OF[finding]
}

/**
 * Whether the finding waits until the request in doubt can no longer be executed: what was not found may still come. So may
 * the request in doubt where a decline was found and the row was sent before: the decline may be of the earlier request.
 */
export function waitsForRest(finding: Finding, sentBefore: boolean): boolean {
  return finding !== 'approved' && (finding !== 'declined' || sentBefore)
}

/** Only what was executed or declined has a transaction. */
export function takesTransaction(finding: Finding): boolean {
  return finding === 'approved' || finding === 'declined'
}

/** What is wrong with a transaction id that a person gives; null: nothing. */
export function transactionIdProblem(text: string, finding: Finding): Problem | null {
  if (!takesTransaction(finding)) {
    return { problem: `a row that is ${finding} has no transaction`, remedy: 'leave it out, or correct the resolution' }
  }
  // With the zeros in front that a gateway may write; without them it is the same id.
  if (/^(?=\d{1,40}$)0*[1-9]/.test(text)) return null
  return {
    problem: 'it is not a transaction id',
    remedy: 'write its digits only; if a spreadsheet rounded it, format the column as Text',
  }
}
