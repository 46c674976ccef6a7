// tranche sandbox: a gateway of one's own, for trials and rehearsals.

import { openSandboxServer } from '../app/sandbox.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface SandboxArguments {
  readonly port?: string
  readonly username?: string
  readonly password?: string
  readonly settleAfter?: string
  readonly latency?: string
  readonly triggers?: boolean
  readonly state?: string
}

export async function sandbox(given: SandboxArguments, terminal: Terminal): Promise<number> {
  const username = given.username ?? 'sandbox'
  const password = given.password ?? 'sandbox'
  const { server, amounts, endings } = await openSandboxServer({
    port: parseNumber(given.port, '--port', 65_535) ?? 8020,
    username,
    password,
    latencyMs: parseNumber(given.latency, '--latency', 600_000) ?? 0,
    settleAfterMs: (parseNumber(given.settleAfter, '--settle-after', 31_536_000) ?? 86_400) * 1000,
    triggers: given.triggers !== false,
    statePath: given.state ?? null,
    warn: (sentence) => terminal.say(sentence),
  })
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
    `Orders and vault cards are prepared with POST ${server.url}/_sandbox/prepare; what was executed: GET ${server.url}/_sandbox/log`,
  )
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  await server.close()
  terminal.object({ event: 'result', executed: server.log().length })
  return EXIT.approved
}

function parseNumber(text: string | undefined, name: string, max: number): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text) || Number(text) > max)
    throw new Fault('usage', `${name} ${text}: write a whole number up to ${max}.`)
  return Number(text)
}
