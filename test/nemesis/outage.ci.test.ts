// A gateway that is not there: nothing was sent, so nothing is in doubt.

import { afterEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, query } from '../fixtures/books.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openProxy } from '../fixtures/proxy.ts'

let office: Office
afterEach(() => office.close())

test('an outage that only refuses connections leaves no row in doubt and none failed', async () => {
  office = await openOffice({ apart: true, latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '8' } })
  await using proxy = await openProxy({ port: office.sandbox.port, host: '127.0.0.1' })
  const rows = refunds(400)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const out = office.path('out.csv')
  const env = { TRANCHE_GATEWAY_URL: `http://127.0.0.1:${proxy.port}` }
  const running = office.startWith(env, 'run', input, '--out', out)
  for (const enough of [60, 200]) {
    await until('the batch is under way', () => office.sandbox.log().length >= enough, running)
    const unsent = unsentRows()
    await running.freeze() // nothing new on the wire: what is there is taken in and answered
    await proxy.shut()
    running.kill('SIGCONT')
    await until('rows found nobody there, time and again', () => unsentRows() >= unsent + 3, running)
    await proxy.open()
  }
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  const reasons = query<{ reason: string }>(office, "SELECT DISTINCT reason FROM move WHERE cause = 'unsent'")
  expect(reasons).toEqual([{ reason: expect.stringContaining('connection refused') }])
  expect(countsIn(out)).toEqual({ APPROVED: 400 })
  expect(office.sandbox.received()).toBe(400)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

function unsentRows(): number {
  return query<{ n: number }>(office, "SELECT count(*) AS n FROM move WHERE cause = 'unsent'")[0]?.n ?? 0
}
