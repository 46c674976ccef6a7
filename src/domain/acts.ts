// What people and the machine do to batches, accounts and the record: the words under which it is kept.

import type { Actor } from './actor.ts'
import type { AccountId, BatchId } from './ids.ts'
import type { State } from './states.ts'

/** What a person did beside the rows: kept for an auditor, and nothing of it decides what is sent. */
export interface PersonAct {
  readonly what: PersonActName
  /** null: the machine. */
  readonly actor: Actor | null
  readonly batchId?: BatchId | null
  readonly accountId?: AccountId | null
  readonly reason?: string | null
  /** Names of files and columns, and counts. Never a value of a cell. */
  readonly details?: ActDetails
  /** Kept once, however often it is met: the act is known by its details. */
  readonly once?: boolean
}

/** Where an entry stands in the log; what comes after it is asked for by it. */
export interface LogPosition {
  readonly atMs: number
  readonly kind: number
  readonly id: number
}

export interface LogEntry {
  readonly position: LogPosition
  readonly atMs: number
  /** An act; `submit`: a file was recorded as a batch; `resolve`: a person spoke of a row in doubt. */
  readonly what: ActName | 'submit' | 'resolve'
  readonly by: string
  /** null: the machine. */
  readonly actor: Actor | null
  readonly batchId: BatchId | null
  readonly merchant: string | null
  /** Of the row that was resolved, as the four after it; null for everything else. */
  readonly reference: string | null
  readonly rowNo: number | null
  readonly attempt: number | null
  readonly from: State | null
  readonly to: State | null
  readonly reason: string | null
  readonly details: ActDetails | null
}

/** What changes what is sent, or says why it stopped. Written in the transaction of the change itself. */
export const STEERING_ACTS = [
  'pause',
  'resume',
  'cancel',
  'cancel-row',
  'resume-account',
  'stop-account',
  'rate',
  'adopt',
  'adopt-account',
  'environment',
  'late-answer',
  'await-approval',
  'approve',
  'reject',
  'expire-approval',
  'approval-policy',
  'propose-send-again',
  'confirm-send-again',
  'refuse-send-again',
  'lapse-send-again',
] as const

/**
 * What a person did beside that.
 * - `card-refused`: a file or message with a card number in it was refused; the number itself is nowhere
 * - `not-a-card`: a person said of a column that its numbers only look like card numbers
 * - `export`: results, exceptions, rejects or a worklist were written to a file
 * - `inspect`: a deep look found that the record disagrees with itself
 * - `migrate`: the ledger came to a server, from a file
 * - `add-key`, `revoke-key`: a service may come through a door, or no more
 * - `…-person`, `join`, `set-roles`: a person of the console was made, chose a password, got other roles, may come no more
 * - `sign-in`, `end-session`, `change-password`: of the console
 * - `sign-in-refused`: by the machine: a name had wrong passwords, or unknown names were tried
 * - `key-refused`: by the machine where the key is not one of this ledger; it was revoked, has expired, lacks a scope, or came from elsewhere
 * - `webhook-…`: where events are sent, and that some were sent once more
 */
export const PERSON_ACTS = [
  'init',
  'card-refused',
  'not-a-card',
  'backup',
  'export',
  'inspect',
  'purge',
  'migrate',
  'add-key',
  'revoke-key',
  'add-person',
  'invite-person',
  'join',
  'set-roles',
  'confirm-person',
  'revoke-person',
  'sign-in',
  'sign-in-refused',
  'key-refused',
  'end-session',
  'change-password',
  'webhook-add',
  'webhook-remove',
  'webhook-rotate',
  'webhook-enable',
  'webhook-replay',
] as const

export type SteeringActName = (typeof STEERING_ACTS)[number]
export type PersonActName = (typeof PERSON_ACTS)[number]
export type ActName = SteeringActName | PersonActName

export type ActDetails = Readonly<Record<string, string | number | null>>

/** Of what an attacker can repeat: when the count comes to 1, 5, 50, 500 and so on. `before`: what it was. */
export function isTold(count: number, before: number = count - 1): boolean {
  return stepOf(count) > stepOf(before)
}

function stepOf(count: number): number {
  return count < 5 ? Number(count > 0) : 1 + String(Math.floor(count / 5)).length
}

/** Whether it is written as the head of the chain is: `LINK:HASH`. */
export function isHead(text: string): boolean {
  return /^[1-9]\d{0,14}:[0-9a-f]{64}$/.test(text)
}
