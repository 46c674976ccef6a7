// The same once more: results fed back in every form at once, an account under another name, duplicates of everything.

import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { countsIn, query, readCsv, recordedIn } from '../fixtures/books.ts'
import { refundRow, refunds, toCsv } from '../fixtures/files.ts'
import { answerTruly, honest, httpAnswer, type Script } from './gateway.ts'
import { openPlace, takingMs } from './place.ts'

const refusing: Script = (_, line) => line.end(httpAnswer(400, '{"ERROR_MESSAGE":"not today"}'))

test.concurrent('failed rows fed back in five forms at once, twice, run again once each', async ({ expect }) => {
  await using place = await openPlace({}, refusing)
  const { office, gateway } = place
  const rows = refunds(60)
  const { input, out } = await place.file('in', rows)
  const ran = await office.tranche('run', input, '--out', out, '--json')
  expect(ran.code, ran.stderr).toBe(3)
  expect(countsIn(out)).toEqual({ FAILED: 60 })
  gateway.play(takingMs(5))
  const batch = ran.last.batch as string
  const [workbook, extract] = [office.path('book.xlsx'), office.path('extract.csv')]
  expect((await office.tranche('results', batch, '--out', workbook)).code).toBe(0)
  expect((await office.tranche('results', batch, '--only', 'failed', '--out', extract)).code).toBe(0)
  const edited = await office.put('edited.csv', readFileSync(out, 'utf8').replaceAll('not today', 'seen'))
  const fresh = await office.put('new.csv', toCsv(rows.map((row) => ({ ...row, note: 'again' }))))

  for (let time = 0; time < 2; time += 1) {
    const ended = await Promise.all([
      ...[out, workbook, extract, edited].map((file) => office.tranche('submit', file, '--retry', 'failed')),
      office.tranche('submit', fresh),
      office.tranche('worker', '--until-idle'),
    ])
    for (const { code, stderr } of ended) expect([0, 3, 7], stderr).toContain(code)
  }
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(gateway.received()).toHaveLength(120)
  expect([...gateway.executed().values()].filter((times) => times !== 1)).toEqual([])
  expect(gateway.executed().size).toBe(60)
  expect(place.lies()).toEqual([])
})

test.concurrent('an account under a second name is refused, however its address is written', async ({ expect }) => {
  await using place = await openPlace()
  const { office, gateway } = place
  const { input } = await place.file('in', refunds(2))
  expect((await office.tranche('submit', input)).code).toBe(0)
  const { port } = new URL(gateway.url)
  await office.put('pw', 's3cret-pass')
  const spellings = [
    ...['', '/', '//', '/.', '/x/..', ' '].map((end) => `${gateway.url}${end}`),
    `HTTP://127.0.0.1:${port}`,
    ...['127.1', '127.0.1', '0x7f000001', '017700000001', '2130706433'].map((host) => `http://${host}:${port}`),
  ]
  const { input: more } = await place.file('more', refunds(2, 50))
  for (const url of spellings) {
    const merchants = { second: { url, username: 'shop', password_file: 'pw' } }
    const env = { TRANCHE_CONFIG: await office.put('c.yaml', JSON.stringify({ merchants })) }
    const said = await office.trancheWith(env, 'submit', more, '--merchant', 'second')
    expect([url, said.code], said.stderr).toEqual([url, 2])
  }
  expect(recordedIn(office)).toHaveLength(2)
})

/** By the row's number: approved, declined, in doubt, failed. */
const ofEveryKind: Script = (asked, line) => {
  if (asked.target.endsWith('2')) return answerTruly(asked, line, line.execute('DECLINED'))
  if (asked.target.endsWith('3')) return line.reset()
  return asked.target.endsWith('4') ? refusing(asked, line) : honest(asked, line)
}

test.concurrent('no run ends with 0 whose rows are not all approved, whatever they point at', async ({ expect }) => {
  await using place = await openPlace({}, ofEveryKind)
  const { office, gateway } = place
  const first = await place.file('in', refunds(4))
  expect((await office.tranche('run', first.input, '--out', first.out)).code).toBe(5)
  expect(readCsv(first.out).map((line) => line.result_status)).toEqual(['APPROVED', 'DECLINED', 'IN_DOUBT', 'FAILED'])
  const waiting = await place.file('waiting', refunds(1, 11))
  const { batch } = (await office.tranche('submit', waiting.input, '--json')).last
  await office.tranche('pause', batch as string, '--reason', 'wait')
  const given = await place.file('given-up', refunds(1, 21))
  const { batch: cancelled } = (await office.tranche('submit', given.input, '--json')).last
  await office.tranche('cancel', cancelled as string, '--reason', 'not wanted')
  const sent = gateway.received().length

  const again = (n: number) => [refundRow(n, { note: 'again' })]
  const cases: readonly (readonly [string, number, readonly ReturnType<typeof refundRow>[], ...string[]])[] = [
    ['approved', 0, again(1)],
    ['declined', 3, again(2)],
    ['in doubt', 5, again(3)],
    ['failed', 3, again(4)],
    ['approved and failed', 3, [...again(1), ...again(4)]],
    ['paused', 6, again(11)],
    ['cancelled', 3, again(21)],
    ['beside a doubt', 7, [refundRow(3, { reference: 'B-3', amount: '0.50' })]],
    ['behind a doubt', 6, [refundRow(3, { reference: 'B-3', amount: '0.50' })], '--allow-lookalikes', '1'],
    ['all invalid', 3, [refundRow(31, { amount: '1.234.5' })], '--skip-invalid'],
  ]
  for (const [name, code, rows, ...options] of cases) {
    const { input, out } = await place.file(`again-${name.replaceAll(' ', '-')}`, rows)
    const ran = await office.tranche('run', input, '--out', out, ...options)
    expect([name, ran.code], ran.stderr).toEqual([name, code])
  }
  expect((await office.tranche('run', waiting.input, '--out', waiting.out)).code).toBe(6)
  expect(gateway.received()).toHaveLength(sent)
  expect(place.lies(first)).toEqual([])
})

test('a thousand requests in flight: every row is approved and none is in doubt', async ({ expect }) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '1000' }, takingMs(100))
  const { office, gateway } = place
  const { input, out } = await place.file('in', refunds(3_000))
  const ran = await office.tranche('run', input, '--out', out)
  expect(ran.code, ran.stderr).toBe(0)
  expect(gateway.received()).toHaveLength(3_000)
  expect(query(office, "SELECT id FROM move WHERE cause NOT IN ('claim', 'answer')")).toEqual([])
  expect(place.lies({ input, out })).toEqual([])
})
