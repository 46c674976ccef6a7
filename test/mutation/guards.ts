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
const INBOX = 'test/ingest/inbox.integration.test.ts'
const INBOX_PASS = 'test/processors/work-inbox.integration.test.ts'
const INBOX_USED = 'test/e2e/inbox.e2e.test.ts'
const COPIES = 'test/ledger/copies.integration.test.ts'
const COPIED = 'test/e2e/copies.e2e.test.ts'
const FED_BACK = 'test/processors/fed-back.integration.test.ts'
const CORPUS = 'test/ingest/corpus.integration.test.ts'
const COLUMNS = 'test/ingest/columns.test.ts'
const MOMENT = 'test/ingest/moment.test.ts'
const READING = 'test/e2e/reading.e2e.test.ts'
const WINDOW = 'test/domain/window.test.ts'
const SUBMISSION = 'test/domain/submission.test.ts'
const REJECTS = 'test/results/rejects.integration.test.ts'
const WRITING = 'test/results/write.integration.test.ts'
const SUBMITTING = 'test/processors/submit-file.integration.test.ts'

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
  // ─────────────────────────────────────────────── The inbox
  {
    name: 'inbox: a file is moved only after it was looked through for card data',
    file: 'src/processors/work-inbox.ts',
    guard: "if (finding.kind === 'none') {\n        file =",
    without: 'if (finding.kind !== undefined) {\n        file =',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: card data that comes into a taken file sends it back',
    file: 'src/processors/work-inbox.ts',
    guard: "if (finding.kind === 'none') return reject(",
    without: 'if (finding.kind !== undefined) return reject(',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: what cannot be read is looked through for card numbers as it stands',
    file: 'src/ingest/card-scan.ts',
    guard: '  if (await holdsNumber(file)) return A_NUMBER\n',
    without: '',
    tests: ['test/ingest/card-scan.integration.test.ts'],
  },
  {
    name: 'inbox: what was taken is the file that was looked at',
    file: 'src/ingest/inbox.ts',
    guard: 'if ((await fingerprintOf(join(unproven, name))) !== fingerprint) {',
    without: 'if ((await fingerprintOf(join(unproven, name))) === null) {',
    tests: [INBOX],
  },
  {
    name: 'inbox: a file of which nobody knows whether it is the one that was looked at goes back',
    file: 'src/ingest/inbox.ts',
    guard: '        if (folder === id) found.push(...files)\n',
    without: '        if (id !== null) found.push(...files)\n',
    tests: [INBOX],
  },
  {
    name: 'inbox: a mark that is older than its file does not call it complete',
    file: 'src/ingest/inbox.ts',
    guard: ' && mark.ctimeNs >= stat.ctimeNs',
    without: '',
    tests: [INBOX],
  },
  {
    name: 'inbox: a file that goes back is written over nothing',
    file: 'src/ingest/inbox.ts',
    guard: 'if (!(await moveUnlessThere(file.path, join(path, name)))) continue',
    without: 'await rename(file.path, join(path, name))',
    tests: [INBOX],
  },
  {
    name: 'inbox: it belongs to one ledger',
    file: 'src/ingest/inbox.ts',
    guard: 'if (owner?.ledger === ledgerId) return owner.inbox',
    without: 'if (owner !== null) return owner.inbox',
    tests: [INBOX],
  },
  {
    name: 'inbox: one process at a time takes its files',
    file: 'src/app.ts',
    guard: '`inbox-${inboxId}.lock`',
    without: '`inbox-${process.pid}.lock`',
    tests: [INBOX_USED],
  },
  {
    name: 'inbox: what holds for one file is refused',
    file: 'src/commands/inbox.ts',
    guard: '  refuseForOneFile(given)\n',
    without: '',
    tests: [INBOX_USED],
  },
  {
    name: 'inbox: a ledger with an alarm takes no file',
    file: 'src/processors/work-inbox.ts',
    guard: '      if (alarm !== null) throw stoppedBy(alarm, parts.ledgerPath)\n',
    without: '',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: trouble that is not its fault rejects no file',
    file: 'src/processors/work-inbox.ts',
    guard: 'if (!isRefusal(error)) {',
    without: 'if (!(error instanceof Error)) {',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: an interrupted file is the batch that was recorded from it',
    file: 'src/processors/work-inbox.ts',
    guard: 'isFresh ? null : await findRecorded(',
    without: 'isFresh || !isFresh ? null : await findRecorded(',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: an interrupted file does not go to another merchant too',
    file: 'src/processors/work-inbox.ts',
    guard: 'if (first === undefined || first.accountId === accountId) return first?.batchId ?? null',
    without: 'if (first?.accountId !== accountId) return null\n  if (first !== undefined) return first.batchId',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: the archive holds what was recorded',
    file: 'src/processors/work-inbox.ts',
    guard: 'if ((await folder.sha256Of(file.path)) === opened.file.sha256) {',
    without: 'if ((await folder.sha256Of(file.path)) !== null) {',
    tests: [INBOX_PASS],
  },
  {
    name: 'inbox: results are of batches that are over',
    file: 'src/processors/work-inbox.ts',
    guard: "    if (countIn(batch, 'READY') + countIn(batch, 'SENDING') > 0) return\n",
    without: '',
    tests: [INBOX_PASS],
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
    name: 'a fed-back line whose reference is not that of the row it names is refused',
    file: 'src/ledger/fed-back.ts',
    guard: '  refuseDisagreeing(db)\n',
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a fed-back reference is restored only where nothing but zeros in front was lost',
    file: 'src/ledger/fed-back.ts',
    guard: " AND ltrim(i.reference, '0') = ltrim(d.reference, '0')",
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'unread lines are forgiven only where the row would not run again',
    file: 'src/ledger/fed-back.ts',
    guard: "AND i.state NOT IN (${retry.map(() => '?').join(', ')})",
    without: "AND coalesce(i.state NOT IN (${retry.map(() => '?').join(', ')}), 1) >= 0",
    tests: [LEDGER],
  },
  {
    name: 'a bad line that is no recorded row refuses the whole results file, also with --skip-invalid',
    file: 'src/domain/submission.ts',
    guard: "  if (review.unidentified > 0) refusals.push({ kind: 'unidentified', rows: review.unidentified })\n",
    without: '',
    tests: [FED_BACK],
  },
  {
    name: 'refunds beyond a recorded sale are refused',
    file: 'src/ledger/refunds.ts',
    guard: 'OR refundedMinor > soldMinor ORDER BY',
    without: 'ORDER BY',
    tests: [LEDGER],
  },
  {
    name: 'refunds in doubt and on their way count against the sale',
    file: 'src/ledger/refunds.ts',
    guard: "(r.state IN ('READY', 'SENDING', 'IN_DOUBT', 'APPROVED') OR r.money_warning = 1)",
    without: "(r.state IN ('APPROVED') OR r.money_warning = 1)",
    tests: [LEDGER],
  },
  {
    name: 'a refund by message beyond a recorded sale is refused',
    file: 'src/ledger/intake.ts',
    guard: "    if (beyond !== null) return { kind: 'refused', reason: beyond }\n",
    without: '',
    tests: [LEDGER],
  },
  {
    name: 'a refund that repeats or exceeds what was refunded of an unknown sale is asked about',
    file: 'src/ledger/refunds.ts',
    guard: 'AND d.amount_minor >= o.refunded_minor`',
    without: 'AND 0`',
    tests: [LEDGER],
  },
  {
    name: 'refunds that came between review and record are weighed with the file',
    file: 'src/ledger/draft.ts',
    guard: '&& !stillFits(db, header)',
    without: '&& false',
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
  // ─────────────────────────────────────────────── What a person declared, mends and is told
  {
    name: 'a declared total is not met while an amount cannot be read',
    file: 'src/domain/submission.ts',
    guard: "if (unread > 0) refusals.push({ kind: 'total-unknown', ...named, unread })\n    else ",
    without: '',
    tests: [SUBMISSION],
  },
  {
    name: 'declared totals leave no currency of the file out',
    file: 'src/domain/submission.ts',
    guard: "    refusals.push({ kind: 'currency', found: written(money), rows })\n",
    without: '    void [money, rows]\n',
    tests: [SUBMISSION],
  },
  {
    name: 'an amount of a bad row counts in the totals as read',
    file: 'src/ledger/draft.ts',
    guard: "'operation IS NOT NULL OR amount_minor IS NOT NULL'",
    without: "'operation IS NOT NULL'",
    tests: [LEDGER],
  },
  {
    name: 'rejects of fed-back results are never new instructions',
    file: 'src/results/rejects.ts',
    guard: 'const own = fedBack ? FED_BACK_COLUMNS : ',
    without: 'const own = ',
    tests: [REJECTS],
  },
  {
    name: 'a reject without a reference is the same row whenever it comes back',
    file: 'src/results/rejects.ts',
    guard: "(i === referencePlace && cell.trim() === '' ? bare : cell)",
    without: 'cell',
    tests: [REJECTS],
  },
  {
    name: 'nothing is recorded before its rejects are written',
    file: 'src/processors/submit-file.ts',
    guard: '    await onReviewed(reviewed)\n  } catch',
    without: '    void onReviewed(reviewed).catch(() => {})\n  } catch',
    tests: [SUBMITTING],
  },
  {
    name: 'results that do not tie out to the ledger are not written',
    file: 'src/results/write.ts',
    guard:
      '    assert(isExtract || tied.isTrue, `the rows of ${batchId} do not add up to what the ledger says of it`)\n',
    without: '',
    tests: [WRITING],
  },
  // ─────────────────────────────────────────────── Reading a file
  {
    name: 'reading: quotation marks that leave open where a cell ends shift no cell',
    file: 'src/ingest/records.ts',
    guard: '    if (raw !== null && isUnclear(raw, layout.delimiter)) return unclear(line)\n',
    without: '',
    tests: [CORPUS],
  },
  {
    name: 'reading: a quotation mark takes in no row of its own',
    file: 'src/ingest/survey.ts',
    guard: 'const takenIn = lineTakenIn(header, read, layout.delimiter)',
    without: 'const takenIn = null',
    tests: [CORPUS],
  },
  {
    name: 'reading: column names in another order are not rows, and the rows below them are not read by the first',
    file: 'src/ingest/survey.ts',
    guard: '  if (namesColumns(header, record.cells)) return refuse(OTHER_NAMES, at)\n',
    without: '',
    tests: [CORPUS],
  },
  {
    name: 'reading: a row of another width is refused',
    file: 'src/ingest/survey.ts',
    guard: '  if (length === wanted) return findCardData(header, record, rowNo)\n',
    without: '  if (length > 0) return findCardData(header, record, rowNo)\n',
    tests: [CORPUS],
  },
  {
    name: 'reading: damaged UTF-8 is not taken for another encoding',
    file: 'src/ingest/survey.ts',
    guard: '  if (right > 0 || onlyAtEnd) return refuse(brokenUtf8(weighed), { line: firstWrongLine })\n',
    without: '',
    tests: [CORPUS],
  },
  {
    name: 'reading: a first line that two delimiters part alike is not guessed',
    file: 'src/ingest/delimiter.ts',
    guard: 'best !== null && best.rival !== null && best.known > 0',
    without: 'best === undefined',
    tests: [CORPUS],
  },
  {
    name: 'reading: a reference marked as text is not another reference',
    file: 'src/ingest/rows.ts',
    guard: '  if (isMarkedAsText(text)) return MARKED_AS_TEXT\n',
    without: '',
    tests: [CORPUS],
  },
  {
    name: 'reading: results are known as results whatever stands around their names',
    file: 'src/ingest/columns.ts',
    guard: 'return RESULT_NAME_SET.has(plainName(column))',
    without: 'return RESULT_NAME_SET.has(column)',
    tests: [COLUMNS],
  },
  {
    name: "reading: a mapped column does not displace the gateway's own name in silence",
    file: 'src/ingest/header.ts',
    guard: ' && plainName(name) !== field) meanings[i] = null',
    without: ') meanings[i] = null',
    tests: [COLUMNS],
  },
  {
    name: 'reading: a time that comes twice is not guessed',
    file: 'src/ingest/moment.ts',
    guard: 'moment !== undefined && moments.length === 1',
    without: 'moment !== undefined',
    tests: [MOMENT],
  },
  {
    name: 'reading: a time that does not exist is not moved',
    file: 'src/ingest/moment.ts',
    guard: '    .filter((moment) => zoneOffsetMs(moment, timeZone) === localMs - moment)\n',
    without: '',
    tests: [MOMENT],
  },
  {
    name: 'reading: the same bytes with other columns are not the same batch',
    file: 'src/commands/file-arguments.ts',
    guard:
      "    ...map.map(({ column, field }) => `--map ${JSON.stringify(`${column}=${field || 'ignore'}`)}`).toSorted(),\n",
    without: '',
    tests: [READING],
  },
  {
    name: 'reading: the same bytes in another time zone are not the same batch',
    file: 'src/commands/file-arguments.ts',
    guard: "    timeZone === undefined ? '' : `--timezone ${timeZone}`,\n",
    without: '',
    tests: [READING],
  },
]
