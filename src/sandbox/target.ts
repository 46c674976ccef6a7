// What a request is about, as faults are matched with it, whichever endpoint it came to.

import type { CardMask } from '../domain/card.ts'
import type { TransactionRequest } from './orders.ts'
import type { VaultRequest } from './vault.ts'

export type SandboxRequest = TransactionRequest | VaultRequest

interface Target {
  readonly orderId: string | null
  readonly vaultId: string | null
  readonly card: CardMask | null
  readonly xtlOrderId: string | null
  readonly amount: string | null
}

const NOTHING: Target = { orderId: null, vaultId: null, card: null, xtlOrderId: null, amount: null }

export function targetOf(request: SandboxRequest): Target {
  switch (request.operation) {
    case 'CAPTURE':
    case 'AUTH': {
      const { source, amount, xtlOrderId } = request
      return source.kind === 'vault'
        ? { ...NOTHING, vaultId: source.vaultId, amount, xtlOrderId }
        : { ...NOTHING, card: source.card, amount, xtlOrderId }
    }
    case 'CAUTH':
    case 'REFUND':
    case 'CANCEL': {
      const { orderId, amount, xtlOrderId } = request
      return { ...NOTHING, orderId, amount, xtlOrderId }
    }
    case 'VAULT_CREATE':
      return { ...NOTHING, card: request.card }
    case 'VAULT_UPDATE':
      return { ...NOTHING, vaultId: request.vaultId, card: request.card }
    case 'VAULT_DELETE':
      return { ...NOTHING, vaultId: request.vaultId }
  }
}
