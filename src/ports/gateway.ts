// The gateway of one account: one attempt in, one outcome out.

import type { CardDetails } from '../domain/card.ts'
import type { Instruction } from '../domain/instruction.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { TlsSeen } from '../domain/tls.ts'

/** The last word before the first byte: null to go, or why not. Called synchronously when the connection stands. */
export type Fence = () => 'fence' | 'pace' | null

export type Reached =
  /** `tls` is null over plain HTTP. */
  | { readonly kind: 'reached'; readonly tls: TlsSeen | null }
  /** In words. */
  | { readonly kind: 'not-reached'; readonly why: string }

export interface Gateway {
  /**
   * Sends one instruction once. Never rejects and never sends again by itself: whatever happens is an outcome.
   * The fence is asked exactly once, after the connection stands and before the first byte; if it refuses, or is never
   * asked, not one byte left. `abandon` ends an attempt that has not started yet; a started one is awaited.
   * `card`: the details of the card of which the instruction has the mask; nothing keeps them beyond the request.
   */
  send(instruction: Instruction, fence: Fence, abandon: AbortSignal, card?: CardDetails | null): Promise<Outcome>
  /** Whether something accepts connections at the address. Sends no request. */
  reach(): Promise<Reached>
  close(): Promise<void>
}
