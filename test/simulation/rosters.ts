// Rosters of stored cards: charged under a run key, and asked once more for what was declined, with the roster or with results.

import { EUR } from '../fixtures/ledgers.ts'
import type { PlannedEvent, PlannedFile, PlannedRow } from './plan.ts'
import type { Random } from './random.ts'

/** `file`: where the roster stands among the files. */
export function drawRoster(
  random: Random,
  accounts: number,
  endsAtMs: number,
  file: number,
): [PlannedFile, PlannedEvent[]] {
  const rows = Array.from({ length: random.whole(1, 8) }, (_, i) => drawCharge(random, `roster/s-${i + 1}`))
  const roster: PlannedFile = {
    ...{ name: 'roster.csv', account: random.whole(0, accounts - 1), runKey: 'roster', rows },
    ...{ skipInvalid: true, onlyNew: false, canaryRows: null, maxDeclinedPercent: null, ofCards: false },
  }
  const at = () => random.between(800, endsAtMs)
  const runs = Array.from({ length: random.whole(1, 5) }, (): PlannedEvent => {
    const retry = random.pick([[], ['FAILED'], ['FAILED', 'CANCELLED']] as const)
    const asksAgain = random.chance(0.8)
    return random.chance(0.5)
      ? { atMs: at(), what: 'feed-back', which: random.whole(0, 9), retry, asksAgain }
      : { atMs: at(), what: 'submit-again', file, retry, asksAgain }
  })
  return [roster, [{ atMs: random.between(0, 800), what: 'submit', file }, ...runs]]
}

function drawCharge(random: Random, reference: string): PlannedRow {
  return {
    instruction: {
      ...{ reference, operation: 'CAPTURE', orderId: null, vaultId: String(random.whole(60_000, 60_003)), card: null },
      ...{ money: { amountMinor: BigInt(random.whole(1, 3) * 500), currency: EUR }, saveCardOnFile: false },
      ...{ xtlOrderId: reference.replaceAll(/\W/g, 'x'), details: {}, executeAtMs: null, expiresAtMs: null },
    },
    ...{ bad: false, payment: null },
  }
}
