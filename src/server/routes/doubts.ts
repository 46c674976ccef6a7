// Rows in doubt: the worklist, and what somebody found out about one of them.

import * as z from 'zod'
import { resolutionOf, restUntilMsOf } from '../../app/doubts.ts'
import { seesMerchant } from '../../domain/api-key.ts'
import type { DoubtRow, Resolution, Resolved } from '../../domain/doubt.ts'
import { isProblem } from '../../domain/problem.ts'
import { FINDINGS } from '../../domain/resolution.ts'
import { resultStatusOf } from '../../domain/states.ts'
import { spell } from '../../domain/words.ts'
import { toJsonDoubt } from '../../present/doubts.ts'
import { statusWords } from '../../present/rows.ts'
import { callerOf, type Door, type Server } from '../door.ts'
import { httpWays } from '../faults.ts'
import { answerOnce } from '../once.ts'
import { answerPage, PAGING, pageOf } from '../pages.ts'
import { invalidRequest, notFound, ProblemError } from '../problems.ts'
import { addRoute } from '../route.ts'
import { rowNow } from '../row-now.ts'
import { DOUBT, REASON, whole } from '../schemas.ts'
import { readingsOf } from '../traces.ts'

const ASKED = z.strictObject({ ...PAGING, merchant: z.string().max(100).optional() })

export function addDoubts(server: Server, door: Door): void {
  const { app, ledger } = door
  const note = readingsOf(door)
  addRoute(server, 'listDoubts', {
    summary: 'Rows that may have been executed, the oldest first',
    description:
      'Nothing sends them again by itself. Look each one up at the gateway, then say what was found. `proposal`: a person wants it sent again, and another one has to confirm it.',
    query: ASKED,
    replies: { 200: pageOf(DOUBT) },
    async answer({ query, request }) {
      const { key } = callerOf(request)
      return answerPage<object, number>(door, request, query, async (after) => {
        const open = (await ledger.doubts()).filter(
          ({ merchant, rowId }) =>
            seesMerchant(key, merchant) && merchant === (query.merchant ?? merchant) && rowId > (after ?? 0),
        )
        const shown = open.slice(0, query.limit)
        await note(request, { kind: 'worklist', file: 'doubts', rows: shown.length })
        const data = shown.map((row) => show(row, restUntilMsOf(row, app), app.clock.nowMs()))
        return { data, next: open.length > shown.length ? (shown.at(-1)?.rowId ?? null) : null }
      })
    },
  })
  addResolving(server, door)
}

function show(row: DoubtRow, restUntilMs: number, nowMs: number): object {
  const { status: _, ...words } = statusWords('IN_DOUBT')
  return { id: String(row.rowId), state: 'IN_DOUBT', ...words, ...toJsonDoubt(row, restUntilMs, nowMs) }
}

const FOUND = z.strictObject({
  found: z
    .enum(FINDINGS.filter((finding) => finding !== 'send-again'))
    .describe('not-executed ends the row as FAILED. That it is sent once more is for a person to decide.'),
  attempt: whole.min(1).describe('The attempt that was looked up.'),
  transaction_id: z.string().max(40).optional().describe('As found at the gateway.'),
  reason: REASON,
})
const RESOLVED = z.object({
  id: z.string(),
  batch: z.string(),
  row: whole,
  status: z.string(),
  already: z.boolean().describe('It stood there before; nothing was changed.'),
  paused: z
    .array(z.string())
    .describe(
      'Other batches that were paused by it, because a row waits there that asks for the same; not told again.',
    ),
})

function addResolving(server: Server, door: Door): void {
  addRoute(server, 'resolveDoubt', {
    summary: 'Say what was found out about a row in doubt',
    description: 'Kept in the history with the key and the reason. `row` is the id of the doubt.',
    params: z.strictObject({ row: z.string().regex(/^[1-9]\d{0,15}$/) }),
    body: FOUND,
    replies: { 200: RESOLVED },
    answer: async ({ params, body, request, reply }) => {
      const { key, actor } = callerOf(request)
      let paused: readonly string[] = []
      return answerOnce(door, request, reply, {
        async act(once) {
          const doubt = (await door.ledger.doubts()).find(({ rowId }) => String(rowId) === params.row)
          if (doubt === undefined || !seesMerchant(key, doubt.merchant))
            throw notFound('There is no such row in doubt in this ledger.')
          const resolution = resolutionIn(doubt, body, door)
          const resolved = assertTaken(await once.resolve(resolution, actor, door.app.clock.nowMs()))
          if (resolved.kind === 'resolved') ({ paused } = resolved)
          return { kind: resolved.kind, batch: resolved.batchId, row: resolved.rowNo }
        },
        async show(subject) {
          const { kind, batch, row } = subject
          const status = resultStatusOf((await rowNow(door, subject)).state)
          return { id: params.row, batch, row, status, already: kind === 'already', paused }
        },
      })
    },
  })
}

function resolutionIn(
  doubt: DoubtRow,
  { found, attempt, transaction_id, reason }: z.output<typeof FOUND>,
  { app }: Door,
): Resolution {
  const said = { finding: found, attempt, transactionId: transaction_id ?? null, reason }
  const made = resolutionOf(doubt, said, app)
  if (!isProblem(made)) return made
  throw invalidRequest([{ path: ['transaction_id'], detail: `${made.problem}; ${made.remedy}` }], true)
}

function assertTaken(resolved: Resolved): Exclude<Resolved, { kind: 'refused' }> {
  if (resolved.kind !== 'refused') return resolved
  const detail = `${spell(resolved.reason, httpWays)}. Nothing was changed.`
  throw new ProblemError(resolved.why === 'too-early' ? 'doubt_too_early' : 'refused', detail)
}
