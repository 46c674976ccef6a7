// What the demos have in common: the instructions, the commands as a person would run them, the gateway on this machine.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'

export const TRANCHE = fileURLToPath(new URL('../bin/tranche.js', import.meta.url))

// ───────────────────────────────────────────────────────────── What is sent

export interface Row {
  readonly reference: string
  readonly transaction_type: 'CAPTURE' | 'AUTH' | 'CAUTH' | 'REFUND' | 'CANCEL'
  readonly amount: string
  readonly request_currency: string
  readonly request_ref_po_id: string
  readonly customer_vault_id: string
  /** Unknown to Tranche: carried through to the results. */
  readonly note: string
}

/** In the order of the file, turn by turn. */
const TURNS = ['REFUND', 'CAPTURE', 'CAUTH', 'REFUND', 'CANCEL', 'REFUND', 'AUTH', 'CAPTURE'] as const
export const ROWS = 1000

/** Rows that do not go well, by their place in the file. The amounts 5.02, 5.03 and 5.10 mean trouble to the sandbox. */
const TROUBLE: Readonly<
  Record<number, { readonly amount?: string; readonly orderId?: string; readonly note: string }>
> = {
  2: { amount: '5.02', note: 'the processor declines this amount' },
  4: { orderId: '999000004', note: 'no such order' },
  9: { orderId: '700000009', note: 'the gateway calls this request wrong' },
  10: { amount: '5.02', note: 'the processor declines this amount' },
  14: { amount: '5.03', note: 'the line breaks after the request' },
  20: { orderId: '999000020', note: 'no such order' },
  33: { amount: '900.00', note: 'more than was paid' },
  62: { amount: '5.10', note: 'the line breaks after the request' },
  409: { amount: '900.00', note: 'more than was paid' },
  642: { amount: '5.02', note: 'the processor declines this amount' },
}

export function toRow(number: number): Row {
  const operation = TURNS[(number - 1) % TURNS.length] as Row['transaction_type']
  const trouble = TROUBLE[number]
  const sells = operation === 'CAPTURE' || operation === 'AUTH'
  const euros = 10 + ((number * 37) % 90)
  return {
    reference: `DEMO${String(number).padStart(4, '0')}`,
    transaction_type: operation,
    amount: trouble?.amount ?? `${euros}.${String((number * 13) % 100).padStart(2, '0')}`,
    request_currency: 'EUR',
    request_ref_po_id: sells ? '' : (trouble?.orderId ?? String(700_000_000 + number)),
    customer_vault_id: sells ? String(40_000 + number) : '',
    note: trouble?.note ?? '',
  }
}

/** The orders and stored cards that the file names, but for the order ids that begin with 999. */
export function toPreparation(rows: readonly Row[]): object {
  const states = { REFUND: 'settled', CAUTH: 'authorized', CANCEL: 'pending settlement' } as const
  return {
    orders: rows.flatMap(({ transaction_type: operation, request_ref_po_id: orderId }) =>
      operation === 'CAPTURE' || operation === 'AUTH' || orderId.startsWith('999')
        ? []
        : [{ orderId, state: states[operation], amount: '100.00', currency: 'EUR' }],
    ),
    vault: rows.flatMap(({ customer_vault_id: vaultId }) => (vaultId === '' ? [] : [{ vaultId }])),
  }
}

// ───────────────────────────────────────────────────────────── Commands

const children = new Set<ChildProcess>()

/** Settings of the person who runs the demo must not reach a real gateway or a real ledger. Their Redis may be used. */
export function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TRANCHE_') || name.startsWith('TRANCHE_REDIS_'),
  )
  return { ...Object.fromEntries(kept), ...settings }
}

export function start(args: readonly string[], directory: string, env: NodeJS.ProcessEnv, output: 'inherit' | 'pipe') {
  const child = spawn(process.execPath, [TRANCHE, ...args], { cwd: directory, env, stdio: ['ignore', output, output] })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

export function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode ?? 1)
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

export interface Gateway {
  readonly url: string
  readonly child: ChildProcess
}

export async function openGateway(directory: string): Promise<Gateway> {
  const child = start(['sandbox', '--port', '0', '--latency', '25', '--json'], directory, environment({}), 'pipe')
  child.stderr?.resume()
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  for await (const line of lines) {
    const { event, url } = JSON.parse(line) as { event: string; url: string }
    if (event === 'listening') return { url, child }
  }
  throw new Error('the sandbox gateway did not start')
}

/** The sandbox's own routes, which no real gateway has: what exists, what goes wrong, what was really executed. */
export async function ask(gateway: Gateway, path: string, body?: object): Promise<readonly Record<string, unknown>[]> {
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${gateway.url}/_sandbox/${path}`, request)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the sandbox refused ${path}: ${text}`)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

// ───────────────────────────────────────────────────────────── What is said

export function say(text = ''): void {
  console.log(text)
}

export function chapter(title: string): void {
  say(`\n${styleText(['bold'], `── ${title}`)}\n`)
}

/** Waits until every child has ended: the sandbox is not left behind, and `run` has taken its Redis down itself. */
export async function endChildren(): Promise<void> {
  await Promise.all(
    Array.from(children, (child) => {
      const end = ended(child)
      child.kill('SIGTERM')
      return end
    }),
  )
}
