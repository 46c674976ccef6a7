// A request that changes something and may come more than once: its caller gave it a key, and only one of them has its effect.

import { Fault } from './fault.ts'

export interface ApiRequest {
  /** Who asks: the id of a key. What one caller's request was called is nothing to another. */
  readonly holder: string
  /** Method and path. */
  readonly target: string
  /** As the caller gave it. */
  readonly key: string
  /** Of the body. */
  readonly sha256: string
  readonly nowMs: number
}

/** What had its effect. A request that was refused changed nothing, so nothing is kept of it. */
export interface KeptRequest {
  readonly sha256: string
  /** What it came to, and by which the object is found again that the reply is of. */
  readonly subject: Readonly<Record<string, string | number>>
}

/** So long a request is known again. */
export const REQUESTS_KEPT_MS = 30 * 86_400_000

/** Thrown in the place of a second effect: another process had it a moment ago. */
export class RequestRepeated extends Fault {
  constructor() {
    super('stopped', 'The same request had its effect a moment ago. Nothing was done twice.')
    this.name = 'RequestRepeated'
  }
}
