// What `tranche serve` asks of a process that it started, over the channel between the two.

import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'

/** `instead`: what a person at a terminal does, and that nothing was done. */
export function askedByServer<Asked>(instead: string): Promise<Asked> {
  const { channel } = process
  if (channel === undefined || channel === null)
    throw new Fault('usage', `This command is for tranche serve alone. ${instead}`)
  // When the server is gone, nothing can be reported. Its caller was told nothing, and asks again.
  for (const over of ['disconnect', 'SIGTERM']) process.once(over, () => process.exit(EXIT.failure))
  channel.ref()
  return new Promise((resolve) => {
    process.once('message', (asked) => {
      channel.unref()
      resolve(asked as Asked)
    })
  })
}
