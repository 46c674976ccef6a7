// What `tranche serve` asks of a process that it started, over the channel between the two.

import { Fault } from '../domain/fault.ts'

/** `instead`: what a person at a terminal does, and that nothing was done. */
export function askedByServer<Asked>(instead: string): Promise<Asked> {
  const { channel } = process
  if (channel === undefined || channel === null)
    throw new Fault('usage', `This command is for tranche serve alone. ${instead}`)
  channel.ref()
  return new Promise((resolve) => {
    process.once('message', (asked) => {
      channel.unref()
      resolve(asked as Asked)
    })
  })
}
