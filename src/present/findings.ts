// What a person may find of a row in doubt, and what each finding means for the money.

import type { DoubtRow } from '../domain/doubt.ts'
import type { Operation } from '../domain/instruction.ts'
import { type Finding, waitsForRest } from '../domain/resolution.ts'
import { nounOf } from './asked.ts'
import { amountText } from './text.ts'

export const FINDING_NAMES: Readonly<Record<Finding, string>> = {
  approved: 'It was approved',
  declined: 'It was declined',
  'not-executed': 'It is not there',
  'send-again': 'It is not there: send it once more',
}

/** Whether the request in doubt may still make it untrue. */
export function mustRest(finding: Finding, { attempt, claimedAtMs }: DoubtRow): boolean {
  return waitsForRest(finding, attempt > 1 || claimedAtMs === null)
}

export function meaningOf(finding: Finding, { instruction }: DoubtRow): string {
  const it = nounOf(instruction.operation)
  switch (finding) {
    case 'approved':
      return `This ${it} becomes APPROVED: it was executed.`
    case 'declined':
      return `This ${it} becomes DECLINED: not executed.`
    case 'not-executed':
      return `This ${it} becomes FAILED: not executed. If it is executed after all, money moves without a record here.`
    case 'send-again':
      return `It is sent once more. If the first one was executed after all, ${twiceText(instruction)}.`
  }
}

const TWICE: Readonly<Record<Operation, string>> = {
  CAPTURE: 'the customer pays AMOUNT twice',
  AUTH: 'AMOUNT is reserved twice',
  CAUTH: 'AMOUNT is captured twice',
  REFUND: 'the customer gets AMOUNT twice',
  CANCEL: 'the cancellation is executed twice',
  VAULT_CREATE: 'the vault holds the card twice',
  VAULT_UPDATE: 'the vault record is changed twice',
  VAULT_DELETE: 'the vault is asked to delete it twice',
}

function twiceText({ operation, money }: DoubtRow['instruction']): string {
  const amount = money === null ? 'the amount' : `${money.currency} ${amountText(money.amountMinor, money.currency)}`
  return TWICE[operation].replace('AMOUNT', () => amount)
}
