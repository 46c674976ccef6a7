// Who acted, in words: the person who logged in, the account that the program ran under, and the name that was claimed.

/** A user of the operating system. */
export interface OsUser {
  readonly name: string
  /** null: not known. */
  readonly uid: number | null
}

/** Who acted: what the operating system says, and what was claimed. All of it is kept. */
export interface Actor extends OsUser {
  readonly host: string
  /** The controlling terminal, such as `pts/3`; null: none, as under cron. */
  readonly terminal: string | null
  /** Who logged in, as the kernel keeps it through every change of user; null: not known. */
  readonly login: OsUser | null
  /** Who called sudo, as sudo says in the environment, which its caller could change; null: sudo was not used. */
  readonly sudo: OsUser | null
  /** The name that the person gave. */
  readonly as: string | null
}

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
