// The client for services, as `tranche/client`: hands in instructions, and hears what became of them.

import type { Listening, OutcomeHandler } from './event.ts'
import { type HttpOptions, openHttpTransport } from './http.ts'
import type { Batch, Instruction, Submitted, SubmittedBatch } from './instruction.ts'
import { openQueueTransport, type QueueOptions } from './queue.ts'
import type { Transport } from './transport.ts'

export {
  type BatchQuestion,
  ListeningError,
  type LooksLike,
  RefusedError,
  RequestError,
  UnsureError,
  type WrongPart,
} from './errors.ts'
export type { Held, Listening, OutcomeEvent, OutcomeHandler, RowEvent, RowOutcome } from './event.ts'
export type {
  Batch,
  BatchInstruction,
  Environment,
  Instruction,
  State,
  Submitted,
  SubmittedBatch,
} from './instruction.ts'

export type ClientOptions = QueueOptions | HttpOptions

export class TrancheClient {
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    this.#transport = 'url' in options ? openHttpTransport(options) : openQueueTransport(options)
  }

  /**
   * Resolves when the ledger has it. Rejects with a RefusedError where the ledger refused it, over HTTP with a RequestError where the key
   * or the request is wrong, and with an UnsureError where it is not known: then hand the same instruction in again.
   */
  submit(instruction: Instruction): Promise<Submitted> {
    return this.#transport.submit(instruction)
  }

  /** The same for many that are taken as one batch, or not at all. Through the queue only. */
  submitBatch(batch: Batch): Promise<SubmittedBatch> {
    return this.#transport.submitBatch(batch)
  }

  /**
   * Resolves when it is cancelled. Rejects with a RefusedError where it is not there (over HTTP with the code `not_found` in `errors`: it may
   * still be on its way), or was sent already (`refused`, with its `state`), with a RequestError as above, and with an UnsureError where it is not known whether it was cancelled: then ask again.
   */
  cancel(reference: string, reason: string, merchant?: string): Promise<void> {
    return this.#transport.cancel(reference, reason, merchant)
  }

  /**
   * Each event again until the handler resolves: tell those that came before by their id. What Redis loses before the handler had it does
   * not come any more; the events of the record have it. Trouble that passes is waited out; see `Listening.ended`.
   */
  onOutcome(handler: OutcomeHandler): Listening {
    return this.#transport.onOutcome(handler)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}
