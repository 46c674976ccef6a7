// What is said of a ledger that may not be the one that sent last. Nothing is sent from it until a person has adopted it.

import { Fault } from './fault.ts'
import { type Words, words } from './words.ts'

/**
 * What was noticed:
 * - `backup`: it is a copy that was made as a backup
 * - `older`: work went on since this state was written
 * - `other`: another ledger stood here before
 * - `restoring`: it is taken over as an older state, and what has not come into doubt yet would be sent
 * - `elsewhere`: the same state in another file, or on another machine
 * - `touched`: something else wrote to its directory, and no witness outside tells what
 * - `failed-over`: another server took the place of the one that it was on
 * - `moved-away`: it was moved to a server, which sends since
 * - `unmarked`: the file with the epoch is missing, so that nothing shows whether work went on since
 */
export interface Alarm {
  readonly kind:
    | 'backup'
    | 'older'
    | 'other'
    | 'restoring'
    | 'elsewhere'
    | 'touched'
    | 'failed-over'
    | 'moved-away'
    | 'unmarked'
  /** For people, the middle of a sentence. */
  readonly noticed: string
}

/** How a person takes such a ledger over: as the newest state there is, or as an older one. */
export type Adoption = 'moved' | 'restored'

/** Where it is proven that work went on without this ledger, or a person has begun to say so, it cannot be the newest state. */
export function mayBeMoved({ kind }: Alarm): boolean {
  return kind !== 'older' && kind !== 'other' && kind !== 'restoring' && kind !== 'moved-away'
}

/** `told`: what did not happen for it. */
export function stoppedBy(alarm: Alarm, ledgerPath: string, told = 'Nothing was sent.'): Fault {
  return new Fault('stopped', words`${sayAlarm(alarm, ledgerPath)} ${told}`)
}

export function sayAlarm(alarm: Alarm, ledgerPath: string): Words {
  if (alarm.kind === 'moved-away')
    return words`The ledger ${ledgerPath} is not the one that sends: ${alarm.noticed}. Nothing will be sent from it and nothing is recorded in it. Let TRANCHE_LEDGER_URL name that server. If the ledger there is lost for good: ${{ act: 'adopt', as: 'server-is-lost' }} (every unsettled row becomes IN_DOUBT).`
  const moved = mayBeMoved(alarm)
    ? words`If nothing was sent since from any other copy, and none will be: ${{ act: 'adopt', as: 'moved' }}. If it is an older state: `
    : 'Put the newest ledger back in its place, or go on with this one: '
  return words`The ledger ${ledgerPath} may not be the one that sent last: ${alarm.noticed}. Nothing will be sent from it, because later payments could be sent twice. ${moved}${{ act: 'adopt', as: 'restored' }} (every unsettled row becomes IN_DOUBT).`
}
