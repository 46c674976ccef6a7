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

/** Counted from before the claim is handed to the ledger. `expiresAtMs`: of the row; null: it does not expire. */
export function createSendDeadline(clock: Clock, expiresAtMs: number | null = null): SendDeadline {
  const wallMs = clock.nowMs()
  const monotonicMs = clock.monotonicMs()
  const withinMs = expiresAtMs === null ? SEND_WITHIN_MS : Math.min(SEND_WITHIN_MS, expiresAtMs - wallMs - 1)
  return {
    sendByMs: wallMs + SEND_WITHIN_MS,
    isOver() {
      const nowMs = clock.nowMs()
      // Monotonic time stands still while a machine is suspended; the wall clock can be set. Either one is enough.
      return nowMs < wallMs || nowMs - wallMs > withinMs || clock.monotonicMs() - monotonicMs > withinMs
    },
  }
}

/** `maySend`: whether the claim still holds. */
export function fenceOf(sendDeadline: SendDeadline, reservation: Reservation, maySend: () => boolean): Fence {
  return () => (sendDeadline.isOver() || !maySend() ? 'fence' : reservation.commit())
}
