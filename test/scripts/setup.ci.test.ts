// Set-up in a clone of its own, where npm, sudo and the package manager are stand-ins. What set-up says and what it runs is in
// one transcript, so that their order shows.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AS_SERVER } from '../fixtures/postgres.ts'
import { CTRL_C, commandOnTerminal, HAS_TERMINALS } from '../fixtures/terminals.ts'

const INSTALL = 'apt-get -o DPkg::Lock::Timeout=120 install -y -q --no-install-recommends'
const REFRESH = 'apt-get -o DPkg::Lock::Timeout=120 update -q'
const NEEDED = 'setup: Redis is needed, and neither redis-server nor valkey-server was found on PATH.'

let nodeDir: string
let dir: string
const at = (name: string) => join(dir, name)

// A copy: the user that set-up runs as here may not read a clone under /root.
beforeAll(() => {
  nodeDir = mkdtempSync(join(tmpdir(), 'tranche-setup-node-'))
  chmodSync(nodeDir, 0o755)
  copyFileSync(process.execPath, join(nodeDir, 'node'))
})
afterAll(() => rmSync(nodeDir, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tranche-setup-'))
  for (const path of ['bin', 'clone/scripts', 'clone/node_modules']) mkdirSync(at(path), { recursive: true })
  for (const file of ['package.json', 'package-lock.json', 'scripts/setup.mjs']) cpSync(file, at(`clone/${file}`))
  symlinkSync(join(nodeDir, 'node'), at('bin/node'))
  writeFileSync(at('transcript'), '')
  for (const path of ['', 'bin', 'clone/node_modules', 'transcript']) chmodSync(at(path), 0o777)
  standIn('npm')
  standIn('sudo', 'if [ "$1" = -n ]; then shift; fi; exec "$@"')
  standIn('true')
  sells('redis-server', 'faketime', 'chromium')
})
afterEach(() => rmSync(dir, { recursive: true }))

