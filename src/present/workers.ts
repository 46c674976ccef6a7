// A worker as others see it, in words and for programs.

import { isoOf } from '../domain/batch-status.ts'
import type { WorkerView } from '../domain/worker.ts'

export function toJsonWorker({ id, host, pid, command, sinceMs, lastBeatMs, state }: WorkerView): object {
  return {
    id,
    host,
    pid,
    command,
    since: sinceMs === null ? null : isoOf(sinceMs),
    last_heartbeat: lastBeatMs === null ? null : isoOf(lastBeatMs),
    state,
  }
}
