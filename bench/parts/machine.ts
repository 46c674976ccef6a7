// Where and with what the figures were measured.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { findRedisServer } from '../../src/queues/private-redis.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LIBRARIES = ['undici', 'bullmq', 'csv-parse', 'csv-stringify'] as const

export interface Machine {
  readonly cores: number
  readonly processor: string
  readonly memoryGiB: number
  readonly kernel: string
  readonly versions: Readonly<Record<string, string>>
  /** Of this repository; `+` behind it: with changes. */
  readonly commit: string
}

export function machineNow(): Machine {
  const { node, sqlite = '' } = process.versions
  const libraries = LIBRARIES.map((name) => [name, versionOf(name)] as const)
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    versions: { node, sqlite, redis: redisVersion(), ...Object.fromEntries(libraries) },
    commit: said('git', ['-C', ROOT, 'describe', '--always', '--exclude=*', '--dirty=+']),
  }
}

/** Of the last minute, by all processes. */
export function loadNow(): number {
  return loadavg()[0] as number
}

function versionOf(library: string): string {
  return (JSON.parse(readFileSync(`${ROOT}/node_modules/${library}/package.json`, 'utf8')) as { version: string })
    .version
}

function redisVersion(): string {
  return /v=([\d.]+)/.exec(said(findRedisServer(process.env), ['--version']))?.[1] ?? 'unknown'
}

function said(program: string, args: readonly string[]): string {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout?.trim() || 'unknown'
}
