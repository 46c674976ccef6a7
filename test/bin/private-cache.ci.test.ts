import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const BIN = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url))
const ANOTHER_USER = 4001
const isRoot = process.getuid?.() === 0

let dir: string
let home: string
let shared: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tranche-cache-'))
  home = join(dir, 'home')
  shared = join(dir, 'tmp')
  mkdirSync(home, { mode: 0o700 })
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function start(env: Record<string, string> = {}): void {
  const ran = spawnSync(process.execPath, [BIN, '--version'], {
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: shared, ...env },
    encoding: 'utf8',
  })
  expect(ran.stderr).toBe('')
  expect(ran.status).toBe(0)
}

function filesIn(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : []
}

describe('compiled code', () => {
  it('is kept in the home of its user, which no other user can write to', () => {
    start()
    const kept = join(home, '.cache', 'tranche', 'compiled')
    expect(filesIn(kept)).not.toEqual([])
    for (const path of [kept, join(home, '.cache', 'tranche')]) expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(filesIn(shared)).toEqual([])
  })

  it('is kept where XDG_CACHE_HOME says', () => {
    start({ XDG_CACHE_HOME: join(home, 'caches') })
    expect(filesIn(join(home, 'caches', 'tranche', 'compiled'))).not.toEqual([])
  })

  it.each(['777', '770', '775'])('is not kept in a directory of mode 0%s', (digits) => {
    const mode = Number.parseInt(digits, 8)
    const open = join(home, '.cache', 'tranche', 'compiled')
    mkdirSync(open, { recursive: true })
    chmodSync(open, mode)
    start()
    expect(filesIn(open)).toEqual([])
  })

  it('is not kept below a directory in which another user could put another in its place', () => {
    chmodSync(home, 0o777)
    start()
    expect(filesIn(home)).toEqual([])
  })

  it('is not kept behind a link to a directory that others can write', () => {
    const open = join(shared, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    mkdirSync(join(home, '.cache'))
    symlinkSync(open, join(home, '.cache', 'tranche'))
    start()
    expect(filesIn(open)).toEqual([])
  })

  it.skipIf(!isRoot)('is neither kept nor looked for in the directory of another user', () => {
    const planted = join(home, '.cache', 'tranche', 'compiled')
    mkdirSync(planted, { recursive: true })
    chownSync(planted, ANOTHER_USER, ANOTHER_USER)
    start()
    expect(filesIn(planted)).toEqual([])
    rmSync(join(home, '.cache'), { recursive: true })
    chownSync(home, ANOTHER_USER, ANOTHER_USER)
    start()
    expect(filesIn(home)).toEqual([])
  })
})
