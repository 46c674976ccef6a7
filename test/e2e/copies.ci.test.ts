// Ledgers that were copied, moved, put back or removed: from none of them is anything sent that may have been sent before.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openSandbox } from '../../src/sandbox/server.ts'
import { booksOf, compareBooks, countsIn, query, recordedIn } from '../fixtures/books.ts'
import { type Office, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { approved, copy, statesOf, submitted, useOffices } from './copying.ts'

const DYING = pathToFileURL(join(import.meta.dirname, '../fixtures/child-dying.ts')).href

const open = useOffices()

test('a copy of the data directory sends nothing and records no run; the first one works', async () => {
  const office = await open()
  const { input, batch } = await submitted(office, 12)
  const dataDir = office.path('copy')
  copy('-r', office.dataDir, dataDir)
  const inCopy = (...args: readonly string[]) => office.trancheWith({ TRANCHE_DATA_DIR: dataDir }, ...args)

  const worker = await inCopy('worker', '--until-idle')
  expect(worker.code).toBe(6)
  expect(worker.stderr).toContain('may not be the one that sent last: it is a copy')
  expect(worker.stderr).toContain('tranche adopt --moved --reason TEXT')
  expect(worker.stderr).toContain('tranche adopt --restored --reason TEXT')
  expect(existsSync(join(dataDir, 'redis.sock'))).toBe(false)
  const other = await office.put('other.csv', toCsv(refunds(3, 100)))
  const ran = await inCopy('run', other, '--out', office.path('other.out.csv'))
  expect([ran.code, existsSync(office.path('other.out.csv'))], ran.stderr).toEqual([6, false])
  const status = await inCopy('status', '--json')
  expect(status.last.ledger_alarm).toMatchObject({ kind: 'elsewhere' })
  expect(status.last.batches).toMatchObject([{ batch, counts: { PENDING: 12 } }]) // the run was not recorded
  expect((await inCopy('doctor')).stdout).toMatch(/FIX {2}ledger: .*may not be the one that sent last/)
  const commands = [
    ['check', other],
    ['results', batch, '--out', office.path('copy.csv')],
    ['in-doubt', 'list'],
    ['status', batch],
  ]
  for (const args of commands) expect((await inCopy(...args)).code, args.join(' ')).toBe(0)
  const more = await inCopy('submit', other)
  expect([more.code, more.stderr]).toEqual([0, expect.stringContaining('Nothing will be sent from it')])
  const cancelled = await inCopy('cancel', batch, '--reason', 'try')
  expect(cancelled.code, cancelled.stderr).toBe(6)
  expect(office.sandbox.received()).toBe(0)

  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(office.sandbox.received()).toBe(12)
  const out = office.path('out.csv')
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(0)
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test('a data directory under another name goes on; on another disk, once adopted as moved', async () => {
  const office = await open()
  await submitted(office, 3)
  const dataDir = office.path('e')
  renameSync(office.dataDir, dataDir)
  const renamed = { TRANCHE_DATA_DIR: dataDir }
  expect((await office.trancheWith(renamed, 'worker', '--until-idle')).code).toBe(0)
  expect(office.sandbox.received()).toBe(3)

  copy('-r', dataDir, office.dataDir)
  rmSync(dataDir, { recursive: true })
  await submitted(office, 2, 10)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(6)
  const adopted = await office.tranche('adopt', '--moved', '--reason', 'new disk', '--as', 'ann', '--json')
  expect(adopted.code, adopted.stderr).toBe(0)
  expect(adopted.last).toMatchObject({ adopted: 'moved', was: 'elsewhere', in_doubt: 0 })
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(office.sandbox.received()).toBe(5)
  expect(query(office, "SELECT reason FROM act WHERE what = 'adopt'")).toEqual([{ reason: '--moved: new disk' }])
  const again = await office.tranche('adopt', '--moved', '--reason', 'once more')
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('nothing to adopt')])
})

test('a state from before a killed worker sends nothing twice, and its open rows are in doubt', async () => {
  const office = await open({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input, batch } = await submitted(office, 80)
  const kept = office.path('kept.db')
  copy(office.ledgerPath, kept)
  const first = await office.worker()
  await until('the batch is under way', () => approved(office) >= 20, first)
  first.kill('SIGKILL')
  await first.ended
  const sent = office.sandbox.log().length
  for (const part of ['-wal', '-shm']) rmSync(office.ledgerPath + part)
  copy(kept, office.ledgerPath) // into the same inode

  const worker = await office.tranche('worker', '--until-idle')
  expect([worker.code, worker.stderr]).toEqual([6, expect.stringContaining('so this is an older state or a copy')])
  const moved = await office.tranche('adopt', '--moved', '--reason', 'try')
  expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining('It cannot be the newest state')])
  const adopted = await office.tranche('adopt', '--restored', '--reason', 'disk failed', '--json')
  expect(adopted.code, adopted.stderr).toBe(0)
  expect(adopted.last).toMatchObject({ adopted: 'restored', was: 'older', in_doubt: 80 })
  expect(adopted.stderr).toContain('It knows of nothing that was ever sent')
  expect(adopted.stderr).toContain('Check anything handed in before at the gateway')

  const ended = await office.tranche('worker', '--until-idle')
  expect(ended.code, ended.stderr).toBe(0)
  expect(office.sandbox.log()).toHaveLength(sent)
  const list = await office.tranche('in-doubt', 'list')
  expect(list.code, list.stderr).toBe(0)
  expect(list.stdout).toContain('at an unknown time')
  const out = office.path('out.csv')
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(0)
  expect(countsIn(out)).toEqual({ IN_DOUBT: 80 })
  expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
})

