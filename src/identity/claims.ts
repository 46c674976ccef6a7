// The claims of an ID token, read as what a stranger wrote.

import type { ProviderIdentity, ProviderSettings } from '../domain/identity.ts'
import { holdsControls } from '../domain/visible.ts'
import { SignInRejected } from '../ports/identity-provider.ts'

const SUBJECT_LONGEST = 255
const TEXT_LONGEST = 300
const GROUPS_MOST = 2_000

type Claims = Readonly<Record<string, unknown>>

export function readClaims(claims: Claims, { issuer, groupsClaim, acrValues }: ProviderSettings): ProviderIdentity {
  const { sub, iss, auth_time: authTime } = claims
  if (iss !== issuer) throw new SignInRejected('issuer', null)
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_LONGEST || holdsControls(sub))
    throw new SignInRejected('subject', null)
  const acr = textIn(claims.acr)
  if (acrValues.length > 0 && (acr === null || !acrValues.includes(acr))) throw new SignInRejected('acr', null)
  return {
    ...{ issuer, subject: sub, acr },
    names: [claims.preferred_username, claims.email, sub].flatMap((name) => textIn(name) ?? []),
    groups: groupsIn(claims[groupsClaim]),
    authTimeMs: typeof authTime === 'number' && Number.isFinite(authTime) && authTime > 0 ? authTime * 1000 : null,
  }
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LONGEST ? value : null
}

/** A list, or the only one as a text. */
function groupsIn(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.slice(0, GROUPS_MOST).flatMap((group) => textIn(group) ?? [])
}
