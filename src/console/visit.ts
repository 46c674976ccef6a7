// Who visits a page: a person with a session, looked up with each request.

import type { FastifyRequest } from 'fastify'
import { personActor } from '../app/people.ts'
import type { DoorActor } from '../domain/actor.ts'
import { type GrantName, mayDo, type Permission, type Person, type Session, STEP_UP_MS } from '../domain/person.ts'

export interface Visitor {
  readonly person: Person
  readonly roles: readonly GrantName[]
  readonly session: Session
  readonly actor: DoorActor
  may(permission: Permission): boolean
  /** Whether they proved who they are within the last five minutes. */
  readonly isFresh: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** null: nobody is signed in. */
    visitor: Visitor | null
  }
}

export function visitorOf({ visitor }: Pick<FastifyRequest, 'visitor'>): Visitor {
  if (visitor === null) throw new Error('bug: this page asks for nobody')
  return visitor
}

export function visitorBy(person: Person, session: Session, address: string | null, nowMs: number): Visitor {
  return {
    person,
    roles: person.grants.map(({ name }) => name),
    session,
    actor: personActor(person, address),
    may: (permission) => mayDo(person, permission),
    isFresh: nowMs - session.provedAtMs <= STEP_UP_MS,
  }
}
