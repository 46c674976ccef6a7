// What each command connects to. A command that is not listed stops the program.

import type { Command } from 'commander'
import type { Reach } from '../commands/environment.ts'

const COMMANDS: Readonly<Record<Reach, readonly string[]>> = {
  gateways: ['run', 'vault create', 'vault update', 'vault delete', 'worker', 'doctor'],
  network: ['serve', 'sandbox', 'migrate'],
  servers: [
    ...['check', 'submit', 'inbox', 'ingest', 'prove', 'pause', 'resume', 'cancel', 'approve', 'reject'],
    ...['status', 'results', 'history', 'find', 'log', 'events', 'in-doubt list', 'in-doubt resolve'],
    ...['keys add', 'keys list', 'keys revoke', 'policy show', 'policy adopt', 'audit verify', 'audit export'],
    ...['people add', 'people list', 'people confirm', 'people link', 'people roles', 'people revoke'],
    ...['webhooks add', 'webhooks list', 'webhooks remove', 'webhooks enable', 'webhooks rotate', 'webhooks ping'],
    ...['webhooks deliveries', 'webhooks replay', 'messages failed'],
    ...['rate', 'health', 'backup', 'adopt', 'purge', 'down', 'init'],
  ],
  nothing: ['completion'],
}

const REACH: ReadonlyMap<string, Reach> = new Map(
  (Object.keys(COMMANDS) as Reach[]).flatMap((reach) => COMMANDS[reach].map((name) => [name, reach] as const)),
)

/** As it is typed behind the name of the program. */
function nameOf(command: Command): string {
  const { parent } = command
  return parent?.parent == null ? command.name() : `${nameOf(parent)} ${command.name()}`
}

export function reachOf(command: Command): Reach {
  const reach = REACH.get(nameOf(command))
  if (reach === undefined) throw new Error(`what the command ${nameOf(command)} connects to is not listed`)
  return reach
}
