// Instructions found by one of their ids.

import type { BatchId } from './ids.ts'
import type { Operation } from './instruction.ts'
import type { Currency } from './money.ts'
import type { State } from './states.ts'
import type { AnswerFacts } from './verdict.ts'

export type IdKind = 'reference' | 'keyed-reference' | 'order' | 'transaction' | 'merchant-order' | 'vault'

export interface FoundInstruction {
  readonly reference: string
  readonly batchId: BatchId
  readonly rowNo: number
  /** Of its file, where it came in one. */
  readonly line: number
  readonly merchant: string
  readonly state: State
  /** By which of its ids it was found. */
  readonly by: IdKind
  readonly operation: Operation | null
  readonly amountMinor: bigint | null
  readonly currency: Currency | null
  /** As the gateway answered, else as asked. */
  readonly orderId: string | null
  readonly transactionId: string | null
  readonly recordId: string | null
  readonly xtlOrderId: string | null
  readonly vaultId: string | null
  readonly asked: { readonly orderId: string | null; readonly vaultId: string | null }
  /** As the gateway wrote it. */
  readonly answered: Pick<AnswerFacts, 'amount' | 'currency' | 'orderId' | 'vaultId' | 'xtlOrderId'>
  readonly reason: string | null
  readonly warning: string | null
  readonly attempts: number
  readonly sentAtMs: number | null
  readonly completedAtMs: number | null
}

/** More rows under one id than a person looks at. */
export const FOUND_MOST = 200
