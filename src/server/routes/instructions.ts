// Single instructions: handed in, found by their ids, and what became of them.

import * as z from 'zod'
import { type MessageDoor, openMessageDoor, type TakenMessage } from '../../app/message-door.ts'
import { waitingUnder } from '../../app/steering.ts'
import { stoppedBy } from '../../domain/alarm.ts'
import { type ApiKey, seesMerchant } from '../../domain/api-key.ts'
import { isoOf } from '../../domain/batch-status.ts'
import { maskCardData } from '../../domain/card-secrets.ts'
import type { FoundInstruction } from '../../domain/found.ts'
import { toIdentifier } from '../../domain/identifier.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { EarlierRow } from '../../domain/message.ts'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { isFinal } from '../../domain/states.ts'
import type { Ledger } from '../../ports/ledger/ledger.ts'
import { toJsonFound } from '../../present/found.ts'
import { toJsonMove } from '../../present/history.ts'
import { statusWords } from '../../present/rows.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerOnce, type Subject } from '../once.ts'
import { answerPage, pageOf } from '../pages.ts'
import { asksForOther, notFound, ProblemError, partOfReason } from '../problems.ts'
import { addRoute } from '../route.ts'
import { rowNow } from '../row-now.ts'
import { INSTRUCTION, MOVE, REASONED, TAKEN } from '../schemas.ts'

export async function addInstructions(server: Server, door: Door): Promise<void> {
  addSubmitting(server, door, await openMessageDoor(door.app, door.ledger, door.isSandbox === true))
  addFinding(server, door)
  addHistory(server, door)
  addCancelling(server, door)
}

function addSubmitting(server: Server, door: Door, messages: MessageDoor): void {
  const { $schema: _, ...published } = messages.schema
  addRoute(server, 'submitInstruction', {
    summary: 'Hand in one instruction',
    description:
      'Recorded before it is answered. The same reference is never executed twice, whatever key the request has. Without an answer, or with one of 5xx: hand in the same again.',
    body: z.unknown().meta({ ...published, description: 'One instruction. Card data is never part of it.' }),
    replies: { 200: TAKEN.describe('It is known: nothing was recorded.'), 201: TAKEN.describe('It is recorded.') },
    answer: async ({ body, request, reply }) =>
      answerOnce(door, request, reply, {
        async act(once, { holder, key }) {
          await assertNewest(door)
          const recording = { recordMessage: once.recordMessage, recordRefusal: door.ledger.recordRefusal }
          const taken = await messages.take(body, `http/${holder}/${key}`, recording, callerOf(request).key)
          return subjectOf(taken, (body as { readonly reference: string }).reference)
        },
        async show(subject) {
          reply.code(subject.kind === 'accepted' ? 201 : 200)
          return showTaken(door, subject, String((body as { readonly reference: string }).reference))
        },
      }),
  })
}

/** Of an older state nobody knows what was sent since: what is accepted there would not be sent. */
async function assertNewest({ ledger, app }: Door): Promise<void> {
  const alarm = await ledger.alarm()
  if (alarm !== null) throw stoppedBy(alarm, app.paths.ledger)
}

function subjectOf(taken: TakenMessage, reference: string): Subject {
  if (taken.kind !== 'refused') {
    const { kind, batchId: batch, rowNo: row } = taken
    return { kind, batch, row, ...(kind === 'duplicate' && { first_at: isoOf(taken.recordedAtMs) }) }
  }
  const { looksLike, reasons } = taken
  const errors = reasons.map(partOfReason)
  const then =
    looksLike === undefined
      ? 'Mend it and hand it in again.'
      : wasNotExecuted(looksLike)
        ? 'The row in looks_like was not executed, and its reference is used: hand in what is meant under a new one.'
        : asksForOther(errors)
          ? 'It does not fit what is recorded: look at the row in looks_like before you hand it in again.'
          : 'What it asks for may be done already: look at the row in looks_like before you hand it in again.'
  throw new ProblemError(
    'instruction_refused',
    `This request for the instruction ${JSON.stringify(visibleStart(reference))} was refused: nothing of it was recorded, and nothing will be sent for it. ${then}`,
    { errors, looksLike },
  )
}

/** Whatever the request was refused for, it is about that row. */
function wasNotExecuted({ state }: EarlierRow): boolean {
  return isFinal(state) && state !== 'APPROVED'
}

/** As much of it as a person needs to find it; a reference that is none may be anything. */
function visibleStart(reference: unknown): string {
  return typeof reference === 'string' && /^[\w./-]{1,64}$/.test(reference) ? maskCardData(reference) : ''
}

/** As the row stands now. */
async function showTaken(door: Door, subject: Subject, reference: string): Promise<object> {
  const { kind, batch, row, first_at } = subject
  const { state, warning } = await rowNow(door, subject)
  const { status, ...words } = statusWords(state)
  const held = status === 'PENDING' ? await door.ledger.heldBy(batch as BatchId) : null
  const first = first_at === undefined ? {} : { first_at }
  const beside = { ...first, ...(held !== null && { held }), ...(warning !== null && { warning }) }
  return { status: kind, reference, batch, row, state: status, ...words, ...beside }
}

