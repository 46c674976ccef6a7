// What --help shows below the options.

export function example(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`
}

export const INIT_HELP = `
The ledger lies in TRANCHE_DATA_DIR. Where it is missing later, its volume is not mounted or it is another user's: run, submit,
worker and inbox then end with 2 and send nothing. Run init by hand, never from the script that runs the payments.
${example('tranche init', 'TRANCHE_DATA_DIR=/srv/tranche tranche init')}`

export const DOCTOR_HELP = `
FIX: something is broken (exit 2, or 1 where the record is). ATTENTION: nothing is broken, and a person must look: something is
stopped, paused or silent, or the gateway is away (exit 6), or rows are in doubt (exit 5). WARN: it works, and will not for long (exit 0).
${example('tranche doctor', 'tranche doctor --live     # a health check')}`

export const PURGE_HELP = `
Goes: the cells of every row, names, addresses and e-mails, the gateway's texts, the texts of refused messages. Stays: reference, amounts,
order, vault and transaction ids, states and moves. A batch with rows that are open or in doubt, or whose results were not written since it
last changed, stays as it is. Backups and results that were written before keep the data.
${example('tranche purge --before 2026-01-01T00:00:00Z --reason "retention: 12 months"')}`

export const RESOLVE_HELP = `
not-executed ends the row as FAILED; send-again sends it once more. Both are refused for a while after the request left
(TRANCHE_DOUBT_REST_MS, 15 minutes unless set): what is not there yet may still be executed. Of a row that was sent
more than once they need --attempt N, the attempt that you looked up. So does declined, which then waits as well.
A finding that was wrong is corrected by a second one with --correct; both are kept in the history.

Examples:
  $ tranche in-doubt resolve R-1001 --found approved --transaction 7001234 --reason "found in the portal"
  $ tranche in-doubt resolve R-1002 --found not-executed --reason "not in the portal, not in the settlement file"
  $ tranche in-doubt list --out doubts.csv     # fill in its last three columns, then:
  $ tranche in-doubt resolve --file doubts.csv --reason "checked by Ann on Monday"`

const KEPT = `Card details go from the file to the gateway and are kept nowhere; the number comes back masked, the security code empty.
Broken off, run it again: it goes on where it stood. See docs/guides/cards-into-the-vault.md.`

export const VAULT_HELP = {
  create: `
Columns: first_name, last_name, card_number, card_exp_mm, card_exp_yy, card_cvv; and, where you have them, reference, email, phone,
address_1, address_2, city, state, zip, country. The results say under result_vault_id which vault id each card has.
${KEPT}
${example(
  'tranche check cards.csv --vault create',
  'tranche vault create cards.csv --out cards.results.csv --sandbox      # rehearse it',
  'tranche vault create cards.csv --out cards.results.csv',
  'tranche vault create cards.csv --retry failed --out again.results.csv',
)}`,
  update: `
Columns: customer_vault_id, first_name, last_name, email, phone, address_1, city, state, zip, country, card_number, card_exp_mm,
card_exp_yy, card_cvv; and, where you have them, reference, address_2. The whole record is replaced: what is empty in the file is
empty in the vault afterwards.
${KEPT}
${example('tranche vault update renewed.csv --out renewed.results.csv')}`,
  delete: `
Columns: customer_vault_id; and, where you have it, reference. A running worker does it, else this process.
${example('tranche vault delete left.csv --out left.results.csv')}`,
} as const

export const INBOX_HELP = `
A file is complete when it has not changed for --stable-for, or as soon as a file NAME.done stands beside it. Only .csv, .txt,
.tsv and .xlsx files are taken; write under another name (x.csv.tmp) and rename. It sends nothing: tranche worker does.
A file with card data is never moved nor copied.

Examples:
  $ tranche inbox /srv/refunds --operation REFUND
  $ tranche inbox /srv/refunds --operation REFUND --once     # from cron`

export const PROGRAM_HELP = `
Examples:
  $ tranche init                                       # once: make the record
  $ tranche check refunds.csv                          # look before anything moves
  $ tranche run refunds.csv --out refunds.results.csv  # do it, with a reconciliation at the end
  $ tranche run refunds.csv --out try.csv --sandbox    # rehearse it on a gateway of your own

Exit codes:
  0 all approved   1 unexpected failure   2 usage or configuration   3 some rows not approved
  5 rows in doubt need a person   6 stopped, paused or cannot go on   7 file refused   130 interrupted

Environment: TRANCHE_GATEWAY_URL, TRANCHE_GATEWAY_USERNAME, TRANCHE_GATEWAY_PASSWORD (or …_FILE),
TRANCHE_DATA_DIR, TRANCHE_REDIS_URL, TRANCHE_RATE and more: see docs/CONFIGURATION.md.`
