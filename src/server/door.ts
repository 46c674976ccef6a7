// What every route has at hand, and who came through the door.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { FilesDoor } from '../app/checking.ts'
import type { DoorActor } from '../domain/actor.ts'
import type { ApiKey } from '../domain/api-key.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import type { RouteName } from './table.ts'

export interface Door extends FilesDoor {
  readonly ledger: Ledger
  /** Whether it may be asked under that name or address, which is without a port and in small letters. */
  readonly isHost: (name: string) => boolean
  /** No money moves. Absent: it may. */
  readonly isSandbox?: boolean
  readonly trustedProxies: readonly string[]
  /** Of one key. */
  readonly requestsPerMinute: number
  /** Connections that one address may have; absent: half of all. */
  readonly connectionsOfOne?: number
  /** Of each answer: the route as it is written in the table, never what was asked for. */
  readonly onAnswered?: (method: string, route: string, status: number, tookMs: number) => void
}

export interface Caller {
  readonly key: ApiKey
  readonly actor: DoorActor
}

declare module 'fastify' {
  interface FastifyRequest {
    /** null: it asks for what anybody may have. */
    caller: Caller | null
    /** Of the key that was named, also where it was refused; null: none is known. */
    keyId: string | null
  }
  interface FastifyContextConfig {
    /** In the table of routes. */
    entry?: RouteName
    /** In the table of pages, where it is one. */
    page?: string
  }
}

export type Server = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>

/** Of a route that asks for a scope. */
export function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (caller === null) throw new Error('bug: this route asks for no key')
  return caller
}
