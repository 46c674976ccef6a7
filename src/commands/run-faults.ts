// What stops a run, in words.

import { workerNow } from '../app/locks.ts'
import type { App } from '../app.ts'
import { maskCardData } from '../domain/card-secrets.ts'
import { Fault, withoutNothingSent } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { errorText } from '../present/command-line.ts'
import { brokenOffText } from '../present/outcome.ts'
import { viewOf } from './follow.ts'

/** A worker does not read files, and does not let go of what it holds. On a server a run works beside it. */
export async function assertNoWorker(app: App, ledger: Ledger, path: string): Promise<void> {
  if (app.config.ledgerServer !== null) return
  const holder = (await workerNow(app, ledger))?.holder
  if (holder?.command !== 'worker') return
  throw new Fault(
    'stopped',
    `${maskCardData(path)} has card details, which only the process that reads the file sends, and process ${holder.pid} (tranche worker) is working on this ledger. Nothing was recorded again and nothing of this file was sent. Stop that worker, run this command, then start the worker again.`,
  )
}

/** What was wrong with the results is no longer all that there is to say: by now money has moved. */
export function withoutResults(error: unknown, batchId: BatchId): unknown {
  if (!(error instanceof Fault)) return error
  return new Fault(
    error.code,
    `${withoutNothingSent(errorText(error))} Batch ${batchId} was worked off all the same, and what became of every row is recorded. Write its results elsewhere: tranche results ${batchId} --out FILE`,
    { cause: error },
  )
}

/** How it stands. */
export async function standText(app: App, ledger: Ledger, batchId: BatchId): Promise<string> {
  const next = (await ledger.alarm()) === null ? undefined : null
  return brokenOffText(await viewOf(ledger, batchId), (await workerNow(app, ledger)) !== null, next)
}

/** A changed file would be another batch. */
const PUT_BACK = 'Put the file back as it was and run the same command again to go on.'

export async function changedFault(app: App, ledger: Ledger, batchId: BatchId): Promise<Fault> {
  const stands = brokenOffText(await viewOf(ledger, batchId), (await workerNow(app, ledger)) !== null, PUT_BACK)
  return new Fault(
    'stopped',
    `The file changed while its rows were being sent, or can no longer be read: it is not what was checked. Nothing more of it is sent. ${stands}`,
  )
}
