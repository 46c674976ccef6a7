// Traces of what is submitted and sent, through OpenTelemetry's interface alone: whoever wants them preloads an SDK. A span has no
// reference, amount or answer, and nothing of a trace goes to the gateway.

import { type Attributes, context, isSpanContextValid, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Verdict } from '../domain/verdict.ts'
import type { AttemptSeen } from '../ports/attempts.ts'
import type { Clock } from '../ports/clock.ts'
import type { Slice } from '../ports/dispatch.ts'
import type { DueRow } from '../ports/ledger/work.ts'

export interface Spans {
  /** Runs `work` within a span of that name; its failure is the span's. */
  within<T>(name: 'batch.submit', work: () => Promise<T>, told: (result: T) => Attributes): Promise<T>
  slice(slice: Slice, work: () => Promise<number>): Promise<number>
  /**
   * Made when it is over, with the times at which it was: a sampler knows the verdict from the start, and may keep every doubt.
   * `merchant`: the name of the account's.
   */
  attempted(merchant: string, row: DueRow, verdict: Verdict, seen: AttemptSeen): void
}

export function createSpans(clock: Clock): Spans {
  const tracer = trace.getTracer('tranche')
  /** Of slices that are traced. */
  const slices = new WeakMap<Slice, Span>()
  return {
    async within(name, work, told) {
      const span = tracer.startSpan(name)
      try {
        const result = await context.with(trace.setSpan(context.active(), span), work)
        span.setAttributes(told(result))
        return result
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR }) // its words may quote the file
        throw error
      } finally {
        span.end()
      }
    },
    async slice(slice, work) {
      const span = tracer.startSpan('slice', { root: true, attributes: { 'tranche.batch': slice.batchId } })
      // Without an SDK there is nothing to make of an attempt either.
      if (!isSpanContextValid(span.spanContext())) return work()
      slices.set(slice, span)
      try {
        const rows = await work()
        span.setAttribute('tranche.rows', rows)
        return rows
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
    attempted(merchant, row, verdict, seen) {
      const parent = slices.get(seen.slice)
      if (parent === undefined) return
      const { askedAtMs, claimedAtMs, startedAtMs, overAtMs, settledAtMs } = seen
      const offsetMs = clock.nowMs() - clock.monotonicMs()
      const begun = trace.setSpan(context.active(), parent)
      const startTime = askedAtMs + offsetMs
      const span = tracer.startSpan(
        'attempt',
        { startTime, attributes: attributesOf(merchant, row, verdict, seen) },
        begun,
      )
      const within = trace.setSpan(begun, span)
      const part = (name: string, fromMs: number, toMs: number) =>
        tracer.startSpan(name, { startTime: fromMs + offsetMs }, within).end(toMs + offsetMs)
      part('claim', askedAtMs, claimedAtMs)
      part('connect', claimedAtMs, startedAtMs ?? overAtMs)
      if (startedAtMs !== null) part('exchange', startedAtMs, overAtMs)
      part('settle', overAtMs, settledAtMs)
      if (seen.outcome.kind === 'unsent' && seen.outcome.why === 'fence')
        span.addEvent('fence_closed', overAtMs + offsetMs)
      if (verdict.kind === 'in-doubt') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(settledAtMs + offsetMs)
    },
  }
}

function attributesOf(merchant: string, row: DueRow, verdict: Verdict, { attempt, outcome }: AttemptSeen): Attributes {
  const httpStatus = outcome.kind === 'unsent' ? null : outcome.httpStatus
  return {
    'tranche.merchant': merchant,
    'tranche.operation': row.instruction.operation,
    'tranche.row': row.rowId,
    'tranche.attempt': attempt,
    'tranche.verdict': verdict.kind,
    ...(verdict.kind === 'approved' && { 'tranche.money_warning': verdict.warnings.some((one) => one.aboutMoney) }),
    ...(httpStatus !== null && { 'http.response.status_code': httpStatus }),
  }
}
