// What several suites do with the ledger of the test.

import type { DraftHeader, DraftRow } from '../../../src/domain/draft.ts'
import type { Instruction } from '../../../src/domain/instruction.ts'
import { headerOf, messageOf, NOW, refund, reviewOnly } from '../../fixtures/ledgers.ts'
import { accountId, ledger, place } from '../../fixtures/use-ledger.ts'

/** Hashes of two files. */
export const FIRST = '0123456789abcdef'
export const MENDED = 'fedcba9876543210'

/** The reference of a row in a file without references: it is made from the bytes of the file. */
export const made = (hash: string, rowNo: number, runKey: string | null = null) =>
  `${runKey === null ? '' : `${runKey}/`}${hash}-${rowNo}`

/** The rows of such a file: refunds of these orders. */
export const refunds = (hash: string, orders: readonly string[], over: Parameters<typeof refund>[1] = {}) =>
  orders.map((orderId, i) => refund(made(hash, i + 1), { orderId, ...over }))

/** What a file with these rows would come to. */
export function check(rows: readonly (Instruction | DraftRow)[], over: Partial<DraftHeader> = {}) {
  return reviewOnly(ledger, headerOf(accountId, over), rows)
}

/** Hands the refund in as a message, by another connection. */
export async function taken(reference: string, over: Parameters<typeof refund>[1] = {}, nowMs = NOW) {
  const answer = await place.open().recordMessage(messageOf(accountId, refund(reference, over), { nowMs }))
  if (answer.kind === 'refused') throw new Error(answer.reason)
  return answer
}
