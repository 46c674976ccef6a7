// Batches of other services: the job `batch` of the queue tranche-intake, its published schema and its reading.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { DraftRow } from '../domain/draft.ts'
import { MESSAGE_FIELDS, TRANSACTION_TYPES } from '../domain/instruction.ts'
import type { Addressees, ParsedBatch } from '../domain/message.ts'
import { type Judged, judgedIn, reasonOf, reasonsBeside, rightFieldsOf } from '../domain/wrong-field.ts'
import { LIMITS } from './limits.ts'
import {
  accountOf,
  BATCH_NAME,
  BATCH_NAME_TEXT,
  checkedBy,
  faultsOf,
  isWhole,
  type MessageAccount,
  OF_BOTH,
  OF_INSTRUCTION,
  REPLY_TO,
  readInstruction,
  refused,
  refusedFor,
  searchForCards,
  unsearched,
  type Withheld,
} from './message.ts'

const MOST = LIMITS.batchInstructions.toLocaleString('en')
const CHARACTERS = LIMITS.batchCharacters.toLocaleString('en')

const INSTRUCTION = z.strictObject({
  ...OF_INSTRUCTION,
  transaction_type: OF_INSTRUCTION.transaction_type.optional(),
})

const SCHEMA = z
  .strictObject({
    ...OF_BOTH,
    batch: z
      .string()
      .describe(
        'Yours: one name is one batch of the account for ever. The same again is the same batch; other content under it is refused.',
      )
      .regex(BATCH_NAME, BATCH_NAME_TEXT),
    reply_to: REPLY_TO,
    transaction_type: z.enum(TRANSACTION_TYPES).describe('Of instructions that name none.').optional(),
    request_currency: OF_INSTRUCTION.request_currency.describe('ISO 4217; of amounts that name none.'),
    execute_at: OF_INSTRUCTION.execute_at.describe('ISO 8601 with an offset; of instructions that name none.'),
    expires_at: OF_INSTRUCTION.expires_at.describe('ISO 8601 with an offset; of instructions that name none.'),
    allow_lookalikes: z
      .int()
      .min(0)
      .max(LIMITS.batchInstructions)
      .default(0)
      .describe('How many instructions are meant although they look like others: the number that the refusal names.'),
    allow_execute_at: z
      .int()
      .min(0)
      .max(LIMITS.batchInstructions)
      .default(0)
      .describe(
        'How many instructions are meant although their execute_at is far away: the number that the refusal names.',
      ),
    allow_above_limit: z
      .int()
      .min(0)
      .max(LIMITS.batchInstructions)
      .default(0)
      .describe(
        'How many instructions are meant although their amount is above the limit of a day: the number that the refusal names.',
      ),
    instructions: z.array(INSTRUCTION).min(1).max(LIMITS.batchInstructions),
  })
  .meta({
    title: 'Tranche batch',
    description: `The data of a job \`batch\` in the queue tranche-intake: up to ${MOST} instructions and ${CHARACTERS} characters, taken as one batch or not at all. More than that is handed in as a file. Card data is never part of it.`,
  })

/** The published form of the schema, as `docs/schemas/batch.schema.json` has it. */
export function batchMessageJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(SCHEMA, { io: 'input' }) as Record<string, unknown>
}

export function parseBatch(value: unknown, addressees: Addressees): ParsedBatch {
  const searched = searchAll(value)
  if (searched !== null) return refused([searched.reason], searched.withheld)
  const { message, wrong } = checkedBy(SCHEMA, value)
  if (isWhole(wrong)) return refused(wrong.map(reasonOf))
  const judged = judgedIn(wrong)
  // Who is told of it is none of its content.
  const { instructions = [], schema_version: _, reply_to: replyTo = null, ...given } = message
  const { allow_lookalikes: allowLookalikes, allow_execute_at: allowExecuteAt, ...others } = given
  const { allow_above_limit: allowAboveLimit, ...said } = others
  const account = accountOf(said, addressees, judged)
  const reasons = wrong.map(reasonOf)
  const rows = instructions.map((one, at) => {
    const own = rightFieldsOf(one, judged, underOf(at)) as typeof one
    const { transaction_type, request_currency, execute_at, expires_at } = { ...said, ...own }
    const currency = own.amount === undefined ? own.request_currency : request_currency
    const fields = { ...own, transaction_type, request_currency: currency, execute_at, expires_at }
    return toRow(fields, at + 1, account, { judged, reasons })
  })
  if (reasons.length + account.reasons.length > 0) return refusedFor(account, reasons)
  const { merchant } = account
  return {
    kind: 'batch',
    merchant,
    name: said.batch,
    runKey: account.runKey,
    replyTo,
    ...{ allowLookalikes, allowExecuteAt, allowAboveLimit },
    // As checked, its fields have one order.
    sha256: createHash('sha256')
      .update(`batch of a service\n${JSON.stringify({ ...said, merchant, instructions })}`)
      .digest('hex'),
    rows: rows.filter((row) => row !== null),
  }
}

type Fields = Parameters<typeof faultsOf>[0]

function underOf(at: number): string {
  return `instructions.${at}.`
}

function toRow(
  fields: Fields,
  rowNo: number,
  account: MessageAccount,
  { judged, reasons }: { readonly judged: Judged; readonly reasons: string[] },
): DraftRow | null {
  const read = readInstruction(fields, account)
  const under = underOf(rowNo - 1)
  // What all rows share, and what is their own.
  const faults = reasonsBeside(judged, reasonsBeside(judged, faultsOf(fields, read)), under)
  reasons.push(...faults.map((wrong) => `${under}${wrong}`))
  if (read.kind === 'faults') return null
  const { instruction } = read
  const cells = MESSAGE_FIELDS.map((field) => String((field === 'run_key' ? account.runKey : fields[field]) ?? ''))
  return {
    ...{ rowNo, line: rowNo, cells, reference: instruction.reference, made: false, instruction },
    ...{ faults: [], cameFrom: null },
  }
}

/** Each part as one message is looked through: all of them together may be larger. */
function searchAll(value: unknown): Withheld | null {
  if (typeof value !== 'object' || value === null) return searchForCards(value)
  const { instructions, ...said } = value as { readonly instructions?: unknown }
  if (!Array.isArray(instructions)) return searchForCards(value)
  if (instructions.length > LIMITS.batchInstructions)
    return unsearched(`has more than ${MOST} instructions (hand in a file, or several batches)`)
  if (instructions.some((one) => typeof one !== 'object' || one === null || Array.isArray(one)))
    return unsearched('has something among its instructions that is none')
  for (const part of [said, ...instructions]) {
    const found = searchForCards(part)
    if (found !== null) return found
  }
  // Now it is known to be shallow.
  return JSON.stringify(value).length <= LIMITS.batchCharacters
    ? null
    : unsearched(`has more than ${CHARACTERS} characters (hand in a file, or several batches)`)
}
