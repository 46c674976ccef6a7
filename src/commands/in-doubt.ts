// tranche in-doubt list: the worklist, with all a person needs to look each transaction up at the gateway.

import { writeFile } from 'node:fs/promises'
import { restUntilMsOf, wordsOnDoubts } from '../app/doubts.ts'
import { workerNow } from '../app/locks.ts'
import { toWorklistCsv } from '../app/worklist.ts'
import type { App } from '../app.ts'
import { countIn, type LeftOpen, leftOpenIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { type DoubtRecord, doubtLines, toDoubtRecord, toJsonDoubt } from '../present/doubts.ts'
import { EXIT } from '../present/exit-codes.ts'
import { lapsedProposal, toJsonLapsed } from '../present/proposals.ts'
import { leftOpenLines } from '../present/standing.ts'
import { plural } from '../present/text.ts'
import { noteExport } from './note.ts'
import { openLedgerAloud } from './on-ledger.ts'
import type { Terminal } from './terminal.ts'

export interface InDoubtArguments {
  readonly out?: string
}

export async function listInDoubt(app: App, given: InDoubtArguments, terminal: Terminal): Promise<number> {
  const ledger = await openLedgerAloud(app, terminal, 'looks')
  try {
    const found = await ledger.doubts()
    const doubts = found.map(toDoubtRecord)
    const late = (await ledger.batches()).filter((batch) => batch.lateAnswers > 0)
    const words = await wordsOnDoubts(ledger, found)
    const nowMs = app.clock.nowMs()
    const shown = found.map((row) => ({
      ...{ row, restUntilMs: restUntilMsOf(row, app), lapsed: lapsedProposal(words(row), row, nowMs) },
    }))
    terminal.object({
      in_doubt: shown.map(({ row, restUntilMs, lapsed }) => ({
        ...toJsonDoubt(row, restUntilMs, nowMs),
        lapsed_proposal: lapsed === null ? null : toJsonLapsed(lapsed),
      })),
    })
    if (given.out !== undefined) {
      await writeWorklist(given.out, doubts, terminal)
      await noteExport(app, ledger, { kind: 'worklist', file: given.out, rows: doubts.length }, terminal)
    } else {
      terminal.data(...doubtLines(shown, nowMs, terminal.dataScreen))
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
