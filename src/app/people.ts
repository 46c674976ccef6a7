// Passwords, links and sessions of people: made here, and never kept but as digests.

import { argon2, createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { DoorActor } from '../domain/actor.ts'
import { isEasyPassword } from '../domain/easy-password.ts'
import { Fault } from '../domain/fault.ts'
import { FIRST_LINK_LIVES_MS, INVITATION_LIVES_MS, type Person, type Session } from '../domain/person.ts'
import type { PeopleLedger } from '../ports/ledger/people.ts'

const hashOf = promisify(argon2)
/** 19 MiB, in two passes. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const
const PREFIX = 'argon2id$m=19456,t=2,p=1'
const AT_ONCE = 2
const PASSWORD_SHORTEST = 12
const PASSWORD_LONGEST = 200

/** In words; null: it may be taken. */
export function passwordFault(password: string, name: string): string | null {
  const length = [...password].length
  if (length < PASSWORD_SHORTEST) return `Choose a password of at least ${PASSWORD_SHORTEST} characters.`
  if (length > PASSWORD_LONGEST) return `Choose a password of at most ${PASSWORD_LONGEST} characters.`
  if (isEasyPassword(password)) return 'That password is among the first that others try. Choose another.'
  return password.toLowerCase().includes(name) ? 'It contains your name. Choose another.' : null
}

const WAITING_MOST = 50

let running = 0
const waiting: (() => void)[] = []

/** Checked before a try is counted, too: every try that counts is compared, and noted if it was wrong. */
function assertRoom(): void {
  if (waiting.length >= WAITING_MOST)
    throw new Fault('unavailable', 'Too many people sign in at once. Nothing was changed. Try again in a moment.')
}

/** Each takes 19 MiB and a core. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  assertRoom()
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

async function digestOf(password: string, nonce: Buffer): Promise<Buffer> {
  return inTurn(() => hashOf('argon2id', { ...PARAMETERS, message: password.normalize('NFKC'), nonce }))
}

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  return [PREFIX, nonce.toString('base64url'), (await digestOf(password, nonce)).toString('base64url')].join('$')
}

/** Of nobody: who is unknown takes as long as who is known. */
const DUMMY = [PREFIX, Buffer.alloc(16).toString('base64url'), Buffer.alloc(32).toString('base64url')].join('$')

async function isPassword(password: string, kept: string | null): Promise<boolean> {
  const [nonce = '', digest = ''] = (kept ?? DUMMY).split('$').slice(2)
  const made = await digestOf(password, Buffer.from(nonce, 'base64url'))
  return timingSafeEqual(made, Buffer.from(digest, 'base64url')) && kept !== null
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** 256 bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

export function newPersonId(): string {
  return randomBytes(8).toString('hex')
}

/** `url`: of the server. What stands in it is kept nowhere. */
export function invitationUrl(url: string, secret: string): string {
  return `${url.replace(/\/$/, '')}/join/${secret}`
}

/** null: there are people already. */
export async function firstLink(ledger: Pick<PeopleLedger, 'inviteFirst'>, nowMs: number): Promise<string | null> {
  const secret = newSecret()
  const how = await ledger.inviteFirst({ sha256: sha256Of(secret), untilMs: nowMs + FIRST_LINK_LIVES_MS })
  return how === 'invited' ? secret : null
}

export function newInvitation(nowMs: number) {
  const secret = newSecret()
  return { secret, invitation: { sha256: sha256Of(secret), untilMs: nowMs + INVITATION_LIVES_MS } }
}

export interface Shown {
  readonly name: string
  readonly password: string
  readonly address: string | null
}

/** null: not let in, for whatever reason. The password is not looked at while the name has to wait. */
export async function signIn(
  ledger: PeopleLedger,
  { name, password, address }: Shown,
  nowMs: number,
): Promise<{ readonly secret: string; readonly session: Session } | null> {
  if (password.length > PASSWORD_LONGEST) return null
  assertRoom()
  const nameSha256 = sha256Of(name)
  const begun = await ledger.beginSignIn(nameSha256, nowMs)
  if (begun.kind === 'wait') return null
  const found = await ledger.personNamed(name)
  const passwordHash = found?.passwordHash ?? null
  if (!(await isPassword(password, passwordHash)) || found === null || passwordHash === null) {
    await ledger.noteRefusedSignIn({ name, failures: begun.failures, address, nowMs })
    return null
  }
  const secret = newSecret()
  const asked = { sha256: sha256Of(secret), passwordHash, id: newPersonId(), personId: found.person.id, address, nowMs }
  const session = await ledger.openSession(asked, nameSha256)
  return session === null ? null : { secret, session }
}

/** Who acts with a session. */
export function personActor({ id, name }: Pick<Person, 'id' | 'name'>, address: string | null): DoorActor {
  return { kind: 'person', id, name, address }
}

interface ShownAgain {
  /** Of the session. */
  readonly secret: string
  readonly password: string
  readonly address: string | null
}

/** The password again, of a person who is signed in. null: it is wrong, or was shown too often. */
async function proveAgain(
  ledger: PeopleLedger,
  person: Pick<Person, 'name'>,
  shown: ShownAgain,
  nowMs: number,
): Promise<{ readonly nameSha256: string; readonly passwordHash: string } | null> {
  if (shown.password.length > PASSWORD_LONGEST) return null
  assertRoom()
  // Counted for the session: who tries the name at the door keeps nobody out who is in.
  const nameSha256 = sha256Of(`step-up ${sha256Of(shown.secret)}`)
  const begun = await ledger.beginSignIn(nameSha256, nowMs)
  if (begun.kind === 'wait') return null
  const passwordHash = (await ledger.personNamed(person.name))?.passwordHash ?? null
  if ((await isPassword(shown.password, passwordHash)) && passwordHash !== null) return { nameSha256, passwordHash }
  await ledger.noteRefusedSignIn({ name: person.name, failures: begun.failures, address: shown.address, nowMs })
  return null
}

/** It answers with the new secret of the session. */
export async function stepUp(
  ledger: PeopleLedger,
  person: Pick<Person, 'name'>,
  shown: ShownAgain,
  nowMs: number,
): Promise<string | null> {
  const proven = await proveAgain(ledger, person, shown, nowMs)
  if (proven === null) return null
  const secret = newSecret()
  const [from, to] = [sha256Of(shown.secret), sha256Of(secret)]
  return (await ledger.renewSession(from, to, proven.nameSha256, nowMs)) === null ? null : secret
}

/** `chosen`: one without a fault. It answers with the new secret of the session, which is the only one that stays. */
export async function changePassword(
  ledger: PeopleLedger,
  person: Pick<Person, 'name'>,
  { chosen, ...shown }: ShownAgain & { readonly chosen: string },
  nowMs: number,
): Promise<string | null> {
  const proven = await proveAgain(ledger, person, shown, nowMs)
  if (proven === null) return null
  const secret = newSecret()
  const changing = {
    ...{ from: sha256Of(shown.secret), to: sha256Of(secret), nameSha256: proven.nameSha256, address: shown.address },
    ...{ before: proven.passwordHash, after: await hashPassword(chosen) },
  }
  return (await ledger.changePassword(changing, nowMs)) ? secret : null
}
