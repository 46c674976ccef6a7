// Takes one message in: understood and recorded before anyone is told, or refused and the refusal kept.

import { type Actor, messagesActor } from '../domain/actor.ts'
import { holdsCardData, maskCardData } from '../domain/card-secrets.ts'
import type { DailyLimits } from '../domain/daily-limit.ts'
import { assert, Fault } from '../domain/fault.ts'
import { toIdentifier } from '../domain/identifier.ts'
import type { AccountId } from '../domain/ids.ts'
import type { Environment } from '../domain/merchant.ts'
import {
  type Addressees,
  KnownElsewhere,
  type MessageResult,
  NotReadAgain,
  OUTCOME_QUEUE,
  type ParsedBatch,
  type ParsedCancel,
  type ParsedMessage,
  type ReceivedMessage,
} from '../domain/message.ts'
import { visible, visibleJson } from '../domain/visible.ts'
import type { Clock } from '../ports/clock.ts'
import type { RowPlace } from '../ports/ledger/control.ts'
import type { IntakeLedger, RefusedPayload } from '../ports/ledger/intake.ts'
import type { Log } from '../ports/log.ts'
import { type BatchParts, type ReceivedBatch, takeBatch } from './take-batch.ts'

/** Where the messages of a merchant go. */
export interface MessageAccount {
  readonly accountId: AccountId
  readonly accountKey: string
  /** null: nobody has said. */
  readonly environment: Environment | null
  readonly lookalikeDays: number
  readonly captureTolerance: number
  /** Absent: as by default. */
  readonly authorizationDays?: number
  readonly dailyLimits: DailyLimits | null
  /** Of a rehearsal. Absent: it is real. */
  readonly sandbox?: boolean
  /** Where messages go that name no batch. */
  readonly into: 'day' | 'hour'
  /** The merchant's order id that goes with a reference. */
  readonly xtlOrderIdOf: (reference: string) => string
}

export interface MessageParts {
  readonly ledger: Pick<IntakeLedger, 'recordMessage' | 'recordRefusal'>
  readonly clock: Clock
  readonly log: Log
  readonly addressees: Omit<Addressees, 'accountOf'> & {
    readonly accountOf: (merchant: string) => MessageAccount | null
  }
  /** Whether the ledger knows an account of that name. null: where a message cannot wait. */
  readonly knows: ((merchant: string) => Promise<boolean>) | null
  readonly parse: (payload: unknown, addressees: Addressees) => ParsedMessage
  /** null: batches are not taken. */
  readonly batches: BatchParts | null
  /** null: cancellations are not taken. */
  readonly cancelling: CancelParts | null
  /** See `IntakeMessage`. */
  readonly keyId?: string
  /** Whether a message may come again by itself, under the same `sourceId`: then its first refusal stands. */
  readonly comesAgain: boolean
}

export interface CancelParts {
  readonly parse: (payload: unknown, addressees: Addressees) => ParsedCancel
  /** Resolves to its row once it is cancelled for that reason; null: there is none. A fault of `usage` where it was sent, or cancelled otherwise. */
  readonly cancel: (reference: string, merchant: string, reason: string, by: Actor) => Promise<RowPlace | null>
}

/** The names of the jobs that are taken. */
const MESSAGE_JOB = 'instruction'
const BATCH_JOB = 'batch'
const CANCEL_JOB = 'cancel'
const CARD_IN_ID =
  'the job id holds a card number or security code: nothing was sent; hand the message in again under another id'
/** BullMQ knows one kind of completion. */
const HAS_PARENT =
  'the job has a parent, which would run as soon as the message is recorded: before it is executed, and whatever comes of that. Hand in an instruction with complete_with "outcome"; of a batch have the outcomes start what follows'
/** Of a name that is not known here, as much as a person needs to find it. */
const NAME_CHARACTERS = 100