/** Writes its command line into the transcript, then does what the script says. */
function standIn(name: string, script = ''): void {
  const note = `echo "$ ${name} $*" >> ${at('transcript')}`
  writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${note}\n${script}\n`, { mode: 0o755 })
}

/** The package manager has these packages, each with a program of its name. */
function sells(...packages: readonly string[]): void {
  const put = `cp ${at('bin/true')} ${at('bin')}/$word`
  standIn('apt-get', `PATH=/usr/bin:/bin; for word; do case $word in ${packages.join('|')}) ${put};; esac; done`)
}

/** As a user who is not root, without a terminal. Gives the lines since the last time. */
async function setUp(flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const before = readFileSync(at('transcript'), 'utf8').length
  const output = openSync(at('transcript'), 'a')
  const child = spawn(at('bin/node'), [at('clone/scripts/setup.mjs'), ...flags], {
    ...AS_SERVER,
    env: { PATH: at('bin'), ...env },
    stdio: ['ignore', output, output],
  })
  const [code] = await once(child, 'close')
  closeSync(output)
  const lines = readFileSync(at('transcript'), 'utf8').slice(before).trimEnd().split('\n')
  const commands = lines.filter((line) => line.startsWith('$ apt-get ')).map((line) => line.slice(2))
  return { code, lines, commands }
}

describe('without a terminal', () => {
  test('Redis alone is installed, and what is run is said first', async () => {
    expect(await setUp()).toMatchObject({
      code: 0,
      lines: [
        'setup: installing dependencies (npm ci) …',
        expect.stringMatching(/^\$ npm ci /),
        '$ sudo -n true',
        '$ true ',
        `setup: installing Redis (as root, by sudo): sudo -n ${INSTALL} redis-server …`,
        `$ sudo -n ${INSTALL} redis-server`,
        `$ ${INSTALL} redis-server`,
      ],
    })
    expect(await setUp()).toEqual({ code: 0, lines: [''], commands: [] })
  })

  test.each([undefined, '', '0', 'false'])(
    'with CI=%s what else CI needs is named with its command, and set-up goes on',
    async (CI) => {
      const { code, lines, commands } = await setUp(['--ci'], { CI })
      expect([code, commands]).toEqual([0, [`${INSTALL} redis-server`]])
      expect(lines).toContain('setup: not on this machine, and untried without it:')
      expect(lines).toContain('  Chromium: pages in a browser')
      expect(lines.at(-2)).toBe('To install it (as root, by sudo):')
      expect(lines.at(-1)).toMatch(new RegExp(`^  sudo ${INSTALL} .* faketime .*chromium\\b`))
      expect(lines.join()).not.toContain('Spin')
    },
  )

  test.each([
    ['CI=1', [], { CI: '1' }],
    ['--yes', ['--yes'], {}],
  ])('%s installs the whole tier, and one by one what is not to be had together', async (_how, flags, env) => {
    expect((await setUp(flags, env)).commands).toEqual([`${INSTALL} redis-server`])
    const { code, lines, commands } = await setUp(['--search', ...flags], env)
    expect(code).toBe(0)
    expect(commands[0]).toMatch(/ faketime .*chromium .*spin gcc libc6-dev$/)
    expect(commands[1]).toBe(REFRESH)
    expect(commands).toContain(`${INSTALL} spin gcc libc6-dev`)
    expect(commands).not.toContain(`${INSTALL} chromium`)
    expect(lines).toContain('  Spin and gcc: the model of claims')
  })

  test('a Redis on another machine will do, but not for the tests', async () => {
    const env = { TRANCHE_REDIS_URL: 'redis://r.example' }
    expect(await setUp([], { ...env, npm_lifecycle_event: 'predemo' })).toMatchObject({ code: 0, commands: [] })
    const { commands } = await setUp([], { ...env, npm_lifecycle_event: 'pretest' })
    expect(commands).toEqual([`${INSTALL} redis-server`])
  })

  test('a user without rights is told the command, and nothing is run', async () => {
    standIn('sudo', 'exit 1')
    const { code, lines, commands } = await setUp()
    expect([code, commands]).toEqual([2, []])
    expect(lines.slice(-2)).toEqual([
      `${NEEDED} This user may not install packages. To install it (as root, by sudo):`,
      `  sudo ${INSTALL} redis-server`,
    ])
    rmSync(at('bin/sudo'))
    expect((await setUp()).lines.at(-1)).toBe(`  ${INSTALL} redis-server`)
    rmSync(at('bin/apt-get'))
    expect(await setUp()).toMatchObject({ code: 2, lines: [expect.stringMatching(/Install it and run this again\.$/)] })
  })

  test('where Redis cannot be had, the manager says why', async () => {
    standIn('apt-get', 'echo "E: Unable to locate package" >&2; exit 100')
    const { code, lines, commands } = await setUp()
    const [redis, valkey] = [`${INSTALL} redis-server`, `${INSTALL} valkey-server`]
    expect([code, commands]).toEqual([2, [redis, REFRESH, redis, valkey]])
    expect(lines).toContain('E: Unable to locate package')
  })

  test('an interruption lets the manager finish, and ends set-up', async () => {
    standIn('apt-get', 'kill -INT $PPID; echo done >&2')
    expect(await setUp()).toMatchObject({ code: 130, commands: [`${INSTALL} redis-server`] })
  })

  test('without a network npm says why', async () => {
    standIn('npm', 'echo "npm error network" >&2; exit 1')
    expect(await setUp()).toMatchObject({ code: 1, lines: expect.arrayContaining(['npm error network']), commands: [] })
  })

  test('a tier that does not exist is refused', async () => {
    const { code, lines } = await setUp(['--tests'])
    expect([code, lines[0]]).toEqual([2, "setup: Unknown option '--tests'"])
  })
})

describe.skipIf(!HAS_TERMINALS)('on a terminal', () => {
  async function onTerminal(answer: string | null, ...flags: readonly string[]) {
    const command = ['env', '-i', `PATH=${at('bin')}`, 'TERM=xterm', 'node', at('clone/scripts/setup.mjs'), ...flags]
    const { code, screen } = await commandOnTerminal(command, { PATH: process.env.PATH }, answer, 200, AS_SERVER)
    const commands = readFileSync(at('transcript'), 'utf8').match(/(?<=^\$ )apt-get .*$/gm) ?? []
    return { code, screen, commands }
  }

  test('a person is asked once, and shown what is installed, for what, and by which command', async () => {
    const { code, screen, commands } = await onTerminal('y\n', '--ci')
    expect(screen).toContain('  Redis: everything that sends instructions\n')
    expect(screen).toContain('  Chromium: pages in a browser\n')
    expect(screen.match(/Run this now\? \[y\/N\]/g)).toHaveLength(1)
    expect(screen).toContain(`To install it (as root, by sudo):\n  sudo ${commands[0]}\n`)
    expect([code, commands[0]]).toEqual([0, expect.stringMatching(/ redis-server .*chromium\b/)])
  })

  test.each([
    ['Enter, for Redis alone', '\n', { code: 0, commands: [`${INSTALL} redis-server`] }],
    ['No, for Redis', 'n\n', { code: 2, commands: [], screen: expect.stringContaining(NEEDED) }],
    ['Ctrl-C', CTRL_C, { code: 130, commands: [] }],
    ['Ctrl-D', '\x04', { code: 2, commands: [] }],
  ])('%s is respected', async (_what, answer, expected) => {
    expect(await onTerminal(answer)).toMatchObject(expected)
  })

  test.each(['\n', 'n\n'])('set-up goes on after a No to what only CI needs (%j)', async (answer) => {
    standIn('redis-server')
    expect(await onTerminal(answer, '--ci')).toMatchObject({ code: 0, commands: [] })
    expect((await onTerminal(null)).screen).not.toContain('?')
  })
})
