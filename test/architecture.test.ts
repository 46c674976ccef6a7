// Who may import whom. A room knows `domain`, `ports`, `files` and itself, and `processors` know `throttle`. Only `app.ts` and `app/`
// know all rooms; `commands` and `server` know the app and no room. `present` makes words and objects of domain for every door.
// Inside the ledger, `rules` are pure: they know `domain`, `ports` and themselves. `texts` know `rules` as well, and the digests of Node.

import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOMS = [
  'domain',
  'ports',
  'files',
  'config',
  'ingest',
  'inbox',
  'throttle',
  'queues',
  'client',
  'processors',
  'gateway',
  'events',
  'identity',
  'ledger',
  'observability',
  'results',
  'spool',
  'sandbox',
  'present',
  'server',
  'console',
  'commands',
]
/** What is wired together. */
const UNDER_THE_APP = [
  ...ROOMS.filter((room) => !['commands', 'server', 'console', 'present', 'client'].includes(room)),
  'actor.ts',
  'log.ts',
]
const TOP = ['cli.ts', 'cli', 'app.ts', 'app', 'actor.ts', 'log.ts']
const TOP_MAY_KNOW: Readonly<Record<string, readonly string[]>> = {
  'cli.ts': ['domain', 'ports', 'present', 'commands', 'cli', 'app.ts', 'app', 'log.ts'],
  cli: ['ports', 'present', 'commands', 'cli', 'app.ts'],
  'app.ts': [...UNDER_THE_APP, 'app'],
  app: [...UNDER_THE_APP, 'app.ts', 'app'],
  'actor.ts': ['domain'],
  'log.ts': ['domain', 'ports'],
}

/** What every engine of the ledger obeys or runs, so no engine, clock or file may be in it. */
const SHARED = ['ledger/rules', 'ledger/texts'] as const
type Shared = (typeof SHARED)[number]
const SHARED_MAY_KNOW: Readonly<Record<Shared, readonly string[]>> = {
  'ledger/rules': ['domain', 'ports'],
  'ledger/texts': ['domain', 'ports', 'ledger/rules'],
}