/** Faults where the message could not be recorded just now. A bug refuses the message it was met with, and no other waits for that. */
export async function takeMessage(handed: ReceivedMessage, parts: MessageParts): Promise<MessageResult> {
  const { jobName, payload, sourceId, unread } = handed
  const { ledger, clock, log } = parts
  const kept = (withheld: string | null) => keptOf(handed, withheld, parts)
  // Not known until it has been searched.
  let withheld: string | null = 'it could not be looked through for card data'
  let taken: MessageResult
  try {
    const parsed = unread ?? parserOf(jobName, parts)(payload, parts.addressees)
    withheld = parsed.kind === 'refused' ? parsed.withheld : null
    if (holdsCardData(sourceId)) taken = { kind: 'refused', reasons: [CARD_IN_ID], withheld }
    else if (![MESSAGE_JOB, BATCH_JOB, CANCEL_JOB].includes(jobName)) taken = unknownJob(jobName, withheld)
    else if (handed.hasParent === true && completesTooEarly(parsed))
      taken = { kind: 'refused', reasons: [HAS_PARENT], withheld }
    else {
      await assertUnknownEverywhere(parsed, parts)
      taken = await tryToTake(parsed, { ...handed, ifRefused: kept(withheld) }, parts)
    }
  } catch (error) {
    if (error instanceof Fault) throw error
    log.error({ err: error, message: sourceId }, 'a message met a failure of this program and was refused: report this')
    const reason = 'a failure of this program: nothing was recorded and nothing was sent; its log says more'
    taken = { kind: 'refused', reasons: [reason], withheld }
  }
  if (taken.kind !== 'refused') return taken
  if (handed.isAwaited === true) throw new NotReadAgain(taken.reasons)
  const { looksLike } = taken
  const refusal = { ...kept(taken.withheld), reasons: taken.reasons.map(visible), looksLike, nowMs: clock.nowMs() }
  const { unknownMerchant: _, ...told } = taken
  return { ...told, ...(await ledger.recordRefusal(refusal)) }
}

function parserOf(jobName: string, { parse, batches, cancelling }: MessageParts) {
  const own = jobName === BATCH_JOB ? batches?.parse : jobName === CANCEL_JOB ? cancelling?.parse : null
  return own ?? parse
}

type Parsed = ParsedMessage | ParsedBatch | ParsedCancel

function completesTooEarly(parsed: Parsed): boolean {
  return parsed.kind === 'batch' || (parsed.kind === 'message' && !parsed.completesWithOutcome)
}

/** A configuration that is older than another worker's, or was put back for a moment, must not refuse for good. */
async function assertUnknownEverywhere(parsed: Parsed, { knows }: MessageParts): Promise<void> {
  const merchant = parsed.kind === 'refused' ? parsed.unknownMerchant : undefined
  if (merchant !== undefined && (await knows?.(merchant)) === true) throw new KnownElsewhere(merchant)
}

function keptOf(
  { jobName, payload, sourceId, queuedAtMs }: ReceivedMessage,
  withheld: string | null,
  parts: MessageParts,
): RefusedPayload {
  const text =
    withheld === null
      ? visibleJson(String(JSON.stringify(jobName === BATCH_JOB ? outlineOf(payload) : payload)).slice(0, 4_000))
      : `withheld: ${withheld}`
  return {
    sourceId: visible(maskCardData(sourceId)),
    accountName: merchantNamedIn(payload, parts),
    text,
    cards: holdsCardData(sourceId) ? 'its job id held a card number' : withheld,
    queuedAtMs,
    // Who hears of a refusal takes it for that of the instruction, and this one may be on its way.
    ...(jobName !== CANCEL_JOB && askedBy(payload, withheld, jobName === BATCH_JOB)),
  }
}

const REFERENCE_CHARACTERS = 255

/** Of what may not be kept nothing is. */
function askedBy(
  payload: unknown,
  withheld: string | null,
  isBatch: boolean,
): Pick<RefusedPayload, 'reference' | 'recordedAs' | 'batchName' | 'replyTo'> {
  const said = Object(payload) as Readonly<Record<string, unknown>>
  const { reply_to: replyTo, run_key: runKey } = said
  const named = isBatch ? said.batch : said.reference
  const isKept = withheld === null && typeof named === 'string' && named.length <= REFERENCE_CHARACTERS
  const kept = isKept ? visible(maskCardData(named)) : null
  const under = typeof runKey === 'string' ? `${toIdentifier(runKey)}/` : ''
  const references = isBatch ? referencesIn(said.instructions) : [said.reference]
  return {
    ...(isBatch ? { batchName: kept } : { reference: kept }),
    recordedAs: references.flatMap((one) =>
      typeof one === 'string' && one.length <= REFERENCE_CHARACTERS ? [`${under}${toIdentifier(one)}`] : [],
    ),
    replyTo: typeof replyTo === 'string' && OUTCOME_QUEUE.test(replyTo) && !holdsCardData(replyTo) ? replyTo : null,
  }
}

