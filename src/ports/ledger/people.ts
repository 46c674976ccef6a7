// The ledger, for the people of the console: who they are, how they come in, and their sessions. Of passwords, links and
// sessions it holds digests alone.

import type { Actor } from '../../domain/actor.ts'
import type { GrantName, Person, Session } from '../../domain/person.ts'

export interface NewPerson {
  readonly id: string
  readonly name: string
  readonly grants: readonly GrantName[]
}

/** A link that somebody was given, used once. Digests in hex. */
export interface Invitation {
  readonly sha256: string
  readonly untilMs: number
}

/** Who comes by a link. */
export interface Joining {
  readonly invitationSha256: string
  /** With which one is made, where the link is that of the first administrator. */
  readonly first: { readonly id: string; readonly name: string }
  readonly passwordHash: string
  readonly address: string | null
  readonly nowMs: number
}

export interface NewSession {
  readonly sha256: string
  /** With which the password was compared. */
  readonly passwordHash: string
  readonly id: string
  readonly personId: string
  readonly address: string | null
  readonly nowMs: number
}

export interface ChangingPassword {
  /** Digests of the session's secret before and after. */
  readonly from: string
  readonly to: string
  readonly nameSha256: string
  /** With which the password that was shown was compared. */
  readonly before: string
  readonly after: string
  readonly address: string | null
}

/** Somebody whom an identity provider recognised. */
export interface Provided {
  readonly issuer: string
  readonly providerName: string
  readonly subject: string
  /** A valid one, for somebody who is new. */
  readonly name: string
  readonly newId: string
  /** As their groups say now. */
  readonly grants: readonly GrantName[]
  /** Whether the configuration has a group of approvers: four eyes begin with the first person who moves money. */
  readonly hasApprovers: boolean
  readonly address: string | null
  readonly nowMs: number
}

/**
 * - `no-roles`: the groups have none; a person who had some has none from now on
 * - `revoked`: whatever the provider says
 */
export type Entered =
  | { readonly kind: 'in'; readonly session: Session }
  | { readonly kind: 'no-roles' }
  | { readonly kind: 'revoked' }

/**
 * - `over`: there is no such session any more
 * - `other-person`: than the one whose session it is; nothing was changed
 * - `other-roles`, `no-roles`: they were given, and the session ended by it
 * - `not-fresh`: person and roles are the same, and the session stays as it was
 */
export type EnteredAgain = 'renewed' | 'over' | 'other-person' | 'other-roles' | 'no-roles' | 'not-fresh'

/**
 * - `try`: `failures`: tries of that name in a row, this one counted, if it fails
 * - `wait`: nobody looks at a password of that name before `untilMs`
 */
export type SignInTry =
  | { readonly kind: 'try'; readonly failures: number }
  | { readonly kind: 'wait'; readonly untilMs: number }

export interface RefusedSignIn {
  /** As it was written. */
  readonly name: string
  /** As `beginSignIn` counted them. */
  readonly failures: number
  readonly address: string | null
  readonly nowMs: number
}

/**
 * - `nothing`: a second person confirmed the account before, or it is an identity provider's
 * - `same-hand`: whoever confirms may be the one who made the account or gave the roles
 * - `others`: administrators who may confirm it, so that the owner of the machine does not
 */
export type Confirmed =
  | { readonly kind: 'confirmed' | 'unknown' | 'revoked' | 'nothing' | 'same-hand' }
  | { readonly kind: 'others'; readonly names: readonly string[] }