/** Only they know the command line. What all others say is shown at every door, which spells the ways in it. */
const COMMAND_LINE = ['cli.ts', 'cli', 'commands', 'present']
/** Options that are not ours, and words that are stored so. */
const NO_OPTIONS: Readonly<Record<string, RegExp>> = {
  'queues/private-redis.ts': /^ *'--[a-z-]+',|'--pdeathsig'/,
  'ledger/texts/conditions.ts': /LIKE '--restored: %'/,
}
/** Several runs share a process in the tests. */
const OF_A_RUN =
  /\bprocess\.(?:env|cwd|chdir|umask|argv|stdin|stdout|stderr|exit|exitCode|on|once|off|send|channel|connected)\b|\b(?:homedir|tmpdir)\(/
const OPTION_OR_COMMAND = /tranche [a-z]|(?:^|[^-a-zA-Z])--[a-z][a-z-]+/

/** Static, dynamic, side-effect and type imports, and re-exports. Something that cannot be read is returned as it stands. */
function importsIn(source: string): string[] {
  const statement = /^[ \t]*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"]+)['"]/gm
  const call = /\b(?:import|require)\(\s*(?:['"`]([^'"`$]+)['"`]\s*[,)]|([^)]*))/g
  const statements = [...source.matchAll(statement)].map(([, name]) => name as string)
  const calls = [...source.matchAll(call)].map(([, name, computed]) => name ?? `computed: ${computed}`)
  return [...statements, ...calls]
}

/** What is loaded with the file itself: static imports that are more than types. */
function valuesAtOnceIn(source: string): string[] {
  const statement = /^(?:import|export)\s+(?!type\b)(?:[^'"`;]*?\bfrom\s*)?['"]([^'"]+)['"]/gm
  return [...source.matchAll(statement)].map(([, name]) => name as string)
}

/** null: allowed; else why not. `file` and the answer are relative to src. */
function offence(file: string, imported: string): string | null {
  const room = roomOf(file)
  if (![...ROOMS, ...TOP].includes(room)) return `${file} is in no known room`
  if (imported.startsWith('computed: ')) return `${file} imports what cannot be read here: ${imported}`
  if (!imported.startsWith('.')) {
    const pure = sharedRoomOf(file) ?? room
    if (pure === 'ledger/texts' && imported === 'node:crypto') return null // digests of what is recorded
    if (['domain', 'present', ...SHARED].includes(pure)) return `${pure} is pure, and ${file} imports ${imported}`
    const sqlite = imported === 'node:sqlite' && !/^(ledger\/sqlite|files)\//.test(file)
    if (sqlite) return `only ledger/sqlite and the lock of files know SQLite, and ${file} imports it`
    const provider = imported === 'openid-client' && room !== 'identity'
    if (provider) return `only identity speaks to an identity provider, and ${file} imports ${imported}`
    const server = /^pg(-|\/|$)/.test(imported) && !file.startsWith('ledger/postgres/')
    if (server) return `only ledger/postgres knows PostgreSQL, and ${file} imports ${imported}`
    const redis = /^(bullmq|ioredis)(\/|$)/.test(imported)
    return redis && room !== 'queues' && room !== 'client'
      ? `only queues and the client speak to Redis, and ${file} imports ${imported}`
      : null
  }
  const path = posix.join(posix.dirname(file), imported)
  const target = roomOf(path)
  const shared = sharedRoomOf(file)
  if (shared !== null && ![...SHARED_MAY_KNOW[shared], shared].includes(sharedRoomOf(path) ?? target))
    return `${file} imports ${imported}`
  if (room === 'client') return target === 'client' ? null : `${file} imports ${imported}`
  const known = TOP_MAY_KNOW[room] ?? [
    room,
    'domain',
    ...(room === 'domain' || room === 'present' ? [] : ['ports']),
    ...(['domain', 'ports', 'present'].includes(room) ? [] : ['files']),
    ...(room === 'processors' ? ['throttle'] : []),
    ...(['commands', 'server', 'console'].includes(room) ? ['app.ts', 'app', 'present'] : []),
    ...(room === 'commands' ? ['server', 'console'] : []),
  ]
  return known.includes(target) ? null : `${file} imports ${imported}`
}

function sharedRoomOf(file: string): Shared | null {
  return SHARED.find((room) => file.startsWith(`${room}/`)) ?? null
}

function roomOf(file: string): string {
  return file.split('/')[0] as string
}

describe('the rooms', () => {
  test('know domain and themselves only', () => {
    const files = globSync('**/*.ts', { cwd: 'src' })
    expect(files).toContain('ports/ledger/work.ts')
    const offences = files.flatMap((file) =>
      importsIn(readFileSync(`src/${file}`, 'utf8')).map((imported) => offence(file, imported)),
    )
    expect(offences.filter((why) => why !== null)).toEqual([])
  })

  test('load when they are opened: reading the ledger starts no BullMQ', () => {
    const wiring = globSync(['app.ts', 'app/*.ts', 'cli.ts', 'cli/*.ts'], { cwd: 'src' })
    const light = ['present', 'domain', 'ports', 'files', 'config', 'log.ts', 'actor.ts', 'app.ts', 'app', 'cli']
    const atOnce = wiring.flatMap((file) =>
      valuesAtOnceIn(readFileSync(`src/${file}`, 'utf8'))
        .filter((imported) => imported.startsWith('.'))
        .map((imported) => posix.join(posix.dirname(file), imported)),
    )
    const heavy = atOnce.filter((target) => !light.includes(roomOf(target)))
    expect(heavy.toSorted()).toEqual(
      ['durations', 'environment', 'option-texts', 'own-process', 'terminal'].map((name) => `commands/${name}.ts`),
    )
  })

  test('write no option and no command, but for the command line itself', () => {
    const files = globSync('**/*.ts', { cwd: 'src' }).filter((file) => !COMMAND_LINE.includes(roomOf(file)))
    expect(files).toEqual(expect.arrayContaining(['ingest/fields/rivals.ts', 'app.ts']))
    const written = files.flatMap((file) =>
      readFileSync(`src/${file}`, 'utf8')
        .split('\n')
        .filter((line) => OPTION_OR_COMMAND.test(line) && NO_OPTIONS[file]?.test(line) !== true)
        .map((line) => `${file}: ${line.trim()}`),
    )
    expect(written).toEqual([])
  })

  test('take what belongs to one run from its `Io`, not from the process', () => {
    const taken = globSync('**/*.ts', { cwd: 'src' }).filter((file) =>
      OF_A_RUN.test(readFileSync(`src/${file}`, 'utf8')),
    )
    expect(taken.toSorted()).toEqual([
      'app/temporary-folder.ts', // goes with the process at the latest
      'cli.ts', // the entry
      'commands/own-process.ts',
      'ledger/sqlite/thread/work-thread.ts', // what Node itself reads there
    ])
  })

  test.each([
    ['ledger/a.ts', "import { a } from '../gateway/b.ts'"],
    ['ledger/a.ts', "import type { a } from '../queues/b.ts'"],
    ['ledger/a.ts', "import {\n  a,\n} from '../results/b.ts'"],
    ['ledger/a.ts', "export { a } from '../app.ts'"],
    ['ledger/a.ts', "const b = await import('../ingest/b.ts')"],
    ['ledger/a.ts', 'const b = await import(name)'],
    ['ledger/deep/a.ts', "import '../../sandbox/b.ts'"],
    ['commands/run.ts', "import { a } from '../ledger/a.ts'"],
    ['server/routes/a.ts', "import { a } from '../../ledger/a.ts'"],
    ['server/a.ts', "import { a } from '../commands/run.ts'"],
    ['app/a.ts', "import { a } from '../server/server.ts'"],
    ['config/a.ts', "import { a } from '../app.ts'"],
    ['processors/a.ts', "import { a } from '../app/b.ts'"],
    ['app/a.ts', "import { a } from '../commands/b.ts'"],
    ['commands/a.ts', "import { a } from '../cli/b.ts'"],
    ['present/a.ts', "import type { a } from '../app/b.ts'"],
    ['present/a.ts', "import type { a } from '../ports/clock.ts'"],
    ['present/a.ts', "import { a } from '../commands/terminal.ts'"],
    ['present/a.ts', "import { styleText } from 'node:util'"],
    ['domain/a.ts', "import { a } from '../present/a.ts'"],
    ['processors/a.ts', "import { a } from '../present/a.ts'"],
    ['app/a.ts', "import { Queue } from 'bullmq'"],
    ['commands/a.ts', "import { a } from '../config/b.ts'"],
    ['processors/a.ts', "import { Queue } from 'bullmq'"],
    ['app.ts', "import { Redis } from 'ioredis/built/index.js'"],
    ['app.ts', "import { DatabaseSync } from 'node:sqlite'"],
    ['client/a.ts', "import type { a } from '../domain/a.ts'"],
    ['app/a.ts', "import { discovery } from 'openid-client'"],
    ['app/a.ts', "import { a } from '../client/client.ts'"],
    ['app/ledger.ts', "import { Client } from 'pg'"],
    ['ledger/sqlite/a.ts', "import { from } from 'pg-copy-streams'"],
    ['ledger/rules/a.ts', "import type { DatabaseSync } from 'node:sqlite'"],
    ['ledger/rules/a.ts', "import { randomUUID } from 'node:crypto'"],
    ['ledger/rules/a.ts', "import { a } from '../sqlite/a.ts'"],
    ['ledger/rules/a.ts', "import type { a } from '../../files/a.ts'"],
    ['ledger/rules/a.ts', "import { a } from '../a.ts'"],
    ['ledger/rules/a.ts', "import { a } from '../texts/a.ts'"],
    ['ledger/texts/a.ts', "import type { DatabaseSync } from 'node:sqlite'"],
    ['ledger/texts/work/a.ts', "import { readFileSync } from 'node:fs'"],
    ['ledger/texts/a.ts', "import { Client } from 'pg'"],
    ['ledger/texts/work/a.ts', "import { a } from '../../sqlite/a.ts'"],
    ['ledger/texts/a.ts', "import { a } from '../sqlite/a.ts'"],
    ['ledger/texts/a.ts', "import { a } from '../../files/a.ts'"],
    ['domain/a.ts', "import { readFileSync } from 'node:fs'"],
    ['domain/a.ts', "import { a } from '../ledger/a.ts'"],
    ['domain/a.ts', "import { a } from '../files/a.ts'"],
    ['domain/a.ts', "import type { a } from '../ports/clock.ts'"],
    ['ports/a.ts', "import { a } from '../files/a.ts'"],
    ['ports/ledger/a.ts', "import { a } from '../../ledger/sqlite/a.ts'"],
    ['files/a.ts', "import { a } from '../ingest/a.ts'"],
    ['throttle/a.ts', "import { a } from '../processors/a.ts'"],
    ['inbox/a.ts', "import { a } from '../ingest/a.ts'"],
    ['ingest/csv/a.ts', "import { a } from '../../ledger/a.ts'"],
    ['ledger/sqlite/copies/a.ts', "import { a } from '../../../queues/a.ts'"],
    ['domain/a.ts', "import { a } from '../../test/a.ts'"],
    ['shared/a.ts', "import { a } from './b.ts'"],
    ['tools.ts', "import 'node:fs'"],
  ])('%s may not say %s', (file, source) => {
    expect(importsIn(source).map((imported) => offence(file, imported))).toEqual([expect.any(String)])
  })
})