function referencesIn(instructions: unknown): readonly unknown[] {
  return Array.isArray(instructions) ? instructions.map((one) => Object(one).reference) : []
}

/** Of a refused batch: its instructions are their producer's, and the reasons name them. */
function outlineOf(payload: unknown): unknown {
  const { instructions, ...said } = Object(payload) as { instructions?: unknown }
  return Array.isArray(instructions) ? { ...said, instructions: `${instructions.length}, left out here` } : payload
}

async function tryToTake(
  parsed: Parsed,
  { ifRefused, queuedAtMs }: Omit<ReceivedBatch, 'nowMs'>,
  { ledger, clock, addressees, batches, cancelling, keyId, comesAgain }: MessageParts,
): Promise<MessageResult> {
  if (parsed.kind === 'refused') return parsed
  if (parsed.kind === 'cancel') return tryToCancel(parsed, ifRefused.sourceId, cancelling)
  const account = addressees.accountOf(parsed.merchant)
  assert(account !== null, 'a message of a merchant without an account was understood')
  const nowMs = clock.nowMs()
  if (parsed.kind === 'batch') {
    assert(batches !== null, 'a batch was understood where none is taken')
    return takeBatch(parsed, account, { ifRefused, queuedAtMs, nowMs }, batches)
  }
  const { instruction, runKey, allowLookalikeOf, accept, batchName, replyTo, cells } = parsed
  const { accountId, lookalikeDays, captureTolerance, authorizationDays, dailyLimits, sandbox = false } = account
  const answer = await ledger.recordMessage({
    accountId,
    instruction,
    runKey,
    allowLookalikeOf,
    accept,
    lookalikeDays,
    captureTolerance,
    ...(authorizationDays !== undefined && { authorizationDays }),
    dailyLimits,
    into: batchName === null ? account.into : { name: batchName },
    cells,
    replyTo,
    ...(keyId !== undefined && { keyId }),
    ...(comesAgain && { ifRefused }),
    queuedAtMs,
    sandbox,
    nowMs,
  })
  if (answer.kind !== 'refused') return answer
  return { kind: 'refused', reasons: [answer.reason], withheld: null, looksLike: answer.looksLike }
}

async function tryToCancel(
  { reference, merchant, reason }: Exclude<ParsedCancel, { kind: 'refused' }>,
  sourceId: string,
  cancelling: CancelParts | null,
): Promise<MessageResult> {
  assert(cancelling !== null, 'a cancellation was understood where none is taken')
  try {
    const by = messagesActor(sourceId)
    const at = await cancelling.cancel(reference, merchant, `${visible(reason)} (job ${sourceId})`, by)
    if (at !== null) return { kind: 'cancelled', ...at, state: 'CANCELLED' }
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'usage')) throw error
    return { kind: 'refused', reasons: [`reference: ${error.message}`], withheld: null }
  }
  const unknown = `reference: merchant ${merchant} has no such instruction in this ledger; nothing is cancelled. If it still waits in the queue, hand the cancellation in again once it is recorded`
  return { kind: 'refused', reasons: [unknown], withheld: null }
}

/** What cannot be understood must not stay lying about with a card number in it. */
function unknownJob(jobName: string, withheld: string | null): MessageResult {
  const name = maskCardData(jobName).slice(0, NAME_CHARACTERS)
  return {
    kind: 'refused',
    reasons: [`the job "${name}" is not known here: name it "${MESSAGE_JOB}", "${BATCH_JOB}" or "${CANCEL_JOB}"`],
    withheld,
  }
}

/** Of the configured ones only: what a message calls its merchant may be anything, a card number too. */
function merchantNamedIn(payload: unknown, { addressees: { accountOf } }: MessageParts): string {
  const named = typeof payload === 'object' && payload !== null && 'merchant' in payload ? payload.merchant : 'default'
  return typeof named === 'string' && accountOf(named) !== null ? named : 'unknown'
}
