// Semaphore: how many requests may be open at once. Permits are given in the order in which they were asked for.

export interface Permit {
  release(): void
}

export interface Permits {
  /** null when `signal` aborts, or none is given any more, before one is free. */
  acquire(signal: AbortSignal): Promise<Permit | null>
  /** Those given and not released. */
  inFlight(): number
  /** How many there may be has changed. */
  admit(): void
}

interface Waiter {
  readonly signal: AbortSignal
  readonly resolve: (got: Permit | null) => void
}

/** `most`: how many may be open now; null: none is given, and no one waits. */
export function createPermits(most: () => number | null): Permits {
  let open = 0
  let waiters: Waiter[] = []

  function admit(): void {
    const size = most()
    if (size === null) {
      end(() => true)
      return
    }
    while (open < size) {
      const next = waiters.shift()
      if (next === undefined) return
      if (next.signal.aborted) {
        next.resolve(null)
        continue
      }
      open += 1
      next.resolve(permitOf())
    }
  }

  function end(isOver: (waiter: Waiter) => boolean): void {
    const ended = waiters.filter(isOver)
    if (ended.length === 0) return
    waiters = waiters.filter((waiter) => !isOver(waiter))
    for (const { resolve } of ended) resolve(null)
  }

  function permitOf(): Permit {
    let held = true
    return {
      release() {
        if (!held) return
        held = false
        open -= 1
        admit()
      },
    }
  }

  const dropAborted = () => end(({ signal }) => signal.aborted)

  return {
    acquire(signal) {
      if (signal.aborted) return Promise.resolve(null)
      return new Promise((resolve) => {
        // Rows of one slice wait one behind the other, and a signal need be listened to once.
        if (waiters.at(-1)?.signal !== signal) signal.addEventListener('abort', dropAborted, { once: true })
        waiters.push({ signal, resolve })
        admit()
      })
    },
    inFlight: () => open,
    admit,
  }
}
