// This process as one of the workers: its row, and the lease that it lives by.

import { randomInt } from 'node:crypto'
import { hostname } from 'node:os'
import type { Heartbeat } from '../../../domain/worker.ts'
import { type Engine, FAULTING } from '../../texts/engine.ts'
import { all, change } from '../../texts/script.ts'

/** How long others wait for a word of a worker before they take its claims for lost. */
const LEASE_MS = 15_000

export interface Member {
  /** Joins where this process has not joined yet. */
  id(): Promise<number>
  beat(heartbeat: Heartbeat): Promise<void>
  leave(): Promise<void>
}

const JOIN = `
  INSERT INTO worker (id, name, host, pid, command, since, beat_at, activity, lease_until)
  VALUES (:id, :name, :host, :pid, 'worker', :nowMs, :nowMs, 'idle', clock_timestamp() + interval '${LEASE_MS} milliseconds')`
const BEAT = `
  UPDATE worker SET name = :name, host = :host, pid = :pid, command = :command, since = :sinceMs, batch_id = :batchId, beat_at = :beatAtMs,
    activity = :activity, lease_until = clock_timestamp() + interval '${LEASE_MS} milliseconds', fenced_at = NULL
  WHERE id = :id AND ended_at IS NULL`
const LEAVE = 'UPDATE worker SET ended_at = clock_timestamp() WHERE id = :id AND ended_at IS NULL'

/** Of the oldest of those that may still be there to the newest; the dead are kept while anything of theirs is left. */
const ALL = `
  SELECT name AS id, host, pid, command, since AS "sinceMs", batch_id AS "batchId", beat_at AS "beatAtMs", activity
  FROM worker WHERE ended_at IS NULL ORDER BY beat_at`

export function createMember(engine: Engine, clock: () => number): Member {
  let joined: Promise<number> | null = null

  async function join(): Promise<number> {
    const id = randomInt(1, 2 ** 47)
    const values = { id, name: `${hostname()}:${process.pid}`, host: hostname(), pid: process.pid, nowMs: clock() }
    await engine.write(() => change(JOIN, values), FAULTING)
    return id
  }

  function id(): Promise<number> {
    joined ??= join().catch((error: unknown) => {
      joined = null
      throw error
    })
    return joined
  }

  return {
    id,
    async beat({ id: name, host, pid, command, sinceMs, batchId, beatAtMs, activity }) {
      const worker = await id()
      const values = { id: worker, name, host, pid, command, sinceMs, batchId, beatAtMs, activity }
      await engine.write(() => change(BEAT, values), FAULTING)
    },
    async leave() {
      if (joined === null) return
      const worker = await joined
      await engine.write(() => change(LEAVE, { id: worker }), FAULTING).catch(() => {}) // its lease ends by itself
    },
  }
}

/** Those that have not ended. */
export function heartbeatsOn(engine: Engine): { heartbeats(): Promise<Heartbeat[]> } {
  return { heartbeats: () => engine.read(() => all<Heartbeat>(ALL)) }
}
