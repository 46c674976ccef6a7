// A data directory put back from a copy, as people do it, and a copy on a volume of its own: nothing is paid twice.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { openRedisServer } from '../fixtures/redis.ts'
import { fileSystems, openVolume, type Volume } from '../fixtures/volumes.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function open(options: Parameters<typeof openOffice>[0] = {}): Promise<Office> {
  const office = await openOffice(options)
  closing.push(() => office.close())
  return office
}

const NO_WITNESS = { TRANCHE_WITNESS_DIR: 'none' }
const ROWS = 6

async function recorded(office: Office): Promise<string> {
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const said = await office.tranche('submit', input)
  expect(said.code, said.stderr).toBe(0)
  return input
}

const shell = (office: Office, script: string) => execFileSync('sh', ['-ec', script], { cwd: office.dir })

const KEEP = 'cp -a d bak; tar cf bak.tar -C d .'
// Without --modify-window=-1, rsync leaves a file alone that has the same size and the same second: nothing is put back.
const PUT_BACK = [
  ['cp -a over it', 'cp -a bak/. d/'],
  ['cp -r over it', 'cp -r bak/* d/'],
  ['rm, then cp -a of the directory', 'rm -rf d; cp -a bak d'],
  ['tar over it', 'tar xf bak.tar -C d'],
  ['rm of the content, then cp -a', 'rm -rf d/*; cp -a bak/. d/'],
  ['rm, mkdir, then tar', 'rm -rf d; mkdir -m 700 d; tar xf bak.tar -C d'],
  ['mv away, then cp -a', 'mv d away; cp -a bak d'],
  ['rsync -a --delete', 'rsync -a --delete --modify-window=-1 bak/ d/'],
  ['rsync -a', 'rsync -a --modify-window=-1 bak/ d/'],
  ['rsync -a --inplace', 'rsync -a --inplace --modify-window=-1 bak/ d/'],
  ['rsync -a --inplace of every file', 'rsync -a --inplace --ignore-times bak/ d/'],
] as const

const PUT_BACK_UNDER_A_KILLED_WORKER = [
  ['cp -a', 'cp -a bak/. d/'],
  ['cp -a of the ledger alone', 'cp -a bak/ledger.db* d/'],
  ['rsync -a --inplace', 'rsync -a --inplace --modify-window=-1 bak/ d/'],
  ['rsync -a', 'rsync -a --modify-window=-1 bak/ d/'],
  ['the loss of its log', 'rm d/ledger.db-wal d/ledger.db-shm'],
] as const

const hasRsync = spawnSync('rsync', ['--version']).status === 0

