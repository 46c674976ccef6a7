// What nobody watches ends by itself, with its results written.

import { afterEach, expect, test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function fileOf(rows: number): Promise<string> {
  const asked = refunds(rows)
  office.sandbox.prepare(preparationFor(asked))
  return office.put('in.csv', toCsv(asked))
}

test('a run that is told 429 for ever ends, with 6, its results and the reason; the same command goes on later', async () => {
  office = await openOffice()
  const input = await fileOf(5)
  const out = office.path('out.csv')
  office.sandbox.addFault({ kind: '429', match: { any: true } })
  const ran = await office.tranche('run', input, '--out', out, '--give-up-after', '2s')
  expect(ran.code, ran.stderr).toBe(6)
  expect(ran.stderr).toContain('5 rows are not sent: no row was settled for 2 s')
  expect(ran.stderr).toContain('the gateway asked to wait (HTTP 429)')
  expect(countsIn(out)).toEqual({ PENDING: 5 })

  office.sandbox.clearFaults()
  const again = await office.tranche('run', input, '--out', out)
  expect(again.code, again.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 5 })
})

test('a worker that works until idle ends in the same way', async () => {
  office = await openOffice()
  const { batch } = (await office.tranche('submit', await fileOf(5), '--json')).last
  office.sandbox.addFault({ kind: '429', match: { any: true } })
  const worked = await office.tranche('worker', '--until-idle', '--give-up-after', '2s')
  expect(worked.code, worked.stderr).toBe(6)
  expect(worked.stderr).toContain('5 rows are not sent: no row was settled for 2 s')
  expect((await office.tranche('status', batch, '--json')).last.counts).toEqual({ PENDING: 5 })
})

test('a worker that works for ever takes no time to give up', async () => {
  office = await openOffice()
  const worked = await office.tranche('worker', '--give-up-after', '2s')
  expect(worked.code, worked.stderr).toBe(2)
  expect(worked.stderr).toContain('--until-idle')
})
