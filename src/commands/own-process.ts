// What this process does about itself before anything else: it holds passwords and writes customers' data.

/** Call it first. Files that are made from here on are for their owner alone; directories too. */
export function keepToItself(): void {
  process.umask(0o077)
  // Node's answer to this signal is a debugger that any user of the machine can connect to.
  process.on('SIGUSR1', () => {})
  // A report of a crash would list the environment, passwords included.
  process.report.excludeEnv = true
}