test.each([
  ['with a witness', {}],
  ['without any witness', { TRANCHE_WITNESS_DIR: 'none' }],
])('a state copied under a worker is an older one once that worker has ended, %s', async (_, witness) => {
  const office = await open({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4', ...witness } })
  await submitted(office, 60)
  const first = await office.worker()
  await until('the batch is under way', () => approved(office) >= 10, first)
  const kept = office.path('kept.db')
  copy(office.ledgerPath, kept)
  copy(`${office.ledgerPath}-wal`, `${kept}-wal`)
  first.kill('SIGTERM')
  expect((await first.ended).code).toBe(0)
  const sent = office.sandbox.received()
  for (const part of ['', '-wal']) copy(kept + part, office.ledgerPath + part)
  const worker = await office.tranche('worker', '--until-idle')
  expect([worker.code, worker.stderr]).toEqual([6, expect.stringContaining('so this is an older state or a copy')])
  expect(office.sandbox.received()).toBe(sent)
})

test('a backup is made while a worker works, is checked, and sends nothing until it is adopted', async () => {
  const office = await open({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '4' } })
  const { input } = await submitted(office, 120)
  const working = await office.worker()
  await until('the batch is under way', () => approved(office) >= 10, working)
  const to = office.path('backup.db')
  const made = await office.tranche('backup', to, '--json')
  expect(made.code, made.stderr).toBe(0)
  expect(made.last).toMatchObject({ backup: to, rows: 120, batches: 1, bytes: statSync(to).size })
  expect(Date.parse(made.last.at)).toBeGreaterThan(0)
  expect(statSync(to).mode & 0o777).toBe(0o600)
  await until('the batch is done', () => approved(office) === 120, working)
  const copied = new DatabaseSync(to, { readOnly: true })
  const then = copied.prepare("SELECT count(*) AS n FROM instruction WHERE state = 'APPROVED'").get()?.n as number
  copied.close()
  expect(then).toBeGreaterThanOrEqual(10)
  expect(then).toBeLessThan(120)
  const again = await office.tranche('backup', to)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('exists already')])
  const busy = await office.tranche('adopt', '--restored', '--reason', 'try')
  expect([busy.code, busy.stderr]).toEqual([6, expect.stringContaining(`Process ${working.pid}`)])
  working.kill('SIGTERM')
  expect((await working.ended).code).toBe(0)

  const [dataDir, here] = [office.path('new'), office.path('here')]
  for (const dir of [dataDir, here]) {
    execFileSync('mkdir', [dir])
    copy(to, join(dir, 'ledger.db'))
  }
  const witnessed = await office.trancheWith({ TRANCHE_DATA_DIR: here }, 'worker')
  expect([witnessed.code, witnessed.stderr]).toEqual([6, expect.stringContaining('records later work by this ledger')])
  const elsewhere = { TRANCHE_DATA_DIR: dataDir, TRANCHE_WITNESS_DIR: office.path('other-host') }
  const ran = await office.trancheWith(elsewhere, 'run', input, '--out', office.path('out.csv'))
  expect([ran.code, ran.stderr]).toEqual([6, expect.stringContaining('it is a backup, made at')])
  expect((await office.trancheWith(elsewhere, 'adopt', '--restored', '--reason', 'fire')).code).toBe(0)
  const last = await office.trancheWith(elsewhere, 'run', input, '--out', office.path('out.csv'))
  expect(last.code, last.stderr).toBe(5)
  expect(countsIn(office.path('out.csv'))).toEqual({ APPROVED: then, IN_DOUBT: 120 - then })
  expect(office.sandbox.received()).toBe(120)
})

