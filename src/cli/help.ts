// What --help shows: the headings over the commands, and the paragraphs and examples below the options.

import type { AddHelpTextContext } from 'commander'

/** By what a person is about to do. They stand in the order in which the first command of each is added. */
export const GROUP = {
  send: 'Sending payments:',
  look: 'Looking things up:',
  doubts: 'Rows in doubt:',
  run: 'Running the service:',
  setUp: 'Setting up:',
} as const

type HelpText = (context: AddHelpTextContext) => string

/** Commander wraps the help that it makes itself, but nothing that is added to it. */
function prose(paragraphs: readonly string[], below: string): HelpText {
  return ({ command }) => {
    const width = command.configureOutput().getOutHelpWidth?.() ?? 80
    const wrapped = paragraphs.map((text) => command.createHelp().boxWrap(text, width))
    return `\n${wrapped.join('\n\n')}\n${below}`
  }
}

/** Lines as they are typed. One that is wider than 80 columns goes on after a backslash. */
export function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

export const INIT_HELP = prose(
  [
    'The ledger is in TRANCHE_DATA_DIR. If it is missing later, its volume is not mounted or it belongs to another user: ' +
      'run, submit, worker and inbox then end with exit code 2 and send nothing. Run init by hand, never from the script that runs the payments.',
  ],
  example('tranche init', 'TRANCHE_DATA_DIR=/srv/tranche tranche init'),
)

export const DOCTOR_HELP = prose(
  [
    'FIX: something is broken (exit 2, or 1 if it is the ledger). ATTENTION: nothing is broken, but a person must look: something is ' +
      'stopped, paused or silent, or the gateway cannot be reached (exit 6), or rows are in doubt (exit 5). WARN: it works, but not for long (exit 0).',
  ],
  example('tranche doctor', 'tranche doctor --live  # a health check'),
)

export const HEALTH_HELP = prose(
  [
    'Looks at the ledger (it can be read, and no alarm is raised), at the space left for it (100 MiB), and at the worker (it lives and is not ' +
      'silent). Redis and the gateway are not asked: a worker waits for them by itself, and no restart would mend them. Whether a merchant is ' +
      'stopped or anything else waits for a person: tranche status --check.',
  ],
  example('tranche health', 'tranche health --no-worker --json'),
)

export const COMPLETION_HELP = example(
  'source <(tranche completion bash)             # for good: in ~/.bashrc',
  'tranche completion zsh > ~/.zfunc/_tranche    # a folder of $fpath',
  'tranche completion fish > ~/.config/fish/completions/tranche.fish',
)

export const PURGE_HELP = prose(
  [
    "Removed: the cells of every row, names, addresses and e-mails, the gateway's texts, the texts of refused messages.",
    'Kept: reference, amounts, order, vault and transaction ids, states and moves.',
    'A batch keeps everything while a row of it is open or in doubt, or if its results were not written since it last changed. ' +
      'Backups and results that were written before keep the data.',
  ],
  example('tranche purge --before 2026-01-01T00:00:00Z --reason "retention: 12 months"'),
)

export const APPROVE_HELP = prose(
  [
    'Which batches need approvals, and how many, says the policy: tranche policy show. You cannot approve what you submitted, nor approve ' +
      'twice. Who you are is what the operating system says; --as does not count here.',
    'On a terminal the total is typed before anything is shown: take it from your own list, written as there (10.879,77).',
    'The digest is over everything that is shown. If anything of the batch is another when you approve it, nothing is approved.',
  ],
  example(
    'tranche approve 261120-k7q2m',
    'tranche approve 261120-k7q2m --digest 9f2c… \\\n      --reason "agrees with the orders"',
  ),
)

export const SERVE_HELP = prose(
  [
    'Every request needs a key (tranche keys add). No key can approve a batch: people do (tranche approve). It needs no Redis; the worker ' +
      'that sends is a process of its own.',
    'On another address than 127.0.0.1 it needs --tls-cert and --tls-key, or a proxy that speaks TLS: TRANCHE_PUBLIC_URL and ' +
      'TRANCHE_TRUSTED_PROXIES. The description of the API is at /openapi.json; see docs/guides/http-api.md.',
  ],
  example(
    'tranche serve',
    'tranche serve --with-worker',
    'tranche serve --sandbox --with-worker --with-people',
    'tranche serve --port 0 --sandbox --with-worker --json',
  ),
)

