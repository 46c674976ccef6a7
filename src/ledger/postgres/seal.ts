// The chain on PostgreSQL, brought up to what is committed: by workers from time to time, and by whoever asks for its end.

import { type Engine, FAULTING } from '../texts/engine.ts'
import { addLink, nextLink } from '../texts/record/chain.ts'
import { startOfServer } from './copies/identity.ts'

/** Resolves when everything that was committed before is sealed. */
export type Seal = () => Promise<void>

/** One at a time, or each would read all of it. Callers that come meanwhile share the next one. */
export function createSeal(run: () => Promise<void>): Seal {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null
        running = run()
        return running
      })
    return next
  }
}

export async function sealRecord(engine: Engine): Promise<void> {
  for (;;) {
    const next = await engine.read(function* () {
      const server = yield* startOfServer() // takes the snapshot, which writers wait for
      return { server, link: yield* nextLink() }
    }, 'settled')
    const { link } = next
    if (link === null) return
    // A server that was put back meanwhile has another record than the one that was read.
    const isAdded = await engine.write(function* () {
      return (yield* startOfServer()) === next.server && (yield* addLink(link.link))
    }, FAULTING)
    if (isAdded && link.isLast) return
  }
}
