// The clock that all processes of a machine share, and the processor time of some of them while they run. Linux only.

import { readdirSync, readFileSync } from 'node:fs'

/** Monotonic milliseconds, the same in every process. */
export function momentMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const TICK_MS = 10

/** User and system time of all its threads so far, to 10 ms. */
export function cpuMsOf(pid: number): number {
  const { ownMs } = timesOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return ownMs
}

/** The same of the Redis or PostgreSQL server that runs in this folder, with all processes that it has or had. */
export function serverCpuMsIn(dir: string): number {
  const all = readdirSync('/proc').flatMap((pid) => (/^\d+$/.test(pid) ? serverProcess(pid, dir) : []))
  const first = all.find(({ isIn }) => isIn)
  if (first === undefined) return 0
  const below = all.filter(({ parent }) => parent === first.pid)
  return first.ownMs + first.endedMs + below.reduce((sum, { ownMs }) => sum + ownMs, 0)
}

function serverProcess(pid: string, dir: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    if (!/\((?:redis-server|postgres)/.test(stat)) return []
    const isIn = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dir)
    return [{ pid: Number(pid), isIn, ...timesOf(stat) }]
  } catch {
    return [] // it has ended
  }
}

/** `endedMs`: of its children that have ended. */
function timesOf(stat: string): { readonly parent: number; readonly ownMs: number; readonly endedMs: number } {
  // Behind the name, which may hold spaces: state is the third field, utime and stime the fourteenth and fifteenth, then those of children.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number) as [number, ...number[]]
  const [own, ended] = [fields.slice(11, 13), fields.slice(13, 15)].map((pair) => pair.reduce((a, b) => a + b, 0))
  return { parent: fields[1] as number, ownMs: (own as number) * TICK_MS, endedMs: (ended as number) * TICK_MS }
}
