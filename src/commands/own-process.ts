// What this process does about itself before anything else: it holds passwords and card data, and writes customers' data.

import { writeFileSync } from 'node:fs'

/** Call it first. Files that are made from here on are for their owner alone; directories too. */
export function keepToItself(): void {
  process.umask(0o077)
  // Node's answer to this signal is a debugger that any user of the machine can connect to.
  process.on('SIGUSR1', () => {})
  // A report of a crash would list the environment, passwords included.
  process.report.excludeEnv = true
  dumpNoMemory()
}

/** A core dump of this process, and of those that it starts, holds no page of memory: see core(5). Other systems have no such switch. */
function dumpNoMemory(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {}
}
