// The sandbox's own truth about stored cards: what each operation of the vault does to its records. No I/O.

import type { CardMask } from '../domain/card.ts'
import { freshId, type Holder, type OrderBook, storeRecord, type VaultRecord } from './book.ts'

interface CreateRequest {
  readonly operation: 'VAULT_CREATE'
  readonly holder: Holder
  readonly card: CardMask
}

interface UpdateRequest {
  readonly operation: 'VAULT_UPDATE'
  readonly vaultId: string
  readonly holder: Holder
  readonly card: CardMask
}

interface DeleteRequest {
  readonly operation: 'VAULT_DELETE'
  readonly vaultId: string
}

/** A well-formed request. Ids are digits without leading zeros. */
export type VaultRequest = CreateRequest | UpdateRequest | DeleteRequest

export type VaultAnswer =
  | { readonly status: 'Success'; readonly vaultId: string; readonly record: VaultRecord | null }
  | { readonly status: 'Failed'; readonly message: string }

const UNKNOWN_VAULT_ID = 'customer_vault_id is not known'

export function executeInVault(book: OrderBook, request: VaultRequest): VaultAnswer {
  switch (request.operation) {
    case 'VAULT_CREATE':
      return succeeded(book, storeRecord(book, request.holder, request.card))
    case 'VAULT_UPDATE':
      return update(book, request)
    case 'VAULT_DELETE':
      // The contract does not show this answer: a status, and the id that is gone.
      return book.vault.delete(request.vaultId)
        ? { status: 'Success', vaultId: request.vaultId, record: null }
        : failed(UNKNOWN_VAULT_ID)
  }
}

/** The whole record is replaced; a prepared one becomes a record like any other. */
function update(book: OrderBook, { vaultId, holder, card }: UpdateRequest): VaultAnswer {
  const before = book.vault.get(vaultId)
  if (before === undefined) return failed(UNKNOWN_VAULT_ID)
  book.vault.set(vaultId, { ...holder, customerId: before?.customerId ?? freshId(book), card })
  return succeeded(book, vaultId)
}

function succeeded(book: OrderBook, vaultId: string): VaultAnswer {
  return { status: 'Success', vaultId, record: book.vault.get(vaultId) ?? null }
}

export function failed(message: string): VaultAnswer {
  return { status: 'Failed', message }
}
