// The commands of the HTTP API: the server, and the keys with which services come. Each is imported when it is called.

import type { Command } from 'commander'
import type { AddKeyArguments } from '../commands/keys.ts'
import type { ServeArguments } from '../commands/serve.ts'
import type { Act } from './act.ts'
import { example, SERVE_HELP } from './help.ts'
import { collect } from './options.ts'

export function addServerCommands(program: Command, act: Act): void {
  program
    .command('serve')
    .description('answer services over HTTP, until SIGTERM')
    .option('--port <n>', 'port (default 7800; 0: any that is free)')
    .option('--host <address>', 'address (default 127.0.0.1; any other needs TLS)')
    .option('--tls-cert <file>', 'PEM: the certificate of this server, with its chain')
    .option('--tls-key <file>', 'PEM: the key of that certificate')
    .option('--with-worker', 'also start a worker, as a process of its own that ends with this one')
    .option('--sandbox', 'a private sandbox gateway and a throw-away ledger; no money moves')
    .addHelpText('after', SERVE_HELP)
    .action((options: ServeArguments) =>
      act(async (app, terminal) => (await import('../commands/serve.ts')).serve(app, options, terminal), 'serves'),
    )
  program
    .command('ingest', { hidden: true })
    .description('for tranche serve: read one file')
    .action(() => act(async (app) => (await import('../commands/ingest.ts')).ingest(app)))
  addKeyCommands(program, act)
}

function addKeyCommands(program: Command, act: Act): void {
  const keys = program
    .command('keys')
    .description('with which services come through the HTTP API')
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
        'tranche keys add office --scope batches:read,results:read --merchant shop --network 10.0.0.0/8 --expires 90d',
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
