// What a person and a script see of all batches.

import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ triggers: true })
})
afterEach(() => office.close())

const capture = (reference: string, amount = '7.00') => `${reference},${amount},EUR,4${reference.length}001\n`
async function submit(name: string, ...rows: readonly string[]): Promise<string> {
  const path = await office.put(name, `reference,amount,request_currency,customer_vault_id\n${rows.join('')}`)
  const { code, stderr, last } = await office.tranche('submit', path, '--operation', 'CAPTURE', '--json')
  expect(code, stderr).toBe(0)
  return last.batch
}

test('the list has merchant, state and age, narrows by them, and says how many older ones it leaves out', async () => {
  const [first, second] = [await submit('a.csv', capture('A')), await submit('b.csv', capture('BB'))]
  await office.tranche('pause', first, '--reason', 'look')
  const all = await office.tranche('status')
  expect(all.stdout.split('\n')[0]).toMatch(/^batch +merchant +state +settled +age +from/)
  expect(all.stdout).toMatch(new RegExp(`^${second} +default +waiting +0/1 +now +b\\.csv$`, 'm'))
  expect(all.stderr).toContain(`ATTENTION batch ${first} is paused (look)`)

  const paused = await office.tranche('status', '--state', 'paused', '--merchant', 'default')
  expect([paused.stdout.includes(first), paused.stdout.includes(second)]).toEqual([true, false])
  const one = await office.tranche('status', '--last', '1')
  expect([one.stdout.includes(first), one.stdout.includes(second)]).toEqual([false, true])
  expect(one.stderr).toContain('1 older batch is not shown (--last 2)')
  expect((await office.tranche('status', '--last', '1', '--json')).last.batches).toMatchObject([{ batch: second }])
  expect((await office.tranche('status', '--json')).last.batches).toMatchObject([{ batch: second }, { batch: first }])
})

test.each([
  [['--state', 'pausd'], 'did you mean paused?'],
  [['--merchant', 'defualt'], 'did you mean default?'],
  [['--last', 'all'], '--last all: write how many batches to show'],
])('%j is refused, with what was meant', async (args, says) => {
  const { code, stderr } = await office.tranche('status', ...args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
})

test('--check ends with 0, with 5 where rows are in doubt, and with 6 where something is paused', async () => {
  const calm = await office.tranche('status', '--check')
  expect([calm.code, calm.stdout]).toEqual([0, 'Nothing needs a person.\n'])
  await submit('c.csv', capture('A', '5.03'))
  await office.tranche('worker', '--until-idle')
  const doubt = await office.tranche('status', '--check')
  expect([doubt.code, doubt.stdout]).toEqual([5, expect.stringMatching(/^ATTENTION 1 row in doubt: .*in-doubt list/)])
  const other = await submit('c.csv', capture('BB'))
  await office.tranche('pause', other, '--reason', 'look')
  const paused = await office.tranche('status', '--check', '--json')
  expect(paused).toMatchObject({ code: 6, last: { exit: 6, attention: [{ code: 'in_doubt' }, { code: 'paused' }] } })
})

test('--check and doctor say what a Redis that is away stops', async () => {
  office = await openOffice({ env: { TRANCHE_REDIS_URL: '/nowhere/redis.sock' } })
  const { code, stdout } = await office.tranche('status', '--check')
  expect([code, stdout]).toEqual([6, expect.stringMatching(/ATTENTION the Redis .* Nothing is sent until it does/)])
  const looked = await office.tranche('doctor')
  expect(looked.code).toBe(75)
  expect(looked.stdout).toMatch(/^FIX {2}redis: Redis at .* cannot be used .* Nothing is sent until it does/m)
  expect(looked.stdout).toMatch(/^ok {3}ledger: /m)
})

test('bad rows that were left out stay in --check until they are mended or somebody has looked; the list shows outcomes', async () => {
  const header = 'reference,amount,request_currency,customer_vault_id\n'
  const path = await office.put('d.csv', `${header}${capture('A')}${capture('BB', 'seven')}`)
  const submitted = (name: string) =>
    office.tranche('submit', name, '--operation', 'CAPTURE', '--skip-invalid', '--json')
  const { batch } = (await submitted(path)).last
  await office.tranche('worker', '--until-idle')
  expect((await office.tranche('status')).stdout).toMatch(/ 2\/2 +1 (?:approved|declined), 1 invalid/)
  const bad = await office.tranche('status', '--check')
  expect([bad.code, bad.stdout]).toEqual([3, expect.stringContaining(`batch ${batch} (d.csv) left out 1 bad row`)])
  await office.put('d.csv', `${header}${capture('A')}${capture('BB')}`)
  await submitted(path)
  await office.tranche('worker', '--until-idle')
  expect((await office.tranche('status', '--check')).code).toBe(0)
  const other = (await submitted(await office.put('e.csv', `${header}${capture('CCC')}${capture('DDDD', 'x')}`))).last
  await office.tranche('worker', '--until-idle')
  expect((await office.tranche('status', '--check')).code).toBe(3)
  expect((await office.tranche('resume', other.batch, '--reason', 'known')).stderr).toContain('counts as looked at')
  expect((await office.tranche('status', '--check')).code).toBe(0)
})

test('--watch shows what comes until Ctrl-C', async () => {
  const watching = office.start('status', '--watch', '--json')
  await until('it looks', () => watching.said().length === 1, watching)
  const batch = await submit('c.csv', capture('A'))
  await until('it shows the batch', () => watching.said().some((line) => line.includes(batch)), watching)
  watching.kill('SIGINT')
  expect(await watching.ended).toMatchObject({ code: 130, last: { event: 'result', batches: [{ batch }] } })
})
