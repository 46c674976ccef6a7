// People whom the identity provider recognised: what they are here, and the session that it opens.

import {
  type Proof,
  type ProviderIdentity,
  type ProviderSettings,
  personNameFrom,
  proofOf,
  rolesOf,
} from '../domain/identity.ts'
import { exclusionIn, type GrantName } from '../domain/person.ts'
import type { EnteredAgain, PeopleLedger, Provided } from '../ports/ledger/people.ts'
import { newPersonId, newSecret, sha256Of } from './people.ts'

interface Coming {
  readonly told: ProviderIdentity
  readonly settings: ProviderSettings
  readonly address: string | null
  readonly nowMs: number
}

/** - `apart`: their groups have two roles that one person may not have: until that is mended, they have none */
type Apart = { readonly kind: 'apart'; readonly roles: readonly [GrantName, GrantName] }

export type ProviderSignIn =
  | { readonly kind: 'in'; readonly secret: string }
  | { readonly kind: 'no-roles' | 'revoked' }
  | Apart

export async function signInWithProvider(ledger: Pick<PeopleLedger, 'enter'>, coming: Coming): Promise<ProviderSignIn> {
  const { provided, apart } = providedBy(coming)
  const secret = newSecret()
  const proof = proofOf(coming.told, coming.nowMs)
  const provedAtMs = proof.kind === 'proved' ? proof.atMs : 0
  const { kind } = await ledger.enter(provided, { sha256: sha256Of(secret), id: newPersonId(), provedAtMs })
  if (kind === 'in') return { kind, secret }
  return kind === 'no-roles' && apart !== null ? { kind: 'apart', roles: apart } : { kind }
}

/** - `unsaid`, `old`, `ahead`: the provider does not say that they proved who they are a moment ago */
export type ProviderStepUp =
  | { readonly kind: 'renewed'; readonly secret: string }
  | { readonly kind: Exclude<EnteredAgain, 'renewed' | 'not-fresh'> | Exclude<Proof['kind'], 'proved'> }
  | Apart

/** `from`: the secret of the session that goes on with another one. */
export async function stepUpWithProvider(
  ledger: Pick<PeopleLedger, 'enterAgain'>,
  coming: Coming,
  from: string,
): Promise<ProviderStepUp> {
  const { provided, apart } = providedBy(coming)
  const proof = proofOf(coming.told, coming.nowMs)
  const secret = newSecret()
  const provedAtMs = proof.kind === 'proved' ? proof.atMs : null
  // Also of a sign-in that is too old: what it says of groups is signed, and no older than it.
  const entered = await ledger.enterAgain(provided, { from: sha256Of(from), to: sha256Of(secret), provedAtMs })
  if (entered === 'renewed') return { kind: entered, secret }
  if (entered === 'no-roles' && apart !== null) return { kind: 'apart', roles: apart }
  if (entered !== 'not-fresh') return { kind: entered }
  if (proof.kind === 'proved') throw new Error('bug: a fresh sign-in was not taken for one')
  return { kind: proof.kind }
}

function providedBy({ told, settings, address, nowMs }: Coming) {
  const { issuer, subject, names, groups } = told
  const grants = rolesOf(groups, settings.roles)
  const apart = exclusionIn(grants)
  const provided: Provided = {
    ...{ issuer, providerName: settings.name, subject, address, nowMs, newId: newPersonId() },
    name: personNameFrom(names) ?? `person-${sha256Of(subject).slice(0, 8)}`,
    grants: apart === null ? grants : [],
    hasApprovers: [...settings.roles.values()].some((roles) => roles.includes('approver')),
  }
  return { provided, apart }
}
