// Pages that change while they are looked at, over a real socket.

import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BatchId } from '../../src/domain/ids.ts'
import { CLERK, findingOn, headerOf, personAt, refund, submit, work } from '../fixtures/ledgers.ts'
import { openPages, type PagesServed, type Visiting } from '../fixtures/pages.ts'

let served: PagesServed
let batch: BatchId
let olga: Visiting
let base: string

beforeEach(async () => {
  served = await openPages()
  batch = await submit(served.ledger, served.accounts.shop, [refund('A'), refund('B')], headerOf(served.accounts.shop))
  olga = await served.as('olga', ['operator'])
  await served.pages.listen({ host: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${(served.pages.server.address() as AddressInfo).port}`
})
afterEach(() => served.close())

interface Told {
  readonly figures: Readonly<Record<string, string>> & { readonly settled: string }
  readonly shape: string
  readonly at: string
}

/** Ends where the stream does. */
async function* watching(path: string, { cookie }: Visiting): AsyncGenerator<Told> {
  const answer = await fetch(`${base}${path}`, { headers: { cookie } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  let text = ''
  for await (const part of answer.body ?? []) {
    text += new TextDecoder().decode(part)
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) yield JSON.parse(event.replace(/^data: /, '')) as Told
  }
}

async function until(stream: AsyncGenerator<Told>, is: (told: Told) => boolean): Promise<Told> {
  for (;;) {
    const { value, done } = await stream.next()
    if (done === true) throw new Error('the stream ended')
    if (is(value)) return value
  }
}

test('who watches a batch is told its figures as they change, and that the page has another shape', async () => {
  const { ledger } = served
  const stream = watching(`/live?batch=${batch}`, olga)
  const first = await until(stream, () => true)
  expect(first.figures).toMatchObject({ outcomes: '2 rows: 2 not settled yet', workers: '0 workers run' })
  const page = (await olga.get(`/batches/${batch}`)).body
  expect(page).toContain(`data-shape="${first.shape.replaceAll('"', '&quot;')}"`)
  await work(ledger, batch, 'A', 'APPROVED')
  const then = await until(stream, ({ figures }) => figures.outcomes === '2 rows: 1 approved, 1 not settled yet')
  expect(then.shape).not.toBe(first.shape)
  expect(then.figures['count-REFUND-EUR-APPROVED']).toBe('1')
  await stream.return(undefined)
})

test('who watches a batch is told that it was proposed to send a row of it again, and that it is so no more', async () => {
  const { ledger } = served
  const rule = { merchants: null, operations: null, fourEyes: true, bands: {}, rowOver: {} }
  await work(ledger, batch, 'A', 'IN_DOUBT')
  await ledger.adoptPolicy({ rules: [rule], expireAfterMs: 86_400_000, osUsers: false }, 'test', CLERK, Date.now())
  const stream = watching(`/live?batch=${batch}`, olga)
  const { shape } = await until(stream, () => true)
  const row = { batchId: batch, rowNo: 1 }
  const order = { finding: 'send-again', attempt: 1, row, proposedAtMs: null } as const
  const said = await ledger.resolve(findingOn('A', order), personAt('otto'), Date.now())
  if (said.kind !== 'proposed') throw new Error(`it was not proposed: ${said.kind}`)
  const then = await until(stream, (told) => told.shape !== shape)
  const page = (await olga.get(`/batches/${batch}`)).body
  expect(page).toContain('It is proposed to send 1 row once more')
  expect(page).toContain(`data-shape="${then.shape.replaceAll('"', '&quot;')}"`)
  await ledger.refuseProposal({ ...row, proposedAtMs: said.proposal.atMs, reason: 'it is there' }, CLERK, Date.now())
  await until(stream, (told) => told.shape === shape)
  await stream.return(undefined)
})

test('the stream ends with the session', async () => {
  const stream = watching('/live?batch=', olga)
  await until(stream, () => true)
  await served.ledger.setGrants('olga', ['viewer'], 'x', served.app.actor, Date.now())
  await expect(until(stream, () => false)).rejects.toThrow()
})

test.each<[string, () => Promise<unknown>]>([
  ['is revoked', () => served.ledger.revokePerson('olga', 'left', served.app.actor, Date.now())],
  ['signs out', () => olga.send('/sessions', '/sign-out')],
  [
    'has that session ended by another one',
    async () => {
      const [session] = await served.ledger.sessions('p-olga', Date.now())
      await served.ledger.endSession('p-olga', session?.id ?? '', served.app.actor, Date.now())
    },
  ],
])('the stream ends at the next look when whoever watches %s', async (_, act) => {
  const stream = watching('/live?batch=', olga)
  await until(stream, () => true)
  await act()
  await expect(until(stream, () => false)).rejects.toThrow()
  expect((await fetch(`${base}/live?batch=`, { headers: { cookie: olga.cookie }, redirect: 'manual' })).status).toBe(
    303,
  )
})

test('looking keeps no session open', async () => {
  const before = await served.ledger.sessions('p-olga', Date.now())
  const stream = watching('/live?batch=', olga)
  await until(stream, () => true)
  const seen = (await served.ledger.sessions('p-olga', Date.now())).map(({ seenAtMs }) => seenAtMs)
  await until(stream, () => true)
  expect((await served.ledger.sessions('p-olga', Date.now())).map(({ seenAtMs }) => seenAtMs)).toEqual(seen)
  expect(before).toHaveLength(1)
  await stream.return(undefined)
})

test('a session watches five pages at once, and no more', async () => {
  const streams = Array.from({ length: 5 }, () => watching('/live?batch=', olga))
  await Promise.all(streams.map((stream) => until(stream, () => true)))
  expect((await fetch(`${base}/live?batch=`, { headers: { cookie: olga.cookie } })).status).toBe(503)
  await streams[0]?.return(undefined)
  for (const stream of streams) await stream.return(undefined)
})