test('adopt says what it needs: one way, a reason, and a ledger', async () => {
  const office = await open({ made: false })
  const none = await office.tranche('adopt', '--moved', '--reason', 'x')
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('There is no ledger')])
  expect((await office.tranche('backup', office.path('copy.db'))).code).toBe(2)
  expect(existsSync(office.ledgerPath)).toBe(false)
  expect((await office.tranche('init')).code).toBe(0)
  await submitted(office, 1)
  for (const ways of [[], ['--moved', '--restored'], ['--moved', '--merchant', 'default']]) {
    const said = await office.tranche('adopt', ...ways, '--reason', 'x')
    expect([said.code, said.stderr]).toEqual([2, expect.stringContaining('Say which it is')])
  }
  expect((await office.tranche('adopt', '--moved', '--reason', ' ')).code).toBe(2)
})

test('a merchant at another address sends nothing until it is adopted, and then nothing twice', async () => {
  const office = await open()
  const { input } = await submitted(office, 4)
  const rows = [...refunds(4), ...refunds(2, 50)]
  const credentials = { username: 'shop', password: 's3cret-pass' }
  const moved = await openSandbox({ ...credentials, clock: () => Date.now() })
  onTestFinished(() => moved.close())
  moved.prepare(preparationFor(rows))
  const env = { TRANCHE_GATEWAY_URL: moved.url }
  const both = await office.put('both.csv', toCsv(rows))

  for (const args of [
    ['worker', '--until-idle'],
    ['run', both, '--out', office.path('out.csv')],
  ]) {
    const refused = await office.trancheWith(env, ...args)
    expect(refused.code, refused.stderr).toBe(2)
    expect(refused.stderr).toContain('tranche adopt --merchant default --reason TEXT')
    expect(refused.stderr).toContain('give it a name of its own')
    expect(refused.stderr).toMatch(/was s… at http:\S+ in this ledger and is s… at http:/)
    expect(refused.stderr).not.toContain('shop')
  }
  expect([office.sandbox.received(), moved.received()]).toEqual([0, 0])
  const adopted = await office.trancheWith(env, 'adopt', '--merchant', 'default', '--reason', 'a letter', '--json')
  expect(adopted.code, adopted.stderr).toBe(0)
  expect(adopted.last).toMatchObject({
    ...{ adopted: 'merchant', merchant: 'default', username: 's…', was: { url: office.sandbox.url, username: 's…' } },
  })
  expect(adopted.stdout + adopted.stderr).not.toContain('shop')
  const ran = await office.trancheWith(env, 'run', both, '--out', office.path('out.csv'))
  expect(ran.code, ran.stderr).toBe(6) // four rows are of the batch before, which this run does not work off
  expect((await office.trancheWith(env, 'worker', '--until-idle')).code).toBe(0)
  expect((await office.trancheWith(env, 'run', input, '--out', office.path('first.csv'))).code).toBe(0)
  expect([office.sandbox.received(), moved.received()]).toEqual([0, 6])
})

