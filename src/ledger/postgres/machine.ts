// What the process stands on besides its clock: the way to the server, turns of the event loop, numbers that nobody else draws.

import { randomInt } from 'node:crypto'
import { newBatchId } from '../batch-id.ts'
import type { NewBatchId } from '../texts/intake/messages.ts'
import type { Turns } from '../write-queue.ts'
import { type Address, openSession, type Session } from './session.ts'

export interface Machine {
  readonly connect: (address: Address) => Promise<Session>
  readonly turns: Turns
  readonly newBatchId: NewBatchId
  /** For a worker, or a transactor. */
  readonly newId: () => number
}

export const THIS_MACHINE: Machine = {
  connect: openSession,
  turns: { soon: (run) => void setImmediate(run), later: (run, afterMs) => void setTimeout(run, afterMs) },
  newBatchId,
  newId: () => randomInt(1, 2 ** 47),
}
