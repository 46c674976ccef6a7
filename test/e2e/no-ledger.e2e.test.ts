// Where no ledger is, none is made by the way: its volume may not be mounted, and a new one would send everything again.

import { chownSync, existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
afterEach(() => office.close())

async function fileOf(count: number): Promise<string> {
  const rows = refunds(count)
  office.sandbox.prepare(preparationFor(rows))
  return office.put('in.csv', toCsv(rows))
}

test('every command that needs a ledger ends with 2, says where it looked, and makes nothing', async () => {
  office = await openOffice({ made: false })
  const input = await fileOf(3)
  const inbox = office.path('inbox')
  await mkdir(inbox)
  const commands = [
    ['run', input, '--out', office.path('out.csv')],
    ['submit', input],
    ['worker', '--until-idle'],
    ['inbox', inbox, '--operation', 'REFUND', '--once'],
    ['status'],
    ['in-doubt', 'list'],
    ['results', '261120-k7q2m', '--out', office.path('out.csv')],
    ['rate'],
  ]
  for (const args of commands) {
    const ended = await office.tranche(...args)
    expect([ended.code, ended.stderr], args[0]).toEqual([
      2,
      expect.stringContaining(`There is no ledger at ${office.ledgerPath};`),
    ])
    expect(ended.stderr).toContain('Check that its volume is mounted')
    expect(ended.stderr).toContain('Create it, once: tranche init')
  }
  const { stdout } = await office.tranche('doctor')
  expect(stdout).toContain(`FIX  ledger: There is no ledger at ${office.ledgerPath};`)
  expect(stdout).toContain('ok   witness: none yet, as there is no ledger')
  expect(readdirSync(office.dataDir)).toEqual([])
  expect(existsSync(office.witnessDir)).toBe(false)
  expect(office.sandbox.received()).toBe(0)
})

test('check and a rehearsal need none, and check says that nothing was compared', async () => {
  office = await openOffice({ made: false })
  const input = await fileOf(3)
  const checked = await office.tranche('check', input)
  expect([checked.code, checked.stderr]).toEqual([0, expect.stringContaining('was not compared with earlier batches')])
  const rehearsed = await office.tranche('run', input, '--out', office.path('try.csv'), '--sandbox')
  expect(rehearsed.code, rehearsed.stderr).toBe(0)
  expect(readdirSync(office.dataDir)).toEqual([])
  expect(existsSync(office.witnessDir)).toBe(false)
})

test('in the directory of another user nothing is read or left, by root neither', async () => {
  office = await openOffice()
  const input = await fileOf(1)
  const isRoot = process.geteuid?.() === 0
  if (isRoot) chownSync(office.dataDir, 65_534, 65_534)
  const theirs = isRoot ? office.dataDir : '/usr'
  const before = readdirSync(theirs)
  for (const args of [['run', input], ['worker', '--until-idle'], ['status'], ['doctor']]) {
    const { code, stdout, stderr } = await office.trancheWith({ TRANCHE_DATA_DIR: theirs }, ...args)
    expect([code, stdout + stderr], args[0]).toEqual([
      2,
      expect.stringMatching(/another user .*sudo -u '#\d+' tranche/),
    ])
    expect(stdout + stderr).not.toMatch(/Unexpected failure/)
  }
  expect(readdirSync(theirs)).toEqual(before)
  const noFolder = await office.trancheWith({ TRANCHE_DATA_DIR: input }, 'doctor')
  expect([noFolder.stdout, noFolder.stderr]).toEqual([
    expect.stringContaining('FIX  ledger: '),
    expect.stringContaining('Fix what'),
  ])
})

test('init makes it, its owner’s alone; the second time it changes nothing', async () => {
  office = await openOffice({ made: false })
  const made = await office.tranche('init', '--json')
  expect(made.last).toMatchObject({ ledger: office.ledgerPath, made: true })
  const again = await office.tranche('init', '--json')
  expect([again.code, again.last]).toEqual([0, { ...made.last, made: false }])
  const input = await fileOf(3)
  expect((await office.tranche('run', input, '--out', office.path('out.csv'))).code).toBe(0)
})

test('init asks before an account of this machine gets a second ledger, and doctor says where the other one is', async () => {
  office = await openOffice({ made: false, env: { TRANCHE_GATEWAY_URL: 'https://pay.invalid' } })
  const clerk = { TRANCHE_DATA_DIR: office.path('other') }
  const marks = office.path('w/accounts')
  expect((await office.tranche('init')).code).toBe(0)
  expect((await office.tranche('init')).code).toBe(0)
  const second = await office.trancheWith(clerk, 'init')
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(/default has a ledger already: .*d\/ledger\.db; .*No ledger was made.*tranche init --yes/s),
  ])
  expect(existsSync(office.path('other/ledger.db'))).toBe(false)
  const anotherAccount = { ...clerk, TRANCHE_GATEWAY_USERNAME: 'another', TRANCHE_DATA_DIR: office.path('third') }
  expect((await office.trancheWith(anotherAccount, 'init')).code).toBe(0)
  expect((await office.tranche('doctor')).stdout).not.toMatch(/another ledger/)
  expect((await office.trancheWith(clerk, 'init', '--yes')).code).toBe(0)
  expect((await office.tranche('doctor')).stdout).toMatch(
    /^WARN accounts: another ledger .*default.*other\/ledger\.db/m,
  )
  expect((await office.trancheWith(clerk, 'doctor')).stdout).toMatch(/^WARN accounts: .*d\/ledger\.db/m)
  expect([statSync(marks).mode & 0o7777, readdirSync(marks).length]).toEqual([0o1777, 3])

  // One that was made before its account was configured is not used for it before somebody says that it is meant.
  const early = { TRANCHE_DATA_DIR: office.path('early') }
  const input = await office.put('in.csv', toCsv(refunds(1)))
  expect((await office.trancheWith({ ...early, TRANCHE_GATEWAY_USERNAME: 'first' }, 'init')).code).toBe(0)
  expect((await office.trancheWith(early, 'init')).code).toBe(0)
  const used = await office.trancheWith(early, 'submit', input)
  expect([used.code, used.stderr]).toEqual([2, expect.stringMatching(/d\/ledger\.db; .*tranche init --yes/s)])
  expect((await office.trancheWith(early, 'init', '--yes')).code).toBe(0)
  expect((await office.trancheWith(early, 'submit', input)).code).toBe(0)
})

