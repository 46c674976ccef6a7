// How many requests reached a gateway within a second, where the gateway is of this process and notes them late when this one was kept
// from running: by a busy machine, or by a test that waits.

export interface Pace extends Disposable {
  /** The most that certainly arrived within any second, by when they were noted. */
  mostInASecond(notedMs: readonly number[]): number
}

const LOOKS_EVERY_MS = 5
/** Between the last look of a worker at its rate and the byte that leaves, and on the way. */
const ON_THE_WAY_MS = 15

/** From now on. */
export function watchPace(): Pace {
  /** When this process ran. What is noted between two of them may have come at the one before. */
  const ranMs: number[] = [Date.now()]
  const timer = setInterval(() => ranMs.push(Date.now()), LOOKS_EVERY_MS)
  timer.unref()
  return {
    mostInASecond: (notedMs) => mostInASecond(notedMs, ranMs),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

/** Requests from one on count as in one second where the last was noted less than a second after the first can have arrived. */
export function mostInASecond(notedMs: readonly number[], ranMs: readonly number[]): number {
  const inOrder = notedMs.toSorted((one, other) => one - other)
  let ran = 0
  const earliestMs = inOrder.map((atMs) => {
    while ((ranMs[ran + 1] ?? Number.POSITIVE_INFINITY) <= atMs) ran += 1
    return Math.min(atMs, ranMs[Math.max(0, ran - 1)] ?? atMs)
  })
  let first = 0
  let most = 0
  for (const [i, atMs] of inOrder.entries()) {
    while (atMs - (earliestMs[first] as number) >= 1_000 - ON_THE_WAY_MS) first += 1
    most = Math.max(most, i - first + 1)
  }
  return most
}
