// This process as it runs one command: what it protects before anything else, and what it gives to the command.

import { writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import type { Channel, Io } from '../ports/io.ts'

/**
 * Call it first: the process holds passwords and card data, and writes customers' data. Files and directories that are made from here on are
 * for their owner alone.
 */
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

/** Node opens each stream when it is first read, so that a command that asks nothing leaves stdin alone. */
export function processIo(): Io {
  return {
    env: process.env,
    cwd: null,
    get stdin() {
      return process.stdin
    },
    get stdout() {
      return process.stdout
    },
    get stderr() {
      return process.stderr
    },
    signals: process,
    channel: channelOfProcess(),
    keepHeapSmall: () => setFlagsFromString('--optimize-for-size'),
    exit: (code) => process.exit(code),
  }
}

function channelOfProcess(): Channel | null {
  const { channel } = process
  if (channel === undefined || channel === null) return null
  return {
    received() {
      channel.ref()
      return new Promise((resolve) => {
        process.once('message', (message) => {
          channel.unref()
          resolve(message)
        })
      })
    },
    send(message) {
      if (process.connected) process.send?.(message, () => {})
    },
    onClosed: (listener) => process.once('disconnect', listener),
  }
}
