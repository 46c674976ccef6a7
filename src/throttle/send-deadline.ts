// The last moment at which a claimed row may be sent, by every clock there is.

import type { Clock, Fence } from '../domain/ports.ts'
import type { Slot } from './pacer.ts'

export interface SendBy {
  readonly sendByMs: number
  /** Whether it is too late to send: by either clock, or because the wall clock ran backwards. */
  isOver(): boolean
}

/** How long a claim may wait for its first byte. */
const SEND_WITHIN_MS = 15_000

/** Counted from the moment before the claim is handed to the ledger. */
export function openSendBy(clock: Clock): SendBy {
  const wallMs = clock.nowMs()
  const monotonicMs = clock.monotonicMs()
  return {
    sendByMs: wallMs + SEND_WITHIN_MS,
    isOver() {
      const nowMs = clock.nowMs()
      // Monotonic time stands still while a machine is suspended; the wall clock can be set. Either one is enough.
      return nowMs < wallMs || nowMs - wallMs > SEND_WITHIN_MS || clock.monotonicMs() - monotonicMs > SEND_WITHIN_MS
    },
  }
}

export function fenceOf(sendBy: SendBy, slot: Slot): Fence {
  return () => (sendBy.isOver() ? 'fence' : slot.leave())
}
