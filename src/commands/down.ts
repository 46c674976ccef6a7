// tranche down: stops a private Redis that a dead worker left behind.

import { type App, stopPrivateRedis, workerNow } from '../app.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT, type Terminal } from './terminal.ts'

export async function down(app: App, terminal: Terminal): Promise<number> {
  const worker = await workerNow(app)
  if (worker !== null) {
    const who = worker.holder === null ? 'A worker' : `Process ${worker.holder.pid} (tranche ${worker.holder.command})`
    throw new Fault(
      'stopped',
      `${who} is working and needs its Redis. Stop it first (SIGTERM); it takes its Redis down itself.`,
    )
  }
  const stopped = await stopPrivateRedis(app)
  terminal.say(
    stopped ? 'The private Redis was stopped. Nothing that matters was in it.' : 'No private Redis was left behind.',
  )
  terminal.object({ stopped })
  return EXIT.approved
}
