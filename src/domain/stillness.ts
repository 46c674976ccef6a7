// Why no row of a batch moves at the moment, though it goes on by itself. A code with data, as in `batch-status.ts`.

import type { BatchView } from './batch.ts'
import { countIn } from './batch-status.ts'

export type Stillness =
  /** The gateway asked for it (429), or our own back-off; `why` is what went wrong last. */
  | { readonly code: 'gateway'; readonly why: string; readonly untilMs: number | null }
  | { readonly code: 'answers'; readonly requests: number }
  /** Rows that were refused for now (`why`), or whose `execute_at` is near. */
  | { readonly code: 'due'; readonly untilMs: number; readonly why: string | null }
  /** Behind an earlier row of its order. */
  | { readonly code: 'order'; readonly rows: number }
  | { readonly code: 'rate'; readonly perSecond: number }

/** `ratePerSecond`: as it is kept; null: unknown, or none. null: it moves as far as is known. */
export function stillnessOf(batch: BatchView, nowMs: number, ratePerSecond: number | null): Stillness | null {
  const { accountWaitsUntilMs, gatewayHealth, nextDueAtMs, blocked } = batch
  const sending = countIn(batch, 'SENDING')
  if (countIn(batch, 'READY') + sending === 0) return null
  const untilMs = Math.max(accountWaitsUntilMs ?? 0, gatewayHealth?.backoffUntilMs ?? 0)
  if (untilMs > nowMs) return { code: 'gateway', why: gatewayHealth?.why ?? 'the gateway asked to wait', untilMs }
  if (gatewayHealth !== null && gatewayHealth.failures > 0)
    return { code: 'gateway', why: gatewayHealth.why, untilMs: null }
  if (sending > 0) return { code: 'answers', requests: sending }
  if (nextDueAtMs !== null && nextDueAtMs > nowMs)
    return { code: 'due', untilMs: nextDueAtMs, why: gatewayHealth?.why ?? null }
  if (nextDueAtMs === null && blocked > 0) return { code: 'order', rows: blocked }
  return ratePerSecond === null ? null : { code: 'rate', perSecond: ratePerSecond }
}
