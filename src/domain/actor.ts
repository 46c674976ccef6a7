// Who acted: a user of the operating system, or whoever came through a door of ours with a key or a session. In words, and as one identity.

/** A user of the operating system. */
export interface OsUser {
  readonly name: string
  /** null: not known. */
  readonly uid: number | null
}

export type Actor = OsActor | DoorActor

/** What the operating system says, and what was claimed. All of it is kept. */
export interface OsActor extends OsUser {
  /** Absent. */
  readonly kind?: 'os'
  readonly host: string
  /** The controlling terminal, such as `pts/3`; null: none, as under cron. */
  readonly terminal: string | null
  /** Who logged in, as the kernel keeps it through every change of user; null: not known. */
  readonly login: OsUser | null
  /** Who called sudo, as sudo says in the environment, which its caller could change; null: sudo was not used. */
  readonly sudo: OsUser | null
  /** The name that the person gave. */
  readonly as: string | null
  /** Who put the file there that a process of another user took. Absent: nobody else did. */
  readonly fileOf?: OsUser
}

/** Whoever a door has recognised: a service by its key or by its job, a person by a session, an identity provider by its signature. */
export interface DoorActor {
  readonly kind: 'key' | 'person' | 'provider' | 'messages'
  /** Of the key or the person, never given twice; of a provider, its issuer; of messages, the job. */
  readonly id: string
  readonly name: string
  /** The network address that it came from; null: not known. */
  readonly address: string | null
  /** Of a key: every identity of whoever made it, who knows it and may hand in with it. Absent: of a person. */
  readonly makers?: readonly string[]
}

/** Whoever may put jobs into the queue: which service that is nobody proves. */
export function messagesActor(job: string): DoorActor {
  return { kind: 'messages', id: job, name: 'messages', address: null }
}

/** `alice@host pts/3 (sudo, as root), says "Carol"`, `key billing (k1) from 10.0.0.7`. */
export function actorText(actor: Actor): string {
  return isOsActor(actor) ? osActorText(actor) : doorActorText(actor)
}

export function isOsActor(actor: Actor): actor is OsActor {
  return actor.kind === undefined || actor.kind === 'os'
}

/** Names one identity wherever it comes from: a user keeps it on every host and at every terminal. */
export function identityOf(actor: Actor): string {
  return isOsActor(actor) ? `os:${personOf(proven(actor)).name}` : `${actor.kind}:${actor.id}`
}

/** Every identity that the actor may be: whoever became another user is both, and behind a key may be whoever made it. */
export function identitiesOf(actor: Actor): readonly string[] {
  if (!isOsActor(actor)) return [identityOf(actor), ...(actor.makers ?? [])]
  const { login, sudo, fileOf = null } = proven(actor)
  const users = [actor, login, sudo, fileOf].filter((user) => user !== null)
  return [...new Set(users.map(({ name }) => `os:${name}`))]
}

/** Any user could say in the environment that another one called sudo: only root is believed, who can do everything anyway. */
function proven(actor: OsActor): OsActor {
  return actor.uid === 0 ? actor : { ...actor, sudo: null }
}

function doorActorText({ kind, id, name, address }: DoorActor): string {
  if (kind === 'messages') return `messages (job ${id})`
  return `${kind} ${name} (${id})${address === null ? '' : ` from ${address}`}`
}

function osActorText(actor: OsActor): string {
  const person = personOf(actor)
  const terminal = actor.terminal === null ? '' : ` ${actor.terminal}`
  const becoming = becomingOf(actor)
  const claimed = actor.as === null ? '' : `, says "${actor.as}"`
  const owner = actor.fileOf === undefined ? '' : `, file of ${actor.fileOf.name}`
  return `${person.name}@${actor.host}${terminal}${becoming === '' ? '' : ` (${becoming})`}${claimed}${owner}`
}

/** The kernel keeps who logged in and lets no user change it. What sudo left in the environment is believed after it. */
function personOf({ login, sudo, ...own }: Pick<OsActor, 'login' | 'sudo' | 'name' | 'uid'>): OsUser {
  return login ?? sudo ?? { name: own.name, uid: own.uid }
}

/** How the person came to act as another user; empty where the two are the same. */
function becomingOf({ login, sudo, name, uid }: OsActor): string {
  const person = login ?? sudo
  const disagrees = login !== null && sudo !== null && sudo.uid !== login.uid
  const words = [
    ...(sudo !== null && !disagrees ? ['sudo'] : []),
    ...(person !== null && person.uid !== uid ? [`as ${name}`] : []),
  ]
  return words.join(', ') + (disagrees ? `; SUDO_USER is ${sudo.name}` : '')
}
