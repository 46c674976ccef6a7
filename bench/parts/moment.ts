// The clock that all processes of a machine share, and the processor time of one of them while it runs. Linux only.

import { readFileSync } from 'node:fs'

/** Monotonic milliseconds, the same in every process. */
export function momentMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const TICK_MS = 10

/** User and system time of all its threads so far, to 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Behind the name, which may hold spaces: state is the third field, utime and stime the fourteenth and fifteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
