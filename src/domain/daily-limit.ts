// How much money may leave an account on one day, and how much may come. Both are limited by the same amount and counted apart. Pure.

import type { AccountId } from './ids.ts'
import { type Day, dayOf } from './instant.ts'
import type { Instruction, Operation } from './instruction.ts'
import type { Currency } from './money.ts'

/** Whether money leaves or comes. */
export type Direction = 'out' | 'in'

/** As a merchant is configured. */
export interface DailyLimits {
  /** In minor units. A currency without a limit is not counted. */
  readonly amounts: ReadonlyMap<Currency, bigint>
  /** IANA. A day begins and ends as its calendar says. */
  readonly timeZone: string
}

/** An authorization and its void move no money; the capture of an authorization does. */
export const OPERATIONS_OF: Readonly<Record<Direction, readonly Operation[]>> = {
  out: ['REFUND'],
  in: ['CAPTURE', 'CAUTH'],
}

/** What is limited, in words. */
export function directionText(direction: Direction): string {
  return direction === 'out' ? 'refunds' : 'sales and captures'
}

/** null: it moves no money. */
export function directionOf(operation: Operation | ''): Direction | null {
  if (operation === '') return null
  if (OPERATIONS_OF.out.includes(operation)) return 'out'
  return OPERATIONS_OF.in.includes(operation) ? 'in' : null
}

/** What a claim counts towards the limit of a day. */
export interface LimitedAmount {
  readonly accountId: AccountId
  readonly direction: Direction
  readonly currency: Currency
  readonly amountMinor: bigint
  readonly limitMinor: bigint
  readonly day: Day
  readonly timeZone: string
}

/** null: nothing limits it. */
export function limitedBy(
  limits: DailyLimits | null,
  { accountId, instruction }: { readonly accountId: AccountId; readonly instruction: Instruction },
  nowMs: number,
): LimitedAmount | null {
  const { money, operation } = instruction
  const direction = directionOf(operation)
  const limitMinor = money === null ? undefined : limits?.amounts.get(money.currency)
  if (limits === null || money === null || direction === null || limitMinor === undefined) return null
  const { timeZone } = limits
  return { accountId, direction, ...money, limitMinor, day: dayOf(nowMs, timeZone), timeZone }
}

/** No day has room for it beside anything else. */
export function isAboveLimit({ amountMinor, limitMinor }: Pick<LimitedAmount, 'amountMinor' | 'limitMinor'>): boolean {
  return amountMinor > limitMinor
}

/** Rows that wait because the limit of a day is reached. */
export interface LimitReached {
  readonly direction: Direction
  readonly currency: Currency
  readonly limitMinor: bigint
  readonly timeZone: string
  /** When the next day begins. */
  readonly untilMs: number
  /** A row among them is above the whole limit, and nobody has accepted that: it waits until the limit is raised. */
  readonly holdsAbove: boolean
  /** One of them expires before the next day. */
  readonly holdsExpiring: boolean
  /** One of them may be sent on the next day. */
  readonly isAnyLeft: boolean
}

/** Rows of a file that are above the whole limit of a day: one of them takes a day to itself. */
export interface AboveLimit {
  readonly direction: Direction
  readonly currency: Currency
  readonly limitMinor: bigint
  readonly rows: number
  readonly firstLine: number
  readonly largestMinor: bigint
}

/** Of one instruction; null: it is not, or nothing limits it. */
export function aboveLimit(
  limits: DailyLimits | null,
  { operation, money }: Instruction,
): Omit<AboveLimit, 'rows' | 'firstLine'> | null {
  const direction = directionOf(operation)
  const limitMinor = money === null ? undefined : limits?.amounts.get(money.currency)
  if (direction === null || money === null || limitMinor === undefined) return null
  const { amountMinor: largestMinor, currency } = money
  return isAboveLimit({ amountMinor: largestMinor, limitMinor })
    ? { direction, currency, limitMinor, largestMinor }
    : null
}
