// tranche down: stops a private Redis that a dead worker left behind.

import { hasDataDir } from '../app/data-directory.ts'
import { takePrivateRedisLock } from '../app/locks.ts'
import { stopPrivateRedis } from '../app/redis.ts'
import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'
import type { Terminal } from './terminal.ts'

export async function down(app: App, terminal: Terminal): Promise<number> {
  const stopped = hasDataDir(app) && (await stopUnderLock(app))
  terminal.say(
    stopped ? 'The private Redis was stopped. Nothing that matters was in it.' : 'No private Redis was left behind.',
  )
  terminal.object({ stopped })
  return EXIT.approved
}

/** The lock is held meanwhile: a worker that starts in between must not lose the server it has just started. */
async function stopUnderLock(app: App): Promise<boolean> {
  const lock = await takePrivateRedisLock(app, 'down')
  if (lock.kind === 'taken') return stopPrivateRedis(app).finally(() => lock.release())
  const { heldBy } = lock
  const who =
    heldBy === null
      ? 'A worker'
      : `Process ${heldBy.pid} (tranche ${heldBy.command}), running since ${isoOf(heldBy.startedAtMs)},`
  throw new Fault(
    'stopped',
    `${who} may be using the private Redis. Nothing was stopped. Stop that process first (SIGTERM); it takes its Redis down itself.`,
  )
}
