// People whom the company's identity provider recognises: who they are here, what they may do, and how fresh its word is.

import { type GrantName, STEP_UP_MS } from './person.ts'
import type { Secret } from './secret.ts'

/** As the configuration says. */
export interface ProviderSettings {
  /** For people, on the page where they sign in. */
  readonly name: string
  /** Exactly as the provider publishes it. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
  /** The claim of the ID token that lists groups. */
  readonly groupsClaim: string
  /** Asked for beside openid, profile and email. */
  readonly scopes: readonly string[]
  /** Group → roles. */
  readonly roles: ReadonlyMap<string, readonly GrantName[]>
  /** Requested `acr` values, one of which the ID token must have; empty: any. */
  readonly acrValues: readonly string[]
  /** Whether passwords of this server open anything beside it. */
  readonly localSignIn: boolean
}

/** What a provider told of somebody, after its signature was verified. */
export interface ProviderIdentity {
  readonly issuer: string
  /** Never given twice by that issuer; the only thing a person is known by. */
  readonly subject: string
  /** How they are called there, the best first: nobody is known by it. */
  readonly names: readonly string[]
  readonly groups: readonly string[]
  /** When they last proved who they are; null: it does not say. */
  readonly authTimeMs: number | null
  readonly acr: string | null
}

/** Whether people of that issuer come in here; null: by a password of this server. `provider`: as configured; null: there is none. */
export function comesInBy(issuer: string | null, provider: ProviderSettings | null): boolean {
  return issuer === null ? (provider?.localSignIn ?? true) : issuer === provider?.issuer
}

/** Of all groups together, each role once. */
export function rolesOf(groups: readonly string[], table: ProviderSettings['roles']): readonly GrantName[] {
  return [...new Set(groups.flatMap((group) => table.get(group) ?? []))].toSorted()
}

const NAME_LONGEST = 64

/** A valid name that says the most of these; null: none has a letter or digit that a name may have. */
export function personNameFrom(names: readonly string[]): string | null {
  for (const name of names) {
    const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
    const made = plain
      .replace(/[^a-z0-9._@-]+/g, '-')
      .replace(/^[^a-z0-9]+/, '')
      .slice(0, NAME_LONGEST)
      .replace(/-+$/, '')
    if (made !== '') return made
  }
  return null
}

/** `n`: from 2. */
export function numberedName(name: string, n: number): string {
  const end = `-${n}`
  return name.slice(0, NAME_LONGEST - end.length) + end
}

/** Two clocks never agree to the second. */
const SKEW_MS = 30_000

export type Proof = { readonly kind: 'proved'; readonly atMs: number } | { readonly kind: 'unsaid' | 'old' | 'ahead' }

/** Whether they proved who they are a moment ago. A page on the way can take the request for that away: the answer counts. */
export function proofOf({ authTimeMs }: Pick<ProviderIdentity, 'authTimeMs'>, nowMs: number): Proof {
  if (authTimeMs === null) return { kind: 'unsaid' }
  if (authTimeMs > nowMs + SKEW_MS) return { kind: 'ahead' }
  return nowMs - authTimeMs > STEP_UP_MS ? { kind: 'old' } : { kind: 'proved', atMs: Math.min(authTimeMs, nowMs) }
}
