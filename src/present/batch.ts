// A batch as programs read it, at every door.

import type { ApprovalSheet } from '../domain/approval.ts'
import { type BatchView, sourceOf } from '../domain/batch.ts'
import { isoOf, type Standing } from '../domain/batch-status.ts'
import type { Spelling } from '../domain/words.ts'
import { toJsonApproval } from './approval.ts'
import { commandLine } from './command-line.ts'
import { whyText } from './standing.ts'
import { countsOf, toJsonBatchTotals } from './totals.ts'

function troubleOf({ gatewayHealth }: BatchView): object | null {
  if (gatewayHealth === null) return null
  const { sinceMs, why, openMost, backoffUntilMs } = gatewayHealth
  return {
    since: isoOf(sinceMs),
    why,
    open_most: openMost,
    rest_until: backoffUntilMs === null ? null : isoOf(backoffUntilMs),
  }
}

/** `sheet`: of a batch that waits for approvals, where it was asked for. `spelling`: of the door. */
export function toJsonBatch(
  batch: BatchView,
  { state, why }: Standing,
  sheet: ApprovalSheet | null = null,
  spelling: Spelling = commandLine,
): object {
  const reason = whyText(why, spelling)
  return {
    batch: batch.batchId,
    state,
    ...(reason === null ? {} : { reason }),
    ...(batch.approval === null ? {} : { approval: toJsonApproval(batch.approval, sheet?.digest ?? null) }),
    counts: countsOf(batch),
    totals: toJsonBatchTotals(batch),
    rows: batch.rows,
    source: sourceOf(batch),
    file: batch.fileName,
    file_sha256: batch.fileSha256,
    run_key: batch.runKey,
    merchant: batch.merchant,
    ...(batch.environment === null ? {} : { environment: batch.environment }),
    recorded_at: isoOf(batch.createdAtMs),
    recorded_by: batch.createdBy,
    blocked: batch.blocked,
    late_answers: batch.lateAnswers,
    trouble: troubleOf(batch),
    next_due_at: batch.nextDueAtMs === null ? null : isoOf(batch.nextDueAtMs),
    results: batch.resultsPath,
    results_stale: batch.resultsStale,
  }
}
