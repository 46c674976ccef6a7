// What every page has at hand.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { FilesDoor } from '../app/checking.ts'
import type { Verify } from '../ports/ledger/audit.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { Samples } from './samples.ts'

export interface ConsoleDoor extends FilesDoor {
  readonly ledger: Ledger
  /** Whether browsers reach it by TLS, here or at a proxy. */
  readonly isSecure: boolean
  /** Whether its gateway is the sandbox, where no money moves. */
  readonly isSandbox: boolean
  /** Of its merchants, minute by minute; absent: it begins with none. */
  readonly samples?: Samples
  /** Absent: the record is verified at a terminal only. */
  readonly verify?: Verify
  /** Of a rehearsal: whoever comes may be one of them. */
  readonly rehearsalPeople: readonly { readonly name: string; readonly password: string; readonly does: string }[]
}

export type Pages = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** What a page refuses, as it is told to the person. Nothing was changed. */
export class PageError extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}
