// tranche log: what people and the machine did, in order of time, for a person or line by line for a collector of logs.

import { openRecord } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { toJsonActor } from '../domain/actor.ts'
import type { LogEntry } from '../domain/acts.ts'
import { isoOf } from '../domain/batch-status.ts'
import { interpretationText } from './interpretation-text.ts'
import { parseSince } from './since.ts'
import { EXIT, plural, type Terminal } from './terminal.ts'

export interface LogArguments {
  readonly since?: string
}

export async function log(app: App, { since }: LogArguments, terminal: Terminal): Promise<number> {
  const sinceMs = since === undefined ? null : parseSince('--since', since, 'Nothing was changed.')
  const ledger = await openRecord(app)
  try {
    let entries = 0
    for await (const page of ledger.log(sinceMs)) {
      for (const entry of page) {
        if (terminal.readerLeft()) break
        entries += 1
        terminal.object(toJson(entry))
        terminal.data(toLine(entry))
        await terminal.drained()
      }
      if (terminal.readerLeft()) break
    }
    const from = sinceMs === null ? null : isoOf(sinceMs)
    const head = await ledger.head()
    terminal.object({ event: 'result', since: from, entries, head, exit: EXIT.approved })
    terminal.say(
      `${plural(entries, 'entry', 'entries')}${from === null ? '' : ` since ${from}`}. Head of the record: ${head}`,
    )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** The keys stay as they are, in every line all of them: collectors of logs are set up by them. */
function toJson(entry: LogEntry): object {
  return {
    event: 'act',
    at: isoOf(entry.atMs),
    what: entry.what,
    by: entry.by,
    actor: entry.actor === null ? null : toJsonActor(entry.actor),
    batch: entry.batchId,
    merchant: entry.merchant,
    reference: entry.reference,
    row: entry.rowNo,
    attempt: entry.attempt,
    from: entry.from,
    to: entry.to,
    reason: entry.reason,
    details: detailsOf(entry),
  }
}

/** How a file was read is told in options, whatever version recorded it. */
function detailsOf({ details }: LogEntry): LogEntry['details'] {
  return typeof details?.reading === 'string' ? { ...details, reading: interpretationText(details.reading) } : details
}

function toLine(entry: LogEntry): string {
  const { reference, from, to, batchId, merchant } = entry
  const details = detailsOf(entry)
  const subject = [
    reference === null ? null : `${reference} ${from} → ${to}`,
    batchId === null ? null : `batch ${batchId}`,
    batchId === null && merchant !== null ? `merchant ${merchant}` : null,
    ...Object.entries(details ?? {}).map(([name, value]) =>
      value === null || value === '' ? null : `${name} ${value}`,
    ),
  ].filter((part) => part !== null)
  const reason = entry.reason === null ? '' : `: ${entry.reason}`
  return [isoOf(entry.atMs), entry.what, subject.join(', '), `by ${entry.by}${reason}`].filter(Boolean).join('  ')
}
