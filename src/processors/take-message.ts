// Takes one message in: understood and recorded before anyone is told, or refused and the refusal kept.

import { holdsCardData, maskCardData } from '../domain/card-secrets.ts'
import { assert, Fault } from '../domain/fault.ts'
import type { AccountId } from '../domain/ids.ts'
import type { MessageResult, ParsedMessage } from '../domain/message.ts'
import { visible, visibleJson } from '../domain/visible.ts'
import type { Clock } from '../ports/clock.ts'
import type { IntakeLedger } from '../ports/ledger/intake.ts'
import type { Log } from '../ports/log.ts'

/** Where the messages of a merchant go. */
export interface MessageAccount {
  readonly accountId: AccountId
  readonly accountKey: string
  readonly lookalikeDays: number
}

export interface MessageParts {
  readonly ledger: Pick<IntakeLedger, 'recordMessage' | 'recordRefusal'>
  readonly clock: Clock
  readonly log: Log
  /** null: no such merchant is configured. */
  readonly accountOf: (merchant: string) => MessageAccount | null
  readonly parse: (payload: unknown, accountKeyOf: (merchant: string) => string | null) => ParsedMessage
}

/** The name of the one kind of job that is taken. */
const MESSAGE_JOB = 'instruction'
const CARD_IN_ID =
  'the job id holds a card number or security code: nothing was sent; hand the message in again under another id'
/** Of a name that is not known here, as much as a person needs to find it. */
const NAME_CHARACTERS = 100

/**
 * `sourceId` always names this message: a refusal is kept once under it. Faults where the message could not be recorded
 * just now. A bug refuses the message it was met with, and no other waits for that.
 */
export async function takeMessage(
  jobName: string,
  payload: unknown,
  sourceId: string,
  parts: MessageParts,
): Promise<MessageResult> {
  const { ledger, clock, log } = parts
  // Not known until it has been searched.
  let withheld: string | null = 'it could not be looked through for card data'
  let taken: MessageResult
  try {
    const parsed = parts.parse(payload, (merchant) => parts.accountOf(merchant)?.accountKey ?? null)
    withheld = parsed.kind === 'refused' ? parsed.withheld : null
    if (holdsCardData(sourceId)) taken = { kind: 'refused', reasons: [CARD_IN_ID], withheld }
    else taken = jobName === MESSAGE_JOB ? await tryToTake(parsed, parts) : unknownJob(jobName, withheld)
  } catch (error) {
    if (error instanceof Fault) throw error
    log.error({ err: error, message: sourceId }, 'a message met a failure of this program and was refused: report this')
    const reason = 'a failure of this program: nothing was recorded and nothing was sent; its log says more'
    taken = { kind: 'refused', reasons: [reason], withheld }
  }
  if (taken.kind !== 'refused') return taken
  const text =
    taken.withheld === null
      ? visibleJson(String(JSON.stringify(payload)).slice(0, 4_000))
      : `withheld: ${taken.withheld}`
  const accountName = merchantNamedIn(payload, parts)
  const nowMs = clock.nowMs()
  const cards = holdsCardData(sourceId) ? 'its job id held a card number' : taken.withheld
  await ledger.recordRefusal({
    sourceId: visible(maskCardData(sourceId)),
    accountName,
    reasons: taken.reasons.map(visible),
    text,
    cards,
    nowMs,
  })
  return taken
}

async function tryToTake(parsed: ParsedMessage, { ledger, clock, accountOf }: MessageParts): Promise<MessageResult> {
  if (parsed.kind === 'refused') return parsed
  const { merchant, instruction, runKey, allowLookalike, cells } = parsed
  const account = accountOf(merchant)
  assert(account !== null, 'a message of a merchant without an account was understood')
  const { accountId, lookalikeDays } = account
  const nowMs = clock.nowMs()
  const answer = await ledger.recordMessage({
    accountId,
    instruction,
    runKey,
    allowLookalike,
    lookalikeDays,
    cells,
    nowMs,
  })
  return answer.kind === 'refused' ? { kind: 'refused', reasons: [answer.reason], withheld: null } : answer
}

/** What cannot be understood must not stay lying about with a card number in it. */
function unknownJob(jobName: string, withheld: string | null): MessageResult {
  const name = maskCardData(jobName).slice(0, NAME_CHARACTERS)
  return { kind: 'refused', reasons: [`the job "${name}" is not known here: name it "${MESSAGE_JOB}"`], withheld }
}

/** Of the configured ones only: what a message calls its merchant may be anything, a card number too. */
function merchantNamedIn(payload: unknown, { accountOf }: MessageParts): string {
  const named = typeof payload === 'object' && payload !== null && 'merchant' in payload ? payload.merchant : 'default'
  return typeof named === 'string' && accountOf(named) !== null ? named : 'unknown'
}
