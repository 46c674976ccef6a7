// What a case is given and what it tells.

import type { BareGateway } from './gateway.ts'
import type { Office, OfficeOptions } from './office.ts'

export interface Case {
  readonly name: string
  run(bench: Bench): Promise<readonly Line[]>
}

/** What every round showed of each side, in their order. */
export type Rounds<T, Side extends string = 'ours' | 'other'> = Readonly<Record<Side, readonly T[]>>

/** One line of the table: figures of every round, ours and the other side's, and what they should be. */
export interface Line {
  readonly what: string
  readonly unit: string
  readonly ours: readonly number[]
  readonly other?: { readonly name: string; readonly figures: readonly number[] }
  /** Round by round. */
  readonly ratios?: readonly number[]
  /** About the median of the ratios, or of our figures where there are none or `of` says so. */
  readonly goal?: Goal
}

export type Goal = ({ readonly atLeast: number } | { readonly atMost: number }) & { readonly of?: 'ours' }

export interface Sizes {
  readonly rounds: number
  /** Rows that are sent. */
  readonly sent: number
  /** Rows that are sent at 200 ms, for some seconds and for a minute. */
  readonly slow: number
  readonly minute: number
  /** A large and a small file. */
  readonly large: number
  readonly small: number
  /** Short commands, in each round. */
  readonly starts: number
}

/** Of the rows that are sent in a second. */
export const OPEN_REQUESTS = 64

export interface Bench {
  readonly sizes: Sizes
  /** A directory that goes with the bench. */
  readonly root: string
  /** Made once, and answered with its path. */
  refunds(rows: number): string
  /** One for all cases, in a process of its own. */
  gateway(): Promise<BareGateway>
  office(options?: Partial<OfficeOptions>): Promise<Office>
  /** All sides in turn, as often as the sizes say; who begins changes from round to round. */
  rounds<T, Side extends string>(sides: Readonly<Record<Side, () => Promise<T>>>): Promise<Rounds<T, Side>>
  /** An installation all of whose rows were approved; made once for each number of rows. */
  settled(rows: number): Promise<Settled>
  /** Most resident memory in MiB that was seen so far, by what ran and its rows: `check 10000`. */
  readonly peaks: Map<string, number[]>
  /** What is happening, for the person who waits. */
  tell(text: string): void
  close(): void
}

export interface Settled {
  readonly office: Office
  readonly batch: string
}
