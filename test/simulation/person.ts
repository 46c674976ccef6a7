// The person who looks doubts up at the gateway and says what is there. Truthful, and careless in one thing only: now and
// then it orders something to be sent again although it was executed, which is then that person's second payment.

import type { Actor } from '../../src/domain/actor.ts'
import type { DoubtRow, Resolution } from '../../src/domain/doubt.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { personAt } from '../fixtures/ledgers.ts'
import type { GatewayTruth } from './gateway.ts'
import type { Random } from './random.ts'
import type { Life } from './world.ts'

const PERSON: Actor = personAt('clerk', 'the one who looks it up')

/** As `TRANCHE_DOUBT_REST_MS` of whatever sends, and not of the person: longer than anything at the gateway takes. */
export const DOUBT_REST_MS = 60_000

export async function decideDoubts(
  life: Life,
  ledger: Ledger,
  truth: GatewayTruth,
  { random, careless }: { readonly random: Random; readonly careless: number },
  clock: Pick<Clock, 'nowMs'> = life.clock,
): Promise<void> {
  for (const doubt of await ledger.doubts()) {
    const { attempt, merchant, batchId, rowNo } = doubt
    const { reference } = doubt.instruction
    const found = lookUp(doubt, truth, random, careless)
    const key = `${accountOf(doubt)}/${reference}`
    const told = { reference, merchant, attempt, row: { batchId, rowNo }, reason: 'looked up', restMs: 0 }
    // Counted before it is told: the process may die between the two.
    if (found.finding === 'send-again') truth.sendAgains.set(key, (truth.sendAgains.get(key) ?? 0) + 1)
    if (found.finding === 'send-again' && lookUpOnly(doubt, truth).finding === 'approved') truth.misjudged.add(key)
    let resolved = await ledger.resolve({ ...told, ...found }, PERSON, clock.nowMs())
    if (resolved.kind === 'refused' && resolved.why === 'cancelled') {
      resolved = await ledger.resolve({ ...told, ...lookUpOnly(doubt, truth) }, PERSON, clock.nowMs())
    }
    const { kind } = resolved
    life.say(
      () => `${reference} is ${found.finding}: ${kind}${resolved.kind === 'refused' ? `, ${resolved.reason}` : ''}`,
    )
  }
}

type Found = Pick<Resolution, 'finding' | 'transactionId'>

function lookUp(doubt: DoubtRow, truth: GatewayTruth, random: Random, careless: number): Found {
  const found = lookUpOnly(doubt, truth)
  const again = random.chance(found.finding === 'approved' ? careless : 0.4)
  return again ? { finding: 'send-again', transactionId: null } : found
}

function lookUpOnly(doubt: DoubtRow, truth: GatewayTruth): Found {
  const found = truth.executedOf(accountOf(doubt), doubt.instruction.reference)
  const entry = found.find(({ status }) => status === 'APPROVED') ?? found.at(-1)
  if (entry === undefined) return { finding: 'not-executed', transactionId: null }
  return { finding: entry.status === 'APPROVED' ? 'approved' : 'declined', transactionId: entry.transactionId }
}

/** Accounts are numbered in the order of the configuration, which is what merchants are called after. */
function accountOf({ merchant }: DoubtRow): number {
  return Number(merchant.replace('merchant-', '')) + 1
}
