// The main job end to end, on the built-in sandbox gateway: a thousand instructions go in, a reconciliation comes out.
// It runs the commands that a person would run and shows them. No money moves and nothing outside one directory is kept.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, styleText } from 'node:util'
import { parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { WrongArguments, withUsage } from '../test/fixtures/arguments.ts'
import {
  ask,
  chapter,
  endChildren,
  ended,
  environment,
  type Gateway,
  openGateway,
  ROWS,
  type Row,
  say,
  start,
  TRANCHE,
  toPreparation,
  toRow,
} from './demo-parts.ts'

const FILE = 'instructions.csv'
const RESULTS = 'instructions.results.csv'
const USAGE = `npm run demo
  -- --console       the same sandbox behind the pages for people
  -- --port N        where these pages are (default 7800)
  -- --hosts N       the same with 2 to 8 workers on one PostgreSQL and one Redis, of which one is killed`

function parseArguments() {
  const options = { hosts: { type: 'string' }, console: { type: 'boolean' }, port: { type: 'string' } } as const
  const { hosts, console: pages = false, port = '7800' } = parseArgs({ options }).values
  const count = hosts === undefined ? null : Number(hosts)
  if (count !== null && !(Number.isInteger(count) && count >= 2 && count <= 8))
    throw new WrongArguments('--hosts needs a number from 2 to 8.')
  return { hosts: count, console: pages, port }
}

async function main(directory: string): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, i) => toRow(i + 1))
  writeFileSync(join(directory, FILE), stringify([...rows], { header: true }))
  const gateway = await openGateway(directory)
  await ask(gateway, 'prepare', toPreparation(rows))
  await ask(gateway, 'faults', { kind: '400', match: { orderId: '700000009' } })
  await ask(gateway, 'faults', { kind: '429', match: { operation: 'REFUND' }, every: 75, times: 4, retryAfterS: 1 })

  say('Everything here happens on a sandbox gateway on this machine. No money moves.')
  say(`Working directory: ${directory}`)
  say(`"tranche" below is ${TRANCHE}`)
  const tranche = openCommands(directory, gateway)

  chapter(`1. Look first: ${ROWS} instructions of all five operations`)
  await tranche(['check', FILE], 0)

  chapter('2. Execute them, while the gateway now and then says "too many requests"')
  await tranche(['init'], 0)
  await tranche(['run', FILE, '--out', RESULTS], 5)
  const results = readResults(join(directory, RESULTS))
  explainRun(results)

  chapter('3. The reconciliation: one line for every line that came in')
  showLines(results)

  chapter('4. Two rows are in doubt, on purpose')
  await tranche(['in-doubt', 'list'], 0)
  await explainDoubt(gateway, rows)

  chapter('5. The same command again, as when cron fires twice')
  const before = await receivedBy(gateway)
  await tranche(['run', FILE, '--out', RESULTS], 5)
  say(`\nRequests that reached the gateway meanwhile: ${(await receivedBy(gateway)) - before}.`)

  chapter('6. Ask the gateway what it really did')
  await compare(gateway, results)
  sayNext(directory)
}

function openCommands(directory: string, gateway: Gateway) {
  const env = environment({
    TRANCHE_GATEWAY_URL: gateway.url,
    TRANCHE_GATEWAY_USERNAME: 'sandbox',
    TRANCHE_GATEWAY_PASSWORD: 'sandbox',
    TRANCHE_DATA_DIR: join(directory, 'ledger'),
    TRANCHE_WITNESS_DIR: join(directory, 'witness'),
  })
  return async (args: readonly string[], expected: number): Promise<void> => {
    say(styleText('cyan', `$ tranche ${args.join(' ')}`))
    const code = await ended(start(args, directory, env, 'inherit'))
    if (isInterrupted || code !== expected)
      throw new Error(`tranche ${args[0]} ended with ${code}, and ${expected} was expected`)
  }
}

async function receivedBy(gateway: Gateway): Promise<number> {
  const [counts] = await ask(gateway, 'counts')
  return Number(counts?.received)
}

type Result = Readonly<Record<string, string>>

function readResults(path: string): readonly Result[] {
  return parse(readFileSync(path), { columns: true, bom: true }) as Result[]
}

function explainRun(results: readonly Result[]): void {
  const again = results.filter(({ result_attempts: attempts }) => Number(attempts) > 1).length
  say('\nExit code 5: all is settled but for the rows in doubt, which need a person.')
  say(
    `${again} rows were answered "too many requests" (HTTP 429), which proves that nothing was executed: they were sent again.`,
  )
}

