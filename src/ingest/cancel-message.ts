// Cancellations of other services: the job `cancel` of the queue tranche-intake, its published schema and its reading.

import * as z from 'zod'
import type { Addressees, ParsedCancel } from '../domain/message.ts'
import { judgedIn, reasonOf } from '../domain/wrong-field.ts'
import { accountOf, checkedBy, isWhole, OF_BOTH, refused, refusedFor, searchForCards } from './message.ts'

const REFERENCE_CHARACTERS = 255
const REASON_CHARACTERS = 500
const { run_key: _, ...OF_CANCEL } = OF_BOTH

const SCHEMA = z
  .strictObject({
    ...OF_CANCEL,
    reference: z
      .string()
      .describe(
        'Of the instruction, as it is recorded: one that was handed in with a run key begins with it and a "/".',
      )
      .min(1)
      .max(REFERENCE_CHARACTERS),
    reason: z.string().describe('Why; it is kept in the history.').min(1).max(REASON_CHARACTERS),
  })
  .meta({
    title: 'Tranche cancellation',
    description:
      'The data of a job `cancel` in the queue tranche-intake: one instruction is cancelled that was not sent yet, and the others of its batch go on.',
  })

/** The published form of the schema, as `docs/schemas/cancel.schema.json` has it. */
export function cancelMessageJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(SCHEMA, { io: 'input' }) as Record<string, unknown>
}

export function parseCancel(value: unknown, addressees: Addressees): ParsedCancel {
  const searched = searchForCards(value)
  if (searched !== null) return refused([searched.reason], searched.withheld)
  const { message, wrong } = checkedBy(SCHEMA, value)
  if (isWhole(wrong)) return refused(wrong.map(reasonOf))
  const account = accountOf(message, addressees, judgedIn(wrong))
  if (wrong.length + account.reasons.length > 0) return refusedFor(account, wrong.map(reasonOf))
  const { reference, reason } = message
  return { kind: 'cancel', merchant: account.merchant, reference, reason }
}
