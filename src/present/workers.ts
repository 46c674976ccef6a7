// A worker as others see it, in words and for programs.

import { isoOf } from '../domain/batch-status.ts'
import { REDIS_UNUSABLE } from '../domain/health.ts'
import { atTerminal, spell, type Text, words } from '../domain/words.ts'
import { livingWorkers, type WorkerView } from '../domain/worker.ts'
import { commandLine } from './command-line.ts'

export function toJsonWorker({ id, host, pid, command, sinceMs, batchId, lastBeatMs, state }: WorkerView): object {
  return {
    id,
    host,
    pid,
    command,
    since: sinceMs === null ? null : isoOf(sinceMs),
    ...(batchId === null ? {} : { batch: batchId }),
    last_heartbeat: lastBeatMs === null ? null : isoOf(lastBeatMs),
    state: state === 'without-redis' ? 'waiting' : state,
  }
}

export function workerText(worker: WorkerView): string {
  return spell(workerWords(worker), commandLine)
}

/** One line for each that is heard from. */
export function workerLines(workers: readonly WorkerView[]): string[] {
  return livingWorkers(workers).map((worker) => `Worker: ${workerText(worker)}.`)
}

/** The same, for a door with a spelling of its own. */
export function workerWords({ pid, host, command, sinceMs, lastBeatMs, state }: WorkerView): Text {
  const who = pid === null ? 'a process that could not be read' : `process ${pid} on ${host} (tranche ${command})`
  const since = sinceMs === null ? '' : ` since ${isoOf(sinceMs)}`
  if (state === 'without-redis') return `${who}${since}, waiting now: ${REDIS_UNUSABLE}`
  if (state !== 'silent') return `${who}${since}, ${state} now`
  const last = lastBeatMs === null ? 'it gave no sign of life' : `its last sign of life was at ${isoOf(lastBeatMs)}`
  return words`${who}, at work${since}, is silent: ${last}. ${atTerminal`If its disk is full, free some space and leave it alone: it goes on by itself. If it is frozen and stays so, end it and start a worker`}: what it was sending comes into doubt`
}
