// What an engine does with scripts: it runs them on what is committed, or in a transaction of their own.

import type { Book } from './record/book.ts'
import type { Script } from './script.ts'

/** What becomes of a transaction that cannot be written now. Another program's lock is waited out. */
export type Mode<T> =
  /** It resolves with what `refused` answers. For claims. */
  | { readonly kind: 'refusable'; readonly refused: (why: 'full' | 'busy') => T; readonly giveUp: () => boolean }
  /** It is tried again until it is written. For settlements. */
  | { readonly kind: 'kept' }
  /**
   * It rejects with a Fault. For people's commands. `shared`: others may write meanwhile, for nothing that this one writes counts
   * before a later transaction says so.
   */
  | { readonly kind: 'faulting'; readonly shared?: true }

export const KEPT = { kind: 'kept' } as const
export const FAULTING = { kind: 'faulting' } as const
export const WITH_OTHERS = { kind: 'faulting', shared: true } as const

export interface Engine {
  /**
   * All that it finds is of one moment. `settled`: of one at which nothing was being written, so that whatever it does not see gets a
   * higher id than all that it sees.
   */
  read<T>(script: () => Script<T>, moment?: 'settled'): Promise<T>
  /**
   * Resolves after the commit, which it may share with its neighbours. When the script throws, it alone is rolled back, and this
   * rejects with what it threw. It may run more than once.
   */
  write<T>(script: (book: Book) => Script<T>, mode: Mode<T>): Promise<T>
}

/** A read transaction that outlives other work: whatever is read by it is of one moment. */
export interface Reader extends Pick<Engine, 'read'> {
  close(): Promise<void>
}
