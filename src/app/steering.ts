// What a person or a service may decide about a batch, whichever door they come through.

import type { Actor } from '../domain/actor.ts'
import type { BatchView } from '../domain/batch.ts'
import { countIn } from '../domain/batch-status.ts'
import { Fault } from '../domain/fault.ts'
import type { FoundInstruction } from '../domain/found.ts'
import { toIdentifier } from '../domain/identifier.ts'
import { words } from '../domain/words.ts'
import type { RowPlace } from '../ports/ledger/control.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

/** The row of that reference which is still to be sent, else the last one that was more than a duplicate. null: there is no such reference. */
export async function waitingUnder(
  ledger: Pick<Ledger, 'find'>,
  reference: string,
  sees: (merchant: string) => boolean,
): Promise<FoundInstruction | null> {
  const all = (await ledger.find(toIdentifier(reference))).filter(({ merchant }) => sees(merchant))
  const found = all.filter(({ by }) => by === 'reference')
  const keyed = all.findLast(({ by, state }) => by === 'keyed-reference' && state === 'READY')
  const named = keyed ?? all.findLast(({ by }) => by === 'keyed-reference')
  if (found.length === 0 && named !== undefined)
    throw new Fault(
      'usage',
      `That reference is recorded behind a run key, as ${named.reference} (row ${named.rowNo} of batch ${named.batchId}). Nothing was changed. Name it so.`,
    )
  const merchants = [...new Set(found.map(({ merchant }) => merchant))]
  if (merchants.length > 1)
    throw new Fault(
      'usage',
      words`Several merchants have an instruction of that reference: ${merchants.join(', ')}. Nothing was changed. Name one: ${{ set: 'merchant', to: merchants[0] ?? '' }}.`,
    )
  const last = (is: (state: string) => boolean) => found.findLast(({ state }) => is(state))
  return last((state) => state === 'READY') ?? last((state) => state !== 'DUPLICATE') ?? found.at(-1) ?? null
}

export async function cancelUnder(
  ledger: Pick<Ledger, 'find' | 'cancelRow'>,
  { reference, merchant, reason }: { readonly reference: string; readonly merchant: string; readonly reason: string },
  actor: Actor,
  nowMs: number,
): Promise<RowPlace | null> {
  const found = await waitingUnder(ledger, reference, (name) => name === merchant)
  if (found === null) return null
  const at = { batchId: found.batchId, rowNo: found.rowNo }
  await ledger.cancelRow(at, reason, actor, nowMs)
  return at
}

export type Steering = 'pause' | 'resume' | 'cancel'

/** Messages of the same day may still come into their batch, and a doubt may be sent again: such a batch can be paused. */
export function assertSteerable(what: Steering, batch: BatchView): void {
  const { batchId, source } = batch
  const open = countIn(batch, 'READY') + countIn(batch, 'SENDING')
  if (open > 0 || what === 'resume') return
  if (what === 'cancel') {
    throw new Fault('usage', `Batch ${batchId} has nothing left to cancel: every row is settled. Nothing was changed.`)
  }
  if (source === 'queue' || countIn(batch, 'IN_DOUBT') > 0) return
  throw new Fault(
    'usage',
    `Batch ${batchId} is done: every row is settled, so there is nothing to pause. Nothing was changed.`,
  )
}
