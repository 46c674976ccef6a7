// tranche sandbox: a gateway of one's own, for trials and rehearsals.

import { once } from 'node:events'
import { openSandboxServer, readPreparation } from '../app/sandbox.ts'
import { Fault } from '../domain/fault.ts'
import { parseOperation } from '../domain/instruction.ts'
import { type Currency, parseCurrency } from '../domain/money.ts'
import { commandLine } from '../present/command-line.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { stoppable } from './signals.ts'
import type { Terminal } from './terminal.ts'

export interface SandboxArguments {
  readonly port?: string
  readonly username?: string
  readonly password?: string
  readonly settleAfter?: string
  readonly latency?: string
  readonly triggers?: boolean
  readonly state?: string
  readonly prepare?: string
  readonly operation?: string
  readonly currency?: string
  readonly acceptUnknownOrders?: string | true
}

export async function sandbox(given: SandboxArguments, terminal: Terminal): Promise<number> {
  const username = given.username ?? 'sandbox'
  const password = given.password ?? 'sandbox'
  const prepared = given.prepare === undefined ? null : await readPreparation(given.prepare, wantedOf(given))
  const { server, amounts, endings } = await openSandboxServer({
    port: parseNumber(given.port, '--port', 65_535) ?? 8020,
    username,
    password,
    latencyMs: parseNumber(given.latency, '--latency', 600_000) ?? 0,
    settleAfterMs: (parseNumber(given.settleAfter, '--settle-after', 31_536_000) ?? 86_400) * 1000,
    triggers: given.triggers !== false,
    statePath: given.state ?? null,
    acceptsUnknownIn: unknownCurrencyOf(given.acceptUnknownOrders),
    warn: (sentence) => terminal.say(sentence),
  })
  if (prepared !== null) {
    try {
      const made = server.prepare(prepared.preparation)
      terminal.say(preparedText(given.prepare as string, made, prepared.bad))
    } catch (error) {
      await server.close()
      throw error
    }
  }
  terminal.object({ event: 'listening', url: server.url })
  const end =
    given.state === undefined ? 'ends it and forgets everything' : `ends it; ${given.state} keeps what it knows`
  terminal.data(`Sandbox gateway at ${server.url}; Ctrl-C ${end}.`)
  terminal.say('In the terminal that runs tranche:')
  terminal.say(
    `  export TRANCHE_GATEWAY_URL=${server.url} TRANCHE_GATEWAY_USERNAME=${username} TRANCHE_GATEWAY_PASSWORD=${password}`,
  )
  terminal.say('Amounts that make trouble (sales and authorizations by vault id, refunds and captures alike):')
  for (const line of amounts) terminal.say(`  ${line}`)
  terminal.say(
    'Last four digits of a card number that make trouble (vault create and update, sales by card). For vault delete,',
  )
  terminal.say('a vault id that ends in them behind two zeros, such as 9000503:')
  for (const line of endings) terminal.say(`  ${line}`)
  terminal.say(
    `Orders and vault cards are prepared with --prepare FILE, or POST ${server.url}/_sandbox/prepare; what was executed: GET ${server.url}/_sandbox/log`,
  )
  await stoppable(terminal.io, (signal) => once(signal, 'abort'))
  await server.close()
  terminal.object({ event: 'result', executed: server.log().length })
  return EXIT.approved
}

function wantedOf({ operation, currency }: SandboxArguments) {
  const parsed = operation === undefined ? undefined : parseOperation(operation)
  if (operation !== undefined && parsed === undefined)
    throw new Fault('usage', `--operation ${operation}: write CAPTURE, AUTH, CAUTH, REFUND or CANCEL.`)
  return { operation: parsed, currency: currencyOf('--currency', currency), spelling: commandLine }
}

function unknownCurrencyOf(given: SandboxArguments['acceptUnknownOrders']): Currency | null {
  if (given === undefined) return null
  return currencyOf('--accept-unknown-orders', given === true ? 'EUR' : given) ?? null
}

function currencyOf(option: string, text: string | undefined): Currency | undefined {
  if (text === undefined) return undefined
  const currency = parseCurrency(text)
  if (currency === undefined) throw new Fault('usage', `${option} ${text}: write an ISO 4217 code such as EUR.`)
  return currency
}

function preparedText(path: string, { orders, vault }: { orders: number; vault: number }, bad: number): string {
  const left =
    bad === 0
      ? ''
      : ` ${plural(bad, 'row')} could not be read and ${bad === 1 ? 'needs' : 'need'} nothing (tranche check says why).`
  return `Prepared from ${path}: ${plural(orders, 'order')}, ${plural(vault, 'vault card')}.${left}`
}

function parseNumber(text: string | undefined, name: string, max: number): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text) || Number(text) > max)
    throw new Fault('usage', `${name} ${text}: write a whole number up to ${max}.`)
  return Number(text)
}
