// What `tranche serve` asks of a process that it started, over the channel between the two.

import { Fault } from '../domain/fault.ts'
import type { Io } from '../ports/io.ts'
import { EXIT } from '../present/exit-codes.ts'

/** `instead`: what a person at a terminal does, and that nothing was done. */
export async function askedByServer<Asked>({ channel, signals, exit }: Io, instead: string): Promise<Asked> {
  if (channel === null) throw new Fault('usage', `This command is for tranche serve alone. ${instead}`)
  // When the server is gone, nothing can be reported. Its caller was told nothing, and asks again.
  const leave = () => exit(EXIT.failure)
  channel.onClosed(leave)
  signals.once('SIGTERM', leave)
  return (await channel.received()) as Asked
}
