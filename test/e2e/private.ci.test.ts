// What other users of the machine can read, change or connect to while it works, and what stays when it is killed.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { takeLock } from '../../src/files/lock.ts'
import { findRedisServer } from '../../src/queues/private-redis.ts'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refundRow, refunds, toCsv } from '../fixtures/files.ts'

let office: Office
let umask: number
beforeEach(() => {
  umask = process.umask(0) // nothing is private by chance
})
afterEach(async () => {
  process.umask(umask)
  await office.close()
})

const modeOf = (path: string) => statSync(path).mode & 0o777
const LONG_AGO = new Date('2026-01-01T00:00:00Z')

function openToOthers(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
}

async function runTo(out: string, ...more: readonly string[]) {
  const rows = refunds(3)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv([...rows, refundRow(4, { amount: 'four' })]))
  return office.tranche('run', input, '--out', out, '--skip-invalid', '--json', ...more)
}

describe('files', () => {
  test('are for their owner alone: record, locks, results, rejects, worklist, backup', async () => {
    office = await openOffice({ apart: true })
    const results = office.path('results')
    mkdirSync(results)
    const at = (name: string) => join(results, name)
    await office.tranche('status') // looks at locks that are not there yet
    const ran = await runTo(at('out.csv'), '--exceptions', at('exceptions.csv'), '--rejects', at('rejects.csv'))
    expect(ran.code, ran.stderr).toBe(3)
    await office.tranche('in-doubt', 'list', '--out', at('doubts.csv'))
    await office.tranche('backup', at('ledger.bak'))
    await office.tranche('status')
    expect(readdirSync(results).toSorted()).toEqual(
      ['doubts.csv', 'exceptions.csv', 'ledger.bak', 'out.csv', 'out.summary.csv', 'rejects.csv'].toSorted(),
    )
    expect([...openToOthers(results), ...openToOthers(office.dataDir)]).toEqual([])
  })

  test('that are written again stay as open as their owner has made them', async () => {
    office = await openOffice({ apart: true })
    const out = office.path('out.csv')
    const { batch } = (await runTo(out)).last
    chmodSync(out, 0o640)
    expect((await office.tranche('results', batch as string, '--out', out)).code).toBe(0)
    expect(modeOf(out)).toBe(0o640)
  })

  test('in a directory that is set up for a group may be read by its group, and by no other', async () => {
    office = await openOffice({ apart: true })
    const shared = office.path('shared')
    mkdirSync(shared)
    chmodSync(shared, 0o2777)
    await runTo(join(shared, 'out.csv'))
    expect(modeOf(join(shared, 'out.csv'))).toBe(0o640)
  })

  test('of an inbox: folders, reports and results are as open to its group as the inbox', async () => {
    office = await openOffice({ apart: true })
    const [own, shared] = [office.path('own'), office.path('shared')]
    mkdirSync(own)
    mkdirSync(shared)
    chmodSync(shared, 0o2770)
    for (const inbox of [own, shared]) {
      writeFileSync(join(inbox, 'bad.csv'), 'reference,amount\nR-1,four\n')
      const once = await office.tranche('inbox', inbox, '--operation', 'REFUND', '--once', '--stable-for', '0s')
      expect(once.code, once.stderr).toBe(7)
    }
    const rejected = (inbox: string) =>
      readdirSync(join(inbox, 'rejected'))
        .filter((name) => name.endsWith('.report.txt'))
        .map((name) => modeOf(join(inbox, 'rejected', name)))
    expect([modeOf(join(own, 'rejected')), ...rejected(own)]).toEqual([0o700, 0o600])
    expect([modeOf(join(shared, 'rejected')), ...rejected(shared)]).toEqual([0o770, 0o640])
  })
})

describe('a data directory that other users can write', () => {
  test.each(['777', '770', '702'])(
    'of mode %s is refused by every command that opens the record, and by doctor',
    async (digits) => {
      office = await openOffice({ apart: true })
      chmodSync(office.dataDir, Number.parseInt(digits, 8))
      const input = await office.put('in.csv', toCsv(refunds(1)))
      for (const args of [
        ['init'],
        ['submit', input],
        ['run', input, '--out', office.path('o.csv')],
        ['worker', '--until-idle'],
        ['status'],
      ]) {
        const ended = await office.tranche(...args)
        expect([args[0], ended.code]).toEqual([args[0], 2])
        expect(ended.stderr).toContain(`chmod go-w ${office.dataDir}`)
      }
      expect((await office.tranche('doctor')).stdout).toMatch(/^FIX {2}ledger: Other users can write/m)
      expect(office.sandbox.received()).toBe(0)
      chmodSync(office.dataDir, 0o700)
      expect((await office.tranche('status')).code).toBe(0)
    },
  )
})

