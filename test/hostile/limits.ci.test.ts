// Where something has no room: results on a full disk, /dev/full for an output, a process without file descriptors, a
// limit to the size of files.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { canMountSmallDisk, startChildOnSmallDisk } from '../fixtures/children.ts'
import { type Running, type Said, until } from '../fixtures/cli.ts'
import { refunds } from '../fixtures/files.ts'
import { CLI } from '../fixtures/program.ts'
import { openPlace, type Place, takingMs } from './place.ts'

test.concurrent.for([
  { full: 'before the run', noteBytes: 0 },
  { full: 'by the results themselves', noteBytes: 4_000 },
])(
  'a disk that is full for the results ($full) costs the results, not the record',
  async ({ noteBytes }, { expect, skip, onTestFinished }) => {
    await using place = await openPlace({ TRANCHE_IN_FLIGHT: '8' })
    const { office, gateway } = place
    const disk = office.path('s')
    await mkdir(disk)
    if (!canMountSmallDisk(disk)) skip('a process may not mount a disk of its own here')
    const rows = refunds(400).map((row) => ({ ...row, note: `${row.reference}${'n'.repeat(noteBytes)}` }))
    const { input, out } = await place.file('in', rows)
    const child = startChildOnSmallDisk(disk, 1, 'child-office.ts', [disk], settingsOf(place))
    onTestFinished(() => child.kill())
    const there = async (word: string, ...args: readonly string[]) => {
      const heard = child.lines.length
      child.tell(`${word} ${JSON.stringify(args)}`)
      await until(`an answer to ${word}`, () => child.lines.length > heard || child.over)
      return JSON.parse(child.lines[heard] ?? '{}') as Said
    }
    if (noteBytes === 0) await there('fill')
    const ran = await there('run', 'run', input, '--out', `${disk}/out.csv`)
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/no space left.*worked off all the same/s)])
    expect(gateway.received()).toHaveLength(rows.length)
    expect(place.lies()).toEqual([])
    const again = await office.tranche('run', input, '--out', out)
    expect(again.code, again.stderr).toBe(0)
    expect(gateway.received()).toHaveLength(rows.length)
    expect(place.lies({ input, out })).toEqual([])
  },
)

test.concurrent.for([
  { command: 'run', stdio: ['ignore', 'full', 'pipe'] },
  { command: 'run', stdio: ['ignore', 'pipe', 'full'] },
  { command: 'status', stdio: ['ignore', 'full', 'full'] },
] as const)(
  'an output that takes nothing (/dev/full, $command $stdio) stops no row',
  async ({ command, stdio }, { expect }) => {
    await using place = await openPlace()
    const { office, gateway } = place
    const { input, out } = await place.file('in', refunds(40))
    const args = command === 'run' ? ['run', input, '--out', out, '--json'] : ['status', '--json']
    const child = spawn(process.execPath, [CLI, ...args], {
      env: { PATH: process.env.PATH, ...settingsOf(place) },
      stdio: stdio.map((one) => (one === 'full' ? openSync('/dev/full', 'w') : one)) as ['ignore', 'pipe', 'pipe'],
    })
    child.stdout?.resume()
    child.stderr?.resume()
    const [code] = await once(child, 'close')
    // Whoever reads only the code must learn that what belongs on stdout is lost.
    expect(code).toBe(stdio[1] === 'full' ? 1 : 0)
    if (command === 'status') return
    expect(countsIn(out)).toEqual({ APPROVED: 40 })
    expect(gateway.received()).toHaveLength(40)
    const again = await office.tranche('run', input, '--out', out)
    expect(again.code, again.stderr).toBe(0)
    expect(gateway.received()).toHaveLength(40)
    expect(place.lies({ input, out })).toEqual([])
  },
)

test.concurrent('results to /dev/full are refused before anything is sent', async ({ expect }) => {
  await using place = await openPlace()
  const { input } = await place.file('in', refunds(3))
  const ran = await place.office.tranche('run', input, '--out', '/dev/full')
  expect(ran.code, ran.stderr).toBe(2)
  expect(place.gateway.received()).toEqual([])
})

function settingsOf({ office, gateway }: Place): NodeJS.ProcessEnv {
  return {
    TMPDIR: office.dir,
    NO_COLOR: '1',
    TRANCHE_DATA_DIR: office.dataDir,
    TRANCHE_WITNESS_DIR: office.witnessDir,
    TRANCHE_GATEWAY_URL: gateway.url,
    TRANCHE_GATEWAY_USERNAME: 'shop',
    TRANCHE_GATEWAY_PASSWORD: 's3cret-pass',
    TRANCHE_IN_FLIGHT: '8',
  }
}

/** Of a process that runs. False where this system has no such thing. */
function limit({ pid }: Running, what: string): boolean {
  return spawnSync('prlimit', [`--pid=${pid}`, what], { stdio: 'ignore' }).status === 0
}

test.concurrent('a process without file descriptors sends nothing, and nothing is in doubt', async ({
  expect,
  skip,
}) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '8', TRANCHE_RATE: '60' }, takingMs(20))
  const { office, gateway } = place
  const { input, out } = await place.file('in', refunds(200))
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => gateway.received().length >= 50, running)
  if (!limit(running, '--nofile=10:')) skip('there is no prlimit here')
  const unsent = () => place.moves('unsent')
  await until('connections cannot be made', () => unsent() >= 3, running)
  limit(running, '--nofile=1024:')
  const ran = await running.ended
  expect(ran.code, ran.stderr).toBe(0)
  expect(countsIn(out)).toEqual({ APPROVED: 200 })
  expect(gateway.received()).toHaveLength(200)
  expect(place.lies({ input, out })).toEqual([])
})

test.concurrent('a process whose files may not grow any more sends nothing that it cannot record', async ({
  expect,
  skip,
}) => {
  await using place = await openPlace({ TRANCHE_IN_FLIGHT: '8', TRANCHE_RATE: '60' }, takingMs(20))
  const { office, gateway } = place
  const { input, out } = await place.file('in', refunds(300))
  const running = office.start('run', input, '--out', out)
  await until('the run is under way', () => gateway.received().length >= 50, running)
  if (!limit(running, '--fsize=100000:')) skip('there is no prlimit here')
  const stopped = await running.ended
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringContaining('Everything stopped at once')])
  expect(gateway.received().length).toBeLessThan(300)
  const again = await office.tranche('run', input, '--out', out)
  expect([0, 5], again.stderr).toContain(again.code)
  const { APPROVED = 0, IN_DOUBT = 0 } = countsIn(out)
  expect([APPROVED + IN_DOUBT, IN_DOUBT <= 8]).toEqual([300, true])
  expect(place.lies({ input, out })).toEqual([])
})
