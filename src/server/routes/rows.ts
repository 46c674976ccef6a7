// The rows of a batch, in the order in which they came.

import * as z from 'zod'
import { rowsPage } from '../../app/paging.ts'
import { toJsonRow } from '../../present/rows.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { addRoute } from '../route.ts'
import { BATCH_PARAMS, ROW } from '../schemas.ts'
import { findBatch } from './batches.ts'

const STATUSES = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'PENDING'] as const
const ASKED = z.strictObject({ ...PAGING, status: z.enum(STATUSES).optional() })

export function addRows(server: Server, door: Door): void {
  const { ledger } = door
  addRoute(server, 'listRows', {
    summary: 'The rows of a batch',
    description: 'PENDING finds those that are being sent as well. Whole reconciliations are in its results.',
    params: BATCH_PARAMS,
    query: ASKED,
    replies: { 200: pageOf(ROW) },
    async answer({ params, query, request }) {
      const { batchId } = await findBatch(ledger, params.batch, callerOf(request).key)
      return answerPage<object, number>(door, request, query, async (after) => {
        const status = query.status ?? null
        const found = await rowsPage(ledger, batchId, { after: after ?? 0, limit: query.limit, only: status })
        return { ...found, data: found.data.map(toJsonRow) }
      })
    },
  })
}