const LOST = [
  { what: 'removed', lose: (office: Office) => rmSync(office.ledgerPath) },
  { what: 'replaced by a copy', lose: (office: Office) => renameSync(office.path('kept.db'), office.ledgerPath) },
  { what: 'left without its log', lose: (office: Office) => rmSync(`${office.ledgerPath}-wal`) },
  { what: 'left without the index of its log', lose: (office: Office) => rmSync(`${office.ledgerPath}-shm`) },
]

test.each(LOST)(
  'a ledger that is $what under a worker ends it at once; nothing is lost or sent twice',
  async ({ lose }) => {
    const office = await open({ latencyMs: 40, env: { TRANCHE_IN_FLIGHT: '4' } })
    const { input, batch } = await submitted(office, 150)
    copy(office.ledgerPath, office.path('kept.db'))
    const working = await office.worker()
    await until('the batch is under way', () => approved(office) >= 12, working)
    lose(office)
    const ended = await working.ended
    expect(ended.code, ended.stderr).toBe(1)
    expect(ended.stderr).toContain('while it was in use. Nothing more is sent.')
    expect(office.sandbox.received()).toBeLessThan(150)
    const [saved = ''] = readdirSync(office.dataDir).filter((name) => name.startsWith('ledger.saved-'))
    expect(ended.stderr).toContain(join(office.dataDir, saved))
    expect(statSync(join(office.dataDir, saved)).mode & 0o777).toBe(0o600)

    // Whatever stands there now is not it.
    const without = await office.tranche('worker', '--until-idle')
    const gone = !existsSync(office.ledgerPath)
    expect(without.code, without.stderr).toBe(gone ? 2 : 6)
    expect((await office.tranche('adopt', '--moved', '--reason', 'try')).code).toBe(gone ? 2 : 6)

    for (const part of ['', '-wal', '-shm']) rmSync(office.ledgerPath + part, { force: true })
    renameSync(join(office.dataDir, saved), office.ledgerPath)
    const open_ = recordedIn(office).filter((row) => row.state === 'SENDING')
    for (const { reference } of open_) expect(ended.stderr).toContain(`${reference} (REFUND`)
    const adopted = await office.tranche('adopt', '--moved', '--reason', 'put back')
    expect(adopted.code, adopted.stderr + ended.stderr).toBe(0)
    const out = office.path('out.csv')
    const last = await office.tranche('run', input, '--out', out, '--json')
    expect(last.code, last.stderr).toBe(open_.length === 0 ? 0 : 5)
    expect(last.last.batch).toBe(batch)
    const inDoubt = recordedIn(office).filter((row) => row.state === 'IN_DOUBT')
    expect(inDoubt.map((row) => row.reference)).toEqual(open_.map((row) => row.reference))
    expect(compareBooks(booksOf(office, { input, out }))).toEqual([])
  },
)

test('of a ledger that is half taken over as an older state nothing is sent, wherever that was broken off, until it is taken over whole', async () => {
  const office = await open()
  const rows = 1_200 // some steps
  await submitted(office, rows)
  const doubts = () => statesOf(office).filter((state) => state === 'IN_DOUBT').length
  const restore = (dieAt: number) =>
    office.trancheWith(
      { NODE_OPTIONS: `--import=${DYING}`, DIE_IN: '/nowhere', DIE_AT: String(dieAt) },
      ...['adopt', '--restored', '--reason', 'the whole machine was rolled back', '--json'],
    )
  const halves = new Set<number>()
  for (let dieAt = 1; (await restore(dieAt)).code !== 0; dieAt++) {
    if (doubts() === 0) continue
    halves.add(doubts())
    const worker = await office.tranche('worker', '--until-idle')
    expect([worker.code, worker.stderr]).toEqual([6, expect.stringContaining('has not come to its end')])
    const moved = await office.tranche('adopt', '--moved', '--reason', 'x')
    expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining('It cannot be the newest state')])
  }
  expect([...halves].filter((half) => half < rows).length).toBeGreaterThan(0)
  expect(doubts()).toBe(rows)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  expect(office.sandbox.received()).toBe(0)
})
