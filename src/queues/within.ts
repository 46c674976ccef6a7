// Bounds whatever speaks to Redis while closing: with Redis away or frozen it would never end.

/** Resolves when `done` has settled, however it did, or after `ms`. */
export async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([done.catch(() => {}), timeout])
  clearTimeout(timer)
}
