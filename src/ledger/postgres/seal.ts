// The chain on PostgreSQL, brought up to what is committed: by workers from time to time, and by whoever asks for its end.

import { type Engine, FAULTING } from '../texts/engine.ts'
import { addLink, nextLink } from '../texts/record/chain.ts'
import { one, type Script } from '../texts/script.ts'

/** Resolves when everything that was committed before is sealed. One after another: a second one at the same time would read all of it again. */
export type Seal = () => Promise<void>

export function createSeal(engine: Engine): Seal {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.catch(() => {}).then(() => seal(engine))
    return last
  }
}

async function seal(engine: Engine): Promise<void> {
  for (;;) {
    const next = await engine.read(function* () {
      return { link: yield* nextLink(), server: yield* startOfServer() }
    }, 'settled')
    const { link } = next
    if (link === null) return
    // A server that was put back meanwhile has another record than the one that was read.
    const isSame = await engine.write(function* () {
      if ((yield* startOfServer()) !== next.server) return false
      yield* addLink(link.link)
      return true
    }, FAULTING)
    if (isSame && link.isLast) return
  }
}

function* startOfServer(): Script<string> {
  const found = yield* one<{ at: string }>('SELECT CAST(pg_postmaster_start_time() AS TEXT) AS at')
  return found!.at
}
