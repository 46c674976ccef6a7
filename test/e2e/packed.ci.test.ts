// What `npm run package` makes, installed from an empty prefix and used from another directory: a person has this, never a checkout.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countsIn } from '../fixtures/books.ts'
import { openOffice } from '../fixtures/cli.ts'
import { openRedisServer } from '../fixtures/redis.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'sbom.cdx.json']

let place: string
let checkout: string
let installed: string
let tranche: string

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'tranche-packed-'))
  checkout = join(place, 'checkout')
  cpSync(ROOT, checkout, { recursive: true, filter: (path) => !NOT_COPIED.includes(basename(path)) })
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'))
  run('npm', ['run', 'package', '--silent', '--', '--pack-destination', place], { cwd: checkout })
  const [tarball] = globSync('tranche-*.tgz', { cwd: place })
  const prefix = join(place, 'prefix')
  const install = ['install', '--global', '--prefix', prefix, '--ignore-scripts', join(place, tarball as string)]
  // A cache that has all of it needs no registry.
  if (tryToRun('npm', [...install, '--offline']).status !== 0) run('npm', install)
  installed = join(prefix, 'lib', 'node_modules', 'tranche')
  tranche = join(prefix, 'bin', 'tranche')
}, 600_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('a packed Tranche', () => {
  test('has all that README and the documents link to', () => {
    const documents = globSync('{*.md,docs/**/*.md,bench/*.md,secrets/*.md}', { cwd: installed })
    expect(documents).toContain('README.md')
    const missing = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, path]) => posix.join(dirname(document), path as string))
        .filter((path) => !existsSync(join(installed, path))),
    )
    expect(missing).toEqual([])
    const named = [...read('README.md').matchAll(/\bexamples\/[\w./-]*\w/g)].map(([path]) => path)
    expect(named.filter((path) => !existsSync(join(installed, path)))).toEqual([])
  })

  test('brings the service unit and the example files, and no source', () => {
    const there = globSync('{examples/**/*.*,src}', { cwd: installed })
    expect(there).toEqual(expect.arrayContaining(['examples/systemd/tranche-worker.service', 'examples/refunds.csv']))
    expect(there).not.toContain('src')
    expect(there).not.toContain('examples/demo.ts') // it needs a checkout
  })

  test('installs exactly the versions of package-lock.json, overrides included; of a package in two versions the other one is nested', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    const found = globSync('node_modules/{*,@*/*}/package.json', { cwd: installed }).map((path) => {
      const { name, version } = JSON.parse(read(path)) as { name: string; version: string }
      return { name, version }
    })
    const names = found.map(({ name }) => name)
    const { dependencies, overrides } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), ...Object.keys(overrides)]))
    expect(found).toEqual(names.map((name) => ({ name, version: packages[`node_modules/${name}`].version })))
    const nested = globSync('node_modules/{*,@*/*}/node_modules/{*,@*/*}/package.json', { cwd: installed }).map(dirname)
    const { packages: shrunk } = JSON.parse(read('npm-shrinkwrap.json')) as { packages: object }
    expect(nested.toSorted()).toEqual(Object.keys(shrunk).filter((path) => path.lastIndexOf('node_modules/') > 0))
  })

  test('holds a shrinkwrap of the same versions with hashes, without the tools of development', () => {
    const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
    const { packages } = JSON.parse(read('npm-shrinkwrap.json'))
    const paths = Object.keys(packages).filter((path) => path !== '')
    expect(paths).not.toContain('node_modules/vitest')
    expect(paths.map((path) => packages[path].integrity)).toEqual(paths.map((path) => locked[path].integrity))
    const bill = JSON.parse(read('sbom.cdx.json')) as { components: { name: string }[] }
    expect(new Set(bill.components.map(({ name }) => name))).toEqual(
      new Set(paths.map((path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))),
    )
  })

  test('names no registry in any file', () => {
    const own = globSync('{*,{bin,dist,docs,examples,formats,bench,secrets}/**/*}', {
      cwd: installed,
      exclude: ['node_modules'],
    })
    const files = own.filter((path) => /\.\w+$/.test(path))
    expect(files.length).toBeGreaterThan(100)
    expect(files.filter((path) => /\/\/registry\.|"resolved": "/.test(read(path)))).toEqual([])
  })

  test('is made without touching what is tracked, and npm pack alone makes none', () => {
    const { stdout } = tryToRun('diff', ['-rq', ...NOT_COPIED.map((name) => `--exclude=${name}`), ROOT, checkout])
    expect(stdout).toBe('')
    const packed = tryToRun('npm', ['pack'], { cwd: checkout })
    expect([packed.status, packed.stderr]).toEqual([1, expect.stringContaining('npm run package')])
    expect(globSync('*.tgz', { cwd: checkout })).toEqual([])
  })
})

