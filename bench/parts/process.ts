// Runs what is measured as a process of its own, and says what it took: time from start to end, processor time, most memory.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { momentMs } from './moment.ts'

const PROBE = new URL('probe.mjs', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../../bin/tranche.js', import.meta.url))

export interface Took {
  /** From its start to its end, as its parent sees them. */
  readonly seconds: number
  /** User and system, all threads. */
  readonly cpuMs: number
  /** Resident at most. */
  readonly peakMiB: number
}

/** An object that a process wrote to stdout. */
// biome-ignore lint/suspicious/noExplicitAny: looked into by name, and a wrong name fails the case
export type Said = Record<string, any>

export interface Ended extends Took {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** The last line of stdout, as JSON. */
  readonly last: Said
}

export interface Running {
  readonly pid: number
  readonly ended: Promise<Ended>
  /** The same promise; rejects when the process ends before. */
  meanwhile<T>(awaited: Promise<T>): Promise<T>
  /** The first object on stdout that has this event; rejects when the process ends without it. */
  said(event: string): Promise<Said>
  kill(signal: NodeJS.Signals): void
}

export interface How {
  readonly env: NodeJS.ProcessEnv
  /** Where the probe leaves its figures. */
  readonly dir: string
  /** Without the probe nothing is loaded but the program; then there are no figures of processor and memory. */
  readonly bare?: boolean
  /** A folder for profiles of its threads. Being profiled costs time. */
  readonly profiles?: string
}

const RUNNING = new Set<ChildProcess>()
let probes = 0

export function startTranche(args: readonly string[], how: How): Running {
  return startNode([PROGRAM, ...args], how)
}

/** One of `bench/sides`. */
export function startSide(name: string, args: readonly string[], how: How): Running {
  return startNode([fileURLToPath(new URL(`../sides/${name}.ts`, import.meta.url)), ...args], how)
}

export function startNode(args: readonly string[], { env, dir, bare = false, profiles }: How): Running {
  probes += 1
  const probe = join(dir, `probe-${probes}.json`)
  const profiling = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`]
  const flags = bare ? [] : ['--import', PROBE, ...profiling]
  const startedMs = momentMs()
  const child = spawn(process.execPath, [...flags, ...args], {
    env: { ...env, BENCH_PROBE: probe },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  RUNNING.add(child)
  const out = gather(child, 'stdout')
  const err = gather(child, 'stderr')
  let endedMs = 0
  child.once('exit', () => {
    endedMs = momentMs()
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      RUNNING.delete(child)
      const { cpuMs, peakMiB } = told(probe)
      const seconds = (endedMs - startedMs) / 1000
      const stdout = out.text()
      resolve({ code, seconds, cpuMs, peakMiB, stdout, stderr: err.text(), last: lastOf(stdout) })
    })
  })
  const meanwhile = <T>(awaited: Promise<T>): Promise<T> => {
    const gone = ended.then(({ code, stderr }): never => {
      throw new Error(`${args.join(' ')} ended with ${code} too early: ${stderr.slice(-2_000)}`)
    })
    return Promise.race([awaited, gone])
  }
  return {
    pid: child.pid as number,
    ended,
    meanwhile,
    said: (event) =>
      meanwhile(out.until((line) => line.includes(`"event":"${event}"`))).then((line) => JSON.parse(line) as Said),
    kill: (signal) => void child.kill(signal),
  }
}

/** Of a process that was killed there are none. */
function told(probe: string): Pick<Took, 'cpuMs' | 'peakMiB'> {
  try {
    const { cpuMs, peakKb } = JSON.parse(readFileSync(probe, 'utf8')) as { cpuMs: number; peakKb: number }
    rmSync(probe)
    return { cpuMs, peakMiB: peakKb / 1024 }
  } catch {
    return { cpuMs: Number.NaN, peakMiB: Number.NaN }
  }
}

function gather(child: ChildProcess, name: 'stdout' | 'stderr') {
  let text = ''
  const looks = new Set<() => void>()
  child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (const look of looks) look()
  })
  return {
    text: () => text,
    until: (fits: (line: string) => boolean) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const line = text.split('\n').slice(0, -1).find(fits)
          if (line === undefined) return
          looks.delete(look)
          resolve(line)
        }
        looks.add(look)
        look()
      }),
  }
}

function lastOf(stdout: string): Said {
  try {
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Said
  } catch {
    return {}
  }
}

/** A case that did not do its work has no figures. */
export function assertDone(isTrue: boolean, what: string, ended?: Pick<Ended, 'code' | 'stdout' | 'stderr'>): void {
  if (isTrue) return
  const said = ended === undefined ? '' : `\n${ended.stdout.slice(-1_000)}\n${ended.stderr.slice(-2_000)}`
  throw new Error(`${what}${ended === undefined ? '' : ` (exit ${ended.code})`}${said}`)
}

/** What is still running when the bench ends, however that came. */
export function killAll(): void {
  for (const child of RUNNING) child.kill('SIGKILL')
}
