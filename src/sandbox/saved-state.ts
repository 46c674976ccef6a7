// The state of a sandbox as text, a JSON object per line: how it is written and how it is read. No I/O. There are no card
// numbers and no security codes in it, because there are none in the state; fault rules are not kept.

import { z } from 'zod'
import { Fault } from '../domain/fault.ts'
import { type Currency, parseCurrency } from '../domain/money.ts'
import type { SandboxState } from './state.ts'

const FORMAT = 'sandbox-state'
const VERSION = 1

/**
 * Orders may be added and changed while the lines are taken: each line is true at its moment, and what changed since is
 * in the next writing.
 */
export function* toLines({ book, log, received, advancedMs }: SandboxState): Generator<string> {
  const { lastId } = book
  yield toLine({ format: FORMAT, version: VERSION, lastId, received, executed: log.executed, advancedMs })
  let lines = 0
  for (const order of book.orders.values()) {
    const { takenMinor, refundedMinor, voidedMinor, capturedAtMs } = order
    const minor = { takenMinor: `${takenMinor}`, refundedMinor: `${refundedMinor}`, voidedMinor: `${voidedMinor}` }
    yield toLine({
      order: { ...order, ...minor, capturedAtMs: capturedAtMs === LONG_AGO_MS ? LONG_AGO : capturedAtMs },
    })
    lines += 1
  }
  for (const [vaultId, record] of book.vault) {
    yield toLine({ vault: { vaultId, record } })
    lines += 1
  }
  yield toLine({ lines })
}

/** A prepared sale that is settled was captured before all time, and JSON has no word for that. */
const LONG_AGO = 'long ago'
const LONG_AGO_MS = Number.NEGATIVE_INFINITY

/** The two line breaks that JSON does not escape would end a line for the reader. */
function toLine(value: object): string {
  const json = JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `${json}\n`
}

/** Changes whenever the state does: executing, preparing and moving the clock are all that change it. */
export function revisionOf({ book, log, received, advancedMs }: SandboxState): string {
  return [log.executed, received, advancedMs, book.lastId, book.orders.size, book.vault.size].join()
}

// ───────────────────────────────────────────────────────────── Reading

const count = z.int().min(0)
const id = z.string().regex(/^\d{1,20}$/)
const minor = z
  .string()
  .regex(/^\d{1,30}$/)
  .transform(BigInt)

const HEADER = z.object({ format: z.literal(FORMAT), version: count })
const COUNTS = z.object({ lastId: count, received: count, executed: count, advancedMs: count })
const ORDER = z.strictObject({
  orderId: id,
  currency: z
    .string()
    .refine((code) => parseCurrency(code) !== undefined)
    .transform((code) => parseCurrency(code) as Currency),
  takenMinor: minor,
  refundedMinor: minor,
  voidedMinor: minor,
  capturedAtMs: z.union([z.number(), z.literal(LONG_AGO).transform(() => LONG_AGO_MS), z.null()]),
  voided: z.boolean(),
  vaultId: id.nullable(),
  xtlOrderId: z.string().nullable(),
})
const CARD = z.strictObject({
  bin: z.string().regex(/^\d{6}$/),
  lastFour: z.string().regex(/^\d{4}$/),
  expiry: z.strictObject({ month: z.string().regex(/^\d\d$/), year: z.string().regex(/^\d{4}$/) }),
})
const RECORD = z.strictObject({ firstName: z.string(), lastName: z.string(), customerId: id, card: CARD })
const LINE = z.union([
  z.strictObject({ order: ORDER }),
  z.strictObject({ vault: z.strictObject({ vaultId: id, record: RECORD.nullable() }) }),
  z.strictObject({ lines: count }),
])

/** Puts what was written into a state that is new. `path`: what a fault calls it. */
export async function restore(state: SandboxState, lines: AsyncIterable<string>, path: string): Promise<void> {
  const refuse = (why: string) => new Fault('usage', `${path} ${why} It was left as it is; name another file.`)
  let lineNo = 0
  let whole = false
  for await (const text of lines) {
    lineNo += 1
    const value = jsonOf(text)
    if (lineNo === 1) {
      const refusal = restoreHeader(state, value)
      if (refusal !== null) throw refuse(refusal)
      continue
    }
    const line = LINE.safeParse(value)
    if (!line.success || whole) throw refuse(`is the state of a sandbox, but its line ${lineNo} cannot be read.`)
    if ('lines' in line.data) whole = line.data.lines === lineNo - 2
    else if ('order' in line.data) state.book.orders.set(line.data.order.orderId, line.data.order)
    else state.book.vault.set(line.data.vault.vaultId, line.data.vault.record)
  }
  if (lineNo === 0) throw refuse(NOT_A_STATE)
  if (!whole) throw refuse('is the state of a sandbox, but it is cut off.')
}

const NOT_A_STATE = 'is no state of a sandbox.'

/** Why not; null: it is restored. */
function restoreHeader(state: SandboxState, value: unknown): string | null {
  const header = HEADER.safeParse(value)
  if (!header.success) return NOT_A_STATE
  if (header.data.version > VERSION) return 'was written by a newer version of this program.'
  const counts = COUNTS.safeParse(value)
  if (!counts.success) return 'is the state of a sandbox, but its line 1 cannot be read.'
  const { lastId, received, executed, advancedMs } = counts.data
  // Ids go on from the later of the two, so that what was lost in a crash is not given out again.
  state.book.lastId = Math.max(state.book.lastId, lastId)
  state.received = received
  state.log.executed = executed
  state.advancedMs = advancedMs
  return null
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
