// The rows of a batch, in the order in which they came.

import * as z from 'zod'
import { gather, onwards } from '../../app/paging.ts'
import type { ReconciliationRow } from '../../domain/reconciliation.ts'
import { resultStatusOf } from '../../domain/states.ts'
import { toJsonRow } from '../../present/rows.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { addRoute } from '../route.ts'
import { BATCH_PARAMS, ROW } from '../schemas.ts'
import { findBatch } from './batches.ts'

/** So many are looked at for one page, where a status is asked for that few of them have. */
const LOOKED_AT_MOST = 10_000
const SOUGHT_AT_ONCE = 500

const STATUSES = ['APPROVED', 'DECLINED', 'FAILED', 'IN_DOUBT', 'CANCELLED', 'INVALID', 'DUPLICATE', 'PENDING'] as const
const ASKED = z.strictObject({ ...PAGING, status: z.enum(STATUSES).optional() })

const positionOf = ({ rowNo }: ReconciliationRow): number => rowNo

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
        const atOnce = query.status === undefined ? query.limit + 1 : SOUGHT_AT_ONCE
        const rows = onwards<ReconciliationRow, number>((last, most) => ledger.rowsAfter(batchId, last ?? 0, most), {
          ...{ after, atOnce, positionOf },
        })
        const found = await gather(rows, {
          ...{ limit: query.limit, most: LOOKED_AT_MOST, positionOf },
          fits: ({ state }) => query.status === undefined || resultStatusOf(state) === query.status,
        })
        return { ...found, data: found.data.map(toJsonRow) }
      })
    },
  })
}
