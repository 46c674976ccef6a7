// A copy put over the data directory while a worker works in it, as people do it: nothing is paid twice.

import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { startChild } from '../fixtures/children.ts'
import { type Office, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { useOffices } from './copying.ts'

const open = useOffices()

const ROWS = 30
const NO_WITNESS = { TRANCHE_WITNESS_DIR: 'none' }

/** With a batch of so many rows recorded. */
async function recorded(env: NodeJS.ProcessEnv): Promise<Office> {
  const office = await open({ latencyMs: 10, env: { TRANCHE_IN_FLIGHT: '2', ...env } })
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const said = await office.tranche('submit', await office.put('in.csv', toCsv(rows)))
  expect(said.code, said.stderr).toBe(0)
  return office
}

const shell = (office: Office, script: string) => execFileSync('sh', ['-ec', script], { cwd: office.dir })
const hasRsync = spawnSync('rsync', ['--version']).status === 0
const WAYS = [
  ['cp -a of the directory', 'cp -a bak/. d/'],
  ['cp -r of the directory', 'cp -r bak/. d/'],
  ['cp of the ledger', 'cp bak/ledger.db* d/'],
  ['cp -a of the ledger', 'cp -a bak/ledger.db* d/'],
  ['rsync -a --inplace', 'rsync -a --inplace bak/ d/'],
] as const
const PUT_OVER = WAYS.filter(([, script]) => hasRsync || !script.startsWith('rsync'))

describe.each([
  ['with a witness outside the directory', {}, PUT_OVER.slice(0, 1)], // it knows in one way, whatever was done
  ['where no witness can be kept', NO_WITNESS, PUT_OVER],
])('a copy made while a worker worked, put over it under the same worker %s', (_where, env, ways) => {
  test.each(ways)('by %s ends that worker, and nothing is sent twice', async (_how, script) => {
    const office = await recorded(env)
    const working = await office.worker()
    await until('some rows were sent', () => office.sandbox.received() >= 6, working)
    shell(office, 'cp -a d bak 2> /dev/null || true') // the sockets of Redis
    await until('all rows were sent', () => office.sandbox.received() === ROWS, working)
    shell(office, `${script} 2> /dev/null || true`)
    const ended = await working.ended
    expect(ended.code, ended.stderr).not.toBe(0) // SIGBUS as well: a file that it has mapped was cut off
    const again = await office.tranche('worker', '--until-idle')
    expect([again.code, again.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
    expect(office.sandbox.received()).toBe(ROWS)
  })
})

test('a state from before a worker, put over it after another program emptied the log, ends it', async () => {
  const office = await recorded({})
  shell(office, 'cp -a d bak')
  const working = await office.worker()
  await until('all rows were sent', () => office.sandbox.received() === ROWS, working)
  await startChild('child-sqlite.ts', office.ledgerPath, 'PRAGMA wal_checkpoint(RESTART)').ended()
  shell(office, 'cp -a bak/. d/')
  expect((await working.ended).code).not.toBe(0)
  expect((await office.tranche('worker', '--until-idle')).code).toBe(6)
  expect(office.sandbox.received()).toBe(ROWS)
})