export const RESOLVE_HELP = prose(
  [
    'not-executed ends the row as FAILED; send-again sends it once more. Both are refused for a while after the request left ' +
      '(TRANCHE_DOUBT_REST_MS, 15 minutes unless set): what is not there yet may still be executed. For a row that was sent more than once ' +
      'they need --attempt N, the attempt that you looked up. So does declined, which then waits as well.',
    'Where approvals are in force, send-again takes two people: the first one proposes it (exit code 4), and the same command of another ' +
      'person confirms it and has it sent; --refuse says no. A proposal lapses after 7 days, and when the row is resolved otherwise.',
    'A finding that was wrong is corrected by a second one with --correct; both are kept in the history.',
  ],
  example(
    'tranche in-doubt resolve R-1001 --found approved --transaction 7001234 \\\n      --reason "found in the portal"',
    'tranche in-doubt resolve R-1002 --found not-executed \\\n      --reason "not in the portal, not in the settlement file"',
    'tranche in-doubt list --out doubts.csv  # fill it in, then:',
    'tranche in-doubt resolve --file doubts.csv \\\n      --reason "checked by Ann on Monday"',
  ),
)

const KEPT =
  'Card details go from the file to the gateway and are kept nowhere; the number comes back masked, the security code empty. ' +
  'If the command is interrupted, run it again: it goes on where it stopped. See docs/guides/cards-into-the-vault.md.'

export const VAULT_HELP = {
  create: prose(
    [
      'Columns: first_name, last_name, card_number, card_exp_mm, card_exp_yy, card_cvv; and, where you have them, reference, email, phone, ' +
        'address_1, address_2, city, state, zip, country. The results say under result_vault_id which vault id each card has.',
      KEPT,
    ],
    example(
      'tranche check cards.csv --vault create',
      'tranche vault create cards.csv --sandbox',
      'tranche vault create cards.csv --out cards.results.csv',
      'tranche vault create cards.csv --retry failed --out again.results.csv',
    ),
  ),
  update: prose(
    [
      'Columns: customer_vault_id, first_name, last_name, email, phone, address_1, city, state, zip, country, card_number, card_exp_mm, ' +
        'card_exp_yy, card_cvv; and, where you have them, reference, address_2. The whole record is replaced: what is empty in the file is ' +
        'empty in the vault afterwards.',
      KEPT,
    ],
    example('tranche vault update renewed.csv --out renewed.results.csv'),
  ),
  delete: prose(
    [
      'Columns: customer_vault_id; and, where you have it, reference. A running worker does it; without one, this process does.',
    ],
    example('tranche vault delete left.csv --out left.results.csv'),
  ),
} as const

export const INBOX_HELP = prose(
  [
    'A file is complete when it has not changed for --stable-for, or as soon as there is a file NAME.done beside it. Only .csv, .txt, ' +
      '.tsv and .xlsx files are taken; write under another name (x.csv.tmp), then rename. The inbox sends nothing: tranche worker does. ' +
      'A file with card data is never moved or copied.',
  ],
  example(
    'tranche inbox /srv/refunds --operation REFUND',
    'tranche inbox /srv/refunds --operation REFUND --once     # from cron',
  ),
)

export const PROGRAM_HELP = prose(
  [
    'tranche COMMAND --help shows the options of a command, with examples.',
    'Environment: TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME, TRANCHE_GATEWAY_PASSWORD (or …_FILE), TRANCHE_DATA_DIR, TRANCHE_REDIS_URL, TRANCHE_RATE and more: see docs/CONFIGURATION.md.',
  ],
  `
Exit codes:
  0    all approved
  1    unexpected failure
  2    usage or configuration
  3    some rows not approved, or not done as written
  4    nothing is sent before people approve it
  5    rows in doubt need a person
  6    stopped, paused or cannot go on
  7    file refused
  75   what it needs is away: try again
  130  interrupted
${example(
  'tranche init                            # once: make the ledger',
  'tranche check refunds.csv               # look before anything moves',
  'tranche run refunds.csv --sandbox       # rehearse it',
  'tranche run refunds.csv                 # do it; writes refunds.results.csv',
  'tranche in-doubt list                   # what a person must look up',
)}`,
)
