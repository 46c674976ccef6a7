// The record, verified for a person at a page. Disagreements are an act of that person, written once they are known.

import type { App } from '../app.ts'
import type { Actor } from '../domain/actor.ts'
import type { PersonAct } from '../domain/acts.ts'
import { messageOf } from '../domain/errors.ts'
import type { Disagreement, Verified, Verify } from '../ports/ledger/audit.ts'
import type { Ledger } from '../ports/ledger/ledger.ts'

export interface VerificationAsked {
  /** A head that was written down earlier; null: none. */
  readonly anchor: string | null
  readonly actor: Actor
}

/** `isNoted`: false: the record should have an act of it, and has none. */
export type VerifiedFor = Verified & { readonly isNoted: boolean }

/** Whatever fails on the way: nothing is known then, and no act says otherwise. */
export async function verifyFor(
  app: Pick<App, 'clock' | 'log' | 'scrub'>,
  ledger: Pick<Ledger, 'recordAct'>,
  verify: Verify,
  { anchor, actor }: VerificationAsked,
): Promise<VerifiedFor> {
  const verified = await verify(anchor).catch((): Verified => ({ kind: 'unknown' }))
  if (verified.kind !== 'disagrees') return { ...verified, isNoted: true }
  const act = { ...disagreementAct(verified.disagreements), actor }
  const noted = await ledger.recordAct(act, app.clock.nowMs()).catch((error: unknown) => app.scrub(messageOf(error)))
  if (noted !== 'recorded') app.log.warn({ why: noted }, 'a verification that found disagreements was not noted')
  return { ...verified, isNoted: noted === 'recorded' }
}

/** Of a look that found something; a look that found nothing leaves none. */
export function disagreementAct(found: readonly Disagreement[]): Pick<PersonAct, 'what' | 'details'> {
  return { what: 'inspect', details: { disagreements: found.length, first: found[0]?.where ?? null } }
}
