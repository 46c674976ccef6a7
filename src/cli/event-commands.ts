// The commands about what other programs are told. Each is imported when it is called.

import type { Command } from 'commander'
import type { EventsArguments } from '../commands/events.ts'
import type { AddArguments, DeliveriesArguments, ReplayArguments } from '../commands/webhooks.ts'
import type { Act } from './act.ts'
import { example, GROUP } from './help.ts'

const webhooksOf = () => import('../commands/webhooks.ts')

export function addEventCommands(program: Command, act: Act): void {
  program
    .commandsGroup(GROUP.look)
    .command('events')
    .description('what happened to batches and rows, as events: one JSON object a line, always in the same order')
    .option('--follow', 'go on as it happens, until Ctrl-C')
    .option('--after <id>', 'only those after the event with this id')
    .option('--types <types>', 'only these types, or groups such as batch.*, separated by commas')
    .addHelpText('after', example('tranche events', 'tranche events --follow --types batch.*,doubt.*'))
    .action((options: EventsArguments) =>
      act(async (app, terminal) => (await import('../commands/events.ts')).events(app, options, terminal), 'reads'),
    )
  const webhooks = program
    .commandsGroup(GROUP.run)
    .command('webhooks')
    .description('events sent to other programs over HTTPS, signed')
    .addHelpText('after', example('tranche webhooks add https://shop.example/hooks/tranche', 'tranche webhooks list'))
  addEndpointCommands(webhooks, act)
  addDeliveryCommands(webhooks, act)
}

function addEndpointCommands(webhooks: Command, act: Act): void {
  webhooks
    .command('add <url>')
    .description('send events there from now on; its secret is shown this once')
    .option('--events <types>', 'these types, or groups such as batch.* (default: all but row.* and access.*)')
    .option('--merchant <name>', 'only those of this merchant')
    .option('--allow-private', 'it may be in a private network, and http')
    .addHelpText(
      'after',
      example(
        'tranche webhooks add https://shop.example/hooks/tranche --json',
        'tranche webhooks add https://shop.example/hooks/rows \\\n      --events row.settled,row.refused --merchant shop',
        'tranche webhooks add http://10.1.2.3:8080/tranche --allow-private',
      ),
    )
    .action((url: string, options: AddArguments) =>
      act(async (app, terminal) => (await webhooksOf()).addWebhook(app, url, options, terminal), 'reads'),
    )
  webhooks
    .command('list')
    .description('the endpoints, what they get and whether they take it')
    .addHelpText('after', example('tranche webhooks list'))
    .action(() => act(async (app, terminal) => (await webhooksOf()).listWebhooks(app, terminal), 'reads'))
  const ofOne = (name: string, does: string) =>
    webhooks
      .command(`${name} <endpoint>`)
      .description(does)
      .addHelpText('after', example(`tranche webhooks ${name} ep_k7q2m9c4xz`))
  ofOne('remove', 'send nothing there any more, and forget what was still to be sent').action((id: string) =>
    act(async (app, terminal) => (await webhooksOf()).removeWebhook(app, id, terminal), 'reads'),
  )
  ofOne('enable', 'go on with an endpoint that was disabled, where it stopped').action((id: string) =>
    act(async (app, terminal) => (await webhooksOf()).enableWebhook(app, id, terminal), 'reads'),
  )
  ofOne('rotate', 'make a new secret and show it this once; the one before signs as well for a day').action(
    (id: string) => act(async (app, terminal) => (await webhooksOf()).rotateWebhook(app, id, terminal), 'reads'),
  )
  ofOne('ping', 'send it one event that means nothing, also if it is disabled').action((id: string) =>
    act(async (app, terminal) => (await webhooksOf()).pingWebhook(app, id, terminal), 'reads'),
  )
}

function addDeliveryCommands(webhooks: Command, act: Act): void {
  webhooks
    .command('deliveries')
    .description('what was sent, what is still to be sent and what was given up; the latest first')
    .option('--endpoint <id>', 'only those of this endpoint')
    .option('--state <state>', 'pending, delivered or dead')
    .option('--since <time>', 'only those since this time (ISO 8601 with offset)')
    .option('--last <n>', 'how many (default 100)')
    .addHelpText('after', example('tranche webhooks deliveries --state dead'))
    .action((options: DeliveriesArguments) =>
      act(async (app, terminal) => (await webhooksOf()).listDeliveries(app, options, terminal), 'reads'),
    )
  webhooks
    .command('replay [event]')
    .description('send again: one event, or with --since all that failed; under the same ids')
    .option('--endpoint <id>', 'only to this endpoint, also if it is disabled')
    .option('--since <time>', 'those since this time (ISO 8601 with offset)')
    .option('--until <time>', 'and before this time')
    .option('--delivered', 'those that were delivered as well')
    .addHelpText(
      'after',
      example(
        'tranche webhooks replay m1042-0a1b2c3d4e5f --endpoint ep_k7q2m9c4xz',
        'tranche webhooks replay --since 2026-12-01T00:00:00Z',
      ),
    )
    .action((event: string | undefined, options: ReplayArguments) =>
      act(async (app, terminal) => (await webhooksOf()).replayWebhooks(app, event, options, terminal), 'reads'),
    )
}
