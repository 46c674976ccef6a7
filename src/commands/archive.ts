// tranche archive: finished batches out of the ledger, each into a file that is whole before anything of it is taken.

import { join, resolve } from 'node:path'
import { archiveInto } from '../app/archive.ts'
import { openLedger } from '../app/ledger.ts'
import type { App } from '../app.ts'
import type { ArchiveRequest } from '../domain/archive.ts'
import { isoOf } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import { categoryOfReason } from '../domain/reason-categories.ts'
import { EXIT } from '../present/exit-codes.ts'
import { plural } from '../present/text.ts'
import { sayLeft } from './left-batches.ts'
import { finishing, openInterruption } from './signals.ts'
import type { Terminal } from './terminal.ts'

export interface ArchiveArguments {
  readonly olderThan: string
  readonly out: string
}

interface Done {
  readonly batch: BatchId
  readonly file: string | null
  rows: number
}

/** A worker looks for its turn more often than that. */
const REST_MS = 10
const DAY_MS = 86_400_000

export async function archive(app: App, given: ArchiveArguments, terminal: Terminal): Promise<number> {
  const directory = resolve(given.out)
  const request = toRequest(app, given, directory)
  const ledger = await openLedger(app)
  const interruption = openInterruption(terminal, () => finishing('the step in hand is brought to its end'))
  try {
    const { batches, left } = await ledger.toPurge(request.beforeMs)
    const plan = { batches: batches.filter(({ begun }) => begun !== 'purged') }
    sayLeft({ left }, terminal)
    for (const { batchId, begun } of batches) if (begun === 'purged') sayBegun(batchId, terminal)
    const done = new Map<BatchId, Done>()
    for await (const step of archiveInto(ledger, directory, plan, request)) {
      const { batchId } = step
      if (step.kind === 'written') {
        const { name, rows, bytes } = step.file
        done.set(batchId, { batch: batchId, file: join(directory, name), rows: 0 })
        terminal.say(`${batchId}: ${plural(rows, 'row')} in ${name}, ${bytes} bytes, read back and whole.`)
      } else {
        const batch = done.get(batchId) ?? { batch: batchId, file: null, rows: 0 }
        batch.rows += step.rows
        done.set(batchId, batch)
        terminal.redraw(`${batchId}: ${batch.rows} rows taken out`)
      }
      if (interruption.signal.aborted) break
      await app.clock.sleep(REST_MS)
    }
    terminal.redraw(null)
    const cleared = await ledger.clearLog()
    const exit = interruption.signal.aborted ? EXIT.interrupted : EXIT.approved
    const taken = [...done.values()].filter(({ rows }) => rows > 0)
    terminal.object({
      ...{ event: 'result', older_than: isoOf(request.beforeMs), batches: taken, log_cleared: cleared, exit },
      left: left.map(({ batchId, why }) => ({ batch: batchId, why })),
    })
    sayEnd(
      taken,
      [...done.values()],
      { directory, beforeMs: request.beforeMs, isBroken: exit !== EXIT.approved },
      terminal,
    )
    return exit
  } finally {
    interruption.close()
    await ledger.close()
  }
}

function toRequest(app: App, { olderThan }: ArchiveArguments, directory: string): ArchiveRequest {
  const days = /^(\d{1,5})d?$/.exec(olderThan.trim())?.[1]
  if (days === undefined)
    throw new Fault('usage', `--older-than ${olderThan}: write a number of days, such as 400. Nothing was archived.`)
  const nowMs = app.clock.nowMs()
  const categoryOf = (merchant: string, text: string) =>
    categoryOfReason(text, app.config.merchants.get(merchant)?.reasonRules ?? [])
  const reason = `archived to ${directory}`
  return { beforeMs: nowMs - Number(days) * DAY_MS, reason, actor: app.actor, nowMs, categoryOf }
}

function sayBegun(batchId: BatchId, terminal: Terminal): void {
  terminal.say(
    `Batch ${batchId} stays as it is: a purge of it was broken off, so an archive would lack what is gone. Finish the purge: tranche purge`,
  )
}

function sayEnd(
  taken: readonly Done[],
  all: readonly Done[],
  {
    directory,
    beforeMs,
    isBroken,
  }: { readonly directory: string; readonly beforeMs: number; readonly isBroken: boolean },
  terminal: Terminal,
): void {
  if (isBroken) terminal.say('Stopped. The same command goes on where it ended.')
  for (const { batch, rows } of all)
    if (rows === 0 && !isBroken)
      terminal.say(`Batch ${batch} changed while its file was written, and stays as it is. Run the same command again.`)
  if (taken.length === 0) return void terminal.say(`Nothing was archived that ended before ${isoOf(beforeMs)}.`)
  const rows = taken.reduce((sum, batch) => sum + batch.rows, 0)
  terminal.data(`Archived: ${plural(taken.length, 'batch', 'batches')}, ${plural(rows, 'row')}, in ${directory}.`)
  terminal.say(
    'References, amounts, states, moves and transaction ids stay in the ledger, so nothing can be sent twice. The files hold everything, names and e-mails as well: keep them where only those can read them who may. sha256sum -c *.sha256 checks them.',
  )
}
