// The people who look doubts up at the gateway and say what is there. Truthful, and careless in one thing only: now and
// then one orders something to be sent again although it was executed, which is then that person's second payment; or, where that takes two
// people, proposes it, and any of them confirms or refuses it: the same one, who submitted the batch, or one who was shown another proposal.

import type { Actor } from '../../src/domain/actor.ts'
import { type DoubtRow, type Resolution, type Resolved, standingProposal } from '../../src/domain/doubt.ts'
import type { AccountId } from '../../src/domain/ids.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Ledger } from '../../src/ports/ledger/ledger.ts'
import { personAt } from '../fixtures/ledgers.ts'
import { PEOPLE } from './approvers.ts'
import type { Execution, GatewayTruth } from './gateway.ts'
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
  const accounts = new Map((await ledger.accounts()).map(({ name, accountId }) => [name, accountId]))
  for (const doubt of await ledger.doubts()) {
    const { attempt, merchant, batchId, rowNo } = doubt
    const { reference } = doubt.instruction
    const lookUpOnly = () => entryOf(truth.executedOf(accounts.get(merchant) as AccountId, reference))
    const actor = doubt.twoPeople ? (PEOPLE[random.whole(0, PEOPLE.length - 1)] ?? PERSON) : PERSON
    if (await refuses(life, ledger, doubt, { actor, random }, clock)) continue
    const found = againOr(lookUpOnly(), doubt, random, careless)
    const key = `${accounts.get(merchant)}/${reference}`
    const told = { reference, merchant, attempt, row: { batchId, rowNo }, reason: 'looked up', restMs: 0 }
    // Counted before it is told: the process may die between the two.
    if (found.finding === 'send-again') truth.sendAgains.set(key, (truth.sendAgains.get(key) ?? 0) + 1)
    if (found.finding === 'send-again' && lookUpOnly().finding === 'approved') truth.misjudged.add(key)
    const { proposal } = doubt
    const isTold = doubt.twoPeople && random.chance(0.5)
    const shown = isTold ? { proposedAtMs: proposal?.atMs ?? null, onlyProposes: proposal === null } : {}
    let resolved = await ledger.resolve({ ...told, ...shown, ...found }, actor, clock.nowMs())
    if (resolved.kind === 'proposed') truth.sendAgains.set(key, (truth.sendAgains.get(key) ?? 1) - 1)
    if (resolved.kind === 'proposed' && random.chance(0.6))
      resolved = await askOthers(life, ledger, truth, { told: { ...told, ...found }, key, doubt, random }, clock)
    if (resolved.kind === 'refused' && (resolved.why === 'cancelled' || resolved.why === 'expired')) {
      resolved = await ledger.resolve({ ...told, ...lookUpOnly() }, actor, clock.nowMs())
    }
    const { kind } = resolved
    life.say(
      () => `${reference} is ${found.finding}: ${kind}${resolved.kind === 'refused' ? `, ${resolved.reason}` : ''}`,
    )
  }
}

interface Asked {
  readonly told: Resolution
  readonly key: string
  readonly doubt: DoubtRow
  readonly random: Random
}

/** Whoever is in the office at the moment, one after the other, until one has it sent. */
async function askOthers(
  life: Life,
  ledger: Ledger,
  truth: GatewayTruth,
  { told, key, doubt, random }: Asked,
  clock: Pick<Clock, 'nowMs'>,
): Promise<Resolved> {
  for (let left = random.whole(1, 4); ; left -= 1) {
    const [now] = (await ledger.doubts()).filter(({ rowId }) => rowId === doubt.rowId)
    const actor = PEOPLE[random.whole(0, PEOPLE.length - 1)] ?? PERSON
    if (now !== undefined) await refuses(life, ledger, now, { actor, random }, clock)
    truth.sendAgains.set(key, (truth.sendAgains.get(key) ?? 0) + 1)
    const resolved = await ledger.resolve(told, actor, clock.nowMs())
    if (resolved.kind === 'resolved') return resolved
    truth.sendAgains.set(key, (truth.sendAgains.get(key) ?? 1) - 1)
    if (left <= 1) return resolved
  }
}

/** Now and then somebody refuses what another one, or they themselves, proposed. */
async function refuses(
  life: Life,
  ledger: Ledger,
  doubt: DoubtRow,
  { actor, random }: { readonly actor: Actor; readonly random: Random },
  clock: Pick<Clock, 'nowMs'>,
): Promise<boolean> {
  const proposal = standingProposal(doubt, clock.nowMs())
  if (proposal === null || !random.chance(0.3)) return false
  const { batchId, rowNo } = doubt
  const refusal = { batchId, rowNo, proposedAtMs: proposal.atMs, reason: 'it may come yet' }
  const isRefused = await ledger.refuseProposal(refusal, actor, clock.nowMs())
  life.say(() => `${doubt.instruction.reference}: the proposal is ${isRefused ? 'refused' : 'gone'}`)
  return isRefused
}

type Found = Pick<Resolution, 'finding' | 'transactionId'>

function againOr(found: Found, doubt: DoubtRow, random: Random, careless: number): Found {
  const willing = doubt.proposal === null ? 0.4 : 0.7 // many agree with a colleague
  const again = random.chance(found.finding === 'approved' ? careless : willing)
  return again ? { finding: 'send-again', transactionId: null } : found
}

function entryOf(executed: readonly Execution[]): Found {
  const entry = executed.find(({ status }) => status === 'APPROVED') ?? executed.at(-1)
  if (entry === undefined) return { finding: 'not-executed', transactionId: null }
  return { finding: entry.status === 'APPROVED' ? 'approved' : 'declined', transactionId: entry.transactionId }
}