export interface PeopleLedger {
  /** Revoked ones too, in the order in which they were made. */
  people(): Promise<readonly Person[]>
  /** With what a password is compared with; null: none was chosen. */
  personNamed(name: string): Promise<{ readonly person: Person; readonly passwordHash: string | null } | null>
  /**
   * Faults where the roles do not go together. `taken`: another has the name, or had it. With the second person whose roles move money,
   * where one of them is an approver, every batch needs an approval from then on, unless a policy was adopted or turned off before; so with
   * `setGrants`. Once a policy is in force, roles that move money wait for `confirmPerson`; so with `setGrants` and `invite`.
   */
  addPerson(person: NewPerson, invitation: Invitation, actor: Actor, nowMs: number): Promise<'added' | 'taken'>
  /** A second person stands for the account: the roles that wait hold from now on. Ends the sessions. */
  confirmPerson(name: string, actor: Actor, nowMs: number): Promise<Confirmed>
  /**
   * Another link for the person; the password and all sessions end by it, and the roles are given anew, by whoever gives the link.
   * Links given before are void. `provided`: they come by an identity provider, and by no password; so with `setGrants`.
   */
  invite(
    name: string,
    invitation: Invitation,
    actor: Actor,
    nowMs: number,
  ): Promise<'invited' | 'unknown' | 'revoked' | 'provided'>
  /** For the first administrator; earlier ones are void. `people`: there is somebody already, and nothing was done. */
  inviteFirst(invitation: Invitation): Promise<'invited' | 'people'>
  /** null: no person may come by it. */
  invited(sha256: string, nowMs: number): Promise<{ readonly name: string | null } | null>
  /** Uses the link up. null: it is none, or not any more. */
  join(joining: Joining): Promise<Person | null>
  /** Ends all sessions of the person. Faults where the roles do not go together. */
  setGrants(
    name: string,
    grants: readonly GrantName[],
    reason: string,
    actor: Actor,
    nowMs: number,
  ): Promise<'set' | 'unknown' | 'revoked' | 'provided'>
  /** Ends all sessions of the person, and the link. */
  revokePerson(name: string, reason: string, actor: Actor, nowMs: number): Promise<'revoked' | 'already' | 'unknown'>
  /**
   * Counts it as failed before anybody looks at the password, so that tries beside one another do not slip through. Of names that
   * nobody has too, so that it does not say who is there. `nameSha256`: of the name that was written.
   */
  beginSignIn(nameSha256: string, nowMs: number): Promise<SignInTry>
  /**
   * The password was wrong, or the name is nobody's. Few of these are acts (`toldOfFailures`, `isToldOfKnown`, `isTold`), and none has a name that
   * nobody has, which may be a password in the wrong field.
   */
  noteRefusedSignIn(refused: RefusedSignIn): Promise<void>
  /**
   * The password was right: forgets the failed tries. null: the person may not come in any more, or the password that was compared
   * with `session.passwordHash` is no longer theirs.
   */
  openSession(session: NewSession, nameSha256: string): Promise<Session | null>
  /**
   * Makes the person where there is none, gives the roles, and opens a session. All other sessions end where the roles are other ones
   * than before. Faults where the roles do not go together. Four eyes begin as with `addPerson`. `provedAtMs`: 0: nobody knows.
   */
  enter(
    provided: Provided,
    session: { readonly sha256: string; readonly id: string; readonly provedAtMs: number },
  ): Promise<Entered>
  /**
   * The person of a session signed in again: it has another secret from now on, where person and roles are the same. `provedAtMs`: null:
   * the provider does not say when, or not lately; the roles that it says hold all the same.
   */
  enterAgain(
    provided: Provided,
    session: { readonly from: string; readonly to: string; readonly provedAtMs: number | null },
  ): Promise<EnteredAgain>
  /** Another id from now on, for the password was shown again. null: there is no such session any more. */
  renewSession(oldSha256: string, newSha256: string, nameSha256: string, nowMs: number): Promise<Session | null>
  /**
   * The person of the session has another password from now on. The session is renewed, and all others of the person end. False: there is no
   * such session any more, or `before` is no longer the password.
   */
  changePassword(changing: ChangingPassword, nowMs: number): Promise<boolean>
  /** Asked with each request, and noted that it was used, unless nobody but a page did so. null: it is none, or over. */
  visit(
    sha256: string,
    nowMs: number,
    isUsed?: boolean,
  ): Promise<{ readonly person: Person; readonly session: Session } | null>
  /** Open ones, the newest first. */
  sessions(personId: string, nowMs: number): Promise<readonly Session[]>
  /** `id`: not with which it comes in. */
  endSession(personId: string, id: string, actor: Actor, nowMs: number): Promise<boolean>
}
