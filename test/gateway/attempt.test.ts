import type { Dispatcher } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Attempt } from '../../src/gateway/attempt.ts'
import { Deadlines } from '../../src/gateway/deadlines.ts'
import { createScrub } from '../../src/gateway/scrub.ts'
import { GO, NEVER, realClock, refund } from './arrange.ts'

/** An attempt whose connection stands; the process never stands still. */
function startAttempt() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const read = (then: () => void) => then()
  const context = {
    ...{ clock: realClock, timeoutMs: 60_000, connectLimitMs: 5_000, address: 'gateway.test:443', onRepeated() {} },
    waiting: new Deadlines<Attempt>(5_000, read, (attempt) => attempt.onNoConnection()),
    started: new Deadlines<Attempt>(60_000, read, (attempt) => attempt.onSilence()),
  }
  const own = { sent: refund(), scrub: createScrub({ username: 'merchant-one', secrets: [] }) }
  const attempt = new Attempt(context, own, GO, NEVER)
  const abort = vi.fn()
  attempt.onRequestStart({ abort } as unknown as Dispatcher.DispatchController)
  return { attempt, abort, open: () => [...context.waiting.all(), ...context.started.all()] }
}

test('one that has started is lost at its deadline and never unsent, even if its handing over is never told', async () => {
  const { attempt, abort, open } = startAttempt()
  vi.advanceTimersByTime(59_999)
  expect(open()).toEqual([attempt])
  vi.advanceTimersByTime(1)
  expect(await attempt.outcome).toMatchObject({ kind: 'lost', detail: 'no complete answer within 60 s' })
  expect(abort).toHaveBeenCalledOnce()
})

test('one that has its outcome has no deadline any more', async () => {
  const { attempt, abort, open } = startAttempt()
  attempt.onRequestSent()
  attempt.onResponseError(null, new Error('the connection is gone'))
  expect(open()).toEqual([])
  vi.advanceTimersByTime(60_000)
  expect(await attempt.outcome).toMatchObject({ kind: 'lost', detail: 'no complete answer: the connection is gone' })
  expect(abort).not.toHaveBeenCalled()
})