test('a live merchant behind a proxy on this machine gets no second ledger either', async () => {
  office = await openOffice({ made: false, env: { TRANCHE_ENVIRONMENT: 'live' } })
  expect((await office.tranche('init')).code).toBe(0)
  const second = await office.trancheWith({ TRANCHE_DATA_DIR: office.path('other') }, 'init')
  expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('default has a ledger already')])
})

test('no mark is left in a folder that somebody put there, nor for a gateway of this machine', async () => {
  office = await openOffice({ made: false })
  expect((await office.tranche('init')).code).toBe(0)
  expect(existsSync(office.path('w/accounts'))).toBe(false)
  const elsewhere = { TRANCHE_GATEWAY_URL: 'https://pay.invalid', TRANCHE_DATA_DIR: office.path('other') }
  await mkdir(office.path('mine'))
  await symlink(office.path('mine'), office.path('w/accounts'))
  expect((await office.trancheWith(elsewhere, 'init')).code).toBe(0)
  expect(readdirSync(office.path('mine'))).toEqual([])
})

test('an init that was killed before it had made a table is made up for by the next one, which says so', async () => {
  office = await openOffice({ made: false })
  putFileWithoutTables()
  expect((await office.tranche('status')).stderr).toContain(`There is no ledger at ${office.ledgerPath};`)
  expect((await office.tranche('init', '--json')).last).toMatchObject({ made: true })
})

/** Of one page. */
function putFileWithoutTables(): void {
  const db = new DatabaseSync(office.ledgerPath)
  db.exec('PRAGMA journal_mode = WAL; VACUUM')
  db.close()
}

test('a run that fires while its volume is not mounted sends nothing; the next one goes on', async () => {
  office = await openOffice({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '2' } })
  const input = await fileOf(40)
  const run = ['run', input, '--out', office.path('out.csv')]
  const first = office.start(...run)
  await until('something was sent', () => office.sandbox.received() >= 5, first)
  first.kill('SIGKILL')
  await first.ended
  const sent = office.sandbox.log().length
  await rename(office.dataDir, office.path('unmounted'))
  const without = await office.tranche(...run)
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('but there was one')])
  const made = await office.tranche('init')
  expect([made.code, made.stderr]).toEqual([2, expect.stringContaining('No new one was made')])
  expect(office.sandbox.log()).toHaveLength(sent)
  // Nor is a file without tables the ledger that was here, as an init leaves one that is killed.
  await mkdir(office.dataDir, { mode: 0o700, recursive: true })
  putFileWithoutTables()
  const filled = await office.tranche('init')
  expect([filled.code, filled.stderr]).toEqual([2, expect.stringContaining('No new one was made')])
  await rm(office.dataDir, { recursive: true })
  await rename(office.path('unmounted'), office.dataDir)
  expect([0, 5]).toContain((await office.tranche(...run)).code)
  const orders = office.sandbox.log().map((entry) => entry.orderId)
  expect(new Set(orders).size).toBe(orders.length)
})