describe('an installed Tranche', () => {
  test('says its version, checks a file and rehearses it, from another directory', () => {
    const elsewhere = join(place, 'elsewhere')
    mkdirSync(elsewhere)
    const from = { cwd: elsewhere }
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(run(tranche, ['--version'], from).stdout).toBe(`${version}\n`)
    const refunds = join(installed, 'examples', 'refunds.csv')
    const checked = run(tranche, ['check', refunds, '--operation', 'REFUND'], from)
    expect(checked.stdout).toContain('5 rows: 5 to be sent')
    const ran = tryToRun(tranche, ['run', refunds, '--operation', 'REFUND', '--sandbox', '--out', 'tried.csv'], from)
    expect(ran.status, ran.stderr).toBe(3) // the sandbox declines 5.02
    expect(countsIn(join(elsewhere, 'tried.SANDBOX.csv'))).toEqual({ APPROVED: 4, DECLINED: 1 })
  })

  test('brings a client to a service that has it as a dependency, with its types, and a worker takes what that hands in', async () => {
    const service = join(place, 'service')
    mkdirSync(service)
    writeFileSync(join(service, 'package.json'), '{"name":"service","private":true,"type":"module"}')
    const [tarball] = globSync('tranche-*.tgz', { cwd: place })
    const install = ['install', '--ignore-scripts', '--no-audit', join(place, tarball as string)]
    if (tryToRun('npm', [...install, '--offline'], { cwd: service }).status !== 0) run('npm', install, { cwd: service })
    cpSync(join(installed, 'examples', 'service.mjs'), join(service, 'service.mjs'))

    const wrong =
      "import type { Instruction } from 'tranche/client'\n// @ts-expect-error a refund names an order\nexport const refund: Instruction = { transaction_type: 'REFUND', reference: 'A', amount: '1.00', request_currency: 'EUR' }\n"
    writeFileSync(join(service, 'typed.ts'), wrong)
    const strict = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      '',
    ]
    run(join(ROOT, 'node_modules', '.bin', 'tsc'), [...strict, 'typed.ts'], { cwd: service })

    const office = await openOffice()
    await using redis = await openRedisServer(office.path('r.sock'))
    const own = join(service, 'node_modules', '.bin', 'tranche')
    const env = { ...office.settings, TRANCHE_REDIS_URL: redis.path }
    const worker = spawn(own, ['worker'], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
    try {
      const served = spawnSync(process.execPath, ['service.mjs', 'CAP-1', '700000001'], {
        ...{ cwd: service, encoding: 'utf8', timeout: 60_000 },
        env: { PATH: process.env.PATH, TRANCHE_REDIS_URL: redis.path },
      })
      expect(served.stdout, served.stderr).toMatch(/^CAP-1: accepted, row 1 of batch \S+\n$/m)
    } finally {
      const ended = once(worker, 'exit')
      worker.kill('SIGTERM')
      await ended
      await office.close()
    }
  })

  const oldNode = nodesOnPath().find((node) => /^v(?:1\d|2[0-3])\./.test(tryToRun(node, ['--version']).stdout))
  test.skipIf(oldNode === undefined)('says under an older Node which one it needs, and ends with 2', () => {
    const { status, stderr } = tryToRun(oldNode as string, [tranche, 'status'])
    expect(stderr).toMatch(/^tranche needs Node 24\.12 or newer; this is [\d.]+\. Nothing was done\.\n/)
    expect(status).toBe(2)
  })
})

function read(path: string): string {
  return readFileSync(join(installed, path), 'utf8')
}

function nodesOnPath(): string[] {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']
  return directories.map((directory) => join(directory, 'node')).filter((path) => existsSync(path))
}

function run(command: string, args: readonly string[], options: { cwd?: string } = {}) {
  const ended = tryToRun(command, args, options)
  if (ended.status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${ended.status} ${ended.stdout}${ended.stderr}`)
  return ended
}

/** With the Node of this test in front, and nothing of whoever runs it. */
function tryToRun(command: string, args: readonly string[], options: { cwd?: string } = {}) {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRANCHE_|NODE_OPTIONS$|VITEST|npm_)/.test(name))
  const env = {
    ...Object.fromEntries(own),
    ...{ PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, NO_COLOR: '1' },
    ...{ TRANCHE_DATA_DIR: join(place ?? tmpdir(), 'data'), TRANCHE_WITNESS_DIR: join(place ?? tmpdir(), 'witness') },
  }
  return spawnSync(command, args, { ...options, env, encoding: 'utf8' })
}