/** Five of the columns, of the first rows and of the first row of every other kind. */
function showLines(results: readonly Result[]): void {
  const kinds = new Set<string>()
  const shown = results.filter((result, i) => {
    const kind = `${result.result_status} ${result.note}`
    const isNew = !kinds.has(kind)
    kinds.add(kind)
    return i < 5 || isNew
  })
  const cells = shown.map((result) => [
    result.reference ?? '',
    result.transaction_type ?? '',
    result.amount ?? '',
    result.result_status ?? '',
    result.result_reason ?? '',
  ])
  const table = [['reference', 'transaction_type', 'amount', 'result_status', 'result_reason'], ...cells]
  const widths = [0, 1, 2, 3].map((i) => Math.max(...table.map((line) => (line[i] as string).length)))
  for (const line of table) {
    const [reason, ...front] = line.toReversed()
    const padded = front.toReversed().map((cell, i) => cell.padEnd(widths[i] as number))
    say(`  ${padded.join('  ')}  ${cut(reason ?? '', 62)}`.trimEnd())
  }
  say(`  … ${results.length} rows and ${Object.keys(results[0] ?? {}).length} columns in ${RESULTS}`)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

/** From outside the two look the same; only the sandbox can tell. */
async function explainDoubt(gateway: Gateway, rows: readonly Row[]): Promise<void> {
  const executed = new Set((await ask(gateway, 'log')).map((entry) => `${entry.operation} ${entry.orderId}`))
  const isExecuted = (row: Row) => executed.has(`${row.transaction_type} ${row.request_ref_po_id}`)
  say('\nBoth requests left, and the connection broke before an answer came. The sandbox can say what became of them:')
  for (const row of rows.filter(({ amount }) => amount === '5.03' || amount === '5.10')) {
    say(`  ${row.reference}  ${isExecuted(row) ? 'was executed' : 'was not executed'}`)
  }
  say(
    'The gateway itself has no such query. Sending both again would have paid one of them twice; giving both up would',
  )
  say('have lost the other. Tranche does neither: it says what it does not know, and a person looks it up.')
}

async function compare(gateway: Gateway, results: readonly Result[]): Promise<void> {
  const approvals = (await ask(gateway, 'log')).filter(({ status }) => status === 'APPROVED')
  const told = new Map<string, number>()
  for (const { result_status: status, result_transaction_id: id = '' } of results) {
    if (status === 'APPROVED') told.set(id, (told.get(id) ?? 0) + 1)
  }
  const targets = new Set(approvals.map(({ operation, orderId }) => `${operation} ${orderId}`))
  const untold = approvals.filter(({ transactionId }) => !told.has(String(transactionId))).length
  const invented = [...told.keys()].filter((id) => !approvals.some(({ transactionId }) => transactionId === id)).length
  say(`  executed and approved by the gateway     ${approvals.length}`)
  say(`  APPROVED in the reconciliation           ${told.size}`)
  say(`  executed, but in doubt here              ${untold}`)
  say(`  executed twice                           ${approvals.length - targets.size}`)
  say(`  reported as approved, but not executed   ${invented}`)
  if (untold !== 1 || invented !== 0 || targets.size !== approvals.length) throw new Error('the record is wrong')
}

function sayNext(directory: string): void {
  chapter('What to look at next')
  say(`  ${join(directory, RESULTS)}`)
  say(`  ${join(directory, RESULTS.replace(/\.csv$/, '.summary.csv'))}`)
  say(`  export TRANCHE_DATA_DIR=${join(directory, 'ledger')}      the record of this demo; then:`)
  say(`  ${TRANCHE} status`)
  say(`  ${TRANCHE} history DEMO0014      every move of one instruction`)
  say('  docs/guides/refund-batch.md: your own file with --sandbox, then your own account')
  say(`  rm -r ${directory}      when you have seen enough`)
}

let isInterrupted = false
// Ctrl-C reaches the commands as well; their end is awaited, so that nothing is left running.
process.on('SIGINT', () => {
  isInterrupted = true
})
process.on('SIGTERM', () => {
  isInterrupted = true
  void endChildren()
})

const { hosts, console: pages, port } = withUsage(USAGE, parseArguments)
const directory = mkdtempSync(join(tmpdir(), 'tranche-demo-'))

try {
  if (pages) await (await import('./demo-console.ts')).showConsole(port, directory)
  else if (hosts === null) await main(directory)
  else await (await import('./demo-hosts.ts')).showHosts(hosts, directory)
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  console.error(isInterrupted ? '\nThe demo was interrupted.' : `\nThe demo did not go as it should: ${message}`)
  console.error(`  rm -r ${directory}      removes its files`)
  process.exitCode = isInterrupted ? 130 : 1
} finally {
  await endChildren()
}
