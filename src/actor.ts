// Who runs this process: what the operating system says, what sudo left in the environment, and the terminal.

import { readFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import type { OsActor, OsUser } from './domain/actor.ts'
import { holdsCardData } from './domain/card-secrets.ts'

/** What is read of the system. A test brings its own. */
export interface ActorSources {
  readonly env: NodeJS.ProcessEnv
  /** null: there is no such file. */
  readonly read: (path: string) => string | null
}

/** `as`: the name that was claimed. */
export function actorOf(as: string | null, { env, read }: ActorSources): OsActor {
  const uid = process.getuid?.() ?? null
  const name = userName(uid)
  const nameOf = (wanted: number) => (wanted === uid ? name : nameOfUser(wanted, read))
  return {
    name,
    uid,
    host: hostname(),
    terminal: terminalIn(read('/proc/self/stat')),
    login: loginIn(read('/proc/self/loginuid'), nameOf),
    sudo: sudoIn(env),
    as,
  }
}

/** The same who took a file of that owner: where it is another user, both handed it in. */
export function takingFrom(actor: OsActor, ownerUid: number, { read }: Pick<ActorSources, 'read'>): OsActor {
  if (actor.uid === null || ownerUid === actor.uid) return actor
  return { ...actor, fileOf: { name: nameOfUser(ownerUid, read), uid: ownerUid } }
}

function nameOfUser(uid: number, read: ActorSources['read']): string {
  return nameIn(read('/etc/passwd'), uid) ?? `uid-${uid}`
}

export const SYSTEM: Pick<ActorSources, 'read'> = {
  read(path) {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return null // no Linux, or a process that may not look
    }
  },
}

function userName(uid: number | null): string {
  try {
    return userInfo().username
  } catch {
    return `uid-${uid ?? 'unknown'}` // a container may run as a user without a name
  }
}

/** Users of a directory service are not in the file, and keep their number. */
function nameIn(passwd: string | null, uid: number): string | null {
  const line = passwd?.split('\n').find((one) => one.split(':')[2] === String(uid))
  return line?.split(':')[0] ?? null
}

/** What the kernel holds without a login: a service, cron without PAM, most containers. */
const NO_LOGIN = 4_294_967_295

function loginIn(text: string | null, nameOf: (uid: number) => string): OsUser | null {
  if (text === null || !/^\d{1,10}\s*$/.test(text)) return null
  const uid = Number(text)
  return uid === NO_LOGIN ? null : { name: nameOf(uid), uid }
}

/** The caller of this process may set these, so only a value in the form of a name is believed, and no card number is one. */
function sudoIn({ SUDO_USER: name, SUDO_UID: uid }: NodeJS.ProcessEnv): OsUser | null {
  if (name === undefined || !/^[\w.@\\-]{1,64}\$?$/.test(name) || holdsCardData(name)) return null
  return { name, uid: uid !== undefined && /^\d{1,10}$/.test(uid) ? Number(uid) : null }
}

/** The controlling terminal, wherever input and output go. The second field may hold blanks and brackets. */
export function terminalIn(stat: string | null): string | null {
  const device = Number(
    stat
      ?.slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(/\s+/)[4],
  )
  if (!Number.isInteger(device) || device === 0) return null
  const major = (device >> 8) & 0xfff
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00)
  if (major >= 136 && major <= 143) return `pts/${minor + (major - 136) * 256}`
  if (major === 4) return minor < 64 ? `tty${minor}` : `ttyS${minor - 64}`
  return `tty-${major}:${minor}`
}
