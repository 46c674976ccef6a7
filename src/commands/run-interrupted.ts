// What a run says where it is interrupted: who sends then, and what that means for its batch.

import type { App } from '../app.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import type { BatchId } from '../domain/ids.ts'
import type { Held } from '../files/lock.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'
import { EXIT } from '../present/exit-codes.ts'
import { type AtSignal, answersByMs, awaiting } from './signals.ts'
import type { Terminal } from './terminal.ts'

/** Who sends: it changes while a run goes on, and with it what a signal means. */
export interface Sends {
  /** null: nothing is recorded yet. */
  batchId: BatchId | null
  /** This run recorded it. */
  isNew: boolean
  /** It was a batch already, and over before this run began. */
  wasOver: boolean
  /** Another process holds the worker lock; null: none does, or this run. */
  held: Held | null
  /** This run, or the process that held the lock, has worked on it. */
  begun: boolean
}

export function atSignal(app: App, ledger: Ledger, { batchId, held }: Sends): AtSignal {
  if (batchId !== null && held === null)
    return awaiting({ count: () => sendingIn(ledger), overByMs: () => answersByMs(app) })
  const goesOn = batchId === null || held === null ? '' : `; ${goingOnText(held, `batch ${batchId}`)}`
  const cost = async () => 'This run had no request open.'
  return { now: `this run stops here${goesOn}`, waitsFor: async () => null, cost }
}

async function sendingIn(ledger: Ledger): Promise<number> {
  const batches = await ledger.batches('open')
  return batches.reduce((sum, batch) => sum + countIn(batch, 'SENDING'), 0)
}

function goingOnText({ heldBy }: Held, what: string): string {
  return heldBy?.command === 'run' ? 'another run goes on' : `the worker goes on with ${what}`
}

export function sayInterrupted(batch: BatchView, { held }: Sends, sandbox: boolean, terminal: Terminal): number {
  const { batchId } = batch
  if (sandbox) terminal.say('Interrupted. A rehearsal keeps nothing, and no results were written.')
  else
    terminal.say(
      held === null
        ? `Interrupted. Batch ${batchId} is recorded and every answer that came is in it${doubtAside(batch)}; no results were written. Nothing more of it is sent, unless another run follows it or a worker starts. Run the same command again to go on.`
        : `Interrupted. Batch ${batchId} is recorded, and ${goingOnText(held, 'it')}; to stop it: tranche pause ${batchId} --reason TEXT. No results were written. Run the same command again to follow it.`,
    )
  terminal.object({ event: 'result', batch: batchId, state: 'interrupted', exit: EXIT.interrupted })
  return EXIT.interrupted
}

function doubtAside(batch: BatchView): string {
  const inDoubt = countIn(batch, 'IN_DOUBT')
  return inDoubt === 0 ? '' : `, ${inDoubt} of them IN DOUBT (tranche in-doubt list)`
}
