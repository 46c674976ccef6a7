// All that one sandbox has in memory.

import type { Currency } from '../domain/money.ts'
import { createOrderBook, type OrderBook } from './book.ts'
import { createFaultBoard, type FaultBoard } from './faults.ts'
import type { Log } from './log.ts'

export interface StateOptions {
  readonly username: string
  readonly password: string
  readonly clock: () => number
  readonly settleAfterMs: number
  readonly triggers: boolean
  /** Orders and cards exist when they are first named; orders in this currency. null: only what was prepared exists. */
  readonly acceptsUnknownIn?: Currency | null
}

export interface SandboxState {
  readonly options: StateOptions
  readonly book: OrderBook
  readonly faults: FaultBoard
  readonly log: Log
  received: number
  advancedMs: number
}

export function createState(options: StateOptions): SandboxState {
  const book = createOrderBook(options.settleAfterMs, options.clock())
  const log = { entries: [], executed: 0 }
  return { options, book, faults: createFaultBoard(options.triggers), log, received: 0, advancedMs: 0 }
}

/** The moment that settlement and card expiry go by. */
export function nowMsOf(state: SandboxState): number {
  return state.options.clock() + state.advancedMs
}

export function isMerchant(state: SandboxState, username: string | null, password: string | null): boolean {
  return username === state.options.username && password === state.options.password
}
