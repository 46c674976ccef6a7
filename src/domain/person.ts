// People of the console: what they were given, what they may do by it, and when the right to approve begins.

import { holdsCardData } from './card-secrets.ts'

const ROLES = ['viewer', 'submitter', 'approver', 'operator', 'admin', 'auditor'] as const
/** `results`: result files hold names, so who sees batches may not download them by that. */
export const GRANTS = [...ROLES, 'results'] as const
export type GrantName = (typeof GRANTS)[number]

export const PERMISSIONS = [
  'view',
  'results',
  'submit',
  'approve',
  'operate',
  'administer',
  'audit',
  'webhooks',
] as const
/** `own`: every person who is signed in. `webhooks`: sees where events are sent. */
export type Permission = (typeof PERMISSIONS)[number] | 'own'

const GIVES: Readonly<Record<GrantName, readonly Permission[]>> = {
  viewer: ['view'],
  submitter: ['view', 'submit'],
  approver: ['view', 'approve'],
  operator: ['view', 'operate', 'webhooks'],
  admin: ['administer', 'webhooks'],
  auditor: ['view', 'audit', 'webhooks'],
  results: ['results'],
}

export interface Grant {
  readonly name: GrantName
  readonly atMs: number
  /** The identity of who gave it, as in `identityOf`. */
  readonly by: string
  /** When the first people were added, before the first batch: nobody was there who could have given it sooner. */
  readonly first: boolean
}

export interface SignedIn {
  readonly address: string
  readonly atMs: number
}

const ADDRESSES_KEPT = 3

/** Each address once, with when it was used last. */
export function signedInFrom(before: readonly SignedIn[], address: string | null, atMs: number): readonly SignedIn[] {
  if (address === null) return before
  return [{ address, atMs }, ...before.filter((one) => one.address !== address)].slice(0, ADDRESSES_KEPT)
}

/** By whom an account was made, and from where it is used: whoever approves can see whether two are one. */
export type AccountOf = Pick<Person, 'name' | 'createdAtMs' | 'createdBy' | 'confirmedBy' | 'signedIn'>

export function accountWords({ name, createdAtMs, createdBy, confirmedBy, signedIn }: AccountOf): string {
  const confirmed = confirmedBy === null ? 'confirmed by nobody' : `confirmed by ${confirmedBy}`
  const from = signedIn.length === 0 ? 'nowhere yet' : signedIn.map(({ address }) => address).join(', ')
  return `Account ${name}: made ${new Date(createdAtMs).toISOString()} by ${createdBy}, ${confirmed}, signed in from ${from}`
}

export interface Person {
  /** Never given twice. */
  readonly id: string
  /** With which they sign in: small letters. */
  readonly name: string
  readonly grants: readonly Grant[]
  /** Roles that move money, until a second person confirms them. */
  readonly waiting: readonly Grant[]
  /** Identities of whoever made the account, or gave a link to it. */
  readonly makers: readonly string[]
  /** The second person who said whose account it is, in words; null: nobody has. */
  readonly confirmedBy: string | null
  /** The latest address first. */
  readonly signedIn: readonly SignedIn[]
  /** Whether they have a way in: a password was chosen, or a provider is theirs. */
  readonly joined: boolean
  readonly createdAtMs: number
  readonly createdBy: string
  /** null: they may sign in. */
  readonly revokedAtMs: number | null
  /** Of the identity provider by which they come, with the roles that it says; null: by a password of their own. */
  readonly issuer: string | null
}

export const APPROVES_AFTER_MS = 24 * 3_600_000
/** Since the first person joined. */
export const FIRST_SETUP_MS = 3_600_000

/** Roles with which money is moved. */
export const MONEY: readonly GrantName[] = ['submitter', 'approver', 'operator']

/** Hands in, approves, steers or resolves. */
export function movesMoney({ grants, revokedAtMs }: Pick<Person, 'grants' | 'revokedAtMs'>): boolean {
  return revokedAtMs === null && grants.some(({ name }) => MONEY.includes(name))
}

export function parseGrant(text: string): GrantName | undefined {
  return GRANTS.find((name) => name === text)
}

export function parsePersonName(text: string): string | null {
  const name = text.trim().toLowerCase()
  return /^[a-z0-9][a-z0-9._@-]{0,63}$/.test(name) && !holdsCardData(name) ? name : null
}

