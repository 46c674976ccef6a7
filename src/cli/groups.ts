// The order of the commands in help: by what a person is about to do, the common ones first.

import type { Command } from 'commander'

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Sending:': ['check', 'run', 'submit', 'vault', 'approve', 'reject', 'pause', 'resume', 'cancel'],
  'Looking:': ['status', 'results', 'find', 'history', 'log', 'audit', 'messages', 'events'],
  'Doubts:': ['in-doubt'],
  'Running it:': [
    'worker',
    'serve',
    'keys',
    'people',
    'inbox',
    'webhooks',
    'rate',
    'policy',
    'doctor',
    'health',
    'backup',
    'migrate',
    'adopt',
    'purge',
    'down',
  ],
  'Installation:': ['init', 'sandbox', 'completion'],
}
const LAST = 'Installation:'

/** After all commands were added. One that is in no group comes last, under a heading of its own. */
export function groupCommands(program: Command): void {
  const names = Object.values(GROUPS).flat()
  const placeOf = (command: Command) => (names.includes(command.name()) ? names.indexOf(command.name()) : names.length)
  const commands = program.commands as Command[] // help has the groups in the order of these
  commands.sort((a, b) => placeOf(a) - placeOf(b))
  for (const [group, members] of Object.entries(GROUPS))
    for (const command of commands) if (members.includes(command.name())) command.helpGroup(group)
  program.commandsGroup(LAST).helpCommand(true)
}
