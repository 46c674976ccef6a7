// From an instruction to the JSON body of a tokenization request: exactly the fields that its operation takes.

import type { CardDetails } from '../domain/card.ts'
import { assert } from '../domain/fault.ts'
import { CUSTOMER_FIELDS, FIELD_RULES, type Instruction, plainId, type VaultOperation } from '../domain/instruction.ts'
import type { Credentials } from './form.ts'

/** Below the base address. */
export const VAULT_PATHS = {
  VAULT_CREATE: '/api/integration/customer/card-tokenization',
  VAULT_UPDATE: '/api/integration/customer/card-tokenization/update',
  VAULT_DELETE: '/api/integration/customer/card-tokenization/delete',
} as const satisfies Record<VaultOperation, string>

/** A customer detail that the row does not have is sent empty: the contract names no optional ones. */
export function toVaultRecord(
  operation: VaultOperation,
  { vaultId, details }: Pick<Instruction, 'vaultId' | 'details'>,
  card: CardDetails | null,
  { username, password }: Credentials,
): string {
  const { customer_vault_id: takesId, card: takesCard } = FIELD_RULES[operation]
  assert((takesId === 'required') === (vaultId !== null), `${operation} with vault id ${vaultId}`)
  assert((takesCard === 'required') === (card !== null), `${operation} needs a card, or has one too many`)
  const record = {
    req_username: username,
    req_password: password,
    ...(card === null ? {} : { customer_details: customerOf(details), card_details: cardOf(card) }),
  }
  // By hand: the id is numeric in the contract, and may have more digits than a JavaScript number keeps.
  return vaultId === null ? JSON.stringify(record) : withVaultId(JSON.stringify(record), vaultId)
}

function withVaultId(json: string, vaultId: string): string {
  assert(/^\d+$/.test(vaultId), `the vault id ${vaultId} is not a number`)
  return `${json.slice(0, -1)},"customer_vault_id":${plainId(vaultId)}}`
}

function customerOf(details: Instruction['details']): Readonly<Record<string, string>> {
  return Object.fromEntries(CUSTOMER_FIELDS.map((field) => [field, details[field] ?? '']))
}

function cardOf({ number, code, expiry }: CardDetails): Readonly<Record<string, string>> {
  return {
    card_number: number,
    card_exp_mm: expiry.month,
    card_exp_yy: expiry.year.slice(-2),
    card_cvv: code,
  }
}
