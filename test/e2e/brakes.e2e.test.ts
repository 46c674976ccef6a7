// What makes a run stop by itself, and how it goes on.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { booksOf, compareBooks, countsIn, readCsv } from '../fixtures/books.ts'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ env: { TRANCHE_IN_FLIGHT: '4' } })
})
afterEach(() => office.close())

async function prepared(count: number, amountOf: (i: number) => string = () => '3.00') {
  const rows = refunds(count).map((row, i) => ({ ...row, amount: amountOf(i) }))
  office.sandbox.prepare(preparationFor(rows))
  return { input: await office.put('in.csv', toCsv(rows)), out: office.path('out.csv') }
}

test('a canary of three sends three rows, pauses, and after a resume the rest', async () => {
  const { input, out } = await prepared(20)
  const looked = await office.tranche('run', input, '--out', out, '--canary', '3', '--json')
  expect(looked.code, looked.stderr).toBe(6)
  expect(looked.last.reason).toContain('the first 3 rows were run as a canary')
  expect(looked.stderr).toContain(`tranche resume ${looked.last.batch} --reason TEXT`)
  expect(readCsv(out).map((line) => line.result_status)).toEqual([
    ...Array(3).fill('APPROVED'),
    ...Array(17).fill('PENDING'),
  ])
  expect(office.sandbox.received()).toBe(3)
  const status = await office.tranche('status', looked.last.batch as string)
  expect(status.stdout).toContain(`tranche resume ${looked.last.batch} --reason TEXT`)
  // Run again without a resume, it stands where it stood.
  expect((await office.tranche('run', input, '--out', out)).code).toBe(6)
  expect(office.sandbox.received()).toBe(3)
  await office.tranche('resume', looked.last.batch as string, '--reason', 'as expected')
  const ran = await office.tranche('run', input, '--out', out, '--canary', '3')
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 20 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('more declines than were allowed for pause the batch', async () => {
  const { input, out } = await prepared(40, (i) => (i % 2 === 0 ? '5.02' : '3.00'))
  const paused = await office.tranche('run', input, '--out', out, '--max-declined', '5', '--json')
  expect(paused.code, paused.stderr).toBe(6)
  expect(paused.last.reason).toContain('more than 5 % of the last 100 answered rows were declined')
  const { DECLINED: declined = 0, PENDING: pending = 0 } = countsIn(out)
  expect(declined).toBeGreaterThan(5)
  expect(declined).toBeLessThanOrEqual(9) // what was open at the sixth may have added to it
  expect(pending).toBeGreaterThan(0)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a list of refunds whose amounts slipped is paused after the third that its order is too small for', async () => {
  const rows = refunds(30).map((row) => ({ ...row, amount: '39.90' }))
  office.sandbox.prepare(preparationFor(rows, '19.90'))
  const input = await office.put('in.csv', toCsv(rows))
  const paused = await office.tranche('run', input, '--out', office.path('out.csv'), '--json')
  expect(paused.code, paused.stderr).toBe(6)
  expect(paused.last.reason).toMatch(
    /\d of the first \d refunds were declined because their orders have too little left/,
  )
  expect(office.sandbox.received()).toBeLessThanOrEqual(8) // with those that were open at the third
})

test.each([
  ['--canary', '2'],
  ['--max-declined', '1'],
])('%s %s for a file recorded without it is refused by every door, and nothing is sent', async (...brake) => {
  const { input, out } = await prepared(5)
  const { batch } = (await office.tranche('submit', input, '--json')).last
  for (const door of [
    ['run', input, '--out', out],
    ['submit', input],
  ]) {
    const refused = await office.tranche(...door, ...brake)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`This file is batch ${batch} already`)])
    expect(refused.stderr).toContain(`tranche pause ${batch} --reason TEXT`)
  }
  expect(office.sandbox.received()).toBe(0)
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(office.sandbox.received()).toBe(5)
})

test('what is declared of a file that is a batch already is held against the batch', async () => {
  const { input, out } = await prepared(5)
  const { batch } = (await office.tranche('submit', input, '--json')).last
  const wrong = ['--expect-count', '7', '--expect-total', 'EUR=1.00']
  const right = ['--expect-count', '5', '--expect-total', 'EUR=15.00']
  const run = (...more: string[]) => office.tranche('run', input, '--out', out, '--json', ...more)
  const refusedBy = async (door: Promise<Awaited<ReturnType<typeof run>>>) => {
    const refused = await door
    expect(refused.code, refused.stderr).toBe(7)
    expect(refused.stderr).toContain('The file has 5 rows, 7 were expected (--expect-count): 2 too few.')
    expect(refused.last).toMatchObject({ batch, exit: 7, refusals: [{ kind: 'count' }, { kind: 'total' }] })
  }
  await refusedBy(run(...wrong))
  await refusedBy(office.tranche('submit', input, '--json', ...wrong))
  expect(office.sandbox.received()).toBe(0)
  const ran = await run(...right)
  expect([ran.code, ran.last.batch], ran.stderr).toEqual([0, batch])
  await refusedBy(run(...wrong))
  expect((await run(...right)).code).toBe(0)
  expect(office.sandbox.received()).toBe(5)
})

test.each([
  ['--canary', '0'],
  ['--canary', 'some'],
  ['--max-declined', '100'],
  ['--max-declined', '-1'],
])('%s %s is no such limit', async (option, value) => {
  const { input, out } = await prepared(3)
  const refused = await office.tranche('run', input, '--out', out, `${option}=${value}`)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(option)])
  expect(office.sandbox.received()).toBe(0)
})
