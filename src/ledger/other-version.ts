// Tables that are not those of this program: of another version, or of something else. They are refused and not touched: nothing here converts any.

import { Fault } from '../domain/fault.ts'

/** `name`: of the ledger, for people. `found`: the number that its tables have, and not the one that this program needs. */
export function otherVersionFault(name: string, found: number, needed: number): Fault {
  return new Fault(
    'config',
    `The ledger ${name} belongs to another version of Tranche: its tables have version ${found}, and this program needs version ${needed}. Nothing in it was changed, and nothing is sent from it. Use the version of Tranche that it belongs to: CHANGELOG.md says which tables each version has. A new ledger in its place would send everything again.`,
  )
}

/** `setting`: what names the place. */
export function otherProgramFault(place: string, setting: string): Fault {
  return new Fault(
    'config',
    `${place} holds the tables of another program, and not a ledger of Tranche. Nothing in it was changed, and nothing was sent. Check ${setting}.`,
  )
}