// ───────────────────────────────────────────────────────────── Found by an id

const id = z.string().min(1).max(200).optional()
const IDS = z
  .strictObject({ reference: id, order_id: id, transaction_id: id, vault_id: id, merchant_order_id: id })
  .refine((given) => Object.values(given).filter((one) => one !== undefined).length === 1, 'name one id')

const NAMED = {
  reference: ({ reference }: FoundInstruction) => reference,
  order_id: ({ orderId }: FoundInstruction) => orderId,
  transaction_id: ({ transactionId }: FoundInstruction) => transactionId,
  vault_id: ({ vaultId }: FoundInstruction) => vaultId,
  merchant_order_id: ({ xtlOrderId }: FoundInstruction) => xtlOrderId,
} as const
const KINDS = {
  reference: 'reference',
  order_id: 'order',
  transaction_id: 'transaction',
  vault_id: 'vault',
  merchant_order_id: 'merchant-order',
} as const

function addFinding(server: Server, door: Door): void {
  addRoute(server, 'findInstructions', {
    summary: 'Instructions by one of their ids',
    description:
      'Up to 200, in the order in which they came. A reference that was sent under a run key begins with it.',
    query: IDS,
    replies: { 200: pageOf(INSTRUCTION) },
    async answer({ query, request }) {
      const { key } = callerOf(request)
      const [[kind, given]] = Object.entries(query) as [[keyof typeof NAMED, string]]
      const wanted = toIdentifier(given)
      const isNamed = (found: FoundInstruction) =>
        found.by === KINDS[kind] || bare(NAMED[kind](found) ?? '') === bare(wanted)
      return answerPage<object, never>(door, request, { limit: 200 }, async () => {
        const all = await door.ledger.find(wanted)
        const data = all.filter((found) => isNamed(found) && seesMerchant(key, found.merchant))
        return { data: data.map((found) => ({ ...toJsonFound(found), ...statusWords(found.state) })), next: null }
      })
    },
  })
}

/** Ids of the gateway are told without the zeros in front of them. */
function bare(text: string): string {
  return text.replace(/^0+(?=\d)/, '')
}

const CANCELLING = REASONED.extend({
  merchant: z.string().min(1).max(100).optional().describe('Where several have that reference.'),
})

function addCancelling(server: Server, door: Door): void {
  const { app, ledger } = door
  addRoute(server, 'cancelInstruction', {
    summary: 'Cancel one instruction that was not sent yet',
    description: 'The others of its batch go on. What was sent is refused.',
    params: z.strictObject({ reference: z.string().min(1).max(200) }),
    body: CANCELLING,
    replies: { 200: INSTRUCTION },
    async answer({ params, body, request, reply }) {
      const { key, actor } = callerOf(request)
      const find = async () => {
        const isMeant = (name: string) => seesMerchant(key, name) && (body.merchant ?? name) === name
        const found = await waitingUnder(ledger, params.reference, isMeant)
        if (found === null) throw notFound('There is no instruction with that reference in this ledger.')
        return found
      }
      return answerOnce(door, request, reply, {
        async act(once) {
          const { batchId, rowNo } = await find()
          await once.cancelRow({ batchId, rowNo }, body.reason, actor, app.clock.nowMs())
          return { batch: batchId, row: rowNo }
        },
        // That one, whichever else waits under the reference by now.
        async show({ batch, row }) {
          const all = await ledger.find(toIdentifier(params.reference))
          const found = all.find((one) => one.batchId === batch && one.rowNo === row) ?? (await find())
          return { ...toJsonFound(found), ...statusWords(found.state) }
        },
      })
    },
  })
}

const HISTORY = z.object({ reference: z.string(), moves: z.array(MOVE) })

function addHistory(server: Server, { ledger }: Door): void {
  addRoute(server, 'getHistory', {
    summary: 'Every move of an instruction',
    params: z.strictObject({ reference: z.string().min(1).max(200) }),
    replies: { 200: HISTORY },
    async answer({ params, request }) {
      const reference = toIdentifier(params.reference)
      const moves = await seenBy(callerOf(request).key, ledger, await ledger.history(reference))
      if (moves.length === 0) throw notFound('There is no instruction with that reference in this ledger.')
      return { reference, moves: moves.map(toJsonMove) }
    },
  })
}

/** Two merchants may use one reference. */
async function seenBy(key: ApiKey, ledger: Ledger, moves: readonly HistoryMove[]): Promise<readonly HistoryMove[]> {
  if (key.merchants === null) return moves
  const seen = new Set<string>()
  for (const batchId of new Set(moves.map((move) => move.batchId)))
    if (seesMerchant(key, (await ledger.batch(batchId))?.merchant ?? '')) seen.add(batchId)
  return moves.filter(({ batchId }) => seen.has(batchId))
}
