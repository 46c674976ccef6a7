// Takes one message in: understood and recorded before anyone is told, or refused and the refusal kept.

import { assert } from '../domain/fault.ts'
import type { Instruction } from '../domain/instruction.ts'
import type { AccountId, Clock, IntakeAnswer, IntakeLedger } from '../domain/ports.ts'

export type ParsedMessage =
  | {
      readonly kind: 'message'
      readonly merchant: string
      readonly instruction: Instruction
      readonly runKey: string | null
      readonly allowLookalike: boolean
      readonly cells: Readonly<Record<string, string>>
    }
  | { readonly kind: 'refused'; readonly reasons: readonly string[]; readonly holdsPan: boolean }

/** Where the messages of a merchant go. */
export interface MessageAccount {
  readonly accountId: AccountId
  readonly accountKey: string
  readonly lookalikeDays: number
}

export interface MessageParts {
  readonly ledger: Pick<IntakeLedger, 'recordMessage' | 'recordRefusal'>
  readonly clock: Clock
  /** null: no such merchant is configured. */
  readonly accountOf: (merchant: string) => MessageAccount | null
  readonly parse: (payload: unknown, accountKeyOf: (merchant: string) => string | null) => ParsedMessage
}

export type Taken =
  | Exclude<IntakeAnswer, { kind: 'refused' }>
  | { readonly kind: 'refused'; readonly reasons: readonly string[]; readonly holdsPan: boolean }

/** The name of the one kind of job that is taken. */
const MESSAGE_JOB = 'instruction'

/** `sourceId` names the message for ever: a refusal is kept once under it. */
export async function takeMessage(
  jobName: string,
  payload: unknown,
  sourceId: string,
  parts: MessageParts,
): Promise<Taken> {
  const taken = jobName === MESSAGE_JOB ? await tryToTake(payload, parts) : unknownJob(jobName, payload, parts)
  if (taken.kind === 'refused') {
    const { reasons, holdsPan } = taken
    const text = holdsPan ? 'withheld: it held card data' : String(JSON.stringify(payload)).slice(0, 4_000)
    const nowMs = parts.clock.nowMs()
    await parts.ledger.recordRefusal({ sourceId, accountName: merchantNamedIn(payload), reasons, text, nowMs })
  }
  return taken
}

async function tryToTake(payload: unknown, { ledger, clock, accountOf, parse }: MessageParts): Promise<Taken> {
  const parsed = parse(payload, (merchant) => accountOf(merchant)?.accountKey ?? null)
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
  return answer.kind === 'refused' ? { ...answer, reasons: [answer.reason], holdsPan: false } : answer
}

/** The card check is made all the same: what cannot be understood must not stay lying about with a card number in it. */
function unknownJob(jobName: string, payload: unknown, { parse }: MessageParts): Taken {
  const parsed = parse(payload, () => null)
  const holdsPan = parsed.kind === 'refused' && parsed.holdsPan
  return { kind: 'refused', reasons: [`the job "${jobName}" is not known here: name it "${MESSAGE_JOB}"`], holdsPan }
}

function merchantNamedIn(payload: unknown): string {
  const named = typeof payload === 'object' && payload !== null && 'merchant' in payload ? payload.merchant : undefined
  return typeof named === 'string' ? named.slice(0, 100) : 'default'
}
