// All connections of one ledger, so that none outlives it.

import type { Session } from './session.ts'

export interface Sessions {
  /** Another one. */
  open(): Promise<Session>
  /** One that is kept open, and opened again when it was lost. */
  kept(): () => Promise<Session>
  closeAll(): Promise<void>
}

export function createSessions(connect: () => Promise<Session>): Sessions {
  const all = new Set<Session>()

  async function open(): Promise<Session> {
    const session = await connect()
    for (const one of all) if (one.isOver) all.delete(one)
    all.add(session)
    return session
  }

  return {
    open,
    kept() {
      let session: Session | null = null
      return async () => {
        if (session === null || session.isOver) session = await open()
        return session
      }
    },
    async closeAll() {
      await Promise.all(Array.from(all, (session) => session.close()))
    },
  }
}
