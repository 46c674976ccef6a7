// tranche in-doubt list: the worklist, with all a person needs to look each transaction up at the gateway.

import { writeFile } from 'node:fs/promises'
import { openLedger } from '../app/ledger.ts'
import { workerNow } from '../app/locks.ts'
import { toWorklistCsv } from '../app/worklist.ts'
import type { App } from '../app.ts'
import { countIn, isoOf, type LeftOpen, leftOpenIn } from '../domain/batch-status.ts'
import { cardText } from '../domain/card.ts'
import type { DoubtRow } from '../domain/doubt.ts'
import { Fault } from '../domain/fault.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { doubtLines } from '../present/doubts.ts'
import { EXIT } from '../present/exit-codes.ts'
import { leftOpenLines } from '../present/standing.ts'
import { amountText, plural } from '../present/text.ts'
import { noteExport } from './note.ts'
import type { Terminal } from './terminal.ts'

export interface InDoubtArguments {
  readonly out?: string
}

export async function listInDoubt(app: App, given: InDoubtArguments, terminal: Terminal): Promise<number> {
  const ledger = await openLedger(app, 'looks')
  try {
    const found = await ledger.doubts()
    const doubts = found.map(toRecord)
    const late = (await ledger.batches()).filter((batch) => batch.lateAnswers > 0)
    terminal.object({ in_doubt: doubts.map((doubt, i) => ({ ...doubt, ...timesOf(found[i] as DoubtRow, app) })) })
    if (given.out !== undefined) {
      await writeWorklist(given.out, doubts, terminal)
      await noteExport(app, ledger, { kind: 'worklist', file: given.out, rows: doubts.length }, terminal)
    } else {
      const shown = found.map((row) => ({ row, restUntilMs: restUntilMsOf(row, app) }))
      terminal.data(...doubtLines(shown, app.clock.nowMs(), terminal.dataScreen))
    }
    const left = await leftOpenNow(app, ledger)
    if (doubts.length > 0)
      terminal.say(
        `${plural(doubts.length, 'row')} may have been executed, and nothing sends ${doubts.length === 1 ? 'it' : 'them'} again by itself. Look ${doubts.length === 1 ? 'it' : 'each one'} up at the gateway by its order id, xtl_order_id or card and the time it was sent; then say what you found: tranche in-doubt resolve --help`,
      )
    else if (left === null) terminal.say('No row is in doubt.')
    terminal.say(...leftOpenLines(left))
    for (const { batchId, lateAnswers } of late)
      terminal.say(
        `Batch ${batchId}: ${plural(lateAnswers, 'answer')} came after the row had been settled otherwise. See result_warning of its results; when you have looked: tranche resume ${batchId} --reason TEXT`,
      )
    return EXIT.approved
  } finally {
    await ledger.close()
  }
}

/** Of all batches: rows that are no doubts yet, but will be. */
export async function leftOpenNow(app: App, ledger: Ledger): Promise<LeftOpen | null> {
  const open = await ledger.batches('open')
  const sending = open.reduce((sum, batch) => sum + countIn(batch, 'SENDING'), 0)
  return leftOpenIn(sending, (await workerNow(app, ledger)) !== null)
}

type DoubtRecord = Record<string, string | number>

function toRecord(doubt: DoubtRow): DoubtRecord {
  const { instruction } = doubt
  const sentAtMs = doubt.sentAtMs ?? doubt.claimedAtMs
  return {
    reference: instruction.reference,
    attempt: doubt.attempt,
    operation: instruction.operation,
    amount: instruction.money === null ? '' : amountText(instruction.money.amountMinor, instruction.money.currency),
    currency: instruction.money?.currency ?? '',
    order_id: instruction.orderId ?? '',
    vault_id: instruction.vaultId ?? '',
    card: instruction.card === null ? '' : cardText(instruction.card),
    holder: [instruction.details.first_name, instruction.details.last_name].join(' ').trim(),
    xtl_order_id: instruction.xtlOrderId ?? '',
    sent_at: sentAtMs === null ? '' : isoOf(sentAtMs),
    reason: doubt.reason ?? '',
    merchant: doubt.merchant,
    batch: doubt.batchId,
    row: doubt.rowNo,
  }
}

/** From when on it may be called not executed, and how many rows wait for it. */
function timesOf(row: DoubtRow, app: App): { rest_until: string; holds_up: number } {
  return { rest_until: isoOf(restUntilMsOf(row, app)), holds_up: row.holdsUp }
}

function restUntilMsOf({ leftByMs, restMs }: DoubtRow, app: App): number {
  return leftByMs + Math.max(restMs, app.config.doubtRestMs)
}

async function writeWorklist(path: string, doubts: readonly DoubtRecord[], terminal: Terminal): Promise<void> {
  if (path === '-')
    throw new Fault(
      'usage',
      'The worklist is a file that a person fills in, so --out cannot be stdout. Name a file, or leave --out away (--json is for programs).',
    )
  const text = await toWorklistCsv(doubts)
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const why =
      code === 'EEXIST'
        ? 'exists already; name another, so that no list is lost'
        : `cannot be written (${String(code)})`
    throw new Fault('usage', `${path} ${why}.`, { cause: error })
  }
  terminal.data(`Worklist: ${path}`)
  terminal.say(
    `Fill in resolution (approved, declined, not-executed or send-again) and resolution_reason, then: tranche in-doubt resolve --file ${path}`,
  )
}
