// The commands of the HTTP API: the server, and the keys with which services come. Each is imported when it is called.

import type { Command } from 'commander'
import type { AddKeyArguments } from '../commands/keys.ts'
import type { ServeArguments } from '../commands/serve.ts'
import type { Act } from './act.ts'
import { example, GROUP, SERVE_HELP } from './help.ts'
import { collect } from './options.ts'

export function addServerCommands(program: Command, act: Act): void {
  program
    .commandsGroup(GROUP.run)
    .command('serve')
    .description('answer services over HTTP and people in a browser, until SIGTERM')
    .option('--port <n>', 'port (default 7800; 0: any that is free)')
    .option('--host <address>', 'address (default 127.0.0.1; any other needs TLS)')
    .option('--tls-cert <file>', 'PEM: the certificate of this server, with its chain')
    .option('--tls-key <file>', 'PEM: the key of that certificate')
    .option('--with-worker', 'also start a worker, as a process of its own that ends with this one')
    .option('--sandbox', 'a private sandbox gateway and a throw-away ledger; no money moves')
    .option('--with-people', 'with --sandbox: two people who sign in with one click, and approvals')
    .addHelpText('after', SERVE_HELP)
    .action((options: ServeArguments) =>
      act(async (app, terminal) => (await import('../commands/serve.ts')).serve(app, options, terminal), 'serves'),
    )
  program
    .command('ingest', { hidden: true })
    .description('for tranche serve: read one file')
    .action(() => act(async (app) => (await import('../commands/ingest.ts')).ingest(app)))
  program
    .command('prove', { hidden: true })
    .description('for tranche serve: hold the record against itself')
    .action(() => act(async (app) => (await import('../commands/prove.ts')).prove(app), 'examines'))
  addKeyCommands(program, act)
  addPeopleCommands(program, act)
}

function addKeyCommands(program: Command, act: Act): void {
  const keys = program
    .command('keys')
    .description('keys with which services use the HTTP API')
    .addHelpText('after', example('tranche keys add billing --scope instructions:write', 'tranche keys list'))
  keys
    .command('add <name>')
    .description('make a key; it is shown once')
    .option('--scope <scopes>', 'what it may do, with commas between; may be repeated', collect)
    .option('--merchant <name>', 'it sees this merchant alone; may be repeated', collect)
    .option('--network <cidr>', 'it is taken from this network alone; may be repeated', collect)
    .option('--expires <days>', 'when it ends, such as 90d (default and most: a year)')
    .addHelpText(
      'after',
      example(
        'tranche keys add billing --scope instructions:write,instructions:read',
        'tranche keys add office --scope batches:read,results:read --merchant shop \\\n      --network 10.0.0.0/8 --expires 90d',
      ),
    )
    .action((name: string, options: AddKeyArguments) =>
      act(async (app, terminal) => (await import('../commands/keys.ts')).addApiKey(app, name, options, terminal)),
    )
  keys
    .command('list')
    .description('the keys, when they end and when they were used last')
    .addHelpText('after', example('tranche keys list'))
    .action(() =>
      act(async (app, terminal) => (await import('../commands/keys.ts')).listApiKeys(app, terminal), 'reads'),
    )
  keys
    .command('revoke <id>')
    .description('take a key away: its next request is refused')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText('after', example('tranche keys revoke k3x9q2ab --reason "it was in a log"'))
    .action((id: string, options: { reason: string }) =>
      act(async (app, terminal) => (await import('../commands/keys.ts')).revokeApiKey(app, id, options, terminal)),
    )
}

function addPeopleCommands(program: Command, act: Act): void {
  const people = program
    .command('people')
    .description('who uses the console, and what they may do there')
    .addHelpText('after', example('tranche people add ann --roles approver,results', 'tranche people list'))
  people
    .command('add <name>')
    .description('make a person; the link with which they choose a password is shown once')
    .requiredOption(
      '--roles <roles>',
      'viewer, submitter, approver, operator, admin, auditor, results; with commas between',
    )
    .addHelpText('after', example('tranche people add ann --roles approver,results'))
    .action((name: string, options: { roles: string }) =>
      act(async (app, terminal) => (await import('../commands/people.ts')).addPerson(app, name, options, terminal)),
    )
  people
    .command('list')
    .description('people, and their roles')
    .addHelpText('after', example('tranche people list'))
    .action(() =>
      act(async (app, terminal) => (await import('../commands/people.ts')).listPeople(app, terminal), 'reads'),
    )
  people
    .command('confirm <name>')
    .description('stand for a person as the second one, where no other administrator can')
    .addHelpText('after', example('tranche people confirm ann'))
    .action((name: string) =>
      act(async (app, terminal) => (await import('../commands/people.ts')).confirmPerson(app, name, terminal)),
    )
  people
    .command('link <name>')
    .description('make another link; the password and all sessions of the person end')
    .addHelpText('after', example('tranche people link ann'))
    .action((name: string) =>
      act(async (app, terminal) => (await import('../commands/people.ts')).linkPerson(app, name, terminal)),
    )
  people
    .command('roles <name>')
    .description('give other roles in place of those they have; all sessions of the person end')
    .requiredOption('--roles <roles>', 'with commas between')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText('after', example('tranche people roles ann --roles viewer --reason "another desk"'))
    .action((name: string, options: { roles: string; reason: string }) =>
      act(async (app, terminal) => (await import('../commands/people.ts')).setRoles(app, name, options, terminal)),
    )
  people
    .command('revoke <name>')
    .description('a person can no longer sign in: all sessions end at once')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText('after', example('tranche people revoke ann --reason "left the office"'))
    .action((name: string, options: { reason: string }) =>
      act(async (app, terminal) => (await import('../commands/people.ts')).revokePerson(app, name, options, terminal)),
    )
}
