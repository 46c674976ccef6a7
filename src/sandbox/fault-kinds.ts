// The kinds of trouble that can be ordered, and which requests each kind can meet.

import { isVaultOperation, type Operation } from '../domain/instruction.ts'

/** What each fault does to a request, and whether the request is executed all the same. */
export const FAULT_KINDS = {
  decline: { executes: false, says: 'declines, with the reason that the rule gives' },
  refuse: { executes: false, says: 'closes the connection when it is accepted, before reading' },
  'reset-before': { executes: false, says: 'reads the request, then resets the connection' },
  'reset-after': { executes: true, says: 'executes, then resets the connection' },
  'hang-before': { executes: false, says: 'reads the request and never answers' },
  'hang-after': { executes: true, says: 'executes and never answers' },
  '400': { executes: false, says: 'answers 400' },
  '401': { executes: false, says: 'answers 401' },
  '403': { executes: false, says: 'answers 403' },
  '429': { executes: false, says: 'answers 429 with Retry-After' },
  '503-before': { executes: false, says: 'answers 503' },
  '503-after': { executes: true, says: 'executes, then answers 503 with Retry-After' },
  'cut-body': { executes: true, says: 'executes, then sends half the answer and closes' },
  html: { executes: true, says: 'executes, then answers 200 with a web page' },
  'wrong-echo': { executes: true, says: 'executes, then answers with the ids of another order, or of another card' },
  'other-amount': { executes: true, says: 'executes, then answers with another amount' },
  'other-currency': { executes: true, says: 'executes, then answers with another currency' },
  repeated: { executes: true, says: 'executes, then answers as if the request came twice: a duplicate, declined' },
  slow: { executes: true, says: 'waits, then executes and answers, even after the client has gone' },
} as const satisfies Record<string, { readonly executes: boolean; readonly says: string }>

export type FaultKind = keyof typeof FAULT_KINDS

/** The vault knows no money: a fault of this kind passes its requests by. */
const ABOUT_MONEY: readonly FaultKind[] = ['decline', 'other-amount', 'other-currency', 'repeated']

export function canMeet(kind: FaultKind, operation: Operation): boolean {
  return !(isVaultOperation(operation) && isAboutMoney(kind))
}

export function isAboutMoney(kind: FaultKind): boolean {
  return ABOUT_MONEY.includes(kind)
}
