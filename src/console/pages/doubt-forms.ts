// What the forms of a doubt have in common: which row and attempt they were shown of, and what is said when it is gone.

import type { FastifyRequest } from 'fastify'
import type { DoubtRow } from '../../domain/doubt.ts'
import { resultStatusOf } from '../../domain/states.ts'
import { type Html, html } from '../../present/html.ts'
import { type ConsoleDoor, PageError } from '../door.ts'
import { type Fields, fieldsOf } from '../forms.ts'
import { moment, note } from '../parts.ts'
import { typedIn } from '../refused.ts'

export interface Shown {
  readonly reference: string
  readonly batchId: string
  readonly rowNo: number
}

/** The row that stood on the page. */
export function shownIn(request: FastifyRequest): Shown {
  const { reference = '', batch: batchId = '', number = '' } = fieldsOf(request)
  return { reference, batchId, rowNo: wholeIn(number) }
}

export function wholeIn(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number.parseInt(text, 10)
  throw new PageError(400, 'The form does not say which row it is of. Nothing was changed: open the page again.')
}

async function noLongerInDoubt({ ledger }: ConsoleDoor, { reference, batchId, rowNo }: Shown): Promise<PageError> {
  const now = (await ledger.find(reference)).find((one) => one.batchId === batchId && one.rowNo === rowNo)
  const is = now === undefined ? 'not in this ledger' : `${resultStatusOf(now.state)} by now`
  return new PageError(
    409,
    `${reference} (row ${rowNo} of batch ${batchId}) is no longer in doubt: it is ${is}. What you said was not recorded, and nothing was changed. See its history before you do anything else: search for ${reference}.`,
  )
}

/** So that what is said is of this row and attempt, and of no other. */
export function fieldsOfRow({ attempt, batchId, rowNo, instruction: { reference } }: DoubtRow): Html {
  return html`<input type="hidden" name="attempt" value="${attempt}"><input type="hidden" name="batch" value="${batchId}"><input type="hidden" name="number" value="${rowNo}"><input type="hidden" name="reference" value="${reference}">`
}

/** What was typed into a form that was refused: of the attempt that it is shown of now, and of no other. */
export function typedOf(request: FastifyRequest, action: string, { attempt }: DoubtRow): Fields {
  const { attempt: before, ...typed } = typedIn(request, action)
  return before === undefined || before === String(attempt) ? typed : {}
}

/** The row that the form was shown of, as it is now. */
export async function doubtShown(door: ConsoleDoor, rowId: string, shown: Shown): Promise<DoubtRow> {
  const doubt = (await door.ledger.doubts()).find((one) => String(one.rowId) === rowId)
  if (doubt !== undefined && doubt.batchId === shown.batchId && doubt.rowNo === shown.rowNo) return doubt
  throw await noLongerInDoubt(door, shown)
}

/** Instead of what cannot be said of it yet. `finding`: as it is called. */
export function restNote(finding: string, untilMs: number): Html {
  return note(
    'plain',
    html`<strong>${finding}</strong>: not before ${moment(untilMs)}. A request that was given up may still be executed. Look again then.`,
  )
}
