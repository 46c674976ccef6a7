// People whom the identity provider recognised: what they are here, and the session that it opens.

import { type ProviderSettings, personNameFrom, proofOf, rolesOf, type Told } from '../domain/identity.ts'
import { exclusionIn, type GrantName } from '../domain/person.ts'
import type { EnteredAgain, PeopleLedger, Provided } from '../ports/ledger/people.ts'
import { newPersonId, newSecret, sha256Of } from './people.ts'

interface Coming {
  readonly told: Told
  readonly settings: ProviderSettings
  readonly address: string | null
  readonly nowMs: number
}

/** - `apart`: their groups have two roles that one person may not have; nothing was changed */
type Apart = { readonly kind: 'apart'; readonly roles: readonly [GrantName, GrantName] }

export type Entry = { readonly kind: 'in'; readonly secret: string } | { readonly kind: 'no-roles' | 'revoked' } | Apart

export async function enterBy(ledger: Pick<PeopleLedger, 'enter'>, coming: Coming): Promise<Entry> {
  const provided = providedBy(coming)
  const apart = exclusionIn(provided.grants)
  if (apart !== null) return { kind: 'apart', roles: apart }
  const secret = newSecret()
  const proof = proofOf(coming.told, coming.nowMs)
  const provedAtMs = proof.kind === 'proved' ? proof.atMs : 0
  const entered = await ledger.enter(provided, { sha256: sha256Of(secret), id: newPersonId(), provedAtMs })
  return entered.kind === 'in' ? { kind: 'in', secret } : entered
}

/** - `unsaid`, `old`, `ahead`: the provider does not say that they proved who they are a moment ago */
export type EntryAgain =
  | { readonly kind: 'renewed'; readonly secret: string }
  | { readonly kind: Exclude<EnteredAgain, 'renewed'> | 'unsaid' | 'old' | 'ahead' }
  | Apart

/** `from`: the secret of the session that goes on with another one. */
export async function proveBy(
  ledger: Pick<PeopleLedger, 'enterAgain'>,
  coming: Coming,
  from: string,
): Promise<EntryAgain> {
  const proof = proofOf(coming.told, coming.nowMs)
  if (proof.kind !== 'proved') return { kind: proof.kind }
  const provided = providedBy(coming)
  const apart = exclusionIn(provided.grants)
  if (apart !== null) return { kind: 'apart', roles: apart }
  const secret = newSecret()
  const renewal = { from: sha256Of(from), to: sha256Of(secret), provedAtMs: proof.atMs }
  const entered = await ledger.enterAgain(provided, renewal)
  return entered === 'renewed' ? { kind: 'renewed', secret } : { kind: entered }
}

function providedBy({ told, settings, address, nowMs }: Coming): Provided {
  const { issuer, subject, names, groups } = told
  return {
    ...{ issuer, providerName: settings.name, subject, address, nowMs, newId: newPersonId() },
    name: personNameFrom(names) ?? `person-${sha256Of(subject).slice(0, 8)}`,
    grants: rolesOf(groups, settings.roles),
  }
}
