// Preloaded into every process that is measured: when it ends it leaves its processor time and its most resident memory in
// the file that BENCH_PROBE names. VmHWM, because the maximum that getrusage tells begins with the memory of the parent.

import { readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    const peakKb = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
    writeFileSync(process.env.BENCH_PROBE, JSON.stringify({ cpuMs: (user + system) / 1000, peakKb }))
  })
}