describe.each([
  ['with a witness outside the directory', {}],
  ['where no witness can be kept', NO_WITNESS],
])('a data directory put back %s', (_where, env) => {
  const tried = ([, script]: readonly [string, string]) => hasRsync || !script.startsWith('rsync')

  test.each(PUT_BACK.filter(tried))('by %s sends nothing, and is known to be put back', async (_how, script) => {
    const office = await open({ env })
    const input = await recorded(office)
    shell(office, KEEP)
    const out = office.path('out.csv')
    // In a process of its own: this one keeps files of a ledger that it worked on, and what is put back may get the number of a removed one.
    expect((await office.spawned('run', input, '--out', out)).code).toBe(0)
    expect(office.sandbox.received()).toBe(ROWS)
    shell(office, script)
    const again = await office.tranche('run', input, '--out', office.path('again.csv'))
    expect([again.code, again.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
    expect((await office.tranche('status', '--json')).last.ledger_alarm).toBeDefined()
    expect(office.sandbox.received()).toBe(ROWS)
  })

  test.each(PUT_BACK_UNDER_A_KILLED_WORKER.filter(tried))(
    'by %s, from before its killed worker renewed the epoch, sends nothing',
    async (_how, script) => {
      const office = await open({ latencyMs: 20, env: { ...env, TRANCHE_IN_FLIGHT: '1' } })
      await recorded(office)
      const working = await office.worker()
      await until('something was sent', () => office.sandbox.received() >= 1, working)
      shell(office, 'cp -a d bak 2> /dev/null || true') // the sockets of Redis
      await until('more was sent', () => office.sandbox.received() >= 4, working)
      working.kill('SIGKILL')
      await working.ended
      const sent = office.sandbox.log().length
      shell(office, `${script} 2> /dev/null || true`)
      const again = await office.tranche('worker', '--until-idle')
      expect([again.code, again.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
      expect(office.sandbox.log()).toHaveLength(sent)
    },
  )
})

test('under an alarm no results are written over earlier ones, and every output says why', async () => {
  const office = await open()
  const input = await recorded(office)
  shell(office, KEEP)
  const out = office.path('out.csv')
  expect((await office.tranche('run', input, '--out', out)).code).toBe(0)
  const [good, summary] = [readFileSync(out, 'utf8'), readFileSync(office.path('out.summary.csv'), 'utf8')]
  shell(office, 'cp -a bak/. d/')
  const [{ batch }] = (await office.tranche('status', '--json')).last.batches
  expect((await office.tranche('status', batch, '--json')).last).toMatchObject({
    batch,
    ledger_alarm: { kind: 'older' },
  })
  for (const results of [
    ['--out', out],
    ['--out', office.path('new.csv'), '--exceptions', out],
  ]) {
    const over = await office.tranche('results', batch, ...results, '--json')
    expect([over.code, over.stderr]).toEqual([6, expect.stringContaining('was not written over')])
    expect(over.stderr).toContain('may not be the one that sent last')
  }
  shell(office, 'rm out.csv')
  expect((await office.tranche('results', batch, '--out', out)).code).toBe(6) // its summary
  shell(office, 'rm -f new*')
  const elsewhere = await office.tranche('results', batch, '--out', office.path('new.csv'), '--json')
  expect([elsewhere.code, elsewhere.last.ledger_alarm]).toEqual([0, expect.objectContaining({ kind: 'older' })])
  expect(elsewhere.stderr).toContain('may not be the one that sent last')
  expect(good).toContain('APPROVED')
  expect(readFileSync(office.path('out.summary.csv'), 'utf8')).toBe(summary)
})

test('results of a batch unknown to the ledger keep the run from being sent under another name', async () => {
  const office = await open()
  shell(office, KEEP)
  const rows = refunds(ROWS)
  office.sandbox.prepare(preparationFor(rows))
  const input = await office.put('in.csv', toCsv(rows))
  const run = ['run', input, '--out', office.path('out.csv')]
  expect((await office.tranche(...run)).code).toBe(0)
  shell(office, 'cp -a bak/. d/')
  expect((await office.tranche(...run)).code).toBe(6)
  expect((await office.tranche('adopt', '--restored', '--reason', 'disk failed')).code).toBe(0)
  const again = await office.tranche(...run)
  expect([again.code, again.stderr]).toEqual([6, expect.stringContaining('which this ledger does not know')])
  expect(again.stderr).not.toContain('move it away')
  expect(office.sandbox.received()).toBe(ROWS)
})

const HARMLESS = [
  ['chmod and chown', 'chmod -R g-w,u+rw d; chown -R "$(id -u):$(id -g)" d'],
  ['a program that reads every file', 'tar cf /dev/null d; cp -a d elsewhere; cat d/* > /dev/null'],
  ['hard links for a backup', 'cp -al d links; rm -r links'],
  ['a new name for the directory and back', 'mv d e; mv e d'],
] as const

describe('what is no reason for alarm', () => {
  test.each(HARMLESS)('%s', async (_what, script) => {
    const office = await open()
    const input = await recorded(office)
    shell(office, script)
    const ran = await office.tranche('run', input, '--out', office.path('out.csv'))
    expect(ran.code, ran.stderr).toBe(0)
    shell(office, script.replaceAll('elsewhere', 'elsewhere2'))
    expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
  })

  test('chmod after a worker was killed', async () => {
    const office = await open({ latencyMs: 20, env: { TRANCHE_IN_FLIGHT: '1' } })
    await recorded(office)
    const working = await office.worker()
    await until('something was sent', () => office.sandbox.received() >= 2, working)
    working.kill('SIGKILL')
    await working.ended
    shell(office, 'chmod -R g-w d')
    const again = await office.tranche('worker', '--until-idle')
    expect([0, 5], again.stderr).toContain(again.code)
  })

  test('chmod without a witness raises the alarm, as a copy would, and adopt settles it', async () => {
    const office = await open({ env: NO_WITNESS })
    const input = await recorded(office)
    expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
    expect((await office.tranche('doctor')).stdout).toContain('witness: nothing outside the data directory remembers')
    shell(office, 'chmod -R g-w d')
    const stopped = await office.tranche('worker', '--until-idle')
    expect([stopped.code, stopped.stderr]).toEqual([6, expect.stringContaining('TRANCHE_WITNESS_DIR')])
    expect((await office.tranche('adopt', '--moved', '--reason', 'chmod')).code).toBe(0)
    expect((await office.tranche('run', input, '--out', office.path('out.csv'))).code).toBe(0)
    expect(office.sandbox.received()).toBe(ROWS)
  })
})

const here = fileSystems()
const withDevice = here.filter((kind) => kind === 'ext4' || kind === 'xfs')

async function openOn(volume: Volume, env: NodeJS.ProcessEnv): Promise<Office> {
  closing.push(async () => volume.close())
  const dataDir = join(volume.dir, 'd')
  const office = await open({ env: { ...env, TRANCHE_DATA_DIR: dataDir }, made: false })
  const made = await office.tranche('init')
  expect(made.code, made.stderr).toBe(0)
  return office
}

describe.skipIf(here.length === 0)('on a volume of its own', () => {
  const cases = here.flatMap((kind) => [
    { kind, how: 'cp -a', script: 'cp -a' },
    { kind, how: 'a pipe of tar', script: 'tar' },
  ])
  test.each(cases)('a copy on a second $kind volume by $how sends nothing, and the first goes on', async (one) => {
    const first = openVolume(one.kind)
    const second = openVolume(one.kind)
    closing.push(async () => second.close())
    const office = await openOn(first, NO_WITNESS)
    await recorded(office)
    if (one.how === 'cp -a') execFileSync('cp', ['-a', join(first.dir, 'd'), second.dir])
    else execFileSync('sh', ['-c', `tar cf - -C ${first.dir} d | tar xf - -C ${second.dir}`])
    const copied = { TRANCHE_DATA_DIR: join(second.dir, 'd') }
    const copy = await office.trancheWith(copied, 'worker', '--until-idle')
    expect([copy.code, copy.stderr]).toEqual([6, expect.stringContaining('may not be the one that sent last')])
    expect(office.sandbox.received()).toBe(0)
    expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
    expect(office.sandbox.received()).toBe(ROWS)
  })

  test.each(here.filter((kind) => kind !== 'tmpfs'))('%s mounted again is no reason for alarm', async (kind) => {
    const volume = openVolume(kind)
    const office = await openOn(volume, NO_WITNESS)
    await recorded(office)
    volume.remount()
    expect((await office.spawned('worker', '--until-idle')).code).toBe(0)
    volume.remount()
    expect((await office.spawned('worker', '--until-idle')).code).toBe(0)
    expect(office.sandbox.received()).toBe(ROWS)
  })

  test.each(withDevice)('of two clones of an %s device on one machine, the witness stops the second', async (kind) => {
    const first = openVolume(kind)
    const office = await openOn(first, {})
    await recorded(office)
    const second = first.clone()
    closing.push(async () => second.close())
    const clone = { TRANCHE_DATA_DIR: join(second.dir, 'd') }
    const ended = await Promise.all([
      office.spawned('worker', '--until-idle'),
      office.spawnedWith(clone, 'worker', '--until-idle'),
    ])
    expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 6])
    expect(office.sandbox.received()).toBe(ROWS)
    const codes = [
      (await office.tranche('worker', '--until-idle')).code,
      (await office.trancheWith(clone, 'worker', '--until-idle')).code,
    ]
    expect(codes.toSorted()).toEqual([0, 6])
    expect(office.sandbox.received()).toBe(ROWS)
  })

  test.each(withDevice)(
    'of two clones of an %s device on hosts that share a Redis, Redis stops the second',
    async (kind) => {
      const first = openVolume(kind)
      const redis = await openRedisServer(join(first.dir, '..', 's'))
      closing.push(() => redis.kill())
      const office = await openOn(first, { TRANCHE_REDIS_URL: redis.path, TRANCHE_WITNESS_DIR: 'none' })
      await recorded(office)
      const second = first.clone()
      closing.push(async () => second.close())
      const clone = { TRANCHE_DATA_DIR: join(second.dir, 'd') }
      expect((await office.tranche('worker', '--until-idle')).code).toBe(0)
      const other = await office.trancheWith(clone, 'worker', '--until-idle')
      expect([other.code, other.stderr]).toEqual([6, expect.stringContaining('Redis records later work')])
      const moved = await office.trancheWith(clone, 'adopt', '--moved', '--reason', 'x')
      expect([moved.code, moved.stderr]).toEqual([2, expect.stringContaining('there is nothing to adopt')])
      expect(office.sandbox.received()).toBe(ROWS)
      const restored = await office.trancheWith(clone, 'adopt', '--restored', '--reason', 'x', '--json')
      expect([restored.code, restored.last.in_doubt], restored.stderr).toEqual([0, ROWS])
      expect((await office.trancheWith(clone, 'worker', '--until-idle')).code).toBe(0)
      expect(office.sandbox.received()).toBe(ROWS)
      const first_ = await office.tranche('worker', '--until-idle')
      expect([first_.code, first_.stderr]).toEqual([6, expect.stringContaining('Redis records later work')])
    },
  )
})

test('a copy cannot be taken over while the first is being worked off on this machine', async () => {
  const office = await open()
  const working = await office.worker()
  shell(office, 'cp -a d copy')
  const copy = { TRANCHE_DATA_DIR: office.path('copy') }
  const adopted = await office.trancheWith(copy, 'adopt', '--moved', '--reason', 'try')
  expect([adopted.code, adopted.stderr]).toEqual([
    6,
    expect.stringMatching(new RegExp(`A copy of .* is being worked off by process ${working.pid}`)),
  ])
})

test('of two copies on one machine, started together, only the adopted one sends', async () => {
  const office = await open({ latencyMs: 50 })
  await recorded(office)
  shell(office, 'cp -a d copy')
  const copy = { TRANCHE_DATA_DIR: office.path('copy') }
  expect((await office.trancheWith(copy, 'adopt', '--moved', '--reason', 'try')).code).toBe(0)
  const ended = await Promise.all([
    office.spawned('worker', '--until-idle'),
    office.spawnedWith(copy, 'worker', '--until-idle'),
  ])
  expect(ended.map(({ code }) => code).toSorted()).toEqual([0, 6])
  expect(office.sandbox.received()).toBe(ROWS)
})
