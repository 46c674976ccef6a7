// Every route, and what it asks of a key. What is not in this table is not served.

import type { Scope } from '../domain/api-key.ts'

export interface RouteEntry {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  /** null: whoever reaches the port may ask. */
  readonly scope: Scope | null
  /**
   * What a key that is bound to merchants meets.
   * - `none`: nothing here is a merchant's
   * - `listed`: it finds its own in the list, and no others
   * - `object`: that of another is not there
   */
  readonly merchants: 'none' | 'listed' | 'object'
  /** It changes something, so it needs an Idempotency-Key. */
  readonly changes: boolean
  /** `upload`: bytes, read by the route itself. */
  readonly body: 'none' | 'json' | 'upload'
}

const READS = { method: 'GET', changes: false, body: 'none' } as const
const PUBLIC = { ...READS, scope: null, merchants: 'none' } as const

export const ROUTES = {
  livez: { ...PUBLIC, path: '/livez' },
  readyz: { ...PUBLIC, path: '/readyz' },
  openapi: { ...PUBLIC, path: '/openapi.json' },
  getBatch: { ...READS, path: '/v1/batches/:batch', scope: 'batches:read', merchants: 'object' },
} as const satisfies Readonly<Record<string, RouteEntry>>
export type RouteName = keyof typeof ROUTES

export function entryOf(name: RouteName): RouteEntry {
  return ROUTES[name]
}
