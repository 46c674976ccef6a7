// The commands for rows in doubt. Each is imported when it is called.

import type { Command } from 'commander'
import type { ResolveArguments } from '../commands/resolve.ts'
import type { Act } from './act.ts'
import { example, GROUP, RESOLVE_HELP } from './help.ts'
import { YES_HELP } from './options.ts'

export function addDoubtCommands(program: Command, act: Act): void {
  const inDoubt = program
    .commandsGroup(GROUP.doubts)
    .command('in-doubt')
    .description('rows that may have been executed; nothing sends them again by itself')
    .addHelpText('after', example('tranche in-doubt list', 'tranche in-doubt resolve --help'))
  inDoubt
    .command('list')
    .description('the worklist, with all a person needs to look a transaction up at the gateway')
    .option('-o, --out <file>', 'write it as CSV')
    .addHelpText('after', example('tranche in-doubt list', 'tranche in-doubt list --out doubts.csv'))
    .action((options: { out?: string }) =>
      act(
        async (app, terminal) => (await import('../commands/in-doubt.ts')).listInDoubt(app, options, terminal),
        'reads',
      ),
    )
  inDoubt
    .command('resolve [reference]')
    .description('record what was found at the gateway; nothing is sent unless you choose send-again')
    .option('--found <finding>', 'approved, declined, not-executed, or send-again')
    .option('--transaction <id>', 'the transaction at the gateway; it can settle one row only')
    .option('--reason <text>', 'what was found and where; kept in the history')
    .option('--attempt <n>', 'the attempt that was looked up, as the worklist shows it')
    .option('--correct', 'replace what a person found before')
    .option('--refuse', 'say no to what another person proposed: to send the row again')
    .option('--merchant <name>', 'where several merchants have this reference')
    .option('-y, --yes', YES_HELP)
    .option('--file <worklist>', 'a worklist whose column resolution is filled in')
    .addHelpText('after', RESOLVE_HELP)
    .action((reference: string | undefined, options: ResolveArguments) =>
      act(async (app, terminal) =>
        (await import('../commands/resolve.ts')).resolveInDoubt(app, reference, options, terminal),
      ),
    )
}
