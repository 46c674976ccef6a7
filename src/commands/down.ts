// tranche down: stops a private Redis that a dead worker left behind.

import { hasDataDir } from '../app/data-directory.ts'
import { takeWorkerLock } from '../app/locks.ts'
import { stopPrivateRedis } from '../app/redis.ts'
import type { App } from '../app.ts'
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
  const lock = await takeWorkerLock(app, 'down')
  if (lock.kind === 'taken') return stopPrivateRedis(app).finally(() => lock.release())
  const who = lock.heldBy === null ? 'A worker' : `Process ${lock.heldBy.pid} (tranche ${lock.heldBy.command})`
  throw new Fault(
    'stopped',
    `${who} is working and needs its Redis. Stop it first (SIGTERM); it takes its Redis down itself.`,
  )
}