/** Who makes people moves no money. null: the roles go together. */
export function exclusionIn(names: readonly GrantName[]): readonly [GrantName, GrantName] | null {
  if (!names.includes('admin')) return null
  const other = MONEY.find((name) => names.includes(name))
  return other === undefined ? null : ['admin', other]
}

export function mayDo(
  { grants, revokedAtMs }: Pick<Person, 'grants' | 'revokedAtMs'>,
  permission: Permission,
): boolean {
  if (revokedAtMs !== null) return false
  return permission === 'own' || grants.some(({ name }) => GIVES[name].includes(permission))
}

export type UnfitPerson = 'no-approver' | 'approver-too-new' | 'made-by-the-submitter' | 'made-by-one' | 'other-account'

/**
 * null: they may approve what the submitter handed in. `others`: the people who submitted it, or approved it before. `mayBeOne`: whether
 * one human may be behind the account and one of those.
 */
export function unfitPerson(
  person: Pick<Person, 'grants' | 'revokedAtMs' | 'issuer'> | null,
  submitters: readonly string[],
  others: readonly Pick<Person, 'issuer'>[],
  { nowMs, mayBeOne }: { readonly nowMs: number; readonly mayBeOne: boolean },
): UnfitPerson | null {
  const grant = person?.grants.find(({ name }) => name === 'approver')
  if (person === null || person.revokedAtMs !== null || grant === undefined) return 'no-approver'
  if (submitters.includes(grant.by)) return 'made-by-the-submitter'
  if (mayBeOne) return 'made-by-one'
  // One human may have a password here and an account there: nothing shows that the two are two people.
  if (others.some(({ issuer }) => issuer !== person.issuer)) return 'other-account'
  // Last, because a moment is named with it: from then on nothing else may stand in the way.
  return !grant.first && nowMs - grant.atMs < APPROVES_AFTER_MS ? 'approver-too-new' : null
}

/** From when on the role is old enough to approve; null: there is none, or it is the first of all. */
export function approvesFromMs({ grants }: Pick<Person, 'grants'>): number | null {
  const grant = grants.find(({ name }) => name === 'approver')
  return grant === undefined || grant.first ? null : grant.atMs + APPROVES_AFTER_MS
}

export interface Session {
  /** To name it in lists: nobody gets in by it. */
  readonly id: string
  readonly personId: string
  readonly startedAtMs: number
  readonly seenAtMs: number
  /** When the person last proved who it is. */
  readonly provedAtMs: number
  readonly address: string | null
}

export const SESSION_IDLE_MS = 30 * 60_000
export const SESSION_LIVES_MS = 12 * 3_600_000
export const STEP_UP_MS = 5 * 60_000
export const INVITATION_LIVES_MS = 24 * 3_600_000
export const FIRST_LINK_LIVES_MS = 15 * 60_000
const BACK_OFF_MOST_MS = 15 * 60_000

export function isOpen({ startedAtMs, seenAtMs }: Pick<Session, 'startedAtMs' | 'seenAtMs'>, nowMs: number): boolean {
  return nowMs - seenAtMs < SESSION_IDLE_MS && nowMs - startedAtMs < SESSION_LIVES_MS
}

/** After that many tries that failed one after another. */
export function backOffMs(failures: number): number {
  return Math.min(1_000 * 2 ** Math.min(failures, 20), BACK_OFF_MOST_MS)
}

/** Wrong passwords in a row that are more than a slip. */
const MANY_FAILURES = 5

/**
 * What the audit tells of a name whose `tries`-th password in a row was wrong: few enough that an attacker cannot fill the record with them.
 * `longest`: from now on it waits as long as any does. null: nothing.
 */
export function toldOfFailures(tries: number): 'first' | 'many' | 'longest' | null {
  const waitsLongest = (n: number) => n > 0 && backOffMs(n - 1) === BACK_OFF_MOST_MS
  if (waitsLongest(tries) && !waitsLongest(tries - 1)) return 'longest'
  if (tries === 1) return 'first'
  return tries === MANY_FAILURES ? 'many' : null
}

/** Of all known names together: an attacker may try a few passwords of each of many. People mistype, so from 50 tries on. */
export function isToldOfKnown(tries: number): boolean {
  return /^50+$/.test(String(tries))
}
