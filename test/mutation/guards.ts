// Every guard on the money path, the edit that takes it out, and the tests that must fail then.

import { assert } from '../../src/domain/fault.ts'

export interface Guard {
  readonly name: string
  readonly file: string
  /** Stands exactly once in the file. */
  readonly guard: string
  /** What stands there when the guard is out. */
  readonly without: string
  readonly tests: readonly string[]
}

export function withoutGuard(whole: string, { guard, without }: Guard): string {
  assert(whole.includes(guard), `the guard is not there: ${guard}`)
  return whole.replace(guard, () => without)
}

const SLICE = 'test/processors/execute-slice.test.ts'
const GATE = 'test/processors/gate.test.ts'
const TICK = 'test/processors/tick.test.ts'
const CLIENT = 'test/gateway/client.integration.test.ts'
const LEDGER = 'test/ledger/ledger.integration.test.ts'
const COMMIT = 'test/ledger/commit.test.ts'
const VERDICT = 'test/domain/verdict.test.ts'
const PACE = 'test/domain/pace.test.ts'
const PACER = 'test/processors/pacer.test.ts'
const COPIES = 'test/ledger/copies.integration.test.ts'
const COPIED = 'test/e2e/copies.e2e.test.ts'
const WINDOW = 'test/domain/window.test.ts'
const WORKBOOK = 'test/ingest/workbook.integration.test.ts'
const FORMATS = 'test/results/formats.integration.test.ts'
const FORMATS_RUN = 'test/e2e/formats.e2e.test.ts'