test('doctor names the files of the configuration that others can read or change', async () => {
  office = await openOffice({ apart: true })
  const password = await office.put('password', 's3cret-pass\n')
  const config = await office.put(
    'tranche.yaml',
    `merchants:\n  shop:\n    url: ${office.sandbox.url}\n    username: shop\n    password_file: ${password}\n`,
  )
  const env = {
    TRANCHE_CONFIG: config,
    TRANCHE_GATEWAY_URL: undefined,
    TRANCHE_GATEWAY_USERNAME: undefined,
    TRANCHE_GATEWAY_PASSWORD: undefined,
  }
  chmodSync(password, 0o644)
  chmodSync(config, 0o644)
  const said = async () =>
    /^(ok |FIX|WARN) +files of the configuration: .*$/m.exec((await office.trancheWith(env, 'doctor')).stdout)?.[0]
  expect(await said()).toContain(`WARN files of the configuration: other users of this machine can read ${password}`)
  chmodSync(config, 0o666)
  expect(await said()).toMatch(/^FIX /)
  chmodSync(password, 0o600)
  chmodSync(config, 0o644)
  expect(await said()).toBe('ok   files of the configuration: no other user can read or change them')
})

describe('a worker', () => {
  test('opens no debugger when it is sent SIGUSR1, and goes on', async () => {
    office = await openOffice({ apart: true })
    const worker = await office.worker({ TRANCHE_LOG_LEVEL: 'debug' })
    worker.kill('SIGUSR1')
    const rows = refunds(3)
    office.sandbox.prepare(preparationFor(rows))
    const { batch } = (await office.tranche('submit', await office.put('in.csv', toCsv(rows)), '--json')).last
    const isDone = async () => (await office.tranche('status', batch as string, '--json')).last.state === 'done'
    await until('the batch is done', isDone, worker)
    worker.kill('SIGTERM')
    const { code, stderr } = await worker.ended
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/debugger/i)
  })

  test('hands no setting of its own to the private Redis', async () => {
    office = await openOffice({ apart: true })
    const programs = office.path('programs')
    mkdirSync(programs)
    const [seen, server] = [office.path('seen'), join(programs, 'redis-server')]
    writeFileSync(server, `#!/bin/sh\nenv > '${seen}'\nexec '${findRedisServer(process.env)}' "$@"\n`)
    chmodSync(server, 0o755)
    await office.worker({ PATH: `${programs}:${process.env.PATH}` })
    const environment = readFileSync(seen, 'utf8')
    expect(environment).toContain('PATH=')
    expect(environment).not.toMatch(/TRANCHE|s3cret/)
  })
})

describe('what a kill left behind', () => {
  test('beside results goes with their next writing, once it is abandoned', async () => {
    office = await openOffice({ apart: true })
    const names = ['.out.csv.tmp-0123456789ab', '.out.csv.tmp-ba9876543210', '.other.csv.tmp-0123456789ab']
    for (const name of names) await office.put(name, 'half')
    for (const name of names.toSpliced(1, 1)) utimesSync(office.path(name), LONG_AGO, LONG_AGO)
    await runTo(office.path('out.csv'))
    expect(
      readdirSync(office.dir)
        .filter((name) => name.includes('.tmp-'))
        .toSorted(),
    ).toEqual([names[2], names[1]])
  })

  test('of a rehearsal goes with the next one, unless that is under way', async () => {
    office = await openOffice({ apart: true })
    const [dead, alive, fresh] = ['tranche-sandbox-dead01', 'tranche-sandbox-alive1', 'tranche-sandbox-fresh1'].map(
      office.path,
    ) as [string, string, string]
    for (const path of [dead, alive, fresh]) mkdirSync(path)
    const lock = takeLock(join(alive, 'held.lock'), {
      pid: process.pid,
      host: 'here',
      command: 'run',
      startedAtMs: 0,
    })
    for (const path of [dead, alive]) utimesSync(path, LONG_AGO, LONG_AGO)
    const ran = await runTo(office.path('try.csv'), '--sandbox')
    expect(ran.code, ran.stderr).toBe(3)
    expect([dead, alive, fresh].map(existsSync)).toEqual([false, true, true])
    if (lock.kind === 'taken') lock.release()
  })
})
