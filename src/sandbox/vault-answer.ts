// The vault's answer as it goes over the wire: a JSON object with the documented names.

import type { VaultRecord } from './book.ts'
import type { VaultAnswer } from './vault.ts'

/** `nowMs`: the `ts` of the answer. */
export function toVaultJson(answer: VaultAnswer, nowMs: number): string {
  const ts = new Date(nowMs).toISOString()
  if (answer.status === 'Failed') return JSON.stringify({ status: 'Failed', ts, errorMessage: answer.message })
  return `{"status":"Success","ts":"${ts}","data":${dataOf(answer.vaultId, answer.record)}}`
}

/** By hand, as ids are JSON numbers that may have more digits than a JavaScript number keeps. */
function dataOf(vaultId: string, record: VaultRecord | null): string {
  const id = `"customer_vault_id":${vaultId}`
  if (record === null) return `{${id}}`
  const { firstName, lastName, customerId, card } = record
  const fields = [
    id,
    text('first_name', firstName),
    text('last_name', lastName),
    text('cc_bin', card.bin),
    text('cc_last_4_digit', card.lastFour),
    `"customer_id":${customerId}`,
    text('cc_expiry_mm', card.expiry.month),
    text('cc_expiry_yy', card.expiry.year.slice(-2)),
  ]
  return `{${fields.join(',')}}`
}

function text(name: string, value: string): string {
  return `"${name}":${JSON.stringify(value)}`
}
