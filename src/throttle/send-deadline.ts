// The latest time at which a claimed row may be sent, by both clocks.

import type { Clock } from '../ports/clock.ts'
import type { Fence } from '../ports/gateway.ts'
import type { Reservation } from './pacer.ts'

export interface SendDeadline {
  readonly sendByMs: number
  /** Whether it is too late to send: by either clock, or because the wall clock ran backwards. */
  isOver(): boolean
}

/** How long a claim may wait for its first byte. */
export const SEND_WITHIN_MS = 15_000

/** Counted from before the claim is handed to the ledger. */
export function createSendDeadline(clock: Clock): SendDeadline {
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

/** `maySend`: whether the claim still holds. */
export function fenceOf(sendDeadline: SendDeadline, reservation: Reservation, maySend: () => boolean): Fence {
  return () => (sendDeadline.isOver() || !maySend() ? 'fence' : reservation.commit())
}
