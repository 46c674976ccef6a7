// tranche purge: personal data of finished batches out of the record. What prevents a second sending stays.

import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import { isoOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { PurgePlan } from '../domain/purge.ts'
import { categoryOfReason } from '../domain/reason-categories.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { confirm, mayAsk } from './confirm.ts'
import { finishing, openInterruption } from './signals.ts'
import { parseSince } from './since.ts'
import type { Terminal } from './terminal.ts'

export interface PurgeArguments {
  readonly before: string
  readonly reason: string
  readonly yes?: boolean
}

/** Why a batch stays as it is. */
const WHY = {
  open: 'rows of it are open or in doubt (tranche status, tranche in-doubt list)',
  'late-answers':
    'an answer came after its row had been settled otherwise, and it has not been looked at (tranche in-doubt list)',
  results:
    'its results were not written since it last changed; they would have no cells (tranche results BATCH --out FILE)',
}

/** A worker looks for its turn more often than that. */
const REST_MS = 10

export async function purge(app: App, given: PurgeArguments, terminal: Terminal): Promise<number> {
  const request = await toRequest(app, given)
  const ledger = await openLedger(app)
  const interruption = openInterruption(terminal, () => finishing('the step in hand is brought to its end'))
  try {
    const plan = await ledger.toPurge(request.beforeMs)
    for (const { batchId, why } of plan.left) terminal.say(`Batch ${batchId} stays as it is: ${WHY[why]}.`)
    const rows = plan.batches.reduce((sum, batch) => sum + batch.rows, 0)
    if (rows + plan.refusals > 0 && given.yes !== true) await ask(plan, rows, request.beforeMs, terminal)
    let purged = 0
    let refusals = 0
    for await (const step of ledger.purge(request)) {
      if (step.batchId === null) refusals += step.rows
      else purged += step.rows
      terminal.redraw(`${purged} of ${plural(rows, 'row')} purged`)
      if (interruption.signal.aborted) break
      await app.clock.sleep(REST_MS)
    }
    terminal.redraw(null)
    const cleared = await ledger.clearLog()
    const exit = interruption.signal.aborted ? EXIT.interrupted : EXIT.approved
    const batches = plan.batches.map(({ batchId }) => batchId)
    const left = plan.left.map(({ batchId, why }) => ({ batch: batchId, why }))
    const said = { before: isoOf(request.beforeMs), batches, rows: purged, refusals, left, log_cleared: cleared }
    terminal.object({ event: 'result', ...said, exit })
    if (rows + plan.refusals === 0)
      terminal.say(`There is nothing to purge that ended before ${isoOf(request.beforeMs)}.`)
    else sayEnd(purged, refusals, cleared, exit === EXIT.interrupted, terminal)
    return exit
  } finally {
    interruption.close()
    await ledger.close()
  }
}

async function toRequest(app: App, { before, reason }: PurgeArguments) {
  const nothing = 'Nothing was purged.'
  if (reason.trim() === '') throw new Fault('usage', `--reason: write why; it is kept in the log of acts. ${nothing}`)
  const beforeMs = parseSince('--before', before, nothing)
  const nowMs = app.clock.nowMs()
  if (beforeMs > nowMs) throw new Fault('usage', `--before ${before}: this moment is still to come. ${nothing}`)
  const categoryOf = (merchant: string, text: string) =>
    categoryOfReason(text, app.config.merchants.get(merchant)?.reasonRules ?? [])
  return { beforeMs, reason, actor: app.actor, nowMs, categoryOf }
}

async function ask(plan: PurgePlan, rows: number, beforeMs: number, terminal: Terminal): Promise<void> {
  const what = `${plural(rows, 'row')} of ${plural(plan.batches.length, 'batch', 'batches')} that ended before ${isoOf(beforeMs)}, and ${plural(plan.refusals, 'refused message')}`
  if (!mayAsk(terminal)) {
    throw new Fault(
      'usage',
      `This removes the personal data of ${what} from the ledger for good. Nothing was purged. There is no terminal to ask on: confirm with --yes.`,
    )
  }
  const question = `This removes the personal data of ${what} from the ledger for good. Continue?`
  await confirm(terminal, { question, otherwise: 'Nothing was purged.', yes: false })
}

function sayEnd(rows: number, refusals: number, cleared: boolean, broken: boolean, terminal: Terminal): void {
  if (broken) terminal.say('Stopped. The same command goes on where it ended.')
  if (rows + refusals === 0) return void terminal.say('Nothing was purged.')
  terminal.data(`Purged: ${plural(rows, 'row')}, ${plural(refusals, 'refused message')}.`)
  if (!cleared)
    terminal.say(
      "The ledger's write-ahead log is in use, so it still holds pages with the data. It is overwritten while work goes on; to be sure, stop the worker and run this again.",
    )
  terminal.say(
    'References, amounts, states and transaction ids stay, so nothing can be sent twice. Backups, results, rejects and worklists that were made before keep the data: delete or encrypt them.',
  )
}