export const GUARDS: readonly Guard[] = [
  // ─────────────────────────────────────────────── Before the first byte
  {
    name: 'the fence holds back what is late by the wall clock',
    file: 'src/processors/send-by.ts',
    guard: 'nowMs - wallMs > SEND_WITHIN_MS || ',
    without: '',
    tests: [SLICE],
  },
  {
    name: 'the fence holds back what is late by the monotonic clock',
    file: 'src/processors/send-by.ts',
    guard: ' || clock.monotonicMs() - monotonicMs > SEND_WITHIN_MS',
    without: '',
    tests: [SLICE],
  },
  {
    name: 'the fence holds back when the wall clock ran backwards',
    file: 'src/processors/send-by.ts',
    guard: 'return nowMs < wallMs || ',
    without: 'return ',
    tests: [SLICE],
  },
  {
    name: 'the send-by counts from before the claim is handed to the ledger',
    file: 'src/processors/execute-slice.ts',
    guard: "  if (claim.kind !== 'claimed') return false\n",
    without: "  if (claim.kind !== 'claimed') return false\n  Object.assign(sendBy, openSendBy(clock))\n",
    tests: [SLICE],
  },
  {
    name: 'nothing is sent without a claim',
    file: 'src/processors/execute-slice.ts',
    guard: "if (claim.kind !== 'claimed') return false",
    without: "if (claim.kind === 'not-written') return false",
    tests: [SLICE],
  },
  {
    name: 'nothing is sent where the claim could not be written',
    file: 'src/processors/execute-slice.ts',
    guard: "if (claim.kind !== 'claimed') return false",
    without: "if (claim.kind === 'not-free') return false",
    tests: [SLICE],
  },
  {
    name: 'what the fence holds back leaves no byte',
    file: 'src/gateway/attempt.ts',
    guard: "else controller.abort(new Error('held back'))",
    without: '',
    tests: [CLIENT],
  },
  {
    name: 'an attempt that was given up is not sent when its connection comes',
    file: 'src/gateway/attempt.ts',
    guard: 'if (this.isWaiting) this.#start(controller)\n    else controller',
    without: 'if (refusal === null) this.#start(controller)\n    else controller',
    tests: [CLIENT],
  },
  {
    name: 'a fence that throws holds back',
    file: 'src/gateway/attempt.ts',
    guard: "return { why: 'fence', detail: `held back before the first byte: ${(error as Error).message}` }",
    without: 'return null',
    tests: [CLIENT],
  },
  {
    name: 'connections are fresh',
    file: 'src/gateway/client.ts',
    guard: 'pipelining: isFresh ? 0 : 1',
    without: 'pipelining: 1',
    tests: [CLIENT],
  },
  // ─────────────────────────────────────────────── The claim
  {
    name: 'a claim needs a row that is READY',
    file: 'src/ledger/work.ts',
    guard: "WHERE id = ? AND state = 'READY' AND attempt = ?",
    without: 'WHERE id = ? AND attempt = ?',
    tests: [LEDGER],
  },
  {
    name: 'a claim names the attempt that was seen',
    file: 'src/ledger/work.ts',
    guard: "state = 'READY' AND attempt = ? AND due_at",
    without: "state = 'READY' AND coalesce(?, 0) >= 0 AND due_at",
    tests: [LEDGER],
  },
  {
    name: 'a claim needs a row that is due',
    file: 'src/ledger/work.ts',
    guard: 'attempt = ? AND due_at <= ?\n',
    without: 'attempt = ? AND coalesce(?, 0) >= 0\n',
    tests: [LEDGER],
  },
  {
    name: 'a claim needs a batch that is not held',
    file: 'src/ledger/work.ts',
    guard: "WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL AND",
    without: "WHERE b.id = i.batch_id AND b.stage = 'open' AND a.stopped_reason IS NULL AND",
    tests: [LEDGER],
  },
  {
    name: 'a claim needs an account that is not stopped',
    file: 'src/ledger/work.ts',
    guard: "WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold = 'none' AND a.stopped_reason IS NULL AND",
    without: "WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold = 'none' AND",
    tests: [LEDGER],
  },
  {
    name: 'a claim needs a row within the canary',
    file: 'src/ledger/work.ts',
    guard: 'a.stopped_reason IS NULL AND ${WITHIN_CANARY})',
    without: 'a.stopped_reason IS NULL)',
    tests: [LEDGER],
  },
  {
    name: 'a claim needs an order of which no row is under way or in doubt',
    file: 'src/ledger/rows.ts',
    guard: "NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state IN ('SENDING', 'IN_DOUBT'))\n  AND ",
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a claim needs an order of which no earlier row waits',
    file: 'src/ledger/rows.ts',
    guard:
      "\n  AND NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND e.id < i.id AND coalesce(e.execute_at, 0) <= ?",
    without:
      "\n  AND NOT EXISTS (SELECT 1 ${OF_ITS_ORDER} AND e.state = 'READY' AND 0 AND coalesce(e.execute_at, 0) <= ?",
    tests: [LEDGER],
  },
  {
    name: 'nobody is told before the commit',
    file: 'src/ledger/commit.ts',
    guard: '      for (const end of endings) end()\n      commit.run()\n',
    without:
      '      for (const end of endings) end()\n      for (const entry of entries) entry.committed()\n      commit.run()\n',
    tests: [COMMIT, LEDGER],
  },
  {
    name: 'a settlement that could not be written is kept',
    file: 'src/ledger/commit.ts',
    guard: "              case 'kept':\n                return false",
    without: "              case 'kept':\n                return true",
    tests: [COMMIT],
  },
  {
    name: 'what a rolled back transaction counted is forgotten',
    file: 'src/ledger/tally.ts',
    guard: '  committer.afterRollback(forget)\n',
    without: '',
    tests: ['test/ledger/tally.test.ts'],
  },
  // ─────────────────────────────────────────────── The verdict
  {
    name: 'no answer is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "return { kind: 'in-doubt', reason: `${outcome.detail}; it may have been executed`, facts: null }",
    without: "return { kind: 'unsent', reason: outcome.detail, signal: 'trouble', retryAfterMs: null }",
    tests: [VERDICT],
  },
  {
    name: 'a code that proves nothing is in doubt',
    file: 'src/domain/verdict.ts',
    guard:
      "return { kind: 'in-doubt', reason: `${why} (HTTP ${httpStatus}${said}); it may have been executed`, facts: null }",
    without: "return { kind: 'unsent', reason: why, signal: 'trouble', retryAfterMs: null }",
    tests: [VERDICT],
  },
  {
    name: 'an unknown status is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "if (status !== 'APPROVED' && status !== 'DECLINED')",
    without: "if (status === '')",
    tests: [VERDICT],
  },
  {
    name: 'a status that contradicts its code is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "if (!(is2xx || (is4xx && status === 'DECLINED')))",
    without: 'if (!is2xx && !is4xx && false)',
    tests: [VERDICT],
  },
  {
    name: 'the answer of another request is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "if (echo.kind === 'wrong') return doubt(`the answer belongs to another request: ${echo.what}`)",
    without: '',
    tests: [VERDICT],
  },
  {
    name: 'a status without an echo over a kept-alive connection is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "if (echo.kind === 'absent' && outcome.connection === 'warm') {",
    without: "if (echo.kind === 'absent' && outcome.connection === 'warm' && outcome.httpStatus === 0) {",
    tests: [VERDICT],
  },
  {
    name: 'an answer that names only the order needs a transaction over a kept-alive connection',
    file: 'src/domain/verdict.ts',
    guard: "outcome.connection === 'warm' && echoesOrder(judging.instruction.operation) && !hasTransaction(facts)",
    without: "outcome.connection === 'warm' && outcome.httpStatus === 0",
    tests: [VERDICT],
  },
  {
    name: 'a decline after a doubt is in doubt',
    file: 'src/domain/verdict.ts',
    guard: '    if (judging.everInDoubt)\n      return doubt(`DECLINED',
    without: '    if (judging.everInDoubt && false)\n      return doubt(`DECLINED',
    tests: [VERDICT],
  },
  {
    name: 'a refusal after a doubt is in doubt',
    file: 'src/domain/verdict.ts',
    guard: "    if (judging.everInDoubt)\n      return { kind: 'in-doubt', reason: `${reason}, but",
    without: "    if (judging.everInDoubt && false)\n      return { kind: 'in-doubt', reason: `${reason}, but",
    tests: [VERDICT],
  },
  {
    name: 'a row refused three times is not given up as failed after a doubt',
    file: 'src/processors/execute-slice.ts',
    guard: '      if (row.everInDoubt)\n',
    without: '      if (row.everInDoubt && false)\n',
    tests: [SLICE],
  },
  {
    name: 'an answer cut short is no answer',
    file: 'src/gateway/answer.ts',
    guard: '  } catch {\n    return null\n  }',
    without: "  } catch {\n    return { TRANS_STATUS_NAME: 'APPROVED' }\n  }",
    tests: ['test/gateway/answer.test.ts', CLIENT],
  },
  {
    name: 'a field that an answer names twice makes it no answer',
    file: 'src/gateway/answer.ts',
    guard: '  if (countMembers(json) !== members.length) return null\n',
    without: '',
    tests: ['test/gateway/answer.test.ts'],
  },
  {
    name: 'a deadline lets an answer be read that lies in the socket',
    file: 'src/gateway/connect.ts',
    guard: 'setImmediate(() => setImmediate(then))',
    without: 'then()',
    tests: [CLIENT],
  },
  // ─────────────────────────────────────────────── Settling, sweeping, resolving
  {
    name: 'a settlement names its attempt',
    file: 'src/ledger/settle.ts',
    guard: '    if (row.attempt !== attempt) return null\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a transaction settles one row',
    file: 'src/ledger/settle.ts',
    guard: '    return other === undefined || other.id === row.id\n      ? null\n',
    without: '    return other === undefined || other.id !== -1\n      ? null\n',
    tests: [LEDGER],
  },
  {
    name: 'a doubt is remembered by the row',
    file: 'src/ledger/settle.ts',
    guard: "      to === 'IN_DOUBT' ? 1 : 0,\n",
    without: '      0,\n',
    tests: [LEDGER],
  },
  {
    name: 'a late answer is kept beside the row',
    file: 'src/ledger/settle.ts',
    guard: '    noteLate.run(row.batch_id)\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a row of a cancelled batch that was not sent is cancelled',
    file: 'src/ledger/settle.ts',
    guard: "return to === 'READY' && row.hold === 'cancelled' ? { to: 'CANCELLED', cause } : { to, cause }",
    without: 'return { to, cause }',
    tests: [LEDGER],
  },
  {
    name: 'no move is made that the table does not have',
    file: 'src/ledger/moves.ts',
    guard: '    assert(canMove(row.state, to, cause), `no move from ${row.state} to ${to} by ${cause}`)\n',
    without: '',
    tests: ['test/ledger/moves.test.ts'],
  },
  {
    name: 'what a dead process was sending comes into doubt',
    file: 'src/ledger/sweep.ts',
    guard: "UPDATE instruction SET state = 'IN_DOUBT', ever_in_doubt = 1,",
    without: "UPDATE instruction SET state = 'READY', ever_in_doubt = 1,",
    tests: [LEDGER],
  },
  {
    name: 'a sweep leaves alone what is in hand',
    file: 'src/ledger/sweep.ts',
    guard: '!inHand.has(id as RowId)',
    without: 'id > 0',
    tests: [TICK],
  },
  {
    name: 'a sweep waits for the answer-by',
    file: 'src/ledger/sweep.ts',
    guard: 'AND i.answer_by < ?',
    without: 'AND i.answer_by < ? + 1e12',
    tests: [TICK],
  },
  {
    name: 'a doubt rests before it can be called not executed',
    file: 'src/ledger/doubts.ts',
    guard: 'if (needsRest(finding) && nowMs < restEndsMs) {',
    without: 'if (needsRest(finding) && nowMs < 0) {',
    tests: [LEDGER],
  },
  {
    name: 'a finding judges the attempt that was looked up',
    file: 'src/ledger/doubts.ts',
    guard: 'if (attempt !== null && attempt !== row.attempt) {',
    without: 'if (attempt === -1) {',
    tests: [LEDGER],
  },
  {
    name: 'a finding cannot use a transaction twice',
    file: 'src/ledger/doubts.ts',
    guard: 'if (other === undefined || other.id === row.id) return null',
    without: 'if (other === undefined || other.id !== -1) return null',
    tests: [LEDGER],
  },
  {
    name: 'nothing of a cancelled batch is sent again',
    file: 'src/ledger/doubts.ts',
    guard: "if (finding === 'send-again' && row.hold === 'cancelled') {",
    without: "if (finding === 'send-again' && row.hold === 'none' && row.id < 0) {",
    tests: [LEDGER],
  },
  // ─────────────────────────────────────────────── Brakes
  {
    name: 'ten doubts pause the account',
    file: 'src/ledger/pauses.ts',
    guard: 'if (doubts < DOUBTS_BEFORE_PAUSE) return null',
    without: 'if (doubts > 0) return null',
    tests: [LEDGER],
  },
  {
    name: 'another amount than asked pauses the batch',
    file: 'src/ledger/pauses.ts',
    guard: "to === 'APPROVED' && settlement.warnsOfMoney ? forMoney",
    without: "to === 'DECLINED' && settlement.warnsOfMoney ? forMoney",
    tests: [LEDGER],
  },
  {
    name: 'a canary pauses the batch at its end',
    file: 'src/ledger/pauses.ts',
    guard: '      endCanary(row, atMs),\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a finding judges the very row that was looked up',
    file: 'src/ledger/doubts.ts',
    guard: '    if (another !== null) return another\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a canary ends with its last row, even where that is swept',
    file: 'src/ledger/sweep.ts',
    guard: '      endCanary(row, nowMs)\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a row behind one that a canary keeps back is not due by itself',
    file: 'src/ledger/rows.ts',
    guard: " OR NOT ${withinCanary('e', 'eb')}",
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a canary does not wait for a row that waits for it',
    file: 'src/ledger/rows.ts',
    guard: "(e.batch_id <> i.batch_id OR ${withinCanary('e', 'eb')})",
    without: '1',
    tests: [LEDGER],
  },
  {
    name: 'a canary counts among what may block a row',
    file: 'src/ledger/book.ts',
    guard: "WHERE hold = 'paused' OR canary_rows IS NOT NULL) AS n",
    without: "WHERE hold = 'paused') AS n",
    tests: [LEDGER],
  },
  {
    name: 'too many declines pause the batch',
    file: 'src/ledger/pauses.ts',
    guard: '!isOverLimit(recent, row.max_declined)',
    without: 'recent.length >= 0',
    tests: [LEDGER],
  },
  {
    name: 'trouble closes the window to one',
    file: 'src/domain/window.ts',
    guard: '{ ...window, size: 1, troubles: window.troubles + 1 }',
    without: '{ ...window, troubles: window.troubles + 1 }',
    tests: [WINDOW, GATE],
  },
  {
    name: 'a gate that rests lets nobody in',
    file: 'src/processors/gate.ts',
    guard: '    if (isResting(window, clock.monotonicMs())) {\n',
    without: '    if (isResting(window, Number.POSITIVE_INFINITY)) {\n',
    tests: [GATE],
  },
  {
    name: 'the window bounds what is open',
    file: 'src/processors/gate.ts',
    guard: 'while (open < window.size) {',
    without: 'while (open < 1_000) {',
    tests: [GATE],
  },
  // ─────────────────────────────────────────────── The rate
  {
    name: 'the rate has the last word where the first byte leaves',
    file: 'src/processors/pacer.ts',
    guard: "        if (pace !== null && !mayLeave(pace, startsMs, nowMs)) return 'pace'\n",
    without: '',
    tests: [PACER],
  },
  {
    name: 'below one a second a start is a whole interval from the next',
    file: 'src/domain/pace.ts',
    guard: 'return Math.max(1000, 1000 / pace.perSecond)',
    without: 'return 1000',
    tests: [PACE],
  },
  {
    name: 'the first second of a rate is empty',
    file: 'src/domain/pace.ts',
    guard: 'dueAtMs: nowMs + 1000,',
    without: 'dueAtMs: nowMs,',
    tests: [PACE, PACER],
  },
  {
    name: 'quiet gives no credit',
    file: 'src/domain/pace.ts',
    guard: 'return nowMs - pace.dueAtMs > CAUGHT_UP_MS ? nowMs : pace.dueAtMs',
    without: 'return Math.min(nowMs + 1e9, pace.dueAtMs)',
    tests: [PACE],
  },
  {
    name: 'moments do not come in bursts',
    file: 'src/domain/pace.ts',
    guard: 'Math.max(pace.dueAtMs, pace.lastAtMs + NEAREST * pace.intervalMs, fullUntil(pace, takenMs))',
    without: 'Math.max(pace.dueAtMs, fullUntil(pace, takenMs))',
    tests: [PACE],
  },
  {
    name: 'what left under no rate counts when one is set',
    file: 'src/processors/pacer.ts',
    guard: '        remember(startsMs, nowMs)\n',
    without: '        if (pace !== null) remember(startsMs, nowMs)\n',
    tests: [PACER],
  },
  {
    name: 'whoever stands ready is judged by the rate that was set meanwhile',
    file: 'src/processors/pacer.ts',
    guard: '    exit.turnAllAway()\n',
    without: '',
    tests: [PACER],
  },
  {
    name: 'a request leaves at its moment on the connection that stands',
    file: 'src/gateway/client.ts',
    guard: 'connect: isFresh ? onMoment(connector.connect, moment) : connector.connect,',
    without: 'connect: connector.connect,',
    tests: [CLIENT],
  },
  // ─────────────────────────────────────────────── Copies
  {
    name: 'a ledger with another inode is not the one',
    file: 'src/ledger/identity.ts',
    guard: 'inode !== inodeOf(path)',
    without: 'inode === null',
    tests: [COPIES],
  },
  {
    name: 'a ledger with another epoch is not the one',
    file: 'src/ledger/identity.ts',
    guard: '!epochs.includes(beside.epoch)',
    without: 'epochs.length === 0',
    tests: [COPIES],
  },
  {
    name: 'whoever sends looks whether the ledger is the one',
    file: 'src/app.ts',
    guard: "lock.kind === 'taken' ? await ledger.alarm() : null",
    without: 'null',
    tests: [COPIED],
  },
  {
    name: 'an epoch is renewed when work ends',
    file: 'src/processors/work-off.ts',
    guard: '      await epoch.stop()\n',
    without: '',
    tests: [COPIED],
  },
  {
    name: 'what a restored ledger had ready comes into doubt',
    file: 'src/ledger/adopt.ts',
    guard: "for (const state of ['SENDING', 'READY'] as const)",
    without: "for (const state of ['SENDING'] as const)",
    tests: [COPIES],
  },
  {
    name: 'a restored row rests from the moment of its adoption',
    file: 'src/ledger/adopt.ts',
    guard: 'sent_at = NULL, send_by = NULL, ',
    without: '',
    tests: [COPIES],
  },
  {
    name: 'a commit into a file that is gone is told to nobody',
    file: 'src/ledger/commit.ts',
    guard: '      inPlace() // not before: between the look and the commit the file could go, and a claim with it\n',
    without: '',
    tests: [COMMIT],
  },
  // ─────────────────────────────────────────────── Taking in
  {
    name: 'a reference names one instruction',
    file: 'src/ledger/draft.ts',
    guard: "    WHERE d.state = 'READY' AND d.content <> i.content`).run(account)",
    without: "    WHERE d.state = 'READY' AND d.content <> i.content AND 0`).run(account)",
    tests: [LEDGER],
  },
  {
    name: 'a recorded instruction is not accepted again',
    file: 'src/ledger/draft.ts',
    guard:
      "UPDATE temp.draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = ?\n    FROM instruction i\n    WHERE d.state = 'READY' AND d.supersedes IS NULL",
    without:
      "UPDATE temp.draft_row AS d SET state = 'DUPLICATE', holds_reference = 0, duplicate_of = i.id, completed_at = ?\n    FROM instruction i\n    WHERE d.state = 'READY' AND 0 AND d.supersedes IS NULL",
    tests: [LEDGER],
  },
  {
    name: 'a row of which a late answer told is not run again',
    file: 'src/ledger/draft.ts',
    guard: 'AND d.content = i.content AND i.money_warning = 0 AND i.state IN',
    without: 'AND d.content = i.content AND i.state IN',
    tests: [LEDGER],
  },
  {
    name: 'a row that runs again remembers its doubts',
    file: 'src/ledger/draft.ts',
    guard: 'attempt = i.attempt, ever_in_doubt = i.ever_in_doubt',
    without: 'attempt = i.attempt',
    tests: [LEDGER],
  },
  {
    name: 'a message that came after the review is compared',
    file: 'src/ledger/draft.ts',
    guard: '      if (newcomer.get(seen.id, Number(header.accountId)) !== undefined) return false\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a draft is invisible until it is whole',
    file: 'src/ledger/work.ts',
    guard: "WHERE b.id = i.batch_id AND b.stage = 'open' AND b.hold",
    without: 'WHERE b.id = i.batch_id AND b.hold',
    tests: [LEDGER],
  },
  // ─────────────────────────────────────────────── Workbooks in, and the forms of results
  {
    name: 'a cell that a workbook stores otherwise than as text is no id and no moment',
    file: 'src/ingest/instruct.ts',
    guard: 'kindProblem(field, this.kind(field)) ?? ',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'a reference that a workbook stores as a number is none',
    file: 'src/ingest/rows.ts',
    guard: 'damagedReference(header, record) ?? ',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'a formula that was never computed is no empty cell',
    file: 'src/ingest/sheet.ts',
    guard: "return 'not-computed'\n",
    without: 'return null\n',
    tests: [WORKBOOK],
  },
  {
    name: 'a number of a workbook has a point, whatever sign the file has',
    file: 'src/ingest/instruct.ts',
    guard: "row.kind('amount') === 'number' ? '.' : reading.decimal",
    without: 'reading.decimal',
    tests: [WORKBOOK],
  },
  {
    name: 'a number of a workbook is the 15 digits that are shown',
    file: 'src/ingest/cell.ts',
    guard: 'number.toExponential(SPREADSHEET_DIGITS - 1)',
    without: 'number.toExponential()',
    tests: [WORKBOOK],
  },
  {
    name: 'a day that a workbook stores as a number is no amount',
    file: 'src/ingest/sheet.ts',
    guard: 'return isDate ? ',
    without: 'return false ? ',
    tests: [WORKBOOK],
  },
  {
    name: 'of two sheets with rows neither is guessed',
    file: 'src/ingest/workbook.ts',
    guard: 'if (filled.length === 1) return first.sheet',
    without: 'return first.sheet',
    tests: [WORKBOOK],
  },
  {
    name: 'a card number whose last digit a spreadsheet lost refuses the file',
    file: 'src/ingest/card.ts',
    guard: "kind === 'number' && isRoundedPan",
    without: "kind === 'error' && isRoundedPan",
    tests: [WORKBOOK],
  },
  {
    name: 'the second reading of a workbook is of the same bytes',
    file: 'src/ingest/rows.ts',
    guard: 'if (again.sha256() !== survey.sha256) throw changed()\n',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'of two parts of one name neither is read',
    file: 'src/ingest/zip.ts',
    guard: 'if (entries.has(key)) throw damaged()\n',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'what is inflated is what the archive promises',
    file: 'src/ingest/zip.ts',
    guard: ' || crc !== entry.crc',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'what is inflated is counted',
    file: 'src/ingest/zip.ts',
    guard: 'if (budget.leftBytes < 0) throw tooLarge()\n',
    without: '',
    tests: [WORKBOOK],
  },
  {
    name: 'results that do not fit are refused before anything is recorded',
    file: 'src/commands/run.ts',
    guard: '    await checkRoom([given.out, exceptions], opened.rows, opened.file.columns.length)\n',
    without: '',
    tests: [FORMATS_RUN],
  },
  {
    name: 'an extract by status is not taken for the reconciliation',
    file: 'src/app.ts',
    guard: 'if (sinceMs === null && only === null) await ledger',
    without: 'if (sinceMs === null) await ledger',
    tests: [FORMATS_RUN],
  },
  {
    name: 'exceptions are not written over the results',
    file: 'src/results/out.ts',
    guard: 'path === paths.path || path === paths.summaryPath',
    without: 'path === paths.summaryPath',
    tests: [FORMATS],
  },
  {
    name: 'a text that looks like an escape of a workbook is escaped',
    file: 'src/results/workbook-file.ts',
    guard: '|_(?=x[0-9A-Fa-f]{4}_)',
    without: '',
    tests: [FORMATS],
  },
]
