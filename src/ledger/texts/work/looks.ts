// What an engine looks at before it does what a person decides, whichever door the person came through.

import { stoppedBy } from '../../../domain/alarm.ts'
import type { Fault } from '../../../domain/fault.ts'
import type { CopyLedger } from '../../../ports/ledger/copies.ts'
import type { Script } from '../script.ts'

export interface Looks {
  /** Faults where the ledger may not be the one that sent last: nobody knows what was sent since. `told`: what did not happen for it. */
  readonly assertNewest: (told?: string) => Promise<void>
  /** In the transaction of the decision: whether the ledger may lack what was sent, as far as its own engine can tell. */
  readonly whyUnsure: () => Script<Fault | null>
  /** In that transaction: whether somebody works off rows. */
  readonly whyAtWork: () => Script<Fault | null>
}

/** Of an engine that is asked by others: locks keep them apart. */
// biome-ignore lint/correctness/useYield: it has nothing to ask
function* nothing(): Script<null> {
  return null
}

/** `name`: of the ledger, for people. */
export function looksBy(
  { alarm }: Pick<CopyLedger, 'alarm'>,
  name: string,
  { whyUnsure = nothing, whyAtWork = nothing }: Partial<Omit<Looks, 'assertNewest'>> = {},
): Looks {
  return {
    async assertNewest(told) {
      const found = await alarm()
      if (found !== null) throw stoppedBy(found, name, told)
    },
    whyUnsure,
    whyAtWork,
  }
}
