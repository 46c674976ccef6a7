// A command as a function: where it looks for files, and what it leaves behind.

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice } from '../fixtures/cli.ts'
import { preparationFor, refunds, toCsv } from '../fixtures/files.ts'
import { gathering, ioOf } from '../fixtures/io.ts'
import { ENGINES } from '../fixtures/office-on.ts'
import { newServerLedger } from '../fixtures/postgres.ts'
import { CLI, programOf } from '../fixtures/program.ts'

const CHILD = new URL('../fixtures/child-main.ts', import.meta.url)
const rows = refunds(5)

let office: Office
beforeEach(async () => {
  office = await openOffice()
  office.sandbox.prepare(preparationFor(rows))
  await office.put('in.csv', toCsv(rows))
})
afterEach(() => office.close())

/** In the directory of the office, which is not the one of this process. */
async function there(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const { main } = await programOf()
  const [stdout, stderr] = [gathering(), gathering()]
  const code = await main(args, ioOf({ ...office.settings, ...env }, { cwd: office.dir, stdout, stderr }))
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

test('arguments, options and settings that name a file begin in the directory of the run', async () => {
  await writeFile(office.path('password'), 's3cret-pass')
  await mkdir(office.path('deep'))
  const env = { TRANCHE_GATEWAY_PASSWORD: undefined, TRANCHE_GATEWAY_PASSWORD_FILE: './password' }
  const ran = await there(env, 'run', 'in.csv', '--out', 'deep/out.csv', '--report', 'deep/page.html', '--json')
  expect(ran).toMatchObject({ code: 0, stderr: expect.not.stringContaining('cannot') })
  expect(JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ results: office.path('deep/out.csv') })
  expect((await there(env, 'check', 'in.csv', '--details', 'd2')).stderr).toContain(office.path('d2'))
  expect((await there(env, 'results', 'nope', '--out', '-')).stderr).toContain('There is no batch "nope"')
  const config = await there({ TRANCHE_CONFIG: 'merchants.yaml' }, 'doctor')
  expect(config.stdout + config.stderr).toContain(office.path('merchants.yaml'))
})

test('a process writes what the function writes, and ends with what it returns', async () => {
  const bad = await office.put('bad.csv', toCsv(rows).replace('EUR', 'XXQ'))
  const { batch } = (await office.tranche('submit', office.path('in.csv'), '--json')).last
  await office.tranche('pause', batch, '--reason', 'to look')
  const commands = [
    [0, '--version'],
    [0, 'check', '--help'],
    [0, 'in-doubt', 'list', '--json'],
    [2, 'submti'],
    [2, 'status', 'nope', '--json'],
    [6, 'status', '--check'],
    [7, 'check', bad],
  ] as const
  for (const [code, ...words] of commands) {
    const { code: exit, stdout, stderr } = await office.spawned(...words)
    expect(exit, stderr).toBe(code)
    expect(await office.tranche(...words)).toMatchObject({ code, stdout, stderr })
  }
})

test.each(ENGINES)(
  'on %s what has come to its end leaves no timer, thread, process or listener behind',
  async (engine) => {
    const onServer = async () => ({ ...(await newServerLedger()), TRANCHE_DATA_DIR: office.path('of-server') })
    const env = { ...office.settings, ...(engine === 'SQLite' ? {} : await onServer()) }
    const out = (name: string) => office.path(`${name}.csv`)
    const commands = [
      ['init'],
      ['status'],
      ['check', office.path('in.csv')],
      ['run', office.path('in.csv'), '--sandbox', '--out', out('rehearsed')],
      ['submit', office.path('in.csv')],
      ['worker', '--until-idle'],
      ['run', office.path('in.csv'), '--out', out('again')],
      ['backup', office.path('copy.db')],
      ['audit', 'verify'],
      ['events'],
      ['no-such-command'],
    ]
    const argv = [fileURLToPath(CHILD), CLI, ...commands.map((words) => JSON.stringify(words))]
    const { stdout } = await promisify(execFile)(process.execPath, argv, { env })
    const ends = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const left = { resources: [], signals: [], onExit: 0 }
    expect(ends).toEqual(
      commands.map(([name]) => ({ exit: name === 'no-such-command' ? 2 : 0, left, stderr: expect.any(String) })),
    )
  },
)
