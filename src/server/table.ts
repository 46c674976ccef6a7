// Every route, and what it asks of a key. What is not in this table is not served.

import type { Scope } from '../domain/api-key.ts'

export interface RouteEntry {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
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
const ACTS = { method: 'POST', changes: true, body: 'json' } as const
/** Files and checks record nothing: repeated, they are another file and another check, and a batch of them is the same batch. */
const SPOOLED = { method: 'POST', changes: false, scope: 'files:write' } as const
const CHECK = { ...READS, scope: 'files:write', merchants: 'object' } as const
const PUBLIC = { ...READS, scope: null, merchants: 'none' } as const
const BATCH = { merchants: 'object', scope: 'batches:read' } as const
const STEERED = { ...ACTS, merchants: 'object', scope: 'batches:steer' } as const
const RESULTS = { ...READS, merchants: 'object', scope: 'results:read' } as const

export const ROUTES = {
  livez: { ...PUBLIC, path: '/livez' },
  readyz: { ...PUBLIC, path: '/readyz' },
  openapi: { ...PUBLIC, path: '/openapi.json' },

  uploadFile: { ...SPOOLED, path: '/v1/files', merchants: 'none', body: 'upload' },
  startCheck: { ...SPOOLED, path: '/v1/checks', merchants: 'object', body: 'json' },
  getCheck: { ...CHECK, path: '/v1/checks/:check' },
  listCheckedRows: { ...CHECK, path: '/v1/checks/:check/rows' },
  listFaults: { ...CHECK, path: '/v1/checks/:check/faults' },
  listLookalikes: { ...CHECK, path: '/v1/checks/:check/lookalikes' },
  getRejectsCsv: { ...CHECK, path: '/v1/checks/:check/rejects.csv' },
  submitBatch: { ...ACTS, path: '/v1/batches', scope: 'batches:write', merchants: 'object' },

  listBatches: { ...READS, path: '/v1/batches', scope: 'batches:read', merchants: 'listed' },
  getBatch: { ...READS, ...BATCH, path: '/v1/batches/:batch' },
  listRows: { ...READS, ...BATCH, path: '/v1/batches/:batch/rows' },
  getResultsCsv: { ...RESULTS, path: '/v1/batches/:batch/results.csv' },
  getResultsXlsx: { ...RESULTS, path: '/v1/batches/:batch/results.xlsx' },
  getResultsJsonl: { ...RESULTS, path: '/v1/batches/:batch/results.jsonl' },
  getSummaryCsv: { ...RESULTS, path: '/v1/batches/:batch/summary.csv' },
  pauseBatch: { ...STEERED, path: '/v1/batches/:batch/pause' },
  resumeBatch: { ...STEERED, path: '/v1/batches/:batch/resume' },
  cancelBatch: { ...STEERED, path: '/v1/batches/:batch/cancel' },

  submitInstruction: { ...ACTS, path: '/v1/instructions', scope: 'instructions:write', merchants: 'object' },
  findInstructions: { ...READS, path: '/v1/instructions', scope: 'instructions:read', merchants: 'listed' },
  getHistory: {
    ...{ ...READS, path: '/v1/instructions/:reference/history' },
    ...({ scope: 'instructions:read', merchants: 'object' } as const),
  },

  cancelInstruction: { ...STEERED, path: '/v1/instructions/:reference/cancel' },

  listDoubts: { ...READS, path: '/v1/doubts', scope: 'doubts:read', merchants: 'listed' },
  resolveDoubt: { ...ACTS, path: '/v1/doubts/:row/resolution', scope: 'doubts:resolve', merchants: 'object' },

  listMerchants: { ...READS, path: '/v1/merchants', scope: 'merchants:read', merchants: 'listed' },
  setRate: {
    ...ACTS,
    method: 'PUT',
    path: '/v1/merchants/:merchant/rate',
    scope: 'merchants:steer',
    merchants: 'object',
  },
  resumeMerchant: { ...ACTS, path: '/v1/merchants/:merchant/resume', scope: 'merchants:steer', merchants: 'object' },

  listEvents: { ...READS, path: '/v1/events', scope: 'events:read', merchants: 'listed' },
  listEndpoints: { ...READS, path: '/v1/endpoints', scope: 'endpoints:read', merchants: 'listed' },
  addEndpoint: { ...ACTS, path: '/v1/endpoints', scope: 'endpoints:write', merchants: 'object' },
  removeEndpoint: {
    ...{ ...ACTS, method: 'DELETE', path: '/v1/endpoints/:endpoint', body: 'none' },
    ...({ scope: 'endpoints:write', merchants: 'object' } as const),
  },
  listDeliveries: { ...READS, path: '/v1/deliveries', scope: 'endpoints:read', merchants: 'listed' },
  replayDeliveries: { ...ACTS, path: '/v1/deliveries/replay', scope: 'endpoints:write', merchants: 'object' },

  listAudit: { ...READS, path: '/v1/audit', scope: 'audit:read', merchants: 'listed' },
} as const satisfies Readonly<Record<string, RouteEntry>>
export type RouteName = keyof typeof ROUTES

export function entryOf(name: RouteName): RouteEntry {
  return ROUTES[name]
}
