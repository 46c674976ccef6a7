// The chain on PostgreSQL, brought up to what is committed: by workers from time to time, and by whoever asks for its end.

import { type Engine, FAULTING } from '../texts/engine.ts'
import { addLink, nextLink } from '../texts/record/chain.ts'

export async function seal(engine: Engine): Promise<void> {
  for (;;) {
    const next = await engine.read(nextLink, 'settled')
    if (next === null) return
    await engine.write(() => addLink(next.link), FAULTING)
    if (next.isLast) return
  }
}
