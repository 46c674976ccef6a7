// All connections of one ledger, so that none outlives it.

import { type Address, openSession, type Session } from './session.ts'

export interface Sessions {
  /** Another one. */
  open(): Promise<Session>
  /** Another one, for statements that may take long. */
  openPatient(): Promise<Session>
  /** One that is kept open, and opened again when it was lost. */
  kept(): () => Promise<Session>
  closeAll(): Promise<void>
}

export function createSessions(address: Address): Sessions {
  const all = new Set<Session>()

  async function opened(patient: boolean): Promise<Session> {
    const session = await openSession(address, patient)
    for (const one of all) if (one.isOver) all.delete(one)
    all.add(session)
    return session
  }

  const open = () => opened(false)
  return {
    open,
    openPatient: () => opened(true),
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
