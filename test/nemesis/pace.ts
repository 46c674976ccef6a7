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
  const late = lateness(ranMs)
  const onTheWayMs = earliestMs.map((atMs) => ON_THE_WAY_MS + late(atMs))
  let first = 0
  let most = 0
  for (const [i, atMs] of inOrder.entries()) {
    while (atMs - (earliestMs[first] as number) >= 1_000 - (onTheWayMs[first] as number)) first += 1
    most = Math.max(most, i - first + 1)
  }
  return most
}

/** About a moment of which the machine may have been busy. */
const AROUND_MS = 100
const LATE_MOST_MS = 50

/**
 * How long this process was kept waiting about a moment, at most 50 ms: a machine that is so busy keeps a worker waiting as long
 * between its look at the rate and the byte that leaves. To be asked of one moment after another.
 */
function lateness(ranMs: readonly number[]): (atMs: number) => number {
  let from = 0
  return (atMs) => {
    while ((ranMs[from + 1] ?? Number.POSITIVE_INFINITY) < atMs - AROUND_MS) from += 1
    let longest = 0
    for (let i = from; i + 1 < ranMs.length && (ranMs[i] as number) <= atMs + AROUND_MS; i += 1)
      longest = Math.max(longest, (ranMs[i + 1] as number) - (ranMs[i] as number))
    return Math.min(Math.max(0, longest - LOOKS_EVERY_MS), LATE_MOST_MS)
  }
}
