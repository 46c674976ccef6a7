// tranche messages failed: the messages of other services that were refused, and why.

import { failedMessages } from '../app/messages.ts'
import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { Fault } from '../domain/fault.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import type { Terminal } from './terminal.ts'

export interface MessagesArguments {
  readonly last?: string
}

const SHOWN = 100

export async function messagesFailed(app: App, given: MessagesArguments, terminal: Terminal): Promise<number> {
  const { messages, count } = await failedMessages(app, parseLast(given.last))
  // Producers name their jobs and references: either may hold what must not be shown.
  const shown = messages.map(({ jobId, reference, merchant, reason, failedAtMs }) => ({
    id: maskCardData(jobId),
    reference: reference === null ? null : maskCardData(reference),
    merchant: merchant === null ? null : maskCardData(merchant),
    at: failedAtMs === null ? null : isoOf(failedAtMs),
    reason: maskCardData(reason),
  }))
  terminal.object({ messages: shown, count })
  for (const { id, reference, at, reason } of shown)
    terminal.data(`${at ?? '-'}  ${reference ?? `job ${id}`}  ${reason}`)
  if (count === 0) terminal.say('No message was refused that Redis still keeps.')
  if (count > shown.length)
    terminal.say(
      `${plural(count - shown.length, 'older message is', 'older messages are')} not shown (--last ${count}).`,
    )
  return EXIT.approved
}

function parseLast(text: string | undefined): number {
  if (text === undefined) return SHOWN
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new Fault('usage', `--last ${text}: write how many messages to show, such as 500.`)
  return Number(text)
}
