// The commands by which people decide on batches, and prove afterwards who did what. Each is imported when it is called.

import type { Command } from 'commander'
import type { ApproveArguments, RejectArguments } from '../commands/approve.ts'
import type { VerifyArguments } from '../commands/audit.ts'
import type { LogArguments } from '../commands/log.ts'
import type { Act } from './act.ts'
import { APPROVE_HELP, example, GROUP } from './help.ts'

export function addApprovalCommands(program: Command, act: Act): void {
  program
    .commandsGroup(GROUP.send)
    .command('approve <batch>')
    .description('let a batch be sent that waits for approval; without a digest, show what it would send')
    .option('--digest <hex>', 'of what you looked at: anything else is not approved')
    .option('--reason <text>', 'why; kept in the history')
    .addHelpText('after', APPROVE_HELP)
    .action((batch: string, options: ApproveArguments) =>
      act(async (app, terminal) => (await import('../commands/approve.ts')).approve(app, batch, options, terminal)),
    )
  program
    .command('reject <batch>')
    .description('cancel a batch that waits for approval')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText('after', example('tranche reject 261120-k7q2m --reason "wrong month"'))
    .action((batch: string, options: RejectArguments) =>
      act(async (app, terminal) => (await import('../commands/approve.ts')).reject(app, batch, options, terminal)),
    )
  addPolicyCommands(program, act)
  addAuditCommands(program, act)
}

function addPolicyCommands(program: Command, act: Act): void {
  const policy = program
    .commandsGroup(GROUP.run)
    .command('policy')
    .description('who must approve what before it is sent')
    .addHelpText('after', example('tranche policy show', 'tranche policy adopt --reason "limits of 2027"'))
  policy
    .command('show')
    .description('the approval policy that is in force')
    .addHelpText('after', example('tranche policy show'))
    .action(() =>
      act(async (app, terminal) => (await import('../commands/policy.ts')).showPolicy(app, terminal), 'reads'),
    )
  policy
    .command('adopt')
    .description('put the approvals of TRANCHE_CONFIG in force, or none where it has none')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .addHelpText('after', example('tranche policy adopt --reason "limits of 2027"'))
    .action((options: { reason: string }) =>
      act(async (app, terminal) => (await import('../commands/policy.ts')).adoptPolicy(app, options, terminal)),
    )
}

function addAuditCommands(program: Command, act: Act): void {
  const audit = program
    .commandsGroup(GROUP.look)
    .command('audit')
    .description('prove that the record was not changed, and export who did what')
    .addHelpText('after', example('tranche audit verify', 'tranche audit export --json > audit.jsonl'))
  audit
    .command('verify')
    .description('hold the record against itself: sums, rows, moves, acts and the chain over them')
    .option('--anchor <head>', 'fail unless the record once had this head, which was written down elsewhere')
    .addHelpText('after', example('tranche audit verify', 'tranche audit verify --anchor "$(cat /mnt/vault/head)"'))
    .action((options: VerifyArguments) =>
      act(
        async (app, terminal) => (await import('../commands/audit.ts')).verifyAudit(app, options, terminal),
        'examines',
      ),
    )
  audit
    .command('export')
    .description('every act of people and the machine, with the head of the chain that binds them')
    .option('--since <time>', 'only acts since this time (ISO 8601 with offset)')
    .addHelpText('after', example('tranche audit export --json > audit.jsonl'))
    .action((options: LogArguments) =>
      act(async (app, terminal) => (await import('../commands/audit.ts')).exportAudit(app, options, terminal), 'reads'),
    )
}
