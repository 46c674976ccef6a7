// Requests that must have their effect once: that one had it is written in the transaction of the effect itself.

import { type ApiRequest, type KeptRequest, REQUESTS_KEPT_MS, RequestRepeated } from '../../../domain/api-request.ts'
import { isoOf } from '../../../domain/batch-status.ts'
import type { Resolved } from '../../../domain/doubt.ts'
import { Fault } from '../../../domain/fault.ts'
import type { IntakeAnswer } from '../../../domain/message.ts'
import type { OnceLedger, RequestLedger } from '../../../ports/ledger/requests.ts'
import { type Engine, FAULTING } from '../engine.ts'
import { deliveriesOn } from '../events/deliveries.ts'
import { endpointsOn } from '../events/endpoints.ts'
import { type IntakeParts, intakeOn } from '../intake/intake.ts'
import { change, one, type Script } from '../script.ts'
import { controlOn } from '../work/control.ts'
import { doubtsOn, type SetForward } from '../work/doubts.ts'
import type { Looks } from '../work/looks.ts'
import { keysOn } from './keys.ts'

export interface RequestParts {
  readonly looks: Looks
  readonly setForward: SetForward
  readonly intake: IntakeParts
  readonly ledgerId: string
}

export function requestsOn(engine: Engine, { looks, setForward, intake, ledgerId }: RequestParts): RequestLedger {
  return {
    keptRequest: (request) => engine.read(() => keptOf(request)),
    once(request): OnceLedger {
      const control = () => controlOn(noting(engine, request), looks)
      const doubts = () => doubtsOn(noting(engine, request), setForward, looks)
      const endpoints = () => endpointsOn(noting(engine, request), ledgerId)
      return {
        pause: (...asked) => control().pause(...asked),
        resume: (...asked) => control().resume(...asked),
        cancel: (...asked) => control().cancel(...asked),
        cancelRow: (...asked) => control().cancelRow(...asked),
        resumeAccount: (...asked) => control().resumeAccount(...asked),
        setRate: (...asked) => control().setRate(...asked),
        resolve: (...asked) => doubts().resolve(...asked),
        refuseProposal: (...asked) => doubts().refuseProposal(...asked),
        addKey: (...asked) => keysOn(noting(engine, request)).addKey(...asked),
        addEndpoint: (...asked) => endpoints().addEndpoint(...asked),
        removeEndpoint: (...asked) => endpoints().removeEndpoint(...asked),
        rotateSecret: (...asked) => endpoints().rotateSecret(...asked),
        enableEndpoint: (...asked) => endpoints().enableEndpoint(...asked),
        pingEndpoint: (...asked) => endpoints().pingEndpoint(...asked),
        replay: (...asked) => deliveriesOn(noting(engine, request), ledgerId).replay(...asked),
        recordMessage: (message) => intakeOn(noting(engine, request), intake).recordMessage(message),
      }
    },
    keepRequest: (request, subject) =>
      engine.write(function* () {
        if ((yield* keptOf(request)) !== null) return false
        yield* keep(request, subject)
        return true
      }, FAULTING),
  }
}

/** The first thing that it writes, and no other, is the effect: what a cancel leaves to do follows in transactions of its own. */
function noting(engine: Engine, request: ApiRequest): Engine {
  let isNoted = false
  return {
    read: engine.read,
    async write(script, mode) {
      if (isNoted) return engine.write(script, mode)
      const result = await engine.write(function* (book) {
        if ((yield* keptOf(request)) !== null) throw new RequestRepeated()
        const found = yield* script(book)
        const subject = subjectOf(found as Effect)
        if (subject !== null) yield* keep(request, subject)
        return found
      }, mode)
      isNoted = subjectOf(result as Effect) !== null
      return result
    },
  }
}

/** What the acts of `OnceLedger` come to in their transactions. */
type Effect = null | undefined | boolean | number | string | Fault | IntakeAnswer | Resolved

/** null: nothing was changed. */
function subjectOf(found: Effect): KeptRequest['subject'] | null {
  if (found === null || found === undefined || found === true) return {}
  if (found === false || found === 0) return null
  if (typeof found === 'number') return { count: found }
  if (typeof found === 'string' && found !== 'held-by-draft') return { id: found }
  if (found instanceof Fault || found === 'held-by-draft' || found.kind === 'refused') return null
  const { batchId: batch, rowNo: row, kind } = found
  return { kind, batch, row, ...(kind === 'duplicate' && { first_at: isoOf(found.recordedAtMs) }) }
}

const KEPT = `
    SELECT sha256, subject FROM api_request
    WHERE holder = :holder AND target = :target AND idempotency_key = :key AND at > :since`

function* keptOf(request: ApiRequest): Script<KeptRequest | null> {
  const { holder, target, key, nowMs } = request
  const since = nowMs - REQUESTS_KEPT_MS
  const found = yield* one<{ sha256: string; subject: string }>(KEPT, { holder, target, key, since })
  return found === undefined ? null : { sha256: found.sha256, subject: JSON.parse(found.subject) }
}

const KEEP = `
    INSERT INTO api_request (holder, target, idempotency_key, sha256, subject, at)
    VALUES (:holder, :target, :key, :sha256, :told, :nowMs)`

/** The old ones go, so that one that comes after them finds its place free. */
function* keep(request: ApiRequest, subject: KeptRequest['subject']): Script<void> {
  const { holder, target, key, sha256, nowMs } = request
  yield* change('DELETE FROM api_request WHERE at <= :since', { since: nowMs - REQUESTS_KEPT_MS })
  yield* change(KEEP, { holder, target, key, sha256, told: JSON.stringify(subject), nowMs })
}
