import { expect, test } from 'vitest'
import type { App } from '../../src/app.ts'
import { leaveInTime } from '../../src/commands/leaving.ts'
import type { Terminal } from '../../src/commands/terminal.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'

const NEVER = new Promise<never>(() => {})

/** What a worker says that did not end in time, and with which code; null: it was left alone. */
async function leaving(accounts: () => Promise<never[]>, { isAnswerAwaited = true, endsBefore = false } = {}) {
  const stopping = new AbortController()
  const left = Promise.withResolvers<readonly [string, number] | null>()
  let said = ''
  const terminal = {
    say: (line: string) => {
      said = line
    },
    io: { exit: (code: number) => left.resolve([said, code]) },
  } as unknown as Terminal
  let slept = 0
  const clock = {
    ...{ nowMs: () => 0, monotonicMs: () => 0 },
    async sleep() {
      slept += 1
      if (endsBefore) inTime.ended()
      if (slept > 1 && isAnswerAwaited) await NEVER
    },
  }
  const config = { ledgerServer: {}, merchants: new Map() } as unknown as App['config']
  const inTime = leaveInTime({ clock, config }, { accounts } as Pick<Ledger, 'accounts'>, stopping.signal, terminal)
  stopping.abort()
  if (endsBefore) setImmediate(() => left.resolve(null))
  return left.promise
}

const KEPT = 'Answers that it does not have are kept in the data directory; the next worker here hands them in.'

test('a worker that does not end in time leaves, and says of the server only what a look at it shows', async () => {
  const away = [`Left without the PostgreSQL server, which does not answer. ${KEPT}`, 75]
  expect(await leaving(() => NEVER, { isAnswerAwaited: false })).toEqual(away)
  expect(await leaving(() => Promise.reject(new Error('away')), { isAnswerAwaited: false })).toEqual(away)
  expect(await leaving(async () => [])).toEqual([
    `Left before the work had come to its end: the PostgreSQL server answers, and what holds the work up is not known. ${KEPT}`,
    1,
  ])
})

test('a worker that ended is left alone', async () => {
  expect(await leaving(() => NEVER, { isAnswerAwaited: false, endsBefore: true })).toBeNull()
})
