// Answers that the ledger does not take yet, in a file of this machine: the server may be away for longer than this process lives, and
// an answer that is lost is a doubt. They are as masked as the ledger has them. Whoever comes next to the place hands them in.

import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncDirectorySync } from '../../../files/durable.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Settlement } from '../../../ports/ledger/work.ts'

/** Whose a claim is: of which worker, and which of its claims. */
export interface Token {
  readonly worker: number
  readonly claimNo: number
}

export interface KeptAnswer {
  readonly settlement: Settlement
  /** null: this process claimed no such row. */
  readonly token: Token | null
}

export interface KeptAnswers {
  /** Writes the answer down if it is not settled soon. Resolves as `settling` does. */
  until<T>(settling: Promise<T>, answer: KeptAnswer): Promise<T>
  /** What an earlier process left. */
  left(): readonly KeptAnswer[]
  /** Keeps them in a file of their own, for a person. Answers with its path; they are durable then. */
  setAside(answers: readonly KeptAnswer[]): string
  /** What was left is settled. */
  forgetLeft(): void
}

/** Written down where it is not settled by then. */
interface Unwritten {
  readonly answer: KeptAnswer
  readonly byMs: number
}

const SETTLED_WITHIN_MS = 5_000

/**
 * `path`: of one ledger alone, because the rows of another have the same ids; null: nothing is kept. `onFailed`: it could not be written,
 * so a crash would lose an answer.
 */
export function createKeptAnswers(
  path: string | null,
  clock: Pick<Clock, 'sleep' | 'monotonicMs'>,
  onFailed: (error: unknown) => void,
): KeptAnswers {
  let unsettled = 0
  /** Of these, the oldest first. */
  const unwritten = new Set<Unwritten>()
  let watching: AbortController | null = null
  let isWritten = false
  /** A settlement failed for good, by a bug elsewhere: the file stays. */
  let isRefused = false

  function write(path: string, answer: KeptAnswer): void {
    try {
      append(path, [answer])
      if (!isWritten) syncDirectorySync(dirname(path))
      isWritten = true
    } catch (error) {
      onFailed(error)
    }
  }

  /** One for all of them: thousands come and go in a second. */
  async function watch(path: string, over: AbortSignal): Promise<void> {
    for (const one of unwritten) {
      await clock.sleep(Math.max(0, one.byMs - clock.monotonicMs()), over)
      if (over.aborted) return
      if (unwritten.delete(one)) write(path, one.answer)
    }
    watching = null
  }

  function begun(path: string, answer: KeptAnswer): Unwritten {
    const one = { answer, byMs: clock.monotonicMs() + SETTLED_WITHIN_MS }
    unsettled += 1
    unwritten.add(one)
    if (watching === null) {
      watching = new AbortController()
      void watch(path, watching.signal)
    }
    return one
  }

  function ended(path: string, one: Unwritten): void {
    unwritten.delete(one)
    if (unwritten.size === 0) {
      watching?.abort()
      watching = null
    }
    unsettled -= 1
    // All together: each of them is settled again without an effect if this process dies before.
    if (unsettled > 0 || !isWritten || isRefused) return
    rmSync(path, { force: true })
    isWritten = false
  }

  return {
    async until(settling, answer) {
      if (path === null) return settling
      const one = begun(path, answer)
      try {
        return await settling
      } catch (error) {
        isRefused = true
        write(path, answer)
        throw error
      } finally {
        ended(path, one)
      }
    },
    left: () => (path === null ? [] : parse(path)),
    setAside(answers) {
      const aside = `${path}.unknown`
      append(aside, answers)
      syncDirectorySync(dirname(aside))
      return aside
    },
    forgetLeft() {
      if (path !== null) rmSync(path, { force: true })
    },
  }
}

function append(path: string, answers: readonly KeptAnswer[]): void {
  const handle = openSync(path, 'a', 0o600)
  try {
    writeFileSync(handle, answers.map((answer) => `${JSON.stringify(answer)}\n`).join(''))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A line that was broken off by a crash is none. */
function parse(path: string): readonly KeptAnswer[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as KeptAnswer]
        } catch {
          return []
        }
      })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
