// What stops a run, in words.

import { maskCardData } from '../domain/card-secrets.ts'
import { Fault, withoutNothingSent } from '../domain/fault.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Held } from '../files/lock.ts'
import { errorText } from '../present/command-line.ts'

/** A worker does not read files, and does not let go of what it holds. */
export function workerRuns({ heldBy }: Held, path: string): Fault {
  return new Fault(
    'stopped',
    `${maskCardData(path)} has card details, which only the process that reads the file sends, and process ${heldBy?.pid} (tranche worker) is working on this ledger. Nothing was recorded again and nothing of this file was sent. Stop that worker, run this command, then start the worker again.`,
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
