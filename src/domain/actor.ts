// Who acted, in words: the person who logged in, the account that the program ran under, and the name that was claimed.

import type { Actor, OsUser } from './ports.ts'

/** `alice@host pts/3 (sudo, as root), says "Carol"`. */
export function actorText(actor: Actor): string {
  const person = personOf(actor)
  const terminal = actor.terminal === null ? '' : ` ${actor.terminal}`
  const becoming = becomingOf(actor)
  const claimed = actor.as === null ? '' : `, says "${actor.as}"`
  return `${person.name}@${actor.host}${terminal}${becoming === '' ? '' : ` (${becoming})`}${claimed}`
}

/** The kernel keeps who logged in and lets no user change it. What sudo left in the environment is believed after it. */
function personOf({ login, sudo, ...own }: Pick<Actor, 'login' | 'sudo' | 'name' | 'uid'>): OsUser {
  return login ?? sudo ?? { name: own.name, uid: own.uid }
}

/** How the person came to act as another user; empty where the two are the same. */
function becomingOf({ login, sudo, name, uid }: Actor): string {
  const person = login ?? sudo
  const disagrees = login !== null && sudo !== null && sudo.uid !== login.uid
  const words = [
    ...(sudo !== null && !disagrees ? ['sudo'] : []),
    ...(person !== null && person.uid !== uid ? [`as ${name}`] : []),
  ]
  return words.join(', ') + (disagrees ? `; SUDO_USER is ${sudo.name}` : '')
}

/** For programs, under keys that stay. */
export function toJsonActor(actor: Actor): Record<string, string | number | null> {
  return {
    user: actor.name,
    uid: actor.uid,
    host: actor.host,
    terminal: actor.terminal,
    login_user: actor.login?.name ?? null,
    login_uid: actor.login?.uid ?? null,
    sudo_user: actor.sudo?.name ?? null,
    sudo_uid: actor.sudo?.uid ?? null,
    as: actor.as,
  }
}
